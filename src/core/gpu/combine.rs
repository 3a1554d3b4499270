//! Joins the results of the devices on the host: forces in the order of the tree, nearest neighbours by distance
//! and address.

use std::cell::RefCell;

use crate::gpu::layout::SUMS;
use crate::sources::particle::{Force, Nearest};
use crate::sources::sum_tree::{Joiner, Partial};

/// The results of one device for the i-particles of a job.
pub struct Share<'a> {
    /// First page of each sum.
    pub leaves: Vec<u32>,
    /// `[sum][quantity][i-particle]`.
    pub sums: &'a [f64],
    /// Squared distance of the nearest neighbour and its label; empty if not asked for.
    pub nearest: (&'a [f64], &'a [i32]),
}

/// i-particles whose sums are joined together, few enough for the first-level cache.
const CHUNK: usize = 64;

/// The sums of one subtree for some i-particles.
type Sums = [[f64; CHUNK]; SUMS];

/// Stands for a sum with this number. Joining two of them writes their numbers down.
#[derive(Clone, Copy)]
struct Numbered<'a> {
    sum: usize,
    joins: &'a RefCell<Vec<[usize; 2]>>,
}

impl Partial for Numbered<'_> {
    fn join(self, other: Self) -> Self {
        self.joins.borrow_mut().push([self.sum, other.sum]);
        self
    }
}

/// Joins the sums of all devices in the order of the tree. The order is the same for all i-particles: it is found once
/// and replayed for each.
pub fn forces(shares: &[Share<'_>], forces: &mut [Force]) {
    let ni = forces.len();
    let joins = RefCell::new(Vec::new());
    let mut joiner = Joiner::new(0);
    let leaves = shares.iter().flat_map(|share| &share.leaves);
    for (sum, &leaf) in leaves.enumerate() {
        let joins = &joins;
        joiner.push(leaf, Numbered { sum, joins });
    }
    let Some(Numbered { sum: whole, .. }) = joiner.total() else {
        forces.fill(Force::default());
        return;
    };
    let joins = joins.take();
    // Where the host joined the sums of a device, sums that are not needed any more follow those that it kept.
    let columns: Vec<&[f64]> = shares
        .iter()
        .flat_map(|s| s.sums.chunks_exact(ni).take(s.leaves.len() * SUMS))
        .collect();
    let (columns, _) = columns.as_chunks::<SUMS>();
    if let [only] = columns {
        let s = only.map(|column| &column[..ni]);
        for (i, force) in forces.iter_mut().enumerate() {
            *force = of_sums(|c| s[c][i]);
        }
        return;
    }
    let mut sums: Vec<Sums> = vec![[[0.0; CHUNK]; SUMS]; columns.len()];
    for (chunk, begin) in forces.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)) {
        let run = begin..begin + chunk.len();
        for (sum, columns) in sums.iter_mut().zip(columns) {
            for (to, from) in sum.iter_mut().zip(columns) {
                to[..chunk.len()].copy_from_slice(&from[run.clone()]);
            }
        }
        for &[to, from] in &joins {
            let from = sums[from];
            for (to, from) in sums[to].iter_mut().zip(&from) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
        let s = &sums[whole];
        for (i, force) in chunk.iter_mut().enumerate() {
            *force = of_sums(|c| s[c][i]);
        }
    }
}

/// A force from its sums.
fn of_sums(sum: impl Fn(usize) -> f64) -> Force {
    Force {
        acc: [sum(0), sum(1), sum(2)],
        pot: sum(3),
        jerk: [sum(4), sum(5), sum(6)],
    }
}

/// The nearest of the neighbours that the devices found; ties go to the lower addresses.
pub fn nearest(shares: &[Share<'_>], nearest: &mut [Option<Nearest>]) {
    for (i, best) in nearest.iter_mut().enumerate() {
        for share in shares {
            let (r2, index) = (share.nearest.0[i], share.nearest.1[i]);
            if r2 < best.map_or(f64::INFINITY, |best| best.r2) {
                *best = Some(Nearest { index, r2 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_i_particle_gets_the_sum_of_the_tree() {
        for leaves in [
            &[&[0][..]][..],
            &[&[0], &[64]],
            &[&[0, 64, 96], &[100, 104, 112, 128], &[192, 256]],
            &[&[0, 5], &[], &[6, 7, 8]],
            &[&[], &[3]],
            &[],
        ] {
            for ni in [1, 63, 64, 200] {
                let value = |k: usize, n: usize| 1.0 / ((7 * k + 13 * n) % 101 + 1) as f64;
                // One sum more than counts, as the host leaves one behind the others after it has joined it.
                let numbers: Vec<Vec<f64>> = (leaves.iter().enumerate())
                    .map(|(k, leaves)| {
                        (0..(leaves.len() + 1) * SUMS * ni)
                            .map(|n| value(k, n))
                            .collect()
                    })
                    .collect();
                let shares: Vec<Share<'_>> = (leaves.iter().zip(&numbers))
                    .map(|(leaves, sums)| Share {
                        leaves: leaves.to_vec(),
                        sums,
                        nearest: (&[], &[]),
                    })
                    .collect();
                let mut found = vec![Force::default(); ni];
                forces(&shares, &mut found);
                for (i, force) in found.iter().enumerate() {
                    let mut joiner = Joiner::new(0);
                    for share in &shares {
                        for (n, &leaf) in share.leaves.iter().enumerate() {
                            let sums: [f64; SUMS] =
                                std::array::from_fn(|c| share.sums[(n * SUMS + c) * ni + i]);
                            joiner.push(leaf, sums);
                        }
                    }
                    let s = joiner.total().unwrap_or_default();
                    assert_eq!(force.acc, [s[0], s[1], s[2]], "{leaves:?}, {ni} i");
                    assert_eq!((force.pot, force.jerk), (s[3], [s[4], s[5], s[6]]));
                }
            }
        }
    }
}
