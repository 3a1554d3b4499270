//! Pairs of one i-particle with a vector of j-particles: their distances.

use super::simd::{Real, Simd};
use super::target::ScaledParticle;
use super::tile::Tile;
use crate::sources::jmemory::Page;

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

    /// The pairs with the slots from `at` on.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    pub unsafe fn pair<const CAREFUL: bool>(&self, s: S, tile: &Tile<S::T>, at: usize) -> Pair<S> {
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
pub unsafe fn counting<S: Simd>(s: S, page: &Page, label: i32, at: usize, end: usize) -> S::M {
    let mut bits = page.present()[at / 64] >> (at % 64);
    if end - at < S::LANES {
        bits &= (1 << (end - at)) - 1;
    }
    // SAFETY: passed on.
    let other = unsafe { s.label_differs(page.index(), at, label) };
    s.and(other, s.mask(bits as u32))
}
