//! The measurements of the report, smallest systems first, until the time is used up.

use std::time::Instant;

use kirin_kit::command::Ended;
use kirin_kit::comparison::{Budget, ReportLimits};
use kirin_kit::interrupt::interrupted;
use kirin_kit::progress::Progress;
use kirin_report::repeat::{Repetitions, Spread, repeat};
use serde_json::Value;

use super::published::{
    FIGURE_4_2, LARGEST_BLOCK, SMALLEST_BLOCK, TABLE_4_1, TABLE_4_2, figure_4_3,
};
use super::worker::{self, Worker};

/// Fraction of the remaining time that each of the three sets of force measurements may take.
const SHARE: f64 = 0.2;

/// Samples of a force.
const FORCES: Repetitions = Repetitions {
    least: 3,
    most: 11,
    seconds: 1.0,
};

/// Runs: a second one only where it takes moments.
const RUNS: Repetitions = Repetitions {
    least: 1,
    most: 3,
    seconds: 2.0,
};

/// Largest factor by which a run grows with twice the particles: that of Table 4.2's Xeon.
const GROWTH: f64 = 4.5;

/// Seconds without and with splitting.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Without; `None` where the library has no such setting.
    pub whole: Option<Spread>,
    /// With splitting.
    pub split: Spread,
}

impl Times {
    /// Seconds of one measurement of each.
    fn seconds(&self) -> f64 {
        self.split.median + self.whole.map_or(0.0, |whole| whole.median)
    }
}

/// The forces of `n` particles on `ni` of them.
#[derive(Clone, Copy, Debug)]
pub struct ForceTimes {
    /// Sources.
    pub n: usize,
    /// Particles of the block.
    pub ni: usize,
    /// How long they take.
    pub times: Times,
}

impl ForceTimes {
    /// Pairs, those of particles with themselves too, as in the thesis.
    pub fn pairs(&self) -> f64 {
        self.n as f64 * self.ni as f64
    }
}

/// The second half of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Number of particles.
    pub n: usize,
    /// How long it takes.
    pub times: Times,
    /// What the worker says of it.
    pub figures: Value,
}

impl Run {
    /// One of the worker's figures; NaN if it has none.
    pub fn number(&self, key: &str) -> f64 {
        self.figures[key].as_f64().unwrap_or(f64::NAN)
    }
}

/// What has been measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// Table 4.1.
    pub table_4_1: Vec<ForceTimes>,
    /// Figure 4.2.
    pub figure_4_2: Vec<ForceTimes>,
    /// Figure 4.3.
    pub figure_4_3: Vec<ForceTimes>,
    /// Table 4.2.
    pub table_4_2: Vec<Run>,
}

/// What the library says of itself in the processes.
#[derive(Clone, Debug)]
pub struct Described {
    /// With splitting.
    pub split: Value,
    /// Without.
    pub whole: Option<Value>,
}

/// The processes that measure, and what they have measured.
pub struct Bench {
    split: Worker,
    whole: Option<Worker>,
    described: Described,
    /// What has been measured so far.
    pub measured: Measured,
}

impl Bench {
    /// Starts the processes.
    ///
    /// # Errors
    ///
    /// The library cannot be used in one of the two processes, or has another backend in the second one (a GPU may take
    /// one process only). The text says which.
    pub fn start() -> Result<Self, String> {
        let describe = |worker: &mut Worker| worker.ask(&worker::describe(), &|_| ());
        let mut split = Worker::start("auto")?;
        let mut described = Described {
            split: describe(&mut split)?,
            whole: None,
        };
        let mut whole = None;
        if described.split["is_kirin"] == true {
            let mut worker = Worker::start("off")?;
            let found = describe(&mut worker)?;
            let [one, other] = [&described.split, &found].map(|d| &d["backend"]);
            if one != other {
                return Err(format!("two processes compute on {one} and {other}"));
            }
            (whole, described.whole) = (Some(worker), Some(found));
        }
        Ok(Self {
            split,
            whole,
            described,
            measured: Measured::default(),
        })
    }

    /// What the library says of itself.
    pub fn described(&self) -> &Described {
        &self.described
    }

    /// Measures everything that `wanted` leaves time for.
    ///
    /// # Errors
    ///
    /// Something fails; what came before is kept. In words.
    pub fn measure(&mut self, wanted: &ReportLimits) -> Result<Ended, String> {
        let backend = self.described.split["backend"].as_str().unwrap_or_default();
        let budget = wanted.budget(backend);
        let blocks: usize = sets().iter().map(|set| set.blocks.len()).sum();
        let progress = Progress::of_pieces("hermite", blocks + TABLE_4_2.len());
        let result = self.measure_all(wanted, &budget, &progress);
        progress.finish();
        match result {
            Err(_) if interrupted() => Ok(Ended::Interrupted),
            result => result.map(|()| Ended::Complete),
        }
    }

    fn measure_all(
        &mut self,
        wanted: &ReportLimits,
        budget: &Budget,
        progress: &Progress,
    ) -> Result<(), String> {
        let mut done = 0.0;
        for set in sets() {
            let budget = budget.share(SHARE);
            let mut per_pair = 0.0;
            for (n, ni) in set.blocks {
                progress.tell(done, format!("{}, N = {n}, n = {ni}", set.name));
                done += 1.0;
                let pairs = n as f64 * ni as f64;
                if !wanted.wants(n) || !budget.allows(per_pair * pairs) {
                    continue;
                }
                let times = self.force(n, ni)?;
                per_pair = (1 + FORCES.least) as f64 * times.seconds() / pairs;
                (set.rows)(&mut self.measured).push(ForceTimes { n, ni, times });
            }
        }
        let mut last = 0.0;
        for (n, _) in TABLE_4_2 {
            if wanted.wants(n) && budget.allows(GROWTH * last) {
                let began = Instant::now();
                let watch = |t| progress.tell(done, format!("Table 4.2, N = {n}, t = {t:.4}"));
                watch(0.0);
                let run = self.run(n, &watch)?;
                last = began.elapsed().as_secs_f64();
                self.measured.table_4_2.push(run);
            }
            done += 1.0;
        }
        Ok(())
    }

    fn force(&mut self, n: usize, ni: usize) -> Result<Times, String> {
        let request = worker::force(n, ni);
        self.times(FORCES, &request, &|_| (), |answer| {
            answer.as_f64().ok_or("a time that is none".to_owned())
        })
    }

    fn run(&mut self, n: usize, watch: &dyn Fn(f64)) -> Result<Run, String> {
        let mut figures = Value::Null;
        let times = self.times(RUNS, &worker::run(n), watch, |answer| {
            let seconds = answer["seconds"].as_f64();
            figures = answer;
            seconds.ok_or("a time that is none".to_owned())
        })?;
        Ok(Run { n, times, figures })
    }

    /// Asks both processes in turn; `seconds` reads the time from an answer.
    fn times(
        &mut self,
        patience: Repetitions,
        request: &Value,
        watch: &dyn Fn(f64),
        mut seconds: impl FnMut(Value) -> Result<f64, String>,
    ) -> Result<Times, String> {
        let workers = [Some(&mut self.split), self.whole.as_mut()];
        let spreads = repeat(patience, workers.into_iter().flatten(), |worker| {
            let answer = worker.ask(request, watch)?;
            match interrupted() {
                true => Err("interrupted".to_owned()),
                false => seconds(answer),
            }
        })?;
        Ok(Times {
            split: spreads[0],
            whole: spreads.get(1).copied(),
        })
    }
}

/// Forces that belong together.
struct Set {
    name: &'static str,
    /// Number of particles, and of those in the block.
    blocks: Vec<(usize, usize)>,
    rows: fn(&mut Measured) -> &mut Vec<ForceTimes>,
}

fn sets() -> [Set; 3] {
    [
        Set {
            name: "Table 4.1",
            blocks: TABLE_4_1.iter().map(|row| (row.0, row.0)).collect(),
            rows: |measured| &mut measured.table_4_1,
        },
        Set {
            name: "Figure 4.2",
            blocks: figure_4_2().collect(),
            rows: |measured| &mut measured.figure_4_2,
        },
        Set {
            name: "Figure 4.3",
            blocks: figure_4_3().map(|n| (n, SMALLEST_BLOCK)).collect(),
            rows: |measured| &mut measured.figure_4_3,
        },
    ]
}

/// The blocks of Figure 4.2: number of particles, and of those in the block.
fn figure_4_2() -> impl Iterator<Item = (usize, usize)> {
    let sizes = |n: usize| {
        let doubled = std::iter::successors(Some(SMALLEST_BLOCK), |ni| Some(2 * ni));
        doubled.take_while(move |&ni| ni <= LARGEST_BLOCK.min(n))
    };
    FIGURE_4_2
        .into_iter()
        .flat_map(move |n| sizes(n).map(move |ni| (n, ni)))
}
