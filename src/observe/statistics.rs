//! What a cluster did and where its time went (`KIRIN_STATS`).
//!
//! Counts are exact. Times are read from the clock, four times in a block: in every large block and in the
//! first 64 small ones. Of later small blocks about one in 64 is timed and stands for the others, because
//! a block of one i-particle may take less than a microsecond, and the clock should cost no more than
//! a hundredth. Writing j-particles counts as the client's time; no clock is read there.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::pipelines::{Cost, Pipelines, State};
use super::report::{self, SIZES};
use crate::process;

/// Blocks with fewer pairs are small.
const SMALL: u64 = 1 << 17;

/// The first so many small blocks are timed, and later one in so many.
const SAMPLED: u32 = 64;

/// The share of the time in the library that few pipelines must cost to be worth a hint in the report,
/// and on a GPU a line on stderr.
const COSTLY: f64 = 0.1;
const VERY_COSTLY: f64 = 0.3;

// Kinds of blocks: the first small ones, later small ones, large ones.
const EARLY: usize = 0;
const LATER: usize = 1;
const LARGE: usize = 2;

/// The parts of a block's time that a backend measures. The rest is the force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Copies between the host and a device.
    pub transfer: Duration,
    /// Prediction of the j-particles, where it is not part of the force calculation.
    pub prediction: Duration,
    /// Joining of partial sums, and what follows it.
    pub joining: Duration,
    /// Leaves that were summed again in double precision, all threads (thread blocks of a GPU) together.
    /// Part of the force.
    pub again: Duration,
}

/// The blocks of one kind, and the times of those that were timed.
#[derive(Clone, Copy, Default)]
struct Timed {
    blocks: u64,
    timed: u64,
    total: Duration,
    phases: Phases,
}

impl Timed {
    /// Extrapolates a time from the timed blocks to all blocks, in seconds.
    fn all(&self, time: Duration) -> f64 {
        match self.timed {
            0 => 0.0,
            timed => time.as_secs_f64() * self.blocks as f64 / timed as f64,
        }
    }
}

/// The statistics of one cluster.
pub struct Stats {
    began: Instant,
    generation: u32,
    given_up: u64,
    with_nearest: u64,
    particles: u64,
    pairs: u64,
    /// The numbers of blocks by their numbers of i-particles.
    sizes: [u64; SIZES],
    kinds: [Timed; 3],
    lists: Duration,
    pipelines: Pipelines,
    /// The block being computed: its kind, its pairs, and if it is timed, when the library was last
    /// entered and the time spent in it before.
    pending: bool,
    kind: usize,
    block_pairs: u64,
    entered: Option<Instant>,
    spent: Duration,
    /// How many small blocks are left until the next timed one.
    until_timed: u32,
    random: u32,
}

/// What the report says besides the counts.
pub struct Facts {
    /// What messages call the cluster.
    pub name: String,
    /// What computed the forces, and its precision.
    pub backend: String,
    /// The number of pipelines that `g6_npipes` reports.
    pub npipes: i32,
    /// j-particles in the memory.
    pub present: u64,
    /// j-particles written.
    pub written: u64,
    /// How often another device or the CPU took over from a device that failed.
    pub recoveries: u64,
    /// Leaves of the sum tree that were summed again in double precision.
    pub leaves_again: u64,
    /// The steps of j-particles that were looked at, and how many of them noise has turned.
    pub noise: (u64, u64),
    /// The numbers of i-particles checked and found wrong, if results are checked.
    pub checked: Option<(u64, u64)>,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            generation: process::generation(),
            given_up: 0,
            with_nearest: 0,
            particles: 0,
            pairs: 0,
            sizes: [0; SIZES],
            kinds: Default::default(),
            lists: Duration::ZERO,
            pipelines: Pipelines::default(),
            pending: false,
            kind: EARLY,
            block_pairs: 0,
            entered: None,
            spent: Duration::ZERO,
            until_timed: 0,
            random: 1,
        }
    }
}

impl Stats {
    /// Notes that a block begins. Returns whether it is timed.
    #[inline]
    pub fn begin(&mut self, ni: usize, nj: usize) -> bool {
        if self.generation != process::known_generation() {
            *self = Self::default(); // a child counts for itself
        }
        self.given_up += u64::from(self.pending);
        self.pending = true;
        self.particles += ni as u64;
        self.sizes[report::size(ni)] += 1;
        self.block_pairs = ni as u64 * nj as u64;
        self.entered = None;
        if self.block_pairs < SMALL {
            if self.until_timed > 0 {
                self.until_timed -= 1;
                return false;
            }
            self.choose_next();
        } else {
            self.kind = LARGE;
        }
        self.spent = Duration::ZERO;
        self.entered = Some(Instant::now());
        true
    }

    /// Notes, after `begin`, whether the block continues the client's last one. Calls `state` only if
    /// this block may do so, or the next one may.
    #[inline]
    pub fn divided(&mut self, ni: usize, npipes: i32, state: impl FnOnce() -> State) {
        self.pipelines.begin(ni, npipes as usize, state);
    }

    /// What too few pipelines cost, if it is enough for a line on stderr. Looks at it only now and then.
    pub fn very_costly_pipelines(&self) -> Option<(Cost, f64)> {
        let cost = self.pipelines.cost()?;
        let due = cost.calls >= 1024 && cost.calls.is_power_of_two();
        let share = due.then(|| self.share(cost)).flatten()?;
        (share > VERY_COSTLY).then_some((cost, share))
    }

    /// The share of the time in the library that too few pipelines cost.
    fn share(&self, cost: Cost) -> Option<f64> {
        let blocks: f64 = self.kinds.iter().map(|k| k.all(k.total)).sum();
        // The fitted line may promise more time than was spent.
        cost.seconds
            .map(|s| (s / blocks.max(f64::MIN_POSITIVE)).min(1.0))
    }

    /// Chooses the next small block to be timed: at random, since clients repeat themselves.
    fn choose_next(&mut self) {
        self.kind = EARLY;
        if self.kinds[EARLY].blocks >= SAMPLED.into() {
            self.kind = LATER;
            self.random = self
                .random
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            self.until_timed = (self.random >> 16) % (2 * SAMPLED - 1);
        }
    }

    /// Notes that the library returns to the client, with the block not finished.
    #[inline]
    pub fn leave(&mut self) {
        if let Some(entered) = self.entered {
            self.spent += entered.elapsed();
        }
    }

    /// Notes that the client asks for the results.
    #[inline]
    pub fn enter(&mut self) {
        if self.entered.is_some() {
            self.entered = Some(Instant::now());
        }
    }

    /// Notes that the results are there. Calls `phases` only if the block was timed.
    #[inline]
    pub fn finish(&mut self, nearest: bool, phases: impl FnOnce() -> Phases) {
        self.leave();
        self.pending = false;
        self.pairs += self.block_pairs;
        self.with_nearest += u64::from(nearest);
        if self.entered.is_none() {
            self.kinds[LATER].blocks += 1;
            return;
        }
        self.pipelines
            .timed(self.block_pairs, self.spent.as_secs_f64());
        let phases = phases();
        let kind = &mut self.kinds[self.kind];
        kind.blocks += 1;
        kind.timed += 1;
        kind.total += self.spent;
        kind.phases.transfer += phases.transfer;
        kind.phases.prediction += phases.prediction;
        kind.phases.joining += phases.joining;
        kind.phases.again += phases.again;
    }

    /// Adds the time of neighbour lists.
    pub fn add_lists(&mut self, time: Duration) {
        self.lists += time;
    }

    /// The report; `None` if this process did nothing.
    pub fn text(&self, facts: &Facts) -> Option<String> {
        let begun: u64 = self.sizes.iter().sum();
        if self.generation != process::known_generation() || begun + facts.written == 0 {
            return None;
        }
        let wall = self.began.elapsed().as_secs_f64();
        let sum = |part: fn(&Timed) -> Duration| {
            let seconds = self.kinds.iter().map(|kind| kind.all(part(kind)));
            seconds.sum::<f64>()
        };
        let blocks = sum(|t| t.total);
        let transfer = sum(|t| t.phases.transfer);
        let prediction = sum(|t| t.phases.prediction);
        let joining = sum(|t| t.phases.joining);
        let again = sum(|t| t.phases.again);
        let lists = self.lists.as_secs_f64();
        let force = (blocks - transfer - prediction - joining).max(0.0);
        let client = (wall - blocks - lists).max(0.0);
        let mut text = report::head(&facts.name);
        let mut row = |name: &str, value: String| report::row(&mut text, name, &value);
        row("backend", facts.backend.clone());
        row(
            "blocks",
            format!(
                "{}, {} with nearest neighbours, {} given up",
                begun, self.with_nearest, self.given_up
            ),
        );
        row(
            "i-particles",
            format!(
                "{}, {:.1} a block; blocks by size:{}",
                self.particles,
                self.particles as f64 / begun.max(1) as f64,
                report::histogram(&self.sizes)
            ),
        );
        row(
            "j-particles",
            format!("{}, written {} times", facts.present, facts.written),
        );
        row(
            "pairs",
            format!(
                "{:.4e}; {} in the library, {} of the whole time",
                self.pairs as f64,
                report::speed(self.pairs, blocks),
                report::speed(self.pairs, wall)
            ),
        );
        row(
            "redone",
            format!(
                "{} leaves in double precision, {again:.3} s of all threads",
                facts.leaves_again
            ),
        );
        if let (steps @ 1.., turned) = facts.noise {
            row("noise", noise(steps, turned));
        }
        let parts = [
            ("client", client),
            ("transfer", transfer),
            ("prediction", prediction),
            ("force", force),
            ("joining", joining),
            ("lists", lists),
        ];
        row("seconds", report::shares(wall, &parts));
        if let Some(cost) = self.pipelines.cost() {
            row("pipelines", self.division(cost, facts.npipes));
        }
        row("recoveries", facts.recoveries.to_string());
        if let Some((checked, wrong)) = facts.checked {
            row("checked", format!("{checked} i-particles, {wrong} wrong"));
        }
        Some(text)
    }

    /// What too few pipelines cost, in words.
    fn division(&self, cost: Cost, npipes: i32) -> String {
        let calls = cost.calls;
        let mut text = format!("{npipes}; {calls} blocks go on with the full one before them");
        if let Some(share) = self.share(cost) {
            let _ = write!(
                text,
                ", which costs about {:.0} % of the time in the library",
                100.0 * share
            );
            if share > COSTLY {
                let _ = write!(text, ": {}", advice(cost));
            }
        }
        text
    }
}

/// How many steps the noise of the forces has limited, in words.
pub fn noise(steps: u64, turned: u64) -> String {
    format!(
        "{:.2} % of {steps} sampled steps turn short corrections about; up to 1 % is usual, above 3 % noise limits the steps",
        100.0 * turned as f64 / steps as f64
    )
}

/// What to try against too few pipelines.
pub fn advice(cost: Cost) -> String {
    format!(
        "KIRIN_NPIPES={} saves it, if the program takes any number of pipelines",
        cost.enough
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            name: "cluster 3".to_owned(),
            backend: "a double, precision double".to_owned(),
            npipes: 48,
            present: 10,
            written: 20,
            recoveries: 2,
            leaves_again: 17,
            noise: (2000, 90),
            checked: Some((5, 1)),
        }
    }

    #[test]
    fn counts_are_those_of_the_blocks() {
        let mut stats = Stats::default();
        for ni in [1, 1, 3, 4, 7, 48] {
            stats.begin(ni, 1000);
            stats.leave();
            stats.enter();
            stats.finish(ni == 3, || Phases {
                again: Duration::from_millis(2),
                ..Phases::default()
            });
        }
        stats.begin(2, 1000); // never fetched
        stats.begin(0, 1000);
        let text = stats.text(&facts()).expect("there is something to say");
        for part in [
            "cluster 3",
            "a double, precision double",
            "blocks       8, 1 with nearest neighbours, 1 given up",
            "i-particles  66, 8.2 a block; blocks by size: 0: 1 1: 2 2-3: 2 4-7: 2 32-63: 1\n",
            "10, written 20 times",
            "6.4000e4;",
            "recoveries   2",
            "redone       17 leaves in double precision, 0.012 s of all threads",
            "noise        4.50 % of 2000 sampled steps",
            "checked      5 i-particles, 1 wrong",
        ] {
            assert!(text.contains(part), "no '{part}' in\n{text}");
        }
    }

    #[test]
    fn sampled_times_stand_for_all_blocks() {
        let mut stats = Stats::default();
        for _ in 0..3000 {
            stats.begin(1, 100);
            stats.finish(false, || Phases {
                transfer: Duration::from_secs(1),
                ..Phases::default()
            });
        }
        let [early, later, _] = &stats.kinds;
        assert_eq!((early.blocks, early.timed), (64, 64));
        assert!((20..100).contains(&later.timed), "{}", later.timed);
        let transfer = early.all(early.phases.transfer) + later.all(later.phases.transfer);
        assert!((transfer - 3000.0).abs() < 1e-6, "{transfer}");
        for _ in 0..10 {
            assert!(stats.begin(1000, 1000), "every large block is timed");
            stats.finish(false, Phases::default);
        }
        let large = &stats.kinds[LARGE];
        assert_eq!((large.blocks, large.timed), (10, 10));
    }

    #[test]
    fn nothing_done_is_nothing_said() {
        let nothing = Facts {
            written: 0,
            ..facts()
        };
        assert_eq!(Stats::default().text(&nothing), None);
    }
}
