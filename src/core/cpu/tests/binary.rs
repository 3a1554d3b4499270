//! A binary beside a cluster, and the errors that are promised: for the tests of all backends. `ffi-tests` has this
//! file too.

use super::{Force, JParticle, Random};

/// Relative errors of acceleration, jerk and potential, and what is promised.
pub const PROMISED: [f64; 3] = [1e-6, 2e-6, 1e-6];

/// Masses of the two stars of a binary, in those of a cluster star.
pub const MASSES: [(f64, f64); 3] = [(1.0, 1.0), (1.0, 1e-3), (1e-6, 1e6)];

/// A binary beside a cluster, 600 stars in all. The stars of the cluster fill a cube with edges of length 2; every
/// seventh has no mass. The binary lies outside the cube, where neither accelerations nor jerks of the cluster cancel.
/// Its distance from the origin is `distance`. Its two stars are `separation` apart, on a circular orbit.
pub fn stars(
    seed: u64,
    separation: f64,
    distance: f64,
    (first, second): (f64, f64),
) -> Vec<JParticle> {
    const N: usize = 600;
    let mut numbers = Random::new(seed);
    let centre = unit(numbers.vector(1.0)).map(|c| c * distance);
    let beside = unit(numbers.vector(1.0)).map(|c| 2.0 * c);
    let mut stars: Vec<JParticle> = (0..N)
        .map(|index| {
            let (x, v) = (numbers.vector(1.0), numbers.vector(1.0));
            JParticle {
                index: index as i32,
                mass: if index % 7 == 6 { 0.0 } else { 1.0 / N as f64 },
                x: [0, 1, 2].map(|k| centre[k] + beside[k] + x[k]),
                v,
                ..JParticle::default()
            }
        })
        .collect();
    let along = unit(numbers.vector(1.0));
    let any = numbers.vector(1.0);
    let dot = (0..3).map(|k| along[k] * any[k]).sum::<f64>();
    let across = unit([0, 1, 2].map(|k| any[k] - dot * along[k]));
    let speed = ((first + second) / N as f64 / separation).sqrt();
    stars[0].mass = first / N as f64;
    stars[1].mass = second / N as f64;
    stars[0].x = centre;
    stars[0].v = beside;
    for k in 0..3 {
        stars[1].x[k] = centre[k] + separation * along[k];
        stars[1].v[k] = stars[0].v[k] + speed * across[k];
    }
    stars
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    v.map(|c| c / length)
}

/// Largest errors of acceleration, jerk and potential of single stars, relative to each.
pub fn relative_errors(found: &[Force], exact: &[Force]) -> [f64; 3] {
    let norm = |a: [f64; 3]| a.iter().map(|c| c * c).sum::<f64>().sqrt();
    let error = |a: [f64; 3], b: [f64; 3]| {
        norm([a[0] - b[0], a[1] - b[1], a[2] - b[2]]) / norm(b).max(f64::MIN_POSITIVE)
    };
    found.iter().zip(exact).fold([0.0; 3], |worst, (f, e)| {
        let now = [
            error(f.acc, e.acc),
            error(f.jerk, e.jerk),
            ((f.pot - e.pot) / e.pot).abs(),
        ];
        [0, 1, 2].map(|k| greater(worst[k], now[k]))
    })
}

/// What is not a number is greater than anything.
pub fn greater(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}
