//! Secular motion of a binary: what the tide of distant bodies does to its orbit in the mean over many revolutions.
//!
//! The tide is linear in the distance from the centre. Averaged over the orbit, it does not change the semi-major axis.
//! The eccentricity vector e, and the vector j of length sqrt(1 - e^2) along the angular momentum, change by
//! Milankovitch's equations (Tremaine, Touma and Namouni 2009, section 2; Kozai's cycles are among their solutions).

use super::kepler::Orbit;
use super::pair::Pull;
use crate::vector::{Vec3, add_scaled, cross, dot, norm, sub};

/// Changes of e and j below this are lost in the digits of an orbit.
const LEAST: f64 = 1e-15;

/// Values of |j| below which an orbit is radial: it has no plane.
const RADIAL: f64 = 1e-6;

/// Least arm of an [`Ellipse`] in semi-major axes: differences of forces keep their digits.
const SHORTEST: f64 = 1.0 / 64.0;

/// Accelerations that are linear in the place, and their time derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tensor {
    /// The acceleration at x is the product of this symmetric matrix with x.
    pub tide: [Vec3; 3],
    /// Its time derivative.
    pub rate: [Vec3; 3],
}

impl Tensor {
    /// Follows from the accelerations and their derivatives at the four [`places`](Ellipse::places) of an orbit. Of the
    /// component along the orbit's pole only the sum with the others is known, which is taken to be 0: it does not change
    /// the orbit.
    pub fn from_pulls(pulls: &[Pull], orbit: &Ellipse) -> Self {
        let part = |part: fn(&Pull) -> &Vec3| {
            let along = |k: usize| {
                let ends = sub(part(&pulls[2 * k]), part(&pulls[2 * k + 1]));
                ends.map(|c| 0.5 * c / orbit.arms[k])
            };
            orbit.symmetric(&[along(0), along(1)])
        };
        Self {
            tide: part(|pull| &pull.0),
            rate: part(|pull| &pull.1),
        }
    }

    /// Acceleration at `x` of what moves with `v`, and its time derivative.
    pub fn pull(&self, x: &Vec3, v: &Vec3) -> Pull {
        let mut change = product(&self.rate, x);
        add_scaled(&mut change, 1.0, &product(&self.tide, v));
        (product(&self.tide, x), change)
    }

    /// The greatest acceleration at the distance 1, for the tide of one body.
    pub fn strength(&self) -> f64 {
        (2.0 / 3.0 * square(&self.tide)).sqrt()
    }

    /// The time within which it changes.
    pub fn time_scale(&self) -> f64 {
        (square(&self.tide) / square(&self.rate)).sqrt()
    }

    /// The mean tide of a step of `dt` that ends now.
    fn mean_before(&self, dt: f64) -> [Vec3; 3] {
        let mut mean = self.tide;
        for (mean, rate) in mean.iter_mut().zip(&self.rate) {
            add_scaled(mean, -0.5 * dt, rate);
        }
        mean
    }
}

/// The orbit of a binary as the mean over a revolution sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse {
    /// Unit vectors towards the pericentre and across it, and that of the pole.
    axes: [Vec3; 3],
    /// Mean squares of the separation along the first two.
    squares: [f64; 2],
    /// Distances along them at which the mean of four forces is that on a revolution.
    arms: [f64; 2],
    /// Reduced mass.
    reduced: f64,
}

impl Ellipse {
    /// The orbit with the relative position `x` and velocity `v` of two bodies of these masses; `None` if they are not
    /// bound.
    pub fn of(x: &Vec3, v: &Vec3, [a, b]: [f64; 2]) -> Option<Self> {
        let mass = a + b;
        let orbit = Orbit::of(x, v, mass);
        if !orbit.is_bound() {
            return None;
        }
        let mut e = cross(v, &orbit.momentum).map(|c| c / mass);
        add_scaled(&mut e, -1.0 / norm(x), x);
        let first = match norm(&e) > LEAST {
            true => scaled(&e),
            false => scaled(x),
        };
        let across = cross(&orbit.momentum, &first);
        // A radial orbit has no plane: any will do.
        let second = match norm(&across) > 0.0 {
            true => scaled(&across),
            false => across_of(&first),
        };
        let (e2, square) = (orbit.eccentricity * orbit.eccentricity, orbit.axis.powi(2));
        let squares = [0.5 + 2.0 * e2, 0.5 * (1.0 - e2).max(0.0)].map(|part| part * square);
        let reduced = a * b / mass;
        // The mean of the forces at four places has a quarter of the square of each arm.
        let arm = |square: f64| {
            (2.0 * reduced / mass * square)
                .sqrt()
                .max(SHORTEST * orbit.axis)
        };
        Some(Self {
            axes: [first, second, cross(&first, &second)],
            squares,
            arms: squares.map(arm),
            reduced,
        })
    }

    /// Four places about the centre, two along each axis of the orbit. The mean of the forces there is the mean force on the
    /// centre over a revolution, to the order of the quadrupole.
    pub fn places(&self) -> [Vec3; 4] {
        [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)]
            .map(|(k, sign): (usize, f64)| self.axes[k].map(|c| sign * self.arms[k] * c))
    }

    /// The mean of x x over a revolution, where x is the separation, times the reduced mass.
    pub fn moment(&self) -> [Vec3; 3] {
        let mut moment = [[0.0; 3]; 3];
        for (axis, square) in self.axes.iter().zip(self.squares) {
            add_product(&mut moment, self.reduced * square, axis, axis);
        }
        moment
    }

    /// Mean potential energy in a tide over a revolution, for a unit of reduced mass.
    pub fn energy(&self, tensor: &Tensor) -> f64 {
        let along =
            |k: usize| self.squares[k] * dot(&self.axes[k], &product(&tensor.tide, &self.axes[k]));
        -0.5 * (along(0) + along(1))
    }

    /// The symmetric matrix without trace whose products with the first two axes are these.
    fn symmetric(&self, products: &[Vec3; 2]) -> [Vec3; 3] {
        let [first, second, pole] = &self.axes;
        let [ee, qq] = [dot(first, &products[0]), dot(second, &products[1])];
        let eq = 0.5 * (dot(first, &products[1]) + dot(second, &products[0]));
        let (en, qn) = (dot(pole, &products[0]), dot(pole, &products[1]));
        let mut matrix = [[0.0; 3]; 3];
        for (factor, a, b) in [
            (ee, first, first),
            (qq, second, second),
            (-ee - qq, pole, pole),
            (eq, first, second),
            (eq, second, first),
            (en, first, pole),
            (en, pole, first),
            (qn, second, pole),
            (qn, pole, second),
        ] {
            add_product(&mut matrix, factor, a, b);
        }
        matrix
    }
}

/// Acceleration of a star by the quadrupole of a system, and its time derivative. `moment` is the sum of m x x over the
/// system's members about their centre; `x` and `v` are position and velocity of the centre from the star.
pub fn quadrupole(moment: &[Vec3; 3], x: &Vec3, v: &Vec3) -> Pull {
    let trace = moment[0][0] + moment[1][1] + moment[2][2];
    let r2 = dot(x, x);
    let (by_x, by_v) = (product(moment, x), product(moment, v));
    let moving = dot(x, v) / r2;
    let along = dot(x, &by_x) / r2;
    let change = 2.0 * (dot(x, &by_v) / r2 - along * moving);
    let factor = 1.0 / (r2 * r2 * r2.sqrt());
    let (radial, rate) = (7.5 * along - 1.5 * trace, 7.5 * change);
    let acc = |k: usize| factor * (radial * x[k] - 3.0 * by_x[k]);
    let acc: Vec3 = std::array::from_fn(acc);
    let jerk =
        |k: usize| factor * (radial * v[k] + rate * x[k] - 3.0 * by_v[k]) - 5.0 * moving * acc[k];
    (acc, std::array::from_fn(jerk))
}

/// Adds `factor` times a b to a matrix.
pub(super) fn add_product(matrix: &mut [Vec3; 3], factor: f64, a: &Vec3, b: &Vec3) {
    for (row, c) in matrix.iter_mut().zip(a) {
        add_scaled(row, factor * c, b);
    }
}

/// A unit vector across another one.
fn across_of(a: &Vec3) -> Vec3 {
    let mut least = [0.0; 3];
    let k = (0..3).min_by(|&i, &k| a[i].abs().total_cmp(&a[k].abs()));
    least[k.unwrap_or(0)] = 1.0;
    scaled(&cross(a, &least))
}

fn square(matrix: &[Vec3; 3]) -> f64 {
    matrix.iter().map(|row| dot(row, row)).sum()
}

#[inline]
pub(super) fn product(matrix: &[Vec3; 3], x: &Vec3) -> Vec3 {
    let [a, b, c] = matrix;
    [dot(a, x), dot(b, x), dot(c, x)]
}

/// Relative position and velocity of a binary of total mass `mass`, after the orbit-averaged tide has changed eccentricity
/// and orientation over a time `dt`. The eccentric anomaly is unchanged: the caller has already moved the two stars along
/// their orbit.
pub fn turn(x: &Vec3, v: &Vec3, mass: f64, tensor: &Tensor, dt: f64) -> (Vec3, Vec3) {
    let r = norm(x);
    let axis = 1.0 / (2.0 / r - dot(v, v) / mass);
    let unit = (mass * axis).sqrt();
    let j = cross(x, v).map(|c| c / unit);
    if !(axis > 0.0 && norm(&j) > RADIAL) {
        return (*x, *v);
    }
    let mut e = cross(v, &j).map(|c| unit * c / mass);
    add_scaled(&mut e, -1.0 / r, x);

    let tide = tensor.mean_before(dt);
    let strength = axis * axis / (2.0 * unit);
    let half = rates(&e, &j, &tide, 0.5 * dt * strength);
    let middle = (sum(&e, &half.0), sum(&j, &half.1));
    let change = rates(&middle.0, &middle.1, &tide, dt * strength);
    if norm(&change.0) + norm(&change.1) < LEAST {
        return (*x, *v);
    }

    let pole = scaled(&j);
    let first = match norm(&e) > LEAST {
        true => scaled(&e),
        false => scaled(x),
    };
    let second = cross(&pole, &first);
    // Cosine and sine of the eccentric anomaly.
    let (eccentricity, flat) = (norm(&e), norm(&j));
    let cosine = dot(x, &first) / axis + eccentricity;
    let sine = dot(x, &second) / (axis * flat);

    let (e, j) = (sum(&e, &change.0), sum(&j, &change.1));
    let size = (dot(&e, &e) + dot(&j, &j)).sqrt();
    let pole = scaled(&j);
    let mut first = if norm(&e) > LEAST { scaled(&e) } else { first };
    let tilt = dot(&first, &pole);
    add_scaled(&mut first, -tilt, &pole);
    let first = scaled(&first);
    let second = cross(&pole, &first);
    let (eccentricity, flat) = (norm(&e) / size, norm(&j) / size);
    let length = (cosine * cosine + sine * sine).sqrt();
    let (cosine, sine) = (cosine / length, sine / length);
    let mut x = first.map(|c| axis * (cosine - eccentricity) * c);
    add_scaled(&mut x, axis * flat * sine, &second);
    let speed = unit / (axis * (1.0 - eccentricity * cosine));
    let mut v = first.map(|c| -speed * sine * c);
    add_scaled(&mut v, speed * flat * cosine, &second);
    (x, v)
}

/// Changes of e and j.
fn rates(e: &Vec3, j: &Vec3, tide: &[Vec3; 3], factor: f64) -> (Vec3, Vec3) {
    let trace = tide[0][0] + tide[1][1] + tide[2][2];
    let by_j = product(tide, j);
    let mut by_e = product(tide, e).map(|c| -5.0 * c);
    add_scaled(&mut by_e, trace, e);
    let mut of_e = cross(j, &by_e);
    add_scaled(&mut of_e, 1.0, &cross(e, &by_j));
    let mut of_j = cross(j, &by_j);
    add_scaled(&mut of_j, 1.0, &cross(e, &by_e));
    (of_e.map(|c| -factor * c), of_j.map(|c| -factor * c))
}

fn sum(a: &Vec3, b: &Vec3) -> Vec3 {
    [0, 1, 2].map(|k| a[k] + b[k])
}

fn scaled(a: &Vec3) -> Vec3 {
    let length = norm(a);
    a.map(|c| c / length)
}
