//! The parts of which models of galaxies are made. G = 1; masses and lengths in any units.

use super::Field;
use crate::elementary::{ln, pow};
use crate::vector::{Vec3, dot};

/// Plummer's sphere: bulges, and points with or without softening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plummer {
    /// Mass.
    pub m: f64,
    /// Scale length; 0 for a point.
    pub b: f64,
}

impl Plummer {
    /// r^2 + b^2; `None` at the very place of a bare point, which exerts no force there.
    fn squared(&self, x: &Vec3) -> Option<f64> {
        Some(dot(x, x) + self.b * self.b).filter(|s| *s > 0.0)
    }
}

impl Field for Plummer {
    fn potential(&self, x: &Vec3) -> f64 {
        self.squared(x).map_or(0.0, |s| -self.m / s.sqrt())
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let Some(s) = self.squared(x) else {
            return [0.0; 3];
        };
        let g = -self.m / (s * s.sqrt());
        x.map(|c| g * c)
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        let Some(s) = self.squared(x) else {
            return [0.0; 3];
        };
        let g = -self.m / (s * s.sqrt());
        let stretch = 3.0 * dot(x, v) / s;
        std::array::from_fn(|k| g * (v[k] - stretch * x[k]))
    }
}

/// The disc of Miyamoto and Nagai (1975, PASJ 27, 533): -m / sqrt(R^2 + (a + sqrt(z^2 + b^2))^2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Mass.
    pub m: f64,
    /// Scale length.
    pub a: f64,
    /// Scale height, above 0.
    pub b: f64,
}

impl Disc {
    /// sqrt(z^2 + b^2), that with a, and the square under the potential's root.
    fn lengths(&self, [x, y, z]: &Vec3) -> (f64, f64, f64) {
        let height = (z * z + self.b * self.b).sqrt();
        let with_a = self.a + height;
        (height, with_a, x * x + y * y + with_a * with_a)
    }
}

impl Field for Disc {
    fn potential(&self, x: &Vec3) -> f64 {
        -self.m / self.lengths(x).2.sqrt()
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let (height, with_a, s) = self.lengths(x);
        let g = -self.m / (s * s.sqrt());
        [g * x[0], g * x[1], g * x[2] * with_a / height]
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        let (height, with_a, s) = self.lengths(x);
        let g = -self.m / (s * s.sqrt());
        let rise = x[2] * v[2] / height;
        let stretch = 3.0 * (x[0] * v[0] + x[1] * v[1] + with_a * rise) / s;
        let lever = x[2] * with_a / height;
        let lever_change = v[2] * with_a / height - x[2] * rise * self.a / (height * height);
        [
            g * (v[0] - stretch * x[0]),
            g * (v[1] - stretch * x[1]),
            g * (lever_change - stretch * lever),
        ]
    }
}

/// The halo of Allen and Santillan (1991, equation 3) and, with p = 2, of Irrgang et al. (2013, equation 5). The mass
/// within r = s a is m s^p / (1 + s^(p-1)). Beyond the radius `cut` there is no mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Halo {
    /// The mass in the formula, which is not that of the halo.
    pub m: f64,
    /// Scale length.
    pub a: f64,
    /// The exponent, above 1.
    pub p: f64,
    /// Radius beyond which there is nothing.
    pub cut: f64,
}

impl Halo {
    /// s^(p-1) at the radius `r`.
    fn power(&self, r: f64) -> f64 {
        pow(r / self.a, self.p - 1.0)
    }

    /// Mass within `r`.
    pub fn mass(&self, r: f64) -> f64 {
        let r = r.min(self.cut);
        let power = self.power(r);
        self.m * (r / self.a) * power / (1.0 + power)
    }

    /// Mass within `r` over r^3, and its logarithmic derivative; 0 at the centre.
    fn pull(&self, r2: f64) -> (f64, f64) {
        let r = r2.sqrt();
        if r == 0.0 {
            return (0.0, 0.0);
        }
        if r > self.cut {
            return (self.mass(self.cut) / (r2 * r), -3.0);
        }
        let power = self.power(r);
        let part = power / (1.0 + power);
        let slope = self.p - 3.0 - (self.p - 1.0) * part;
        (self.m / (self.a * r2) * part, slope)
    }
}

impl Field for Halo {
    fn potential(&self, x: &Vec3) -> f64 {
        let r = dot(x, x).sqrt();
        if r > self.cut {
            return -self.mass(self.cut) / r;
        }
        let at_cut = self.power(self.cut);
        let inside = ln((1.0 + self.power(r)) / (1.0 + at_cut)) / (self.p - 1.0);
        self.m / self.a * (inside - at_cut / (1.0 + at_cut))
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let (g, _) = self.pull(dot(x, x));
        x.map(|c| -g * c)
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        let r2 = dot(x, x);
        let (g, slope) = self.pull(r2);
        if r2 == 0.0 {
            return [0.0; 3];
        }
        let stretch = slope * dot(x, v) / r2;
        std::array::from_fn(|k| -g * (v[k] + stretch * x[k]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central differences extrapolated twice: the error is of sixth order in the step.
    fn derivative(f: impl Fn(f64) -> f64, h: f64) -> f64 {
        let d = |h: f64| (f(h) - f(-h)) / (2.0 * h);
        let once = |h: f64| (4.0 * d(h / 2.0) - d(h)) / 3.0;
        (16.0 * once(h / 2.0) - once(h)) / 15.0
    }

    fn moved(x: &Vec3, k: usize, h: f64) -> Vec3 {
        let mut x = *x;
        x[k] += h;
        x
    }

    /// Largest error of acceleration and jerk in parts of their length.
    fn errors(field: &dyn Field, x: &Vec3, v: &Vec3) -> (f64, f64) {
        let (a, j) = (field.acceleration(x), field.jerk(x, v));
        let length = |a: &Vec3| dot(a, a).sqrt();
        let mut worst = (0.0_f64, 0.0_f64);
        for k in 0..3 {
            let gradient = derivative(|h| field.potential(&moved(x, k, h)), 0.02);
            worst.0 = worst.0.max((a[k] + gradient).abs() / length(&a));
            let along = |h: f64| std::array::from_fn(|i| x[i] + h * v[i]);
            let change = derivative(|h| field.acceleration(&along(h))[k], 0.02);
            worst.1 = worst.1.max((j[k] - change).abs() / length(&j));
        }
        worst
    }

    #[test]
    fn forces_are_derivatives_of_potentials_and_jerks_of_forces() {
        let bulge = Plummer { m: 600.0, b: 0.4 };
        let point = Plummer { m: 3.0, b: 0.0 };
        let disc = Disc {
            m: 3700.0,
            a: 5.0,
            b: 0.25,
        };
        let halo = Halo {
            m: 4600.0,
            a: 12.0,
            p: 2.02,
            cut: 30.0,
        };
        let isothermal = Halo { p: 2.0, ..halo };
        for field in [&bulge as &dyn Field, &point, &disc, &halo, &isothermal] {
            for x in [
                [8.0, 0.0, 0.0],
                [-3.0, 2.0, 0.5],
                [1.0, -1.0, -7.0],
                [20.0, 25.0, 10.0],
            ] {
                let (a, j) = errors(field, &x, &[1.0, -0.5, 0.7]);
                assert!(a < 1e-9 && j < 1e-9, "{x:?}: {a:e} {j:e}");
            }
        }
    }

    #[test]
    fn the_midst_is_no_trouble() {
        let zero = [0.0; 3];
        let halo = Halo {
            m: 1.0,
            a: 1.0,
            p: 2.02,
            cut: 9.0,
        };
        let point = Plummer { m: 1.0, b: 0.0 };
        for field in [&halo as &dyn Field, &point] {
            assert_eq!(field.acceleration(&zero), zero);
            assert_eq!(field.jerk(&zero, &[1.0; 3]), zero);
            assert!(field.potential(&zero).is_finite());
        }
    }

    #[test]
    fn a_halo_ends_at_its_cut() {
        let halo = Halo {
            m: 2.0,
            a: 3.0,
            p: 2.0,
            cut: 30.0,
        };
        let mass = halo.mass(1e9);
        assert!((mass - 2.0 * 100.0 / 11.0).abs() < 1e-12);
        let at = |r: f64| halo.potential(&[0.0, r, 0.0]);
        assert!((at(30.0 - 1e-9) - at(30.0 + 1e-9)).abs() < 1e-9);
        assert!((at(60.0) + mass / 60.0).abs() < 1e-12);
    }

    /// For a point the tide of a circular orbit is 3 M / r^3, and the radius r (m / 3 M)^(1/3).
    #[test]
    fn the_tidal_radius_of_a_point_is_hills() {
        let point = Plummer { m: 1e6, b: 0.0 };
        let x = [0.0, 50.0, 0.0];
        let v = [point.circular_speed(&x), 0.0, 0.0];
        let expected = 50.0 * (3.0 / 3e6_f64).cbrt();
        assert!((point.tidal_radius(3.0, &x, &v) / expected - 1.0).abs() < 1e-12);
    }
}
