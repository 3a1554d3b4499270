//! The potential of an axisymmetric density that is even in z, by its multipoles. G = 1.

use std::f64::consts::PI;

use super::Field;
use crate::elementary::{exp, ln, pow};
use crate::vector::Vec3;

/// Number of multipoles: l = 0, 2, ... 2 (N - 1).
const N: usize = 17;

/// Cosines of the polar angle between which the integrals over this angle are summed in parts. Near the plane of the
/// disc the parts are narrow.
const BORDERS: [f64; 7] = [0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// Points of Gauss and Legendre in each part.
const ANGLES: usize = 12;

/// The same between two radii of the table.
const RADII: usize = 4;

/// A multipole expansion: for each l the potential at the table's radii with two derivatives by ln r.
#[derive(Clone, Debug)]
pub struct Multipole {
    least: f64,
    most: f64,
    step: f64,
    table: Vec<[[f64; 3]; N]>,
}

impl Multipole {
    /// The expansion of `density(R, z)` between the radii `least` and `most`. Beyond `most` there is no mass. Within
    /// `least` the density is constant: its mean over all directions at the radius `least`.
    pub fn of(density: impl Fn(f64, f64) -> f64, least: f64, most: f64, lines: usize) -> Self {
        let step = ln(most / least) / lines as f64;
        let radius = |k: f64| least * exp(k * step);
        let angles: Vec<(f64, f64, [f64; N])> = angles();
        let project = |r: f64| {
            let mut parts = [0.0; N];
            for (cos, weight, legendre) in &angles {
                let rho = density(r * (1.0 - cos * cos).sqrt(), r * cos);
                for (k, part) in parts.iter_mut().enumerate() {
                    *part += weight * rho * (4 * k + 1) as f64 * legendre[k];
                }
            }
            parts
        };
        let at: Vec<[f64; N]> = (0..=lines).map(|k| project(radius(k as f64))).collect();
        let points = gauss_legendre(RADII);
        // Integrals over one interval of rho_l s^2 (s / outer)^l and rho_l s^2 (inner / s)^(l + 1).
        let mut shells = vec![([0.0; N], [0.0; N]); lines];
        for (k, shell) in shells.iter_mut().enumerate() {
            for (node, weight) in &points {
                let place = 0.5 * (1.0 + node);
                let s = radius(k as f64 + place);
                let parts = project(s);
                let volume = 0.5 * weight * step * s * s * s;
                for (i, part) in parts.iter().enumerate() {
                    let l = (2 * i) as f64;
                    shell.0[i] += volume * part * exp(-l * step * (1.0 - place));
                    shell.1[i] += volume * part * exp(-(l + 1.0) * step * place);
                }
            }
        }
        let mut inside = vec![[0.0; N]; lines + 1];
        let mut outside = vec![[0.0; N]; lines + 1];
        for i in 0..N {
            let l = (2 * i) as f64;
            // Terms (1/r) int rho s^2 (s/r)^l ds and (1/r) int rho s^2 (r/s)^(l+1) ds.
            inside[0][i] = at[0][i] * least * least / (2.0 * l + 3.0);
            for k in 0..lines {
                let shrink = exp(-(l + 1.0) * step);
                inside[k + 1][i] = inside[k][i] * shrink + shells[k].0[i] / radius((k + 1) as f64);
            }
            for k in (0..lines).rev() {
                let shrink = exp(-l * step);
                outside[k][i] = outside[k + 1][i] * shrink + shells[k].1[i] / radius(k as f64);
            }
        }
        let line = |k: usize| {
            std::array::from_fn(|i| {
                let l = (2 * i) as f64;
                let r = radius(k as f64);
                let factor = -4.0 * PI / (2.0 * l + 1.0);
                let value = factor * (inside[k][i] + outside[k][i]);
                let slope = factor * (l * outside[k][i] - (l + 1.0) * inside[k][i]);
                // Poisson's equation.
                let second = 4.0 * PI * r * r * at[k][i] + l * (l + 1.0) * value - slope;
                [value, slope, second]
            })
        };
        Self {
            least,
            most,
            step,
            table: (0..=lines).map(line).collect(),
        }
    }

    /// Least and largest radius, and the step of the logarithm.
    pub(super) fn range(&self) -> [f64; 3] {
        [self.least, self.most, self.step]
    }

    /// Number of radii.
    pub(super) fn radii(&self) -> usize {
        self.table.len()
    }

    /// The table, for each radius the potential of each l with two derivatives.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> {
        self.table.iter().flatten().flatten().copied()
    }

    /// Potential of each l at `r`, and its derivative by ln r.
    fn radial(&self, r: f64) -> [[f64; 2]; N] {
        let power = |line: &[[f64; 3]; N], exponent: &dyn Fn(f64) -> f64, ratio: f64| {
            std::array::from_fn(|i| {
                let p = exponent((2 * i) as f64);
                let value = line[i][0] * pow(ratio, p);
                [value, p * value]
            })
        };
        if r >= self.most {
            let last = &self.table[self.table.len() - 1];
            return power(last, &|l| -(l + 1.0), r / self.most);
        }
        if r <= self.least {
            let first = &self.table[0];
            let mut parts = power(first, &|l| l, r / self.least);
            let squared = (r / self.least).powi(2);
            parts[0] = [
                first[0][0] + 0.5 * first[0][1] * (squared - 1.0),
                first[0][1] * squared,
            ];
            return parts;
        }
        let place = ln(r / self.least) / self.step;
        let k = (place as usize).min(self.table.len() - 2);
        let basis = quintic(place - k as f64);
        let (a, b, h) = (&self.table[k], &self.table[k + 1], self.step);
        std::array::from_fn(|i| {
            let knots = [
                a[i][0],
                h * a[i][1],
                h * h * a[i][2],
                b[i][0],
                h * b[i][1],
                h * h * b[i][2],
            ];
            let mut sums = [0.0; 2];
            for (knot, [value, slope]) in knots.iter().zip(&basis) {
                sums[0] += knot * value;
                sums[1] += knot * slope / h;
            }
            sums
        })
    }
}

/// The polynomials of degree 5 that belong to value, first and second derivative at both ends, with their derivatives.
pub(super) fn quintic(t: f64) -> [[f64; 2]; 6] {
    let (t2, t3, t4) = (t * t, t * t * t, t * t * t * t);
    let t5 = t4 * t;
    [
        [
            1.0 - 10.0 * t3 + 15.0 * t4 - 6.0 * t5,
            -30.0 * t2 + 60.0 * t3 - 30.0 * t4,
        ],
        [
            t - 6.0 * t3 + 8.0 * t4 - 3.0 * t5,
            1.0 - 18.0 * t2 + 32.0 * t3 - 15.0 * t4,
        ],
        [
            0.5 * (t2 - 3.0 * t3 + 3.0 * t4 - t5),
            0.5 * (2.0 * t - 9.0 * t2 + 12.0 * t3 - 5.0 * t4),
        ],
        [
            10.0 * t3 - 15.0 * t4 + 6.0 * t5,
            30.0 * t2 - 60.0 * t3 + 30.0 * t4,
        ],
        [
            -4.0 * t3 + 7.0 * t4 - 3.0 * t5,
            -12.0 * t2 + 28.0 * t3 - 15.0 * t4,
        ],
        [
            0.5 * (t3 - 2.0 * t4 + t5),
            0.5 * (3.0 * t2 - 8.0 * t3 + 5.0 * t4),
        ],
    ]
}

/// Cosines, weights for the mean over a sphere's upper half, and Legendre polynomials of even degree.
fn angles() -> Vec<(f64, f64, [f64; N])> {
    let points = gauss_legendre(ANGLES);
    let mut angles = Vec::new();
    for border in BORDERS.windows(2) {
        let half = 0.5 * (border[1] - border[0]);
        for (node, weight) in &points {
            let cos = border[0] + half * (1.0 + node);
            angles.push((cos, half * weight, legendre(cos).map(|p| p[0])));
        }
    }
    angles
}

/// Legendre polynomials of even degree, and their derivatives.
fn legendre(x: f64) -> [[f64; 2]; N] {
    let mut even = [[1.0, 0.0]; N];
    let (mut before, mut now) = ([1.0, 0.0], [x, 1.0]);
    for l in 1..2 * N - 2 {
        let n = l as f64;
        let next = [
            ((2.0 * n + 1.0) * x * now[0] - n * before[0]) / (n + 1.0),
            before[1] + (2.0 * n + 1.0) * now[0],
        ];
        (before, now) = (now, next);
        if l % 2 == 1 {
            even[l.div_ceil(2)] = now;
        }
    }
    even
}

/// Nodes and weights of Gauss and Legendre on -1 to 1.
pub(super) fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let node = |k: usize| {
        let mut x = (PI * (k as f64 + 0.75) / (n as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..50 {
            let (mut before, mut now) = (1.0, x);
            for l in 1..n {
                let l = l as f64;
                (before, now) = (now, ((2.0 * l + 1.0) * x * now - l * before) / (l + 1.0));
            }
            slope = n as f64 * (x * now - before) / (x * x - 1.0);
            let change = now / slope;
            x -= change;
            if change.abs() < 1e-16 {
                break;
            }
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(node).collect()
}

impl Field for Multipole {
    fn potential(&self, [x, y, z]: &Vec3) -> f64 {
        let r = (x * x + y * y + z * z).sqrt().max(1e-12);
        let (radial, angular) = (self.radial(r), legendre(z / r));
        radial.iter().zip(&angular).map(|(f, p)| f[0] * p[0]).sum()
    }

    fn acceleration(&self, [x, y, z]: &Vec3) -> Vec3 {
        let r = (x * x + y * y + z * z).sqrt().max(1e-12);
        let cos = z / r;
        let (radial, angular) = (self.radial(r), legendre(cos));
        // By ln r at a fixed angle, and by the cosine.
        let (mut along, mut across) = (0.0, 0.0);
        for (f, p) in radial.iter().zip(&angular) {
            along += f[1] * p[0];
            across += f[0] * p[1];
        }
        let (g, h) = (-along / (r * r), -across / r);
        // The gradient of the cosine is (e_z - cos e_r) / r.
        let inward = g - h * cos / r;
        [inward * x, inward * y, inward * z + h]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::galaxy::component::{Disc, Plummer};

    /// The potential comes back from the density of a closed formula.
    fn errors(field: &impl Field, least: f64, most: f64) -> (f64, f64) {
        let density = |big_r: f64, z: f64| field.density(&[big_r, 0.0, z]);
        let expansion = Multipole::of(density, least, most, 200);
        let mut worst = (0.0_f64, 0.0_f64);
        for x in [
            [8.0, 0.0, 0.5],
            [1.0, -2.0, 3.0],
            [0.3, 0.4, 0.0],
            [0.0, 0.0, 6.0],
        ] {
            let (a, b) = (field.acceleration(&x), expansion.acceleration(&x));
            let off = crate::vector::sub(&a, &b);
            worst.0 = worst
                .0
                .max(crate::vector::norm(&off) / crate::vector::norm(&a));
            let ratio = expansion.potential(&x) / field.potential(&x);
            worst.1 = worst.1.max((ratio - 1.0).abs());
        }
        worst
    }

    #[test]
    fn a_sphere_and_a_thick_disc_come_back() {
        let sphere = errors(&Plummer { m: 2.0, b: 1.0 }, 1e-3, 1e4);
        assert!(sphere.0 < 1e-5 && sphere.1 < 1e-6, "{sphere:?}");
        let disc = errors(
            &Disc {
                m: 1.0,
                a: 1.0,
                b: 1.5,
            },
            1e-3,
            1e4,
        );
        assert!(disc.0 < 1e-4 && disc.1 < 1e-5, "{disc:?}");
    }

    /// Forces are the derivatives of the potential, not only nearly: energies of orbits depend on it.
    #[test]
    fn forces_are_those_of_the_potential() {
        let disc = Disc {
            m: 1.0,
            a: 1.0,
            b: 0.3,
        };
        let expansion = Multipole::of(|r, z| disc.density(&[r, 0.0, z]), 1e-2, 1e3, 60);
        for x in [
            [3.0, 1.0, 0.2],
            [0.5, 0.1, -2.0],
            [1e-3, 2e-3, 3e-3],
            [2e3, 0.0, 10.0],
        ] {
            let a = expansion.acceleration(&x);
            for k in 0..3 {
                let h = 3e-3 * crate::vector::norm(&x);
                let at = |h: f64| {
                    let mut y = x;
                    y[k] += h;
                    expansion.potential(&y)
                };
                let slope = (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h);
                let error = (a[k] + slope).abs() / crate::vector::norm(&a);
                assert!(error < 1e-7, "{x:?}: {error:e}");
            }
        }
    }
}
