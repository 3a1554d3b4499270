//! The stars that are bound to a cluster. Its radii and its virial ratio leave out escaped stars.

use crate::body::Body;
use crate::diagnostics::{centre_of_mass, lagrangian_radii, mass};
use crate::pairs::{potentials, potentials_by};
use crate::parts::Parts;
use crate::vector::{Vec3, dot, sub};

/// Rounds in which the bound part is sought: it settles after a handful.
const ROUNDS: usize = 50;

/// Where there is a field around the cluster, the search for the bound part begins with the tenth of the bodies that
/// are in the deepest potential.
const DEEPEST: usize = 10;

/// The part of some bodies that is bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundPart {
    /// Its bodies: stars, also those of systems.
    pub members: Vec<Body>,
    /// Its mass.
    pub mass: f64,
    /// Position of its centre of mass.
    pub x: Vec3,
    /// Velocity of its centre of mass.
    pub v: Vec3,
    /// -T/W of its bodies in their own frame, each system as one body; NaN where there is no pair.
    pub virial_ratio: f64,
}

/// Potentials of bodies by all others, and how they were found.
pub enum Potentials {
    /// The program's own, softened by `eps2`.
    Summed(Vec<f64>, f64),
    /// Those that came with the forces.
    Given(Vec<f64>),
}

impl Potentials {
    /// A number for each body.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Summed(values, _) | Self::Given(values) => values,
        }
    }
}

impl BoundPart {
    /// The bound part of `bodies`. A body is bound if its energy is negative in the frame of the bound bodies, so the
    /// set is found by iteration. The iteration begins with all bodies, or, if a field may have drawn out `tails`, with
    /// the tenth of the bodies in the deepest potential. The potential of a body includes all other bodies, also the
    /// stars in the tails. These change little: a star in the tails adds about a hundredth of what a star of the same
    /// mass inside the cluster adds.
    pub fn of(bodies: &[Body], potentials: &Potentials, tails: bool) -> Self {
        let members = Self::places(bodies, potentials, tails);
        Self::with_members(bodies, &members, potentials)
    }

    /// Places of the bound bodies.
    fn places(bodies: &[Body], potentials: &Potentials, tails: bool) -> Vec<usize> {
        let values = potentials.values();
        let mut members: Vec<usize> = (0..bodies.len()).collect();
        if tails {
            members.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
            members.truncate(bodies.len().div_ceil(DEEPEST).max(2));
            members.sort_unstable();
        }
        for _ in 0..ROUNDS {
            let chosen: Vec<Body> = members.iter().map(|&i| bodies[i]).collect();
            let (_, v) = centre_of_mass(&chosen);
            let is_bound = |&i: &usize| {
                let motion = sub(&bodies[i].v, &v);
                0.5 * dot(&motion, &motion) + values[i] < 0.0
            };
            let next: Vec<usize> = (0..bodies.len()).filter(is_bound).collect();
            if next == members {
                break;
            }
            members = next;
        }
        members
    }

    /// The bound part of `bodies`, whose pairs attract with the softening `eps2`. Each of their `parts` counts as one body: its
    /// members are bound if its centre is, and the virial ratio does not include what moves within a system.
    pub fn of_parts(bodies: &[Body], parts: &Parts, eps2: f64, tails: bool) -> Self {
        let Parts { places, centres } = parts;
        let potentials = Potentials::Summed(potentials(centres, eps2), eps2);
        let found = Self::places(centres, &potentials, tails);
        let mut members: Vec<usize> = found.iter().flat_map(|&k| places[k].clone()).collect();
        members.sort_unstable();
        Self {
            members: members.iter().map(|&i| bodies[i]).collect(),
            ..Self::with_members(centres, &found, &potentials)
        }
    }

    fn with_members(bodies: &[Body], members: &[usize], potentials_of_all: &Potentials) -> Self {
        let chosen: Vec<Body> = members.iter().map(|&i| bodies[i]).collect();
        let (x, v) = centre_of_mass(&chosen);
        let values = match potentials_of_all {
            Potentials::Summed(all, eps2) => own_potentials(bodies, members, &chosen, all, *eps2),
            Potentials::Given(all) => members.iter().map(|&i| all[i]).collect(),
        };
        let kinetic = chosen.iter().map(|b| {
            let motion = sub(&b.v, &v);
            0.5 * b.mass * dot(&motion, &motion)
        });
        let kinetic: f64 = kinetic.sum();
        let potential: f64 = chosen
            .iter()
            .zip(&values)
            .map(|(b, p)| 0.5 * b.mass * p)
            .sum();
        Self {
            mass: mass(&chosen),
            x,
            v,
            virial_ratio: match potential < 0.0 {
                true => -kinetic / potential,
                false => f64::NAN,
            },
            members: chosen,
        }
    }

    /// Number of bodies.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// Radii about the centre that hold these fractions of the mass; NaN where nobody is bound.
    pub fn radii(&self, fractions: &[f64]) -> Vec<f64> {
        lagrangian_radii(&self.members, fractions)
    }

    /// The radius that holds half of the mass.
    pub fn half_mass_radius(&self) -> f64 {
        self.radii(&[0.5])[0]
    }
}

/// Potentials of the `chosen` members by each other only, since stars that have left are no part of the cluster's
/// energy. `of_all` are the potentials by all bodies. If few bodies have left, their part is subtracted from these,
/// which is cheaper than a sum over all pairs of members.
fn own_potentials(
    bodies: &[Body],
    members: &[usize],
    chosen: &[Body],
    of_all: &[f64],
    eps2: f64,
) -> Vec<f64> {
    let mut is_member = vec![false; bodies.len()];
    members.iter().for_each(|&i| is_member[i] = true);
    let left = bodies.iter().zip(&is_member).filter(|(_, is)| !**is);
    let left: Vec<Body> = left.map(|(body, _)| *body).collect();
    if 2 * left.len() > chosen.len() {
        return potentials(chosen, eps2);
    }
    let by_left = potentials_by(&left, chosen, eps2);
    let own = |(&i, by): (&usize, f64)| of_all[i] - by;
    members.iter().zip(by_left).map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;
    use crate::parts::tests::half_as_binaries;

    fn bound(bodies: &[Body], tails: bool) -> BoundPart {
        BoundPart::of(
            bodies,
            &Potentials::Summed(potentials(bodies, 0.0), 0.0),
            tails,
        )
    }

    /// A Plummer sphere on its way, with stars that fly by.
    #[test]
    fn those_who_fly_by_are_not_bound() {
        let mut bodies = models::plummer(300, 1);
        for body in &mut bodies {
            body.x[0] += 800.0;
            body.v[1] += 84.0;
        }
        for (k, body) in bodies.iter_mut().enumerate().take(30) {
            body.v[2] += 5.0;
            body.x[1] += if k < 20 { 30.0 } else { -30.0 };
        }
        let bound = bound(&bodies, true);
        assert!((265..=270).contains(&bound.count()), "{}", bound.count());
        assert!((bound.mass - bound.count() as f64 / 300.0).abs() < 1e-12);
        assert!((bound.x[0] - 800.0).abs() < 0.1 && (bound.v[1] - 84.0).abs() < 0.1);
        assert!((0.6..1.0).contains(&bound.half_mass_radius()));
        assert!(
            (0.4..0.6).contains(&bound.virial_ratio),
            "{}",
            bound.virial_ratio
        );
    }

    /// A few fast escapers far away changed radii and virial ratio of everybody a hundredfold.
    #[test]
    fn escapers_change_neither_radii_nor_virial_ratio() {
        let mut bodies = models::plummer(500, 2);
        let before = bound(&bodies, false);
        assert_eq!(before.count(), 500);
        assert!((before.virial_ratio - 0.5).abs() < 1e-12);
        for body in bodies.iter_mut().take(100) {
            body.x = body.x.map(|c| 1e3 * c);
            body.v = body.v.map(|c| 30.0 * c);
        }
        let after = bound(&bodies, false);
        assert!((390..=400).contains(&after.count()), "{}", after.count());
        let ratio = after.half_mass_radius() / before.half_mass_radius();
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
        assert!(
            (0.4..0.75).contains(&after.virial_ratio),
            "{}",
            after.virial_ratio
        );
    }

    /// Half of the stars are binaries. One binary flies away: each of its stars is bound to the other.
    #[test]
    fn a_system_is_one_body() {
        let mut centres = models::plummer(200, 3);
        let before = bound(&centres, false);
        centres[0].v = [0.0, 0.0, 5.0];
        let (bodies, systems) = half_as_binaries(&centres);
        let found = BoundPart::of_parts(&bodies, &Parts::of(&bodies, &systems), 0.0, false);
        assert_eq!(found.count(), 298);
        assert!((found.mass - 199.0 / 200.0).abs() < 1e-12);
        assert!((found.virial_ratio - before.virial_ratio).abs() < 0.01);
        let ratio = found.half_mass_radius() / before.half_mass_radius();
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
        let as_stars = bound(&bodies, false);
        assert!(as_stars.virial_ratio > 0.9 && as_stars.count() == 300);
        // Without systems, it is the bound part of the stars.
        assert_eq!(
            BoundPart::of_parts(&centres, &Parts::of(&centres, &[]), 0.0, false),
            bound(&centres, false)
        );
    }

    /// The two ways of leaving those out who have left.
    #[test]
    fn the_energy_of_the_bound_is_that_of_their_pairs() {
        for (n, gone) in [(600, 30), (600, 400)] {
            let mut bodies = models::plummer(n, 5);
            for body in bodies.iter_mut().take(gone) {
                body.x = body.x.map(|c| 3.0 * c);
                body.v = body.v.map(|c| 30.0 * c);
            }
            let found = bound(&bodies, false);
            assert!(found.count() < n - gone / 2, "{}", found.count());
            let mut alone = found.members.clone();
            alone.iter_mut().for_each(|b| b.v = sub(&b.v, &found.v));
            let expected = crate::diagnostics::Energy::of(&alone, 0.0).virial_ratio();
            assert!((found.virial_ratio / expected - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn two_stars_are_a_cluster() {
        let mut bodies = models::plummer(2, 1);
        bodies[0].x = [0.5, 0.0, 0.0];
        bodies[1].x = [-0.5, 0.0, 0.0];
        bodies[0].v = [0.0, 0.5, 0.0];
        bodies[1].v = [0.0, -0.5, 0.0];
        for tails in [false, true] {
            assert_eq!(bound(&bodies, tails).count(), 2);
            assert!((bound(&bodies, tails).virial_ratio - 0.5).abs() < 1e-12);
        }
        // One star has no virial ratio.
        assert!(bound(&bodies[..1], false).virial_ratio.is_nan());
    }

    #[test]
    fn nobody_is_bound_in_an_exploded_cluster() {
        let mut bodies = models::plummer(100, 1);
        bodies.iter_mut().for_each(|b| b.v = b.x.map(|c| 100.0 * c));
        for tails in [false, true] {
            assert!(bound(&bodies, tails).count() <= 1);
            assert!(bound(&[], tails).half_mass_radius().is_nan());
        }
    }
}
