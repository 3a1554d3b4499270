//! Phase 7, diagnostics: energy, core and Lagrangian radii, from sums that have one order on any number of
//! ranks.

use std::f64::consts::PI;

use kirin_kit::history::COMPONENT_FRACTIONS;
use kirin_kit::models::two_masses;

use crate::partition::BIN;
use crate::potential::Potential;
use crate::stars::Stars;

/// Fractions of the mass whose Lagrangian radii are recorded.
pub const FRACTIONS: [f64; 7] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9];

/// Smaller fractions, whose radii show the core of a cluster whose heaviest stars collapse alone. Found for records only, not for every
/// step.
pub const INNERMOST: [f64; 2] = [1e-3, 1e-4];

/// Neighbours of a star on each side between which its density is found.
const NEIGHBOURS: usize = 3;

/// Numbers that are summed over each bin.
pub const SUMMED: usize = 5;

/// What is known of a cluster at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Diagnostics {
    /// Kinetic energy T.
    pub kinetic: f64,
    /// Potential energy W, that of the stars and a black hole included.
    pub potential: f64,
    /// Core radius: mean radius, weighted by density (Casertano and Hut 1985).
    pub core_radius: f64,
    /// Core density: mean density, weighted by density (equation 19).
    pub core_density: f64,
    /// Number of stars within the core radius.
    pub core_stars: usize,
    /// Radii that hold the [`FRACTIONS`] of the mass.
    pub radii: [f64; FRACTIONS.len()],
}

impl Diagnostics {
    /// Radius that holds half of the mass.
    pub fn half_mass(&self) -> f64 {
        self.radii[4]
    }
}

/// Equation 20: half-mass relaxation time.
pub fn half_mass_relaxation_time(n: usize, coulomb: f64, mass: f64, half_mass_radius: f64) -> f64 {
    0.138 * n as f64 / coulomb * (half_mass_radius.powi(3) / mass).sqrt()
}

/// Density at star `k` (from 0): the mass of the star and of its two next neighbours on each side, over the volume
/// between the third neighbours. Near the centre the volume is a sphere. The density is 0 for the outermost three
/// stars. The estimate has no bias.
///
/// The variance of the estimate is 1/4 of the square of its mean, as for Casertano and Hut's estimate from six
/// neighbours in space.
pub fn density(potential: &Potential, radii: &[f64], k: usize) -> f64 {
    let Some(&outer) = radii.get(k + NEIGHBOURS) else {
        return 0.0;
    };
    let below = k.checked_sub(NEIGHBOURS);
    let inner = below.map_or(0.0, |below| radii[below]);
    // Of the stars up to the one before the outer bound, without the inner bound.
    let inside = potential.between[below.map_or(0, |below| below + 1)].inside;
    let mass = potential.between[k + NEIGHBOURS].inside - inside;
    let volume = 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner);
    if volume > 0.0 { mass / volume } else { 0.0 }
}

/// Radii that hold the [`COMPONENT_FRACTIONS`] of the mass of the light stars, and of the heavy ones, given the
/// masses and radii of all stars. `None` unless exactly two masses occur.
pub fn components(masses: &[f64], radii: &[f64]) -> Option<[[f64; 3]; 2]> {
    let of = |mass: f64| {
        let radii = || {
            masses
                .iter()
                .zip(radii)
                .filter(|(m, _)| **m == mass)
                .map(|(_, r)| *r)
        };
        let count = radii().count() as f64;
        // The star with which the mass comes up to the fraction.
        COMPONENT_FRACTIONS.map(|part| {
            let place = (part * count * (1.0 - 1e-12)).ceil().max(1.0) as usize - 1;
            radii().nth(place).unwrap_or(f64::NAN)
        })
    };
    two_masses(masses.iter().copied()).map(|two| two.map(of))
}

/// What is summed over one bin, whose stars have indices from `first` on and stand in `own` places of `stars`.
pub fn of_bin(
    potential: &Potential,
    radii: &[f64],
    stars: &Stars,
    first: usize,
    own: std::ops::Range<usize>,
) -> [f64; SUMMED] {
    debug_assert!(own.len() <= BIN);
    let mut sums = [0.0; SUMMED];
    for (place, global) in own.zip(first..) {
        let (m, vr, vt) = (stars.m[place], stars.vr[place], stars.vt[place]);
        let node = potential.nodes[global + 1];
        let density = density(potential, radii, global);
        let terms = [
            0.5 * m * (vr * vr + vt * vt),
            // A pair of stars is counted twice, a star and a point mass at the centre once.
            0.5 * m * (node.phi + (m - potential.centre) * node.u),
            density,
            density * radii[global],
            density * density,
        ];
        sums.iter_mut()
            .zip(terms)
            .for_each(|(sum, term)| *sum += term);
    }
    sums
}

/// The diagnostics that follow from the sums over all bins.
pub fn of_sums(potential: &Potential, radii: &[f64], sums: [f64; SUMMED]) -> Diagnostics {
    let [kinetic, energy, densities, moments, squares] = sums;
    let core_radius = moments / densities;
    Diagnostics {
        kinetic,
        potential: energy,
        core_radius,
        core_density: squares / densities,
        core_stars: potential.star_inside(radii, core_radius),
        radii: FRACTIONS.map(|fraction| radii[potential.enclosing(fraction)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_have_radii_of_their_own() {
        // Ten light stars, and four heavy ones among them.
        let masses: Vec<f64> = (0..14)
            .map(|k| if k % 4 == 1 { 3.0 } else { 1.0 })
            .collect();
        let radii: Vec<f64> = (1..=14).map(f64::from).collect();
        let [light, heavy] = components(&masses, &radii).unwrap();
        // The first, fifth and ninth light one; heavy ones at 2, 6, 10 and 14.
        assert_eq!(light, [1.0, 7.0, 12.0]);
        assert_eq!(heavy, [2.0, 6.0, 14.0]);
        assert_eq!(components(&[1.0; 14], &radii), None);
        let mut three = masses;
        three[5] = 2.0;
        assert_eq!(components(&three, &radii), None);
    }
}
