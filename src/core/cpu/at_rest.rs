//! The sums over particles at rest, for GRAPE-5. As for moving particles, they are computed leaf by leaf, but without
//! labels, jerks and neighbours. For most leaves one comparison proves that single precision suffices.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::attraction::{self, Lanes, LeafPass};
use super::coincident::{self, Hash, MayCoincide, Places};
use super::division::Task;
use super::kernel::JPage;
use super::leaves::{self, LeafSums, TOGETHER, Walk};
use super::resolution::{LeafBounds, ROUNDING};
use super::resum::{Leaf, Resum};
use super::simd::{Real, SERIES_MASS, Simd, Sums};
use super::target::ScaledParticle;
use super::tasks::BlockContext;
use super::tile;
use super::workspace::{PURPOSE, TaskParticle, Workspace};
use crate::error::Result;
use crate::process::allocation;
use crate::sources::jmemory::{PAGE, PageArray, SourceKind};
use crate::sources::particle::IParticle;

/// Up to this potential no factor of an acceleration leaves the range of single precision. This holds for a leaf
/// whose masses have one sign and which has no close pair. A pair at distance s adds m / s to the potential. As s
/// is at least [`CLOSEST`], m / s^3 is at most 1e24 times m / s.
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
    particles: &'a [IParticle],
    targets: &'a [TaskParticle<S::T>],
    hashes: &'a [Hash],
    /// Which i-particles may coincide with a particle of the page, if there are `places`.
    may_coincide: &'a MayCoincide,
    sources: JPage<'a, S>,
    position: usize,
    bounds: LeafBounds,
    factors: Four,
    kind: LeafPass,
    /// Where its particles are, if that is known and wanted.
    places: Option<&'a Places>,
    /// Two bounds for the potential of a leaf. If the sums of the leaf are finite, they are sound under two conditions:
    /// the potential times [`Resolution::closest`](super::resolution::Resolution::closest) is at most the first bound,
    /// and the potential itself is at most the second.
    quick: (f64, f64),
    /// Whether all of its masses are zero.
    massless: bool,
    /// Whether some mass is so small that a sum of close pairs may be wrong and yet finite: in a loop with roots that are series, and in one
    /// that raises r^2.
    tiny_masses: bool,
    /// Its masses, of which some may be taken out for an i-particle.
    lent: &'a mut PageArray<S::T>,
    again: &'a mut Resum,
    /// The slots of the present leaf.
    range: Range<usize>,
    /// Number of i-particles for which the potential of the leaf did not prove that its sums are sound. If these are
    /// more than a quarter of the i-particles so far, or masses have both signs, the pair loop also finds the smallest
    /// distance, which saves a second pass.
    unproved: usize,
    ahead: &'a mut Ahead<S>,
    /// Whose masses were taken out of [`Self::lent`].
    taken: TakenMasses,
}

/// The sums of some i-particles over the present leaf, lane by lane.
struct Ahead<S: Simd> {
    /// The i-particles.
    of: Range<usize>,
    /// The kind of their pass.
    kind: LeafPass,
    /// Those of `of` were written.
    lanes: [MaybeUninit<Lanes<S>>; TOGETHER],
}

/// Whose masses were taken out of the present leaf.
enum TakenMasses {
    None,
    /// That of the particle in this slot.
    One(usize),
    Many,
}

impl TakenMasses {
    #[inline(always)]
    fn add(&mut self, slot: usize) {
        *self = match self {
            Self::None => Self::One(slot),
            _ => Self::Many,
        };
    }

    /// The only one.
    #[inline(always)]
    fn only(&self) -> Option<usize> {
        match *self {
            Self::One(slot) => Some(slot),
            _ => None,
        }
    }
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
            hashes,
            may_coincide,
            scratch,
            again,
            ..
        } = workspace;
        let particles = &self.block.particles[task.particles.clone()];
        hashes.clear();
        if self.unsoftened {
            allocation::reserve(hashes, particles.len(), PURPOSE)?;
            hashes.extend(particles.iter().map(|i| match i.eps2 == 0.0 {
                true => Hash::of(&i.x),
                false => Hash::NOWHERE,
            }));
            may_coincide.restart(particles.len(), PURPOSE)?;
        }
        let length = leaves::length::<S>();
        self.restart(task, length, totals)?;
        let soft = self.memory.sources() == SourceKind::Softened;
        // What is true of all of the task's i-particles.
        let targets = totals.of(particles.len()).1.iter();
        let all = targets
            .map(|t| t.target.resolution)
            .reduce(|all, next| all.and(&next));
        let mut lent = PageArray::default();
        let mut ahead = Ahead {
            of: 0..0,
            kind: LeafPass::default(),
            lanes: [MaybeUninit::uninit(); TOGETHER],
        };
        let mut walk = Walk::new(length);
        for at in task.pages.clone() {
            let position = self.pages[at];
            let page = self.memory.page(position);
            let prepared = self.page(at)?;
            let tile = self.tile(&prepared, page, scratch)?;
            let masses = &*prepared.masses;
            totals.aim::<SPLIT>(particles, tile);
            let bounds = self.bounds(tile, masses);
            let proved = tile.units.are_plain()
                && all.is_some_and(|all| all.holds_unless_close(&bounds, false));
            let slots = self.slots(page);
            if self.unsoftened {
                lent = masses.m;
            }
            let places = prepared.places.as_deref();
            let places = places.filter(|places| self.unsoftened && places.are_fresh(page));
            if let Some(places) = places {
                places.look_up(self.s, page, hashes, may_coincide);
            }
            let (steps, targets, stacks) = totals.of(particles.len());
            let mut over = PageAtRest {
                shared: self,
                particles,
                targets,
                hashes,
                may_coincide,
                sources: JPage {
                    tile,
                    masses: &masses.m,
                    page,
                    minus_three: S::T::default(),
                },
                position,
                bounds,
                factors: first_four(tile::factors(&tile.units, masses.unit, 1.0)),
                kind: LeafPass {
                    soft,
                    least: false,
                    coincident: false,
                    equal: masses.equal && slots == PAGE,
                    reduced: self.reduced,
                    without: None,
                },
                places,
                quick: match (S::T::IS_DOUBLE, proved) {
                    (true, _) => (f64::INFINITY, f64::INFINITY),
                    (false, true) => (bounds.least_mass * ROUNDING, IN_RANGE),
                    (false, false) => (-1.0, -1.0),
                },
                massless: masses.none,
                tiny_masses: S::T::IS_DOUBLE && masses.least < SERIES_MASS,
                lent: &mut lent,
                again,
                range: 0..0,
                unproved: 0,
                ahead: &mut ahead,
                taken: TakenMasses::None,
            };
            walk.page(steps, slots, &mut over, stacks)?;
        }
        Ok(())
    }
}

impl<S: Simd, const SPLIT: bool> LeafSums for PageAtRest<'_, S, SPLIT> {
    type Sums = Sums;

    #[inline(always)]
    fn begin(&mut self, range: Range<usize>) {
        (self.range, self.unproved) = (range, 0);
        self.ahead.of = 0..0;
    }

    #[inline(always)]
    fn sum(&mut self, k: usize, to: &mut Sums) -> Result<()> {
        let to = &mut to[..4];
        if self.massless && self.particles[k].is_finite() {
            to.copy_from_slice(&NOTHING);
            return Ok(());
        }
        self.four(k, to)
    }
}

impl<S: Simd, const SPLIT: bool> PageAtRest<'_, S, SPLIT> {
    /// The sums over the leaf for the i-particle number `k`.
    #[inline(always)]
    fn four(&mut self, k: usize, to: &mut [f64]) -> Result<()> {
        let (i, target) = (&self.particles[k], &self.targets[k].target);
        if self.tiny_masses {
            to.copy_from_slice(&self.exactly(i)?);
            return Ok(());
        }
        let mut wanted = match self.ahead.of.contains(&k) {
            true => None,
            false => Some(self.pass_from(k)),
        };
        loop {
            if let Some((of, kind)) = wanted.take() {
                (self.ahead.of, self.ahead.kind) = (of, kind);
                self.sum_lanes();
            }
            let kind = self.ahead.kind;
            let sources = self.sources_of(kind);
            let BlockContext { s, corrections, .. } = *self.shared;
            // SAFETY: `k` is one of `of`, whose lanes were written.
            let lanes = unsafe { self.ahead.lanes[k - self.ahead.of.start].assume_init_ref() };
            let (sums, least) = lanes.over_lanes(s, kind.coincident || kind.least, &corrections);
            let sound = match self.is_quickly_proved(&sums, target) {
                true => true,
                false if kind.without.is_some() => false,
                false => {
                    let (sound, proved) = self.is_sound(kind, sources, &sums, least, target);
                    self.unproved += usize::from(!proved);
                    sound
                }
            };
            if kind.coincident {
                self.give_back();
            }
            if sound {
                for ((to, sum), factor) in to.iter_mut().zip(sums).zip(self.factors) {
                    *to = sum * factor;
                }
                return Ok(());
            }
            // What decides more carefully sees masses only.
            let is_taken = !kind.coincident
                && match kind.without {
                    Some(slot) => {
                        self.lent[slot] = S::T::default();
                        self.taken = TakenMasses::One(slot);
                        true
                    }
                    None => i.eps2 == 0.0 && self.take_out(&i.x),
                };
            if !is_taken {
                to.copy_from_slice(&self.exactly(i)?);
                return Ok(());
            }
            let coincident = LeafPass {
                coincident: true,
                without: None,
                ..kind
            };
            wanted = Some((k..k + 1, coincident));
        }
    }

    /// The i-particle number `k` and those after it that may take the same pass over the present leaf, and its kind.
    #[inline(always)]
    fn pass_from(&mut self, k: usize) -> (Range<usize>, LeafPass) {
        let mut kind = LeafPass {
            least: !self.bounds.one_sign || self.unproved * 4 > k,
            ..self.kind
        };
        let end = match (k, self.places) {
            // The first i-particle of a leaf shows whether distances are needed.
            (0, _) => 1,
            // Only its own pass shows whether an i-particle coincides with a source.
            (_, None) if !self.hashes.is_empty() => k + 1,
            _ => self.particles.len().min(k + TOGETHER),
        };
        let Some(places) = self.places else {
            return (k..end, kind);
        };
        let mut apart = end.min(k + self.may_coincide.apart(k));
        if apart == k {
            let take = |slot: usize| {
                self.lent[slot] = S::T::default();
                self.taken.add(slot);
            };
            let at = (&self.particles[k].x, self.hashes[k]);
            kind.coincident = places.each(self.sources.page, at, &self.range, take);
            apart += 1;
            if let (Some(slot), false) = (self.taken.only(), kind.soft || kind.least) {
                // Usually it is there alone, and a slot that is left out takes less time than a mass.
                (kind.coincident, kind.without) = (false, Some(slot));
                self.give_back();
            }
        }
        (k..apart, kind)
    }

    /// The sources of a pass of this kind.
    #[inline(always)]
    fn sources_of(&self, kind: LeafPass) -> JPage<'_, S> {
        JPage {
            masses: match kind.coincident {
                true => self.lent,
                false => self.sources.masses,
            },
            ..self.sources
        }
    }

    /// Computes the pairs of the present leaf with the i-particles of [`Ahead::of`].
    #[inline(always)]
    fn sum_lanes(&mut self) {
        let kind = self.ahead.kind;
        for (n, k) in self.ahead.of.clone().enumerate() {
            let target = &self.targets[k].target;
            let (s, sources, range) = (self.shared.s, self.sources_of(kind), self.range.clone());
            let lanes = attraction::leaf::<S, SPLIT>(s, kind, sources, target, range);
            self.ahead.lanes[n].write(lanes);
        }
    }

    /// Whether finite sums with a small potential show that a leaf is sound.
    #[inline(always)]
    fn is_quickly_proved(&self, sums: &Four, target: &ScaledParticle<S::T>) -> bool {
        let [x, y, z, pot] = *sums;
        let size = pot.abs();
        let is_small = (size * target.resolution.closest <= self.quick.0) & (size <= self.quick.1);
        is_small & ((x + y + z) * 0.0 == 0.0)
    }

    /// Whether single precision holds the sums and no pair with a mass is close; and whether the sums alone proved the latter.
    #[cold]
    #[inline(never)]
    fn is_sound(
        &self,
        kind: LeafPass,
        sources: JPage<'_, S>,
        sums: &Four,
        least: S::T,
        target: &ScaledParticle<S::T>,
    ) -> (bool, bool) {
        let resolution = &target.resolution;
        let [x, y, z, pot] = *sums;
        let sums = &[x, y, z, pot, 0.0, 0.0, 0.0, 0.0];
        let proved = resolution.are_apart(sums, &self.bounds);
        let sound = resolution.holds(sums, &self.bounds, false)
            && (proved
                || kind.least && resolution.resolves(least.to_f64())
                || self.shared.are_apart(sources, target, self.range.clone()));
        (sound, proved)
    }

    /// The sums in double precision.
    #[cold]
    #[inline(never)]
    fn exactly(&mut self, i: &IParticle) -> Result<Four> {
        let leaf = Leaf {
            page: self.sources.page,
            position: self.position,
            range: self.range.clone(),
            end: self.shared.slots(self.sources.page),
            ti: self.shared.block.ti,
            i,
            candidates: None,
        };
        self.again
            .sum(self.shared.s, leaf, self.shared.measured)
            .map(first_four)
    }

    /// Takes out the masses of the particles at a place. Returns whether there are any.
    #[cold]
    #[inline(never)]
    fn take_out(&mut self, x: &[f64; 3]) -> bool {
        let mut take = |slot: usize| {
            self.lent[slot] = S::T::default();
            self.taken.add(slot);
        };
        coincident::each(self.sources.page, x, &self.range, &mut take)
    }

    /// Gives particles their masses back.
    #[inline(always)]
    fn give_back(&mut self) {
        let of = self.sources.masses;
        match self.taken {
            TakenMasses::None => {}
            TakenMasses::One(slot) => self.lent[slot] = of[slot],
            TakenMasses::Many => self.lent.copy_from_slice(of),
        }
        self.taken = TakenMasses::None;
    }
}
