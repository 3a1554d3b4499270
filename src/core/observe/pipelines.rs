//! The cost of too few pipelines: the time lost because a client divides its blocks into calls.
//!
//! If a client moves more particles at a time than `g6_npipes` allows, it sends a block in several calls, with one time
//! and the same j-particles. All calls but the last are full. More pipelines would make them one call, and save the
//! fixed cost of every call but the first. To measure the fixed cost, a straight line is fitted to the times of such
//! calls over their numbers of pairs; its value at zero pairs is the fixed cost. If larger blocks are also faster for
//! each pair, the loss is larger than this estimate.

/// The line is trusted from this many calls on.
const LEAST: u64 = 64;

/// Most pipelines that there may be.
const MOST: usize = 16384;

/// What the calls of one block of the client have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Bits of the time to which the j-particles are predicted.
    pub ti: u64,
    /// Number of leading addresses.
    pub nj: usize,
    /// How many j-particles had been written.
    pub written: u64,
}

/// The calls that more pipelines would have saved.
#[derive(Default)]
pub struct Pipelines {
    /// The state of the last call, if it was full.
    full: Option<State>,
    /// Whether the last call followed a full one of the same block.
    follows: bool,
    /// The number of such calls.
    spared: u64,
    /// Blocks of the client that took several calls, and the i-particles of these calls.
    divided: u64,
    particles: u64,
    line: StraightLine,
}

/// What the calls after the first of each block cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Their number.
    pub calls: u64,
    /// The seconds that undivided blocks would have saved, and their standard error, as far as the times tell.
    pub seconds: Option<[f64; 2]>,
    /// A number of pipelines with which most blocks would have been one call.
    pub enough: usize,
}

impl Pipelines {
    /// Notes that a call with `ni` i-particles begins.
    #[inline]
    pub fn begin(&mut self, ni: usize, npipes: usize, state: impl FnOnce() -> State) {
        let first = !self.follows;
        let is_full = ni == npipes;
        let state = (is_full || self.full.is_some()).then(state);
        self.follows = self.full.is_some() && self.full == state;
        if self.follows {
            self.spared += 1;
            self.divided += u64::from(first);
            self.particles += ni as u64 + if first { npipes as u64 } else { 0 };
        }
        self.full = state.filter(|_| is_full);
    }

    /// Notes the time of the call.
    pub fn timed(&mut self, pairs: u64, seconds: f64) {
        if self.follows {
            self.line.add(pairs as f64, seconds);
        }
    }

    /// What the division cost; `None` if no block was divided.
    pub fn cost(&self) -> Option<Cost> {
        let mean = self.particles.checked_div(self.divided)?;
        Some(Cost {
            calls: self.spared,
            seconds: self
                .line
                .intercept()
                .map(|each| each.map(|seconds| seconds * self.spared as f64)),
            enough: (mean as usize).next_power_of_two().clamp(256, MOST),
        })
    }
}

/// A straight line fitted to points by least squares.
#[derive(Default)]
struct StraightLine {
    n: u64,
    mean: [f64; 2],
    xx: f64,
    xy: f64,
    yy: f64,
}

impl StraightLine {
    fn add(&mut self, x: f64, y: f64) {
        self.n += 1;
        let n = self.n as f64;
        let (dx, dy) = (x - self.mean[0], y - self.mean[1]);
        self.mean[0] += dx / n;
        self.mean[1] += dy / n;
        self.xx += dx * (x - self.mean[0]);
        self.xy += dx * (y - self.mean[1]);
        self.yy += dy * (y - self.mean[1]);
    }

    /// The value at 0 and its standard error; `None` if it is not above zero by twice that.
    fn intercept(&self) -> Option<[f64; 2]> {
        if self.n < LEAST || self.xx <= 0.0 {
            return None;
        }
        let slope = self.xy / self.xx;
        let intercept = self.mean[1] - slope * self.mean[0];
        let scatter = (self.yy - slope * self.xy).max(0.0) / (self.n - 2) as f64;
        let variance = scatter * (1.0 / self.n as f64 + self.mean[0] * self.mean[0] / self.xx);
        let error = variance.sqrt();
        (intercept > 2.0 * error).then_some([intercept, error])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NJ: usize = 1000;

    /// Blocks of the client of these sizes, each at its own time, in calls of at most 48.
    fn run(sizes: &[usize], time: impl Fn(usize, u64) -> f64) -> Pipelines {
        let mut p = Pipelines::default();
        let mut calls = 0;
        for (block, &size) in sizes.iter().enumerate() {
            let state = State {
                ti: block as u64,
                nj: NJ,
                written: 0,
            };
            for from in (0..size).step_by(48) {
                let ni = (size - from).min(48);
                p.begin(ni, 48, || state);
                p.timed((ni * NJ) as u64, time(ni * NJ, calls));
                calls += 1;
            }
        }
        p
    }

    #[test]
    fn calls_of_one_block_are_told_from_blocks_of_their_own() {
        let p = run(&[48, 48, 47, 1], |_, _| 1.0);
        assert_eq!(p.cost(), None, "each has a time of its own");
        let p = run(&[100, 48, 96, 10], |_, _| 1.0);
        let cost = p.cost().expect("blocks were divided");
        assert_eq!((cost.calls, cost.seconds, cost.enough), (3, None, 256));
        assert_eq!((p.divided, p.particles), (2, 196));
        let p = run(&[700, 700], |_, _| 1.0);
        assert_eq!(p.cost().map(|c| (c.calls, c.enough)), Some((28, 1024)));
    }

    #[test]
    fn a_write_or_another_number_of_sources_ends_the_block() {
        let state = State {
            ti: 0,
            nj: 10,
            written: 5,
        };
        for other in [
            State {
                written: 6,
                ..state
            },
            State { nj: 9, ..state },
            State { ti: 1, ..state },
        ] {
            let mut p = Pipelines::default();
            p.begin(48, 48, || state);
            p.begin(48, 48, || other);
            assert_eq!(p.cost(), None, "{other:?}");
        }
        let mut p = Pipelines::default();
        p.begin(48, 48, || state);
        p.begin(5, 48, || state);
        p.begin(5, 48, || state);
        let cost = p.cost().expect("one");
        assert_eq!(
            cost.calls, 1,
            "a call after one that was not full is the client's own"
        );
    }

    #[test]
    fn the_time_of_an_empty_call_is_what_is_lost() {
        let sizes: Vec<usize> = (0..200).map(|k| 50 + 7 * k % 90).collect();
        // Ten microseconds, a nanosecond a pair, and a little noise.
        let noise = |call: u64| (call * 7 % 11) as f64 * 1e-7;
        let p = run(&sizes, |pairs, call| {
            1e-5 + pairs as f64 * 1e-9 + noise(call)
        });
        let cost = p.cost().expect("blocks were divided");
        let seconds = cost.seconds.expect("it can be told");
        let [each, error] = seconds.map(|s| s / cost.calls as f64);
        assert!((each - 1.05e-5).abs() < 3e-7, "{each}");
        assert!((1e-8..2e-7).contains(&error), "{error}");
        // Nothing but pairs.
        let p = run(&sizes, |pairs, call| {
            pairs as f64 * 1e-9 + noise(call) - 5e-7
        });
        assert_eq!(p.cost().and_then(|c| c.seconds), None);
        // Sizes that do not differ tell nothing.
        let p = run(&[96; 100], |_, _| 1e-5);
        assert_eq!(p.cost().and_then(|c| c.seconds), None);
    }
}
