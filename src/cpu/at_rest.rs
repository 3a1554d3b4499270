//! The sums over particles at rest, GRAPE-5's: leaf by leaf as for those that move, but there are no labels, no jerks
//! and no neighbours, and most leaves are proved sound by one comparison.

use std::ops::Range;

use super::again::{Again, Leaf};
use super::attraction::{self, Kind};
use super::coincident::{self, Places};
use super::division::Task;
use super::grid::Grid;
use super::kernel::JPage;
use super::reach::{Facts, ROUNDING};
use super::simd::{Real, Simd, Sums};
use super::target::ScaledParticle;
use super::tasks::BlockContext;
use super::tile;
use super::workspace::Workspace;
use crate::error::Result;
use crate::force::scaling::Scaling;
use crate::sources::jmemory::{PAGE, PageArray, SourceKind};
use crate::sources::particle::IParticle;
use crate::sources::sum_tree::Partial;

/// A potential up to this, of a leaf of masses of one sign without a close pair, is that of accelerations whose factors
/// are all in the range of single precision: a pair at distance s adds m / s to it, s is at least [`CLOSEST`], and so m / s^3 is at
/// most 1e24 times as much.
///
/// [`CLOSEST`]: crate::force::scaling::CLOSEST
const IN_RANGE: f64 = 1e13;

/// What no mass leaves of a leaf, with the signs of [`attraction::leaf`].
const NOTHING: Four = [-0.0; 4];

/// Acceleration and potential.
type Four = [f64; 4];

/// The part of a page that a task sums over, leaf by leaf.
struct PageAtRest<'a, S: Simd, const SPLIT: bool> {
    shared: &'a BlockContext<'a, S, SPLIT>,
    sources: JPage<'a, S>,
    position: usize,
    facts: Facts,
    factors: Four,
    kind: Kind,
    /// Where its particles are, if that is known.
    places: Option<&'a Places>,
    /// Finite sums are sound where the potential, times [`Reach::closest`](super::reach::Reach::closest), is at most the first of
    /// these, and at most the second by itself.
    quick: (f64, f64),
}

#[inline(always)]
fn first_four([x, y, z, pot, ..]: Sums) -> Four {
    [x, y, z, pot]
}

impl<S: Simd, const SPLIT: bool> BlockContext<'_, S, SPLIT> {
    /// Sums over the task's run of pages for each of its i-particles.
    #[inline(always)]
    pub fn sum_at_rest(&self, task: &Task, workspace: &mut Workspace<S::T>) -> Result<()> {
        let Workspace {
            totals,
            scratch,
            again,
            ..
        } = workspace;
        let length = attraction::leaf_length::<S>();
        let particles = &self.block.particles[task.particles.clone()];
        totals.steps.reserve(task.pages.len() * (PAGE / length))?;
        self.restart_steps(&task.pages, length, &mut totals.steps);
        totals.restart::<SPLIT>(particles, Self::slack)?;
        let soft = self.memory.sources() == SourceKind::Softened;
        // Bounds for all of the task's i-particles.
        let mut all = ScaledParticle::<S::T>::new::<SPLIT>(
            &IParticle::default(),
            &Scaling::PLAIN,
            Grid::USUAL,
        )
        .reach;
        for (progress, _) in totals.iter_mut().take(particles.len()) {
            let reach = &progress.target.reach;
            all.in_range &= reach.in_range;
            all.distance = all.distance.max(reach.distance);
        }
        let mut lent = PageArray::default();
        let (mut step, mut waiting) = (0, 0);
        for &position in &self.pages[task.pages.clone()] {
            let page = self.memory.page(position);
            let prepared = self.prepare(position)?;
            let tile = self.tile(&prepared, page, scratch)?;
            let masses = &*prepared.masses;
            totals.aim::<SPLIT>(particles, tile);
            let facts = tile.facts(masses);
            let is_plain = tile.units.are_plain();
            let proved = is_plain
                && all.in_range
                && facts.representable
                && facts.one_sign
                && all.loses_nothing(&facts, false);
            let slots = self.slots(page);
            let over = PageAtRest {
                shared: self,
                sources: JPage {
                    tile,
                    masses: &masses.m,
                    page,
                    minus_three: S::T::default(),
                },
                position,
                facts,
                factors: first_four(tile::factors(&tile.units, masses.unit, 1.0)),
                kind: Kind {
                    soft,
                    least: false,
                    coincident: false,
                    equal: masses.equal && slots == PAGE,
                },
                places: prepared
                    .places
                    .as_deref()
                    .filter(|places| places.are_fresh(page)),
                quick: match (S::T::IS_DOUBLE, proved) {
                    (true, _) => (f64::INFINITY, f64::INFINITY),
                    (false, true) => (facts.least_mass * ROUNDING, IN_RANGE),
                    (false, false) => (-1.0, -1.0),
                },
            };
            if self.unsoftened {
                lent = masses.m;
            }
            for begin in (0..slots).step_by(length) {
                let range = begin..slots.min(begin + length);
                let joins = usize::from(totals.steps.joins[step]);
                // For how many i-particles the potential of the leaf proved nothing. Where these are many, the pair
                // loop finds the smallest distance as well, instead of a second pass.
                let mut unproved = 0;
                let each = particles.iter().zip(totals.iter_mut());
                for (seen, (i, (progress, stack))) in each.enumerate() {
                    let crowded = unproved * 4 > seen;
                    let target = &progress.target;
                    let mut sums = match masses.none && target.reach.in_range {
                        true => NOTHING,
                        false => {
                            over.sums(i, target, &range, crowded, &mut lent, &mut unproved, again)?
                        }
                    };
                    for left in stack[waiting - joins..waiting].iter().rev() {
                        sums = first_four(*left).join(sums);
                    }
                    let [x, y, z, pot] = sums;
                    stack[waiting - joins] = [x, y, z, pot, 0.0, 0.0, 0.0, 0.0];
                }
                waiting = waiting + 1 - joins;
                step += 1;
            }
        }
        Ok(())
    }
}

impl<S: Simd, const SPLIT: bool> PageAtRest<'_, S, SPLIT> {
    /// The sums over a leaf for an i-particle. `lent` are the masses, of which some may be taken out.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn sums(
        &self,
        i: &IParticle,
        target: &ScaledParticle<S::T>,
        range: &Range<usize>,
        crowded: bool,
        lent: &mut PageArray<S::T>,
        unproved: &mut usize,
        again: &mut Again,
    ) -> Result<Four> {
        let mut kind = Kind {
            least: crowded,
            ..self.kind
        };
        if let Some(places) = self.places
            && i.eps2 == 0.0
        {
            let take = |slot: usize| lent[slot] = S::T::default();
            kind.coincident = places.each(self.sources.page, &i.x, range, take);
        }
        loop {
            let sources = JPage {
                masses: if kind.coincident {
                    &*lent
                } else {
                    self.sources.masses
                },
                ..self.sources
            };
            let (mut sums, least) = self.pairs(kind, sources, target, range.clone());
            let sound = self.is_quickly_proved(&sums, target)
                || self.is_sound(kind, sources, &sums, least, target, range, unproved);
            if kind.coincident {
                self.give_back(&i.x, range, lent);
            }
            if sound {
                for (sum, factor) in sums.iter_mut().zip(self.factors) {
                    *sum *= factor;
                }
                return Ok(sums);
            }
            if kind.coincident || i.eps2 != 0.0 || !self.take_out(&i.x, range, lent) {
                return self.exactly(i, range.clone(), again);
            }
            kind.coincident = true;
        }
    }

    /// The loop over a leaf.
    #[inline(always)]
    fn pairs(
        &self,
        kind: Kind,
        sources: JPage<'_, S>,
        target: &ScaledParticle<S::T>,
        range: Range<usize>,
    ) -> (Four, S::T) {
        let BlockContext { s, correction, .. } = *self.shared;
        attraction::leaf::<S, SPLIT>(s, kind, sources, target, range, correction)
    }

    /// Whether finite sums with a small potential show that a leaf is sound.
    #[inline(always)]
    fn is_quickly_proved(&self, sums: &Four, target: &ScaledParticle<S::T>) -> bool {
        let [x, y, z, pot] = *sums;
        let size = pot.abs();
        let is_small = (size * target.reach.closest <= self.quick.0) & (size <= self.quick.1);
        is_small & ((x + y + z) * 0.0 == 0.0)
    }

    /// Whether single precision holds the sums, and no pair with a mass is close.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn is_sound(
        &self,
        kind: Kind,
        sources: JPage<'_, S>,
        sums: &Four,
        least: S::T,
        target: &ScaledParticle<S::T>,
        range: &Range<usize>,
        unproved: &mut usize,
    ) -> bool {
        let reach = &target.reach;
        let [x, y, z, pot] = *sums;
        let sums = &[x, y, z, pot, 0.0, 0.0, 0.0, 0.0];
        let proved = reach.are_apart(sums, &self.facts);
        *unproved += usize::from(!proved);
        reach.holds(sums, &self.facts, false)
            && (proved
                || kind.least && reach.resolves(least.to_f64())
                || self.shared.are_apart(sources, target, range.clone()))
    }

    /// The sums in double precision.
    #[cold]
    #[inline(never)]
    fn exactly(&self, i: &IParticle, range: Range<usize>, again: &mut Again) -> Result<Four> {
        let leaf = Leaf {
            page: self.sources.page,
            position: self.position,
            range,
            ti: self.shared.block.ti,
            i,
            candidates: None,
        };
        again
            .sum(self.shared.s, leaf, self.shared.measured)
            .map(first_four)
    }

    /// Takes out the masses of the particles at a place. Returns whether there are any.
    #[cold]
    #[inline(never)]
    fn take_out(&self, x: &[f64; 3], range: &Range<usize>, lent: &mut PageArray<S::T>) -> bool {
        let mut take = |slot: usize| lent[slot] = S::T::default();
        coincident::each(self.sources.page, x, range, &mut take)
    }

    /// Gives the particles at a place their masses back.
    #[inline(always)]
    fn give_back(&self, x: &[f64; 3], range: &Range<usize>, lent: &mut PageArray<S::T>) {
        let (page, of) = (self.sources.page, self.sources.masses);
        let mut give = |slot: usize| lent[slot] = of[slot];
        match self.places {
            Some(places) => places.each(page, x, range, give),
            None => coincident::each(page, x, range, &mut give),
        };
    }
}
