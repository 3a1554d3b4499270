//! Sums by this program, in double precision, as in a treecode without a GRAPE.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::forces::Counts;
use crate::particle::Particle;
use crate::tree::Tree;
use crate::walk::{self, Group, List};

/// Particles that go through a list together.
const LANES: usize = 8;

/// Positions of as many particles as go through a list together, by coordinate.
type Targets = [[f64; LANES]; 3];

/// Acceleration and, last, minus the potential, the particle itself included.
type Sums = [[f64; LANES]; 4];

/// One way of summing a list: the only thing that depends on the processor.
type Kernel = fn(&Targets, &[[f64; 4]], f64) -> Sums;

/// The program's own forces.
pub struct Host {
    name: &'static str,
    kernel: Kernel,
    /// One for each thread.
    lists: Vec<Mutex<List>>,
}

impl Default for Host {
    fn default() -> Self {
        let (name, kernel) = fastest();
        Self {
            name,
            kernel,
            lists: (0..rayon::current_num_threads())
                .map(|_| Mutex::default())
                .collect(),
        }
    }
}

fn fastest() -> (&'static str, Kernel) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(kernel) = avx512::kernel() {
            return ("avx512", kernel);
        }
        if let Some(kernel) = portable::avx2() {
            return ("avx2", kernel);
        }
    }
    ("portable", portable::sums)
}

/// What the threads have done, and for how long.
#[derive(Default)]
struct Done {
    entries: AtomicU64,
    pairs: AtomicU64,
    walk: AtomicU64,
    force: AtomicU64,
}

/// What all tasks share.
struct WalkContext<'a> {
    host: &'a Host,
    tree: &'a Tree,
    eps2: f64,
    done: Done,
}

impl Host {
    /// Finds the forces on all `groups` of `particles`.
    pub fn find(
        &mut self,
        tree: &Tree,
        groups: &[Group],
        eps2: f64,
        particles: &mut [Particle],
        (lists, work): (&mut [u32], &mut Counts),
    ) {
        let began = Instant::now();
        let done = Done::default();
        let shared = WalkContext {
            host: self,
            tree,
            eps2,
            done,
        };
        shared.divide(groups, lists, particles);
        let done = shared.done;
        let (walk, force) = (done.walk.into_inner(), done.force.into_inner());
        // Nanoseconds of all threads together, as shares of the time that went by.
        let of_walk = walk as f64 / (walk + force).max(1) as f64;
        let elapsed = began.elapsed();
        work.times.walk += elapsed.mul_f64(of_walk);
        work.times.force += elapsed.mul_f64(1.0 - of_walk);
        work.entries += done.entries.into_inner();
        work.pairs += done.pairs.into_inner();
    }

    /// What it is.
    pub fn description(&self) -> String {
        format!("host {}", self.name)
    }
}

impl WalkContext<'_> {
    /// Halves the work until one group is left.
    fn divide(&self, groups: &[Group], lists: &mut [u32], particles: &mut [Particle]) {
        match groups {
            [] => {}
            [one] => lists[0] = self.find(one, particles),
            _ => {
                let (left, right) = groups.split_at(groups.len() / 2);
                let (left_lists, right_lists) = lists.split_at_mut(left.len());
                let border = right[0].particles().start - left[0].particles().start;
                let (of_left, of_right) = particles.split_at_mut(border);
                rayon::join(
                    || self.divide(left, left_lists, of_left),
                    || self.divide(right, right_lists, of_right),
                );
            }
        }
    }

    /// The forces on one group; returns the length of its list.
    fn find(&self, group: &Group, particles: &mut [Particle]) -> u32 {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut list = self.host.lists[thread]
            .lock()
            .expect("no thread panics with the lock");
        let began = Instant::now();
        walk::walk(self.tree, group, &mut list);
        let walked = Instant::now();
        for chunk in particles.chunks_mut(LANES) {
            let mut targets = Targets::default();
            for (lane, p) in chunk.iter().enumerate() {
                (0..3).for_each(|k| targets[k][lane] = p.x[k]);
            }
            let sums = (self.host.kernel)(&targets, &list.points, self.eps2);
            for (lane, p) in chunk.iter_mut().enumerate() {
                p.acc = [0, 1, 2].map(|k| sums[k][lane]);
                // The list holds the particle itself.
                let own = if self.eps2 > 0.0 {
                    p.mass / self.eps2.sqrt()
                } else {
                    0.0
                };
                p.pot = own - sums[3][lane];
            }
        }
        let nanoseconds = |d: Duration| d.as_nanos() as u64;
        let entries = list.points.len() as u64;
        self.done
            .walk
            .fetch_add(nanoseconds(walked - began), Relaxed);
        self.done
            .force
            .fetch_add(nanoseconds(walked.elapsed()), Relaxed);
        self.done.entries.fetch_add(entries, Relaxed);
        self.done
            .pairs
            .fetch_add(entries * u64::from(group.count), Relaxed);
        entries as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kernel against plain sums, with coincident particles and without softening.
    #[test]
    fn kernels_agree() {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut kernels: Vec<(&str, Kernel)> = vec![("portable", portable::sums)];
        #[cfg(target_arch = "x86_64")]
        {
            kernels.extend(portable::avx2().map(|k| ("avx2", k)));
            kernels.extend(avx512::kernel().map(|k| ("avx512", k)));
        }
        let list: Vec<[f64; 4]> = (0..101)
            .map(f64::from)
            .map(|f| [f.sin(), f.cos(), (3.0 * f).sin(), 1.0 + f])
            .collect();
        for eps2 in [0.0, 1e-3] {
            let targets: Targets = [0, 1, 2].map(|k| std::array::from_fn(|lane| list[lane][k]));
            let mut expected = Sums::default();
            for lane in 0..LANES {
                for p in &list {
                    let r = [0, 1, 2].map(|k| p[k] - targets[k][lane]);
                    let r2 = r.iter().map(|c| c * c).sum::<f64>() + eps2;
                    if r2 > 0.0 {
                        let m_r = p[3] / r2.sqrt();
                        (0..3).for_each(|k| expected[k][lane] += m_r / r2 * r[k]);
                        expected[3][lane] += m_r;
                    }
                }
            }
            for (name, kernel) in &kernels {
                let sums = kernel(&targets, &list, eps2);
                for (a, b) in sums.iter().flatten().zip(expected.iter().flatten()) {
                    assert!((a - b).abs() < 1e-12 * expected[3][0], "{name}: {a} {b}");
                }
            }
        }
    }
}
