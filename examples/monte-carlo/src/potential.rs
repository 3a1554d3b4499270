//! Phase 1, potential: the potential at any radius. Every star is a shell at its radius (equations 1 to 6).
//!
//! Between two neighbouring radii r_k and r_(k+1) the mass M_k inside and the potential -S_k of the shells outside
//! are constant. So Phi(r) = -M_k / r - S_k. Equation 6 interpolates linearly in 1/r between the potentials at the
//! two radii, which is the same function. But it uses the difference of the two potentials, which loses digits if the
//! radii are close.

use rayon::prelude::*;

use crate::bisection::Search;
use crate::radial_index::RadialIndex;

/// Number of stars in a run. The masses of a run are summed star by star. The sums of the runs of a block are added in
/// order, and so are the sums of the blocks. So the result has the same bits on any number of threads, and on a GPU.
pub const RUN: usize = 64;
/// Number of runs in a block: what one thread of the processor takes at a time.
pub const RUNS: usize = 64;
const BLOCK: usize = RUNS * RUN;

/// Distance of the nodes in [`Potential::coarse`].
pub const COARSE: usize = 64;

/// Potential and inverse radius at one star.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Node {
    /// 1/r.
    pub u: f64,
    /// Phi(r), the star's own shell included.
    pub phi: f64,
}

/// What holds between a star and the next one outwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Between {
    /// Mass inside, up to and with the star.
    pub inside: f64,
    /// Sum of m/r over the stars outside.
    pub outside: f64,
}

impl Between {
    /// Potential at the inverse radius `u`.
    #[inline(always)]
    pub fn phi(&self, u: f64) -> f64 {
        -(self.inside * u + self.outside)
    }
}

/// The potential of all stars, sorted by radius. Index 0 is the centre, index k the k-th star.
#[derive(Clone, Debug, Default)]
pub struct Potential {
    /// Values at the centre and at the stars.
    pub nodes: Vec<Node>,
    /// What holds from there to the next star.
    pub between: Vec<Between>,
    /// Every [`COARSE`]th node, for searches.
    pub coarse: Vec<Node>,
    /// Where to look for a radius.
    pub index: RadialIndex,
    /// Mass of a point at the centre, which is part of all masses inside. It takes effect with the next update.
    pub centre: f64,
    /// Sums of the runs, and then those before each block and behind it.
    runs: Vec<Between>,
    blocks: Vec<Between>,
}

impl Potential {
    /// No stars yet, around a point of this mass at the centre.
    pub fn around(centre: f64) -> Self {
        Self {
            centre,
            ..Self::default()
        }
    }

    /// Finds the potential of stars with these masses at these radii, which ascend.
    pub fn update(&mut self, m: &[f64], r: &[f64]) {
        let n = r.len();
        self.nodes.resize(n + 1, Node::default());
        self.between.resize(n + 1, Between::default());
        self.runs.resize(n.div_ceil(RUN), Between::default());
        self.blocks.resize(n.div_ceil(BLOCK), Between::default());
        let stars = (m.par_chunks(BLOCK), r.par_chunks(BLOCK));
        (
            self.blocks.par_iter_mut(),
            self.runs.par_chunks_mut(RUNS),
            stars.0,
            stars.1,
        )
            .into_par_iter()
            .for_each(|(block, runs, m, r)| *block = sum_block(runs, m, r));
        let mut inside = self.centre;
        for block in &mut self.blocks {
            inside += std::mem::replace(&mut block.inside, inside);
        }
        let mut outside = 0.0;
        for block in self.blocks.iter_mut().rev() {
            outside += std::mem::replace(&mut block.outside, outside);
        }
        self.between[0] = Between {
            inside: self.centre,
            outside,
        };
        self.nodes[0] = Node {
            u: f64::INFINITY,
            phi: match self.centre {
                0.0 => -outside,
                _ => f64::NEG_INFINITY,
            },
        };
        let (nodes, between) = (&mut self.nodes[1..], &mut self.between[1..]);
        (
            self.blocks.par_iter(),
            self.runs.par_chunks(RUNS),
            m.par_chunks(BLOCK),
            r.par_chunks(BLOCK),
            nodes.par_chunks_mut(BLOCK),
            between.par_chunks_mut(BLOCK),
        )
            .into_par_iter()
            .for_each(|(block, runs, m, r, nodes, between)| {
                fill_block(*block, runs, m, r, nodes, between);
            });
        self.coarse.clear();
        self.coarse.extend(self.nodes.iter().step_by(COARSE));
        self.index.update(r);
    }

    /// Number of stars.
    pub fn stars(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Mass of all stars.
    pub fn mass(&self) -> f64 {
        self.between.last().map_or(0.0, |b| b.inside) - self.centre
    }

    /// Index of the outermost star that is not outside the radius `r`, or 0.
    pub fn star_inside(&self, radii: &[f64], r: f64) -> usize {
        let Search { found, end } = self.index.range(r);
        found + radii[found..end].partition_point(|&other| other <= r)
    }

    /// Index of the star with which the enclosed mass comes up to a `fraction` of all, from 0.
    pub fn enclosing(&self, fraction: f64) -> usize {
        self.reaching(fraction * self.mass())
    }

    /// Index of the star with which the mass of the stars inside comes up to `mass`, from 0.
    pub fn reaching(&self, mass: f64) -> usize {
        let wanted = mass + self.centre;
        let stars = &self.between[1..];
        stars
            .partition_point(|b| b.inside < wanted)
            .min(self.stars() - 1)
    }
}

/// The sums of the runs of a block, and the sum of these.
fn sum_block(runs: &mut [Between], m: &[f64], r: &[f64]) -> Between {
    let mut block = Between::default();
    for ((run, m), r) in runs.iter_mut().zip(m.chunks(RUN)).zip(r.chunks(RUN)) {
        *run = sum_run(m, r);
        block.inside += run.inside;
    }
    for run in runs.iter().rev() {
        block.outside += run.outside;
    }
    block
}

fn sum_run(m: &[f64], r: &[f64]) -> Between {
    let mut sum = Between::default();
    for m in m {
        sum.inside += m;
    }
    for (m, r) in m.iter().zip(r).rev() {
        sum.outside += m * (1.0 / r);
    }
    sum
}

/// Equations 2 to 5 for one block, between what is inside and outside of it.
fn fill_block(
    mut around: Between,
    runs: &[Between],
    m: &[f64],
    r: &[f64],
    nodes: &mut [Node],
    between: &mut [Between],
) {
    for (run, (m, between)) in runs.iter().zip(m.chunks(RUN).zip(between.chunks_mut(RUN))) {
        let mut inside = around.inside;
        for (b, m) in between.iter_mut().zip(m) {
            inside += m;
            b.inside = inside;
        }
        around.inside += run.inside;
    }
    for (k, run) in runs.iter().enumerate().rev() {
        let stars = k * RUN..(k * RUN + RUN).min(m.len());
        let mut outside = around.outside;
        for k in stars.rev() {
            let u = 1.0 / r[k];
            between[k].outside = outside;
            nodes[k] = Node {
                u,
                phi: between[k].phi(u),
            };
            outside += m[k] * u;
        }
        around.outside += run.outside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn shells(n: usize) -> (Vec<f64>, Vec<f64>) {
        let mut random = Stream::of_seed(1);
        let mut r: Vec<f64> = (0..n).map(|_| 3.0 * random.uniform()).collect();
        r.sort_by(f64::total_cmp);
        let m = (0..n).map(|_| random.uniform() / n as f64).collect();
        (m, r)
    }

    /// Equation 1, term by term.
    fn phi(m: &[f64], r: &[f64], at: f64) -> f64 {
        let terms = m.iter().zip(r).map(|(m, r)| m / r.max(at));
        -terms.sum::<f64>()
    }

    #[test]
    fn it_is_that_of_the_shells() {
        let (m, r) = shells(3 * BLOCK + 2 * RUN + 17);
        let mut potential = Potential::default();
        potential.update(&m, &r);
        for k in (0..r.len()).step_by(511) {
            let expected = phi(&m, &r, r[k]);
            let found = potential.nodes[k + 1];
            assert!((found.phi / expected - 1.0).abs() < 1e-12, "{k}");
            assert_eq!(found.u, 1.0 / r[k]);
            // Between two stars, and equation 6.
            let Some(next) = r.get(k + 1) else { continue };
            let at = 0.3 * r[k] + 0.7 * next;
            let found = potential.between[potential.star_inside(&r, at)].phi(1.0 / at);
            assert!((found / phi(&m, &r, at) - 1.0).abs() < 1e-12, "{k}");
            let (inner, outer) = (phi(&m, &r, r[k]), phi(&m, &r, *next));
            let part = (1.0 / r[k] - 1.0 / at) / (1.0 / r[k] - 1.0 / next);
            let interpolated = inner + part * (outer - inner);
            assert!((found / interpolated - 1.0).abs() < 1e-12, "{k}");
        }
        assert!((potential.mass() / m.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(potential.nodes[0].phi, potential.between[0].phi(0.0));
    }

    #[test]
    fn half_of_the_mass_is_inside() {
        let (m, r) = (vec![0.25; 4], vec![1.0, 2.0, 3.0, 4.0]);
        let mut potential = Potential::default();
        potential.update(&m, &r);
        let stars = [0.0, 0.25, 0.3, 0.5, 0.9, 1.0].map(|part| potential.enclosing(part));
        assert_eq!(stars, [0, 0, 1, 1, 3, 3]);
    }
}
