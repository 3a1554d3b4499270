//! The reduced solver with threads (sections 7.1.6 to 7.1.8), in two phases. In the first each thread adds the forces
//! of its pairs to an array of its own, since a pair also changes the force on a particle of another thread. In the
//! second these arrays are summed.

use std::ops::Deref;
use std::sync::{Barrier, PoisonError, RwLock};

use super::reduced::add_pairs;
use super::shared::SharedParticles;
use crate::distribution::Distribution;
use crate::particles::{Assignment, Output, Particles};
use crate::physics::{Gravity, Law, Vect, add};
use crate::team::{self, SharedVectors};

/// How the loops are distributed: the columns of Table 7.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Schedule {
    /// All loops in blocks
    Default,
    /// The first phase of the forces cyclic, the other loops in blocks
    #[default]
    ForcesCyclic,
    /// All loops cyclic
    AllCyclic,
}

impl Schedule {
    /// The distributions of the first phase and of the other loops.
    pub fn distributions(self) -> (Distribution, Distribution) {
        match self {
            Self::Default => (Distribution::Block, Distribution::Block),
            Self::ForcesCyclic => (Distribution::Cyclic, Distribution::Block),
            Self::AllCyclic => (Distribution::Cyclic, Distribution::Cyclic),
        }
    }
}

/// Moves `particles` by the steps of `plan`, with so many threads.
/// Returns the processor time of the thread that computed longest, in
/// seconds.
///
/// # Errors
///
/// The system has no more threads; in words.
pub fn solve<'a>(
    threads: usize,
    schedule: Schedule,
    particles: &mut Particles,
    plan: &Assignment,
    output: &'a mut Output<'a>,
) -> Result<f64, String> {
    let n = particles.len();
    let (pairs, others) = schedule.distributions();
    let shared = SharedParticles::new(particles, plan, output);
    let forces = SharedVectors::new(&vec![[0.0; 2]; n]);
    let law = Gravity {
        masses: &shared.masses,
    };
    // An array for each thread. The locks never wait: the barriers keep writers and readers apart.
    let array = |_| RwLock::new(vec![[0.0; 2]; n]);
    let loc_forces: Vec<RwLock<Vec<Vect>>> = (0..threads).map(array).collect();
    let barrier = Barrier::new(threads);
    let longest = team::run(threads, |rank| {
        let mine = || others.of(rank, threads, n);
        for step in 0..plan.steps {
            if rank == 0 {
                shared.print(step);
            }
            {
                let array = loc_forces[rank].write();
                let mut array = array.unwrap_or_else(PoisonError::into_inner);
                let my_pairs = pairs.of(rank, threads, n);
                first_phase(&law, my_pairs, |k| shared.pos.get(k), &mut array);
            }
            barrier.wait();
            if shared.is_over() {
                break;
            }
            {
                let arrays: Vec<_> = loc_forces
                    .iter()
                    .map(|array| array.read().unwrap_or_else(PoisonError::into_inner))
                    .collect();
                for q in mine() {
                    forces.set(q, second_phase(&arrays, q));
                }
            }
            for q in mine() {
                shared.advance(q, &forces.get(q));
            }
            barrier.wait();
        }
    })?;
    shared.end();
    Ok(longest)
}

/// What a thread adds up in the first phase: the pairs of each of its particles with those after it.
pub fn first_phase<const D: usize>(
    law: &impl Law<D>,
    mine: impl Iterator<Item = usize>,
    pos: impl Fn(usize) -> Vect + Copy,
    loc_forces: &mut [[f64; D]],
) {
    let n = loc_forces.len();
    loc_forces.fill([0.0; D]);
    for q in mine {
        add_pairs(law, q, n, pos, loc_forces);
    }
}

/// The second phase for particle `q`: the sum over the arrays of all threads.
pub fn second_phase<const D: usize>(
    loc_forces: &[impl Deref<Target = Vec<[f64; D]>>],
    q: usize,
) -> [f64; D] {
    let mut force = [0.0; D];
    for array in loc_forces {
        add(&mut force, &array[q]);
    }
    force
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of Table 7.3 say which of the loops are distributed in blocks.
    #[test]
    fn the_schedules_are_those_of_table_7_3() {
        use Distribution::{Block, Cyclic};
        for (schedule, distributions) in [
            (Schedule::Default, (Block, Block)),
            (Schedule::ForcesCyclic, (Cyclic, Block)),
            (Schedule::AllCyclic, (Cyclic, Cyclic)),
        ] {
            assert_eq!(schedule.distributions(), distributions);
        }
    }
}
