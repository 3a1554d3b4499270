//! The reduced solver with threads and one array of forces (section 7.1.6). Locks keep two threads from changing the force
//! on one particle at the same time. The results are right, but the chapter finds the locks too slow:
//! [`reduced_threads`](super::reduced_threads) does without.

use std::sync::{Barrier, Mutex, PoisonError};

use super::reduced_threads::Schedule;
use super::shared::SharedParticles;
use crate::particles::{Assignment, Output, Particles};
use crate::physics::{Gravity, Law, Vect, add, subtract};
use crate::team::{self, SharedVectors};

/// How the force of a pair gets to its two particles: what section 7.1.6 discusses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sums {
    /// An array of forces for each thread, and a second phase that sums the arrays
    #[default]
    Arrays,
    /// One array, and a critical section for all pairs
    Critical,
    /// One array, and a lock for each particle
    Locks,
}

/// The forces on all particles.
struct Forces {
    forces: SharedVectors,
    /// One for all particles, or one for each.
    locks: Vec<Mutex<()>>,
}

impl Forces {
    /// None on `n` particles yet.
    fn new(n: usize, sums: Sums) -> Self {
        let locks = match sums {
            Sums::Locks => n,
            Sums::Arrays | Sums::Critical => 1,
        };
        Self {
            forces: SharedVectors::new(&vec![[0.0; 2]; n]),
            locks: (0..locks).map(|_| Mutex::new(())).collect(),
        }
    }

    /// Adds a pair's force on particle `q`, and subtracts it from that on `k`.
    fn add_pair(&self, q: usize, k: usize, force: &Vect) {
        let lock = |particle: usize| {
            let lock = self.locks[particle % self.locks.len()].lock();
            lock.unwrap_or_else(PoisonError::into_inner)
        };
        let one = lock(q);
        let mut on_q = self.forces.get(q);
        add(&mut on_q, force);
        self.forces.set(q, on_q);
        // A critical section has both changes; a lock for each particle is given back before the next one.
        let _other = match self.locks.len() {
            1 => one,
            _ => {
                drop(one);
                lock(k)
            }
        };
        let mut on_k = self.forces.get(k);
        subtract(&mut on_k, force);
        self.forces.set(k, on_k);
    }
}

/// Moves `particles` by the steps of `plan`, with so many threads, whose `sums` are not [`Sums::Arrays`].
/// Returns the processor time of the thread that computed longest, in
/// seconds.
///
/// # Errors
///
/// The system has no more threads; in words.
pub fn solve<'a>(
    threads: usize,
    (schedule, sums): (Schedule, Sums),
    particles: &mut Particles,
    plan: &Assignment,
    output: &'a mut Output<'a>,
) -> Result<f64, String> {
    let n = particles.len();
    let (pairs, others) = schedule.distributions();
    let shared = SharedParticles::new(particles, plan, output);
    let all = Forces::new(n, sums);
    let law = Gravity {
        masses: &shared.masses,
    };
    let barrier = Barrier::new(threads);
    let longest = team::run(threads, |rank| {
        for step in 0..plan.steps {
            if rank == 0 {
                shared.print(step);
            }
            for q in pairs.of(rank, threads, n) {
                let s_q = shared.pos.get(q);
                for k in q + 1..n {
                    all.add_pair(q, k, &law.force(q, k, &s_q, &shared.pos.get(k)));
                }
            }
            // Nobody moves while others look, and nobody looks while others move.
            barrier.wait();
            if shared.is_over() {
                break;
            }
            for q in others.of(rank, threads, n) {
                shared.advance(q, &all.forces.get(q));
                all.forces.set(q, [0.0; 2]);
            }
            barrier.wait();
        }
    })?;
    shared.end();
    Ok(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four threads change the force on each particle at the same time, very often.
    #[test]
    fn no_sum_loses_a_force() {
        const EACH: usize = 100_000;
        for sums in [Sums::Critical, Sums::Locks] {
            let all = Forces::new(2, sums);
            team::run(4, |rank| {
                let (q, k) = (rank % 2, 1 - rank % 2);
                let sign = if q == 0 { 1.0 } else { -1.0 };
                (0..EACH).for_each(|_| all.add_pair(q, k, &[sign, 2.0 * sign]));
            })
            .unwrap();
            let whole = 4.0 * EACH as f64;
            assert_eq!(all.forces.get(0), [whole, 2.0 * whole], "{sums:?}");
            assert_eq!(all.forces.get(1), [-whole, -2.0 * whole], "{sums:?}");
        }
    }
}
