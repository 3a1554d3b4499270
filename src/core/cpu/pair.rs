//! Pairs of one i-particle with a vector of j-particles: their distances.

use super::simd::{Real, Simd, Sums};
use super::target::ScaledParticle;
use super::tile::Tile;
use crate::sources::jmemory::{PAGE, Page, PageArray};

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
#[derive(Clone, Copy)]
pub struct Broadcast<S: Simd, const SPLIT: bool> {
    x: [S::V; 3],
    x_low: [S::V; 3],
    /// Its velocity.
    pub v: [S::V; 3],
    eps2: S::V,
    /// [`JPage::minus_three`](super::kernel::JPage::minus_three)
    pub minus_three: S::V,
}

/// One vector of pairs.
#[derive(Clone, Copy)]
pub struct Pair<S: Simd> {
    /// x_j - x_i
    pub r: [S::V; 3],
    /// r^2 + eps^2
    pub r2: S::V,
    /// [`Simd::estimate`] of its reciprocal root.
    pub estimate: S::V,
}

impl<S: Simd, const SPLIT: bool> Broadcast<S, SPLIT> {
    /// The i-particle in all lanes.
    #[inline(always)]
    pub fn new(s: S, i: &ScaledParticle<S::T>, minus_three: S::T) -> Self {
        Self {
            x: splat3(s, &i.x),
            x_low: splat3(s, &i.x_low),
            v: splat3(s, &i.v),
            eps2: s.splat(i.eps2),
            minus_three: s.splat(minus_three),
        }
    }

    /// The pairs with the slots from `at` on. With `SOFT` the softening lengths of the j-particles count, too; with
    /// `CAREFUL` r^2 may overflow.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    pub unsafe fn pair<const SOFT: bool, const CAREFUL: bool>(
        &self,
        s: S,
        tile: &Tile<S::T>,
        at: usize,
    ) -> Pair<S> {
        // SAFETY: passed on.
        let r = unsafe {
            separation::<S, SPLIT>(s, [&self.x, &self.x_low], [&tile.x, &tile.x_low], at)
        };
        let mut eps2 = self.eps2;
        if SOFT {
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

impl<S: Simd, const SPLIT: bool> Broadcast<S, SPLIT> {
    /// Returns the r^2 + eps^2 of `N` vectors of pairs from `at` on, with the bits of [`Self::pair`]. Their separations
    /// are stored in the same slots of `to`. Each step is done for all vectors before the next step, so that
    /// neighbouring instructions are independent: a processor looks only a few instructions ahead.
    ///
    /// # Safety
    ///
    /// `at + N * LANES <= PAGE`.
    #[inline(always)]
    pub unsafe fn distances<const N: usize>(
        &self,
        s: S,
        tile: &Tile<S::T>,
        at: usize,
        to: &mut [PageArray<S::T>; 3],
    ) -> [S::V; N] {
        let mut r2 = [self.eps2; N];
        for (k, to) in to.iter_mut().enumerate() {
            let (i, j) = ([self.x[k], self.x_low[k]], [&tile.x[k], &tile.x_low[k]]);
            for (n, r2) in r2.iter_mut().enumerate() {
                let at = at + n * S::LANES;
                // SAFETY: passed on.
                unsafe {
                    let r = component::<S, SPLIT>(s, i, j, at);
                    s.store(to, at, r);
                    *r2 = s.fma(r, r, *r2);
                }
            }
        }
        r2
    }
}

/// Separations x_j - x_i for the j-particles in the slots from `at` on. With `SPLIT` a position has a leading and a
/// low part: both are subtracted, and the two differences are added.
///
/// # Safety
///
/// `at + LANES <= PAGE`.
#[inline(always)]
pub unsafe fn separation<S: Simd, const SPLIT: bool>(
    s: S,
    [x_i, low_i]: [&[S::V; 3]; 2],
    [x_j, low_j]: [&[PageArray<S::T>; 3]; 2],
    at: usize,
) -> [S::V; 3] {
    let mut r = *x_i;
    for (k, r) in r.iter_mut().enumerate() {
        // SAFETY: passed on.
        *r = unsafe { component::<S, SPLIT>(s, [x_i[k], low_i[k]], [&x_j[k], &low_j[k]], at) };
    }
    r
}

/// One component of [`separation`].
///
/// # Safety
///
/// `at + LANES <= PAGE`.
#[inline(always)]
unsafe fn component<S: Simd, const SPLIT: bool>(
    s: S,
    [x_i, low_i]: [S::V; 2],
    [x_j, low_j]: [&PageArray<S::T>; 2],
    at: usize,
) -> S::V {
    // SAFETY: passed on.
    let r = s.sub(unsafe { s.load(x_j, at) }, x_i);
    match SPLIT {
        // SAFETY: passed on.
        true => s.add(r, s.sub(unsafe { s.load(low_j, at) }, low_i)),
        false => r,
    }
}

/// The sums over the pairs of one i-particle. Each lane has the sum over its own slots, so the lanes are still to be added.
#[derive(Clone, Copy)]
pub struct LaneSums<S: Simd> {
    /// Acceleration
    pub acc: [S::V; 3],
    /// Positive potential
    pub pot: S::V,
    /// Jerk
    pub jerk: [S::V; 3],
}

impl<S: Simd> LaneSums<S> {
    /// No pairs.
    #[inline(always)]
    pub fn none(s: S) -> Self {
        let zero = s.splat(S::T::default());
        Self {
            acc: [zero; 3],
            pot: zero,
            jerk: [zero; 3],
        }
    }

    /// Adds the accelerations and potentials of pairs from their separations `r`, from y = 1 / s and from the
    /// masses `m`, which are 1 if it is `None`. Returns m / s^3 and 1 / s^2 for [`Self::add_jerks`].
    #[inline(always)]
    pub fn add(&mut self, s: S, r: [S::V; 3], y: S::V, m: Option<S::V>) -> (S::V, S::V) {
        let m_r = s.times(m, y);
        self.pot = s.add(self.pot, m_r);
        let y2 = s.mul(y, y);
        let m_r3 = s.mul(m_r, y2);
        for (r, acc) in r.iter().zip(&mut self.acc) {
            *acc = s.fma(m_r3, *r, *acc);
        }
        (m_r3, y2)
    }

    /// Adds jerks of pairs. `v` are the relative velocities, `rv` is (r.v), and the second tuple is what [`Self::add`]
    /// returned. `minus_three` is [`JPage::minus_three`](super::kernel::JPage::minus_three) in every lane.
    #[inline(always)]
    pub fn add_jerks(
        &mut self,
        s: S,
        (r, v, rv): ([S::V; 3], [S::V; 3], S::V),
        (m_r3, y2): (S::V, S::V),
        minus_three: S::V,
    ) {
        // -3 (r.v) / r^2 is formed first: m / r^5 could overflow.
        let rv = s.mul(s.mul(rv, minus_three), y2);
        for k in 0..3 {
            self.jerk[k] = s.fma(m_r3, s.fma(rv, r[k], v[k]), self.jerk[k]);
        }
    }

    /// Adds the sums over a later run of the same leaf.
    #[inline(always)]
    pub fn join(&mut self, s: S, later: &Self) {
        self.pot = s.add(self.pot, later.pot);
        for k in 0..3 {
            self.acc[k] = s.add(self.acc[k], later.acc[k]);
            self.jerk[k] = s.add(self.jerk[k], later.jerk[k]);
        }
    }

    /// The sums over all lanes.
    #[inline(always)]
    pub fn over_lanes(&self, s: S) -> Sums {
        let ([x, y, z], [jx, jy, jz]) = (&self.acc, &self.jerk);
        s.sums([x, y, z, &self.pot, jx, jy, jz])
    }
}

/// What a pass over a leaf found, before the lanes are joined.
#[derive(Clone, Copy)]
pub struct LeafLanes<S: Simd> {
    /// The sums.
    pub sums: LaneSums<S>,
    /// The smallest softened r^2, if that was wanted.
    pub least: S::V,
}

impl<S: Simd> LeafLanes<S> {
    /// The sums over all lanes, and the smallest softened r^2 if it was wanted.
    #[inline(always)]
    pub fn over_lanes(&self, s: S, nearest: bool) -> (Sums, S::T) {
        let least = match nearest {
            true => s.least(self.least),
            false => S::T::MAX,
        };
        (self.sums.over_lanes(s), least)
    }
}

/// The scalar product of two vectors in each lane.
#[inline(always)]
pub fn product<S: Simd>(s: S, a: &[S::V; 3], b: &[S::V; 3]) -> S::V {
    s.fma(a[2], b[2], s.fma(a[1], b[1], s.mul(a[0], b[0])))
}

/// The slots of a page that hold a particle, and the labels. Both are looked up once for a leaf and not for each
/// vector, because a page stores its labels in one of two forms.
#[derive(Clone, Copy)]
pub struct Slots<'a> {
    present: &'a [u64; PAGE / 64],
    labels: &'a [i32; PAGE],
}

impl<'a> Slots<'a> {
    #[inline(always)]
    pub fn of(page: &'a Page) -> Self {
        Self {
            present: page.present(),
            labels: page.index(),
        }
    }

    /// The lanes whose slot holds a particle with another label and lies below slot `end`.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    pub unsafe fn counting<S: Simd>(&self, s: S, label: i32, at: usize, end: usize) -> S::M {
        let mut bits = self.present[at / 64] >> (at % 64);
        if end - at < S::LANES {
            bits &= (1 << (end - at)) - 1;
        }
        // SAFETY: passed on.
        let other = unsafe { s.label_differs(self.labels, at, label) };
        s.and(other, s.mask(bits as u32))
    }
}
