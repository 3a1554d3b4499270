//! The libraries of a run. Each library has a column of the table and a worker process.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::report;
use crate::worker::{Opened, Reply, Request, Worker};

/// Whose calls libraries have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lowercase")]
pub enum MeasuredInterface {
    /// GRAPE-6: accelerations, jerks, potentials, neighbours
    #[default]
    Grape6,
    /// GRAPE-5: accelerations and potentials
    Grape5,
    /// NBODY6++: regular forces with neighbour lists, potentials, irregular forces
    Nbody6,
}

/// Options that `bench` and `check` share.
#[derive(Args)]
pub struct Common {
    /// A library to compare with; may be repeated. The word `kirin` is the linked library. If it is not named, it comes
    /// first. Environment variables for this library alone may stand before the path: "OMP_NUM_THREADS=1
    /// /opt/lib/libpg6.so", "KIRIN_PRECISION=double kirin". LABEL=... before the path is the heading of the library's
    /// column: "LABEL=old /opt/1/libg6.so"
    #[arg(long = "library", value_name = "[NAME=VALUE ...] PATH")]
    libraries: Vec<String>,
    /// The calls that the libraries are asked for
    #[arg(long, value_enum, default_value_t)]
    pub interface: MeasuredInterface,
    /// Writes the figures to a file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Seed of the random cluster
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Gives up a library that does not answer a request within this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    timeout: f64,
}

/// A number that can be a duration or a size.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1e9 => Ok(x),
        _ => Err("not a positive number".to_owned()),
    }
}

/// One library.
#[derive(Serialize)]
pub struct Candidate {
    /// Heading.
    pub name: String,
    path: Option<String>,
    environment: Vec<(String, String)>,
    /// What it says of itself.
    #[serde(flatten)]
    pub opened: Option<Opened>,
    /// Why there are no (further) figures.
    pub error: Option<String>,
    #[serde(skip)]
    worker: Option<Worker>,
}

impl Common {
    /// Opens the libraries. Returns `None`, after a line on stderr, if one of them cannot be opened or the file for
    /// the figures cannot be written: a comparison that lacks one of its libraries is not made.
    pub fn candidates(&self) -> Option<Vec<Candidate>> {
        self.candidates_with(self.interface, &[])
    }

    /// The same with these calls, and with environment variables for all libraries that do not set them themselves.
    pub fn candidates_with(
        &self,
        interface: MeasuredInterface,
        variables: &[(String, String)],
    ) -> Option<Vec<Candidate>> {
        if let Some(Err(why)) = self.json.as_deref().map(report::can_be_saved) {
            eprintln!("kirin: {why}");
            return None;
        }
        let mut candidates: Vec<Candidate> =
            self.libraries.iter().map(|s| Candidate::parse(s)).collect();
        if candidates.iter().all(|c| c.is_foreign()) {
            candidates.insert(0, Candidate::parse("kirin"));
        }
        label(&mut candidates);
        for candidate in &mut candidates {
            let timeout = Duration::from_secs_f64(self.timeout);
            candidate.open(interface, variables, timeout);
        }
        candidates
            .iter()
            .all(Candidate::is_alive)
            .then_some(candidates)
    }
}

impl Candidate {
    fn parse(text: &str) -> Self {
        let mut environment = Vec::new();
        let mut name = String::new();
        let mut rest = text.trim();
        while let Some((word, after)) = rest.split_once(' ') {
            let Some((variable, value)) = word.split_once('=').filter(|(n, _)| is_name(n)) else {
                break;
            };
            match variable {
                "LABEL" => value.clone_into(&mut name),
                _ => environment.push((variable.to_owned(), value.to_owned())),
            }
            rest = after.trim_start();
        }
        Self {
            name,
            path: (rest != "kirin").then(|| rest.to_owned()),
            environment,
            opened: None,
            error: None,
            worker: None,
        }
    }

    /// Whether it is not the kirin linked into this program.
    pub fn is_foreign(&self) -> bool {
        self.path.is_some()
    }

    fn path_or_kirin(&self) -> &str {
        self.path.as_deref().unwrap_or("kirin")
    }

    /// The library with its settings, as it was given, where neither its name nor its backend says it.
    fn origin(&self) -> String {
        let mut text = String::new();
        for (variable, value) in &self.environment {
            text += &format!("{variable}={value} ");
        }
        let path = self.path_or_kirin();
        let is_told = path == self.name || self.opened.as_ref().is_some_and(|o| o.backend == path);
        match (text.is_empty(), is_told) {
            (true, true) => text,
            (false, true) if path != "kirin" => text,
            _ => text + path + ", ",
        }
    }

    fn open(
        &mut self,
        interface: MeasuredInterface,
        variables: &[(String, String)],
        timeout: Duration,
    ) {
        // A worker makes the calls of NBODY6 as NBODY6++ does.
        let client: &[_] = match interface {
            MeasuredInterface::Nbody6 => &[("KIRIN_NBODY6".to_owned(), "6++".to_owned())],
            _ => &[],
        };
        // Of two values of one variable the later one holds.
        let environment = [client, variables, &self.environment].concat();
        match Worker::start(&environment, timeout) {
            Ok(worker) => self.worker = Some(worker),
            Err(e) => return self.give_up(e.to_string()),
        }
        let path = self.path.clone();
        match self.ask(&Request::Open { path, interface }) {
            Ok(Reply::Opened(opened)) => self.opened = Some(opened),
            Ok(_) => self.give_up("a reply to another question".to_owned()),
            Err(why) => self.give_up(why),
        }
    }

    /// Asks it no more, and says why.
    pub fn give_up(&mut self, why: String) {
        self.worker = None;
        eprintln!("kirin: {}: {why}", self.name);
        self.error = Some(why);
    }

    /// Lets the worker end. A library that crashes then is lost, too: it may have written where it must not.
    pub fn dismiss(&mut self) {
        if let Some(worker) = self.worker.take()
            && let Err(why) = worker.dismiss()
        {
            self.give_up(why);
        }
    }

    /// Whether it can be asked.
    pub fn is_alive(&self) -> bool {
        self.worker.is_some()
    }

    /// Whether it could not be used to the end.
    pub fn is_lost(&self) -> bool {
        self.error.is_some()
    }

    /// Asks the worker.
    ///
    /// # Errors
    ///
    /// The library cannot do this, or is lost.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, String> {
        let Some(worker) = &mut self.worker else {
            return Err("lost".to_owned());
        };
        match worker.ask(request) {
            Ok(Reply::Refused(why)) => Err(why),
            Ok(reply) => Ok(reply),
            Err(why) => {
                self.give_up(why.clone());
                Err(why)
            }
        }
    }
}

/// Names the candidates that have no label. The name is the shortest end of the path that no other library's path
/// has. Candidates of the same path are told apart by the settings in which they differ.
fn label(candidates: &mut [Candidate]) {
    let mut names = Vec::new();
    for candidate in candidates.iter() {
        let own = candidate.path_or_kirin();
        let others = candidates.iter().map(Candidate::path_or_kirin);
        let mut name = shortest_end(own, others.filter(|other| *other != own)).to_owned();
        let same = candidates.iter().filter(|c| c.path == candidate.path);
        let told_apart = |setting: &&(String, String)| {
            let mut same = same.clone();
            same.any(|other| !other.environment.contains(setting))
        };
        for (variable, value) in candidate.environment.iter().filter(told_apart) {
            let variable = variable.strip_prefix("KIRIN_").unwrap_or(variable);
            name += &format!(" {variable}={value}");
        }
        names.push(name);
    }
    for k in (1..names.len()).rev() {
        // The very same library and settings.
        let before = names[..k].iter().filter(|n| **n == names[k]).count();
        if before > 0 {
            names[k] += &format!(" #{}", before + 1);
        }
    }
    for (candidate, name) in candidates.iter_mut().zip(names) {
        if candidate.name.is_empty() {
            candidate.name = name;
        }
    }
}

/// The shortest end of `path`, in whole parts, in which none of `others` ends.
fn shortest_end<'a>(path: &'a str, others: impl Iterator<Item = &'a str> + Clone) -> &'a str {
    let parts = |path: &'a str| path.rsplit('/').filter(|part| !part.is_empty());
    let shared = |other: &'a str| {
        let pairs = parts(path).zip(parts(other));
        pairs.take_while(|(a, b)| a == b).count()
    };
    let count = 1 + others.map(shared).max().unwrap_or(0);
    let starts = path.rmatch_indices('/').map(|(at, _)| at + 1);
    // Doubled separators part nothing.
    let mut starts = starts.filter(|&start| !path[start..].starts_with('/'));
    starts.nth(count - 1).map_or(path, |start| &path[start..])
}

fn is_name(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Lines that say what the candidates are, for the head of a table.
pub fn legend(candidates: &[Candidate]) -> String {
    let mut text = String::new();
    for candidate in candidates {
        text.push_str(&format!("  {}: {}", candidate.name, candidate.origin()));
        if let Some(o) = &candidate.opened {
            text.push_str(&format!(
                "{}, precision {}, {} pipelines{}",
                o.backend,
                o.precision,
                o.npipes,
                o.threads
                    .map_or_else(String::new, |t| format!(", threads {t}"))
            ));
        }
        match (&candidate.opened, &candidate.error) {
            (Some(_), Some(why)) => text.push_str(&format!("; lost: {why}")),
            (None, why) => text.push_str(why.as_deref().unwrap_or("not opened")),
            (Some(_), None) => {}
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_may_stand_before_the_library() {
        let candidate = Candidate::parse("A=1  B_2=x=y  /opt/my libs/libg6.so");
        assert_eq!(candidate.path.as_deref(), Some("/opt/my libs/libg6.so"));
        let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
        assert_eq!(candidate.environment, [pair("A", "1"), pair("B_2", "x=y")]);
        assert!(candidate.is_foreign());
    }

    #[test]
    fn the_linked_library_has_no_path() {
        let candidate = Candidate::parse("KIRIN_PRECISION=double kirin");
        assert!(!candidate.is_foreign());
        assert_eq!(Candidate::parse("a=b.so").path.as_deref(), Some("a=b.so"));
    }

    fn names(texts: &[&str]) -> Vec<String> {
        let mut candidates: Vec<Candidate> = texts.iter().map(|s| Candidate::parse(s)).collect();
        label(&mut candidates);
        candidates.into_iter().map(|c| c.name).collect()
    }

    #[test]
    fn names_are_the_shortest_that_tell_libraries_apart() {
        assert_eq!(
            names(&["kirin", "A=1 /opt/a/lib/libg6.so", "./libpg6.so"]),
            ["kirin", "libg6.so", "libpg6.so"]
        );
        assert_eq!(
            names(&[
                "/opt/a/lib/libg6.so",
                "/opt/b/lib//libg6.so",
                "/b/lib/x.so",
                "libg6.so"
            ]),
            ["a/lib/libg6.so", "b/lib//libg6.so", "x.so", "libg6.so"]
        );
        assert_eq!(
            names(&[
                "KIRIN_THREADS=1 KIRIN_PRECISION=double kirin",
                "KIRIN_THREADS=1 kirin",
                "LABEL=old KIRIN_THREADS=1 /opt/libkirin.so",
                "B=2 /opt/libkirin.so"
            ]),
            ["kirin PRECISION=double", "kirin", "old", "libkirin.so B=2"]
        );
        assert_eq!(
            names(&["kirin", "kirin", "kirin"]),
            ["kirin", "kirin #2", "kirin #3"]
        );
    }
}
