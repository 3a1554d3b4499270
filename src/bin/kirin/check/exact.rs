//! The exact results: sums in double precision, and the sums of the magnitudes of their terms.

use kirin_core::sources::particle::JParticle;

use super::scene::Setup;
use crate::model::{Vec3, dot, predict};

/// The j-particles at the time of the force.
pub struct Predicted {
    /// Positions.
    pub x: Vec<Vec3>,
    /// Velocities.
    pub v: Vec<Vec3>,
}

impl Predicted {
    /// Of a setup.
    pub fn of(setup: &Setup) -> Self {
        let (x, v) = setup.stars.iter().map(|p| predict(p, setup.ti)).unzip();
        Self { x, v }
    }

    /// Squares of the distances of all particles from the one at `address`, unsoftened.
    pub fn distances2(&self, address: usize) -> impl Iterator<Item = f64> {
        let at = self.x[address];
        self.x.iter().map(move |x| {
            let r = [x[0] - at[0], x[1] - at[1], x[2] - at[2]];
            dot(&r, &r)
        })
    }
}

impl Predicted {
    /// The same as [`Predicted::distances2`], or the squares a time `dtr` later where they are less.
    pub fn least_distances2(&self, address: usize, dtr: f64) -> impl Iterator<Item = f64> {
        let (xi, vi) = (self.x[address], self.v[address]);
        self.x.iter().zip(&self.v).map(move |(x, v)| {
            let r = [0, 1, 2].map(|k| x[k] - xi[k]);
            let ahead = [0, 1, 2].map(|k| r[k] + dtr * (v[k] - vi[k]));
            dot(&r, &r).min(dot(&ahead, &ahead))
        })
    }
}

/// What the force on one particle is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact {
    /// Acceleration.
    pub acc: Vec3,
    /// Jerk.
    pub jerk: Vec3,
    /// Potential.
    pub pot: f64,
    /// Sum of the magnitudes of the pairs' accelerations.
    pub acc_terms: f64,
    /// Sum of the magnitudes of the pairs' jerks.
    pub jerk_terms: f64,
    /// Sum of the magnitudes of the pairs' potentials.
    pub pot_terms: f64,
}

/// The force of all other particles on the one at `address`.
pub fn force(stars: &[JParticle], at: &Predicted, address: usize, eps2: f64) -> Exact {
    force_of(stars, at, address, eps2, |_| true)
}

/// The force of those other particles that count.
pub fn force_of(
    stars: &[JParticle],
    at: &Predicted,
    address: usize,
    eps2: f64,
    counts: impl Fn(usize) -> bool,
) -> Exact {
    let mut sum = Exact::default();
    let (xi, vi) = (at.x[address], at.v[address]);
    for (j, p) in stars.iter().enumerate() {
        if j == address || !counts(j) {
            continue;
        }
        let r = [0, 1, 2].map(|k| at.x[j][k] - xi[k]);
        let v = [0, 1, 2].map(|k| at.v[j][k] - vi[k]);
        let r2 = dot(&r, &r) + eps2;
        if r2 == 0.0 {
            continue; // coincident particles without softening exert no force
        }
        let distance = r2.sqrt();
        let pot = p.mass / distance;
        let pull = pot / r2;
        let drag = 3.0 * dot(&r, &v) / r2;
        let jerk = [0, 1, 2].map(|k| pull * (v[k] - drag * r[k]));
        for k in 0..3 {
            sum.acc[k] += pull * r[k];
            sum.jerk[k] += jerk[k];
        }
        sum.pot -= pot;
        sum.acc_terms += pull * dot(&r, &r).sqrt();
        sum.jerk_terms += norm(&jerk);
        sum.pot_terms += pot;
    }
    sum
}

/// Length of a vector whose square may be beyond the range of numbers.
pub fn norm(a: &Vec3) -> f64 {
    let largest = a.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let scaled = a.map(|c| c / largest);
    largest * dot(&scaled, &scaled).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bodies_by_hand() {
        let stars = vec![
            JParticle::default(),
            JParticle {
                mass: 2.0,
                x: [4.0, 0.0, 0.0],
                v: [1.0, 1.0, 0.0],
                ..JParticle::default()
            },
        ];
        let setup = Setup {
            stars,
            targets: vec![0],
            ti: 0.0,
            eps2: 9.0,
        };
        let f = force(&setup.stars, &Predicted::of(&setup), 0, 9.0);
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-15 * b.abs(), "{a} {b}");
        near(f.pot, -0.4);
        near(f.acc[0], 8.0 / 125.0);
        near(f.jerk[0], 2.0 / 125.0 - 2.0 * 48.0 / 3125.0);
        near(f.jerk[1], 2.0 / 125.0);
        near(f.acc_terms, f.acc[0]);
        near(f.jerk_terms, norm(&f.jerk));
    }

    #[test]
    fn norms_neither_overflow_nor_vanish() {
        for scale in [1e-300, 1.0, 1e300] {
            let length = norm(&[3.0 * scale, 0.0, -4.0 * scale]);
            assert!((length / scale - 5.0).abs() < 1e-14);
        }
        assert_eq!(norm(&[0.0; 3]), 0.0);
    }
}
