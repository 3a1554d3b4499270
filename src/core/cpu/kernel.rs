//! The pair loop of particles that move: one body for every instruction set, precision and variant.
//!
//! No closure may call a vector operation here. A closure is compiled without the instruction set of the function
//! around it, so each operation would become a function call.

use std::ops::Range;

use super::leaves::{has_one_run, take_run};
use super::pair::{Broadcast, LaneSums, LeafLanes, Pair, Slots, product, reread};
use super::simd::{Real, Simd, Sums};
use super::target::ScaledParticle;
use super::tile::Tile;
use crate::sources::jmemory::{PAGE, Page, PageArray};

/// The j-particles of one page.
#[derive(Clone, Copy)]
pub struct JPage<'a, S: Simd> {
    /// Positions and velocities.
    pub tile: &'a Tile<S::T>,
    /// Masses.
    pub masses: &'a [S::T; PAGE],
    /// The labels, and which slots hold a particle.
    pub page: &'a Page,
    /// The factor that turns the square of [`Simd::refine`]'s result into -3 / r^2.
    pub minus_three: S::T,
}

/// Vectors whose distances are found together where registers are few.
pub const TOGETHER: usize = 4;

/// The pairs of a leaf between the two halves of the loop, where the registers do not suffice for both.
pub struct LeafScratch<T> {
    /// x_j - x_i
    r: [PageArray<T>; 3],
    /// 1 / s
    y: PageArray<T>,
}

impl<T: Real> Default for LeafScratch<T> {
    fn default() -> Self {
        let zero = PageArray::default();
        Self {
            r: [zero; 3],
            y: zero,
        }
    }
}

/// Which terms a pass over a leaf needs.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Which slots are to be left out, if any.
    pub left_out: Option<LeftOut>,
    /// Whether the smallest distance is wanted.
    pub nearest: bool,
    /// Whether each j-particle has a softening length of its own, in double precision. Then no distance is found.
    pub soft: bool,
    /// Whether every slot has a mass of 1.
    pub equal: bool,
}

/// Whether the loop compares labels only in the vectors that [`LeftOut`] names, and not in all. With AVX2 a comparison takes a
/// fifth as long as the other terms of a vector. AVX-512 has registers for its results, and NEON was not measured. The loop of
/// split positions would lose as much in large clusters as it gains in small ones.
pub const fn masks_few<S: Simd, const SPLIT: bool>() -> bool {
    !S::MANY_REGISTERS && !SPLIT
}

/// Which slots of a leaf are to be left out.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    /// The slot with the label of the i-particle; [`PAGE`] if there is none.
    pub own: usize,
    /// The end of the slots that count, all but `own`.
    pub whole: usize,
}

impl LeftOut {
    /// Any slot may be one of them.
    pub const ANY: Self = Self { own: 0, whole: 0 };
    /// No slot is one of them.
    pub const NONE: Self = Self {
        own: PAGE,
        whole: PAGE,
    };

    /// Whether some of these slots may be left out.
    #[inline(always)]
    pub fn concerns(&self, at: usize, count: usize) -> bool {
        self.own.wrapping_sub(at) < count || at + count > self.whole
    }
}

/// Returns, lane by lane, the sums over the slots of `range`, which lie in one leaf, in the tile's units, and the
/// smallest softened r^2 if it is wanted. In that case `distances` receives the softened r^2 of every slot, or the greatest
/// number for slots that are left out. `halfway` is scratch memory that speeds up instruction sets with few
/// registers; the bits are the same without it.
///
/// `range` is not empty and begins at a multiple of the lanes. If nothing is left out, it also ends at one. If a pair without
/// softening is at distance 0 in this precision, the sums are infinite or NaN. Whether the particles coincide is then
/// decided in double precision.
#[inline(always)]
pub fn leaf<S: Simd, const SPLIT: bool>(
    s: S,
    variant: Variant,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    distances: &mut PageArray<S::T>,
    halfway: Option<&mut LeafScratch<S::T>>,
) -> LeafLanes<S> {
    let (mask, left_out) = (
        variant.left_out.is_some(),
        variant.left_out.unwrap_or(LeftOut::ANY),
    );
    macro_rules! with {
        ($mask:literal $nearest:literal $soft:literal $equal:literal) => {
            pairs::<S, SPLIT, $mask, $nearest, $soft, false, $equal>(
                s,
                j,
                i,
                (range, left_out),
                distances,
                halfway,
            )
        };
    }
    match (mask, variant.nearest) {
        // This is rare, so one variant serves, with the mask. In single precision nobody asks for it.
        _ if variant.soft && S::T::IS_DOUBLE => with!(true false true false),
        // One multiplication less, with the same bits.
        (false, false) if variant.equal => with!(false false false true),
        (false, false) => with!(false false false false),
        (false, true) => with!(false true false false),
        (true, false) => with!(true false false false),
        (true, true) => with!(true true false false),
    }
}

/// As [`leaf`], and for any numbers. A particle exerts no force if it is at distance zero and the pair
/// is not softened, or so far away that r^2 overflows.
#[inline(always)]
pub fn careful_leaf<S: Simd>(
    s: S,
    nearest: bool,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    distances: &mut PageArray<S::T>,
) -> (Sums, S::T) {
    let range = (range, LeftOut::ANY);
    let lanes = if nearest {
        pairs::<S, false, true, true, true, true, false>(s, j, i, range, distances, None)
    } else {
        pairs::<S, false, true, false, true, true, false>(s, j, i, range, distances, None)
    };
    lanes.over_lanes(s, nearest)
}

/// The smallest softened r^2 among the pairs of [`leaf`] with a mass that is not zero.
#[inline(always)]
pub fn closest<S: Simd, const SPLIT: bool>(
    s: S,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
) -> S::T {
    let target = Broadcast::<S, SPLIT>::new(s, i, j.minus_three);
    assert!(range.end <= PAGE);
    let slots = Slots::of(j.page);
    let far = s.splat(S::T::MAX);
    let mut least = far;
    for at in range.clone().step_by(S::LANES) {
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        let (r2, counts, mass) = unsafe {
            (
                target.pair::<false, false>(s, j.tile, at).r2,
                slots.counting(s, i.label, at, range.end),
                s.load(j.masses, at),
            )
        };
        least = s.min(s.select(s.and(counts, s.nonzero(mass)), r2, far), least);
    }
    s.least(least)
}

/// The slot whose pair has the greatest m / r^2 in a [`leaf`], for masses that are not negative. If several are equal,
/// the first of them; `None` if no mass exerts a force.
#[inline(always)]
pub fn strongest<S: Simd, const SPLIT: bool>(
    s: S,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
) -> Option<usize> {
    let target = Broadcast::<S, SPLIT>::new(s, i, j.minus_three);
    assert!(range.end <= PAGE);
    let slots = Slots::of(j.page);
    let zero = s.splat(S::T::default());
    let mut weakness = PageArray::default();
    let mut least = zero;
    for at in range.clone().step_by(S::LANES) {
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        unsafe {
            let y = target.pair::<false, false>(s, j.tile, at).estimate;
            let weak = s.fnma(s.mul(s.load(j.masses, at), y), y, zero);
            let weak = s.select(slots.counting(s, i.label, at, range.end), weak, zero);
            s.store(&mut weakness, at, weak);
            least = s.min(weak, least);
        }
    }
    let bound = s.least(least);
    let mut found = None;
    if bound < S::T::default() {
        slots_within(s, &weakness, bound, range, |slot| {
            found.get_or_insert(slot);
        });
    }
    found
}

#[inline(always)]
fn pairs<
    S: Simd,
    const SPLIT: bool,
    const MASK: bool,
    const NEAREST: bool,
    const SOFT: bool,
    const CAREFUL: bool,
    const EQUAL: bool,
>(
    s: S,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    (range, left_out): (Range<usize>, LeftOut),
    distances: &mut PageArray<S::T>,
    halfway: Option<&mut LeafScratch<S::T>>,
) -> LeafLanes<S> {
    let target = Broadcast::<S, SPLIT>::new(s, i, j.minus_three);
    let mut pass = Pass::<S, MASK, NEAREST, SOFT, CAREFUL, EQUAL> {
        s,
        j,
        slots: Slots::of(j.page),
        label: i.label,
        end: range.end,
        left_out,
        sums: LaneSums::none(s),
        least: s.splat(S::T::MAX),
    };
    assert!(!range.is_empty() && range.end <= PAGE);
    let halfway = match halfway {
        Some(halfway) if !(S::MANY_REGISTERS || SOFT) => {
            // All distances and roots first, then all terms: neither half's registers are needed for the other's, and the
            // processor has many vectors in hand at a time.
            // SAFETY: the range ends at PAGE at most.
            unsafe { pass.all_roots(reread(&target), range.clone(), distances, halfway) };
            Some(reread(halfway))
        }
        _ => None,
    };
    // SAFETY: as above.
    unsafe {
        if has_one_run::<S>() {
            pass.run(&target, range, distances, halfway);
        } else {
            let (mut rest, mut total) = (range, None::<LaneSums<S>>);
            while !rest.is_empty() {
                pass.sums = LaneSums::none(s);
                pass.run(&target, take_run::<S>(&mut rest), distances, halfway);
                match &mut total {
                    Some(total) => total.join(s, &pass.sums),
                    None => total = Some(pass.sums),
                }
            }
            pass.sums = total.unwrap_or(pass.sums);
        }
    }
    LeafLanes {
        sums: pass.sums,
        least: pass.least,
    }
}

/// One i-particle and its sums over a leaf.
struct Pass<
    'a,
    S: Simd,
    const MASK: bool,
    const NEAREST: bool,
    const SOFT: bool,
    const CAREFUL: bool,
    const EQUAL: bool,
> {
    s: S,
    j: JPage<'a, S>,
    slots: Slots<'a>,
    label: i32,
    end: usize,
    left_out: LeftOut,
    sums: LaneSums<S>,
    least: S::V,
}

impl<
    S: Simd,
    const MASK: bool,
    const NEAREST: bool,
    const SOFT: bool,
    const CAREFUL: bool,
    const EQUAL: bool,
> Pass<'_, S, MASK, NEAREST, SOFT, CAREFUL, EQUAL>
{
    /// Adds the pairs of a run. Where there is a `halfway`, it has the roots of the leaf.
    ///
    /// # Safety
    ///
    /// The range is not empty, begins at a multiple of the lanes, and ends at PAGE at most.
    #[inline(always)]
    unsafe fn run<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
        distances: &mut PageArray<S::T>,
        halfway: Option<&LeafScratch<S::T>>,
    ) {
        // SAFETY: passed on.
        unsafe {
            match halfway {
                Some(halfway) => self.terms(reread(target), range, halfway),
                None if S::MANY_REGISTERS => {
                    self.ahead(target, range, distances);
                }
                None => self.one_by_one(target, range, distances),
            }
        }
    }

    /// [`Self::run`] where the roots of the next vector are computed while this one's terms are summed.
    ///
    /// # Safety
    ///
    /// That of [`Self::run`].
    #[inline(always)]
    unsafe fn ahead<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
        distances: &mut PageArray<S::T>,
    ) {
        let (s, tile) = (self.s, self.j.tile);
        let mut at = range.start;
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        let mut pair = unsafe { target.pair::<SOFT, CAREFUL>(s, tile, at) };
        while at + S::LANES < range.end {
            // SAFETY: as above.
            let mut next = unsafe { target.pair::<SOFT, CAREFUL>(s, tile, at + S::LANES) };
            // Between the root of a vector and its terms there is then as much other work as can be: a processor looks only a
            // few instructions ahead.
            s.order(&mut next.estimate, &mut pair.estimate);
            // SAFETY: as above.
            unsafe { self.add(target, pair, at, distances) };
            pair = next;
            at += S::LANES;
        }
        // SAFETY: as above.
        unsafe { self.add(target, pair, at, distances) };
    }

    /// [`Self::run`], one vector after the other. The sums and one vector's terms take all registers, so the i-particle is
    /// read from memory.
    ///
    /// # Safety
    ///
    /// That of [`Self::run`].
    #[inline(always)]
    unsafe fn one_by_one<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
        distances: &mut PageArray<S::T>,
    ) {
        for at in range.step_by(S::LANES) {
            let target = reread(target);
            // SAFETY: passed on.
            unsafe {
                let pair = target.pair::<SOFT, CAREFUL>(self.s, self.j.tile, at);
                self.add(target, pair, at, distances);
            }
        }
    }

    /// [`Self::roots`] of the pairs of a leaf.
    ///
    /// # Safety
    ///
    /// That of [`Self::run`].
    #[inline(always)]
    unsafe fn all_roots<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
        distances: &mut PageArray<S::T>,
        halfway: &mut LeafScratch<S::T>,
    ) {
        let target = *target;
        let mut at = range.start;
        while at + TOGETHER * S::LANES <= range.end {
            // SAFETY: passed on; the vectors end at `range.end` at most.
            unsafe { self.roots::<TOGETHER, SPLIT>(&target, at, distances, halfway) };
            at += TOGETHER * S::LANES;
        }
        while at < range.end {
            // SAFETY: passed on.
            unsafe { self.roots::<1, SPLIT>(&target, at, distances, halfway) };
            at += S::LANES;
        }
    }

    /// [`Self::run`] where [`Self::all_roots`] has found the rest.
    ///
    /// # Safety
    ///
    /// That of [`Self::run`].
    #[inline(always)]
    unsafe fn terms<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
        halfway: &LeafScratch<S::T>,
    ) {
        let s = self.s;
        for at in range.step_by(S::LANES) {
            // SAFETY: passed on.
            unsafe {
                let [x, y, z] = &halfway.r;
                let r = [s.load(x, at), s.load(y, at), s.load(z, at)];
                self.sum(target, r, s.load(&halfway.y, at), self.mass(at), at);
            }
        }
    }

    /// Separations and 1 / s of `N` vectors of pairs from `at` on, for `halfway`. Notes their distances.
    ///
    /// # Safety
    ///
    /// `at + N * LANES <= PAGE`.
    #[inline(always)]
    unsafe fn roots<const N: usize, const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        at: usize,
        distances: &mut PageArray<S::T>,
        halfway: &mut LeafScratch<S::T>,
    ) {
        let s = self.s;
        // SAFETY: passed on.
        let r2 = unsafe { target.distances::<N>(s, self.j.tile, at, &mut halfway.r) };
        for (n, r2) in r2.into_iter().enumerate() {
            let at = at + n * S::LANES;
            // SAFETY: passed on.
            unsafe {
                let (y, _) = self.root::<SPLIT>(r2, s.estimate(r2), at, distances);
                s.store(&mut halfway.y, at, y);
            }
        }
    }

    /// Returns 1 / s for the pairs of the slots from `at` on, zero for slots that are left out. With `MASK` it also
    /// returns which pairs have an s other than zero. With `NEAREST` it stores s^2 in `distances`.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn root<const SPLIT: bool>(
        &mut self,
        r2: S::V,
        estimate: S::V,
        at: usize,
        distances: &mut PageArray<S::T>,
    ) -> (S::V, S::M) {
        let s = self.s;
        let mut near = r2;
        let mut y = match CAREFUL {
            true => s.refine_any(r2, estimate),
            false => s.refine::<SPLIT>(r2, estimate),
        };
        let mut felt = s.mask(0);
        let all = CAREFUL || !masks_few::<S, SPLIT>();
        if MASK && (all || self.left_out.concerns(at, S::LANES)) {
            // SAFETY: passed on.
            let counts = unsafe { self.slots.counting(s, self.label, at, self.end) };
            y = s.select(counts, y, s.splat(S::T::default()));
            near = s.select(counts, near, s.splat(S::T::MAX));
            felt = s.and(counts, s.nonzero(r2));
        }
        if NEAREST {
            self.least = s.min(near, self.least);
            // SAFETY: passed on.
            unsafe { s.store(distances, at, near) };
        }
        (y, felt)
    }

    /// Adds the pairs of the slots from `at` on.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn add<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        pair: Pair<S>,
        at: usize,
        distances: &mut PageArray<S::T>,
    ) {
        let s = self.s;
        // SAFETY: passed on.
        let (mut y, felt) = unsafe { self.root::<SPLIT>(pair.r2, pair.estimate, at, distances) };
        let Pair { mut r, r2, .. } = pair;
        if CAREFUL {
            // SAFETY: passed on.
            let mut m = unsafe { s.load(self.j.masses, at) };
            let zero = s.splat(S::T::default());
            // Zero times an infinity would be NaN.
            for quantity in r.iter_mut().chain([&mut y, &mut m]) {
                *quantity = s.select(felt, *quantity, zero);
            }
            y = s.select(s.le(s.splat(S::T::MAX), r2), zero, y);
            let m_r = s.mul(m, y);
            self.sums.pot = s.add(self.sums.pot, m_r);
            // SAFETY: passed on.
            return unsafe { self.add_in_range(target, r, y, m_r, felt, at) };
        }
        // SAFETY: passed on.
        unsafe { self.sum(target, r, y, self.mass(at), at) };
    }

    /// The masses in the slots from `at` on, unless all are 1.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn mass(&self, at: usize) -> Option<S::V> {
        match EQUAL {
            true => None,
            // SAFETY: passed on.
            false => Some(unsafe { self.s.load(self.j.masses, at) }),
        }
    }

    /// Adds potentials, accelerations and jerks, with y = 1 / s.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn sum<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        r: [S::V; 3],
        y: S::V,
        m: Option<S::V>,
        at: usize,
    ) {
        let s = self.s;
        let factors = self.sums.add(s, r, y, m);
        let mut v = target.v;
        for (v, of_j) in v.iter_mut().zip(&self.j.tile.v) {
            // SAFETY: passed on.
            *v = s.sub(unsafe { s.load(of_j, at) }, *v);
        }
        let rv = product(s, &r, &v);
        self.sums
            .add_jerks(s, (r, v, rv), factors, target.minus_three);
    }

    /// Adds accelerations and jerks, as products whose factors all stay in range. (m / s^3 itself overflows for s below
    /// 1e-103.) With q = r / s, which is 1 at most, the terms are (q / s) m / s and (v - 3 (q.v) q) / s m / s / s.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn add_in_range<const SPLIT: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        r: [S::V; 3],
        y: S::V,
        m_r: S::V,
        felt: S::M,
        at: usize,
    ) {
        let s = self.s;
        let mut q = r;
        for (q, acc) in q.iter_mut().zip(&mut self.sums.acc) {
            *q = s.mul(*q, y);
            *acc = s.fma(s.mul(*q, y), m_r, *acc);
        }
        let mut v = target.v;
        for (v, of_j) in v.iter_mut().zip(&self.j.tile.v) {
            // SAFETY: passed on.
            let difference = s.sub(unsafe { s.load(of_j, at) }, *v);
            *v = s.select(felt, difference, s.splat(S::T::default()));
        }
        let qv = s.mul(product(s, &q, &v), target.minus_three);
        for k in 0..3 {
            let w = s.mul(s.mul(s.fma(qv, q[k], v[k]), y), m_r);
            self.sums.jerk[k] = s.fma(w, y, self.sums.jerk[k]);
        }
    }
}

/// Calls `found` for each slot of `range` whose r^2 in `distances`, as [`leaf`] left it, is at most `bound`; in
/// address order.
#[inline(always)]
pub fn slots_within<S: Simd>(
    s: S,
    distances: &PageArray<S::T>,
    bound: S::T,
    range: Range<usize>,
    mut found: impl FnMut(usize),
) {
    let bound = s.splat(bound);
    let mut at = range.start;
    while at < range.end {
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        let mut bits = s.le_bits(unsafe { s.load(distances, at) }, bound);
        while bits != 0 {
            found(at + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
        at += S::LANES;
    }
}

const _: () = assert!(
    PAGE.is_multiple_of(64),
    "the words of present bits hold whole vectors"
);
