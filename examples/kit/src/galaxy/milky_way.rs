//! Published models of the Milky Way in their authors' units: kpc, 10 km/s and 2.325e7 solar masses, so that G = 1
//! and potentials are in 100 (km/s)^2.

use std::sync::OnceLock;

use super::Field;
use super::component::{Disc, Halo, Plummer};
use super::mcmillan;
use super::spheres::{Nfw, PowerCutoff, Sphere};
use super::units::{G, MYR};
use super::words::{self, Formula, Part};
use crate::vector::{Vec3, add_scaled};

/// A model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MilkyWay {
    /// No galaxy: the cluster is alone
    #[default]
    None,
    /// Allen and Santillan (1991): bulge, disc, halo to 100 kpc; 220 km/s at 8.5 kpc
    AllenSantillan,
    /// Irrgang et al. (2013), model I: bulge, disc, halo to 200 kpc; 242 km/s at 8.4 kpc
    Irrgang,
    /// MWPotential2014 (Bovy 2015): bulge with a cutoff, disc, NFW halo; 220 km/s at 8 kpc
    #[value(name = "mwpotential2014")]
    MwPotential2014,
    /// McMillan (2017), best-fitting model: flattened bulge, two discs of stars and two of gas, NFW halo; 233 km/s at
    /// 8.2 kpc
    #[value(name = "mcmillan2017")]
    McMillan2017,
}

/// Unit of velocity in km/s.
pub const VELOCITY: f64 = 10.0;

/// Unit of time in Myr: a kiloparsec at 10 km/s.
pub const TIME: f64 = 1000.0 * MYR / VELOCITY;

/// Converts solar masses to the unit of mass of the galaxy's models, with today's value of the gravitational constant.
pub fn solar_masses(m: f64) -> f64 {
    m * G / 1000.0 / (VELOCITY * VELOCITY)
}

/// Bulge, disc and halo.
type Parts = (Plummer, Disc, Halo);

/// Allen and Santillan (1991, Rev. Mex. Astron. Astrofis. 22, 255), Table 1.
const ALLEN_SANTILLAN: Parts = (
    Plummer {
        m: 606.0,
        b: 0.3873,
    },
    Disc {
        m: 3690.0,
        a: 5.3178,
        b: 0.2500,
    },
    Halo {
        m: 4615.0,
        a: 12.0,
        p: 2.02,
        cut: 100.0,
    },
);

/// Irrgang, Wilcox, Tucker and Schiefelbein (2013, A&A 549, A137), Table 1, model I.
const IRRGANG: Parts = (
    Plummer { m: 409.0, b: 0.23 },
    Disc {
        m: 2856.0,
        a: 4.22,
        b: 0.292,
    },
    Halo {
        m: 1018.0,
        a: 2.562,
        p: 2.0,
        cut: 200.0,
    },
);

/// Bovy (2015, ApJS 216, 29), Table 1. The bulge is r^-1.8 exp(-(r / 1.9 kpc)^2); the disc has the lengths 3 and 0.28
/// kpc, the halo 16 kpc. They make 5, 60 and 35 % of the force at 8 kpc, where the circular speed is 220 km/s.
fn bovy() -> &'static (PowerCutoff, Disc, Nfw) {
    static MODEL: OnceLock<(PowerCutoff, Disc, Nfw)> = OnceLock::new();
    MODEL.get_or_init(|| {
        let r: f64 = 8.0;
        let inside = (220.0 / VELOCITY).powi(2) * r;
        let bulge = PowerCutoff::new(1.0, 1.8, 1.9);
        let disc = Disc {
            m: 1.0,
            a: 3.0,
            b: 0.28,
        };
        let halo = Nfw { m: 1.0, a: 16.0 };
        let disc_inside = r.powi(3) / (r * r + (disc.a + disc.b).powi(2)).powf(1.5);
        (
            PowerCutoff::new(0.05 * inside / bulge.mass(r), 1.8, 1.9),
            Disc {
                m: 0.60 * inside / disc_inside,
                ..disc
            },
            Nfw {
                m: 0.35 * inside / halo.mass(r),
                ..halo
            },
        )
    })
}

impl MilkyWay {
    /// What `f` finds from the parts.
    fn with<T>(self, f: impl FnOnce(&[&dyn Field]) -> T) -> T {
        match self {
            Self::None => f(&[]),
            Self::AllenSantillan => {
                f(&[&ALLEN_SANTILLAN.0, &ALLEN_SANTILLAN.1, &ALLEN_SANTILLAN.2])
            }
            Self::Irrgang => f(&[&IRRGANG.0, &IRRGANG.1, &IRRGANG.2]),
            Self::MwPotential2014 => {
                let (bulge, disc, halo) = bovy();
                f(&[bulge, disc, halo])
            }
            Self::McMillan2017 => f(&[mcmillan::model()]),
        }
    }

    /// Its parts for a GPU.
    pub(super) fn words(self) -> Vec<Part> {
        let of = |parts: &[&dyn Formula]| parts.iter().map(|part| part.words()).collect();
        match self {
            Self::None => Vec::new(),
            Self::AllenSantillan => {
                of(&[&ALLEN_SANTILLAN.0, &ALLEN_SANTILLAN.1, &ALLEN_SANTILLAN.2])
            }
            Self::Irrgang => of(&[&IRRGANG.0, &IRRGANG.1, &IRRGANG.2]),
            Self::MwPotential2014 => {
                let (bulge, disc, halo) = bovy();
                of(&[bulge, disc, halo])
            }
            Self::McMillan2017 => vec![words::mcmillan()],
        }
    }

    /// The table that a GPU needs beside the parts; a model of closed formulae needs none.
    pub fn table(self) -> Vec<f64> {
        match self {
            Self::McMillan2017 => mcmillan::model().numbers(),
            _ => Vec::new(),
        }
    }

    /// What a figure calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AllenSantillan => "Allen and Santillan (1991)",
            Self::Irrgang => "Irrgang et al. (2013), model I",
            Self::MwPotential2014 => "MWPotential2014 (Bovy 2015)",
            Self::McMillan2017 => "McMillan (2017)",
        }
    }

    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AllenSantillan => "allen-santillan",
            Self::Irrgang => "irrgang",
            Self::MwPotential2014 => "mwpotential2014",
            Self::McMillan2017 => "mcmillan2017",
        }
    }
}

/// The sum of a vector of each part.
fn vectors(parts: &[&dyn Field], of: impl Fn(&dyn Field) -> Vec3) -> Vec3 {
    let mut sum = [0.0; 3];
    for part in parts {
        add_scaled(&mut sum, 1.0, &of(*part));
    }
    sum
}

impl Field for MilkyWay {
    fn potential(&self, x: &Vec3) -> f64 {
        self.with(|parts| parts.iter().map(|part| part.potential(x)).sum())
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        self.with(|parts| vectors(parts, |part| part.acceleration(x)))
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        self.with(|parts| vectors(parts, |part| part.jerk(x, v)))
    }

    fn density(&self, x: &Vec3) -> f64 {
        self.with(|parts| parts.iter().map(|part| part.density(x)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLAR_MASSES: f64 = 2.325e7;

    /// km/s at so many kpc.
    fn circular(model: MilkyWay, r: f64) -> f64 {
        10.0 * model.circular_speed(&[r, 0.0, 0.0])
    }

    fn escape(model: MilkyWay, r: f64) -> f64 {
        10.0 * model.escape_speed(&[0.0, r, 0.0])
    }

    /// Oort's constants in km/s/kpc: A = (v/r - dv/dr) / 2, B = -(v/r + dv/dr) / 2.
    fn oort(model: MilkyWay, r: f64) -> (f64, f64) {
        let slope = (circular(model, r + 1e-4) - circular(model, r - 1e-4)) / 2e-4;
        let rate = circular(model, r) / r;
        (0.5 * (rate - slope), -0.5 * (rate + slope))
    }

    /// The numbers of their Section 3: 220 km/s at the Sun, Oort's constants 12.95 and -12.93, escape at
    /// 536 km/s, 9.0e11 solar masses.
    #[test]
    fn allen_and_santillan_as_published() {
        let model = MilkyWay::AllenSantillan;
        assert!((circular(model, 8.5) - 220.0).abs() < 0.05);
        let (a, b) = oort(model, 8.5);
        assert!(
            (a - 12.95).abs() < 0.02 && (b + 12.93).abs() < 0.02,
            "{a} {b}"
        );
        assert!(
            (escape(model, 8.5) - 536.0).abs() < 1.0,
            "{}",
            escape(model, 8.5)
        );
        let (bulge, disc, halo) = ALLEN_SANTILLAN;
        let mass = SOLAR_MASSES * (bulge.m + disc.m + halo.mass(100.0));
        assert!((mass / 9.02e11 - 1.0).abs() < 2e-3, "{mass:e}");
    }

    /// Their Table 1: 242.0 km/s at 8.40 kpc, Oort's constants 15.06 and -13.74, escape at 616.4 km/s,
    /// bulge 9.5e9, disc 6.6e10, all within 200 kpc 1.9e12 solar masses.
    #[test]
    fn irrgang_as_published() {
        let model = MilkyWay::Irrgang;
        assert!(
            (circular(model, 8.4) - 242.0).abs() < 0.1,
            "{}",
            circular(model, 8.4)
        );
        let (a, b) = oort(model, 8.4);
        assert!(
            (a - 15.06).abs() < 0.05 && (b + 13.74).abs() < 0.05,
            "{a} {b}"
        );
        assert!(
            (escape(model, 8.4) - 616.4).abs() < 1.0,
            "{}",
            escape(model, 8.4)
        );
        let (bulge, disc, halo) = IRRGANG;
        let [bulge, disc, halo] = [bulge.m, disc.m, halo.mass(200.0)].map(|m| SOLAR_MASSES * m);
        assert!((bulge / 9.5e9 - 1.0).abs() < 0.01 && (disc / 6.6e10 - 1.0).abs() < 0.01);
        assert!(((bulge + disc + halo) / 1.9e12 - 1.0).abs() < 0.03);
    }

    #[test]
    fn no_galaxy_does_nothing() {
        let x = [1.0, 2.0, 3.0];
        assert_eq!(MilkyWay::None.acceleration(&x), [0.0; 3]);
        assert_eq!(MilkyWay::None.potential(&x), 0.0);
        assert_eq!(MilkyWay::None.circular_speed(&x), 0.0);
        assert_eq!(
            MilkyWay::None.tidal_radius(1.0, &x, &[0.0; 3]),
            f64::INFINITY
        );
    }

    #[test]
    fn names_lead_back() {
        use clap::ValueEnum;
        for model in MilkyWay::value_variants() {
            assert_eq!(MilkyWay::from_str(model.name(), false), Ok(*model));
            assert_eq!(model.to_possible_value().unwrap().get_name(), model.name());
        }
    }
}
