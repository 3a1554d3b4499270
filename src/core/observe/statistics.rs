//! Counts and times of a cluster (`KIRIN_STATS`).
//!
//! Counts are exact. The clock is read four times in a timed block. All large blocks are timed, the first small
//! blocks of each size, and about one in 64 of the later small ones: a block of one i-particle may take less than a
//! microsecond, and reading the clock should cost no more than a hundredth. No clock is read when j-particles are
//! written; this counts as the client's time.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::pipelines::{Cost, Pipelines, State};
use super::report::{self, SIZES};
use super::sampled::{OUTLYING, SMALL, Sampled};
use crate::force::Phases;
use crate::process;

/// Shares of the time in the library that too few pipelines may cost where a GPU computes. Above the first, the report
/// has a hint. Above the second, there is a line on stderr, too.
const COSTLY: f64 = 0.1;
const VERY_COSTLY: f64 = 0.3;

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
    times: Sampled,
    lists: Duration,
    pipelines: Pipelines,
    /// The block being computed: its pairs, and if it is timed, when the library was last
    /// entered and the time spent in it before.
    pending: bool,
    block_pairs: u64,
    entered: Option<Instant>,
    spent: Duration,
}

/// What the report says besides the counts.
pub struct ClusterFacts {
    /// What messages call the cluster.
    pub name: String,
    /// What computed the forces, and its precision.
    pub backend: String,
    /// Whether that was a GPU.
    pub on_gpu: bool,
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
            times: Sampled::default(),
            lists: Duration::ZERO,
            pipelines: Pipelines::default(),
            pending: false,
            block_pairs: 0,
            entered: None,
            spent: Duration::ZERO,
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
        self.spent = Duration::ZERO;
        self.entered = self.times.wants(self.block_pairs).then(Instant::now);
        self.entered.is_some()
    }

    /// The block that has begun was none: only lists are wanted.
    pub fn retract(&mut self, ni: usize) {
        self.pending = false;
        self.sizes[report::size(ni)] -= 1;
    }

    /// Records whether this block is the next part of a block that the client has divided by the number of pipelines. To be
    /// called after `begin`. `state` is computed only if this block, or the next one, can be such a part.
    #[inline]
    pub fn divided(&mut self, ni: usize, npipes: i32, state: impl FnOnce() -> State) {
        self.pipelines.begin(ni, npipes as usize, state);
    }

    /// What too few pipelines cost, if it is enough for a line on stderr. Looks at it only now and then.
    pub fn very_costly_pipelines(&self, npipes: usize) -> Option<(Cost, f64)> {
        let cost = self.pipelines.cost()?;
        let due = cost.calls >= 1024 && cost.calls.is_power_of_two();
        let [share, error] = due.then(|| self.share(cost)).flatten()?;
        (share - error > VERY_COSTLY && cost.enough > npipes).then_some((cost, share))
    }

    /// The share of the time in the library that too few pipelines cost, and its standard error.
    fn share(&self, cost: Cost) -> Option<[f64; 2]> {
        let blocks = self.times.estimate().at_most(self.elapsed()).seconds;
        // The fitted line may promise more time than was spent.
        let share = |seconds: f64| (seconds / blocks.max(f64::MIN_POSITIVE)).min(1.0);
        cost.seconds.map(|seconds| seconds.map(share))
    }

    fn elapsed(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
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
            self.times.count(self.block_pairs);
            return;
        }
        let seconds = self.spent.as_secs_f64();
        // An interruption by another process would turn the line.
        let usual = self.times.usual(self.block_pairs);
        let likely = usual.map_or(seconds, |usual| seconds.min(OUTLYING * usual));
        self.pipelines.timed(self.block_pairs, likely);
        self.times.add(self.block_pairs, seconds, phases());
    }

    /// Adds the time of neighbour lists.
    pub fn add_lists(&mut self, time: Duration) {
        self.lists += time;
    }

    /// The report; `None` if this process did nothing.
    pub fn text(&self, facts: &ClusterFacts) -> Option<String> {
        let begun: u64 = self.sizes.iter().sum();
        if self.generation != process::known_generation() || begun + facts.written == 0 {
            return None;
        }
        let wall = self.elapsed();
        let lists = self.lists.as_secs_f64();
        let blocks = self.times.estimate().at_most(wall - lists);
        let client = (wall - blocks.seconds - lists).max(0.0);
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
                report::speed(self.pairs, blocks.seconds),
                report::speed(self.pairs, wall)
            ),
        );
        row(
            "redone",
            format!(
                "{} leaves in double precision, {:.2e} s of all threads",
                facts.leaves_again, blocks.again
            ),
        );
        if let (steps @ 1.., turned) = facts.noise {
            row("noise", noise(steps, turned));
        }
        let parts = [
            ("client", client),
            ("transfer", blocks.transfer),
            ("prediction", blocks.prediction),
            ("force", blocks.force()),
            ("joining", blocks.joining),
            ("lists", lists),
        ];
        row("seconds", report::shares(wall, &parts));
        if blocks.timed < blocks.blocks {
            row(
                "estimated",
                format!(
                    "from {} of {} blocks with fewer than {SMALL} pairs, to +- {:.3} s",
                    blocks.timed, blocks.blocks, blocks.error
                ),
            );
        }
        if let Some(cost) = self.pipelines.cost() {
            row("pipelines", self.division(cost, facts));
        }
        row("recoveries", facts.recoveries.to_string());
        if let Some((checked, wrong)) = facts.checked {
            row("checked", format!("{checked} i-particles, {wrong} wrong"));
        }
        Some(text)
    }

    /// What too few pipelines cost, in words. On a CPU they cost nothing that could be told from noise.
    fn division(&self, cost: Cost, facts: &ClusterFacts) -> String {
        let (npipes, calls) = (facts.npipes, cost.calls);
        let mut text = format!("{npipes}; {calls} blocks go on with the full one before them");
        let share = facts.on_gpu.then(|| self.share(cost)).flatten();
        if let Some([share, error]) = share {
            let _ = write!(
                text,
                ", which costs about {:.0} +- {:.0} % of the time in the library",
                100.0 * share,
                100.0 * error
            );
            if share - error > COSTLY && cost.enough > npipes as usize {
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
        "KIRIN_NPIPES={} saves it, if the program takes any number of pipelines (with more than 48 a particle is in its own neighbour list)",
        cost.enough
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ClusterFacts {
        ClusterFacts {
            name: "cluster 3".to_owned(),
            backend: "a double, precision double".to_owned(),
            on_gpu: false,
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
            "redone       17 leaves in double precision, 1.20e-2 s of all threads",
            "noise        4.50 % of 2000 sampled steps",
            "checked      5 i-particles, 1 wrong",
        ] {
            assert!(text.contains(part), "no '{part}' in\n{text}");
        }
    }

    /// The seconds of a report: all, and those of its parts.
    fn seconds(text: &str) -> Vec<f64> {
        let row = text.lines().find(|l| l.trim_start().starts_with("seconds"));
        let words = row.expect("a row").split([' ', ',']);
        words
            .filter_map(|w| w.parse().ok())
            .filter(|n: &f64| n.fract() != 0.0 || *n == 0.0)
            .collect()
    }

    #[test]
    fn no_part_of_the_time_is_longer_than_what_elapsed() {
        let mut stats = Stats::default();
        for _ in 0..3000 {
            stats.begin(1, 100);
            // A clock that another process holds up in every timed block.
            stats.spent = Duration::from_millis(5);
            stats.finish(false, || Phases {
                transfer: Duration::from_millis(2),
                ..Phases::default()
            });
        }
        let text = stats.text(&facts()).expect("there is something to say");
        let all = stats.elapsed();
        assert!(
            seconds(&text).iter().all(|&part| part <= all + 5e-4),
            "{text}"
        );
        assert!(
            text.contains("(40.0 %)") && text.contains("(60.0 %)"),
            "{text}"
        );
        assert!(text.contains(" of 3000 blocks with fewer than"), "{text}");
        for _ in 0..10 {
            assert!(stats.begin(1000, 1000), "every large block is timed");
            stats.finish(false, Phases::default);
        }
    }

    #[test]
    fn lists_alone_are_no_blocks() {
        let mut stats = Stats::default();
        for _ in 0..3 {
            stats.begin(0, 100);
            stats.retract(0);
        }
        stats.begin(1, 100);
        stats.finish(false, Phases::default);
        let text = stats.text(&facts()).expect("there is something to say");
        assert!(
            text.contains("blocks       1, 0 with nearest neighbours, 0 given up"),
            "{text}"
        );
    }

    /// Blocks of 96 in two calls, whose time does not depend on their pairs.
    #[test]
    fn only_a_gpu_is_told_what_few_pipelines_cost() {
        let mut stats = Stats::default();
        for block in 0..6000_u64 {
            for ni in [48, 1 + block as usize % 48] {
                let timed = stats.begin(ni, 400);
                let state = State {
                    ti: block,
                    nj: 400,
                    written: 0,
                };
                stats.divided(ni, 48, || state);
                stats.entered = None;
                match timed {
                    true => {
                        stats.pipelines.timed(stats.block_pairs, 1e-4);
                        stats.times.add(stats.block_pairs, 1e-4, Phases::default());
                    }
                    false => stats.times.count(stats.block_pairs),
                }
            }
        }
        stats.began -= Duration::from_secs(2);
        let text = |on_gpu| {
            let facts = ClusterFacts { on_gpu, ..facts() };
            stats.text(&facts).expect("there is something to say")
        };
        let told = "which costs about 50 +- 0 % of the time in the library: KIRIN_NPIPES=256";
        assert!(text(true).contains(told), "{}", text(true));
        let cpu = text(false);
        assert!(
            cpu.contains("6000 blocks go on") && !cpu.contains("KIRIN_NPIPES"),
            "{cpu}"
        );
    }

    #[test]
    fn nothing_done_is_nothing_said() {
        let nothing = ClusterFacts {
            written: 0,
            ..facts()
        };
        assert_eq!(Stats::default().text(&nothing), None);
    }
}
