//! The published figures: Tables 4.1 and 4.2 of the thesis, and the machines on which they were measured.

/// Table 4.1. A row has N, then the seconds for the forces of all on all and the GFLOP/s, of the base and of the
/// improved implementation.
pub const TABLE_4_1: [(usize, [f64; 4]); 10] = [
    (256, [0.00021, 18.72, 0.000132, 29.79]),
    (512, [0.00051, 30.84, 0.000134, 117.7]),
    (1024, [0.00095, 66.23, 0.000336, 187.25]),
    (2048, [0.00162, 154.77, 0.001149, 219.02]),
    (4096, [0.00453, 221.97, 0.004541, 221.73]),
    (8192, [0.01768, 227.76, 0.017731, 227.10]),
    (16384, [0.07004, 229.97, 0.070028, 229.99]),
    (32768, [0.27956, 230.45, 0.279635, 230.39]),
    (65536, [1.12463, 229.15, 1.1245, 229.17]),
    (131_072, [4.46981, 230.61, 4.4686, 230.67]),
];

/// Table 4.2: N; the seconds from t = 0.25 to 0.5 of GRAPE-6Af, of the base and the improved
/// implementation, of Cg, and of the Xeon.
pub const TABLE_4_2: [(usize, [Option<f64>; 5]); 13] = [
    (256, all(0.07098, 0.136, 0.107, 2.708, 0.1325)),
    (512, all(0.1410, 0.382, 0.217, 8.777, 0.5941)),
    (1024, all(0.3327, 0.689, 0.297, 17.46, 2.584)),
    (2048, all(0.7652, 1.698, 0.588, 45.27, 10.59)),
    (4096, all(1.991, 4.013, 1.646, 128.3, 50.40)),
    (8192, all(5.552, 11.23, 4.631, 342.7, 224.7)),
    (16384, all(16.32, 31.11, 14.28, 924.4, 994.0)),
    (32768, all(51.68, 72.81, 41.16, 1907.0, 4328.0)),
    (65536, all(178.2, 183.8, 129.8, 3973.0, 19290.0)),
    (
        131_072,
        [None, Some(520.9), Some(417.6), Some(8844.0), None],
    ),
    (
        262_144,
        [None, Some(1771.0), Some(1522.0), Some(22330.0), None],
    ),
    (
        524_288,
        [None, Some(6040.0), Some(5627.0), Some(63960.0), None],
    ),
    (1_048_576, [None, Some(20789.0), Some(19975.0), None, None]),
];

const fn all(grape: f64, base: f64, improved: f64, cg: f64, xeon: f64) -> [Option<f64>; 5] {
    [
        Some(grape),
        Some(base),
        Some(improved),
        Some(cg),
        Some(xeon),
    ]
}

/// Numbers of j-particles in Figure 4.2. For each there are blocks of 128, 256, ... up to [`LARGEST_BLOCK`]
/// i-particles.
pub const FIGURE_4_2: [usize; 3] = [1024, 8192, 131_072];

/// The largest block of Figure 4.2.
pub const LARGEST_BLOCK: usize = 8192;

/// The smallest block of Figure 4.2 and the only one of Figure 4.3. One thread block of the G80 computed 128
/// i-particles, even if fewer were asked for.
pub const SMALLEST_BLOCK: usize = 128;

/// Numbers of particles of Figure 4.3.
pub fn figure_4_3() -> impl Iterator<Item = usize> {
    (8..=20).map(|k| 1 << k)
}

/// Speed, in GFLOP/s, that the text gives for the improved implementation where it is at its peak.
pub const PEAK: f64 = 230.0;

/// GFLOP/s that the thesis gives for the base and the improved implementation, for a block of `ni` particles among
/// `n`. `None` where the thesis has no number but only a picture.
pub fn speed(n: usize, ni: usize) -> [Option<f64>; 2] {
    let whole = TABLE_4_1.iter().find(|row| row.0 == n && ni == n);
    if let Some((_, [_, base, _, improved])) = whole {
        return [Some(*base), Some(*improved)];
    }
    // Of N = 131072 the text says so for every block, of 128 particles for N from 16384 on.
    let at_peak = n == 131_072 || (ni == SMALLEST_BLOCK && n >= 16384);
    [None, at_peak.then_some(PEAK)]
}

/// Accuracy parameter of the runs of Table 4.2.
pub const ETA: f64 = 0.03;
/// Accuracy parameter of their first step.
pub const ETA_START: f64 = 0.01;
/// Their end; the second half was timed.
pub const T_END: f64 = 0.5;

/// What the published columns were measured on.
pub const HARDWARE: &str = "\
The published columns are those of J. Bédorf's thesis (Amsterdam, 2007):

* GRAPE-6Af: a PCI board with four GRAPE-6 chips; a defective memory chip left it room for 65536 particles
* base, improved: kirin in CUDA on an NVIDIA GeForce 8800GTX (16 multiprocessors), single precision. `base` has one thread
  block for 128 i-particles; `improved` also divides the j-particles over thread blocks while there are
  fewer than 4096 i-particles.
* Cg: an older implementation in that language, on the same 8800GTX
* Xeon: everything on the host, an Intel Xeon of 3.4 GHz
";

#[cfg(test)]
mod tests {
    use super::*;

    /// Equation 4.1 of the thesis: the seconds and the GFLOP/s of a row say the same, but for rounding.
    #[test]
    fn seconds_and_speeds_agree() {
        for (n, [base, base_speed, improved, improved_speed]) in TABLE_4_1 {
            for (seconds, speed) in [(base, base_speed), (improved, improved_speed)] {
                let found = 60e-9 * (n * n) as f64 / seconds;
                assert!((found / speed - 1.0).abs() < 0.03, "{n}: {found} {speed}");
            }
        }
    }

    #[test]
    fn numbers_of_particles_double() {
        assert!(TABLE_4_1.windows(2).all(|w| w[1].0 == 2 * w[0].0));
        assert!(TABLE_4_2.windows(2).all(|w| w[1].0 == 2 * w[0].0));
        let sizes: Vec<usize> = figure_4_3().collect();
        assert_eq!((sizes[0], sizes[12], sizes.len()), (256, 1 << 20, 13));
    }

    #[test]
    fn the_figures_have_few_numbers() {
        assert_eq!(speed(8192, 8192), [Some(227.76), Some(227.10)]);
        assert_eq!(speed(131_072, 256), [None, Some(230.0)]);
        assert_eq!(speed(16384, 128), [None, Some(230.0)]);
        assert_eq!(speed(8192, 128), [None, None]);
    }
}
