//! The end times of constant steps, computed such that rounding errors do not add up.

use serde::{Deserialize, Serialize};

/// A time this close to the end of a step, as a fraction of the step, counts as the end: the time after many steps
/// is rounded.
const SLACK: f64 = 1e-9;

/// How far a time near `t` may be from the end of a step of `dt` and still count as it. After 10^7 steps the last digits
/// of a time are worth more than [`SLACK`].
fn slack(dt: f64, t: f64) -> f64 {
    (SLACK * dt)
        .max(4.0 * f64::EPSILON * t.abs())
        .min(0.25 * dt)
}

/// The grid of times at which constant steps end. They are multiples of the step, counted from the start of the run
/// or from its last shortened step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeGrid {
    /// Where the steps are counted from.
    pub origin: f64,
    /// Steps since then.
    pub steps: u64,
}

impl TimeGrid {
    /// A grid that begins at `origin`.
    pub fn from(origin: f64) -> Self {
        Self { origin, steps: 0 }
    }

    /// Time at which the last of the steps `dt` ended.
    pub fn time(&self, dt: f64) -> f64 {
        self.origin + self.steps as f64 * dt
    }

    /// This grid, if its last step of length `dt` ended at `time`; otherwise a new grid that begins at `time`.
    pub fn at(self, time: f64, dt: f64) -> Self {
        if self.time(dt) == time {
            self
        } else {
            Self::from(time)
        }
    }

    /// End of the step that follows `time`. It is `t_end` if less than a whole step is left, and `None` if nothing
    /// is left.
    pub fn next(&self, time: f64, dt: f64, t_end: f64) -> Option<f64> {
        // Rounding errors of a time are no step.
        if t_end - time <= slack(dt, t_end) {
            return None;
        }
        let whole = self.origin + (self.steps + 1) as f64 * dt;
        Some(if self.is_whole(dt, t_end) {
            whole
        } else {
            t_end
        })
    }

    /// Whether the next step to `t_end` is a whole one.
    pub fn is_whole(&self, dt: f64, t_end: f64) -> bool {
        let whole = self.origin + (self.steps + 1) as f64 * dt;
        whole - t_end <= slack(dt, t_end)
    }

    /// A step has ended at `end`. One that was cut begins another grid.
    pub fn advance(&mut self, end: f64, dt: f64) {
        let steps = self.steps + 1;
        *self = Self { steps, ..*self }.at(end, dt);
    }

    /// Whether a run that has come to `time` by steps of `dt` has reached `t`.
    pub fn has_reached(time: f64, dt: f64, t: f64) -> bool {
        time >= t - slack(dt, t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_steps_end_where_they_should() {
        let (mut grid, mut time) = (TimeGrid::default(), 0.0);
        while let Some(end) = grid.next(time, 1e-3, 1000.0) {
            grid.advance(end, 1e-3);
            time = end;
        }
        assert_eq!((grid.steps, time), (1_000_000, 1000.0));
    }

    /// A time of so many steps is rounded by more than a billionth of a step, which makes no step of its own.
    #[test]
    fn many_steps_end_where_they_should() {
        for steps in 300_000_000..300_001_000 {
            let grid = TimeGrid { origin: 0.0, steps };
            let (dt, t_end) = (1e-3, (steps + 1) as f64 / 1000.0);
            assert!(grid.is_whole(dt, t_end), "{steps}");
            let end = grid.next(grid.time(dt), dt, t_end).unwrap();
            let mut grid = grid;
            grid.advance(end, dt);
            assert_eq!((grid.steps, grid.next(end, dt, t_end)), (steps + 1, None));
            assert!(TimeGrid::has_reached(end, dt, t_end));
        }
    }

    #[test]
    fn a_step_that_is_cut_begins_a_grid() {
        let mut grid = TimeGrid::from(1.0);
        assert_eq!(grid.next(1.0, 0.5, 1.25), Some(1.25));
        assert!(!grid.is_whole(0.5, 1.25));
        grid.advance(1.25, 0.5);
        assert_eq!(grid, TimeGrid::from(1.25));
        assert_eq!(grid.next(1.25, 0.5, 9.0), Some(1.75));
        assert_eq!(grid.next(1.25, 0.5, 1.25), None);
        assert!(
            TimeGrid::has_reached(0.3, 0.1, 0.1 + 0.2) && !TimeGrid::has_reached(0.2, 0.1, 0.3)
        );
    }
}
