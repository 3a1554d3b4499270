//! Counts and times of the calls of NBODY6's library, for `gpunb_profile_` and `irr_simd_profile_`, and for
//! `KIRIN_STATS` at the end of the process.
//!
//! Counts are exact. Every call is timed, except those that write stars and lists: many threads make them at once, and
//! each takes a few nanoseconds. Their time counts as the client's.

use std::array;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::nbody6::helpers::monotonic;
use kirin_core::observe::report::{self, SIZES};
use kirin_core::process::lock::Lock;
use kirin_core::process::settings::{self, Destination};
use kirin_core::process::{self, log};

/// The counts of the process.
pub static COUNTS: Counts = Counts::new();

/// Calls of one kind, which several threads may make at once.
pub struct Calls {
    /// Calls, particles, pairs and nanoseconds.
    all: [AtomicU64; 4],
    /// The same, as they stood when a client asked last.
    told: [AtomicU64; 4],
}

/// What some calls did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    calls: u64,
    particles: u64,
    pairs: u64,
    time: Duration,
}

/// Everything that is counted.
pub struct Counts {
    /// The generation of the process that counts.
    generation: AtomicU32,
    /// When it began, by the clock that never goes back.
    began: AtomicU64,
    /// Whether there will be a report.
    is_wanted: AtomicBool,
    /// Sources sent.
    pub sends: Calls,
    regular: Calls,
    /// Potentials.
    pub potentials: Calls,
    /// Irregular forces.
    pub irregular: Calls,
    /// Calls of the regular force by their numbers of targets.
    sizes: [AtomicU64; SIZES],
    neighbours: AtomicU64,
    /// Lists that were too long for the client.
    overflowed: AtomicU64,
    /// What computes the regular force.
    backend: Lock<String>,
}

impl Calls {
    const fn new() -> Self {
        Self {
            all: [const { AtomicU64::new(0) }; 4],
            told: [const { AtomicU64::new(0) }; 4],
        }
    }

    /// Counts a call that began at `begin`.
    #[inline]
    pub fn add(&self, particles: usize, pairs: usize, begin: Instant) {
        let nanoseconds = begin.elapsed().as_nanos() as u64;
        for (all, more) in self
            .all
            .iter()
            .zip([1, particles as u64, pairs as u64, nanoseconds])
        {
            all.fetch_add(more, Ordering::Relaxed);
        }
    }

    fn tally(&self) -> Tally {
        Tally::of(array::from_fn(|k| self.all[k].load(Ordering::Relaxed)))
    }

    /// What was done since this was asked last.
    fn news(&self) -> Tally {
        Tally::of(array::from_fn(|k| {
            let all = self.all[k].load(Ordering::Relaxed);
            all.wrapping_sub(self.told[k].swap(all, Ordering::Relaxed))
        }))
    }

    fn numbers(&self) -> impl Iterator<Item = &AtomicU64> {
        self.all.iter().chain(&self.told)
    }
}

impl Tally {
    fn of([calls, particles, pairs, nanoseconds]: [u64; 4]) -> Self {
        Self {
            calls,
            particles,
            pairs,
            time: Duration::from_nanos(nanoseconds),
        }
    }

    fn seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }

    /// Calls, their particles, and what a report says of both.
    fn row(&self, particles: &str) -> String {
        let mean = self.particles as f64 / self.calls.max(1) as f64;
        format!(
            "{} calls, {} {particles}, {mean:.1} a call",
            self.calls, self.particles
        )
    }

    /// The same with pairs and speed.
    fn row_of_forces(&self, particles: &str) -> String {
        format!(
            "{}; {:.4e} pairs, {}",
            self.row(particles),
            self.pairs as f64,
            report::speed(self.pairs, self.seconds())
        )
    }
}

/// Pairs and their time, as a client's report has them.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pairs, seconds) = (self.pairs as f64, self.seconds());
        write!(f, "{pairs:.3e} pairs in {seconds:.3} s")?;
        match pairs > 0.0 && seconds > 0.0 {
            true => write!(f, ", {:.3e} pairs/s", pairs / seconds),
            false => Ok(()),
        }
    }
}

impl Counts {
    const fn new() -> Self {
        Self {
            // No process has so many forks behind it.
            generation: AtomicU32::new(u32::MAX),
            began: AtomicU64::new(0),
            is_wanted: AtomicBool::new(false),
            sends: Calls::new(),
            regular: Calls::new(),
            potentials: Calls::new(),
            irregular: Calls::new(),
            sizes: [const { AtomicU64::new(0) }; SIZES],
            neighbours: AtomicU64::new(0),
            overflowed: AtomicU64::new(0),
            backend: Lock::new(String::new()),
        }
    }

    /// A call begins, at the time that is returned. The first one of a process begins the counts: a child counts for itself.
    #[inline]
    pub fn begin(&self) -> Instant {
        if !self.is_ours() {
            self.begin_anew();
        }
        Instant::now()
    }

    fn is_ours(&self) -> bool {
        self.generation.load(Ordering::Relaxed) == process::known_generation()
    }

    #[cold]
    fn begin_anew(&self) {
        let before = self.generation.load(Ordering::Relaxed);
        let now = process::generation();
        let order = Ordering::Relaxed;
        // Of several threads one.
        if before == now
            || self
                .generation
                .compare_exchange(before, now, order, order)
                .is_err()
        {
            return;
        }
        let kinds = [
            &self.sends,
            &self.regular,
            &self.potentials,
            &self.irregular,
        ];
        let others = self
            .sizes
            .iter()
            .chain([&self.neighbours, &self.overflowed]);
        for number in kinds.into_iter().flat_map(Calls::numbers).chain(others) {
            number.store(0, order);
        }
        self.began.store(monotonic(), order);
        let is_wanted = settings::settings().stats != Destination::Off;
        // A child has its parent's hook.
        if is_wanted && !self.is_wanted.swap(true, order) {
            process::at_exit(report_all);
        }
    }

    /// Notes what computes the regular force, if there will be a report.
    pub fn computed_by(&self, backend: impl FnOnce() -> String) {
        if self.is_wanted.load(Ordering::Relaxed)
            && let Some(mut known) = self.backend.try_lock()
        {
            *known = backend();
        }
    }

    /// Counts a call for regular forces that began at `begin`. There were `sources` sources. `neighbours` has the
    /// number of neighbours of each target; a list has room for `longest`.
    #[inline]
    pub fn add_regular(
        &self,
        sources: usize,
        neighbours: impl ExactSizeIterator<Item = usize>,
        longest: usize,
        begin: Instant,
    ) {
        let targets = neighbours.len();
        self.regular.add(targets, targets * sources, begin);
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        let (mut all, mut overflowed) = (0, 0);
        for count in neighbours {
            all += count as u64;
            overflowed += u64::from(count > longest);
        }
        for (number, more) in [
            (&self.sizes[report::size(targets)], 1),
            (&self.neighbours, all),
            (&self.overflowed, overflowed),
        ] {
            number.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Writes what was done about regular forces since the last time, for a rank.
    pub fn tell_regular(&self, rank: i32) {
        let (sends, regular) = (self.sends.news(), self.regular.news());
        log::line(format_args!(
            "regular forces (rank {rank}): {} sends in {:.3} s; {} calls, {} forces, {regular}; \
             potentials: {}",
            sends.calls,
            sends.seconds(),
            regular.calls,
            regular.particles,
            self.potentials.news()
        ));
    }

    /// Writes what was done about irregular forces since the last time, for a rank.
    pub fn tell_irregular(&self, rank: i32) {
        let news = self.irregular.news();
        log::line(format_args!(
            "irregular forces (rank {rank}): {} calls, {} forces, {news}",
            news.calls, news.particles
        ));
    }

    /// The report; `None` if this process did nothing.
    fn text(&self) -> Option<String> {
        let [sends, regular, potentials, irregular] = [
            &self.sends,
            &self.regular,
            &self.potentials,
            &self.irregular,
        ]
        .map(Calls::tally);
        let kinds = [
            ("sending", sends),
            ("regular", regular),
            ("potentials", potentials),
            ("irregular", irregular),
        ];
        if !self.is_ours() || kinds.iter().all(|(_, tally)| tally.calls == 0) {
            return None;
        }
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let mut text = report::head("NBODY6's library");
        let mut row = |name: &str, value: &str| report::row(&mut text, name, value);
        if let Some(backend) = self.backend.try_lock().filter(|b| !b.is_empty()) {
            row("backend", &backend);
        }
        row("sends", &sends.row("sources"));
        row("regular", &regular.row_of_forces("targets"));
        row(
            "lists",
            &format!(
                "{:.1} neighbours a target, {} of {} lists too long; calls by targets:{}",
                count(&self.neighbours) as f64 / regular.particles.max(1) as f64,
                count(&self.overflowed),
                regular.particles,
                report::histogram(&array::from_fn(|k| count(&self.sizes[k])))
            ),
        );
        row("potentials", &potentials.row_of_forces("particles"));
        row("irregular", &irregular.row_of_forces("stars"));
        let wall = Duration::from_nanos(monotonic().saturating_sub(count(&self.began)));
        let inside: Duration = kinds.iter().map(|(_, tally)| tally.time).sum();
        let client = wall.saturating_sub(inside);
        let mut parts = vec![("client", client.as_secs_f64())];
        parts.extend(kinds.iter().map(|(name, tally)| (*name, tally.seconds())));
        row("seconds", &report::shares(wall.as_secs_f64(), &parts));
        Some(text)
    }
}

extern "C" fn report_all() {
    process::last_words(|| {
        if let Some(text) = COUNTS.text() {
            report::write(&settings::settings().stats, &text);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Counts {
        let counts = Counts::new();
        counts.begin();
        counts.is_wanted.store(true, Ordering::Relaxed);
        counts
    }

    #[test]
    fn counts_are_those_of_the_calls() {
        let counts = counts();
        assert_eq!(counts.text(), None, "nothing was done");
        let begin = counts.begin();
        counts.computed_by(|| "a double".to_owned());
        counts.sends.add(1000, 0, begin);
        counts.sends.add(500, 0, begin);
        counts.add_regular(1000, [4, 10, 11].into_iter(), 10, begin);
        counts.add_regular(500, [0].into_iter(), 10, begin);
        counts.potentials.add(7, 7 * 500, begin);
        counts.irregular.add(9, 123, begin);
        let text = counts.text().expect("there is something to say");
        for part in [
            "statistics of NBODY6's library of ",
            "backend      a double\n",
            "sends        2 calls, 1500 sources, 750.0 a call\n",
            "regular      2 calls, 4 targets, 2.0 a call; 3.5000e3 pairs, ",
            "lists        6.2 neighbours a target, 1 of 4 lists too long; calls by targets: 1: 1 2-3: 1\n",
            "potentials   1 calls, 7 particles, 7.0 a call; 3.5000e3 pairs, ",
            "irregular    1 calls, 9 stars, 9.0 a call; 1.2300e2 pairs, ",
        ] {
            assert!(text.contains(part), "no '{part}' in\n{text}");
        }
    }

    #[test]
    fn a_client_is_told_what_is_new_and_the_report_has_all() {
        let counts = counts();
        let begin = counts.begin();
        counts.irregular.add(9, 100, begin);
        let told = |calls: &Calls| (calls.news().calls, calls.tally().calls);
        assert_eq!(told(&counts.irregular), (1, 1));
        counts.irregular.add(5, 100, begin);
        counts.irregular.add(6, 100, begin);
        let news = counts.irregular.news();
        assert_eq!((news.calls, news.particles, news.pairs), (2, 11, 200));
        assert_eq!(told(&counts.irregular), (0, 3));
    }
}
