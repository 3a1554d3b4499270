//! What a run would replace: another run's state, bodies that somebody gave, snapshots of other times.

use std::path::Path;

use kirin_kit::Snapshot;
use kirin_kit::claim::{kept, later};
use kirin_kit::communicator::Communicator;
use kirin_kit::files::Files;
use kirin_kit::run::Snapshots;

use super::Run;
use crate::checkpoint::Checkpoint;

impl<C: Communicator> Run<C> {
    /// Checks that the output, if it exists, is a state of this run, or is to be replaced all the same.
    pub(super) fn check_replaced(&self, files: &Files) -> Result<(), String> {
        let Some(path) = files.replaced() else {
            return match files.output.as_deref().filter(|_| !files.force) {
                Some(input) if self.steps_before == 0 && !holds_run(input) => Err(kept(
                    input,
                    "it is the --input, which holds no state of a run",
                )),
                _ => Ok(()),
            };
        };
        if std::fs::metadata(path).map_or(true, |file| file.len() == 0) {
            return Ok(());
        }
        let found = match Snapshot::load(path) {
            Ok(snapshot) => Checkpoint::of(&snapshot),
            Err(_) => return Err(kept(path, "this file is no snapshot that can be read")),
        };
        let Ok(Some(found)) = found else {
            return Err(kept(path, "it holds no run of this program"));
        };
        let begins =
            |model: &str, n: usize, seed: u64| format!("{model} of {n} stars, seed {seed}");
        let was = begins(&found.model, found.past.n0, found.settings.seed);
        let cluster = &self.cluster;
        let is = begins(&self.model, cluster.past.n0, cluster.settings.seed);
        if was != is {
            let what = format!("it holds another run ({was}, this one is {is})");
            return Err(kept(path, &what));
        }
        if found.past.energy0 != cluster.past.energy0 {
            let what = format!("it holds another run ({was}, whose stars began otherwise)");
            return Err(kept(path, &what));
        }
        let (then, now) = (found.past.scaled_time(), cluster.scaled_time());
        match then > now {
            true => Err(kept(path, &later(path, then, now))),
            false => Ok(()),
        }
    }
}

/// Checks that a run of these times replaces no snapshot of another time. The run counts in relaxation times, the files in the stars'
/// unit of time; one relaxation time is `unit` of these.
pub(super) fn check_snapshots(
    snapshots: &Snapshots,
    [start, t_end]: [f64; 2],
    unit: f64,
) -> Result<(), String> {
    let written = Snapshots {
        every: snapshots.every * unit,
        output: snapshots.output.clone(),
    };
    written.check(start * unit, t_end * unit)
}

/// Whether the file holds a state of a run of this program.
fn holds_run(path: &Path) -> bool {
    Snapshot::load(path).is_ok_and(|snapshot| matches!(Checkpoint::of(&snapshot), Ok(Some(_))))
}
