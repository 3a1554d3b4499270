//! Runs an integration as the programs do: with a progress bar, signals, and the output at its end.

use std::error::Error;
use std::path::Path;
use std::rc::Rc;

use super::{Guard, Integration, Kept, Run, RunControl};
use crate::command::{Ended, tell};
use crate::interrupt::{self, interrupted};
use crate::progress::Progress;
use crate::summary::{Summary, view};

/// Takes `run` to `t_end` or to the step after a signal, writes the files that can be resumed, and tells
/// how it ended. Its guard warns of the energy error, or ends the run.
///
/// Where a step cannot be taken the output holds the run up to there, unless the state is one that cannot be resumed:
/// then the output stays as it was.
///
/// # Errors
///
/// The run is at `t_end` already, the integration fails, or a file cannot be written.
pub fn conduct<I: Integration, Own: Kept + AsRef<Guard>>(
    program: &'static str,
    run: &mut Run<I>,
    t_end: f64,
    control: &RunControl<Own>,
) -> Result<Summary, Box<dyn Error>> {
    let (start, files) = (run.integration.time(), &control.files);
    check_end(start, t_end)?;
    let (rank, ranks) = run.integration.rank();
    if ranks == 1 {
        let (n, galaxy) = (run.integration.count(), run.integration.galaxy());
        files.check_replaced(n, (start, t_end), galaxy, &run.log())?;
    }
    let mut plan = files.plan(t_end - start, run.integration.galaxy())?;
    plan.guard = Some(control.own.as_ref().clone());
    plan.stop_after = control.stop_after;
    run.told = control.told(t_end, &plan)?;
    interrupt::catch()?;
    let before = view(start, &run.integration.bodies_at(start)?);
    let progress = (rank == 0).then(|| Rc::new(Progress::new(program, start, t_end)));
    if let Some(progress) = progress.clone() {
        run.tells_records = ranks > 1 && progress.is_hidden();
        run.say = Box::new(move |line| progress.say(&format!("{program}: {line}")));
    }
    run.add_wall_time(interrupt::elapsed());
    let ended = run.evolve(t_end, &plan, &interrupted, &|t| {
        if let Some(progress) = &progress {
            progress.advance(t);
        }
    });
    if let Some(progress) = progress {
        progress.finish();
    }
    let ended = match ended {
        // To gather the state takes all ranks, and the others go on or have stopped.
        Err(e) if ranks > 1 && !e.downcast_ref().is_some_and(I::is_common) => return Err(e),
        ended => ended,
    };
    // A state that cannot be resumed must not replace one that can.
    let whole = match &ended {
        Err(_) | Ok(Ended::EnergyError) => run.integration.check().map_err(Box::from),
        Ok(_) => Ok(()),
    };
    // Saved first: only the state cannot be had again if something else fails.
    let saved: Result<(), Box<dyn Error>> = match &files.output {
        Some(path) => whole.and_then(|()| run.save_to(path)),
        None => Ok(()),
    };
    if ranks > 1 && ended.is_err() {
        // Rank 0 may write for long, and the others would end the job meanwhile. The error is told even if a rank is lost here.
        let _ = run.integration.share(0.0);
    }
    match (ended, &files.output) {
        (Err(e), Some(path)) => {
            let (t, name) = (run.integration.time(), path.display());
            let kept = match saved {
                Ok(()) => format!("the run up to t = {t} is in {name}"),
                Err(why) if path.exists() => {
                    format!("the state at t = {t} is not saved ({why}): {name} stays as it was")
                }
                Err(why) => format!("the state at t = {t} is not saved ({why})"),
            };
            if ranks == 1 {
                return Err(format!("{e}; {kept}").into());
            }
            if rank == 0 {
                tell(&format!("{program}: {kept}"));
            }
            // As it is: the launcher asks whether all ranks have this error.
            Err(e)
        }
        (ended, output) => {
            let mut ended = ended?;
            if let (Err(why), Ended::EnergyError) = (&saved, ended) {
                let t = run.integration.time();
                return Err(format!(
                    "the energy error ended the run at t = {t}, and its state is not saved: {why}"
                )
                .into());
            }
            saved?;
            let unwritten = run.unwritten();
            let is_short = f64::from(u8::from(unwritten.is_some()));
            if run.integration.share(is_short)? > 0.0 && ended == Ended::Complete {
                ended = Ended::Unwritten;
            }
            if let Some(what) = unwritten {
                tell(&format!("{program}: {what}"));
            }
            if rank == 0 && !matches!(ended, Ended::Complete | Ended::Unwritten) {
                tell_what_goes_on(program, output.as_deref(), ended);
            }
            Ok(Summary::of(run, before, t_end, ended)?)
        }
    }
}

/// Whether a run that is at `time` may go to `t_end`.
///
/// # Errors
///
/// This is no later; in words.
pub fn check_end(time: f64, t_end: f64) -> Result<(), String> {
    match t_end > time {
        true => Ok(()),
        false => Err(format!(
            "the run is at t = {time} already: --t-end must be later"
        )),
    }
}

/// Says how a run that did not come to its end goes on.
pub fn tell_what_goes_on(program: &str, output: Option<&Path>, ended: Ended) {
    let more = match ended {
        Ended::EnergyError => " --energy-limit none",
        _ => "",
    };
    match output {
        Some(path) => tell(&format!(
            "{program}: `{program} --input {}{more}` goes on",
            path.display()
        )),
        None if ended == Ended::EnergyError => {
            tell(&format!(
                "{program}: the state is lost, as there was no --output"
            ));
        }
        None => {}
    }
}
