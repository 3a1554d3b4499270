//! Conserved quantities and structure of a set of bodies, in double precision on the host.
//!
//! These figures judge the library under test, so they never come from it.

use std::borrow::Cow;

use crate::body::Body;
use crate::galaxy::Field;
use crate::pairs;
use crate::sum::Sum;
use crate::vector::{Vec3, cross, dot, norm, sub};

/// Kinetic and potential energy of bodies at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Kinetic energy T.
    pub kinetic: f64,
    /// Potential energy W, softened as the forces were.
    pub potential: f64,
    /// Energy in an external field, and of the motion of the centre of mass there; 0 without a field.
    pub external: f64,
}

impl Energy {
    /// Energy of `bodies` whose pairs attract with the softening `eps2` = eps squared.
    ///
    /// O(N^2) on all processors; the result does not depend on their number.
    pub fn of(bodies: &[Body], eps2: f64) -> Self {
        Self {
            kinetic: bodies.iter().map(|b| 0.5 * b.mass * dot(&b.v, &b.v)).sum(),
            potential: pairs::energy(bodies, eps2),
            external: 0.0,
        }
    }

    /// Energy of `bodies` in `field`: T and W are those of the cluster in the frame of its centre of mass.
    pub fn in_field(bodies: &[Body], eps2: f64, field: &dyn Field) -> Self {
        Self::with_potential(bodies, pairs::energy(bodies, eps2), field)
    }

    /// [`Energy::in_field`] where the potential energy of the pairs is known.
    pub fn with_potential(bodies: &[Body], potential: f64, field: &dyn Field) -> Self {
        let (_, v) = centre_of_mass(bodies);
        let squares = |b: &Body, v: &Vec3| b.mass * dot(v, v);
        let own: Sum = bodies.iter().map(|b| squares(b, &sub(&b.v, &v))).collect();
        // T as a whole less T in the cluster's frame would lose digits.
        let mut external: Sum = bodies
            .iter()
            .map(|b| b.mass * field.potential(&b.x))
            .collect();
        external += 0.5 * mass(bodies) * dot(&v, &v);
        Self {
            kinetic: 0.5 * own.value(),
            potential,
            external: external.value(),
        }
    }

    /// T + W, and the energy in the external field.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential + self.external
    }

    /// T + W.
    pub fn own(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// The energy by which the cluster's own energy error is divided: |T + W|, but at least a tenth of |W|. In a
    /// galaxy the total energy is mostly that of the orbit, and relative to it the cluster's error would not show.
    pub fn own_scale(&self) -> f64 {
        self.own().abs().max(0.1 * self.potential.abs())
    }

    /// -T/W: 1/2 in virial equilibrium; NaN where there is no pair.
    pub fn virial_ratio(&self) -> f64 {
        -self.kinetic / self.potential
    }

    /// |E - E0| / |E0|, or the plain difference where E0 is zero.
    pub fn error(&self, initial: f64) -> f64 {
        let difference = (self.total() - initial).abs();
        if initial == 0.0 {
            difference
        } else {
            difference / initial.abs()
        }
    }
}

/// Total mass.
pub fn mass(bodies: &[Body]) -> f64 {
    bodies.iter().map(|b| b.mass).collect::<Sum>().value()
}

/// The bodies with mass. Where nobody has mass, all of them, each as if its mass were 1.
pub fn with_mass(bodies: &[Body]) -> Cow<'_, [Body]> {
    let has_mass = |b: &&Body| b.mass != 0.0;
    match bodies.iter().filter(has_mass).count() {
        count if count == bodies.len() => bodies.into(),
        0 => alike(bodies),
        _ => bodies.iter().filter(has_mass).copied().collect(),
    }
}

/// The `bodies` with one mass.
pub(crate) fn alike(bodies: &[Body]) -> Cow<'_, [Body]> {
    bodies.iter().map(|b| Body { mass: 1.0, ..*b }).collect()
}

/// Position and velocity of the centre of mass. Where nobody has mass, all count the same.
pub fn centre_of_mass(bodies: &[Body]) -> (Vec3, Vec3) {
    let bodies = with_mass(bodies);
    let total = mass(&bodies);
    let mean = |of: fn(&Body) -> &Vec3| weighted(&bodies, |b| *of(b)).map(|c| c / total);
    (mean(|b| &b.x), mean(|b| &b.v))
}

/// Sum of a vector of each body times its mass.
fn weighted(bodies: &[Body], of: impl Fn(&Body) -> Vec3) -> Vec3 {
    let mut sums = [Sum::default(); 3];
    for b in bodies {
        let vector = of(b);
        for k in 0..3 {
            sums[k] += b.mass * vector[k];
        }
    }
    sums.map(|sum| sum.value())
}

/// Linear momentum.
pub fn momentum(bodies: &[Body]) -> Vec3 {
    weighted(bodies, |b| b.v)
}

/// Angular momentum about the origin.
pub fn angular_momentum(bodies: &[Body]) -> Vec3 {
    weighted(bodies, |b| cross(&b.x, &b.v))
}

/// Radii about the centre of mass that hold the given `fractions` of the mass.
///
/// A radius is that of the first body from inside with which the mass reaches the fraction. Where nobody has mass, all
/// count the same. NaN without bodies.
pub fn lagrangian_radii(bodies: &[Body], fractions: &[f64]) -> Vec<f64> {
    let bodies = with_mass(bodies);
    let (centre, _) = centre_of_mass(&bodies);
    let mut shells: Vec<(f64, f64)> = bodies
        .iter()
        .map(|b| (norm(&sub(&b.x, &centre)), b.mass))
        .collect();
    shells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total = mass(&bodies);
    let outermost = shells.last().map_or(f64::NAN, |s| s.0);
    fractions
        .iter()
        .map(|fraction| {
            let mut enclosed = 0.0;
            shells
                .iter()
                .find(|(_, m)| {
                    enclosed += m;
                    enclosed >= fraction * total
                })
                .map_or(outermost, |s| s.0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(mass: f64, x: Vec3, v: Vec3) -> Body {
        Body {
            index: 0,
            mass,
            x,
            v,
        }
    }

    #[test]
    fn energy_of_two_bodies_by_hand() {
        let bodies = [
            body(2.0, [0.0; 3], [1.0, 0.0, 0.0]),
            body(3.0, [3.0, 0.0, 0.0], [0.0, 2.0, 0.0]),
        ];
        let bare = Energy::of(&bodies, 0.0);
        assert_eq!(bare.kinetic, 1.0 + 6.0);
        assert_eq!(bare.potential, -2.0);
        assert_eq!(Energy::of(&bodies, 16.0).potential, -6.0 / 5.0);
        assert_eq!(bare.virial_ratio(), 3.5);
    }

    /// What a field adds is energy that all bodies have; T and W are those of the cluster alone.
    #[test]
    fn energy_in_a_field_is_that_of_all_parts() {
        let hole = crate::galaxy::component::Plummer { m: 1e6, b: 0.0 };
        let mut bodies = crate::models::plummer(200, 3);
        let alone = Energy::of(&bodies, 1e-4);
        for b in &mut bodies {
            b.x[0] += 500.0;
            b.v[1] += 40.0;
        }
        let energy = Energy::in_field(&bodies, 1e-4, &hole);
        assert!((energy.kinetic - alone.kinetic).abs() < 1e-12);
        assert!((energy.potential - alone.potential).abs() < 1e-12);
        let outside: f64 = bodies.iter().map(|b| b.mass * hole.potential(&b.x)).sum();
        let whole = Energy::of(&bodies, 1e-4).total() + outside;
        assert!((energy.total() / whole - 1.0).abs() < 1e-13);
        assert!((energy.external / (800.0 - 2000.0) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn coincident_bodies_add_nothing() {
        let bodies = [body(1.0, [1.0; 3], [0.0; 3]), body(1.0, [1.0; 3], [0.0; 3])];
        assert_eq!(Energy::of(&bodies, 0.0).potential, 0.0);
        assert_eq!(Energy::of(&bodies, 0.25).potential, -2.0);
    }

    #[test]
    fn lagrangian_radii_of_a_line() {
        let mut bodies: Vec<_> = (0..10)
            .flat_map(|k| {
                let r = f64::from(k) + 1.0;
                [
                    body(1.0, [r, 0.0, 0.0], [0.0; 3]),
                    body(1.0, [-r, 0.0, 0.0], [0.0; 3]),
                ]
            })
            .collect();
        assert_eq!(
            lagrangian_radii(&bodies, &[0.1, 0.5, 0.75, 1.0]),
            [1.0, 5.0, 8.0, 10.0]
        );
        // Test particles do not count beside bodies with mass, and count the same alone.
        bodies.push(body(0.0, [100.0, 0.0, 0.0], [0.0; 3]));
        assert_eq!(lagrangian_radii(&bodies, &[0.5, 1.0]), [5.0, 10.0]);
        bodies.pop();
        bodies.iter_mut().for_each(|b| b.mass = 0.0);
        assert_eq!(lagrangian_radii(&bodies, &[0.5, 1.0]), [5.0, 10.0]);
    }

    #[test]
    fn errors_are_relative_unless_there_is_nothing_to_relate_to() {
        let energy = Energy {
            kinetic: 1.0,
            potential: -3.0,
            external: 0.0,
        };
        assert_eq!(energy.error(-4.0), 0.5);
        assert_eq!(energy.error(0.0), 2.0);
    }
}
