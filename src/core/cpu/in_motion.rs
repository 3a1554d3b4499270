//! The sums over particles that may move: acceleration, potential and jerk, without the i-particle itself.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::attraction::{self, Lanes, LeafPass};
use super::division::Task;
use super::dominant::{DominanceLimit, DominatedLeaf};
use super::kernel::{self, JPage, LeafScratch, LeftOut, Variant};
use super::leaves::{self, LeafSums, Walk};
use super::masses::{Found, Labels, Masses};
use super::nearest;
use super::pair::LeafLanes;
use super::resolution::{LeafBounds, Resolution};
use super::resum::{self, Leaf, Resum};
use super::simd::{Real, SERIES_MASS, Simd, Sums};
use super::target::ScaledParticle;
use super::tasks::BlockContext;
use super::tile;
use super::workspace::{PURPOSE, TaskParticle, Workspace};
use crate::error::Result;
use crate::process::allocation;
use crate::sources::jmemory::{PAGE, PageArray};
use crate::sources::particle::IParticle;

/// The sums over a leaf without a mass, with the signs that [`kernel::leaf`] gives zeros.
const NOTHING: Sums = [0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 0.0];

/// The part of a page that a task sums over.
struct PageInMotion<'a, S: Simd, const SPLIT: bool> {
    shared: &'a BlockContext<'a, S, SPLIT>,
    particles: &'a [IParticle],
    targets: &'a mut [TaskParticle<S::T>],
    position: usize,
    sources: JPage<'a, S>,
    masses: &'a Masses<S::T>,
    labels: &'a Labels,
    bounds: LeafBounds,
    /// Whether only a close pair or an overflow can spoil the sums of any of the i-particles.
    hold_unless_close: bool,
    /// What brings sums with jerks into the client's units.
    factors: Sums,
    /// The same for sums of particles at rest.
    factors_at_rest: Sums,
    /// Whether j-particles have softening lengths of their own.
    soft: bool,
    /// Whether some mass is too small for the loop of particles at rest.
    tiny_masses: bool,
    leaf: PresentLeaf,
    again: &'a mut Resum,
    halfway: Option<&'a mut LeafScratch<S::T>>,
    /// r^2 of the pairs of the present leaf.
    distances: &'a mut PageArray<S::T>,
    ahead: &'a mut Ahead<S>,
}

/// Whether the lanes of an i-particle are joined while the pairs of the next one are computed, and not when its sums are
/// wanted. `benches/results/pair-loops.md` has what this gains; other loops leave no room for it.
const fn joins_early<S: Simd, const SPLIT: bool>() -> bool {
    S::MANY_REGISTERS && !SPLIT && !S::T::IS_DOUBLE
}

/// The sums of some i-particles over the present leaf.
struct Ahead<S: Simd> {
    /// The i-particles.
    of: Range<usize>,
    /// Whether their smallest distances were wanted.
    nearest: bool,
    /// The sums of those of `of` with jerks, lane by lane.
    in_motion: [MaybeUninit<LeafLanes<S>>; leaves::TOGETHER],
    /// The same of those without.
    at_rest: [MaybeUninit<Lanes<S>>; leaves::TOGETHER],
    /// What was joined early.
    joined: [Joined<S::T>; leaves::TOGETHER],
}

/// The sums of an i-particle over all lanes of a leaf.
// Aligned, so that the sums lie in one line of the cache.
#[repr(align(64))]
#[derive(Clone, Copy, Default)]
struct Joined<T> {
    sums: Sums,
    /// Whether its pairs have jerks.
    jerk: bool,
    /// The smallest distance, if it was wanted.
    least: T,
    /// Whether the potential proves that the sums are sound.
    proved: bool,
}

/// The leaf that is being summed.
struct PresentLeaf {
    range: Range<usize>,
    /// Whether some of its slots are empty.
    holes: bool,
    /// Whether all of its masses are zero.
    massless: bool,
    /// Beyond which it has a dominant pair.
    bound: DominanceLimit,
    /// Number of i-particles for which the potential of the leaf did not prove that its sums are sound. If these are
    /// more than a quarter of the i-particles so far, or masses have both signs, the pair loop also finds the smallest
    /// distance, which saves a second pass.
    unproved: usize,
}

impl<S: Simd, const SPLIT: bool> BlockContext<'_, S, SPLIT> {
    /// Sums over the task's run of pages for each of its i-particles.
    #[inline(always)]
    pub fn sum_in_motion(&self, task: &Task, workspace: &mut Workspace<S::T>) -> Result<()> {
        let Workspace {
            totals,
            scratch,
            again,
            halfway,
            ..
        } = workspace;
        // In double precision the root takes so long that two halves take longer than one loop.
        if !S::MANY_REGISTERS && !S::T::IS_DOUBLE {
            allocation::fill(halfway, PURPOSE, LeafScratch::default)?;
        }
        let particles = &self.block.particles[task.particles.clone()];
        let length = leaves::length::<S>();
        self.restart(task, length, totals)?;
        let mut distances = PageArray::default();
        let mut ahead = Ahead {
            of: 0..0,
            nearest: false,
            in_motion: [MaybeUninit::uninit(); leaves::TOGETHER],
            at_rest: [MaybeUninit::uninit(); leaves::TOGETHER],
            joined: [Joined::default(); leaves::TOGETHER],
        };
        // The units of the i-particles, and what is true of all of them.
        let (mut aimed, mut all) = (None, None);
        let mut walk = Walk::new(length);
        for at in task.pages.clone() {
            let position = self.pages[at];
            let page = self.memory.page(position);
            let prepared = self.page(at)?;
            let tile = self.tile(&prepared, page, scratch)?;
            let masses = &*prepared.masses;
            totals.aim::<SPLIT>(particles, tile);
            let (steps, targets, stacks) = totals.of(particles.len());
            if aimed != Some((tile.units, tile.grid)) {
                aimed = Some((tile.units, tile.grid));
                let each = targets.iter().map(|t| t.target.resolution);
                all = each.reduce(|all: Resolution, next| all.and(&next));
            }
            let bounds = self.bounds(tile, masses);
            let mut over = PageInMotion {
                shared: self,
                particles,
                targets,
                position,
                sources: JPage {
                    tile,
                    masses: &masses.m,
                    page,
                    minus_three: S::T::from_f64(-3.0 / (self.root * self.root)),
                },
                masses,
                labels: &prepared.labels,
                bounds,
                hold_unless_close: all.is_some_and(|all| {
                    all.holds_unless_close(&bounds, tile.moves || all.speed != 0.0)
                }),
                factors: tile::factors(&tile.units, masses.unit, self.root),
                factors_at_rest: tile::factors(&tile.units, masses.unit, 1.0),
                soft: page.eps2().is_some(),
                tiny_masses: S::SERIES && masses.least < SERIES_MASS,
                leaf: PresentLeaf::none(),
                again,
                halfway: halfway.as_deref_mut(),
                distances: &mut distances,
                ahead: &mut ahead,
            };
            walk.page(steps, self.slots(page), &mut over, stacks)?;
        }
        Ok(())
    }
}

impl PresentLeaf {
    fn none() -> Self {
        Self {
            range: 0..0,
            holes: false,
            massless: true,
            bound: DominanceLimit::of(0.0, false),
            unproved: 0,
        }
    }
}

impl<S: Simd, const SPLIT: bool> LeafSums for PageInMotion<'_, S, SPLIT> {
    type Sums = Sums;

    #[inline(always)]
    fn begin(&mut self, range: Range<usize>) {
        let page = self.sources.page;
        let mass = self.masses.of_leaves[range.start / leaves::length::<S>()];
        self.ahead.of = 0..0;
        self.leaf = PresentLeaf {
            holes: !page.is_full(range.clone()),
            massless: mass == 0.0,
            bound: DominanceLimit::of(mass, self.masses.one_sign),
            unproved: 0,
            range,
        };
    }

    #[inline(always)]
    fn sum(&mut self, k: usize, to: &mut Sums) -> Result<()> {
        if self.leaf.massless && !self.shared.nearest && self.particles[k].is_finite() {
            *to = NOTHING;
            return Ok(());
        }
        if self.soft && !S::T::IS_DOUBLE
            || self.tiny_masses && !self.has_jerk(&self.targets[k].target)
        {
            // The usual loops add these lengths in double precision only, and that for particles at rest needs larger masses.
            *to = self.exactly(k)?;
            return Ok(());
        }
        if !self.ahead.of.contains(&k) {
            self.look_ahead(k);
        }
        let n = k - self.ahead.of.start;
        let Joined {
            sums,
            jerk,
            least,
            proved,
        } = match joins_early::<S, SPLIT>() {
            true => self.ahead.joined[n],
            false => self.join(n),
        };
        if !proved && !self.is_sound(k, &sums, least) {
            *to = self.exactly(k)?;
            return Ok(());
        }
        let factors = match jerk {
            true => self.factors,
            false => self.factors_at_rest,
        };
        let dominated = SPLIT && self.leaf.bound.is_exceeded(&sums);
        for ((to, sum), factor) in to.iter_mut().zip(sums).zip(factors) {
            *to = sum * factor;
        }
        if self.shared.nearest && least < S::T::MAX {
            self.note_nearest(k, least);
        }
        if dominated {
            self.add_dominant(k, jerk, to);
        }
        Ok(())
    }
}

impl<S: Simd, const SPLIT: bool> PageInMotion<'_, S, SPLIT> {
    /// Computes the pairs of the present leaf with the i-particles from number `k` on.
    #[inline(always)]
    fn look_ahead(&mut self, k: usize) {
        let shared = self.shared;
        let wanted = shared.nearest || !self.bounds.one_sign || self.leaf.unproved * 4 > k;
        // With softening lengths of their own, the nearest j-particle need not be the one at the smallest softened distance.
        let nearest = wanted && !self.soft;
        // The distances are those of one i-particle. The first i-particle of a leaf shows whether they are needed.
        let count = match nearest || k == 0 {
            true => 1,
            false => leaves::TOGETHER.min(self.particles.len() - k),
        };
        (self.ahead.of, self.ahead.nearest) = (k..k + count, nearest);
        for n in 0..count {
            if self.has_jerk(&self.targets[k + n].target) {
                let lanes = self.lanes_in_motion(k + n, nearest);
                self.ahead.in_motion[n].write(lanes);
            } else {
                let lanes = self.lanes_at_rest(k + n, nearest);
                self.ahead.at_rest[n].write(lanes);
            }
            if joins_early::<S, SPLIT>() && n > 0 {
                self.ahead.joined[n - 1] = self.join(n - 1);
            }
        }
        if joins_early::<S, SPLIT>() {
            self.ahead.joined[count - 1] = self.join(count - 1);
        }
    }

    /// Joins the lanes of number `n` of [`Ahead::of`].
    #[inline(always)]
    fn join(&self, n: usize) -> Joined<S::T> {
        let BlockContext { s, corrections, .. } = *self.shared;
        let Ahead { of, nearest, .. } = &self.ahead;
        let target = &self.targets[of.start + n].target;
        let jerk = self.has_jerk(target);
        let (sums, least) = match jerk {
            // SAFETY: the lanes of all of `of` up to this one were written, by whether it has jerks.
            true => unsafe { self.ahead.in_motion[n].assume_init_ref() }.over_lanes(s, *nearest),
            // SAFETY: as above.
            false => unsafe { self.ahead.at_rest[n].assume_init_ref() }.with_jerks(
                s,
                *nearest,
                &corrections,
            ),
        };
        Joined {
            sums,
            jerk,
            least,
            proved: self.hold_unless_close
                & target.resolution.are_apart(&sums, &self.bounds)
                & s.are_finite(&sums),
        }
    }

    /// Computes the pairs of the present leaf with an i-particle, with jerks.
    #[inline(always)]
    fn lanes_in_motion(&mut self, k: usize, nearest: bool) -> LeafLanes<S> {
        let target = &self.targets[k].target;
        let variant = Variant {
            left_out: self.left_out(target.label, kernel::masks_few::<S, SPLIT>()),
            nearest,
            soft: self.soft,
            equal: self.masses.equal,
        };
        kernel::leaf::<S, SPLIT>(
            self.shared.s,
            variant,
            self.sources,
            target,
            self.leaf.range.clone(),
            self.distances,
            self.halfway.as_deref_mut(),
        )
    }

    /// Computes the pairs of the present leaf with an i-particle, without jerks.
    #[inline(always)]
    fn lanes_at_rest(&mut self, k: usize, nearest: bool) -> Lanes<S> {
        let target = &self.targets[k].target;
        let kind = LeafPass {
            soft: self.soft,
            least: nearest,
            equal: self.masses.equal,
            reduced: self.shared.reduced,
            ..LeafPass::default()
        };
        let left_out = self.left_out(target.label, true);
        attraction::labelled_leaf::<S, SPLIT>(
            self.shared.s,
            kind,
            self.sources,
            target,
            self.leaf.range.clone(),
            left_out.unwrap_or(LeftOut::NONE),
            self.shared.nearest.then_some(&mut *self.distances),
        )
    }

    /// The slots of the present leaf that an i-particle with this label leaves out, if there are any. `sought` says
    /// whether that with the label is to be found.
    #[inline(always)]
    fn left_out(&self, label: i32, sought: bool) -> Option<LeftOut> {
        let (page, range) = (self.sources.page, &self.leaf.range);
        let found = match (self.leaf.holes, self.labels.may_hold(label)) {
            (false, false) => Found::Nowhere,
            (false, true) if sought => self.labels.find(page, label, self.shared.slots(page)),
            _ => Found::Anywhere,
        };
        let whole = range.end;
        match found {
            Found::Anywhere => Some(LeftOut::ANY),
            Found::At(own) if range.contains(&own) => Some(LeftOut { own, whole }),
            _ if range.len().is_multiple_of(S::LANES) => None,
            _ => Some(LeftOut { own: PAGE, whole }),
        }
    }

    /// Whether the pairs with an i-particle have jerks.
    #[inline(always)]
    fn has_jerk(&self, target: &ScaledParticle<S::T>) -> bool {
        self.sources.tile.moves || target.moves
    }

    /// Whether single precision holds the sums of an i-particle and no pair is close.
    #[cold]
    #[inline(never)]
    fn is_sound(&mut self, k: usize, sums: &Sums, least: S::T) -> bool {
        let target = &self.targets[k].target;
        let (resolution, range) = (&target.resolution, self.leaf.range.clone());
        let proved = resolution.are_apart(sums, &self.bounds);
        self.leaf.unproved += usize::from(!proved);
        resolution.holds(sums, &self.bounds, self.has_jerk(target))
            && (proved
                || self.ahead.nearest && resolution.resolves(least.to_f64())
                || self.shared.are_apart(self.sources, target, range))
    }

    /// Notes what may be the nearest neighbour of an i-particle, with `least` for the smallest r^2 of the leaf.
    #[inline(always)]
    fn note_nearest(&mut self, k: usize, least: S::T) {
        let units = &self.sources.tile.units;
        let slack = match SPLIT {
            true => nearest::slack_on(self.sources.tile.grid.step()),
            false => 0.0,
        };
        resum::note(
            self.shared.s,
            &mut self.targets[k].candidates,
            (least, self.distances),
            (units.length * units.length, slack),
            self.position,
            self.leaf.range.clone(),
        );
    }

    /// Sums the leaf with its dominant pair in double precision.
    #[inline(always)]
    fn add_dominant(&self, k: usize, jerk: bool, sums: &mut Sums) {
        let leaf = DominatedLeaf::<S, SPLIT> {
            s: self.shared.s,
            jerk,
            sources: self.sources,
            bounds: &self.bounds,
            factors: &self.factors,
            target: &self.targets[k].target,
            range: self.leaf.range.clone(),
        };
        leaf.sum(&self.particles[k], self.shared.block.ti, sums);
    }

    /// The sums in double precision.
    #[inline(always)]
    fn exactly(&mut self, k: usize) -> Result<Sums> {
        let BlockContext {
            s,
            block,
            nearest,
            measured,
            ..
        } = *self.shared;
        // The nearest by softened distances is the nearest only where all j-particles have one softening length.
        let nearest = nearest && !self.soft;
        let leaf = Leaf {
            page: self.sources.page,
            position: self.position,
            range: self.leaf.range.clone(),
            end: self.shared.slots(self.sources.page),
            ti: block.ti,
            i: &self.particles[k],
            candidates: nearest.then_some(&mut self.targets[k].candidates),
        };
        self.again.sum(s, leaf, measured)
    }
}
