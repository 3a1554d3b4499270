//! The measurements of the report, smallest first, until the time is used up.

use kirin_kit::comparison::Budget;
use kirin_kit::progress::Progress;
use serde_json::Value;

use super::child;
use super::published::{SIZES, TABLE_2, TABLE_7, TABLE_8};
use crate::options::{Options, Publication};

/// The softening of the paper in parts of N^(-1/3).
const PUBLISHED: f64 = 0.005;

/// Softenings of the black hole: a bare point, and one that the step of Table 8 resolves up to 50 masses.
pub const HOLES: [f64; 2] = [0.0, 0.1];

/// The paper's step.
const DT: f64 = 5e-4;

/// Numbers of particles of Figures 2 to 5.
const FIGURES: [usize; 12] = [
    480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440, 122_880, 384_000, 768_000, 1_536_000,
];

/// Seconds that a timing lasts, about.
const SAMPLE: f64 = 0.5;

/// By how much more twice the particles take, at most.
const GROWTH: f64 = 4.2;

/// Parts of the time for the tables, of what is left when each begins.
const SHARES: [f64; 4] = [0.35, 0.3, 0.5, 1.0];

/// A scheme in a precision.
pub type Variant = (&'static str, &'static str);

/// The columns of Figures 2 to 5.
pub const COLUMNS: [Variant; 5] = [
    ("leapfrog", "single"),
    ("leapfrog", "mixed"),
    ("leapfrog", "double"),
    ("si6a", "mixed"),
    ("si6a", "double"),
];

/// Time of one step.
pub struct Timing {
    /// Number of particles.
    pub n: usize,
    /// Scheme and precision.
    pub column: Variant,
    /// The run's figures.
    pub figures: Value,
}

impl Timing {
    /// Seconds of a step.
    pub fn seconds(&self) -> f64 {
        number(&self.figures, "seconds") / number(&self.figures, "steps").max(1.0)
    }
}

/// A run for its errors.
pub struct Trial {
    /// Number of particles.
    pub n: usize,
    /// Whether close encounters are part of the drift.
    pub changeover: bool,
    /// Scheme and precision.
    pub column: Variant,
    /// The run's figures.
    pub figures: Value,
}

/// Everything that was measured.
#[derive(Default)]
pub struct Measured {
    /// Figures 2 to 5 and Tables 3 to 6.
    pub timings: Vec<Timing>,
    /// Table 7.
    pub table_7: Vec<Trial>,
    /// Table 2: one run's records.
    pub table_2: Option<Trial>,
    /// Table 8: mass and softening of the black hole, and the run's figures.
    pub table_8: Vec<(f64, f64, Value)>,
}

/// A number of a run's figures; NaN where there is none.
pub fn number(figures: &Value, key: &str) -> f64 {
    figures[key].as_f64().unwrap_or(f64::NAN)
}

/// What a report needs besides the time.
pub struct Bench<'a> {
    options: &'a Options,
    progress: Progress,
    /// What has been measured.
    pub measured: Measured,
}

impl<'a> Bench<'a> {
    /// A bench for this report.
    pub fn new(options: &'a Options) -> Self {
        debug_assert_eq!(options.report, Some(Publication::Paper));
        Self {
            options,
            progress: Progress::of_pieces("symplectic", SHARES.len()),
            measured: Measured::default(),
        }
    }

    /// Measures all tables.
    ///
    /// # Errors
    ///
    /// A run fails, or the report is interrupted; in words.
    pub fn measure(&mut self, budget: Budget) -> Result<(), String> {
        self.timings(budget.share(SHARES[0]))?;
        self.table_7(budget.share(SHARES[1]))?;
        self.table_8(budget.share(SHARES[2]))?;
        self.table_2(budget.share(SHARES[3]))
    }

    /// A run of `steps` steps.
    fn run(
        &self,
        n: usize,
        (scheme, precision): Variant,
        (steps, dt): (u64, f64),
        more: &[String],
    ) -> Result<(Value, f64), String> {
        let eps = PUBLISHED / (n as f64).cbrt();
        let t_end = steps as f64 * dt;
        let words = [
            ("--n", n.to_string()),
            ("--scheme", scheme.to_owned()),
            ("--eps", format!("{eps:?}")),
            ("--dt", format!("{dt:?}")),
            ("--t-end", format!("{t_end:?}")),
            ("--galaxy", "allen-santillan".to_owned()),
            ("--seed", self.options.start.seed().to_string()),
            // Without the changeover the paper's softening and step lose energy; how much is what is measured.
            ("--energy-warning", "1e300".to_owned()),
            ("--energy-limit", "none".to_owned()),
        ];
        let words = words.into_iter().flat_map(|(k, v)| [k.to_owned(), v]);
        let options: Vec<String> = words.chain(more.iter().cloned()).collect();
        let path = self.options.control.own.library.path();
        let library = path.map_or(Vec::new(), |path| {
            vec!["--library".to_owned(), path.display().to_string()]
        });
        child::run(&options, precision, &library)
    }

    /// Seconds per step over N.
    fn timings(&mut self, budget: Budget) -> Result<(), String> {
        let mut last = [0.0; COLUMNS.len()];
        let limits = &self.options.limits;
        for n in FIGURES.into_iter().filter(|n| limits.wants(*n)) {
            for (column, last) in COLUMNS.into_iter().zip(&mut last) {
                // Once for the length of a step, once for its time.
                if !budget.allows(GROWTH * *last) {
                    continue;
                }
                self.progress
                    .tell(0.0, format!("N = {n}, {} {}", column.0, column.1));
                // The paper's steps have no treatment of close encounters.
                let without = ["--changeover", "none"].map(str::to_owned);
                let (first, spent) = self.run(n, column, (2, DT), &without)?;
                let step = number(&first, "seconds") / 2.0;
                let steps = (SAMPLE / step.max(1e-9)).clamp(2.0, 1000.0) as u64;
                let (figures, more) = self.run(n, column, (steps, DT), &without)?;
                *last = spent + more;
                self.measured.timings.push(Timing { n, column, figures });
            }
        }
        Ok(())
    }

    /// Energy errors of 1000 steps.
    fn table_7(&mut self, budget: Budget) -> Result<(), String> {
        let columns: [Variant; 4] = [
            ("leapfrog", "double"),
            ("leapfrog", "mixed"),
            ("si6a", "double"),
            ("si6a", "mixed"),
        ];
        let mut last = [0.0; 8];
        let limits = &self.options.limits;
        for (n, _) in TABLE_7.into_iter().filter(|row| limits.wants(row.0)) {
            let trials = [true, false]
                .into_iter()
                .flat_map(|changeover| columns.map(|column| (changeover, column)));
            for ((changeover, column), last) in trials.zip(&mut last) {
                if !budget.allows(GROWTH * *last) {
                    continue;
                }
                self.progress
                    .tell(1.0, format!("Table 7: N = {n}, {} {}", column.0, column.1));
                let without = ["--changeover", "none"].map(str::to_owned);
                let more = if changeover { &[][..] } else { &without };
                let (figures, spent) = self.run(n, column, (1000, DT), more)?;
                *last = spent;
                self.measured.table_7.push(Trial {
                    n,
                    changeover,
                    column,
                    figures,
                });
            }
        }
        Ok(())
    }

    /// The plunges through a black hole, with as many stars as there is time for.
    fn table_8(&mut self, budget: Budget) -> Result<(), String> {
        let column = ("leapfrog", "mixed");
        let steps = 40_000;
        let plunge = |mass: f64, eps: f64| {
            let names = ["--orbit", "radial", "--black-hole", "--black-hole-eps"];
            let [orbit, radial, hole, softening] = names.map(str::to_owned);
            [
                orbit,
                radial,
                hole,
                mass.to_string(),
                softening,
                eps.to_string(),
            ]
        };
        // A hundredth of a run tells how long all of them take with 480 stars.
        let (_, spent) = self.run(480, column, (steps / 100, 1e-4), &plunge(1.0, 0.0))?;
        let all = 100.0 * (HOLES.len() * TABLE_8.len()) as f64 * spent;
        let sizes = TABLE_7.map(|row| row.0);
        let limits = &self.options.limits;
        let fits =
            |n: &&usize| limits.wants(**n) && budget.allows(all * (**n as f64 / 480.0).powf(1.7));
        let Some(&n) = sizes.iter().rev().find(fits) else {
            return Ok(());
        };
        for [mass, ..] in TABLE_8 {
            for eps in HOLES {
                self.progress
                    .tell(2.0, format!("Table 8: black hole of {mass}, N = {n}"));
                let more = plunge(mass, eps);
                let (figures, _) = self.run(n, column, (steps, 1e-4), &more)?;
                self.measured.table_8.push((mass, eps, figures));
            }
        }
        Ok(())
    }

    /// Energy and angular momentum of sixth order in double precision to t = 25, recorded at multiples of 1.25.
    fn table_2(&mut self, budget: Budget) -> Result<(), String> {
        let column = ("si6a", "double");
        let [t_end, ..] = TABLE_2[TABLE_2.len() - 1];
        let steps = (t_end / DT).round() as u64;
        let n = SIZES[0];
        let every = ["--every", "1.25"].map(str::to_owned);
        let (_, spent) = self.run(n, column, (steps / 200, DT), &[])?;
        if !budget.allows(200.0 * spent) {
            return Ok(());
        }
        self.progress.tell(3.0, format!("Table 2: N = {n}"));
        let (figures, _) = self.run(n, column, (steps, DT), &every)?;
        self.measured.table_2 = Some(Trial {
            n,
            changeover: true,
            column,
            figures,
        });
        Ok(())
    }
}
