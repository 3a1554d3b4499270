//! The pairs on the processor: the operations of the kernels `pairs` and `join`, in their order.

use kirin_kit::vector::Vec3;
use rayon::prelude::*;

use super::part;

/// Stars whose sums go on side by side: those of two vectors of AVX-512.
const LANES: usize = 16;

/// The sums of as many stars: three accelerations and a potential.
type Sums = [[f64; LANES]; 4];

/// Accelerations and potentials of all stars, by all others. Stars without softening in the same place do not attract each
/// other.
pub fn find(x: &[Vec3], masses: &[f64], eps2: f64, (acc, pot): (&mut [Vec3], &mut [f64])) {
    let sources: Vec<[f64; 4]> = x
        .iter()
        .zip(masses)
        .map(|(x, m)| [x[0], x[1], x[2], *m])
        .collect();
    let sources = &sources[..];
    acc.par_chunks_mut(LANES)
        .zip(pot.par_chunks_mut(LANES))
        .enumerate()
        .for_each(|(block, (acc, pot))| {
            let sums = on_block(sources, eps2, block * LANES);
            for (lane, (a, p)) in acc.iter_mut().zip(pot).enumerate() {
                *a = [0, 1, 2].map(|k| sums[k][lane]);
                *p = sums[3][lane];
            }
        });
}

/// The sums of the stars from number `first` on; behind the last one they mean nothing.
fn on_block(sources: &[[f64; 4]], eps2: f64, first: usize) -> Sums {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn avx512(sources: &[[f64; 4]], eps2: f64, first: usize) -> Sums {
            add_all(sources, eps2, first)
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2(sources: &[[f64; 4]], eps2: f64, first: usize) -> Sums {
            add_all(sources, eps2, first)
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: this processor has AVX-512.
            return unsafe { avx512(sources, eps2, first) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: this processor has both.
            return unsafe { avx2(sources, eps2, first) };
        }
    }
    add_all(sources, eps2, first)
}

#[inline(always)]
fn add_all(sources: &[[f64; 4]], eps2: f64, first: usize) -> Sums {
    let last = sources.len() - 1;
    let star = |lane: usize| &sources[(first + lane).min(last)];
    let at = [0, 1, 2].map(|k| std::array::from_fn(|lane| star(lane)[k]));
    let length = part(sources.len());
    let mut total: Option<Sums> = None;
    for (part, sources) in sources.chunks(length).enumerate() {
        let mut sums = [[0.0; LANES]; 4];
        for (j, source) in (part * length..).zip(sources) {
            add(&mut sums, &at, source, eps2, j.wrapping_sub(first) as u64);
        }
        total = Some(match total {
            None => sums,
            Some(total) => {
                std::array::from_fn(|k| std::array::from_fn(|lane| total[k][lane] + sums[k][lane]))
            }
        });
    }
    total.unwrap_or_default()
}

/// Adds the attraction of a source, which is the star in this lane itself.
#[inline(always)]
fn add(sums: &mut Sums, at: &[[f64; LANES]; 3], source: &[f64; 4], eps2: f64, itself: u64) {
    for lane in 0..LANES {
        let [dx, dy, dz] = [0, 1, 2].map(|k| source[k] - at[k][lane]);
        let square = dz.mul_add(dz, dy.mul_add(dy, dx.mul_add(dx, eps2)));
        let is_none = (lane as u64 == itself) | (square < f64::MIN_POSITIVE);
        let root = inverse_root(if is_none { 1.0 } else { square });
        let by_root = (if is_none { 0.0 } else { source[3] }) * root;
        let factor = by_root * (root * root);
        sums[0][lane] = factor.mul_add(dx, sums[0][lane]);
        sums[1][lane] = factor.mul_add(dy, sums[1][lane]);
        sums[2][lane] = factor.mul_add(dz, sums[2][lane]);
        sums[3][lane] -= by_root;
    }
}

/// 1 / sqrt(s) of a normal number: a guess from the bits of `s`, which errs by 3.4 %, and two steps of fourth order. A GPU's
/// own reciprocal root has other bits.
#[inline(always)]
fn inverse_root(s: f64) -> f64 {
    let mut y = f64::from_bits(0x5fe6_eb50_c7b5_37a9 - (s.to_bits() >> 1));
    for _ in 0..2 {
        let e = (-s * y).mul_add(y, 1.0);
        y = (y * e).mul_add(0.3125_f64.mul_add(e, 0.375).mul_add(e, 0.5), y);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::models::plummer;

    #[test]
    fn roots_err_by_a_bit() {
        let mut s = 2.3e-308_f64;
        while s < 1e308 {
            let exact = 1.0 / s.sqrt();
            assert!((inverse_root(s) / exact - 1.0).abs() < 4e-16, "{s:e}");
            s *= 1.37;
        }
    }

    /// The same sums as plain loops; with bits that do not depend on the instruction set.
    #[test]
    fn forces_are_those_of_plain_loops() {
        let mut bodies = plummer(700, 3);
        // In one place with another, and without mass.
        bodies[300].x = bodies[20].x;
        bodies[5].mass = 0.0;
        let x: Vec<Vec3> = bodies.iter().map(|b| b.x).collect();
        let masses: Vec<f64> = bodies.iter().map(|b| b.mass).collect();
        for eps2 in [0.0, 1e-4] {
            let (mut acc, mut pot) = (vec![[0.0; 3]; 700], vec![0.0; 700]);
            find(&x, &masses, eps2, (&mut acc, &mut pot));
            for i in 0..x.len() {
                let (mut a, mut p, mut size) = ([0.0; 3], 0.0, 0.0);
                for (j, (xj, m)) in x.iter().zip(&masses).enumerate() {
                    let d = [0, 1, 2].map(|k| xj[k] - x[i][k]);
                    let s = d.iter().map(|c| c * c).sum::<f64>() + eps2;
                    if i == j || s == 0.0 {
                        continue;
                    }
                    p -= m / s.sqrt();
                    size += m / s;
                    for k in 0..3 {
                        a[k] += m * d[k] / (s * s.sqrt());
                    }
                }
                assert!((pot[i] / p - 1.0).abs() < 1e-14, "{i}");
                for k in 0..3 {
                    assert!(
                        (acc[i][k] - a[k]).abs() < 1e-14 * size,
                        "{i}: {:?} {a:?}",
                        acc[i]
                    );
                }
            }
            let sources: Vec<[f64; 4]> = x
                .iter()
                .zip(&masses)
                .map(|(x, m)| [x[0], x[1], x[2], *m])
                .collect();
            for first in [0, 16, 688] {
                let plain = add_all(&sources, eps2, first);
                for lane in 0..LANES.min(700 - first) {
                    assert_eq!(
                        [plain[0][lane], plain[1][lane], plain[2][lane]],
                        acc[first + lane]
                    );
                    assert_eq!(plain[3][lane], pot[first + lane]);
                }
            }
        }
    }
}
