//! Phase 4, stellar evolution: when a star ends, and which remnant it leaves. Lifetimes and remnants are those of
//! Hurley, Pols and Tout (2000, MNRAS 315, 543). What happens before the end, winds included, is left out. A star keeps
//! its mass until its end, and then loses at once all but the mass of its remnant.
//!
//! Masses are in solar masses, times in Myr.

use kirin_kit::galaxy::Units;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Metallicities for which the fits hold.
pub const METALLICITIES: std::ops::RangeInclusive<f64> = 1e-4..=0.03;

/// Chandrasekhar's mass.
const CHANDRASEKHAR: f64 = 1.44;

/// Evolution of the stars of a cluster, which all began with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evolution {
    /// Part of the elements heavier than helium.
    pub metallicity: f64,
    /// Unit of mass, in solar masses.
    pub mass: f64,
    /// Unit of time, in Myr.
    pub time: f64,
}

impl Evolution {
    /// Whether there can be such stars.
    ///
    /// # Errors
    ///
    /// There cannot; in words.
    pub fn validate(&self) -> Result<(), Error> {
        let is_unit = |x: f64| x > 0.0 && x.is_finite();
        if !METALLICITIES.contains(&self.metallicity) {
            return Err(Error::Refused(
                "--stellar-evolution must be a metallicity from 0.0001 to 0.03".to_owned(),
            ));
        }
        match is_unit(self.mass) && is_unit(self.time) {
            true => Ok(()),
            false => Err(Error::Refused(
                "the units of mass and time must be above 0".to_owned(),
            )),
        }
    }

    /// Largest mass of the stars that still live at the time `t`; masses and times in the cluster's units.
    pub fn turn_off(&self, tracks: &Tracks, t: f64) -> f64 {
        let age = t * self.time;
        let (mut least, mut most) = (1e-3_f64, 1e4_f64);
        for _ in 0..80 {
            let middle = (least * most).sqrt();
            match tracks.lifetime(middle) > age {
                true => least = middle,
                false => most = middle,
            }
        }
        most / self.mass
    }

    /// The cluster's units.
    pub fn units(&self) -> Units {
        let one = Units {
            mass: self.mass,
            length: 1.0,
        };
        one.with_time(self.time / one.time())
    }

    /// Mass of the remnant of a star of mass `m`, in the cluster's units.
    pub fn remnant(&self, tracks: &Tracks, m: f64) -> f64 {
        tracks.remnant(m * self.mass) / self.mass
    }
}

/// Radius of the remnant of a star in solar radii: that of a white dwarf (equation 91). Neutron stars and black holes, which
/// have 1.2996 solar masses or more here, are points; so are the few white dwarfs that are as heavy.
pub fn remnant_radius(m: f64) -> f64 {
    if m >= compact(CHANDRASEKHAR) {
        return 0.0;
    }
    let part = (m / CHANDRASEKHAR).cbrt().powi(2);
    0.0115 * (1.0 / part - part).sqrt()
}

/// Mass of the neutron star or black hole that a core leaves (equation 92).
fn compact(core: f64) -> f64 {
    1.17 + 0.09 * core
}

/// The fits for one metallicity. Names of coefficients are those of the paper's appendix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracks {
    /// a1 to a10.
    a: [f64; 10],
    /// Least x of the paper's equation 6.
    x: f64,
    /// b36 to b38.
    core: [f64; 3],
    /// b41 to b44.
    helium: [f64; 4],
}

impl Tracks {
    /// Of stars of this metallicity.
    pub fn new(metallicity: f64) -> Self {
        let zeta = (metallicity / 0.02).log10();
        let fit = |c: [f64; 4]| c.iter().rev().fold(0.0, |sum, c| sum * zeta + c);
        let b42 = fit([1.997378, -8.126205e-1, 0.0, 0.0]);
        Self {
            a: [
                fit([1.593890e3, 2.053038e3, 1.231226e3, 2.327785e2]),
                fit([2.706708e3, 1.483131e3, 5.772723e2, 7.411230e1]),
                fit([1.466143e2, -1.048442e2, -6.795374e1, -1.391127e1]),
                fit([4.141960e-2, 4.564888e-2, 2.958542e-2, 5.571483e-3]),
                3.426349e-1,
                fit([1.949814e1, 1.758178, -6.008212, -4.470533]),
                4.903830,
                fit([5.212154e-2, 3.166411e-2, -2.750074e-3, -2.271549e-3]),
                fit([1.312179, -3.294936e-1, 9.231860e-2, 2.610989e-2]),
                8.073972e-1,
            ],
            x: (0.95 - 0.03 * (zeta + std::f64::consts::LOG10_2)).clamp(0.95, 0.99),
            core: [
                fit([1.445216e-1, -6.180219e-2, 3.093878e-2, 1.567090e-2]).powi(4),
                4.0 * fit([1.304129, 1.395919e-1, 4.142455e-3, -9.732503e-3]),
                fit([5.114149e-1, -1.160850e-2, 0.0, 0.0]).powi(4),
            ],
            helium: [
                fit([2.327037, 2.403445, 1.208407, 2.087263e-1]).powf(b42),
                b42,
                fit([1.079113e-1, 1.762409e-2, 1.096601e-2, 3.058818e-3]),
                fit([2.327409, 6.901582e-1, -2.158431e-1, -1.084117e-1]).powi(5),
            ],
        }
    }

    /// Time to the base of the giant branch (equation 4).
    fn giant_branch(&self, m: f64) -> f64 {
        let [a1, a2, a3, a4, a5, ..] = self.a;
        let (m2, m4, m7) = (m.powi(2), m.powi(4), m.powi(7));
        (a1 + a2 * m4 + a3 * m4 * m * m.sqrt() + m7) / (a4 * m2 + a5 * m7)
    }

    /// Time on the main sequence (equations 5 to 7).
    pub fn main_sequence(&self, m: f64) -> f64 {
        let [.., a6, a7, a8, a9, a10] = self.a;
        let longer = (a6 / m.powf(a7)).max(a8 + a9 / m.powf(a10));
        (1.0 - 0.01 * longer).max(0.5).max(self.x) * self.giant_branch(m)
    }

    /// Time to the end: the time to the base of the giant branch plus the time of helium burning. The fit of the latter
    /// is for stars without a helium flash (equation 57). For stars with a flash the same fit replaces the giant branch
    /// and all later phases: up to 10 % too long. For the others the asymptotic giant branch is left out: up to 3 % too
    /// short.
    pub fn lifetime(&self, m: f64) -> f64 {
        let giant = self.giant_branch(m);
        let [b41, b42, b43, b44] = self.helium;
        let m5 = m.powi(5);
        giant * (1.0 + (b41 * m.powf(b42) + b43 * m5) / (b44 + m5))
    }

    /// Mass of the remnant, from the mass of the core at the base of the asymptotic giant branch (equation 66). A core
    /// up to 2.25 solar masses leaves a white dwarf with the core's mass at the first thermal pulse (equation 69). A
    /// heavier core leaves a neutron star or black hole (equations 75 and 92).
    pub fn remnant(&self, m: f64) -> f64 {
        let [b36, b37, b38] = self.core;
        let core = (b36 * m.powf(b37) + b38).powf(0.25);
        let remnant = match core {
            0.0..0.8 => core,
            0.8..2.25 => 0.44 * core + 0.448,
            _ => compact((0.773 * core - 0.35).max(CHANDRASEKHAR)),
        };
        remnant.min(m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mass, main-sequence time, lifetime and remnant by COSMIC 4.3.3, which has the fits of the paper with winds and all phases (`remnantflag` 0, no winds but those of giants).
    const COSMIC: [(f64, [[f64; 4]; 9]); 2] = [
        (
            0.02,
            [
                [1.0, 11003.1313, 12463.5185, 0.5195],
                [1.5, 2729.2478, 3099.2958, 0.5766],
                [2.0, 1164.1638, 1495.7758, 0.6359],
                [3.0, 377.5375, 477.5702, 0.748],
                [5.0, 104.0162, 121.5236, 0.9968],
                [7.0, 48.9005, 55.9288, 1.2851],
                [10.0, 24.4584, 27.4618, 1.338],
                [20.0, 8.8185, 9.8437, 1.6207],
                [30.0, 5.9477, 6.6517, 1.8155],
            ],
        ),
        (
            0.001,
            [
                [1.0, 6177.6572, 6731.4062, 0.5777],
                [1.5, 1730.0004, 1937.7956, 0.6722],
                [2.0, 789.6666, 968.2362, 0.7594],
                [3.0, 284.8516, 333.4147, 0.9276],
                [5.0, 91.4636, 103.7735, 1.1649],
                [7.0, 47.5743, 53.0919, 1.2996],
                [10.0, 25.8487, 28.6877, 1.377],
                [20.0, 9.9925, 11.0169, 1.704],
                [30.0, 6.6394, 7.3142, 2.0248],
            ],
        ),
    ];

    #[test]
    fn times_and_remnants_are_those_of_cosmic() {
        for (metallicity, stars) in COSMIC {
            let tracks = Tracks::new(metallicity);
            for [m, main_sequence, lifetime, remnant] in stars {
                let off = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs();
                // Winds prolong the lives of heavy stars there.
                let limit = if m <= 5.0 { 1e-5 } else { 0.03 };
                let ours = tracks.main_sequence(m);
                assert!(off(ours, main_sequence) < limit, "{m}: {ours}");
                let limit = if m < 1.9 { 0.11 } else { 0.035 };
                let ours = tracks.lifetime(m);
                assert!(off(ours, lifetime) < limit, "{m}: {ours}");
                // White dwarfs grow by thermal pulses there, by a sixth at most.
                let ours = tracks.remnant(m);
                let limit = if m < 6.0 { 0.17 } else { 0.1 };
                assert!(off(ours, remnant) < limit, "{m}: {ours}");
            }
        }
    }

    /// Units that are given by mass and time have the length for which G = 1.
    #[test]
    fn units_are_those_of_the_cluster() {
        let units = Units {
            mass: 700.0,
            length: 0.1,
        };
        let evolution = Evolution {
            metallicity: 0.02,
            mass: units.mass,
            time: units.time(),
        };
        let found = evolution.units();
        assert_eq!(found.mass, 700.0);
        assert!((found.length / 0.1 - 1.0).abs() < 1e-12, "{}", found.length);
    }

    /// Heavier stars end earlier, and leave no more than they had.
    #[test]
    fn heavier_stars_end_earlier() {
        for metallicity in [1e-4, 1e-3, 0.02, 0.03] {
            let tracks = Tracks::new(metallicity);
            let masses = (0..400).map(|k| 0.1 * 1000.0_f64.powf(f64::from(k) / 400.0));
            let mut last = f64::INFINITY;
            for m in masses {
                let lifetime = tracks.lifetime(m);
                assert!(lifetime < last, "{metallicity} {m}");
                last = lifetime;
                assert!(tracks.remnant(m) <= m);
            }
            let evolution = Evolution {
                metallicity,
                mass: 1000.0,
                time: 0.5,
            };
            let m = evolution.turn_off(&tracks, 200.0);
            assert!((tracks.lifetime(1000.0 * m) / 100.0 - 1.0).abs() < 1e-6);
        }
    }

    /// Lamers et al. (2005, A&A 441, 117) fit q, the part of its mass that a cluster of Z = 0.02 has lost after t
    /// years: log q = (log t - 7)^0.255 - 1.805. Its stars have Salpeter's masses from 0.15 to 85.
    #[test]
    fn salpeter_stars_lose_the_published_mass() {
        let tracks = Tracks::new(0.02);
        let masses: Vec<f64> = (0..20_000)
            .map(|k| 0.15 * (85.0_f64 / 0.15).powf((f64::from(k) + 0.5) / 20_000.0))
            .collect();
        // Equal intervals of ln m.
        let total: f64 = masses.iter().map(|m| m.powf(-0.35)).sum();
        for myr in [100.0_f64, 1000.0, 10_000.0] {
            let ended = masses.iter().filter(|m| tracks.lifetime(**m) < myr);
            let lost = |m: &f64| m.powf(-1.35) * (m - tracks.remnant(*m));
            let part = ended.map(lost).sum::<f64>() / total;
            let published = 10.0_f64.powf((myr.log10() - 1.0).powf(0.255) - 1.805);
            println!("{myr} Myr: {part:.3}, published {published:.3}");
            assert!((part / published - 1.0).abs() < 0.15, "{myr}");
        }
    }
}
