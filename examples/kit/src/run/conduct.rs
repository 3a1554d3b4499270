//! A run as the programs make it: with a progress bar, signals, and the output at its end.

use std::error::Error;
use std::path::Path;

use super::{Integration, Run};
use crate::command::Files;
use crate::interrupt::{self, interrupted};
use crate::progress::Progress;
use crate::summary::{Summary, view};

/// Takes `run` to `t_end` or to the step after a signal, writes the files that can be resumed, and tells
/// how it ended.
///
/// Where a step cannot be taken the output holds the run up to there.
///
/// # Errors
///
/// The run is at `t_end` already, the integration fails, or a file cannot be written.
pub fn conduct<I: Integration>(
    program: &'static str,
    run: &mut Run<I>,
    t_end: f64,
    files: &Files,
) -> Result<Summary, Box<dyn Error>> {
    let start = run.integration.time();
    if t_end <= start {
        return Err(format!("the run is at t = {start} already: --t-end must be later").into());
    }
    interrupt::catch()?;
    let before = view(start, &run.integration.bodies_at(start)?);
    let (rank, ranks) = run.integration.rank();
    let progress = (rank == 0).then(|| Progress::new(program, start, t_end));
    let ended = run.evolve(t_end, &files.plan(t_end - start), &interrupted, &|t| {
        if let Some(progress) = &progress {
            progress.advance(t);
        }
    });
    if let Some(progress) = progress {
        progress.finish();
    }
    let ended = match ended {
        // To gather the state takes all ranks, and the others have stopped.
        Err(e) if ranks > 1 => return Err(e),
        ended => ended,
    };
    // Saved first: only the state cannot be had again if something else fails.
    let saved = match &files.output {
        Some(path) => save(run, path),
        None => Ok(()),
    };
    match (ended, &files.output) {
        (Err(e), Some(path)) if saved.is_ok() => Err(format!(
            "{e}; the run up to t = {} is in {}",
            run.integration.time(),
            path.display()
        )
        .into()),
        (ended, _) => {
            let ended = ended?;
            saved?;
            Ok(Summary::of(run, before, t_end, ended)?)
        }
    }
}

/// Writes the state of `run`, or takes part in it.
fn save<I: Integration>(run: &Run<I>, path: &Path) -> Result<(), Box<dyn Error>> {
    let snapshot = run.save()?;
    if run.integration.rank().0 == 0 {
        snapshot.save_as(path)?;
    }
    Ok(())
}
