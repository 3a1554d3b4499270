//! A rotating bar. G = 1; masses and lengths in any units.

use std::f64::consts::PI;

use super::Field;
use super::words::{self, Part};
use crate::elementary::ln;
use crate::vector::{Vec3, dot};

/// The softened needle of Long and Murali (1992, ApJ 397, 44) along the x axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needle {
    /// Mass.
    pub m: f64,
    /// Half length.
    pub a: f64,
    /// Softening across the bar.
    pub b: f64,
    /// Softening in height.
    pub c: f64,
}

/// x + sqrt(x^2 + w2) without loss of digits.
fn sum(x: f64, w2: f64) -> f64 {
    let root = (x * x + w2).sqrt();
    match x < 0.0 {
        true => w2 / (root - x),
        false => x + root,
    }
}

impl Needle {
    /// sqrt(z^2 + c^2), that with b, and y^2 + (b + sqrt(z^2 + c^2))^2.
    fn widths(&self, [_, y, z]: &Vec3) -> (f64, f64, f64) {
        let height = (z * z + self.c * self.c).sqrt();
        let with_b = self.b + height;
        (height, with_b, y * y + with_b * with_b)
    }
}

impl Field for Needle {
    fn potential(&self, x: &Vec3) -> f64 {
        let (_, _, w2) = self.widths(x);
        let ends = sum(x[0] - self.a, w2) / sum(x[0] + self.a, w2);
        0.5 * self.m / self.a * ln(ends)
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let (height, with_b, w2) = self.widths(x);
        let end = |d: f64| {
            let root = (d * d + w2).sqrt();
            (1.0 / root, 1.0 / (root * sum(d, w2)))
        };
        let ((near, near_side), (far, far_side)) = (end(x[0] - self.a), end(x[0] + self.a));
        let g = -0.5 * self.m / self.a;
        let side = g * (near_side - far_side);
        let lever = if height > 0.0 {
            x[2] * with_b / height
        } else {
            0.0
        };
        [g * (near - far), side * x[1], side * lever]
    }

    /// That of Miyamoto and Nagai's disc (1975), integrated along the needle. A bar without height has none beside its plane.
    fn density(&self, x: &Vec3) -> f64 {
        let Self { m, a, b, c } = *self;
        let (height, with_b, w2) = self.widths(x);
        if height == 0.0 {
            return 0.0;
        }
        let still = b * x[1] * x[1] + (b + 3.0 * height) * with_b * with_b;
        // Integrals of (d^2 + w2)^(-5/2) and of d^2 times that.
        let up_to = |d: f64| {
            let (d2, s2) = (d * d, d * d + w2);
            d / (3.0 * w2 * s2 * s2.sqrt()) * (still * (3.0 * w2 + 2.0 * d2) / w2 + b * d2)
        };
        let whole = c * c * m / (8.0 * PI * a * height.powi(3));
        whole * (up_to(x[0] + a) - up_to(x[0] - a))
    }
}

/// The needle, turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The bar.
    pub needle: Needle,
    /// Angular speed, counterclockwise as seen from positive z.
    pub speed: f64,
    /// Angle of the long axis from the x axis at the time 0.
    pub angle: f64,
}

impl Bar {
    /// The bar as it stands at `t`.
    pub fn at(&self, t: f64) -> Turned {
        self.towards(self.angle + self.speed * t)
    }

    /// The bar with its long axis at an angle from the x axis.
    pub fn towards(&self, angle: f64) -> Turned {
        let (sin, cos) = angle.sin_cos();
        Turned {
            needle: self.needle,
            speed: self.speed,
            sin,
            cos,
        }
    }
}

/// The bar at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turned {
    needle: Needle,
    speed: f64,
    sin: f64,
    cos: f64,
}

impl Turned {
    /// For a GPU.
    pub(super) fn words(&self) -> Part {
        words::bar(&self.needle, [self.sin, self.cos], self.speed)
    }

    fn inward(&self, [x, y, z]: &Vec3) -> Vec3 {
        [self.cos * x + self.sin * y, self.cos * y - self.sin * x, *z]
    }

    fn outward(&self, [x, y, z]: &Vec3) -> Vec3 {
        [self.cos * x - self.sin * y, self.cos * y + self.sin * x, *z]
    }
}

impl Field for Turned {
    fn potential(&self, x: &Vec3) -> f64 {
        self.needle.potential(&self.inward(x))
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        self.outward(&self.needle.acceleration(&self.inward(x)))
    }

    fn density(&self, x: &Vec3) -> f64 {
        self.needle.density(&self.inward(x))
    }

    /// The potential turns: what passes a place at rest comes from behind.
    fn potential_change(&self, x: &Vec3) -> f64 {
        let turning = [-self.speed * x[1], self.speed * x[0], 0.0];
        dot(&turning, &self.acceleration(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that leaves its density to Poisson's equation.
    struct Unnamed(Turned);

    impl Field for Unnamed {
        fn potential(&self, x: &Vec3) -> f64 {
            self.0.potential(x)
        }

        fn acceleration(&self, x: &Vec3) -> Vec3 {
            self.0.acceleration(x)
        }
    }

    #[test]
    fn the_density_is_that_of_poissons_equation() {
        for (a, b, c) in [(4.0, 1.0, 0.5), (2.0, 0.0, 1.0), (0.1, 3.0, 0.2)] {
            let needle = Needle { m: 3.0, a, b, c };
            let bar = Bar {
                needle,
                speed: 0.0,
                angle: 0.7,
            };
            for x in [
                [0.0, 0.0, 0.0],
                [1.0, 2.0, 0.3],
                [-4.0, 0.5, -1.0],
                [3.0, -7.0, 2.0],
            ] {
                let (found, expected) = (bar.at(0.0).density(&x), Unnamed(bar.at(0.0)).density(&x));
                let error = (found - expected).abs() / expected;
                assert!(error < 1e-6, "{needle:?} {x:?}: {found:e} {expected:e}");
            }
        }
    }
}
