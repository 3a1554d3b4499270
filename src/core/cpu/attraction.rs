//! The pair loop of particles at rest: acceleration and potential, and nothing else.
//!
//! Where the estimate of 1 / r is accurate enough, one step makes m / r^3 from it. Otherwise 1 / r is refined first.
//! The potential is the sum of (m / r^3) r^2; in `reduced` precision it is the sum of m / r, which is an addition and not a fused
//! operation: on some processors it takes no time beside the multiplications.
//!
//! | operations a pair, beside the estimate | here | general loop |
//! |---|---|---|
//! | single precision | 15 | 17 |
//! | split positions | 21 | 23 |
//!
//! If all masses are equal, this loop takes one operation less. [`leaf`] masks only the end of the page: a slot without a
//! particle has no mass. [`labelled_leaf`] masks what else is left out, too. As in [`super::kernel`], no closure calls a
//! vector operation.

use std::ops::Range;

use super::kernel::{JPage, LeftOut, TOGETHER};
use super::leaves::take_run;
use super::mean_root::{Approximation, mean_ratio};
use super::pair::{Slots, reread, splat3};
use super::simd::{Real, Simd, Sums, Work, series_softening};
use super::target::ScaledParticle;
use crate::sources::jmemory::{PAGE, PageArray};

/// What a pass over a leaf is made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafPass {
    /// Whether each j-particle has a softening length of its own.
    pub soft: bool,
    /// Whether the smallest distance is wanted.
    pub least: bool,
    /// Whether some j-particle without a mass may be where the i-particle is.
    pub coincident: bool,
    /// Whether every slot has a mass of 1.
    pub equal: bool,
    /// Whether pairs are computed in `reduced` precision, if positions are not split.
    pub reduced: bool,
    /// A slot that is left out, if j-particles have no softening lengths and no distance is wanted.
    pub without: Option<usize>,
}

/// Which slots below the end of the range a pass leaves out: none.
const NONE: u8 = 0;
/// Those without a particle, and that with the label of the i-particle.
const LABELS: u8 = 1;
/// One slot.
const SLOT: u8 = 2;

/// What a pass over a leaf found, before the lanes are joined.
#[derive(Clone, Copy)]
pub struct Lanes<S: Simd> {
    /// Minus the acceleration, and the potential.
    sums: [S::V; 4],
    /// The smallest softened r^2, if that was wanted.
    least: S::V,
}

impl<S: Simd> Lanes<S> {
    /// The sums over all lanes, and the smallest softened r^2 if it was wanted, in the tile's units.
    #[inline(always)]
    pub fn over_lanes(&self, s: S, wants_least: bool, by: &Corrections) -> ([f64; 4], S::T) {
        let [x, y, z, pot] = s.sums_of_four(self.sums.each_ref());
        let acc = -by.acc;
        let least = match wants_least {
            true => s.least(self.least),
            false => S::T::MAX,
        };
        ([acc * x, acc * y, acc * z, by.pot * pot], least)
    }

    /// The same with jerks, which are zero. Sums that nothing was added to have the signs that [`super::kernel`] gives
    /// them.
    #[inline(always)]
    pub fn with_jerks(&self, s: S, wants_least: bool, by: &Corrections) -> (Sums, S::T) {
        let ([x, y, z, pot], least) = self.over_lanes(s, wants_least, by);
        let sums = [x + 0.0, y + 0.0, z + 0.0, pot, 0.0, 0.0, 0.0, 0.0];
        (sums, least)
    }
}

/// Sums acceleration and potential over the slots of `range`, which lie in one leaf.
///
/// `range` is not empty and begins at a multiple of the lanes. A j-particle with a mass at distance zero makes the sums
/// infinite or NaN, unless the pair is softened. If [`Simd::SERIES`], masses are zero or at least
/// [`SERIES_MASS`](super::simd::SERIES_MASS).
#[inline(always)]
pub fn leaf<S: Simd, const SPLIT: bool>(
    s: S,
    kind: LeafPass,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
) -> Lanes<S> {
    match kind.without {
        None => sums::<S, SPLIT, NONE>(s, kind, j, i, range, LeftOut::NONE, None),
        Some(own) => {
            let left_out = LeftOut { own, whole: PAGE };
            sums::<S, SPLIT, SLOT>(s, kind, j, i, range, left_out, None)
        }
    }
}

/// [`leaf`] without the slots that are left out. If the smallest distance is wanted, and j-particles have no softening
/// lengths, `distances` receives the softened r^2 of every slot, or the greatest number for slots that are left out.
#[inline(always)]
pub fn labelled_leaf<S: Simd, const SPLIT: bool>(
    s: S,
    kind: LeafPass,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    left_out: LeftOut,
    distances: Option<&mut PageArray<S::T>>,
) -> Lanes<S> {
    sums::<S, SPLIT, LABELS>(s, kind, j, i, range, left_out, distances)
}

/// [`leaf`] or [`labelled_leaf`], which leave out what `OMITS` says.
#[inline(always)]
fn sums<S: Simd, const SPLIT: bool, const OMITS: u8>(
    s: S,
    kind: LeafPass,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    left_out: LeftOut,
    distances: Option<&mut PageArray<S::T>>,
) -> Lanes<S> {
    match kind.reduced && !SPLIT && !S::T::IS_DOUBLE {
        true => sums_in::<S, SPLIT, true, OMITS>(s, kind, j, i, range, left_out, distances),
        false => sums_in::<S, SPLIT, false, OMITS>(s, kind, j, i, range, left_out, distances),
    }
}

/// [`sums`] in one precision.
#[inline(always)]
fn sums_in<S: Simd, const SPLIT: bool, const REDUCED: bool, const OMITS: u8>(
    s: S,
    kind: LeafPass,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    left_out: LeftOut,
    distances: Option<&mut PageArray<S::T>>,
) -> Lanes<S> {
    let mut pass = Pass::<S, SPLIT, REDUCED, OMITS> {
        s,
        j,
        slots: Slots::of(j.page),
        label: i.label,
        left_out,
        distances,
        x: splat3(s, &i.x),
        x_low: splat3(s, &i.x_low),
        eps2: s.splat(match S::SERIES && !kind.soft {
            true => S::T::from_f64(series_softening(i.eps2.to_f64())),
            false => i.eps2,
        }),
        sums: [s.splat(S::T::default()); 4],
        least: s.splat(S::T::MAX),
    };
    // What is rare has all that is rare.
    match kind {
        LeafPass { soft: true, .. } if OMITS == LABELS && S::T::IS_DOUBLE => {
            pass.over::<true, false, false, false>(range)
        }
        LeafPass { least: true, .. } if OMITS == LABELS => {
            pass.over::<false, true, false, false>(range)
        }
        LeafPass { equal: true, .. } if OMITS != NONE => {
            pass.over::<false, false, false, true>(range)
        }
        _ if OMITS != NONE => pass.over::<false, false, false, false>(range),
        LeafPass {
            soft: true,
            least: false,
            coincident: false,
            ..
        } => pass.over::<true, false, false, false>(range),
        LeafPass { soft: true, .. } => pass.over::<true, true, true, false>(range),
        LeafPass {
            coincident: true, ..
        } => pass.over::<false, true, true, false>(range),
        LeafPass { least: true, .. } => pass.over::<false, true, false, false>(range),
        LeafPass { equal: true, .. } => pass.over::<false, false, false, true>(range),
        _ => pass.over::<false, false, false, false>(range),
    }
    Lanes {
        sums: pass.sums,
        least: pass.least,
    }
}

/// Whether separations wait in memory.
const fn in_memory<S: Simd, const SPLIT: bool>() -> bool {
    SPLIT && !S::MANY_REGISTERS
}

/// One i-particle and its sums over a leaf.
struct Pass<'a, S: Simd, const SPLIT: bool, const REDUCED: bool, const OMITS: u8> {
    s: S,
    j: JPage<'a, S>,
    slots: Slots<'a>,
    label: i32,
    left_out: LeftOut,
    /// Where the r^2 are wanted.
    distances: Option<&'a mut PageArray<S::T>>,
    x: [S::V; 3],
    x_low: [S::V; 3],
    eps2: S::V,
    /// Minus the acceleration, and the potential.
    sums: [S::V; 4],
    least: S::V,
}

impl<S: Simd, const SPLIT: bool, const REDUCED: bool, const OMITS: u8>
    Pass<'_, S, SPLIT, REDUCED, OMITS>
{
    /// Adds the pairs of a leaf: the sums of its first run, and those of the second to them.
    #[inline(always)]
    fn over<const SOFT: bool, const LEAST: bool, const COINCIDENT: bool, const EQUAL: bool>(
        &mut self,
        range: Range<usize>,
    ) {
        assert!(!range.is_empty() && range.end <= PAGE);
        // One copy of the loop for both runs. In a second one the compiler kept the potential in memory, with the latency
        // of a store and a load for each vector.
        let (mut rest, mut total) = (range, self.sums);
        let mut is_first = true;
        while !rest.is_empty() {
            self.sums = [self.s.splat(S::T::default()); 4];
            self.run::<SOFT, LEAST, COINCIDENT, EQUAL>(take_run::<S>(&mut rest));
            for (total, sum) in total.iter_mut().zip(self.sums) {
                *total = match is_first {
                    true => sum,
                    false => self.s.add(*total, sum),
                };
            }
            is_first = false;
        }
        self.sums = total;
    }

    /// Adds the pairs of a run.
    #[inline(always)]
    fn run<const SOFT: bool, const LEAST: bool, const COINCIDENT: bool, const EQUAL: bool>(
        &mut self,
        range: Range<usize>,
    ) {
        let whole = range.start + (range.len() & !(S::LANES - 1));
        let mut at = range.start;
        // Several vectors a pass: the loop itself takes a tenth of the time otherwise. Split positions leave registers for
        // two, or for none if registers are few.
        let together = match (in_memory::<S, SPLIT>(), SPLIT) {
            (true, _) => TOGETHER,
            (false, true) => 2,
            (false, false) => 4,
        };
        let mut waiting = [[self.eps2; 3]; TOGETHER];
        while at + (together - 1) * S::LANES < whole {
            // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
            unsafe {
                match self.leaves_out(at, together) {
                    true => {
                        self.several::<SOFT, LEAST, COINCIDENT, EQUAL, true>(at, &mut waiting);
                    }
                    false => {
                        self.several::<SOFT, LEAST, COINCIDENT, EQUAL, false>(at, &mut waiting);
                    }
                }
            }
            at += together * S::LANES;
        }
        while at < whole {
            // SAFETY: as above.
            unsafe {
                match self.leaves_out(at, 1) {
                    true => self.add::<SOFT, LEAST, COINCIDENT, EQUAL, true, false>(at, PAGE),
                    false => self.add::<SOFT, LEAST, COINCIDENT, EQUAL, false, false>(at, PAGE),
                }
            }
            at += S::LANES;
        }
        if at < range.end {
            // SAFETY: as above.
            unsafe { self.add::<SOFT, LEAST, COINCIDENT, EQUAL, true, false>(at, range.end) };
        }
    }

    /// Whether slots of this many vectors from `at` on may be left out.
    #[inline(always)]
    fn leaves_out(&self, at: usize, vectors: usize) -> bool {
        OMITS != NONE && self.left_out.concerns(at, vectors * S::LANES)
    }

    /// Adds the pairs of several vectors from `at` on, as many as [`Self::run`] takes in a pass. `waiting` is memory for
    /// their separations.
    ///
    /// # Safety
    ///
    /// `at` plus the slots of these vectors is at most PAGE.
    #[inline(always)]
    unsafe fn several<
        const SOFT: bool,
        const LEAST: bool,
        const COINCIDENT: bool,
        const EQUAL: bool,
        const MASK: bool,
    >(
        &mut self,
        at: usize,
        waiting: &mut [[S::V; 3]; TOGETHER],
    ) {
        // SAFETY: passed on.
        unsafe {
            if in_memory::<S, SPLIT>() {
                return self.add_together::<SOFT, LEAST, COINCIDENT, EQUAL, MASK>(at, waiting);
            }
            self.add::<SOFT, LEAST, COINCIDENT, EQUAL, MASK, false>(at, PAGE);
            self.add::<SOFT, LEAST, COINCIDENT, EQUAL, MASK, false>(at + S::LANES, PAGE);
            if !SPLIT {
                self.add::<SOFT, LEAST, COINCIDENT, EQUAL, MASK, false>(at + 2 * S::LANES, PAGE);
                self.add::<SOFT, LEAST, COINCIDENT, EQUAL, MASK, true>(at + 3 * S::LANES, PAGE);
            }
        }
    }

    /// Adds the pairs of [`TOGETHER`] vectors of slots from `at` on, with the bits of [`Self::add`]. Their distances are found
    /// first, because a processor looks only a few instructions ahead. `waiting` is memory for their separations.
    ///
    /// # Safety
    ///
    /// `at + TOGETHER * LANES <= PAGE`.
    #[inline(always)]
    unsafe fn add_together<
        const SOFT: bool,
        const LEAST: bool,
        const COINCIDENT: bool,
        const EQUAL: bool,
        const MASK: bool,
    >(
        &mut self,
        at: usize,
        waiting: &mut [[S::V; 3]; TOGETHER],
    ) {
        // SAFETY: passed on.
        let r2 = unsafe { self.distances::<SOFT, TOGETHER>(at, waiting) };
        for (n, (r, r2)) in reread(waiting).iter().zip(r2).enumerate() {
            let at = at + n * S::LANES;
            // SAFETY: passed on.
            unsafe {
                self.terms::<SOFT, LEAST, COINCIDENT, EQUAL, MASK, false>((*r, r2), at, PAGE);
            }
        }
    }

    /// Adds the pairs of the slots from `at` on; with `MASK` only those below `end` that are not left out. The constants
    /// are those of [`Self::terms`].
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn add<
        const SOFT: bool,
        const LEAST: bool,
        const COINCIDENT: bool,
        const EQUAL: bool,
        const MASK: bool,
        const FOURTH: bool,
    >(
        &mut self,
        at: usize,
        end: usize,
    ) {
        let mut r = [[self.eps2; 3]];
        // SAFETY: passed on.
        unsafe {
            let [r2] = self.distances::<SOFT, 1>(at, &mut r);
            self.terms::<SOFT, LEAST, COINCIDENT, EQUAL, MASK, FOURTH>((r[0], r2), at, end);
        }
    }

    /// Returns the r^2 + eps^2 of `N` vectors of pairs from slot `at` on, and writes their x_i - x_j.
    ///
    /// # Safety
    ///
    /// `at + N * LANES <= PAGE`.
    #[inline(always)]
    unsafe fn distances<const SOFT: bool, const N: usize>(
        &self,
        at: usize,
        to: &mut [[S::V; 3]; N],
    ) -> [S::V; N] {
        let (s, tile) = (self.s, self.j.tile);
        let mut r2 = [self.eps2; N];
        if SOFT {
            for (n, r2) in r2.iter_mut().enumerate() {
                // SAFETY: passed on.
                *r2 = s.add(*r2, unsafe { s.load(&tile.eps2, at + n * S::LANES) });
            }
        }
        for k in 0..3 {
            for (n, (to, r2)) in to.iter_mut().zip(&mut r2).enumerate() {
                let at = at + n * S::LANES;
                // x_i - x_j, so that x_j can stay in memory.
                // SAFETY: passed on.
                let mut r = s.sub(self.x[k], unsafe { s.load(&tile.x[k], at) });
                if SPLIT {
                    // SAFETY: passed on.
                    let low = s.sub(self.x_low[k], unsafe { s.load(&tile.x_low[k], at) });
                    r = s.add(r, low);
                }
                *r2 = s.fma(r, r, *r2);
                to[k] = r;
            }
        }
        r2
    }

    /// Adds the pairs of the slots from `at` on, from x_i - x_j and r^2 + eps^2; with `MASK` only those below `end` that
    /// are not left out. With `FOURTH`, and if [`Simd::SERIES`], the roots come from [`Simd::series`], unless j-particles
    /// have softening lengths. The processor's own root takes longer than all else; meanwhile it computes the roots of the
    /// other three vectors.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn terms<
        const SOFT: bool,
        const LEAST: bool,
        const COINCIDENT: bool,
        const EQUAL: bool,
        const MASK: bool,
        const FOURTH: bool,
    >(
        &mut self,
        (r, mut r2): ([S::V; 3], S::V),
        at: usize,
        end: usize,
    ) {
        let s = self.s;
        if COINCIDENT {
            // A number whose root's square is in range: what has no mass then adds nothing, and what has one
            // overflows as it would without.
            r2 = s.greater_magnitude(r2, s.splat(S::T::from_f64(S::T::ROOT_IN_RANGE)));
        }
        let m = match EQUAL {
            true => None,
            // SAFETY: passed on.
            false => Some(unsafe { s.load(self.j.masses, at) }),
        };
        let mut m_r = None;
        let mut m_r3 = match REDUCED {
            true => {
                let (attraction, potential) = s.attraction_less(m, r2, s.estimate(r2));
                m_r = Some(potential);
                attraction
            }
            // Softening lengths of j-particles may be of any sign.
            false if FOURTH && S::SERIES && !SOFT => {
                let y = s.series(r2);
                s.mul(s.times(m, y), s.mul(y, y))
            }
            false => s.attraction::<SPLIT>(m, r2, s.estimate(r2)),
        };
        if MASK {
            let counts = match OMITS {
                // SAFETY: passed on.
                LABELS => unsafe { self.slots.counting(s, self.label, at, end) },
                _ => {
                    let mut bits = (1_u64 << (end - at).min(S::LANES)) - 1;
                    if OMITS == SLOT && self.left_out.own.wrapping_sub(at) < S::LANES {
                        bits &= !(1 << (self.left_out.own - at));
                    }
                    s.mask(bits as u32)
                }
            };
            let zero = s.splat(S::T::default());
            m_r3 = s.select(counts, m_r3, zero);
            if let Some(m_r) = &mut m_r {
                *m_r = s.select(counts, *m_r, zero);
            }
            r2 = s.select(counts, r2, s.splat(S::T::MAX));
        }
        if LEAST {
            self.least = s.min(r2, self.least);
            if let Some(distances) = &mut self.distances {
                // SAFETY: passed on.
                unsafe { s.store(distances, at, r2) };
            }
        }
        let [sums @ .., pot] = &mut self.sums;
        for (sum, r) in sums.iter_mut().zip(r) {
            *sum = s.fma(m_r3, r, *sum);
        }
        *pot = match m_r {
            Some(m_r) => s.add(*pot, m_r),
            None => s.fma(m_r3, r2, *pot),
        };
    }
}

/// The factors by which the sums of [`leaf`] are multiplied. They are 1 / c, where c is the mean ratio of what is summed to
/// m / r^3 and to m / r.
///
/// c is not 1 for two reasons: [`Simd::attraction`] leaves a constant factor out, and the mean of its errors does not
/// cancel in the sums. Processors differ in their estimates, so c is measured, as for
/// [`MeanRoot`](super::mean_root::MeanRoot).
#[derive(Clone, Copy, Debug)]
pub struct Corrections {
    /// For accelerations.
    pub acc: f64,
    /// For potentials.
    pub pot: f64,
}

/// Finds the [`Corrections`] of an instruction set.
pub struct Measure<S, const SPLIT: bool> {
    /// The instruction set.
    pub s: S,
    /// Whether they are those of `reduced` precision.
    pub reduced: bool,
}

impl<S: Simd, const SPLIT: bool> Work for Measure<S, SPLIT> {
    type Output = Corrections;
    #[inline(always)]
    fn run(self) -> Corrections {
        let Self { s, reduced } = self;
        let acc = 1.0 / mean_ratio(s, &Attraction::<SPLIT> { reduced });
        let pot = match reduced {
            true => 1.0 / mean_ratio(s, &ReducedPotential),
            false => acc,
        };
        Corrections { acc, pot }
    }
}

/// [`Simd::attraction`] of a mass of 1, or [`Simd::attraction_less`].
struct Attraction<const SPLIT: bool> {
    reduced: bool,
}

impl<S: Simd, const SPLIT: bool> Approximation<S> for Attraction<SPLIT> {
    #[inline(always)]
    fn of(&self, s: S, x: S::V) -> S::V {
        match self.reduced {
            true => s.attraction_less(None, x, s.estimate(x)).0,
            false => s.attraction::<SPLIT>(None, x, s.estimate(x)),
        }
    }

    fn ratio(x: f64, y: f64) -> f64 {
        y * x * x.sqrt()
    }
}

/// The potential of [`Simd::attraction_less`].
struct ReducedPotential;

impl<S: Simd> Approximation<S> for ReducedPotential {
    #[inline(always)]
    fn of(&self, s: S, x: S::V) -> S::V {
        s.attraction_less(None, x, s.estimate(x)).1
    }

    fn ratio(x: f64, y: f64) -> f64 {
        y * x.sqrt()
    }
}
