//! A potential from a file: a spherical or an axisymmetric table.
//!
//! ```text
//! # Anything from a hash on is a comment.
//! r_kpc mass_solar                       spherical: the mass within each radius
//! 0.1   2.1e8
//!
//! R_kpc z_kpc potential_km2_s2           axisymmetric: a grid of R and z from 0 on, in any order; even in z
//! 0     0     -250000
//! ```
//!
//! A spherical table has masses; their logarithms are interpolated by cubic polynomials in ln r that do not fall, and the potential is
//! the integral of the force. With two rows a decade forces are right to some per cent. Rows without mass before the first mass say nothing. An axisymmetric table is interpolated by bicubic polynomials, and the force is the gradient
//! of the potential. In both cases energy is conserved.

use std::path::{Path, PathBuf};

use super::Field;
use super::milky_way::solar_masses;
use super::multipole::gauss_legendre;
use crate::command::named;
use crate::vector::Vec3;

/// A table with the file that it came from.
#[derive(Clone, Debug)]
pub struct Table {
    /// The file.
    pub path: PathBuf,
    /// CRC-32 of its bytes.
    pub sum: u32,
    shape: Shape,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.sum == other.sum
    }
}

#[derive(Clone, Debug)]
enum Shape {
    Sphere(SphereTable),
    Grid(GridTable),
}

impl Table {
    /// The table in the file at `path`.
    ///
    /// # Errors
    ///
    /// It cannot be read or is none; in words.
    pub fn load(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(named(path))?;
        let text = std::str::from_utf8(&bytes).map_err(named(path))?;
        Ok(Self {
            path: std::path::absolute(path).map_err(named(path))?,
            sum: crc32fast::hash(&bytes),
            shape: Shape::parse(text.strip_prefix('\u{feff}').unwrap_or(text))
                .map_err(named(path))?,
        })
    }
}

impl Table {
    /// Where the table ends, in words, if nothing is known of the potential beyond.
    pub fn edge(&self) -> Option<String> {
        match &self.shape {
            Shape::Sphere(_) => None,
            Shape::Grid(grid) => {
                let (r, z) = (grid.r[grid.r.len() - 1], grid.z[grid.z.len() - 1]);
                Some(format!("R = {r} kpc, |z| = {z} kpc"))
            }
        }
    }
}

impl Field for Table {
    fn potential(&self, x: &Vec3) -> f64 {
        match &self.shape {
            Shape::Sphere(table) => table.potential(x),
            Shape::Grid(table) => table.at(x).0,
        }
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        match &self.shape {
            Shape::Sphere(table) => table.acceleration(x),
            Shape::Grid(table) => table.at(x).1,
        }
    }
}

impl Shape {
    fn parse(text: &str) -> Result<Self, String> {
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default());
        let mut lines = lines
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let words = |line: &str| -> Vec<String> {
            let words = line.split([',', ' ', '\t']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        let Some((_, head)) = lines.next() else {
            return Err("the table is empty".to_owned());
        };
        let names = words(head);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut rows = Vec::new();
        for (number, line) in lines {
            let row: Option<Vec<f64>> = words(line.trim()).iter().map(|w| w.parse().ok()).collect();
            match row.filter(|row| row.len() == names.len() && row.iter().all(|x| x.is_finite())) {
                Some(row) => rows.push(row),
                None => return Err(format!("line {}: not {} numbers", number + 1, names.len())),
            }
        }
        match names[..] {
            ["r_kpc", "mass_solar"] => SphereTable::of(&rows).map(Self::Sphere),
            ["R_kpc", "z_kpc", "potential_km2_s2"] => GridTable::of(&rows).map(Self::Grid),
            _ => Err(
                "the first line has neither the columns r_kpc mass_solar nor R_kpc z_kpc potential_km2_s2"
                    .to_owned(),
            ),
        }
    }
}

/// Slope at the first of four points of the cubic through them.
fn end_slope(x: &[f64], y: &[f64], i: [usize; 4]) -> f64 {
    // By divided differences.
    let points = i.map(|k| (x[k], y[k]));
    let mut slope = 0.0;
    for (a, (xa, ya)) in points.iter().enumerate() {
        let mut others = 1.0;
        let mut terms = 0.0;
        for (b, (xb, _)) in points.iter().enumerate().filter(|(b, _)| *b != a) {
            let mut product = 1.0;
            for (c, (xc, _)) in points.iter().enumerate() {
                if c != a && c != b {
                    product *= points[0].0 - xc;
                }
            }
            terms += product;
            others *= xa - xb;
        }
        slope += ya * terms / others;
    }
    slope
}

/// Slopes at the first and the last of the points `x`: of the cubics through the first four and the last four.
fn end_slopes(x: &[f64], y: &[f64]) -> [f64; 2] {
    let n = x.len();
    [
        end_slope(x, y, [0, 1, 2, 3]),
        end_slope(x, y, [n - 1, n - 2, n - 3, n - 4]),
    ]
}

/// Slopes at the points `x` of the cubic spline through them with these slopes at its ends.
fn slopes(x: &[f64], y: &[f64], [first, last]: [f64; 2]) -> Vec<f64> {
    let n = x.len();
    // Thomas's algorithm for continuous second derivatives.
    let (mut diagonal, mut right) = (vec![1.0; n], vec![first; n]);
    let mut upper = vec![0.0; n];
    right[n - 1] = last;
    for i in 1..n - 1 {
        let (h0, h1) = (x[i] - x[i - 1], x[i + 1] - x[i]);
        let (d0, d1) = ((y[i] - y[i - 1]) / h0, (y[i + 1] - y[i]) / h1);
        let lower = h1;
        let factor = lower / diagonal[i - 1];
        upper[i] = h0;
        diagonal[i] = 2.0 * (h0 + h1) - factor * upper[i - 1];
        right[i] = 3.0 * (h1 * d0 + h0 * d1) - factor * right[i - 1];
    }
    for i in (1..n - 1).rev() {
        right[i] = (right[i] - upper[i] * right[i + 1]) / diagonal[i];
    }
    right
}

/// Slopes at logarithms `x` of radii for logarithms `y` of the masses within, such that these do not fall between the points either: no slope is
/// beyond those of the lines to both neighbours, nor above three times the smaller one (F. N. Fritsch and R. E. Carlson, 1980). At the first point it is at most 3, as where the density is constant.
fn slopes_of_masses(x: &[f64], y: &[f64]) -> Vec<f64> {
    let line = |k: usize| (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
    let last = x.len() - 1;
    let (inner, outer) = (line(0), line(last - 1));
    let [first, end] = end_slopes(x, y);
    let steepest = inner.max(3.0).min(3.0 * inner);
    let ends = [first.clamp(inner, steepest), end.clamp(0.0, outer)];
    let mut slopes = slopes(x, y, ends);
    for (k, slope) in slopes.iter_mut().enumerate().take(last).skip(1) {
        let (a, b) = (line(k - 1), line(k));
        *slope = slope.clamp(a.min(b), a.max(b).min(3.0 * a.min(b)));
    }
    slopes
}

/// The cubic with these values and slopes at both ends of an interval `h`, at the part `t` of it: value and slope.
fn cubic(t: f64, h: f64, [a, b]: [f64; 2], [p, q]: [f64; 2]) -> (f64, f64) {
    let (d, s) = (b - a, 1.0 - t);
    let (p, q) = (h * p, h * q);
    let value = a + t * (d + s * ((p - d) * s - (q - d) * t));
    let slope = d + (1.0 - 2.0 * t) * ((p - d) * s - (q - d) * t) - t * s * (p + q - 2.0 * d);
    (value, slope / h)
}

/// The interval of the sorted `x` that holds `at`, and the part of it.
fn interval(x: &[f64], at: f64) -> (usize, f64) {
    let k = x.partition_point(|x| *x <= at).clamp(1, x.len() - 1) - 1;
    (k, (at - x[k]) / (x[k + 1] - x[k]))
}

/// Mass within a radius, in the model's units.
#[derive(Clone, Debug)]
struct SphereTable {
    /// Logarithms of the radii, and of the masses within.
    log: Vec<f64>,
    mass: Vec<f64>,
    /// Slopes of these over those.
    slope: Vec<f64>,
    /// Potential at the radii.
    potential: Vec<f64>,
    points: Vec<(f64, f64)>,
}

impl SphereTable {
    fn of(rows: &[Vec<f64>]) -> Result<Self, String> {
        let rises = |k: usize| rows.windows(2).all(|pair| pair[0][k] < pair[1][k]);
        let grows = rows.windows(2).all(|pair| pair[0][1] <= pair[1][1]);
        if rows.len() < 4 || rows[0][0] <= 0.0 || rows[0][1] < 0.0 || !rises(0) || !grows {
            return Err(
                "a sphere needs four radii above 0 or more, which rise, and masses that do not fall"
                    .to_owned(),
            );
        }
        let rows = &rows[rows.partition_point(|row| row[1] == 0.0)..];
        if rows.len() < 4 {
            return Err("a sphere needs four radii or more with mass within".to_owned());
        }
        let log: Vec<f64> = rows.iter().map(|row| row[0].ln()).collect();
        let mass: Vec<f64> = rows.iter().map(|row| solar_masses(row[1]).ln()).collect();
        let slope = slopes_of_masses(&log, &mass);
        let mut table = Self {
            potential: vec![0.0; log.len()],
            points: gauss_legendre(12),
            log,
            mass,
            slope,
        };
        let last = table.log.len() - 1;
        table.potential[last] = -(table.mass[last] - table.log[last]).exp();
        for k in (0..last).rev() {
            let end = table.log[k + 1];
            table.potential[k] = table.potential[k + 1] - table.between(k, table.log[k], end);
        }
        Ok(table)
    }

    /// Mass within exp(u), where u is in interval `k`.
    fn mass_in(&self, k: usize, u: f64) -> f64 {
        let h = self.log[k + 1] - self.log[k];
        let t = (u - self.log[k]) / h;
        let (mass, slope) = (&self.mass, &self.slope);
        let (log, _) = cubic(t, h, [mass[k], mass[k + 1]], [slope[k], slope[k + 1]]);
        log.exp()
    }

    /// The integral of the force from `a` to `b`, logarithms of radii in interval `k`.
    fn between(&self, k: usize, a: f64, b: f64) -> f64 {
        let half = 0.5 * (b - a);
        let at = |node: f64| {
            let u = a + half * (1.0 + node);
            self.mass_in(k, u) * (-u).exp()
        };
        half * self
            .points
            .iter()
            .map(|(node, w)| w * at(*node))
            .sum::<f64>()
    }

    /// Beyond the table is no mass; within its first radius the density is constant.
    fn mass(&self, r: f64) -> f64 {
        let (first, last) = (self.log[0], self.log[self.log.len() - 1]);
        match r.ln() {
            u if u >= last => self.mass[self.mass.len() - 1].exp(),
            u if u <= first => (self.mass[0] + 3.0 * (u - first)).exp(),
            u => self.mass_in(interval(&self.log, u).0, u),
        }
    }
}

impl Field for SphereTable {
    fn potential(&self, x: &Vec3) -> f64 {
        let r = crate::vector::norm(x);
        let (first, last) = (self.log[0].exp(), self.log.len() - 1);
        if r >= self.log[last].exp() {
            return -self.mass[last].exp() / r;
        }
        if r <= first {
            let depth = 0.5 * self.mass[0].exp() / first * (1.0 - (r / first).powi(2));
            return self.potential[0] - depth;
        }
        let (k, _) = interval(&self.log, r.ln());
        self.potential[k] + self.between(k, self.log[k], r.ln())
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let r = crate::vector::norm(x).max(1e-12);
        let g = -self.mass(r) / (r * r * r);
        x.map(|c| g * c)
    }
}

/// A grid of R and z in the model's units, with derivatives of the potential.
#[derive(Clone, Debug)]
struct GridTable {
    r: Vec<f64>,
    z: Vec<f64>,
    /// Potential, its derivatives by R and z, and by both; in the order of R, then z.
    knots: Vec<[f64; 4]>,
}

impl GridTable {
    fn of(rows: &[Vec<f64>]) -> Result<Self, String> {
        let axis = |k: usize| {
            let mut values: Vec<f64> = rows.iter().map(|row| row[k]).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            values
        };
        let (r, z) = (axis(0), axis(1));
        let mut knots = vec![[f64::NAN; 4]; r.len() * z.len()];
        for row in rows {
            let place = |axis: &[f64], x: f64| axis.partition_point(|a| *a < x);
            // km^2/s^2 in 100 km^2/s^2.
            knots[place(&r, row[0]) * z.len() + place(&z, row[1])][0] = row[2] / 100.0;
        }
        let whole = rows.len() == knots.len() && knots.iter().all(|k| k[0].is_finite());
        if r.len() < 4 || z.len() < 4 || !whole || r[0] != 0.0 || z[0] != 0.0 {
            return Err(
                "a grid needs every pair of four R and four z or more, from 0 on".to_owned(),
            );
        }
        let mut grid = Self { r, z, knots };
        grid.derive();
        Ok(grid)
    }

    /// The derivatives at the knots; at the axis and in the plane they are 0.
    fn derive(&mut self) {
        let slopes = |x: &[f64], y: &[f64]| slopes(x, y, [0.0, end_slopes(x, y)[1]]);
        let (nr, nz) = (self.r.len(), self.z.len());
        for (from, to) in [(0, 1), (2, 3)] {
            if from == 2 {
                for i in 0..nr {
                    let line: Vec<f64> = (0..nz).map(|j| self.knots[i * nz + j][0]).collect();
                    for (j, slope) in slopes(&self.z, &line).into_iter().enumerate() {
                        self.knots[i * nz + j][2] = slope;
                    }
                }
            }
            for j in 0..nz {
                let line: Vec<f64> = (0..nr).map(|i| self.knots[i * nz + j][from]).collect();
                for (i, slope) in slopes(&self.r, &line).into_iter().enumerate() {
                    self.knots[i * nz + j][to] = slope;
                }
            }
        }
    }

    /// Potential and acceleration; not a number beyond the grid.
    fn at(&self, x: &Vec3) -> (f64, Vec3) {
        let (big_r, height) = (x[0].hypot(x[1]), x[2].abs());
        let (nr, nz) = (self.r.len(), self.z.len());
        if !(big_r <= self.r[nr - 1] && height <= self.z[nz - 1]) {
            return (f64::NAN, [f64::NAN; 3]);
        }
        let ((i, s), (j, t)) = (interval(&self.r, big_r), interval(&self.z, height));
        let (hr, hz) = (self.r[i + 1] - self.r[i], self.z[j + 1] - self.z[j]);
        let corner = |di: usize, dj: usize| &self.knots[(i + di) * nz + j + dj];
        // Along z at both R: the potential and its derivative by R.
        let line = |di: usize, what: usize| {
            let (a, b) = (corner(di, 0), corner(di, 1));
            cubic(t, hz, [a[what], b[what]], [a[what + 2], b[what + 2]])
        };
        let (low, high) = ([line(0, 0), line(0, 1)], [line(1, 0), line(1, 1)]);
        let (value, by_r) = cubic(s, hr, [low[0].0, high[0].0], [low[1].0, high[1].0]);
        let (by_z, _) = cubic(s, hr, [low[0].1, high[0].1], [low[1].1, high[1].1]);
        let part = |c: f64| if big_r > 0.0 { c / big_r } else { 0.0 };
        let a = [
            -by_r * part(x[0]),
            -by_r * part(x[1]),
            -by_z * x[2].signum(),
        ];
        (value, a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::galaxy::component::{Disc, Plummer};
    use crate::vector::{norm, sub};

    fn errors(table: &Shape, field: &dyn Field, x: &Vec3) -> (f64, f64) {
        let (potential, a) = match table {
            Shape::Sphere(t) => (t.potential(x), t.acceleration(x)),
            Shape::Grid(t) => t.at(x),
        };
        let expected = field.acceleration(x);
        (
            (potential / field.potential(x) - 1.0).abs(),
            norm(&sub(&a, &expected)) / norm(&expected),
        )
    }

    #[test]
    fn a_sphere_comes_back_from_its_masses() {
        let sphere = Plummer {
            m: solar_masses(1e11),
            b: 2.0,
        };
        let mut text = "r_kpc mass_solar # a Plummer sphere\n".to_owned();
        for k in 0..200 {
            let r = 0.01 * (f64::from(k) * 0.06).exp();
            let mass = 1e11 * r.powi(3) / (r * r + 4.0).powf(1.5);
            text.push_str(&format!("{r:?} {mass:?}\n"));
        }
        let table = Shape::parse(&text).unwrap();
        for x in [
            [8.0, 0.0, 0.5],
            [0.3, 0.2, 0.1],
            [0.001, 0.0, 0.0],
            [500.0, 1.0, 1.0],
        ] {
            let (potential, force) = errors(&table, &sphere, &x);
            assert!(
                potential < 1e-4 && force < 2e-4,
                "{x:?}: {potential:e} {force:e}"
            );
        }
    }

    /// A spline through the masses themselves would have negative ones between these rows.
    #[test]
    fn a_row_or_two_a_decade_are_enough() {
        let sphere = Plummer {
            m: solar_masses(1e11),
            b: 2.0,
        };
        for (rows, tolerance) in [(5, 0.25), (9, 0.04)] {
            // The byte-order mark of Excel, and a radius without mass.
            let mut text = "\u{feff}r_kpc,mass_solar\n0.001,0\n".to_owned();
            for k in 0..rows {
                let r = 0.1 * 10_f64.powf(4.0 * f64::from(k) / f64::from(rows - 1));
                let mass = 1e11 * r.powi(3) / (r * r + 4.0).powf(1.5);
                text.push_str(&format!("{r:?},{mass:?}\n"));
            }
            let folder = kirin_testing::Folder::new("kit-rows");
            let path = folder.file("rows.csv");
            std::fs::write(&path, text).unwrap();
            let table = Table::load(path.as_ref()).unwrap();
            let mut before = 0.0;
            for k in 0..400 {
                let r = 0.02 * 1.03_f64.powi(k);
                let (_, force) = errors(&table.shape, &sphere, &[r, 0.0, 0.0]);
                assert!(force < tolerance, "{rows}: {r} {force}");
                let mass = -table.acceleration(&[r, 0.0, 0.0])[0] * r * r;
                assert!(mass >= before * (1.0 - 1e-12), "{rows}: {r}");
                before = mass;
            }
        }
        let table = |masses: [f64; 6]| {
            let rows: Vec<Vec<f64>> = (1..)
                .zip(masses)
                .map(|(r, m)| vec![f64::from(r), m])
                .collect();
            SphereTable::of(&rows)
        };
        // A sphere that ends, and one with a mass in its centre.
        for masses in [
            [1.0, 2.0, 4.0, 8.0, 8.0, 8.0],
            [4e6, 4.1e6, 5e8, 6e9, 7e9, 7e9],
        ] {
            let table = table(masses).unwrap();
            let within = |k: i32| table.mass(0.5 + 0.01 * f64::from(k));
            assert!((0..700).all(|k| within(k) <= within(k + 1) * (1.0 + 1e-12)));
        }
        assert!(table([0.0, 0.0, 1e9, 1e9, 2e9, 2e9]).is_ok());
        assert!(table([0.0, 0.0, 0.0, 1e9, 2e9, 2e9]).is_err());
    }

    #[test]
    fn a_grid_comes_back_from_its_potentials() {
        let disc = Disc {
            m: 4000.0,
            a: 3.0,
            b: 0.5,
        };
        let axis = |k: i32| f64::from(k * k) * 0.01;
        let mut text = "R_kpc,z_kpc,potential_km2_s2\n".to_owned();
        for i in 0..60 {
            for j in 0..50 {
                let (r, z) = (axis(i), axis(j));
                text.push_str(&format!(
                    "{r},{z},{:?}\n",
                    100.0 * disc.potential(&[r, 0.0, z])
                ));
            }
        }
        let table = Shape::parse(&text).unwrap();
        for x in [
            [8.0, 0.0, 0.5],
            [-3.0, 2.0, -1.0],
            [0.0, 0.0, 3.0],
            [5.0, 5.0, 0.01],
        ] {
            let (potential, force) = errors(&table, &disc, &x);
            assert!(
                potential < 1e-6 && force < 1e-4,
                "{x:?}: {potential:e} {force:e}"
            );
        }
        let Shape::Grid(grid) = &table else {
            panic!("a grid")
        };
        assert!(grid.at(&[40.0, 0.0, 0.0]).0.is_nan());
        // The force is the gradient to rounding, also between the knots.
        let x = [4.321, 0.0, 0.777];
        let h = 1e-3;
        let at = |h: f64| grid.at(&[x[0] + h, x[1], x[2]]).0;
        let slope = (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h);
        assert!((grid.at(&x).1[0] + slope).abs() < 1e-9 * slope.abs());
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (text, words) in [
            ("", "empty"),
            ("r m\n1 2\n", "columns"),
            ("r_kpc mass_solar\n1 2\n2 x\n", "line 3"),
            ("r_kpc mass_solar\n1 2\n2 3\n", "four radii"),
            ("r_kpc mass_solar\n1 2\n2 3\n3 2\n4 5\n", "do not fall"),
            ("R_kpc z_kpc potential_km2_s2\n0 0 1\n", "every pair"),
        ] {
            let refusal = Shape::parse(text).unwrap_err();
            assert!(refusal.contains(words), "{words}: {refusal}");
        }
    }
}
