//! Runs a script in a client's process and compares every answer with the oracle's.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::compiler::{self, Link};
use crate::expected::{Expected, Rules};
use crate::fake_cuda;
use crate::library;
use crate::oracle::Oracle;
use crate::report::Tolerance;
use crate::script::{Call, Script};

/// What the calls of a script answered: for each the returned integer, then what it wrote.
pub type Answers = Vec<Vec<f64>>;

/// The environment of a trial.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `KIRIN_BACKEND`
    pub backend: &'static str,
    /// `KIRIN_PRECISION`
    pub precision: &'static str,
    /// `KIRIN_NPIPES`
    pub npipes: i32,
    /// `KIRIN_NO_NEIGHBOUR`
    pub no_neighbour: Option<i32>,
    /// `KIRIN_SNAP`
    pub snap: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            backend: "reference",
            precision: "double",
            npipes: 48,
            no_neighbour: None,
            snap: true,
        }
    }
}

impl Settings {
    fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("KIRIN_BACKEND", self.backend.to_owned()),
            ("KIRIN_PRECISION", self.precision.to_owned()),
            ("KIRIN_NPIPES", self.npipes.to_string()),
            ("KIRIN_THREADS", "2".to_owned()),
        ];
        if self.backend == "cuda"
            && let Some(driver) = fake_cuda::driver()
        {
            variables.push(("LD_LIBRARY_PATH", driver.display().to_string()));
        }
        if let Some(none) = self.no_neighbour {
            variables.push(("KIRIN_NO_NEIGHBOUR", none.to_string()));
        }
        if !self.snap {
            variables.push(("KIRIN_SNAP", "ignore".to_owned()));
        }
        variables
    }

    fn rules(&self) -> Rules {
        Rules {
            npipes: self.npipes,
            tolerance: Tolerance::of(self.precision),
            no_neighbour: self.no_neighbour,
            snap: self.snap,
        }
    }
}

/// The client that makes the calls of scripts; `None` where there is no C compiler.
pub fn client() -> Option<&'static Path> {
    static CLIENT: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| compiler::compile("calls.c", Link::Shared));
    CLIENT.as_deref()
}

/// Makes the calls of a script under every backend (CUDA on the fake driver), in double and in mixed precision, and
/// compares each answer with the oracle's. Returns the answers of the reference backend in double precision, or `None`
/// where there is no C compiler.
pub fn everywhere(script: &Script) -> Option<Answers> {
    let mut first = None;
    for backend in ["reference", "cpu", "cuda"] {
        if backend == "cuda" && fake_cuda::driver().is_none() {
            continue;
        }
        for precision in ["double", "mixed"] {
            let settings = Settings {
                backend,
                precision,
                ..Default::default()
            };
            let answers = under(script, &settings)?;
            first.get_or_insert(answers);
        }
    }
    first
}

/// Makes the calls of a script and compares each answer with the oracle's.
///
/// # Panics
///
/// At the first difference, and if the process fails, hangs or prints anything else.
pub fn under(script: &Script, settings: &Settings) -> Option<Answers> {
    let found = answers(script, settings)?;
    let mut oracle = Oracle::new(settings.rules());
    let mut answers = found.iter();
    for (line, call) in script.0.iter().enumerate() {
        let Some(expected) = oracle.answer(call) else {
            continue;
        };
        let found = answers.next().expect("an answer for each call");
        compare(line, call, &expected, found, settings);
    }
    assert_eq!(answers.next(), None, "more answers than calls");
    Some(found)
}

fn compare(line: usize, call: &Call, expected: &[Expected], found: &[f64], settings: &Settings) {
    let agree =
        expected.len() == found.len() && expected.iter().zip(found).all(|(e, f)| e.allows(*f));
    if !agree {
        let differ = expected
            .iter()
            .zip(found)
            .position(|(e, f)| !e.allows(*f))
            .unwrap_or(expected.len().min(found.len()));
        panic!(
            "with {settings:?}\ncall {line}: {call:?}\nnumber {differ} differs: expected {:?}, found {:?}\n\
             expected {expected:?}\nfound {found:?}",
            expected.get(differ),
            found.get(differ)
        );
    }
}

/// What the client's process answers to a script.
pub fn answers(script: &Script, settings: &Settings) -> Option<Answers> {
    let client = client()?;
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = library::workspace().join(format!("script-{number}"));
    std::fs::write(&path, script.to_text()).expect("the target folder is writable");
    let variables = settings.variables();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let text = compiler::succeed(client, &[path.as_os_str()], &variables);
    let _ = std::fs::remove_file(&path);
    let number = |word: &str| -> f64 {
        word.parse()
            .unwrap_or_else(|_| panic!("{word} on stdout is no number"))
    };
    Some(
        text.lines()
            .map(|line| line.split_whitespace().map(number).collect())
            .collect(),
    )
}
