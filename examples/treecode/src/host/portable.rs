//! The sums as plain loops over the lanes, which a compiler turns into vectors.

#[cfg(target_arch = "x86_64")]
use super::Kernel;
use super::{LANES, Sums, Targets};

/// The sums over `list` for each of the targets. Where r^2 + eps^2 is zero nothing is added.
#[inline(always)]
pub fn sums(targets: &Targets, list: &[[f64; 4]], eps2: f64) -> Sums {
    let mut sums = Sums::default();
    for [x, y, z, m] in list {
        for lane in 0..LANES {
            let r = [
                x - targets[0][lane],
                y - targets[1][lane],
                z - targets[2][lane],
            ];
            let r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + eps2;
            let root = if r2 > 0.0 { 1.0 / r2.sqrt() } else { 0.0 };
            let m_r = m * root;
            let m_r3 = m_r * (root * root);
            for k in 0..3 {
                sums[k][lane] += m_r3 * r[k];
            }
            sums[3][lane] += m_r;
        }
    }
    sums
}

/// The same compiled for AVX2, where the processor has it.
#[cfg(target_arch = "x86_64")]
pub fn avx2() -> Option<Kernel> {
    #[target_feature(enable = "avx2")]
    fn with_avx2(targets: &Targets, list: &[[f64; 4]], eps2: f64) -> Sums {
        sums(targets, list, eps2)
    }
    if !is_x86_feature_detected!("avx2") {
        return None;
    }
    Some(|targets, list, eps2| {
        // SAFETY: this function is given out only where AVX2 was detected.
        unsafe { with_avx2(targets, list, eps2) }
    })
}
