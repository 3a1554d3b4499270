//! The random numbers of the models: uniform deviates and directions from PCG64.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::vector::{Vec3, dot};

/// A stream of random numbers that is the same on every machine.
pub struct Random(Pcg64);

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// One of many streams of `seed`, for parts of a model that are made independently.
    pub fn of_part(seed: u64, part: u64) -> Self {
        // PCG's own streams: another increment is another sequence.
        let state = u128::from(seed) << 64 | u128::from(part);
        Self(Pcg64::new(state, u128::from(part) + 1))
    }

    /// Uniform in [0, 1): a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A normal deviate of mean 0 and dispersion 1, by the polar method.
    pub fn normal(&mut self) -> f64 {
        loop {
            let [a, b] = [(); 2].map(|()| 2.0 * self.uniform() - 1.0);
            let s = a * a + b * b;
            if s > 0.0 && s < 1.0 {
                return a * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// A vector of length `r` in a random direction.
    ///
    /// Drawn from a cube until the point lies in the sphere. This needs a square root but no sine, whose last bit
    /// differs between mathematical libraries.
    pub fn direction(&mut self, r: f64) -> Vec3 {
        loop {
            let p: Vec3 = std::array::from_fn(|_| 2.0 * self.uniform() - 1.0);
            let p2 = dot(&p, &p);
            if p2 <= 1.0 && p2 > 1e-6 {
                let scale = r / p2.sqrt();
                return p.map(|c| c * scale);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::add_scaled;

    #[test]
    fn the_stream_never_changes() {
        let mut random = Random::new(1);
        let first: Vec<f64> = (0..3).map(|_| random.uniform()).collect();
        assert_eq!(
            first,
            [
                0.8398736585259249,
                0.017298675035571365,
                0.11390171020416662
            ]
        );
    }

    #[test]
    fn normal_deviates_have_their_moments() {
        let mut random = Random::new(4);
        let n = 40_000;
        let all: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let moment = |p: i32| all.iter().map(|x| x.powi(p)).sum::<f64>() / f64::from(n);
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.03);
        assert!((moment(4) - 3.0).abs() < 0.15, "{}", moment(4));
    }

    #[test]
    fn directions_have_the_length_and_no_preference() {
        let mut random = Random::new(3);
        let mut sum = [0.0; 3];
        for _ in 0..20_000 {
            let d = random.direction(2.0);
            assert!((dot(&d, &d) - 4.0).abs() < 1e-12);
            add_scaled(&mut sum, 1.0 / 20_000.0, &d);
        }
        // One component of such a mean has the standard deviation 2/sqrt(3 * 20000) = 0.008.
        assert!(sum.iter().all(|c| c.abs() < 0.04), "{sum:?}");
    }
}
