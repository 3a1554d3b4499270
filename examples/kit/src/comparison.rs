//! Reports that compare this machine with published figures: their options, their time limit, their first lines and
//! their files.

use std::fmt::Write as _;
use std::time::{Instant, SystemTime};

use serde_json::{Map, Value, json};

use crate::command::{Files, check_needed, named, print};
use crate::number::{bodies, number};
use kirin_report::company::Watch;
use kirin_report::machine::{Machine, command_line, commit};
use kirin_report::plot::Figure;

/// Minutes that a report takes where no GPU computes and no option says otherwise.
pub const DEFAULT_MINUTES: f64 = 3.0;

/// A report that a program can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Publication {
    /// The figures of the thesis that kirin comes from, beside those of this machine
    Thesis,
}

/// The options of reports.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReportOptions {
    /// Make a report instead of one run: Markdown, to stdout or the --output, with --plot a figure
    #[arg(long, value_enum, value_name = "NAME")]
    #[arg(conflicts_with_all = ["n", "model", "w0", "mass_function", "mass_ratio", "mass_fraction"])]
    #[arg(conflicts_with_all = ["input", "every", "csv", "snapshot_every", "checkpoint_every", "frames", "force"])]
    #[arg(conflicts_with_all = ["energy_warning", "energy_limit"])]
    pub report: Option<Publication>,
    /// How much of it.
    #[command(flatten)]
    pub limits: ReportLimits,
}

/// How much of a report is made.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReportLimits {
    /// Largest number of particles in the report [default: that of the publication]
    #[arg(long, value_name = "N", requires = "report", value_parser = bodies)]
    pub largest: Option<u64>,
    /// Leave out of the report what would make it last longer [default: 3; on a GPU there is no limit]
    #[arg(long, value_name = "M", requires = "report", value_parser = number)]
    pub minutes: Option<f64>,
}

impl ReportLimits {
    /// Checks that there is a report to limit.
    ///
    /// # Errors
    ///
    /// There is none; in words.
    pub fn check(&self, is_report: bool) -> Result<(), String> {
        let options = [
            ("--largest", self.largest.is_some()),
            ("--minutes", self.minutes.is_some()),
        ];
        check_needed("--report", is_report, &options)
    }

    /// Whether the report is to have a row for so many particles.
    pub fn wants(&self, n: usize) -> bool {
        self.largest.is_none_or(|largest| n as u64 <= largest)
    }

    /// The time for a report about what calls itself `backend`.
    pub fn budget(&self, backend: &str) -> Budget {
        let default = (!backend.starts_with("cuda")).then_some(DEFAULT_MINUTES);
        Budget::new(self.minutes.or(default).map(|minutes| 60.0 * minutes))
    }
}

/// The time for a report, or for a part of it. Its first row is always made.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    began: Instant,
    seconds: f64,
}

impl Budget {
    /// So many seconds from now on, or any number.
    pub fn new(seconds: Option<f64>) -> Self {
        Self {
            began: Instant::now(),
            seconds: seconds.unwrap_or(f64::INFINITY),
        }
    }

    /// Seconds that are left.
    pub fn left(&self) -> f64 {
        (self.seconds - self.began.elapsed().as_secs_f64()).max(0.0)
    }

    /// From now on, a part of what is left.
    pub fn share(&self, part: f64) -> Self {
        Self::new(Some(part * self.left()))
    }

    /// Whether there is time for what will take so many seconds.
    pub fn allows(&self, seconds: f64) -> bool {
        seconds <= self.left()
    }
}

/// What one must know to judge a report's figures: machine, library, settings, load.
pub struct Circumstances {
    /// When the report began.
    pub began: SystemTime,
    /// The program's command line.
    pub command: Vec<String>,
    /// The machine, in words.
    pub machine: String,
    /// Processes that wanted a core in the last minute, when the report began.
    pub load: Option<f64>,
    /// What computes the forces, as the library calls it.
    pub backend: String,
    /// Precision of the forces.
    pub precision: String,
    /// The library.
    pub library: String,
    /// Version of the program.
    pub version: &'static str,
    /// Its commit, where that can be told.
    pub commit: Option<String>,
    /// Who else uses the machine while the report is made.
    pub watch: Watch,
}

impl Circumstances {
    /// Records the circumstances of a report that begins now on this machine. `version` is that of the program. The
    /// fields about the library and its backend stay empty; the caller fills them in.
    pub fn begin(version: &'static str) -> Self {
        let machine = Machine::here();
        Self {
            began: SystemTime::now(),
            command: command_line(),
            machine: machine.to_string(),
            load: machine.load,
            backend: String::new(),
            precision: String::new(),
            library: String::new(),
            version,
            commit: commit(),
            watch: Watch::start(),
        }
    }

    /// What computes the forces, and how.
    pub fn forces(&self) -> String {
        let (backend, precision) = (&self.backend, &self.precision);
        format!("{backend}, {precision} precision: {}", self.library)
    }

    /// In UTC, to the second.
    fn date(&self) -> String {
        humantime::format_rfc3339_seconds(self.began).to_string()
    }

    /// The list at the head of a report that ends now.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut row = |name: &str, value: &str| {
            writeln!(text, "* {name}: {value}").expect("a string takes everything");
        };
        row("command", &format!("`{}`", self.command.join(" ")));
        for (name, value) in settings() {
            row("set", &format!("`{name}={value}`"));
        }
        row("date", &self.date());
        let load = self.load.map(|load| format!(", load {load} before"));
        row(
            "machine",
            &(self.machine.clone() + &load.unwrap_or_default()),
        );
        row("forces", &self.forces());
        row("program version", self.version);
        row("commit", self.commit.as_deref().unwrap_or("unknown"));
        if let Some(company) = self.watch.company() {
            row("other load", &company.to_string());
        }
        text
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        json!({
            "command": self.command,
            "settings": settings().map(|(name, value)| (name, json!(value))).collect::<Map<_, _>>(),
            "date": self.date(),
            "machine": self.machine,
            "load": self.load,
            "backend": self.backend,
            "precision": self.precision,
            "library": self.library,
            "version": self.version,
            "commit": self.commit,
            "company": self.watch.company(),
        })
    }
}

/// Environment variables that libraries read: kirin's, and those of libraries with OpenMP.
fn settings() -> impl Iterator<Item = (String, String)> {
    let mut settings: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("KIRIN_") || name.starts_with("OMP_"))
        .collect();
    settings.sort();
    settings.into_iter()
}

/// Writes a report: `text` to stdout or the `--output`, the rest where it was asked for.
///
/// # Errors
///
/// A file or stdout cannot be written; in words.
pub fn publish(
    files: &Files,
    text: &str,
    json: impl FnOnce() -> Value,
    figure: impl FnOnce() -> Figure,
) -> Result<(), String> {
    let written = match &files.output {
        Some(path) => std::fs::write(path, text).map_err(named(path)),
        None => print(text),
    };
    // What cannot be written leaves out nothing else.
    files.report(json, figure)?;
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circumstances() -> Circumstances {
        Circumstances {
            began: SystemTime::UNIX_EPOCH,
            command: vec!["program".to_owned(), "--option".to_owned()],
            machine: "a processor, 2 cores".to_owned(),
            load: Some(0.5),
            backend: "cpu avx2".to_owned(),
            precision: "mixed".to_owned(),
            library: "kirin (linked)".to_owned(),
            version: "1.2.3",
            commit: Some("12345678".to_owned()),
            watch: Watch::start(),
        }
    }

    #[test]
    fn a_report_says_what_its_figures_depend_on() {
        let text = circumstances().markdown();
        for words in [
            "* command: `program --option`\n",
            "* date: 1970-01-01T00:00:00Z\n* machine: a processor, 2 cores, load 0.5 before\n",
            "* forces: cpu avx2, mixed precision: kirin (linked)\n",
            "* program version: 1.2.3\n* commit: 12345678\n",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert_eq!(circumstances().json()["precision"], "mixed");
    }

    #[test]
    fn a_gpu_has_time() {
        let options = ReportLimits::default();
        assert_eq!(options.budget("cuda 0 (Fake 0)").left(), f64::INFINITY);
        assert!(!options.budget("cpu avx2").allows(60.0 * DEFAULT_MINUTES));
        assert!(options.budget("cpu avx2").allows(59.0 * DEFAULT_MINUTES));
        let minutes = Some(2.0);
        let options = ReportLimits { minutes, ..options };
        assert!(!options.budget("cuda 0 (Fake 0)").allows(121.0));
    }

    #[test]
    fn a_part_has_its_share() {
        let budget = Budget::new(Some(1000.0));
        let share = budget.share(0.25);
        assert!(share.allows(249.0) && !share.allows(250.0));
        assert_eq!(Budget::new(None).share(0.1).left(), f64::INFINITY);
        assert!(!Budget::new(Some(0.0)).allows(1e-9));
    }
}
