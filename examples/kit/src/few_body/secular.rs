//! Secular motion of a binary: what the tide of distant bodies does to its orbit in the mean over many revolutions.
//!
//! The tide is linear in the distance from the centre. Averaged over the orbit, it does not change the semi-major axis.
//! The eccentricity vector e, and the vector j of length sqrt(1 - e^2) along the angular momentum, change by
//! Milankovitch's equations (Tremaine, Touma and Namouni 2009, section 2; Kozai's cycles are among their solutions).

use super::pair::Pull;
use crate::vector::{Vec3, add_scaled, cross, dot, norm, sub};

/// Changes of e and j below this are lost in the digits of an orbit.
const LEAST: f64 = 1e-15;

/// Values of |j| below which an orbit is radial: it has no plane.
const RADIAL: f64 = 1e-6;

/// Accelerations that are linear in the place, and their time derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tensor {
    /// The acceleration at x is the product of this symmetric matrix with x.
    pub tide: [Vec3; 3],
    /// Its time derivative.
    pub rate: [Vec3; 3],
}

impl Tensor {
    /// Follows from the accelerations and their derivatives at the centre and at `length` from it along each axis.
    pub fn from_pulls(pulls: &[Pull], length: f64) -> Self {
        let column = |k: usize, part: fn(&Pull) -> &Vec3| {
            sub(part(&pulls[k + 1]), part(&pulls[0])).map(|c| c / length)
        };
        Self {
            tide: symmetric([0, 1, 2].map(|k| column(k, |pull| &pull.0))),
            rate: symmetric([0, 1, 2].map(|k| column(k, |pull| &pull.1))),
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

fn symmetric(columns: [Vec3; 3]) -> [Vec3; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|k| 0.5 * (columns[i][k] + columns[k][i])))
}

fn square(matrix: &[Vec3; 3]) -> f64 {
    matrix.iter().map(|row| dot(row, row)).sum()
}

fn product(matrix: &[Vec3; 3], x: &Vec3) -> Vec3 {
    [0, 1, 2].map(|i| dot(&matrix[i], x))
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
