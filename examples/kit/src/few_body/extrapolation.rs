//! Gragg-Bulirsch-Stoer extrapolation of the basic step to vanishing steps, with control of step and order.
//!
//! The leapfrog is symmetric, so its error is a series in the squares of the step. The number of columns and the next
//! step follow from the work for a unit of s, the leapfrog's independent variable, as in Hairer, Norsett and Wanner
//! (1993, section II.9).

use super::Perturbation;
use super::leapfrog::{Leapfrog, links};
use crate::vector::{Vec3, norm, sub};

/// Basic steps of the columns. With eight columns of this sequence the rounding errors grow by a factor of 8; with
/// 2, 4, 6, ..., 16 they would grow by 120.
const STEPS: [usize; 9] = [2, 3, 5, 7, 10, 14, 20, 28, 40];

/// Largest number of columns.
const COLUMNS: usize = STEPS.len();

/// Column at which the first step is to converge.
pub const FIRST_TARGET: usize = 6;

/// Least column at which a step is to converge.
const LEAST: usize = 4;

/// How much longer than one step the next may be.
const LONGER: f64 = 8.0;

/// Attempts at one step before it is given up: each makes it at least twice as short.
const ATTEMPTS: usize = 60;

/// Basic steps of the columns up to `j`.
fn work(j: usize) -> f64 {
    STEPS[..=j].iter().sum::<usize>() as f64
}

/// The table, and what is known of the next step.
#[derive(Clone, Debug)]
pub struct Extrapolation {
    /// Error of a step that is allowed, in parts of the state.
    pub tolerance: f64,
    /// Length in s that the next step should have; 0 before the first.
    pub next: f64,
    /// The column at which the next step should converge.
    pub target: usize,
    /// The last row of the table, one state after another: entry j is extrapolated from j + 1 results.
    row: Vec<f64>,
    scale: Scale,
    /// Entry j - 1 of the row before that with j + 1 entries.
    best: Vec<f64>,
    /// Basic steps taken.
    pub steps: u64,
}

impl Extrapolation {
    /// For steps with this error.
    pub fn new(tolerance: f64) -> Self {
        Self {
            tolerance,
            next: 0.0,
            target: FIRST_TARGET,
            row: Vec::new(),
            scale: Scale::default(),
            best: Vec::new(),
            steps: 0,
        }
    }

    /// Advances `y` by at most `h` in s, and sets [`next`](Self::next). Returns the length of the step, which is shorter
    /// than `h` if `h` itself did not converge.
    ///
    /// Returns `None` where no step converges.
    pub fn step(
        &mut self,
        y: &mut [f64],
        h: f64,
        leapfrog: &mut Leapfrog,
        by: &mut dyn Perturbation,
    ) -> Option<f64> {
        // The step has a time of its own, from 0 on: the digits of a long time would limit its accuracy.
        let origin = std::mem::take(&mut y[0]);
        leapfrog.origin = origin;
        self.scale.set(y, leapfrog);
        let mut h = h;
        let mut taken = None;
        for _ in 0..ATTEMPTS {
            match self.attempt(y, h, leapfrog, by) {
                Ok(column) => {
                    let from = column * y.len();
                    y.copy_from_slice(&self.row[from..from + y.len()]);
                    taken = Some(h);
                    break;
                }
                Err(shorter) => h *= shorter,
            }
        }
        y[0] += origin;
        taken
    }

    /// One table. Returns the column that converged, or the factor for another attempt.
    fn attempt(
        &mut self,
        y: &[f64],
        h: f64,
        leapfrog: &mut Leapfrog,
        by: &mut dyn Perturbation,
    ) -> Result<usize, f64> {
        let mut factors = [1.0; COLUMNS];
        let last = (self.target + 1).min(COLUMNS - 1);
        for j in 0..=last {
            let n = STEPS[j];
            let from = j * y.len();
            self.row.truncate(from);
            self.row.extend_from_slice(y);
            leapfrog.run(&mut self.row[from..], h, n, by);
            self.steps += n as u64;
            let error = self.extrapolate(j, y.len());
            if j == 0 {
                continue;
            }
            let error = error / self.tolerance;
            if !error.is_finite() {
                return Err(0.1);
            }
            let factor = 0.94 * (0.65 / error.max(1e-30)).powf(1.0 / (2 * j + 1) as f64);
            factors[j] = factor.max(0.02);
            if error <= 1.0 {
                self.plan(j, h, &factors);
                return Ok(j);
            }
            // The one column that is left would not bring the error down this far.
            if j >= self.target && error > 10.0 * (STEPS[last] as f64).powi(2) {
                return Err(factors[j].min(0.5));
            }
        }
        Err(factors[last].min(0.5))
    }

    /// Makes the row with entry `j`, the result of `STEPS[j]` basic steps, from the row before. A state has `len` numbers.
    /// Returns the distance of the best value, which is entry `j` afterwards, from the best value before. This estimates the
    /// error of the earlier value; the error of the new one is far smaller.
    fn extrapolate(&mut self, j: usize, len: usize) -> f64 {
        let (row, value) = self.row.split_at_mut(j * len);
        if j == 0 {
            return f64::INFINITY;
        }
        self.best.clear();
        self.best.extend_from_slice(&row[(j - 1) * len..]);
        for (k, row) in (1..).zip(row.chunks_exact_mut(len)) {
            let ratio = STEPS[j] as f64 / STEPS[j - k] as f64;
            let weight = 1.0 / (ratio * ratio - 1.0);
            for (entry, value) in row.iter_mut().zip(value.iter_mut()) {
                let before = *value;
                *value += (before - *entry) * weight;
                *entry = before;
            }
        }
        self.scale.distance(value, &self.best)
    }

    /// Chooses column and length of the next step after one of `h` that converged at column `j`.
    fn plan(&mut self, j: usize, h: f64, factors: &[f64; COLUMNS]) {
        let cost = |j: usize| work(j) / factors[j];
        let mut target = j;
        let mut factor = factors[j];
        if j > LEAST && cost(j - 1) < 0.8 * cost(j) {
            target = j - 1;
            factor = factors[j - 1];
        } else if j + 2 < COLUMNS && (j < LEAST || cost(j) < 0.9 * cost(j - 1)) {
            target = j + 1;
            factor = factors[j] * work(j + 1) / work(j);
        }
        self.target = target.clamp(LEAST, COLUMNS - 2);
        self.next = h * factor.min(LONGER);
    }
}

/// What the errors of a state are related to.
#[derive(Clone, Debug, Default)]
struct Scale {
    start: Vec<f64>,
    energy: f64,
    velocity: f64,
}

impl Scale {
    /// Takes over the state at the start of a step.
    fn set(&mut self, y: &[f64], leapfrog: &Leapfrog) {
        let (x, v) = links(y);
        self.start.clear();
        self.start.extend_from_slice(y);
        self.energy = leapfrog.potential(x);
        self.velocity = 1e-2 * v.iter().map(norm).fold(0.0, f64::max);
    }

    /// Distance between two results `a` and `b` of one step: the largest of four relative differences. That of the time
    /// is relative to the length of the step, that of the system's energy to the potential energy at the start. The
    /// difference of a link's position (or velocity) is divided by the greatest of three magnitudes: of the vector at
    /// the start, of the vector at the end, and of its change. For velocities the divisor is at least a hundredth of
    /// the fastest link's speed at the start.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let time = (a[0] - b[0]).abs() / a[0].abs().max(f64::MIN_POSITIVE);
        let energy = (a[1] - b[1]).abs() / self.energy;
        let relative = |a: &[Vec3], b: &[Vec3], start: &[Vec3], least: f64| {
            let error = |((a, b), start): ((&Vec3, &Vec3), &Vec3)| {
                let moved = norm(&sub(a, start));
                let scale = norm(a).max(norm(start)).max(moved).max(least);
                norm(&sub(a, b)) / scale
            };
            a.iter().zip(b).zip(start).map(error).fold(0.0, greater)
        };
        let [(xa, va), (xb, vb), (x0, v0)] = [a, b, &self.start].map(links);
        let x = relative(xa, xb, x0, f64::MIN_POSITIVE);
        let v = relative(va, vb, v0, self.velocity.max(f64::MIN_POSITIVE));
        [time, energy, x, v].into_iter().fold(0.0, greater)
    }
}

/// The greater of two numbers; NaN where one is none.
fn greater(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
