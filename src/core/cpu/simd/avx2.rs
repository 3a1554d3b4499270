//! AVX2 with fused multiply-add.

use std::arch::x86_64::*;

use super::{Real, Rows, Simd, Sums, Work};
use crate::sources::jmemory::PAGE;

/// Proof that the processor has AVX2 and FMA; vectors of `T`.
#[derive(Clone, Copy, Debug)]
pub struct Avx2<T>(std::marker::PhantomData<T>);

impl<T> Avx2<T> {
    /// The token, where the processor has the instructions.
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(std::marker::PhantomData))
    }
}

#[target_feature(enable = "avx2,fma,bmi1,popcnt")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

/// Calls intrinsics under the protection of a token.
macro_rules! simd {
    ($($call:expr)?) => {
        // SAFETY: the token `self` exists only where AVX2 and FMA were detected; pointers are the caller's affair.
        unsafe { $($call)? }
    };
}

impl Simd for Avx2<f32> {
    type T = f32;
    type V = __m256;
    type M = __m256;
    type Double = Avx2<f64>;

    const LANES: usize = 8;
    const MANY_REGISTERS: bool = false;
    const PARTS: usize = 2;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        simd!(with_avx2(work))
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m256 {
        simd!(_mm256_set1_ps(x))
    }
    #[inline(always)]
    unsafe fn load(self, from: &[f32; PAGE], at: usize) -> __m256 {
        debug_assert!(at + 8 <= PAGE);
        simd!(_mm256_loadu_ps(from.as_ptr().add(at)))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [f32; PAGE], at: usize, a: __m256) {
        debug_assert!(at + 8 <= PAGE);
        simd!(_mm256_storeu_ps(to.as_mut_ptr().add(at), a));
    }
    #[inline(always)]
    fn double(self) -> Avx2<f64> {
        Avx2(std::marker::PhantomData)
    }
    #[inline(always)]
    fn narrow(self, [low, high]: [__m256d; 2]) -> __m256 {
        simd!(_mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)))
    }
    #[inline(always)]
    fn leading(self, a: __m256d) -> __m256d {
        simd!({
            let bits = _mm256_set1_epi64x(f32::LEADING.cast_signed());
            _mm256_and_pd(a, _mm256_castsi256_pd(bits))
        })
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_mul_ps(a, b))
    }
    #[inline(always)]
    fn fma(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        simd!(_mm256_fmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn fnma(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        simd!(_mm256_fnmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn min(self, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_min_ps(a, b))
    }
    #[inline(always)]
    fn greater_magnitude(self, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_max_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0), a), b))
    }
    #[inline(always)]
    fn estimate(self, x: __m256) -> __m256 {
        simd!(_mm256_rsqrt_ps(x))
    }
    #[inline(always)]
    fn refine<const FINE: bool>(self, x: __m256, y: __m256) -> __m256 {
        // From 12 bits. Twice the root takes one operation less, and is rounded once more.
        match FINE {
            true => self.newton(x, y),
            false => self.mul(y, self.fnma(x, self.mul(y, y), self.splat(3.0))),
        }
    }
    #[inline(always)]
    fn refine_less(self, _: __m256, y: __m256) -> __m256 {
        y
    }
    #[inline(always)]
    fn attraction<const FINE: bool>(self, m: Option<__m256>, r2: __m256, y: __m256) -> __m256 {
        if !FINE {
            // An error of at most 1.0e-6, 1.3e-7 in the mean.
            return self.attraction_in_one(m, r2, y);
        }
        // Twice the root, whose error is at most 2e-7: eight times m / r^3.
        let y = self.mul(y, self.fnma(r2, self.mul(y, y), self.splat(3.0)));
        self.mul(self.times(m, y), self.mul(y, y))
    }
    #[inline(always)]
    fn nonzero(self, a: __m256) -> __m256 {
        simd!(_mm256_cmp_ps::<_CMP_NEQ_UQ>(a, _mm256_setzero_ps()))
    }
    #[inline(always)]
    fn mask(self, bits: u32) -> __m256 {
        simd!({
            let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(bits.cast_signed()), lane);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lane))
        })
    }
    #[inline(always)]
    unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> __m256 {
        debug_assert!(at + 8 <= PAGE);
        simd!({
            let labels = _mm256_loadu_si256(labels.as_ptr().add(at).cast());
            let same = _mm256_cmpeq_epi32(labels, _mm256_set1_epi32(label));
            _mm256_castsi256_ps(_mm256_xor_si256(same, _mm256_set1_epi32(-1)))
        })
    }
    #[inline(always)]
    fn and(self, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_and_ps(a, b))
    }
    #[inline(always)]
    fn select(self, m: __m256, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_blendv_ps(b, a, m))
    }
    #[inline(always)]
    fn le(self, a: __m256, b: __m256) -> __m256 {
        simd!(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b))
    }
    #[inline(always)]
    fn bits(self, m: __m256) -> u32 {
        simd!(_mm256_movemask_ps(m)).cast_unsigned()
    }
    #[inline(always)]
    fn least(self, a: __m256) -> f32 {
        simd!({
            let a = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let a = _mm_min_ps(a, _mm_movehl_ps(a, a));
            _mm_cvtss_f32(_mm_min_ss(a, _mm_movehdup_ps(a)))
        })
    }
    #[inline(always)]
    fn greatest(self, a: __m256) -> f32 {
        simd!({
            let a = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let a = _mm_max_ps(a, _mm_movehl_ps(a, a));
            _mm_cvtss_f32(_mm_max_ss(a, _mm_movehdup_ps(a)))
        })
    }
    #[inline(always)]
    fn sums(self, a: [&__m256; 7]) -> Sums {
        let zero = simd!(_mm256_setzero_pd());
        store(
            transposed_sum([folded(a[0]), folded(a[1]), folded(a[2]), folded(a[3])]),
            transposed_sum([folded(a[4]), folded(a[5]), folded(a[6]), zero]),
        )
    }
    #[inline(always)]
    fn sums_of_four(self, a: [&__m256; 4]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        let four = [folded(a[0]), folded(a[1]), folded(a[2]), folded(a[3])];
        // SAFETY: the array has four elements.
        simd!(_mm256_storeu_pd(sums.as_mut_ptr(), transposed_sum(four)));
        sums
    }
    #[inline(always)]
    fn are_finite(self, sums: &Sums) -> bool {
        are_finite(sums)
    }
}

/// [`Simd::are_finite`]
#[inline(always)]
fn are_finite(sums: &Sums) -> bool {
    // SAFETY: only called under a token; there are eight sums.
    unsafe {
        let (zero, sums) = (_mm256_setzero_pd(), sums.as_ptr());
        // Zero for each pair of finite numbers, NaN for all others.
        let low = _mm256_mul_pd(zero, _mm256_loadu_pd(sums));
        let zeros = _mm256_add_pd(low, _mm256_mul_pd(zero, _mm256_loadu_pd(sums.add(4))));
        _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(zeros, zero)) == 0b1111
    }
}

/// Lane l plus lane l + 4, in double precision.
#[inline(always)]
fn folded(v: &__m256) -> __m256d {
    let lanes: *const f32 = std::ptr::from_ref(v).cast();
    // SAFETY: only called under a token; a vector has eight lanes.
    unsafe {
        _mm256_add_pd(
            _mm256_cvtps_pd(_mm_loadu_ps(lanes)),
            _mm256_cvtps_pd(_mm_loadu_ps(lanes.add(4))),
        )
    }
}

/// The sums over the lanes of four vectors: neighbours first, then the pairs.
#[inline(always)]
fn transposed_sum(a: [__m256d; 4]) -> __m256d {
    // SAFETY: only called under a token.
    unsafe {
        // [a0+a1, b0+b1, a2+a3, b2+b3] and the same of c and d
        let ab = _mm256_hadd_pd(a[0], a[1]);
        let cd = _mm256_hadd_pd(a[2], a[3]);
        let low = _mm256_permute2f128_pd::<0x20>(ab, cd);
        let high = _mm256_permute2f128_pd::<0x31>(ab, cd);
        _mm256_add_pd(low, high)
    }
}

#[inline(always)]
fn store(low: __m256d, high: __m256d) -> Sums {
    let mut sums = [0.0; 8];
    // SAFETY: only called under a token; the array has eight elements.
    unsafe {
        _mm256_storeu_pd(sums.as_mut_ptr(), low);
        _mm256_storeu_pd(sums.as_mut_ptr().add(4), high);
    }
    sums
}

impl Simd for Avx2<f64> {
    type T = f64;
    type V = __m256d;
    type M = __m256d;
    type Double = Self;

    const LANES: usize = 4;
    const MANY_REGISTERS: bool = false;
    const PARTS: usize = 1;
    const SERIES: bool = true;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        simd!(with_avx2(work))
    }
    #[inline(always)]
    fn splat(self, x: f64) -> __m256d {
        simd!(_mm256_set1_pd(x))
    }
    #[inline(always)]
    unsafe fn load(self, from: &[f64; PAGE], at: usize) -> __m256d {
        debug_assert!(at + 4 <= PAGE);
        simd!(_mm256_loadu_pd(from.as_ptr().add(at)))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [f64; PAGE], at: usize, a: __m256d) {
        debug_assert!(at + 4 <= PAGE);
        simd!(_mm256_storeu_pd(to.as_mut_ptr().add(at), a));
    }
    #[inline(always)]
    fn double(self) -> Self {
        self
    }
    #[inline(always)]
    fn narrow(self, [a, _]: [__m256d; 2]) -> __m256d {
        a
    }
    #[inline(always)]
    fn leading(self, a: __m256d) -> __m256d {
        a
    }
    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_add_pd(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_sub_pd(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_mul_pd(a, b))
    }
    #[inline(always)]
    fn fma(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        simd!(_mm256_fmadd_pd(a, b, c))
    }
    #[inline(always)]
    fn fnma(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        simd!(_mm256_fnmadd_pd(a, b, c))
    }
    #[inline(always)]
    fn min(self, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_min_pd(a, b))
    }
    #[inline(always)]
    fn greater_magnitude(self, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_max_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), a), b))
    }
    #[inline(always)]
    fn estimate(self, x: __m256d) -> __m256d {
        // Right for all numbers. The divider takes 13 cycles for root and division, beside other operations.
        simd!(_mm256_div_pd(_mm256_set1_pd(1.0), _mm256_sqrt_pd(x)))
    }
    #[inline(always)]
    fn refine<const FINE: bool>(self, _: __m256d, y: __m256d) -> __m256d {
        y
    }
    #[inline(always)]
    fn series(self, x: __m256d) -> __m256d {
        // From the exponent and a linear function of the digits: an error of 4 %.
        let y = simd!({
            let half = _mm256_srli_epi64::<1>(_mm256_castpd_si256(x));
            _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_set1_epi64x(SEED), half))
        });
        // y (1 - e)^(-1/2), twice: with the parabola of the least error, 2.5e-5, and with four terms of the series.
        let e = self.fnma(self.mul(x, y), y, self.splat(1.0));
        let sum = self.fma(e, self.splat(PARABOLA[1]), self.splat(PARABOLA[0]));
        let y = self.fma(self.mul(y, e), sum, y);
        let e = self.fnma(self.mul(x, y), y, self.splat(1.0));
        let sum = self.fma(e, self.splat(5.0 / 16.0), self.splat(3.0 / 8.0));
        let sum = self.fma(e, sum, self.splat(0.5));
        self.fma(self.mul(y, e), sum, y)
    }
    #[inline(always)]
    fn nonzero(self, a: __m256d) -> __m256d {
        simd!(_mm256_cmp_pd::<_CMP_NEQ_UQ>(a, _mm256_setzero_pd()))
    }
    #[inline(always)]
    fn mask(self, bits: u32) -> __m256d {
        simd!({
            let lane = _mm256_setr_epi64x(1, 2, 4, 8);
            let set = _mm256_and_si256(_mm256_set1_epi64x(bits.into()), lane);
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, lane))
        })
    }
    #[inline(always)]
    unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> __m256d {
        debug_assert!(at + 4 <= PAGE);
        simd!({
            let labels = _mm_loadu_si128(labels.as_ptr().add(at).cast());
            let same = _mm_cmpeq_epi32(labels, _mm_set1_epi32(label));
            let same = _mm256_cvtepi32_epi64(same);
            _mm256_castsi256_pd(_mm256_xor_si256(same, _mm256_set1_epi64x(-1)))
        })
    }
    #[inline(always)]
    fn and(self, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_and_pd(a, b))
    }
    #[inline(always)]
    fn select(self, m: __m256d, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_blendv_pd(b, a, m))
    }
    #[inline(always)]
    fn le(self, a: __m256d, b: __m256d) -> __m256d {
        simd!(_mm256_cmp_pd::<_CMP_LE_OQ>(a, b))
    }
    #[inline(always)]
    fn bits(self, m: __m256d) -> u32 {
        simd!(_mm256_movemask_pd(m)).cast_unsigned()
    }
    #[inline(always)]
    fn least(self, a: __m256d) -> f64 {
        simd!({
            let a = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)))
        })
    }
    #[inline(always)]
    fn greatest(self, a: __m256d) -> f64 {
        simd!({
            let a = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_max_sd(a, _mm_unpackhi_pd(a, a)))
        })
    }
    #[inline(always)]
    fn sums(self, a: [&__m256d; 7]) -> Sums {
        store(
            transposed_sum([*a[0], *a[1], *a[2], *a[3]]),
            transposed_sum([*a[4], *a[5], *a[6], simd!(_mm256_setzero_pd())]),
        )
    }
    #[inline(always)]
    fn are_finite(self, sums: &Sums) -> bool {
        are_finite(sums)
    }
}

/// What the bits of x, halved, are subtracted from for the bits of a number near x^(-1/2).
const SEED: i64 = 0x5fe6_ea50_c7b5_37a9;
/// 1 + e (a + b e) is nearest to (1 - e)^(-1/2) for the errors of the seed, e from -0.069 to 0.068.
const PARABOLA: [f64; 2] = [0.5010936007386758, 0.3757075875819526];

impl Rows for Avx2<f64> {
    #[inline(always)]
    fn columns(self, rows: &[[f64; 8]]) -> [__m256d; 8] {
        let rows: &[[f64; 8]; 4] = rows[..4].try_into().expect("four rows");
        let [c0, c1, c2, c3] = transposed(rows, 0);
        let [c4, c5, c6, c7] = transposed(rows, 4);
        [c0, c1, c2, c3, c4, c5, c6, c7]
    }
    #[inline(always)]
    fn cubics(self, c: &[[f64; 4]; 4], s: f64, to: &mut [f64; 8]) {
        simd!(cubics(c, s, to));
    }
    #[inline(always)]
    fn prefetch<T>(self, place: *const T) {
        simd!(_mm_prefetch::<_MM_HINT_T0>(place.cast()));
    }
}

/// [`Rows::cubics`]
///
/// # Safety
///
/// The processor has AVX2 and FMA.
#[inline(always)]
pub unsafe fn cubics(c: &[[f64; 4]; 4], s: f64, to: &mut [f64; 8]) {
    // SAFETY: passed on; there are four numbers in each row, and twice as many in the result.
    unsafe {
        let [c0, c1, c2, c3] = [
            _mm256_loadu_pd(c[0].as_ptr()),
            _mm256_loadu_pd(c[1].as_ptr()),
            _mm256_loadu_pd(c[2].as_ptr()),
            _mm256_loadu_pd(c[3].as_ptr()),
        ];
        let s = _mm256_set1_pd(s);
        let c3 = _mm256_mul_pd(s, c3);
        let value = _mm256_fmadd_pd(s, _mm256_add_pd(c2, c3), c1);
        let slope = _mm256_fmadd_pd(_mm256_set1_pd(1.5), c3, c2);
        let value = _mm256_blend_pd::<0b1000>(_mm256_fmadd_pd(s, value, c0), c0);
        _mm256_storeu_pd(to.as_mut_ptr(), value);
        let twice = _mm256_add_pd(s, s);
        _mm256_storeu_pd(to.as_mut_ptr().add(4), _mm256_fmadd_pd(twice, slope, c1));
    }
}

/// Four columns of four rows.
#[inline(always)]
fn transposed(rows: &[[f64; 8]; 4], first: usize) -> [__m256d; 4] {
    // SAFETY: only called under a token; four numbers from 0 or 4 on are in the row.
    unsafe {
        let a = _mm256_loadu_pd(rows[0].as_ptr().add(first));
        let b = _mm256_loadu_pd(rows[1].as_ptr().add(first));
        let c = _mm256_loadu_pd(rows[2].as_ptr().add(first));
        let d = _mm256_loadu_pd(rows[3].as_ptr().add(first));
        let [even, other_even] = [_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d)];
        let [odd, other_odd] = [_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d)];
        [
            _mm256_permute2f128_pd::<0x20>(even, other_even),
            _mm256_permute2f128_pd::<0x20>(odd, other_odd),
            _mm256_permute2f128_pd::<0x31>(even, other_even),
            _mm256_permute2f128_pd::<0x31>(odd, other_odd),
        ]
    }
}
