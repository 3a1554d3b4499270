//! The sums for AVX-512: eight particles in a vector, one list entry at a time in all lanes.

use std::arch::x86_64::*;

use super::{Kernel, Sums, Targets};

/// The kernel, where the processor has the instructions.
pub fn kernel() -> Option<Kernel> {
    if !is_x86_feature_detected!("avx512f") {
        return None;
    }
    Some(|targets, list, eps2| {
        // SAFETY: this function is given out only where AVX-512 was detected.
        unsafe { sums(targets, list, eps2) }
    })
}

/// See [`super::portable::sums`].
#[target_feature(enable = "avx512f")]
fn sums(targets: &Targets, list: &[[f64; 4]], eps2: f64) -> Sums {
    // SAFETY: an array of eight numbers is what a vector holds.
    let load = |lanes: &[f64; 8]| unsafe { _mm512_loadu_pd(lanes.as_ptr()) };
    let [xi, yi, zi] = [load(&targets[0]), load(&targets[1]), load(&targets[2])];
    let nought = _mm512_setzero_pd();
    let eps2 = _mm512_set1_pd(eps2);
    let (half, three) = (_mm512_set1_pd(0.5), _mm512_set1_pd(3.0));
    let [mut ax, mut ay, mut az, mut pot] = [nought; 4];
    for [x, y, z, m] in list {
        let dx = _mm512_sub_pd(_mm512_set1_pd(*x), xi);
        let dy = _mm512_sub_pd(_mm512_set1_pd(*y), yi);
        let dz = _mm512_sub_pd(_mm512_set1_pd(*z), zi);
        let r2 = _mm512_fmadd_pd(dx, dx, eps2);
        let r2 = _mm512_fmadd_pd(dy, dy, r2);
        let r2 = _mm512_fmadd_pd(dz, dz, r2);
        let apart = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(r2, nought);
        // Two Newton steps from 14 bits, each y (3 - r^2 y^2) / 2.
        let mut root = _mm512_maskz_rsqrt14_pd(apart, r2);
        for _ in 0..2 {
            let h = _mm512_fnmadd_pd(_mm512_mul_pd(r2, root), root, three);
            root = _mm512_mul_pd(_mm512_mul_pd(root, half), h);
        }
        let m_r = _mm512_mul_pd(_mm512_set1_pd(*m), root);
        let m_r3 = _mm512_mul_pd(m_r, _mm512_mul_pd(root, root));
        ax = _mm512_fmadd_pd(m_r3, dx, ax);
        ay = _mm512_fmadd_pd(m_r3, dy, ay);
        az = _mm512_fmadd_pd(m_r3, dz, az);
        pot = _mm512_add_pd(pot, m_r);
    }
    let mut sums = Sums::default();
    for (to, from) in sums.iter_mut().zip([ax, ay, az, pot]) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr(), from) };
    }
    sums
}
