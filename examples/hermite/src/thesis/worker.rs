//! The process that measures. The library reads its settings once, so each setting has a process of
//! its own: this program with the same options and `--worker`.
//!
//! A request is a line of JSON on stdin. Each reply is a line of JSON on stdout that begins with a [`MARK`], since
//! the library may print lines of its own between them. Any number of replies `{"t": ...}` is followed by one
//! `{"done": ...}` or `{"error": ...}`.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use kirin::client::Grape;
use kirin_core::process::settings;
use kirin_kit::Body;
use kirin_kit::command::Ended;
use kirin_kit::diagnostics::Energy;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::interrupt::{self, interrupted};
use kirin_kit::models::Model;
use kirin_kit::run::{Log, Run, RunOutputs};
use serde_json::{Value, json};

use super::field::LoadedCluster;
use super::published;
use crate::error::Error as HermiteError;
use crate::integrator::Integrator;
use crate::options::Options;
use crate::settings::Settings;

const MARK: &str = "hermite-worker ";

/// Time between two `{"t": ...}`.
const PATIENCE: Duration = Duration::from_millis(200);

/// Most particles whose energy is found: the host sums all pairs.
pub const LARGEST_ENERGY: usize = 65536;

/// Pipelines of kirin, where the user does not set them: those of the thesis. Large blocks fill a GPU.
const NPIPES: (&str, &str) = ("KIRIN_NPIPES", "16384");

/// A process that measures: the parent's side.
pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts one, with `KIRIN_SPLIT` set to `split`.
    ///
    /// # Errors
    ///
    /// The process cannot be started; in words.
    pub fn start(split: &str) -> Result<Self, String> {
        let mut command = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
        command.args(std::env::args_os().skip(1)).arg("--worker");
        if std::env::var_os(NPIPES.0).is_none_or(|value| value.is_empty()) {
            command.env(NPIPES.0, NPIPES.1);
        }
        let mut child = command
            .env("KIRIN_SPLIT", split)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("the measuring process: {e}"))?;
        let (requests, replies) = (child.stdin.take(), child.stdout.take());
        Ok(Self {
            child,
            requests,
            replies: BufReader::new(replies.expect("stdout is a pipe")),
        })
    }

    /// Sends a request and waits for the answer; `watch` hears the times on the way.
    ///
    /// # Errors
    ///
    /// What the process says went wrong, or that it has ended; in words.
    pub fn ask(&mut self, request: &Value, watch: &dyn Fn(f64)) -> Result<Value, String> {
        // A process that has gone is noticed below.
        if let Some(requests) = &mut self.requests {
            let _ = writeln!(requests, "{request}");
        }
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = self.replies.read_until(b'\n', &mut line);
            if !matches!(length, Ok(1..)) {
                let ended = self.child.wait().map_err(|e| e.to_string())?;
                return Err(format!("the measuring process has ended: {ended}"));
            }
            let text = String::from_utf8_lossy(&line);
            let Some((_, reply)) = text.split_once(MARK) else {
                continue;
            };
            let reply: Value = serde_json::from_str(reply).map_err(|e| e.to_string())?;
            if let Some(why) = reply["error"].as_str() {
                return Err(why.to_owned());
            }
            match reply["t"].as_f64() {
                // Ctrl-C at a terminal reaches the process too; other signals do not.
                Some(_) if interrupted() => self.child.kill().map_err(|e| e.to_string())?,
                Some(t) => watch(t),
                None => return Ok(reply["done"].clone()),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None; // the end of its stdin is the worker's sign to leave
        let _ = self.child.wait();
    }
}

/// What to find out of the library.
pub fn describe() -> Value {
    json!({"ask": "describe"})
}

/// The seconds for the forces of all `n` on `ni` of them.
pub fn force(n: usize, ni: usize) -> Value {
    json!({"ask": "force", "n": n, "ni": ni})
}

/// The second half of a run.
pub fn run(n: usize) -> Value {
    json!({"ask": "run", "n": n})
}

/// Serves requests until stdin ends: the worker's side.
///
/// The clusters that it makes are kept: a large one takes longer to scale than the forces take.
///
/// # Errors
///
/// A parent that has gone, or asks nonsense.
pub fn serve(options: &Options) -> Result<Ended, Box<dyn Error>> {
    interrupt::catch()?;
    let grape = Grape::linked_or(options.run.library()).map_err(|e| e.to_string());
    let mut clusters = HashMap::new();
    let mut field = None;
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let mut cluster = |n| {
            let make = || Model::Plummer.make(n, options.run.start.seed());
            clusters.entry(n).or_insert_with(make).clone()
        };
        let result = match &grape {
            Ok(grape) => answer(grape, options, &mut cluster, &mut field, &request),
            Err(why) => Err(why.clone().into()),
        };
        reply(&match result {
            Ok(done) => json!({"done": done}),
            Err(why) => json!({"error": why.to_string()}),
        })?;
        if interrupted() {
            return Ok(Ended::Interrupted);
        }
    }
    Ok(Ended::Complete)
}

fn reply(reply: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    // What the library left on a line of its own stays there.
    writeln!(out, "\n{MARK}{reply}")?;
    out.flush()
}

fn answer<'g>(
    grape: &'g Grape,
    options: &Options,
    cluster: &mut dyn FnMut(usize) -> Vec<Body>,
    field: &mut Option<LoadedCluster<'g>>,
    request: &Value,
) -> Result<Value, Box<dyn Error>> {
    let number = |key: &str| -> Result<usize, String> {
        let n = request[key].as_u64().ok_or_else(|| format!("no {key}"))?;
        usize::try_from(n).map_err(|e| e.to_string())
    };
    match request["ask"].as_str() {
        Some("describe") => {
            let mut described = LoadedCluster::describe(grape)?;
            if options.run.library().is_none() {
                described["split"] = json!(settings::settings().split);
            }
            Ok(described)
        }
        Some("force") => {
            let (n, ni) = (number("n")?, number("ni")?);
            if field.as_ref().is_none_or(|f| f.n() != n) {
                // One at a time: both would use the library's first cluster.
                *field = None;
                *field = Some(LoadedCluster::load(
                    grape,
                    cluster(n),
                    settings(options)?.eps,
                )?);
            }
            let field = field.as_mut().expect("it was loaded");
            Ok(json!(field.seconds(ni)?))
        }
        Some("run") => {
            *field = None;
            timed_half(grape, options, cluster(number("n")?))
        }
        _ => Err("a request that is none".into()),
    }
}

/// The settings of the runs of Table 4.2, which the options may change.
///
/// # Errors
///
/// A softening with a unit, which has no meaning here.
pub fn settings(options: &Options) -> Result<Settings, HermiteError> {
    let (eta, eta_start) = (published::ETA, published::ETA_START);
    options.run.settings_or(eta, eta_start, Galaxy::default())
}

/// End of the runs.
///
/// # Errors
///
/// It has a unit, which has no meaning here; in words.
pub fn t_end(options: &Options) -> Result<f64, String> {
    options.run.control.t_end(published::T_END, None)
}

fn timed_half(
    grape: &Grape,
    options: &Options,
    bodies: Vec<Body>,
) -> Result<Value, Box<dyn Error>> {
    let (settings, t_end) = (settings(options)?, t_end(options)?);
    let energy0 = (bodies.len() <= LARGEST_ENERGY)
        .then(|| Energy::of(&bodies, settings.eps * settings.eps).total());
    let log = Log {
        start: Some((energy0.unwrap_or(f64::NAN), Some(f64::NAN), settings.eps)),
        ..Log::default()
    };
    let mut run = Run::new(Integrator::start(grape, settings, 0.0, bodies)?, log)?;
    let plan = RunOutputs::default();
    let told = std::cell::Cell::new(Instant::now());
    let watch = |t: f64| {
        if told.get().elapsed() > PATIENCE {
            told.set(Instant::now());
            // A parent that has gone is noticed at the end.
            let _ = reply(&json!({"t": t}));
        }
    };
    run.evolve(t_end / 2.0, &plan, &interrupted, &watch)?;
    let (seconds, before) = (run.seconds, run.integration.counts().clone());
    run.evolve(t_end, &plan, &interrupted, &watch)?;
    let counts = run.integration.counts().clone();
    // There is no energy at the end of a run that did not come there.
    let energy_error = match energy0 {
        Some(energy0) if !interrupted() => {
            let bodies = run.integration.synchronised(t_end)?;
            Energy::of(&bodies, settings.eps * settings.eps).error(energy0)
        }
        _ => f64::NAN,
    };
    Ok(json!({
        "seconds": run.seconds - seconds,
        "pairs": counts.pairs - before.pairs,
        "steps": counts.steps - before.steps,
        "block_steps": counts.block_steps - before.block_steps,
        "energy_error": energy_error,
    }))
}
