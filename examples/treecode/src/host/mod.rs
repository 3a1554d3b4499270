//! Sums by this program, in double precision, as in a treecode without a GRAPE.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use std::sync::Mutex;
use std::time::Instant;

use crate::division::{self, Part};
use crate::error::Error;
use crate::forces::Counts;
use crate::particle::Particle;
use crate::tree::Tree;
use crate::walk::{self, List};

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

impl Host {
    /// Finds the forces on all particles, whose groups the threads share. Returns what was done.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn find(&mut self, tree: &Tree, eps2: f64, all: Part<'_>) -> Result<Counts, Error> {
        let host = &*self;
        division::on_threads(all, 1, &|part| host.sum(tree, eps2, part))
    }

    fn sum(&self, tree: &Tree, eps2: f64, part: Part<'_>) -> Result<Counts, Error> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut list = self.lists[thread]
            .lock()
            .expect("no thread panics with the lock");
        let mut done = Counts::default();
        let mut rest = part.particles;
        for (group, length) in part.groups.iter().zip(part.lengths) {
            let (particles, others) = rest.split_at_mut(group.particles().len());
            rest = others;
            let began = Instant::now();
            walk::walk(tree, group, &mut list)?;
            let walked = Instant::now();
            self.sum_group(&list, eps2, particles);
            done.times.walk += walked - began;
            done.times.force += walked.elapsed();
            *length = done.count(group, &list);
        }
        Ok(done)
    }

    /// The forces of a list on the particles of its group.
    fn sum_group(&self, list: &List, eps2: f64, particles: &mut [Particle]) {
        for chunk in particles.chunks_mut(LANES) {
            let mut targets = Targets::default();
            for (lane, p) in chunk.iter().enumerate() {
                (0..3).for_each(|k| targets[k][lane] = p.x[k]);
            }
            let sums = (self.kernel)(&targets, &list.points, eps2);
            for (lane, p) in chunk.iter_mut().enumerate() {
                p.acc = [0, 1, 2].map(|k| sums[k][lane]);
                // The list holds the particle itself.
                let own = if eps2 > 0.0 {
                    p.mass / eps2.sqrt()
                } else {
                    0.0
                };
                p.pot = own - sums[3][lane];
            }
        }
    }

    /// What it is.
    pub fn description(&self) -> String {
        format!("host {}", self.name)
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
