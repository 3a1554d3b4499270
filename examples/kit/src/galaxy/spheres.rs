//! Spherical parts whose mass, density and potential are closed formulae. G = 1; masses and lengths in any units.

use std::f64::consts::PI;

use super::Field;
use crate::elementary::{exp, ln_1p, pow};
use crate::vector::{Vec3, dot};

/// A sphere.
pub trait Sphere {
    /// Mass within `r`, above 0.
    fn mass(&self, r: f64) -> f64;

    /// Density at `r`, above 0.
    fn density_at(&self, r: f64) -> f64;

    /// Potential at `r`, above 0.
    fn potential_at(&self, r: f64) -> f64;
}

/// Radius that stands for the centre, where densities may be infinite.
const CENTRE: f64 = 1e-12;

fn radius(x: &Vec3) -> f64 {
    dot(x, x).sqrt().max(CENTRE)
}

impl<S: Sphere> Field for S {
    fn potential(&self, x: &Vec3) -> f64 {
        self.potential_at(radius(x))
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let r = radius(x);
        let g = -self.mass(r) / (r * r * r);
        x.map(|c| g * c)
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        let r = radius(x);
        let mass = self.mass(r);
        let g = -mass / (r * r * r);
        let slope = 4.0 * PI * r * r * r * self.density_at(r) / mass - 3.0;
        let stretch = slope * dot(x, v) / (r * r);
        std::array::from_fn(|k| g * (v[k] + stretch * x[k]))
    }

    fn density(&self, x: &Vec3) -> f64 {
        self.density_at(radius(x))
    }
}

/// The halo of Navarro, Frenk and White (1997): density m / (4 pi r (r + a)^2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nfw {
    /// Mass in the formula, that within 5.3 scale lengths.
    pub m: f64,
    /// Scale length.
    pub a: f64,
}

impl Nfw {
    /// ln(1 + s) - s / (1 + s): the mass within s scale lengths.
    pub fn part(s: f64) -> f64 {
        if s < 1e-3 {
            // The difference would lose digits.
            return s * s * (0.5 - s * (2.0 / 3.0 - s * (0.75 - 0.8 * s)));
        }
        ln_1p(s) - s / (1.0 + s)
    }
}

impl Sphere for Nfw {
    fn mass(&self, r: f64) -> f64 {
        self.m * Self::part(r / self.a)
    }

    fn density_at(&self, r: f64) -> f64 {
        self.m / (4.0 * PI * r * (r + self.a).powi(2))
    }

    fn potential_at(&self, r: f64) -> f64 {
        -self.m * ln_1p(r / self.a) / r
    }
}

/// The sphere of Hernquist (1990): density m a / (2 pi r (r + a)^3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hernquist {
    /// Mass.
    pub m: f64,
    /// Scale length.
    pub a: f64,
}

impl Sphere for Hernquist {
    fn mass(&self, r: f64) -> f64 {
        self.m * (r / (r + self.a)).powi(2)
    }

    fn density_at(&self, r: f64) -> f64 {
        self.m * self.a / (2.0 * PI * r * (r + self.a).powi(3))
    }

    fn potential_at(&self, r: f64) -> f64 {
        -self.m / (r + self.a)
    }
}

/// A power law with an exponential cutoff: density proportional to r^-p exp(-(r / cut)^2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerCutoff {
    /// Mass.
    pub m: f64,
    /// Exponent, from 0 to below 2.
    pub p: f64,
    /// Radius of the cutoff.
    pub cut: f64,
    /// The gamma functions of (3 - p) / 2 and (2 - p) / 2.
    pub(super) gammas: [f64; 2],
}

impl PowerCutoff {
    /// The sphere of this mass, exponent and cutoff.
    pub fn new(m: f64, p: f64, cut: f64) -> Self {
        let gammas = [3.0, 2.0].map(|n| libm::tgamma(0.5 * (n - p)));
        Self { m, p, cut, gammas }
    }

    fn squared(&self, r: f64) -> f64 {
        (r / self.cut).powi(2)
    }
}

impl Sphere for PowerCutoff {
    fn mass(&self, r: f64) -> f64 {
        let gamma = self.gammas[0];
        self.m * (1.0 - upper_gamma(0.5 * (3.0 - self.p), self.squared(r), gamma) / gamma)
    }

    fn density_at(&self, r: f64) -> f64 {
        let central = self.m / (2.0 * PI * self.cut.powi(3) * self.gammas[0]);
        central * pow(r / self.cut, -self.p) * exp(-self.squared(r))
    }

    fn potential_at(&self, r: f64) -> f64 {
        let outside = upper_gamma(0.5 * (2.0 - self.p), self.squared(r), self.gammas[1]);
        -self.mass(r) / r - self.m / (self.cut * self.gammas[0]) * outside
    }
}

/// The incomplete gamma function of `a` from `x` to infinity, for `a` above 0. `gamma` is the complete gamma function
/// of `a`. For x below a + 1 a series is summed, above a continued fraction (by Lentz's method).
fn upper_gamma(a: f64, x: f64, gamma: f64) -> f64 {
    const EPSILON: f64 = 1e-17;
    let head = pow(x, a) * exp(-x);
    if x <= 0.0 {
        return gamma;
    }
    if head == 0.0 {
        return 0.0;
    }
    if x < a + 1.0 {
        let (mut term, mut n) = (1.0 / a, a);
        let mut sum = term;
        while term > EPSILON * sum {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return gamma - head * sum;
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut fraction = d;
    for i in 1..500 {
        let i = f64::from(i);
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    head * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By scipy 1.11: `special.gamma(a) * special.gammaincc(a, x)`.
    #[test]
    fn gamma_is_that_of_tables() {
        for (a, x, expected) in [
            (0.6, 0.0, 1.489_192_248_812_817),
            (0.6, 0.5, 0.542_150_690_0),
            (0.1, 2.0, 0.058_241_4),
        ] {
            let found = upper_gamma(a, x, libm::tgamma(a));
            // Against Simpson's rule, too, whose integrand is smooth from x on.
            if x > 0.0 {
                let n = 20_000;
                let h = 60.0 / f64::from(n);
                let f = |t: f64| t.powf(a - 1.0) * (-t).exp();
                let weight = |k: i32| {
                    if k == 0 || k == n {
                        1.0
                    } else if k % 2 == 1 {
                        4.0
                    } else {
                        2.0
                    }
                };
                let sum: f64 = (0..=n).map(|k| weight(k) * f(x + h * f64::from(k))).sum();
                assert!(
                    (found / (sum * h / 3.0) - 1.0).abs() < 1e-9,
                    "{a} {x}: {found}"
                );
            } else {
                assert!((found / expected - 1.0).abs() < 1e-12);
            }
        }
        // Both branches at their border.
        let whole = libm::tgamma(0.6);
        let [below, above] = [-1e-13, 1e-13].map(|d| upper_gamma(0.6, 1.6 + d, whole));
        assert!((below / above - 1.0).abs() < 1e-12);
    }
}
