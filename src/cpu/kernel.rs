//! The pair loop: one body for every instruction set, precision and variant.
//!
//! No vector operation is called from a closure here: a closure is compiled without the
//! instruction set of the function around it, so each operation would become a call.

use std::ops::Range;

use super::reach::Reach;
use super::simd::{Real, Simd, Sums, Work, leading};
use super::tile::Tile;
use crate::force::scaling::Scaling;
use crate::sources::jmemory::{PAGE, Page, PageArray};
use crate::sources::particle::IParticle;

/// An i-particle in the numbers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct ScaledParticle<T> {
    /// Position: its leading digits, or rounded to `T`.
    pub x: [T; 3],
    /// What the leading digits left.
    pub x_low: [T; 3],
    v: [T; 3],
    /// Square of the softening length.
    pub eps2: T,
    /// Its label.
    pub label: i32,
    /// Whether it has a velocity.
    pub moves: bool,
    /// Which pairs `T` can resolve.
    pub reach: Reach,
}

impl<T: Real> ScaledParticle<T> {
    /// The i-particle in the given units. With `SPLIT` its position is split like those of a tile, so that
    /// coincident particles are at distance zero.
    #[inline(always)]
    pub fn new<const SPLIT: bool>(i: &IParticle, units: &Scaling) -> Self {
        let scaled = i.x.map(|x| x * units.length);
        let leading = if SPLIT {
            scaled.map(leading::<T>)
        } else {
            scaled
        };
        let x = leading.map(T::from_f64);
        let v = i.v.map(|v| v * units.velocity);
        let eps2 = i.eps2 * (units.length * units.length);
        Self {
            x,
            x_low: [0, 1, 2].map(|k| T::from_f64(scaled[k] - leading[k])),
            v: v.map(T::from_f64),
            eps2: T::from_f64(eps2),
            label: i.index,
            moves: i.v != [0.0; 3],
            reach: match T::IS_DOUBLE {
                true => Reach::DOUBLE,
                false => Reach::of(&scaled, &v, eps2, SPLIT),
            },
        }
    }
}

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

/// How many numbers the error of an estimate is measured with.
pub const SAMPLES: usize = 8 * PAGE;

/// The numbers from `first` on: from 1 to 4 in all, where the estimates begin to repeat.
pub fn samples<T: Real>(first: usize) -> [T; PAGE] {
    std::array::from_fn(|l| {
        let at = (first + l) as f64 + 0.5;
        T::from_f64(4.0_f64.powf(at / SAMPLES as f64))
    })
}

/// What approximate reciprocal roots of some numbers, times the exact roots, add up to.
pub fn products<T: Real>(x: &[T], reciprocal_roots: &[T]) -> f64 {
    let product = |(x, y): (&T, &T)| y.to_f64() * x.to_f64().sqrt();
    x.iter().zip(reciprocal_roots).map(product).sum()
}

/// The mean of [`Simd::refine`]'s result times the root; 1 if it were exact.
///
/// A Newton step from a 12-bit estimate is too small by half an ulp on average, an error that does not
/// cancel in sums over r^-3. Processors differ in their estimates, so the mean is measured.
pub struct MeanRoot<S>(pub S);

impl<S: Simd> Work for MeanRoot<S> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let s = self.0;
        let mut sum = 0.0;
        for first in (0..SAMPLES).step_by(PAGE) {
            let x = samples::<S::T>(first);
            let mut y = x;
            let mut at = 0;
            while at < PAGE {
                // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
                unsafe {
                    let x = s.load(&x, at);
                    s.store(&mut y, at, s.refine(x, s.estimate(x)));
                }
                at += S::LANES;
            }
            sum += products(&x, &y);
        }
        // Double precision has no such bias; the measured mean would only add its rounding error.
        const DIGITS: f64 = (1u64 << 40) as f64;
        (sum / SAMPLES as f64 * DIGITS).round() / DIGITS
    }
}

/// The pairs of a leaf between the two halves of the loop, where the registers do not suffice for both.
pub struct Halfway<T> {
    /// x_j - x_i
    r: [PageArray<T>; 3],
    /// 1 / s
    y: PageArray<T>,
}

impl<T: Real> Default for Halfway<T> {
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
    /// Whether any velocity is not zero.
    pub jerk: bool,
    /// Whether some slots are to be left out.
    pub mask: bool,
    /// Whether the smallest distance is wanted.
    pub nearest: bool,
}

/// The sums over the slots of `range`, which lie in one leaf, in the tile's units; and the smallest softened
/// r^2 if it is wanted. In that case `distances` receives the softened r^2 of every slot, and the greatest
/// number for slots that are left out. `halfway` is room that instruction sets with few registers use; the bits are the
/// same without it.
///
/// `range` is not empty and begins at a multiple of the lanes; without a mask it ends at one, too. A pair at no
/// distance without softening makes the sums infinite or NaN: whether the particles coincide is decided in
/// double precision.
#[inline(always)]
pub fn leaf<S: Simd, const SPLIT: bool>(
    s: S,
    variant: Variant,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    distances: &mut PageArray<S::T>,
    halfway: Option<&mut Halfway<S::T>>,
) -> (Sums, S::T) {
    macro_rules! variants {
        ($($jerk:literal $mask:literal $nearest:literal),+) => {
            match (variant.jerk, variant.mask, variant.nearest) {
                $( ($jerk, $mask, $nearest) =>
                    pairs::<S, SPLIT, $jerk, $mask, $nearest, false>(s, j, i, range, distances, halfway), )+
            }
        };
    }
    variants!(
        true false false, true false true, true true false, true true true,
        false false false, false false true, false true false, false true true
    )
}

/// As [`leaf`], with all terms, for any numbers. Particles at no distance without softening exert no force; nor
/// do those so far away that r^2 overflows.
#[inline(always)]
pub fn careful_leaf<S: Simd>(
    s: S,
    nearest: bool,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    distances: &mut PageArray<S::T>,
) -> (Sums, S::T) {
    if nearest {
        pairs::<S, false, true, true, true, true>(s, j, i, range, distances, None)
    } else {
        pairs::<S, false, true, true, false, true>(s, j, i, range, distances, None)
    }
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
    let far = s.splat(S::T::MAX);
    let mut least = far;
    for at in range.clone().step_by(S::LANES) {
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        let (r2, counts, mass) = unsafe {
            (
                target.pair::<false>(s, j.tile, at).r2,
                counting(s, j.page, i.label, at, range.end),
                s.load(j.masses, at),
            )
        };
        least = s.min(s.select(s.and(counts, s.nonzero(mass)), r2, far), least);
    }
    s.least(least)
}

#[inline(always)]
fn pairs<
    S: Simd,
    const SPLIT: bool,
    const JERK: bool,
    const MASK: bool,
    const NEAREST: bool,
    const CAREFUL: bool,
>(
    s: S,
    j: JPage<'_, S>,
    i: &ScaledParticle<S::T>,
    range: Range<usize>,
    distances: &mut PageArray<S::T>,
    halfway: Option<&mut Halfway<S::T>>,
) -> (Sums, S::T) {
    let target = Broadcast::<S, SPLIT>::new(s, i, j.minus_three);
    let mut pass = Pass::<S, JERK, MASK, NEAREST, CAREFUL> {
        s,
        j,
        label: i.label,
        end: range.end,
        acc: [s.splat(S::T::default()); 3],
        pot: s.splat(S::T::default()),
        jerk: [s.splat(S::T::default()); 3],
        least: s.splat(S::T::MAX),
    };
    assert!(!range.is_empty() && range.end <= PAGE);
    let mut at = range.start;
    if S::MANY_REGISTERS || !(JERK || NEAREST) {
        // The roots of the next vector are computed while this one's terms are summed.
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        let mut pair = unsafe { target.pair::<CAREFUL>(s, j.tile, at) };
        while at + S::LANES < range.end {
            // SAFETY: as above.
            let next = unsafe { target.pair::<CAREFUL>(s, j.tile, at + S::LANES) };
            // SAFETY: as above.
            unsafe { pass.add(&target, pair, at, distances) };
            pair = next;
            at += S::LANES;
        }
        // SAFETY: as above.
        unsafe { pass.add(&target, pair, at, distances) };
    } else if let (false, Some(halfway)) = (CAREFUL, halfway) {
        // All distances and roots first, then all terms: neither half's registers are needed for the other's, and the
        // processor has many vectors in hand at a time.
        let from = reread(&target);
        while at < range.end {
            // SAFETY: as above.
            unsafe {
                let pair = from.pair::<CAREFUL>(s, j.tile, at);
                let (y, _) = pass.root(&pair, at, distances);
                for (place, r) in halfway.r.iter_mut().zip(pair.r) {
                    s.store(place, at, r);
                }
                s.store(&mut halfway.y, at, y);
            }
            at += S::LANES;
        }
        let (from, halfway) = (reread(&target), reread(halfway));
        at = range.start;
        while at < range.end {
            // SAFETY: as above.
            unsafe {
                let [x, y, z] = &halfway.r;
                let r = [s.load(x, at), s.load(y, at), s.load(z, at)];
                let m = s.load(pass.j.masses, at);
                pass.sum(from, r, s.load(&halfway.y, at), m, at);
            }
            at += S::LANES;
        }
    } else {
        // The sums and one vector's terms take all registers, so the i-particle is read from memory.
        while at < range.end {
            let target = reread(&target);
            // SAFETY: as above.
            let pair = unsafe { target.pair::<CAREFUL>(s, j.tile, at) };
            // SAFETY: as above.
            unsafe { pass.add(target, pair, at, distances) };
            at += S::LANES;
        }
    }
    let [x, y, z] = pass.acc;
    let [jx, jy, jz] = pass.jerk;
    let sums = s.sums([x, y, z, pass.pot, jx, jy, jz]);
    let least = if NEAREST {
        s.least(pass.least)
    } else {
        S::T::MAX
    };
    (sums, least)
}

/// One i-particle and its sums over a leaf.
struct Pass<
    'a,
    S: Simd,
    const JERK: bool,
    const MASK: bool,
    const NEAREST: bool,
    const CAREFUL: bool,
> {
    s: S,
    j: JPage<'a, S>,
    label: i32,
    end: usize,
    acc: [S::V; 3],
    pot: S::V,
    jerk: [S::V; 3],
    least: S::V,
}

impl<S: Simd, const JERK: bool, const MASK: bool, const NEAREST: bool, const CAREFUL: bool>
    Pass<'_, S, JERK, MASK, NEAREST, CAREFUL>
{
    /// 1 / s of the pairs of the slots from `at` on, zero where slots are left out, and which pairs are at a distance.
    /// Notes their distances.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn root(
        &mut self,
        &Pair { r2, estimate, .. }: &Pair<S>,
        at: usize,
        distances: &mut PageArray<S::T>,
    ) -> (S::V, S::M) {
        let s = self.s;
        let mut near = r2;
        let mut y = match CAREFUL {
            true => s.refine_any(r2, estimate),
            false => s.refine(r2, estimate),
        };
        let mut felt = s.mask(0);
        if MASK {
            // SAFETY: passed on.
            let counts = unsafe { counting(s, self.j.page, self.label, at, self.end) };
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
        let (mut y, felt) = unsafe { self.root(&pair, at, distances) };
        let Pair { mut r, r2, .. } = pair;
        // SAFETY: passed on.
        let mut m = unsafe { s.load(self.j.masses, at) };
        if CAREFUL {
            let zero = s.splat(S::T::default());
            // Zero times an infinity would be NaN.
            for quantity in r.iter_mut().chain([&mut y, &mut m]) {
                *quantity = s.select(felt, *quantity, zero);
            }
            y = s.select(s.le(s.splat(S::T::MAX), r2), zero, y);
            let m_r = s.mul(m, y);
            self.pot = s.add(self.pot, m_r);
            // SAFETY: passed on.
            return unsafe { self.add_in_range(target, r, y, m_r, felt, at) };
        }
        // SAFETY: passed on.
        unsafe { self.sum(target, r, y, m, at) };
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
        m: S::V,
        at: usize,
    ) {
        let s = self.s;
        let m_r = s.mul(m, y);
        self.pot = s.add(self.pot, m_r);
        let y2 = s.mul(y, y);
        let m_r3 = s.mul(m_r, y2);
        for (r, acc) in r.iter().zip(&mut self.acc) {
            *acc = s.fma(m_r3, *r, *acc);
        }
        if JERK {
            let mut v = target.v;
            for (v, of_j) in v.iter_mut().zip(&self.j.tile.v) {
                // SAFETY: passed on.
                *v = s.sub(unsafe { s.load(of_j, at) }, *v);
            }
            let rv = s.fma(r[2], v[2], s.fma(r[1], v[1], s.mul(r[0], v[0])));
            // -3 (r.v) / r^2 is formed first: m / r^5 could overflow.
            let rv = s.mul(s.mul(rv, target.minus_three), y2);
            for k in 0..3 {
                self.jerk[k] = s.fma(m_r3, s.fma(rv, r[k], v[k]), self.jerk[k]);
            }
        }
    }

    /// Adds accelerations and jerks of which every factor is in range: with q = r / s, which is 1 at most, they are
    /// (q / s) m / s and (v - 3 (q.v) q) / s m / s / s. m / s^3 itself overflows for s below 1e-103.
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
        for (q, acc) in q.iter_mut().zip(&mut self.acc) {
            *q = s.mul(*q, y);
            *acc = s.fma(s.mul(*q, y), m_r, *acc);
        }
        if JERK {
            let mut v = target.v;
            for (v, of_j) in v.iter_mut().zip(&self.j.tile.v) {
                // SAFETY: passed on.
                let difference = s.sub(unsafe { s.load(of_j, at) }, *v);
                *v = s.select(felt, difference, s.splat(S::T::default()));
            }
            let qv = s.fma(q[2], v[2], s.fma(q[1], v[1], s.mul(q[0], v[0])));
            let qv = s.mul(qv, target.minus_three);
            for k in 0..3 {
                let w = s.mul(s.mul(s.fma(qv, q[k], v[k]), y), m_r);
                self.jerk[k] = s.fma(w, y, self.jerk[k]);
            }
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

/// Launders a reference, so that the compiler reads the memory again instead of keeping values in registers.
#[inline(always)]
pub fn reread<T>(place: &T) -> &T {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut address: *const T = place;
        // SAFETY: the assembly is empty; the address stays that of `place`.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) address, options(readonly, nostack, preserves_flags));
            &*address
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    place
}

/// Three numbers, each in every lane.
#[inline(always)]
pub fn splat3<S: Simd>(s: S, x: &[S::T; 3]) -> [S::V; 3] {
    [s.splat(x[0]), s.splat(x[1]), s.splat(x[2])]
}

/// An i-particle, copied to every lane.
struct Broadcast<S: Simd, const SPLIT: bool> {
    x: [S::V; 3],
    x_low: [S::V; 3],
    v: [S::V; 3],
    eps2: S::V,
    minus_three: S::V,
}

/// One vector of pairs.
#[derive(Clone, Copy)]
struct Pair<S: Simd> {
    /// x_j - x_i
    r: [S::V; 3],
    /// r^2 + eps^2
    r2: S::V,
    /// [`Simd::estimate`] of its reciprocal root.
    estimate: S::V,
}

impl<S: Simd, const SPLIT: bool> Broadcast<S, SPLIT> {
    #[inline(always)]
    fn new(s: S, i: &ScaledParticle<S::T>, minus_three: S::T) -> Self {
        Self {
            x: splat3(s, &i.x),
            x_low: splat3(s, &i.x_low),
            v: splat3(s, &i.v),
            eps2: s.splat(i.eps2),
            minus_three: s.splat(minus_three),
        }
    }

    /// The pairs with the slots from `at` on.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn pair<const CAREFUL: bool>(&self, s: S, tile: &Tile<S::T>, at: usize) -> Pair<S> {
        let mut r = self.x;
        for (k, r) in r.iter_mut().enumerate() {
            // SAFETY: passed on.
            *r = s.sub(unsafe { s.load(&tile.x[k], at) }, self.x[k]);
            if SPLIT {
                // SAFETY: passed on.
                let low = s.sub(unsafe { s.load(&tile.x_low[k], at) }, self.x_low[k]);
                *r = s.add(*r, low);
            }
        }
        let mut eps2 = self.eps2;
        if CAREFUL {
            // SAFETY: passed on.
            eps2 = s.add(eps2, unsafe { s.load(&tile.eps2, at) });
        }
        let r2 = s.fma(r[0], r[0], eps2);
        let r2 = s.fma(r[1], r[1], r2);
        let mut r2 = s.fma(r[2], r[2], r2);
        if CAREFUL {
            // The Newton step would turn infinity into NaN.
            r2 = s.min(s.splat(S::T::MAX), r2);
        }
        let estimate = s.estimate(r2);
        Pair { r, r2, estimate }
    }
}

/// The lanes whose slot holds a particle with another label and lies below slot `end`.
///
/// # Safety
///
/// `at + LANES <= PAGE`.
#[inline(always)]
unsafe fn counting<S: Simd>(s: S, page: &Page, label: i32, at: usize, end: usize) -> S::M {
    let mut bits = page.present()[at / 64] >> (at % 64);
    if end - at < S::LANES {
        bits &= (1 << (end - at)) - 1;
    }
    // SAFETY: passed on.
    let other = unsafe { s.label_differs(page.index(), at, label) };
    s.and(other, s.mask(bits as u32))
}

const _: () = assert!(
    PAGE.is_multiple_of(64),
    "the words of present bits hold whole vectors"
);
