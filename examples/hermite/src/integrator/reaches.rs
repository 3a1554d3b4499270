//! A quick look at which systems a particle may feel otherwise than by their centres of mass.
//!
//! Most systems are too far away. They are left out by bounds of their distances, before their motion is predicted. The bounds
//! are never too strict, so the look changes no bit of a force.

use kirin_kit::Body;
use kirin_kit::few_body::subsystem::Reach;
use kirin_kit::snapshot::State;
use kirin_kit::vector::{Vec3, norm};

/// Systems that are looked at together.
const CHUNK: usize = 64;

/// So few systems are not worth the look.
const FEW: usize = 8;

/// Factor of the distances, for the rounding errors of both sides.
const MARGIN: f64 = 1.0 + 1e-6;

/// The systems by columns, in ascending order of the addresses of their centres.
#[derive(Clone, Debug, Default)]
pub(super) struct Reaches {
    firsts: Vec<usize>,
    /// Positions of the centres at the beginnings of their steps.
    x: [Vec<f64>; 3],
    /// How far they move within their steps at most; infinite if that is not known.
    moves: Vec<f64>,
    near: Vec<f64>,
    members: Vec<f64>,
    quadrupole: Vec<f64>,
}

impl Reaches {
    /// Notes how far the system with its centre at the address `first` is felt. Of a new system everything else is unknown.
    pub fn hold(&mut self, first: usize, reach: Reach) {
        let place = self.firsts.binary_search(&first);
        let k = place.unwrap_or_else(|k| {
            self.firsts.insert(k, first);
            self.columns().for_each(|column| column.insert(k, 0.0));
            self.moves[k] = f64::INFINITY;
            k
        });
        (self.near[k], self.members[k]) = (reach.near, reach.members);
        self.quadrupole[k] = reach.quadrupole;
    }

    /// Notes the step of a centre.
    pub fn place(&mut self, first: usize, centre: &Body, state: &State) {
        if let Ok(k) = self.firsts.binary_search(&first) {
            let dt = state.dt;
            let of_force = norm(&state.acc) / 2.0 + dt * norm(&state.jerk) / 6.0;
            self.moves[k] = dt * (norm(&centre.v) + dt * of_force);
            (0..3).for_each(|c| self.x[c][k] = centre.x[c]);
        }
    }

    /// Forgets a system.
    pub fn remove(&mut self, first: usize) {
        if let Ok(k) = self.firsts.binary_search(&first) {
            self.firsts.remove(k);
            for column in self.columns() {
                column.remove(k);
            }
        }
    }

    fn columns(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        let others = [&mut self.moves, &mut self.near, &mut self.members];
        let others = others.into_iter().chain([&mut self.quadrupole]);
        self.x.iter_mut().chain(others)
    }

    /// Writes to `found` the addresses of the systems that may be felt otherwise than by their centres by a particle of this
    /// mass and acceleration, at places within `own` of `x`.
    pub fn find<'a>(
        &'a self,
        x: &Vec3,
        own: f64,
        mass: f64,
        acceleration: f64,
        found: &mut Vec<usize>,
    ) {
        found.clear();
        if self.firsts.len() <= FEW {
            found.extend(&self.firsts);
            return;
        }
        let by_mass = mass.cbrt();
        let by_acceleration = acceleration.max(f64::MIN_POSITIVE).sqrt().sqrt().recip();
        for from in (0..self.firsts.len()).step_by(CHUNK) {
            let n = CHUNK.min(self.firsts.len() - from);
            let part = |column: &'a [f64]| &column[from..][..n];
            let [xs, ys, zs] = self.x.each_ref().map(|column| part(column));
            let (moves, near) = (part(&self.moves), part(&self.near));
            let (members, quadrupole) = (part(&self.members), part(&self.quadrupole));
            // As bits: choices would become branches, and then there are no vectors.
            let mut is_near = [0_u64; CHUNK];
            let is_near = &mut is_near[..n];
            let mut any = 0;
            for k in 0..n {
                let d = [xs[k] - x[0], ys[k] - x[1], zs[k] - x[2]];
                let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                let reach = greater(by_mass * members[k], by_acceleration * quadrupole[k]);
                let reach = MARGIN * (greater(near[k], reach) + moves[k] + own);
                is_near[k] = u64::from(r2 <= reach * reach).wrapping_neg();
                any |= is_near[k];
            }
            if any != 0 {
                let both = self.firsts[from..].iter().zip(&*is_near);
                found.extend(both.filter(|(_, is)| **is != 0).map(|(first, _)| first));
            }
        }
    }
}

/// The greater of two numbers, as one instruction.
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::few_body::subsystem::{Felt, Subsystem};
    use kirin_kit::models::plummer;
    use kirin_kit::vector::{dot, sub};

    /// Whatever is felt otherwise than as a centre is found, anywhere in a step, and little else is.
    #[test]
    fn what_is_felt_is_found() {
        let stars = plummer(300, 5);
        let mut all = Reaches::default();
        let mut systems = Vec::new();
        for (k, star) in stars.iter().enumerate().take(150) {
            let mut other = *star;
            let axis = 1e-5 * 1.05_f64.powi(k as i32);
            other.x[0] += axis;
            other.v[1] += (2.0 * star.mass / axis).sqrt();
            let (centre, system) = Subsystem::of(&[*star, other]);
            let state = State {
                dt: 1.0 / 64.0,
                acc: star.x.map(|c| -c),
                jerk: star.v.map(|c| -c),
                ..State::default()
            };
            let surroundings = system.surroundings(system.size());
            // From the last to the first.
            let first = 2 * (150 - k);
            all.hold(first, surroundings.reach());
            systems.push((first, centre, state, surroundings));
        }
        let mut found = Vec::new();
        all.find(&stars[200].x, 0.0, 1.0 / 300.0, 1.0, &mut found);
        assert_eq!(found.len(), 150, "nothing is known of their places");
        for (first, centre, state, _) in &systems {
            all.place(*first, centre, state);
        }
        all.remove(systems[7].0);
        systems.remove(7);
        let (mut felt, mut looked_at) = (0, 0);
        for (mass, acceleration) in [(1e-9, 1e-3), (1.0 / 300.0, 1.0), (0.02, 30.0)] {
            for star in &stars[150..] {
                all.find(&star.x, 0.0, mass, acceleration, &mut found);
                assert!(found.is_sorted());
                looked_at += found.len();
                for (first, centre, state, surroundings) in &systems {
                    for dt in [0.0, state.dt] {
                        let point = crate::particle::point(centre, state);
                        let (x, _) = crate::scheme::predict(&point, dt);
                        let d = sub(&x, &star.x);
                        let is_felt =
                            surroundings.felt(dot(&d, &d), mass, acceleration) != Felt::Centre;
                        felt += usize::from(is_felt);
                        assert!(!is_felt || found.contains(first));
                    }
                }
            }
        }
        assert!(felt > 500 && looked_at < 2 * felt, "{felt} {looked_at}");
    }
}
