//! AVX-512 with the subsets F, DQ and VL.

use std::arch::x86_64::*;

use super::{Real, Rows, Simd, Sums, Work};
use crate::sources::jmemory::PAGE;

/// Proof that the processor has AVX-512; vectors of `T`.
#[derive(Clone, Copy, Debug)]
pub struct Avx512<T>(std::marker::PhantomData<T>);

impl<T> Avx512<T> {
    /// The token, where the processor has the instructions.
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(std::marker::PhantomData))
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,bmi1,popcnt")]
fn with_avx512<W: Work>(work: W) -> W::Output {
    work.run()
}

/// Calls intrinsics under the protection of a token.
macro_rules! simd {
    ($($call:expr)?) => {
        // SAFETY: the token `self` exists only where AVX-512 was detected; pointers are the caller's affair.
        unsafe { $($call)? }
    };
}

impl Simd for Avx512<f32> {
    type T = f32;
    type V = __m512;
    type M = __mmask16;
    type Double = Avx512<f64>;

    const LANES: usize = 16;
    const MANY_REGISTERS: bool = true;
    const PARTS: usize = 2;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        simd!(with_avx512(work))
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        simd!(_mm512_set1_ps(x))
    }
    #[inline(always)]
    unsafe fn load(self, from: &[f32; PAGE], at: usize) -> __m512 {
        debug_assert!(at + 16 <= PAGE);
        simd!(_mm512_loadu_ps(from.as_ptr().add(at)))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [f32; PAGE], at: usize, a: __m512) {
        debug_assert!(at + 16 <= PAGE);
        simd!(_mm512_storeu_ps(to.as_mut_ptr().add(at), a));
    }
    #[inline(always)]
    fn double(self) -> Avx512<f64> {
        Avx512(std::marker::PhantomData)
    }
    #[inline(always)]
    fn narrow(self, [low, high]: [__m512d; 2]) -> __m512 {
        simd!({
            let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(low));
            _mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(high))
        })
    }
    #[inline(always)]
    fn leading(self, a: __m512d) -> __m512d {
        simd!({
            let bits = _mm512_set1_epi64(f32::LEADING.cast_signed());
            _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(a), bits))
        })
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        simd!(_mm512_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        simd!(_mm512_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        simd!(_mm512_mul_ps(a, b))
    }
    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        simd!(_mm512_fmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn fnma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        simd!(_mm512_fnmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        simd!(_mm512_min_ps(a, b))
    }
    #[inline(always)]
    fn greater_magnitude(self, a: __m512, b: __m512) -> __m512 {
        // The larger magnitude of both; if one is NaN, the other.
        simd!(_mm512_range_ps::<0b1011>(a, b))
    }
    #[inline(always)]
    fn estimate(self, x: __m512) -> __m512 {
        simd!(_mm512_rsqrt14_ps(x))
    }
    #[inline(always)]
    fn order(self, first: &mut __m512, second: &mut __m512) {
        simd!(order(first, second));
    }
    #[inline(always)]
    fn refine<const FINE: bool>(self, x: __m512, y: __m512) -> __m512 {
        // From 14 bits. Twice the root takes one operation less, and is rounded once more.
        if !FINE {
            return self.mul(y, self.fnma(x, self.mul(y, y), self.splat(3.0)));
        }
        // The Newton step; half of y by its exponent, on units that no multiplication takes. Exact: y is no subnormal
        // number, since r^2 is finite. (Where it is not, the sum is NaN, as the product's.)
        let half = simd!(_mm512_castsi512_ps(_mm512_sub_epi32(
            _mm512_castps_si512(y),
            _mm512_set1_epi32(1 << 23)
        )));
        let e = self.fnma(self.mul(x, y), y, self.splat(1.0));
        self.fma(half, e, y)
    }
    #[inline(always)]
    fn refine_less(self, _: __m512, y: __m512) -> __m512 {
        y
    }
    #[inline(always)]
    fn attraction<const FINE: bool>(self, m: Option<__m512>, r2: __m512, y: __m512) -> __m512 {
        // An error of at most 2.8e-8.
        self.attraction_in_one(m, r2, y)
    }
    #[inline(always)]
    fn nonzero(self, a: __m512) -> __mmask16 {
        simd!(_mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, _mm512_setzero_ps()))
    }
    #[inline(always)]
    fn mask(self, bits: u32) -> __mmask16 {
        bits as __mmask16
    }
    #[inline(always)]
    unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> __mmask16 {
        debug_assert!(at + 16 <= PAGE);
        simd!(_mm512_cmpneq_epi32_mask(
            _mm512_loadu_si512(labels.as_ptr().add(at).cast()),
            _mm512_set1_epi32(label)
        ))
    }
    #[inline(always)]
    fn and(self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn select(self, m: __mmask16, a: __m512, b: __m512) -> __m512 {
        simd!(_mm512_mask_blend_ps(m, b, a))
    }
    #[inline(always)]
    fn le(self, a: __m512, b: __m512) -> __mmask16 {
        simd!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b))
    }
    #[inline(always)]
    fn bits(self, m: __mmask16) -> u32 {
        m.into()
    }
    #[inline(always)]
    fn least(self, a: __m512) -> f32 {
        simd!(_mm512_reduce_min_ps(a))
    }
    #[inline(always)]
    fn greatest(self, a: __m512) -> f32 {
        simd!(_mm512_reduce_max_ps(a))
    }
    #[inline(always)]
    fn sums(self, [a, b, c, d, e, f, g]: [&__m512; 7]) -> Sums {
        transposed_sum([
            folded(a),
            folded(b),
            folded(c),
            folded(d),
            folded(e),
            folded(f),
            folded(g),
        ])
    }
    #[inline(always)]
    fn sums_of_four(self, [a, b, c, d]: [&__m512; 4]) -> [f64; 4] {
        let ab = pairs(folded(a), folded(b));
        let cd = pairs(folded(c), folded(d));
        let mut sums = [0.0; 4];
        // SAFETY: only called under a token; the array has four elements.
        unsafe {
            // [a0+..+a3, b, a4+..+a7, b, c, d, c, d], then its pieces.
            let four = pieces(ab, cd);
            let low = _mm512_castpd512_pd256(four);
            let high = _mm512_extractf64x4_pd::<1>(four);
            let first = _mm256_permute2f128_pd::<0x20>(low, high);
            let second = _mm256_permute2f128_pd::<0x31>(low, high);
            _mm256_storeu_pd(sums.as_mut_ptr(), _mm256_add_pd(first, second));
        }
        sums
    }
    #[inline(always)]
    fn are_finite(self, sums: &Sums) -> bool {
        are_finite(sums)
    }
}

/// [`Simd::order`]
#[inline]
#[target_feature(enable = "avx512f")]
fn order(first: &mut __m512, second: &mut __m512) {
    // SAFETY: the assembly is empty; the registers keep what they have.
    unsafe {
        std::arch::asm!(
            "/* {0} {1} */",
            inout(zmm_reg) * first,
            inout(zmm_reg) * second,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
}

/// Lane l plus lane l + 8, in double precision.
#[inline(always)]
fn folded(v: &__m512) -> __m512d {
    let lanes: *const f32 = std::ptr::from_ref(v).cast();
    // SAFETY: only called under a token; a vector has sixteen lanes.
    unsafe {
        _mm512_add_pd(
            _mm512_cvtps_pd(_mm256_loadu_ps(lanes)),
            _mm512_cvtps_pd(_mm256_loadu_ps(lanes.add(8))),
        )
    }
}

/// [`Simd::are_finite`]
#[inline(always)]
fn are_finite(sums: &Sums) -> bool {
    // Bits of the classes: quiet NaN, both infinities, signalling NaN.
    const NOT_FINITE: i32 = 0b1001_1001;
    // SAFETY: only called under a token; there are eight sums.
    unsafe { _mm512_fpclass_pd_mask::<NOT_FINITE>(_mm512_loadu_pd(sums.as_ptr())) == 0 }
}

/// Neighbouring lanes added: [x0+x1, y0+y1, x2+x3, y2+y3, x4+x5, y4+y5, x6+x7, y6+y7].
#[inline(always)]
fn pairs(x: __m512d, y: __m512d) -> __m512d {
    // SAFETY: only called under a token.
    unsafe { _mm512_add_pd(_mm512_unpacklo_pd(x, y), _mm512_unpackhi_pd(x, y)) }
}

/// Neighbouring 128-bit pieces added: [p0+p1, p2+p3, q0+q1, q2+q3].
#[inline(always)]
fn pieces(p: __m512d, q: __m512d) -> __m512d {
    // SAFETY: only called under a token.
    unsafe {
        _mm512_add_pd(
            _mm512_shuffle_f64x2::<0b10_00_10_00>(p, q),
            _mm512_shuffle_f64x2::<0b11_01_11_01>(p, q),
        )
    }
}

/// The sums over the lanes of seven vectors: neighbours first, then pairs, then fours.
#[inline(always)]
fn transposed_sum([a, b, c, d, e, f, g]: [__m512d; 7]) -> Sums {
    let mut sums = [0.0; 8];
    // SAFETY: only called under a token; the array has eight elements.
    unsafe {
        let low = pieces(pairs(a, b), pairs(c, d));
        let high = pieces(pairs(e, f), pairs(g, _mm512_setzero_pd()));
        _mm512_storeu_pd(sums.as_mut_ptr(), pieces(low, high));
    }
    sums
}

impl Simd for Avx512<f64> {
    type T = f64;
    type V = __m512d;
    type M = __mmask8;
    type Double = Self;

    const LANES: usize = 8;
    const MANY_REGISTERS: bool = true;
    const PARTS: usize = 1;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        simd!(with_avx512(work))
    }
    #[inline(always)]
    fn splat(self, x: f64) -> __m512d {
        simd!(_mm512_set1_pd(x))
    }
    #[inline(always)]
    unsafe fn load(self, from: &[f64; PAGE], at: usize) -> __m512d {
        debug_assert!(at + 8 <= PAGE);
        simd!(_mm512_loadu_pd(from.as_ptr().add(at)))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [f64; PAGE], at: usize, a: __m512d) {
        debug_assert!(at + 8 <= PAGE);
        simd!(_mm512_storeu_pd(to.as_mut_ptr().add(at), a));
    }
    #[inline(always)]
    fn double(self) -> Self {
        self
    }
    #[inline(always)]
    fn narrow(self, [a, _]: [__m512d; 2]) -> __m512d {
        a
    }
    #[inline(always)]
    fn leading(self, a: __m512d) -> __m512d {
        a
    }
    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        simd!(_mm512_add_pd(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512d, b: __m512d) -> __m512d {
        simd!(_mm512_sub_pd(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m512d, b: __m512d) -> __m512d {
        simd!(_mm512_mul_pd(a, b))
    }
    #[inline(always)]
    fn fma(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        simd!(_mm512_fmadd_pd(a, b, c))
    }
    #[inline(always)]
    fn fnma(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        simd!(_mm512_fnmadd_pd(a, b, c))
    }
    #[inline(always)]
    fn min(self, a: __m512d, b: __m512d) -> __m512d {
        simd!(_mm512_min_pd(a, b))
    }
    #[inline(always)]
    fn greater_magnitude(self, a: __m512d, b: __m512d) -> __m512d {
        simd!(_mm512_range_pd::<0b1011>(a, b))
    }
    #[inline(always)]
    fn estimate(self, x: __m512d) -> __m512d {
        simd!(_mm512_rsqrt14_pd(x))
    }
    #[inline(always)]
    fn refine<const FINE: bool>(self, x: __m512d, y: __m512d) -> __m512d {
        // From 14 bits to 56 by the series of (1 - e)^(-1/2): two operations less than two Newton steps. Without its last
        // term, one less again, the error would be 6e-13. The estimate has 17 bits, so its square is exact, and e is
        // rounded once.
        self.series(self.fnma(x, self.mul(y, y), self.splat(1.0)), y)
    }
    #[inline(always)]
    fn refine_any(self, x: __m512d, y: __m512d) -> __m512d {
        // The square of y would overflow.
        self.series(self.fnma(self.mul(x, y), y, self.splat(1.0)), y)
    }
    #[inline(always)]
    fn nonzero(self, a: __m512d) -> __mmask8 {
        simd!(_mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(a, _mm512_setzero_pd()))
    }
    #[inline(always)]
    fn mask(self, bits: u32) -> __mmask8 {
        bits as __mmask8
    }
    #[inline(always)]
    unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> __mmask8 {
        debug_assert!(at + 8 <= PAGE);
        simd!(_mm256_cmpneq_epi32_mask(
            _mm256_loadu_si256(labels.as_ptr().add(at).cast()),
            _mm256_set1_epi32(label)
        ))
    }
    #[inline(always)]
    fn and(self, a: __mmask8, b: __mmask8) -> __mmask8 {
        a & b
    }
    #[inline(always)]
    fn select(self, m: __mmask8, a: __m512d, b: __m512d) -> __m512d {
        simd!(_mm512_mask_blend_pd(m, b, a))
    }
    #[inline(always)]
    fn le(self, a: __m512d, b: __m512d) -> __mmask8 {
        simd!(_mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b))
    }
    #[inline(always)]
    fn bits(self, m: __mmask8) -> u32 {
        m.into()
    }
    #[inline(always)]
    fn least(self, a: __m512d) -> f64 {
        simd!(_mm512_reduce_min_pd(a))
    }
    #[inline(always)]
    fn greatest(self, a: __m512d) -> f64 {
        simd!(_mm512_reduce_max_pd(a))
    }
    #[inline(always)]
    fn sums(self, a: [&__m512d; 7]) -> Sums {
        transposed_sum(a.map(|a| *a))
    }
    #[inline(always)]
    fn are_finite(self, sums: &Sums) -> bool {
        are_finite(sums)
    }
}

impl Avx512<f64> {
    /// y (1 - e)^(-1/2)
    #[inline(always)]
    fn series(self, e: __m512d, y: __m512d) -> __m512d {
        let series = self.fma(e, self.splat(5.0 / 16.0), self.splat(3.0 / 8.0));
        let series = self.fma(e, series, self.splat(0.5));
        self.fma(self.mul(y, e), series, y)
    }
}

impl Rows for Avx512<f64> {
    #[inline(always)]
    fn columns(self, rows: &[[f64; 8]]) -> [__m512d; 8] {
        let rows: &[[f64; 8]; 8] = rows[..8].try_into().expect("eight rows");
        columns(rows.each_ref())
    }
    #[inline(always)]
    fn cubics(self, c: &[[f64; 4]; 4], s: f64, to: &mut [f64; 8]) {
        simd!(super::avx2::cubics(c, s, to));
    }
    #[inline(always)]
    fn cubics_at<'a>(self, c: impl Fn(usize) -> &'a [[f64; 4]; 4], t: f64) -> [__m512d; 8] {
        let c: [&[[f64; 4]; 4]; 8] = std::array::from_fn(c);
        // SAFETY: four rows of four numbers are two of eight.
        let halves = |k: usize| c.map(|c| unsafe { &*c.as_ptr().add(2 * k).cast::<[f64; 8]>() });
        let [x, y, z, m, vx, vy, vz, begin] = columns(halves(0));
        let [ax, ay, az, _, jx, jy, jz, _] = columns(halves(1));
        let s = self.sub(self.splat(t), begin);
        let (x, vx) = cubic(s, [x, vx, ax, jx]);
        let (y, vy) = cubic(s, [y, vy, ay, jy]);
        let (z, vz) = cubic(s, [z, vz, az, jz]);
        [x, y, z, m, vx, vy, vz, s]
    }
    #[inline(always)]
    fn prefetch<T>(self, place: *const T) {
        simd!(_mm_prefetch::<_MM_HINT_T0>(place.cast()));
    }
}

/// A cubic and its derivative in each lane, by the operations of [`Rows::cubics`].
#[inline(always)]
fn cubic(s: __m512d, [c0, c1, c2, c3]: [__m512d; 4]) -> (__m512d, __m512d) {
    // SAFETY: only called under a token.
    unsafe {
        let c3 = _mm512_mul_pd(s, c3);
        let value = _mm512_fmadd_pd(s, _mm512_add_pd(c2, c3), c1);
        let slope = _mm512_fmadd_pd(_mm512_set1_pd(1.5), c3, c2);
        (
            _mm512_fmadd_pd(s, value, c0),
            _mm512_fmadd_pd(_mm512_add_pd(s, s), slope, c1),
        )
    }
}

/// Columns of eight rows.
#[inline(always)]
fn columns(rows: [&[f64; 8]; 8]) -> [__m512d; 8] {
    let [c0, c2, c4, c6] = pieces_of([
        pair::<false>(rows[0], rows[1]),
        pair::<false>(rows[2], rows[3]),
        pair::<false>(rows[4], rows[5]),
        pair::<false>(rows[6], rows[7]),
    ]);
    let [c1, c3, c5, c7] = pieces_of([
        pair::<true>(rows[0], rows[1]),
        pair::<true>(rows[2], rows[3]),
        pair::<true>(rows[4], rows[5]),
        pair::<true>(rows[6], rows[7]),
    ]);
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

/// Two rows: even columns or odd ones, each 128-bit piece with one of both.
#[inline(always)]
fn pair<const ODD: bool>(a: &[f64; 8], b: &[f64; 8]) -> __m512d {
    // SAFETY: only called under a token; rows have eight numbers.
    unsafe {
        let a = _mm512_loadu_pd(a.as_ptr());
        let b = _mm512_loadu_pd(b.as_ptr());
        match ODD {
            true => _mm512_unpackhi_pd(a, b),
            false => _mm512_unpacklo_pd(a, b),
        }
    }
}

/// The first 128-bit pieces of four vectors, the second, the third and the fourth.
#[inline(always)]
fn pieces_of([a, b, c, d]: [__m512d; 4]) -> [__m512d; 4] {
    // SAFETY: only called under a token.
    unsafe {
        let even = (
            _mm512_shuffle_f64x2::<0b10_00_10_00>(a, b),
            _mm512_shuffle_f64x2::<0b10_00_10_00>(c, d),
        );
        let odd = (
            _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b),
            _mm512_shuffle_f64x2::<0b11_01_11_01>(c, d),
        );
        [
            _mm512_shuffle_f64x2::<0b10_00_10_00>(even.0, even.1),
            _mm512_shuffle_f64x2::<0b10_00_10_00>(odd.0, odd.1),
            _mm512_shuffle_f64x2::<0b11_01_11_01>(even.0, even.1),
            _mm512_shuffle_f64x2::<0b11_01_11_01>(odd.0, odd.1),
        ]
    }
}
