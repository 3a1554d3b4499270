//! Orbits of single bodies to nearly all digits: extrapolated midpoint steps (Gragg, Bulirsch and Stoer) with a step
//! that follows from the error.

use crate::vector::{Vec3, add_scaled, norm, sub};

/// Position and velocity.
pub type Phase = (Vec3, Vec3);

/// Most columns of the extrapolation: 2, 4, ... 16 substeps.
const COLUMNS: usize = 8;

/// Error of a step in parts of distance and speed.
pub const TOLERANCE: f64 = 1e-13;

/// `phase + h * slope`.
fn moved(phase: &Phase, h: f64, slope: &Phase) -> Phase {
    let (mut x, mut v) = *phase;
    add_scaled(&mut x, h, &slope.0);
    add_scaled(&mut v, h, &slope.1);
    (x, v)
}

/// The modified midpoint rule: a step of `h` in `n` parts.
fn midpoint(f: &dyn Fn(f64, &Phase) -> Vec3, t: f64, start: &Phase, h: f64, n: usize) -> Phase {
    let part = h / n as f64;
    let slope = |t: f64, p: &Phase| (p.1, f(t, p));
    let mut before = *start;
    let mut now = moved(start, part, &slope(t, start));
    for k in 1..n {
        let next = moved(&before, 2.0 * part, &slope(t + part * k as f64, &now));
        before = now;
        now = next;
    }
    let last = moved(&before, part, &slope(t + h, &now));
    let mean = |a: &Vec3, b: &Vec3| std::array::from_fn(|k| 0.5 * (a[k] + b[k]));
    (mean(&now.0, &last.0), mean(&now.1, &last.1))
}

/// One step by extrapolation, with the part of the tolerance that its error is, and how many columns it took.
fn step(f: &dyn Fn(f64, &Phase) -> Vec3, t: f64, start: &Phase, h: f64) -> (Phase, f64, usize) {
    let mut table: Vec<Phase> = Vec::with_capacity(COLUMNS);
    let mut error = f64::INFINITY;
    for k in 0..COLUMNS {
        let n = 2 * (k + 1);
        let mut row = vec![midpoint(f, t, start, h, n)];
        for j in 1..=k {
            let ratio = n as f64 / (2 * (k + 1 - j)) as f64;
            let factor = 1.0 / (ratio * ratio - 1.0);
            let (better, before) = (row[j - 1], table[j - 1]);
            let change = (sub(&better.0, &before.0), sub(&better.1, &before.1));
            row.push(moved(&better, factor, &change));
        }
        if k > 0 {
            let (best, other) = (row[k], row[k - 1]);
            let place = norm(&sub(&best.0, &other.0)) / norm(&best.0).max(norm(&start.0));
            let speed = norm(&best.1).max(norm(&start.1));
            error = place.max(norm(&sub(&best.1, &other.1)) / speed) / TOLERANCE;
        }
        table = row;
        if error <= 1.0 {
            return (table[k], error, k);
        }
    }
    (table[COLUMNS - 1], error, COLUMNS)
}

/// Takes a body from `start` at the time `from` to the time `to`, later or earlier, with the acceleration `f` of the
/// time, the position and the velocity. `f` may have any units; `first` is a step to begin with.
///
/// # Errors
///
/// No step is short enough, as at a point mass; in words.
pub fn follow(
    f: &dyn Fn(f64, &Phase) -> Vec3,
    start: &Phase,
    from: f64,
    to: f64,
    first: f64,
) -> Result<Phase, String> {
    let sign = if to < from { -1.0 } else { 1.0 };
    let (mut t, mut now, mut h) = (from, *start, sign * first.abs());
    let mut refused = 0;
    while (to - t) * sign > 0.0 {
        let left = to - t;
        let is_last = h.abs() >= left.abs();
        let length = if is_last { left } else { h };
        let (next, error, columns) = step(f, t, &now, length);
        if error <= 1.0 {
            t = if is_last { to } else { t + length };
            (now, refused) = (next, 0);
            // Many columns mean that shorter steps are cheaper.
            let factor = [3.0, 3.0, 3.0, 2.5, 2.0, 1.5, 1.1, 0.9][columns.min(7)];
            h = if is_last { h } else { length * factor };
        } else {
            h = 0.4 * length;
            refused += 1;
            if refused > 60 || h.is_nan() || t + h == t {
                return Err(format!("the orbit cannot be followed beyond t = {t}"));
            }
        }
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Kepler ellipse of eccentricity 0.8 closes after ten periods.
    #[test]
    fn an_ellipse_closes() {
        let start = ([0.2, 0.0, 0.0], [0.0, 3.0, 0.0]);
        let f = |_: f64, p: &Phase| {
            let r = norm(&p.0);
            p.0.map(|c| -c / (r * r * r))
        };
        let end = follow(&f, &start, 0.0, 20.0 * std::f64::consts::PI, 0.01).unwrap();
        assert!(norm(&sub(&end.0, &start.0)) < 1e-9, "{end:?}");
        let back = follow(&f, &end, 0.0, -7.0, 0.01).unwrap();
        let again = follow(&f, &back, -7.0, 0.0, 0.01).unwrap();
        assert!(norm(&sub(&again.1, &end.1)) < 1e-8);
    }

    #[test]
    fn a_fall_into_a_point_is_refused() {
        let f = |_: f64, p: &Phase| {
            let r = norm(&p.0);
            p.0.map(|c| -c / (r * r * r))
        };
        let fall = follow(&f, &([1.0, 0.0, 0.0], [0.0; 3]), 0.0, 5.0, 0.1);
        assert!(fall.unwrap_err().contains("cannot be followed"));
    }
}
