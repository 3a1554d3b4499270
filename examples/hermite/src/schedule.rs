//! Which particles are due, and when: the particles are sorted by the length of their steps.
//!
//! The time of a particle is a multiple of its step, and lies less than one step back, so all particles with the same
//! step have the same time. The next block is at the next multiple of the smallest step. It contains all particles
//! whose step divides the time of the block. They are found without a search over the particles.

use crate::step::is_multiple;

/// Particles by step.
pub struct Schedule {
    largest: f64,
    /// Entry k holds those with the step `largest / 2^k`.
    levels: Vec<Vec<usize>>,
}

impl Schedule {
    /// An empty schedule for steps up to `largest`, a power of two.
    pub fn new(largest: f64) -> Self {
        Self {
            largest,
            levels: Vec::new(),
        }
    }

    /// Enters particle `i` with the step `dt`, a power of two not above the largest.
    pub fn insert(&mut self, i: usize, dt: f64) {
        // Both are powers of two, and the quotient of the extremes does not overflow.
        let level = (self.largest.log2() - dt.log2()) as usize;
        if level >= self.levels.len() {
            self.levels.resize_with(level + 1, Vec::new);
        }
        self.levels[level].push(i);
    }

    /// Takes particle `i` with the step `dt` out.
    pub fn remove(&mut self, i: usize, dt: f64) {
        let level = (self.largest.log2() - dt.log2()) as usize;
        if let Some(level) = self.levels.get_mut(level) {
            level.retain(|k| *k != i);
        }
    }

    /// The time of the first block after `time`; `None` without particles.
    pub fn next_time(&self, time: f64) -> Option<f64> {
        let smallest = self.levels.iter().rposition(|level| !level.is_empty())?;
        let dt = self.step(smallest);
        Some((time / dt).floor() * dt + dt)
    }

    /// Moves the particles that are due at `t` into `block`, in ascending order.
    pub fn take_due(&mut self, t: f64, block: &mut Vec<usize>) {
        block.clear();
        for level in (0..self.levels.len()).rev() {
            // If a step does not divide t, no larger one does.
            if !is_multiple(t, self.step(level)) {
                break;
            }
            block.append(&mut self.levels[level]);
        }
        block.sort_unstable();
    }

    fn step(&self, level: usize) -> f64 {
        self.largest * 2.0_f64.powi(-(level as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_in_order_of_time() {
        let mut schedule = Schedule::new(0.5);
        for (i, dt) in [0.5, 0.125, 0.25, 0.125].into_iter().enumerate() {
            schedule.insert(i, dt);
        }
        let steps = [0.5, 0.125, 0.25, 0.125];
        let mut time = 1.0;
        let mut block = Vec::new();
        let mut seen = Vec::new();
        while time < 1.5 {
            time = schedule.next_time(time).unwrap();
            schedule.take_due(time, &mut block);
            seen.push((time, block.clone()));
            for &i in &block {
                schedule.insert(i, steps[i]);
            }
        }
        let expected = [
            (1.125, vec![1, 3]),
            (1.25, vec![1, 2, 3]),
            (1.375, vec![1, 3]),
            (1.5, vec![0, 1, 2, 3]),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn nobody_is_never_due() {
        assert_eq!(Schedule::new(1.0).next_time(0.0), None);
    }

    #[test]
    fn the_smallest_step_has_a_place() {
        let mut schedule = Schedule::new(0.125);
        let dt = crate::step::resolution(3.0);
        schedule.insert(0, dt);
        assert_eq!(schedule.next_time(3.0), Some(3.0 + dt));
        schedule.insert(1, f64::MIN_POSITIVE);
        assert_eq!(schedule.next_time(0.0), Some(f64::MIN_POSITIVE));
    }
}
