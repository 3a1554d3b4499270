//! The two-body problem: orbital elements, and the motion in closed form.

use crate::vector::{Vec3, cross, dot, norm};

/// Size and shape of the relative orbit of two bodies (G = 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Mass of both.
    pub mass: f64,
    /// Semi-major axis; negative where they are not bound.
    pub axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Angular momentum for a unit of reduced mass; its direction is that of the orbit's pole.
    pub momentum: Vec3,
}

impl Orbit {
    /// The orbit with the relative position `x`, the relative velocity `v` and the total `mass`.
    pub fn of(x: &Vec3, v: &Vec3, mass: f64) -> Self {
        let r = norm(x);
        let inverse_axis = 2.0 / r - dot(v, v) / mass;
        let momentum = cross(x, v);
        // e^2 = (1 - r/a)^2 + (x.v)^2 / (M a): exact where 1 - h^2/(M a) would lose the digits of a small e.
        let along = dot(x, v);
        let squared = (1.0 - r * inverse_axis).powi(2) + along * along * inverse_axis / mass;
        Self {
            mass,
            axis: 1.0 / inverse_axis,
            eccentricity: squared.max(0.0).sqrt(),
            momentum,
        }
    }

    /// Whether the two are bound.
    pub fn is_bound(&self) -> bool {
        self.axis > 0.0
    }

    /// Energy for a unit of reduced mass.
    pub fn energy(&self) -> f64 {
        -0.5 * self.mass / self.axis
    }

    /// Period; NaN where they are not bound.
    pub fn period(&self) -> f64 {
        std::f64::consts::TAU * (self.axis * self.axis * self.axis / self.mass).sqrt()
    }

    /// Smallest distance on the orbit.
    pub fn pericentre(&self) -> f64 {
        // From the angular momentum: a (1 - e) loses the digits of a nearly radial orbit.
        dot(&self.momentum, &self.momentum) / (self.mass * (1.0 + self.eccentricity))
    }

    /// Largest distance on the orbit; infinite where they are not bound.
    pub fn apocentre(&self) -> f64 {
        if self.is_bound() {
            self.axis * (1.0 + self.eccentricity)
        } else {
            f64::INFINITY
        }
    }
}

/// Position and velocity of one body relative to another after `dt`, forwards or backwards, on any conic section.
///
/// Universal variables: Kepler's equation r0 G1 + (x.v) G2 + M G3 = dt is solved for the universal anomaly. On a bound orbit
/// whole periods are first taken out of `dt`.
pub fn drift(x: &Vec3, v: &Vec3, mass: f64, dt: f64) -> (Vec3, Vec3) {
    let (r0, along) = (norm(x), dot(x, v));
    let beta = 2.0 * mass / r0 - dot(v, v);
    let mut dt = dt;
    if beta > 0.0 {
        let period = std::f64::consts::TAU * mass / (beta * beta.sqrt());
        if period.is_finite() {
            dt -= period * (dt / period).round();
        }
    }
    let equation = Equation {
        r0,
        along,
        beta,
        mass,
        dt,
    };
    let (_, anomaly) = equation.solve();
    let r = equation.radius(&anomaly);
    let [_, g1, g2, g3] = anomaly;
    let (f, g) = (1.0 - mass * g2 / r0, dt - mass * g3);
    let (f_dot, g_dot) = (-mass * g1 / (r0 * r), 1.0 - mass * g2 / r);
    (
        std::array::from_fn(|k| f * x[k] + g * v[k]),
        std::array::from_fn(|k| f_dot * x[k] + g_dot * v[k]),
    )
}

/// Kepler's equation in the universal anomaly s.
pub(super) struct Equation {
    /// Distance at the beginning.
    pub r0: f64,
    /// Product of position and velocity there.
    pub along: f64,
    /// 2 M / r - v^2.
    pub beta: f64,
    /// M.
    pub mass: f64,
    /// Time since the beginning.
    pub dt: f64,
}

impl Equation {
    /// Distance at an anomaly whose [`g_functions`] are given.
    fn radius(&self, [g0, g1, g2, _]: &[f64; 4]) -> f64 {
        self.r0 * g0 + self.along * g1 + self.mass * g2
    }

    /// An anomaly near the solution: by the first derivatives of the distance if it changes little, else by its mean.
    fn guess(&self) -> f64 {
        let Self {
            r0,
            along,
            beta,
            mass,
            dt,
        } = *self;
        let s = dt / r0;
        let (first, second) = (along / r0 * s, (mass - beta * r0) / r0 * s * s);
        if first.abs() < 0.4 && second.abs() < 0.8 {
            return s * (1.0 - 0.5 * first + 0.5 * first * first - second / 6.0);
        }
        match beta > 0.0 {
            true => beta * dt / mass,
            false => s,
        }
    }

    /// The solution and its [`g_functions`], by Laguerre's method for polynomials of the fifth degree (Conway 1986) inside a
    /// bracket. The time grows with s: its derivative is the distance.
    pub(super) fn solve(&self) -> (f64, [f64; 4]) {
        let Self {
            r0,
            along,
            beta,
            mass,
            dt,
        } = *self;
        if dt == 0.0 {
            return (0.0, [1.0, 0.0, 0.0, 0.0]);
        }
        let (mut low, mut high) = match dt > 0.0 {
            true => (0.0, f64::INFINITY),
            false => (f64::NEG_INFINITY, 0.0),
        };
        let mut s = self.guess();
        let mut last = f64::INFINITY;
        for _ in 0..400 {
            let g = g_functions(beta, s);
            let terms = [r0 * g[1], along * g[2], mass * g[3], -dt];
            let value: f64 = terms.iter().sum();
            // NaN, from an overflow, is taken for too far out.
            if value > 0.0 || value.is_nan() && dt > 0.0 {
                high = s;
            } else {
                low = s;
            }
            let r = self.radius(&g);
            let slope = along * g[0] + (mass - beta * r0) * g[1];
            let root = (16.0 * r * r - 20.0 * value * slope).abs().sqrt();
            let step = -5.0 * value / (r + root);
            let next = s + step;
            let noise: f64 = 2.0 * f64::EPSILON * terms.iter().map(|term| term.abs()).sum::<f64>();
            let bend = (step * slope / r).powi(2) + (step * step * (mass - beta * r) / r).abs();
            let is_exact = value.is_finite() && value.abs() <= noise;
            if is_exact || step.abs() * bend <= 1e-17 * s.abs() {
                return (next, g_functions(beta, next));
            }
            // A step that is not much shorter than the one before is far from the solution.
            let is_good = next > low && next < high && step.abs() < 0.9 * last;
            last = step.abs();
            if !is_good {
                let middle = match (low.is_finite(), high.is_finite()) {
                    (true, true) => 0.5 * (low + high),
                    _ => 2.0 * s,
                };
                if middle <= low || middle >= high {
                    return (s, g);
                }
                last = f64::INFINITY;
                s = middle;
            } else {
                s = next;
            }
        }
        (s, g_functions(beta, s))
    }
}

/// s^k c_k(beta s^2) for k = 0 to 3, c_k being Stumpff's functions.
fn g_functions(beta: f64, s: f64) -> [f64; 4] {
    of_anomaly(s, stumpff(beta * s * s))
}

/// The same, faster for a part of a revolution, where the last digits may differ.
#[inline(always)]
pub(super) fn near_g_functions(beta: f64, s: f64) -> [f64; 4] {
    let z = beta * s * s;
    match z.abs() < 1.0 {
        true => of_anomaly(s, stumpff_by_series(z)),
        false => g_functions(beta, s),
    }
}

#[inline(always)]
fn of_anomaly(s: f64, [c0, c1, c2, c3]: [f64; 4]) -> [f64; 4] {
    [c0, s * c1, s * s * c2, s * s * s * c3]
}

/// Terms of the series of Stumpff's functions.
const TERMS: usize = 9;

/// Coefficients of the series of c_k.
const fn coefficients(k: usize) -> [f64; TERMS] {
    let mut all = [0.0; TERMS];
    let (mut n, mut factorial, mut i) = (1, 1.0, 0);
    while i < TERMS {
        while n <= k + 2 * i {
            factorial *= n as f64;
            n += 1;
        }
        all[i] = if i % 2 == 0 {
            1.0 / factorial
        } else {
            -1.0 / factorial
        };
        i += 1;
    }
    all
}

const OF_C2: [f64; TERMS] = coefficients(2);
const OF_C3: [f64; TERMS] = coefficients(3);

/// Stumpff's functions c_0 to c_3: c_k(z) = 1/k! - z/(k+2)! + z^2/(k+4)! - ...
///
/// The series at a quarter of the argument, as often as needed, and the formulae of double arguments.
fn stumpff(z: f64) -> [f64; 4] {
    let (mut z, mut quarters) = (z, 0);
    while z.abs() > 0.4 && z.is_finite() {
        z *= 0.25;
        quarters += 1;
    }
    let [mut c0, mut c1, mut c2, mut c3] = stumpff_by_series(z);
    for _ in 0..quarters {
        c3 = 0.25 * (c2 + c0 * c3);
        c2 = 0.5 * c1 * c1;
        z *= 4.0;
        (c0, c1) = (1.0 - z * c2, 1.0 - z * c3);
    }
    [c0, c1, c2, c3]
}

/// The same by the series alone, which lacks less than a digit's last place up to z = 1.
#[inline(always)]
fn stumpff_by_series(z: f64) -> [f64; 4] {
    let z2 = z * z;
    // Even and odd powers apart, so that neither waits for the other.
    let series = |c: &[f64; TERMS]| {
        let (mut even, mut odd) = (c[TERMS - 1], c[TERMS - 2]);
        for i in (0..(TERMS - 1) / 2).rev() {
            even = c[2 * i] + z2 * even;
            if i > 0 {
                odd = c[2 * i - 1] + z2 * odd;
            }
        }
        even + z * odd
    };
    let (c2, c3) = (series(&OF_C2), series(&OF_C3));
    [1.0 - z * c2, 1.0 - z * c3, c2, c3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::sub;

    #[test]
    fn elements_of_an_ellipse_by_hand() {
        // Pericentre 1 - e of an orbit with a = 1, M = 1.
        let e: f64 = 0.6;
        let v = ((1.0 + e) / (1.0 - e)).sqrt();
        let orbit = Orbit::of(&[1.0 - e, 0.0, 0.0], &[0.0, v, 0.0], 1.0);
        assert!((orbit.axis - 1.0).abs() < 1e-14 && (orbit.eccentricity - e).abs() < 1e-14);
        assert!((orbit.pericentre() - 0.4).abs() < 1e-14);
        assert!((orbit.apocentre() - 1.6).abs() < 1e-14);
        assert!((orbit.period() - std::f64::consts::TAU).abs() < 1e-13);
        assert!((orbit.energy() + 0.5).abs() < 1e-14);
        let open = Orbit::of(&[1.0, 0.0, 0.0], &[0.0, 3.0, 0.0], 1.0);
        assert!(!open.is_bound() && open.eccentricity > 1.0);
        assert!((open.pericentre() - 1.0).abs() < 1e-14);
    }

    /// Forwards and back, and the constants of the motion, from a circle to a fast hyperbola and nearly radial.
    #[test]
    fn a_drift_keeps_the_orbit_and_comes_back() {
        for speed in [
            0.001,
            0.5,
            1.0,
            1.3,
            1.999_f64.sqrt(),
            2.001_f64.sqrt(),
            4.0,
        ] {
            for dt in [1e-6, 0.1, 1.0, 17.0, 1000.0, -3.0] {
                let (x, v): (Vec3, Vec3) =
                    ([1.0, 0.0, 0.0], [0.3 * speed, 0.8 * speed, 0.5 * speed]);
                let (x1, v1) = drift(&x, &v, 1.0, dt);
                let (before, after) = (Orbit::of(&x, &v, 1.0), Orbit::of(&x1, &v1, 1.0));
                // Close to the centre the energy is the difference of two large numbers.
                let digits = 1e-13 * (1.0 + 1.0 / norm(&x1));
                assert!(
                    (1.0 / after.axis - 1.0 / before.axis).abs() < digits,
                    "{speed} {dt}: {before:?} {after:?}"
                );
                let turned = norm(&sub(&after.momentum, &before.momentum));
                assert!(
                    turned < 1e-12 * (1.0 + norm(&x1)),
                    "{speed} {dt}: {turned:e}"
                );
                let (x0, v0) = drift(&x1, &v1, 1.0, -dt);
                let missed = norm(&sub(&x0, &x)) + norm(&sub(&v0, &v));
                let phase = 1e-11 * (1.0 + dt.abs()) / before.pericentre().min(1.0);
                assert!(missed < phase.max(1e-11), "{speed} {dt}: {missed:e}");
            }
        }
    }

    /// Elliptic and hyperbolic functions are special cases.
    #[test]
    fn stumpff_s_functions_by_others() {
        for x in [1e-9, 1e-3, 0.1, 0.3, 0.7, 1.0, 2.0, 3.1, 6.0] {
            let x: f64 = x;
            let c = stumpff(x * x);
            let expected = [x.cos(), x.sin() / x];
            let c = [c[0], c[1], c[2] * x * x + c[0], c[3] * x * x + c[1]];
            for (found, expected) in c.iter().zip([expected[0], expected[1], 1.0, 1.0]) {
                assert!((found - expected).abs() < 3e-15, "{x}: {c:?}");
            }
            if x < 1.0 {
                let others = stumpff_by_series(x * x);
                let both = others.iter().zip(stumpff(x * x));
                assert!(both.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) < 1e-15);
            }
            let c = stumpff(-x * x);
            for (found, expected) in c.iter().zip([x.cosh(), x.sinh() / x]) {
                assert!((found / expected - 1.0).abs() < 2e-14, "{x}: {c:?}");
            }
        }
        // (1 - cos x) / x^2 at x = 0.5.
        assert!((stumpff(0.25)[2] - 0.489_669_752_438_509_1).abs() < 1e-15);
    }

    /// Any phase of any orbit is reached in few steps: by the eccentric anomaly of the target.
    #[test]
    fn a_drift_meets_the_time_on_any_orbit() {
        for e in [0.0, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-9] {
            let place = |anomaly: f64| {
                let (sine, cosine) = anomaly.sin_cos();
                let (flat, r): (f64, f64) = (1.0 - e * e, 1.0 - e * cosine);
                let x = [cosine - e, flat.sqrt() * sine, 0.0];
                let v = [-sine / r, flat.sqrt() * cosine / r, 0.0];
                (x, v, anomaly - e * sine)
            };
            for from in [-3.0, -1.0, -0.1, 0.5, 2.0] {
                for by in [1e-4, 0.01, 0.3, 1.0, 2.5, -0.7, -2.9] {
                    let (x, v, t0) = place(from);
                    let (x1, _, t1) = place(from + by);
                    let (found, _) = drift(&x, &v, 1.0, t1 - t0);
                    let missed = norm(&sub(&found, &x1));
                    // Near a pericentre the orbit depends on the last digits of the place.
                    let near = (norm(&x) * norm(&x1)).powi(2);
                    assert!(missed < 1e-14 + 2e-15 / near, "{e} {from} {by}: {missed:e}");
                }
            }
        }
    }

    /// Kepler's own equation: the ellipse a = 1, e = 0.5 from its pericentre, a quarter of a period on.
    #[test]
    fn a_quarter_of_a_period_by_kepler_s_equation() {
        let (e, t): (f64, f64) = (0.5, std::f64::consts::FRAC_PI_2);
        let mut anomaly = t;
        for _ in 0..60 {
            anomaly = t + e * anomaly.sin();
        }
        let (x, _) = drift(&[1.0 - e, 0.0, 0.0], &[0.0, 3.0_f64.sqrt(), 0.0], 1.0, t);
        let expected = [anomaly.cos() - e, (1.0 - e * e).sqrt() * anomaly.sin(), 0.0];
        assert!(norm(&sub(&x, &expected)) < 1e-13, "{x:?} {expected:?}");
        let (x, _) = drift(
            &[1.0 - e, 0.0, 0.0],
            &[0.0, 3.0_f64.sqrt(), 0.0],
            1.0,
            t + 100.0 * 4.0 * t,
        );
        assert!(norm(&sub(&x, &expected)) < 1e-12, "{x:?} {expected:?}");
    }
}
