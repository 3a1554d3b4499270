//! Advanced SIMD of aarch64.

use std::arch::aarch64::*;

use super::{Real, Rows, Simd, Sums, Work, pairwise};
use crate::sources::jmemory::PAGE;

/// Proof that the processor has Advanced SIMD; vectors of `T`.
#[derive(Clone, Copy, Debug)]
pub struct Neon<T>(std::marker::PhantomData<T>);

impl<T> Neon<T> {
    /// The token, where the processor has the instructions: on every aarch64 in practice.
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(std::marker::PhantomData))
    }
}

#[target_feature(enable = "neon")]
fn with_neon<W: Work>(work: W) -> W::Output {
    work.run()
}

/// Calls intrinsics under the protection of a token.
macro_rules! simd {
    ($($call:expr)?) => {
        // SAFETY: the token `self` exists only where Advanced SIMD was detected; pointers are the caller's affair.
        unsafe { $($call)? }
    };
}

impl Simd for Neon<f32> {
    type T = f32;
    type V = float32x4_t;
    type M = uint32x4_t;
    type Double = Neon<f64>;

    const LANES: usize = 4;
    const MANY_REGISTERS: bool = true;
    const PARTS: usize = 2;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        simd!(with_neon(work))
    }
    #[inline(always)]
    fn splat(self, x: f32) -> float32x4_t {
        simd!(vdupq_n_f32(x))
    }
    #[inline(always)]
    unsafe fn load(self, from: &[f32; PAGE], at: usize) -> float32x4_t {
        debug_assert!(at + 4 <= PAGE);
        simd!(vld1q_f32(from.as_ptr().add(at)))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [f32; PAGE], at: usize, a: float32x4_t) {
        debug_assert!(at + 4 <= PAGE);
        simd!(vst1q_f32(to.as_mut_ptr().add(at), a));
    }
    #[inline(always)]
    fn double(self) -> Neon<f64> {
        Neon(std::marker::PhantomData)
    }
    #[inline(always)]
    fn narrow(self, [low, high]: [float64x2_t; 2]) -> float32x4_t {
        simd!(vcvt_high_f32_f64(vcvt_f32_f64(low), high))
    }
    #[inline(always)]
    fn leading(self, a: float64x2_t) -> float64x2_t {
        simd!({
            let bits = vdupq_n_u64(f32::LEADING);
            vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a), bits))
        })
    }
    #[inline(always)]
    fn add(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        simd!(vaddq_f32(a, b))
    }
    #[inline(always)]
    fn sub(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        simd!(vsubq_f32(a, b))
    }
    #[inline(always)]
    fn mul(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        simd!(vmulq_f32(a, b))
    }
    #[inline(always)]
    fn fma(self, a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        simd!(vfmaq_f32(c, a, b))
    }
    #[inline(always)]
    fn fnma(self, a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        simd!(vfmsq_f32(c, a, b))
    }
    #[inline(always)]
    fn min(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        // vminnmq, unlike vminq, returns the number if the other operand is NaN.
        simd!(vminnmq_f32(a, b))
    }
    #[inline(always)]
    fn greater_magnitude(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        let a = simd!(vabsq_f32(a));
        simd!(vbslq_f32(vcgtq_f32(a, b), a, b))
    }
    #[inline(always)]
    fn estimate(self, x: float32x4_t) -> float32x4_t {
        simd!(vrsqrteq_f32(x))
    }
    #[inline(always)]
    fn refine<const FINE: bool>(self, x: float32x4_t, mut y: float32x4_t) -> float32x4_t {
        // Two Newton steps from 8 bits. The step instruction needs no constant in a register, which makes two steps
        // cheaper than one of higher order.
        for _ in 0..2 {
            y = self.mul(y, simd!(vrsqrtsq_f32(self.mul(x, y), y)));
        }
        y
    }
    #[inline(always)]
    fn refine_less(self, x: float32x4_t, y: float32x4_t) -> float32x4_t {
        // One step of the two.
        self.mul(y, simd!(vrsqrtsq_f32(self.mul(x, y), y)))
    }
    #[inline(always)]
    fn nonzero(self, a: float32x4_t) -> uint32x4_t {
        simd!(vmvnq_u32(vceqzq_f32(a)))
    }
    #[inline(always)]
    fn mask(self, bits: u32) -> uint32x4_t {
        const LANE: [u32; 4] = [1, 2, 4, 8];
        simd!(vtstq_u32(vdupq_n_u32(bits), vld1q_u32(LANE.as_ptr())))
    }
    #[inline(always)]
    unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> uint32x4_t {
        debug_assert!(at + 4 <= PAGE);
        simd!({
            let labels = vld1q_s32(labels.as_ptr().add(at));
            vmvnq_u32(vceqq_s32(labels, vdupq_n_s32(label)))
        })
    }
    #[inline(always)]
    fn and(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        simd!(vandq_u32(a, b))
    }
    #[inline(always)]
    fn select(self, m: uint32x4_t, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        simd!(vbslq_f32(m, a, b))
    }
    #[inline(always)]
    fn le(self, a: float32x4_t, b: float32x4_t) -> uint32x4_t {
        simd!(vcleq_f32(a, b))
    }
    #[inline(always)]
    fn bits(self, m: uint32x4_t) -> u32 {
        const LANE: [u32; 4] = [1, 2, 4, 8];
        simd!(vaddvq_u32(vandq_u32(m, vld1q_u32(LANE.as_ptr()))))
    }
    #[inline(always)]
    fn least(self, a: float32x4_t) -> f32 {
        simd!(vminvq_f32(a))
    }
    #[inline(always)]
    fn greatest(self, a: float32x4_t) -> f32 {
        simd!(vmaxvq_f32(a))
    }
    #[inline(always)]
    fn sums(self, a: [&float32x4_t; 7]) -> Sums {
        let sum = |&v: &float32x4_t| {
            simd!({
                let folded = vaddq_f64(vcvt_f64_f32(vget_low_f32(v)), vcvt_high_f64_f32(v));
                vaddvq_f64(folded)
            })
        };
        let [a, b, c, d, e, f, g] = a.map(sum);
        [a, b, c, d, e, f, g, 0.0]
    }
}

impl Simd for Neon<f64> {
    type T = f64;
    type V = float64x2_t;
    type M = uint64x2_t;
    type Double = Self;

    const LANES: usize = 2;
    const MANY_REGISTERS: bool = true;
    const PARTS: usize = 1;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        simd!(with_neon(work))
    }
    #[inline(always)]
    fn splat(self, x: f64) -> float64x2_t {
        simd!(vdupq_n_f64(x))
    }
    #[inline(always)]
    unsafe fn load(self, from: &[f64; PAGE], at: usize) -> float64x2_t {
        debug_assert!(at + 2 <= PAGE);
        simd!(vld1q_f64(from.as_ptr().add(at)))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [f64; PAGE], at: usize, a: float64x2_t) {
        debug_assert!(at + 2 <= PAGE);
        simd!(vst1q_f64(to.as_mut_ptr().add(at), a));
    }
    #[inline(always)]
    fn double(self) -> Self {
        self
    }
    #[inline(always)]
    fn narrow(self, [a, _]: [float64x2_t; 2]) -> float64x2_t {
        a
    }
    #[inline(always)]
    fn leading(self, a: float64x2_t) -> float64x2_t {
        a
    }
    #[inline(always)]
    fn add(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        simd!(vaddq_f64(a, b))
    }
    #[inline(always)]
    fn sub(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        simd!(vsubq_f64(a, b))
    }
    #[inline(always)]
    fn mul(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        simd!(vmulq_f64(a, b))
    }
    #[inline(always)]
    fn fma(self, a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        simd!(vfmaq_f64(c, a, b))
    }
    #[inline(always)]
    fn fnma(self, a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        simd!(vfmsq_f64(c, a, b))
    }
    #[inline(always)]
    fn min(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        simd!(vminnmq_f64(a, b))
    }
    #[inline(always)]
    fn greater_magnitude(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        let a = simd!(vabsq_f64(a));
        simd!(vbslq_f64(vcgtq_f64(a, b), a, b))
    }
    #[inline(always)]
    fn estimate(self, x: float64x2_t) -> float64x2_t {
        // The divider works beside the multipliers: three Newton steps are no faster on most cores.
        simd!(vdivq_f64(vdupq_n_f64(1.0), vsqrtq_f64(x)))
    }
    #[inline(always)]
    fn refine<const FINE: bool>(self, _: float64x2_t, y: float64x2_t) -> float64x2_t {
        y
    }
    #[inline(always)]
    fn nonzero(self, a: float64x2_t) -> uint64x2_t {
        simd!(vceqzq_u64(vceqzq_f64(a)))
    }
    #[inline(always)]
    fn mask(self, bits: u32) -> uint64x2_t {
        const LANE: [u64; 2] = [1, 2];
        simd!(vtstq_u64(
            vdupq_n_u64(bits.into()),
            vld1q_u64(LANE.as_ptr())
        ))
    }
    #[inline(always)]
    unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> uint64x2_t {
        debug_assert!(at + 2 <= PAGE);
        simd!({
            let labels = vmovl_s32(vld1_s32(labels.as_ptr().add(at)));
            vceqzq_u64(vceqq_s64(labels, vdupq_n_s64(label.into())))
        })
    }
    #[inline(always)]
    fn and(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        simd!(vandq_u64(a, b))
    }
    #[inline(always)]
    fn select(self, m: uint64x2_t, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        simd!(vbslq_f64(m, a, b))
    }
    #[inline(always)]
    fn le(self, a: float64x2_t, b: float64x2_t) -> uint64x2_t {
        simd!(vcleq_f64(a, b))
    }
    #[inline(always)]
    fn bits(self, m: uint64x2_t) -> u32 {
        const LANE: [u64; 2] = [1, 2];
        simd!(vaddvq_u64(vandq_u64(m, vld1q_u64(LANE.as_ptr())))) as u32
    }
    #[inline(always)]
    fn least(self, a: float64x2_t) -> f64 {
        simd!(vminvq_f64(a))
    }
    #[inline(always)]
    fn greatest(self, a: float64x2_t) -> f64 {
        simd!(vmaxvq_f64(a))
    }
    #[inline(always)]
    fn sums(self, a: [&float64x2_t; 7]) -> Sums {
        let sum = |&v: &float64x2_t| {
            pairwise([simd!(vgetq_lane_f64::<0>(v)), simd!(vgetq_lane_f64::<1>(v))])
        };
        let [a, b, c, d, e, f, g] = a.map(sum);
        [a, b, c, d, e, f, g, 0.0]
    }
}

impl Rows for Neon<f64> {
    #[inline(always)]
    fn columns(self, rows: &[[f64; 8]]) -> [float64x2_t; 8] {
        let rows: &[[f64; 8]; 2] = rows[..2].try_into().expect("two rows");
        simd!({
            let of = |r: usize, c: usize| vld1q_f64(rows[r].as_ptr().add(c));
            let even = |c| vtrn1q_f64(of(0, c), of(1, c));
            let odd = |c| vtrn2q_f64(of(0, c), of(1, c));
            [
                even(0),
                odd(0),
                even(2),
                odd(2),
                even(4),
                odd(4),
                even(6),
                odd(6),
            ]
        })
    }
}
