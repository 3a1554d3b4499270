//! Converts models to standard N-body units, so that clusters of different origin can be compared.

use crate::body::Body;
use crate::diagnostics::{Energy, centre_of_mass, mass};
use crate::pairs;
use crate::vector::{add_scaled, dot};

/// Largest number of bodies whose energy is scaled exactly.
///
/// The pairs of more bodies than that would take minutes on a small machine.
pub const EXACT_SCALING_LIMIT: usize = 131_072;

/// Moves the centre of mass to rest in the origin.
pub fn to_centre_of_mass(bodies: &mut [Body]) {
    let (x, v) = centre_of_mass(bodies);
    for b in bodies {
        add_scaled(&mut b.x, -1.0, &x);
        add_scaled(&mut b.v, -1.0, &v);
    }
}

/// Scales velocities so that 2 T / |W| is `ratio`, which is 1 in virial equilibrium. W is the potential energy without
/// softening. If there are more than [`EXACT_SCALING_LIMIT`] bodies, it is estimated from the first so many, which must be a
/// random sample of all.
///
/// Where T or W is zero nothing can be scaled and nothing is.
pub fn set_virial_ratio(bodies: &mut [Body], ratio: f64) {
    let kinetic: f64 = bodies.iter().map(|b| 0.5 * b.mass * dot(&b.v, &b.v)).sum();
    let potential = potential_from(bodies, EXACT_SCALING_LIMIT);
    if kinetic > 0.0 && potential < 0.0 {
        let factor = (-0.5 * ratio * potential / kinetic).sqrt();
        bodies
            .iter_mut()
            .for_each(|b| b.v = b.v.map(|c| c * factor));
    }
}

/// The potential energy without softening, estimated from the first `most` bodies if there are more.
fn potential_from(bodies: &[Body], most: usize) -> f64 {
    let sample = &bodies[..bodies.len().min(most)];
    let share = mass(sample) / mass(bodies);
    pairs::energy(sample, 0.0) / (share * share)
}

/// Scales lengths and velocities so that W = -1/2 and T = 1/4: virial equilibrium with E = -1/4.
///
/// W is the potential energy without softening. If T or W is zero, as for a single body, nothing is scaled.
pub fn to_standard_units(bodies: &mut [Body]) {
    let energy = Energy::of(bodies, 0.0);
    if energy.kinetic > 0.0 && energy.potential < 0.0 {
        let length = -2.0 * energy.potential;
        let velocity = (0.25 / energy.kinetic).sqrt();
        for b in bodies {
            b.x = b.x.map(|c| c * length);
            b.v = b.v.map(|c| c * velocity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::plummer;

    #[test]
    fn a_part_of_the_bodies_tells_the_potential_energy_of_all() {
        let bodies = plummer(8000, 2);
        let [all, part] = [8000, 2000].map(|most| potential_from(&bodies, most));
        assert_eq!(all, Energy::of(&bodies, 0.0).potential);
        assert!((part / all - 1.0).abs() < 0.03, "{part} {all}");
    }
}
