//! Orbits of single bodies, and of a few together, to nearly all digits: extrapolated midpoint steps (Gragg, Bulirsch
//! and Stoer) whose length follows from their error.

use crate::vector::{Vec3, add_scaled, norm, sub};

/// Position and velocity.
pub type Phase = (Vec3, Vec3);

/// Most columns of the extrapolation: 2, 4, ... 16 substeps.
const COLUMNS: usize = 8;

/// Error of a step in parts of distance and speed.
pub const TOLERANCE: f64 = 1e-13;

/// Bodies that move together, and their rates of change: an array for few, a vector for many.
pub trait Phases: AsRef<[Phase]> + AsMut<[Phase]> + Clone {}

impl<T: AsRef<[Phase]> + AsMut<[Phase]> + Clone> Phases for T {}

/// Writes the rates of change of all bodies, velocities and accelerations, at a time.
pub type Rates<'f> = dyn Fn(f64, &[Phase], &mut [Phase]) + 'f;

/// `phases + h * slope`.
fn moved<S: Phases>(phases: &S, h: f64, slope: &S) -> S {
    let mut moved = phases.clone();
    for ((x, v), slope) in moved.as_mut().iter_mut().zip(slope.as_ref()) {
        add_scaled(x, h, &slope.0);
        add_scaled(v, h, &slope.1);
    }
    moved
}

/// `part(a, b)` for each of the vectors of `a` and `b`.
fn joined<S: Phases>(a: &S, b: &S, part: impl Fn(&Vec3, &Vec3) -> Vec3) -> S {
    let mut joined = a.clone();
    for ((x, v), b) in joined.as_mut().iter_mut().zip(b.as_ref()) {
        (*x, *v) = (part(x, &b.0), part(v, &b.1));
    }
    joined
}

/// The longest vector of bodies; NaN if a vector has no length.
fn longest<S: Phases>(phases: &S, vector: fn(&Phase) -> &Vec3) -> f64 {
    let lengths = phases.as_ref().iter().map(|phase| norm(vector(phase)));
    lengths.fold(0.0, |most, length| match length > most || length.is_nan() {
        true => length,
        false => most,
    })
}

/// The modified midpoint rule: a step of `h` in `n` parts, from where the rates are `slope`.
fn midpoint<S: Phases>(f: &Rates<'_>, t: f64, (start, slope): (&S, &S), h: f64, n: usize) -> S {
    let part = h / n as f64;
    let mut rates = start.clone();
    let mut before = start.clone();
    let mut now = moved(start, part, slope);
    for k in 1..n {
        f(t + part * k as f64, now.as_ref(), rates.as_mut());
        let next = moved(&before, 2.0 * part, &rates);
        before = now;
        now = next;
    }
    f(t + h, now.as_ref(), rates.as_mut());
    let last = moved(&before, part, &rates);
    joined(&now, &last, |a, b| {
        std::array::from_fn(|k| 0.5 * (a[k] + b[k]))
    })
}

/// One step by extrapolation, with the part of the tolerance that its error is, and how many columns it took.
fn step<S: Phases>(f: &Rates<'_>, t: f64, start: &S, h: f64) -> (S, f64, usize) {
    let mut slope = start.clone();
    f(t, start.as_ref(), slope.as_mut());
    let mut table: Vec<S> = Vec::with_capacity(COLUMNS);
    let mut error = f64::INFINITY;
    for k in 0..COLUMNS {
        let n = 2 * (k + 1);
        let mut row = Vec::with_capacity(k + 1);
        row.push(midpoint(f, t, (start, &slope), h, n));
        for j in 1..=k {
            let ratio = n as f64 / (2 * (k + 1 - j)) as f64;
            let factor = 1.0 / (ratio * ratio - 1.0);
            let (better, before) = (&row[j - 1], &table[j - 1]);
            row.push(moved(better, factor, &joined(better, before, sub)));
        }
        if k > 0 {
            let (best, other) = (&row[k], &row[k - 1]);
            let change = joined(best, other, sub);
            let part = |vector: fn(&Phase) -> &Vec3| {
                longest(&change, vector) / longest(best, vector).max(longest(start, vector))
            };
            let (place, speed) = (part(|p| &p.0), part(|p| &p.1));
            // A number that is none must not be hidden by the other.
            error = if place >= speed || place.is_nan() {
                place
            } else {
                speed
            } / TOLERANCE;
        }
        table = row;
        if error <= 1.0 {
            return (table.swap_remove(k), error, k);
        }
    }
    (table.swap_remove(COLUMNS - 1), error, COLUMNS)
}

/// Follows a body from `start` at the time `from` to the time `to`, which may be later or earlier. `f` is the
/// acceleration as a function of time and phase (position and velocity), in any units. `first` is the length of the
/// first step that is tried.
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
    let rates = |t: f64, phases: &[Phase], rates: &mut [Phase]| {
        rates[0] = (phases[0].1, f(t, &phases[0]));
    };
    let steps = (first, f64::INFINITY);
    Ok(follow_all(&rates, &[*start], (from, to), steps, &mut |_, _| ())?[0])
}

/// Like [`follow`], for bodies that act on each other. No step is longer than `longest`, because an attraction of short
/// range could be missed between two substeps. `first` is the first step. Errors are relative to the largest distance from
/// the origin and to the largest speed. `passed` is called with the time and the phases after each step.
///
/// # Errors
///
/// No step is short enough, as at a point mass; in words.
pub fn follow_all<S: Phases>(
    f: &Rates<'_>,
    start: &S,
    (from, to): (f64, f64),
    (first, longest): (f64, f64),
    passed: &mut dyn FnMut(f64, &[Phase]),
) -> Result<S, String> {
    let sign = if to < from { -1.0 } else { 1.0 };
    let (mut t, mut now, mut h) = (from, start.clone(), sign * first.abs());
    // Steps that are refused in a row; and all of them, as far as accepted ones do not outweigh them.
    let (mut refused, mut debt) = (0, 0_u32);
    while (to - t) * sign > 0.0 {
        let left = to - t;
        h = h.clamp(-longest, longest);
        let is_last = h.abs() >= left.abs();
        let length = if is_last { left } else { h };
        let (next, error, columns) = step(f, t, &now, length);
        if error <= 1.0 {
            t = if is_last { to } else { t + length };
            (now, refused, debt) = (next, 0, debt.saturating_sub(1));
            passed(t, now.as_ref());
            // Many columns mean that shorter steps are cheaper.
            let factor = [3.0, 3.0, 3.0, 2.5, 2.0, 1.5, 1.1, 0.9][columns.min(7)];
            h = if is_last { h } else { length * factor };
        } else {
            h = 0.4 * length;
            (refused, debt) = (refused + 1, debt + 2);
            // Near the edge of a table each accepted step may go half of what is left, and the last ones nowhere. Such an orbit would never end.
            if refused > 60 || debt > 1000 || h.is_nan() || t + h == t {
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

    /// Nothing is known beyond an edge, which rounding never lets the body pass.
    #[test]
    fn an_edge_ends_the_orbit() {
        let f = |_: f64, p: &Phase| match p.0[2] <= 60.0 {
            true => [0.0; 3],
            false => [f64::NAN; 3],
        };
        for start in [-28.0, 59.999_999_999_999] {
            let end = follow(&f, &([0.0, 0.0, start], [0.0, 0.0, 22.0]), 0.0, 9.0, 0.01);
            assert!(end.unwrap_err().contains("cannot be followed"));
        }
    }

    /// Two bodies on circles about their barycentre: the second comes to the place opposite the first.
    #[test]
    fn bodies_attract_each_other() {
        let rates = |_: f64, p: &[Phase], rates: &mut [Phase]| {
            let d = sub(&p[1].0, &p[0].0);
            let cube = norm(&d).powi(3);
            rates[0] = (p[0].1, d.map(|c| 0.25 * c / cube));
            rates[1] = (p[1].1, d.map(|c| -0.75 * c / cube));
        };
        let body = |x: f64| ([x, 0.0, 0.0], [0.0, x, 0.0]);
        let start = vec![body(0.25), body(-0.75)];
        let span = (0.0, std::f64::consts::PI);
        let mut times = vec![0.0];
        let mut passed = |t: f64, phases: &[Phase]| {
            times.push(t);
            let turned = norm(&phases[1].0);
            assert!((turned - 0.75).abs() < 1e-11, "{turned}");
        };
        let end = follow_all(&rates, &start, span, (0.01, 1.0), &mut passed).unwrap();
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] <= 1.0));
        assert!(times.windows(2).all(|pair| pair[1] > pair[0]));
        assert_eq!(times.last(), Some(&span.1));
        for (end, start) in end.iter().zip(&start) {
            let sum = [0, 1, 2].map(|k| end.0[k] + start.0[k]);
            assert!(norm(&sum) < 1e-11, "{sum:?}");
        }
    }

    /// A wall that is far shorter than the way: without a longest step no substep would see it.
    #[test]
    fn a_longest_step_misses_nothing() {
        let wall = |_: f64, p: &[Phase], rates: &mut [Phase]| {
            let part = (1.0 - (10.0 * (p[0].0[0] - 0.3)).powi(2)).max(0.0);
            rates[0] = (p[0].1, [0.0, part.powi(4), 0.0]);
        };
        let start = [([-7.0, 0.0, 0.0], [10.0, 0.0, 0.0])];
        let speed = |longest: f64| {
            let end =
                follow_all(&wall, &start, (0.0, 1.0), (1.0, longest), &mut |_, _| ()).unwrap();
            end[0].1[1]
        };
        // The integral of (1 - s^2)^4 from -1 to 1 is 256/315.
        assert!((speed(0.002) / (256.0 / 315.0 / 100.0) - 1.0).abs() < 1e-9);
        assert_eq!(speed(f64::INFINITY), 0.0);
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
