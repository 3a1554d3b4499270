//! The motion of a node of a hierarchy on its Kepler orbit.

use super::super::kepler::{Equation, near_g_functions};
use super::Place;
use crate::vector::{Vec3, dot};

/// The motion of a node: the second part from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Motion {
    pub(super) x: Vec3,
    pub(super) v: Vec3,
    /// What `x` and `v` lost when they were added to.
    pub(super) lost: Place,
    /// Length of `x`, and its inverse.
    pub(super) r: f64,
    pub(super) inverse: f64,
}

/// Adds `d` to `sum`, and the digits that this loses to `lost`.
#[inline(always)]
pub(super) fn add(sum: &mut f64, lost: &mut f64, d: f64) {
    let d = d + *lost;
    let new = *sum + d;
    *lost = d - (new - *sum);
    *sum = new;
}

impl Motion {
    /// Energy for a unit of reduced mass.
    pub(super) fn energy(&self, mass: f64) -> f64 {
        0.5 * dot(&self.v, &self.v) - mass * self.inverse
    }

    /// Makes the orbit larger by a factor.
    pub(super) fn scale(&mut self, factor: f64) {
        let of_v = 1.0 / factor.sqrt();
        self.x = self.x.map(|c| factor * c);
        self.v = self.v.map(|c| of_v * c);
        (self.r, self.inverse) = (factor * self.r, self.inverse / factor);
    }

    #[inline(always)]
    pub(super) fn kick(&mut self, dv: &Vec3) {
        for (c, dv) in dv.iter().enumerate() {
            add(&mut self.v[c], &mut self.lost.1[c], *dv);
        }
    }

    /// Moves along an orbit of this 2 M / r - v^2 by `ds` in s. Returns the time that this takes.
    #[inline(always)]
    pub(super) fn drift_by(&mut self, beta: f64, ds: f64) -> f64 {
        let along = dot(&self.x, &self.v);
        let mass = 0.5 * self.r * (dot(&self.v, &self.v) + beta);
        let g = near_g_functions(beta, ds);
        let of_v = self.r * g[1] + along * g[2];
        self.follow(mass, along, &g, of_v);
        of_v + mass * g[3]
    }

    /// Moves by `dt` along the orbit about this mass.
    #[inline(always)]
    pub(super) fn drift(&mut self, mass: f64, dt: f64) {
        let along = dot(&self.x, &self.v);
        let beta = 2.0 * mass * self.inverse - dot(&self.v, &self.v);
        let g = self.short(along, beta, mass, dt).unwrap_or_else(|| {
            let equation = Equation {
                r0: self.r,
                along,
                beta,
                mass,
                dt,
            };
            equation.solve().1
        });
        self.follow(mass, along, &g, dt - mass * g[3]);
    }

    /// Moves to the universal anomaly whose functions are `g`; `of_v` is the part of the velocity that this adds to the position.
    #[inline(always)]
    fn follow(&mut self, mass: f64, along: f64, g: &[f64; 4], of_v: f64) {
        let r = self.r * g[0] + along * g[1] + mass * g[2];
        let inverse = 1.0 / r;
        let f = -mass * g[2] * self.inverse;
        let f_dot = -mass * g[1] * self.inverse * inverse;
        let g_dot = -mass * g[2] * inverse;
        for c in 0..3 {
            let (x, v) = (self.x[c], self.v[c]);
            add(&mut self.x[c], &mut self.lost.0[c], f * x + of_v * v);
            add(&mut self.v[c], &mut self.lost.1[c], f_dot * x + g_dot * v);
        }
        // The length of the rounded position, by Newton's method.
        let excess = 0.5 * (dot(&self.x, &self.x) - r * r) * inverse;
        self.r = r + excess;
        self.inverse = inverse - excess * inverse * inverse;
    }

    /// The functions of the universal anomaly after a time `dt` that is a small part of a revolution. `None` if it is not small.
    #[inline(always)]
    fn short(&self, along: f64, beta: f64, mass: f64, dt: f64) -> Option<[f64; 4]> {
        let third = mass - beta * self.r;
        let s = dt * self.inverse;
        let (first, second) = (along * self.inverse * s, third * self.inverse * s * s);
        let mut s = s * (1.0 - 0.5 * first + 0.5 * first * first - second * (1.0 / 6.0));
        // With NaN this does not hold.
        let is_small = first.abs() < 0.1 && second.abs() < 0.05 && (beta * s * s).abs() < 0.02;
        if !is_small {
            return None;
        }
        for _ in 0..4 {
            let z = beta * s * s;
            let series = |c: [f64; 5]| c[0] - z * (c[1] - z * (c[2] - z * (c[3] - z * c[4])));
            let (c2, c3) = (series(OF_C2), series(OF_C3));
            let s2 = s * s;
            let [g0, g1, g2, g3] = [1.0 - z * c2, s * (1.0 - z * c3), s2 * c2, s2 * s * c3];
            // Halley's method.
            let error = self.r * g1 + along * g2 + mass * g3 - dt;
            let slope = self.r * g0 + along * g1 + mass * g2;
            let bend = along * g0 + third * g1;
            let d = -error * slope / (slope * slope - 0.5 * error * bend);
            if d.abs() <= 1e-5 * s.abs() {
                // The functions change by their Taylor series.
                let d2 = 0.5 * d * d;
                return Some([
                    g0 - beta * (d * g1 + d2 * g0),
                    g1 + d * g0 - d2 * beta * g1,
                    g2 + d * g1 + d2 * g0,
                    g3 + d * g2 + d2 * g1,
                ]);
            }
            s += d;
        }
        None
    }
}

/// Coefficients of Stumpff's functions c_2 and c_3 with alternating signs.
const OF_C2: [f64; 5] = [
    0.5,
    1.0 / 24.0,
    1.0 / 720.0,
    1.0 / 40_320.0,
    1.0 / 3_628_800.0,
];
const OF_C3: [f64; 5] = [
    1.0 / 6.0,
    1.0 / 120.0,
    1.0 / 5_040.0,
    1.0 / 362_880.0,
    1.0 / 39_916_800.0,
];
