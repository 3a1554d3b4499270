//! Leaves that single precision cannot sum are summed again in double precision.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::grid::Grid;
use super::kernel::{self, JPage};
use super::nearest::{NearestCandidate, NearestCandidates};
use super::simd::{Real, Simd, Sums, Work};
use super::target::ScaledParticle;
use super::tile::{self, Tile};
use super::units::Sampled;
use super::workspace::PURPOSE;
use crate::error::Result;
use crate::force::scaling::Scaling;
use crate::process::allocation;
use crate::sources::jmemory::{Page, PageArray};
use crate::sources::particle::IParticle;

/// The memory for summing leaves again, and the counts for the statistics.
#[derive(Default)]
pub struct Resum {
    buffers: Option<Box<Buffers>>,
    /// Leaves summed again since the last [`Resum::take_counts`].
    leaves: u64,
    time: Duration,
}

#[derive(Default)]
struct Buffers {
    /// The page of the last leaf, which is usually also that of the next.
    tile: Tile<f64>,
    distances: PageArray<f64>,
}

/// One leaf, for one i-particle of a block.
pub struct Leaf<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its position.
    pub position: usize,
    /// The leaf's slots.
    pub range: Range<usize>,
    /// The end of the page's slots that count.
    pub end: usize,
    /// Time of the prediction.
    pub ti: f64,
    /// The i-particle.
    pub i: &'a IParticle,
    /// Where candidates for the nearest neighbour are collected, if it is wanted.
    pub candidates: Option<&'a mut NearestCandidates>,
}

impl Resum {
    /// The sums over a leaf in double precision, in the client's units. Measures the time if `timed`.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[cold]
    #[inline(never)]
    pub fn sum<S: Simd>(&mut self, s: S, leaf: Leaf<'_>, timed: bool) -> Result<Sums> {
        let begin = timed.then(Instant::now);
        let d = s.double();
        let buffers = allocation::fill(&mut self.buffers, PURPOSE, Buffers::default)?;
        let sums = d.vectorize(ExactLeaf { d, leaf, buffers });
        self.leaves += 1;
        self.time += begin.map(|b| b.elapsed()).unwrap_or_default();
        Ok(sums)
    }

    /// The number of leaves since the last call, and the time of those that were timed.
    pub fn take_counts(&mut self) -> (u64, Duration) {
        (
            std::mem::take(&mut self.leaves),
            std::mem::take(&mut self.time),
        )
    }
}

/// Sums one leaf in double precision.
struct ExactLeaf<'a, D> {
    d: D,
    leaf: Leaf<'a>,
    buffers: &'a mut Buffers,
}

impl<D: Simd<T = f64>> Work for ExactLeaf<'_, D> {
    type Output = Sums;
    #[inline(always)]
    fn run(self) -> Sums {
        let Self { d, leaf, buffers } = self;
        let Buffers { tile, distances } = buffers;
        if !tile.is_fresh(leaf.page, leaf.ti, leaf.end) {
            tile.predict::<D, false>(d, leaf.page, leaf.ti, leaf.end, &Sampled::default());
        }
        let sources = JPage {
            tile,
            masses: leaf.page.mass(),
            page: leaf.page,
            minus_three: -3.0,
        };
        let target = ScaledParticle::new::<false>(leaf.i, &Scaling::PLAIN, Grid::USUAL);
        let nearest = leaf.candidates.is_some();
        let (mut sums, least) =
            kernel::careful_leaf(d, nearest, sources, &target, leaf.range.clone(), distances);
        for (sum, factor) in sums
            .iter_mut()
            .zip(tile::factors(&Scaling::PLAIN, 1.0, 1.0))
        {
            *sum *= factor;
        }
        if let Some(candidates) = leaf.candidates
            && least < f64::MAX
        {
            note(
                d,
                candidates,
                (least, distances),
                (1.0, 0.0),
                leaf.position,
                leaf.range,
            );
        }
        sums
    }
}

/// Stores the particles of a leaf that may be the nearest neighbour. `distances` are the softened r^2 of all slots of
/// the leaf, `least` is the smallest of them, and `slack` is their absolute error, all in the tile's units. A division
/// by `area` brings r^2 into the client's units.
#[inline(always)]
pub fn note<S: Simd>(
    s: S,
    candidates: &mut NearestCandidates,
    (least, distances): (S::T, &PageArray<S::T>),
    (area, slack): (f64, f64),
    page: usize,
    range: Range<usize>,
) {
    let Some(bound) = candidates.bound_with(least.to_f64() / area, slack / area) else {
        return;
    };
    // A little more, to allow for rounding in the bound itself.
    let bound = S::T::from_f64(bound * area * (1.0 + 1e-6));
    kernel::slots_within(s, distances, bound, range, |slot| {
        candidates.push(NearestCandidate {
            page,
            slot,
            r2: (distances[slot].to_f64() - slack) / area,
        });
    });
}
