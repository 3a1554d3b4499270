//! Two parts of the cluster, each of one or more particles, as a pair of their centres, with the tide of all others on
//! it.

use kirin_kit::Body;
use kirin_kit::few_body::pair::{Pair, pull};
use kirin_kit::vector::{Vec3, add_scaled, sub};

use super::Integrator;
use super::regularized::Held;
use crate::sources::Sources;

impl<S: Sources> Integrator<S> {
    /// The centres of two lists of particles as a pair at `t`, without the tide on them.
    pub(super) fn centres(&self, t: f64, first: &[usize], second: &[usize]) -> Pair {
        let centre = |list: &[usize]| {
            let mass: f64 = list.iter().map(|&i| self.bodies[i].mass).sum();
            let mut centre = Body {
                mass,
                index: self.bodies[list[0]].index,
                ..Body::default()
            };
            for &i in list {
                let (x, v) = self.predicted(i, t);
                let part = self.bodies[i].mass / mass;
                add_scaled(&mut centre.x, part, &x);
                add_scaled(&mut centre.v, part, &v);
            }
            centre
        };
        Pair::of(&centre(first), &centre(second)).1
    }

    /// The same with the tide that follows from their forces: what is left without those between the stars of both lists.
    pub(super) fn pair_of(&self, t: f64, first: &[usize], second: &[usize]) -> Pair {
        let mut pair = self.centres(t, first, second);
        let [own, others] = [first, second].map(|list| self.stars_of(t, list));
        let mut attraction = [0.0; 3];
        for Body { mass: m, x, .. } in &own {
            for other in &others {
                let (pull, _) = pull(other.mass, &sub(&other.x, x), &[0.0; 3]);
                // The same force acts on both, in opposite directions.
                let both = m / pair.masses[0] + m / pair.masses[1];
                add_scaled(&mut attraction, both, &pull);
            }
        }
        let [of_first, of_second] = [first, second].map(|list| self.mean_force(t, list));
        pair.tide = sub(&of_second, &of_first);
        add_scaled(&mut pair.tide, 1.0, &attraction);
        pair
    }

    /// Acceleration of the centre of these particles at `t`.
    fn mean_force(&self, t: f64, list: &[usize]) -> Vec3 {
        let mass: f64 = list.iter().map(|&i| self.bodies[i].mass).sum();
        let mut force = [0.0; 3];
        for &i in list {
            let state = &self.states[i];
            let part = self.bodies[i].mass / mass;
            add_scaled(&mut force, part, &state.acc);
            add_scaled(&mut force, part * (t - state.t), &state.jerk);
        }
        force
    }

    /// The stars at `t` that these particles are or have.
    pub(super) fn stars_of(&self, t: f64, list: &[usize]) -> Vec<Body> {
        let mut stars = Vec::new();
        for &i in list {
            let (x, v) = self.predicted(i, t);
            let centre = Body {
                x,
                v,
                ..self.bodies[i]
            };
            let held = self.regularized.at.get(&i);
            let state = &self.states[i];
            let predict = |held: &Held| held.system.felt(t - state.t, state.dt);
            let members = held.map(|held| (held, predict(held)));
            // Two members at one place end the run in the next block: here their centre will do.
            let Some((held, Ok(places))) = members else {
                stars.push(centre);
                continue;
            };
            for (mass, (x, v)) in held.system.masses().iter().zip(places) {
                let mut star = Body {
                    mass: *mass,
                    ..centre
                };
                add_scaled(&mut star.x, 1.0, &x);
                add_scaled(&mut star.v, 1.0, &v);
                stars.push(star);
            }
        }
        stars
    }
}
