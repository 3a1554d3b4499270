//! The state of an integration as a snapshot. An integration that is read from it continues with the same bits.
//!
//! Beside the bodies and their states the snapshot has these lines, and those of
//! [`kirin_kit::run::Log`]:
//!
//! ```text
//! galaxy.field ...               what there is around the cluster, if anything
//! hermite.settings EPS ETA ETA_START DT_MAX DT_MIN SHARED    SHARED is true or false
//! hermite.regularized FACTOR FORMED STEPS SECONDS            where pairs are regularized, and for each pair:
//! hermite.pair I J X Y Z VX VY VZ  x y z vx vy vz  TX TY TZ RX RY RZ PERTURBED
//!                                labels; centre; second star from the first; tide and its rate
//! hermite.counts STEPS BLOCKS PAIRS
//! hermite.block_sizes C0 C1 ... blocks of 2^k to 2^(k+1) - 1 particles
//! ```

use kirin::client::Grape;
use kirin_kit::few_body::pair::Pair;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Log, Run};
use kirin_kit::snapshot::Line;
use kirin_kit::vector::Vec3;
use kirin_kit::{Body, Snapshot};
use kirin_report::text::exact;

use crate::counts::Counts;
use crate::error::Error;
use crate::integrator::Integrator;
use crate::settings::Settings;

const SETTINGS: &str = "hermite.settings";
const REGULARIZED: &str = "hermite.regularized";
const PAIR: &str = "hermite.pair";
const COUNTS: &str = "hermite.counts";
const BLOCK_SIZES: &str = "hermite.block_sizes";

/// All of `integrator`.
pub fn save(integrator: &Integrator<'_>) -> Snapshot {
    let mut run = lines(integrator.settings(), integrator.counts());
    run.extend(pair_lines(integrator));
    let (bodies, states) = integrator.stars();
    Snapshot {
        time: integrator.time(),
        bodies,
        states: Some(states),
        run,
    }
}

/// The lines of the regularized pairs.
fn pair_lines(integrator: &Integrator<'_>) -> Vec<(String, String)> {
    let (factor, all) = (integrator.settings().regularize, integrator.regularized());
    if factor == 0.0 {
        return Vec::new();
    }
    let (formed, steps) = (all.formed, all.steps);
    let numbers = exact(&[factor]);
    let head = format!("{numbers} {formed} {steps} {}", exact(&[all.seconds]));
    let mut lines = vec![(REGULARIZED.to_owned(), head)];
    for (first, held) in &all.at {
        let (centre, pair) = (&integrator.bodies()[*first], &held.pair);
        let [i, j] = pair.labels;
        let vectors = [
            centre.x,
            centre.v,
            pair.x,
            pair.v,
            pair.tide,
            pair.tide_rate,
        ];
        let numbers = exact(vectors.as_flattened());
        let felt = pair.is_perturbed;
        lines.push((PAIR.to_owned(), format!("{i} {j} {numbers} {felt}")));
    }
    lines
}

/// The pairs of the run that `snapshot` was saved from. Each comes with its centre, labelled as its first star. The
/// pairs have no masses yet.
fn pairs(snapshot: &Snapshot) -> Result<Vec<(Body, Pair)>, Error> {
    let mut pairs = Vec::new();
    for value in snapshot.values(PAIR) {
        let mut line = Line::new(PAIR, value);
        let labels = [line.word()?, line.word()?];
        let mut vector =
            || -> Result<Vec3, String> { Ok([line.word()?, line.word()?, line.word()?]) };
        let centre = Body {
            index: labels[0],
            mass: 0.0,
            x: vector()?,
            v: vector()?,
        };
        let pair = Pair {
            labels,
            masses: [0.0; 2],
            x: vector()?,
            v: vector()?,
            tide: vector()?,
            tide_rate: vector()?,
            is_perturbed: line.word()?,
        };
        let numbers = [
            centre.x,
            centre.v,
            pair.x,
            pair.v,
            pair.tide,
            pair.tide_rate,
        ];
        let are_finite = numbers.as_flattened().iter().all(|c| c.is_finite());
        if !are_finite || pair.x == [0.0; 3] {
            line.refuse::<()>()?;
        }
        line.end()?;
        pairs.push((centre, pair));
    }
    Ok(pairs)
}

/// The lines of a snapshot: keys and values.
pub fn lines(s: &Settings, counts: &Counts) -> Vec<(String, String)> {
    let numbers = exact(&[s.eps, s.eta, s.eta_start, s.dt_max, s.dt_min]);
    let (steps, blocks, pairs) = (counts.steps, counts.block_steps, counts.pairs);
    let mut lines = vec![
        (SETTINGS, format!("{numbers} {}", s.shared)),
        (COUNTS, format!("{steps} {blocks} {pairs}")),
    ];
    if !counts.block_sizes.is_empty() {
        let sizes: Vec<String> = counts.block_sizes.iter().map(u64::to_string).collect();
        lines.push((BLOCK_SIZES, sizes.join(" ")));
    }
    let owned = |(key, value): (&str, String)| (key.to_owned(), value);
    lines
        .into_iter()
        .map(owned)
        .chain(s.galaxy.lines())
        .collect()
}

/// The settings of the run that `snapshot` was saved from; `None` where it holds bodies only.
///
/// # Errors
///
/// The snapshot has states, but the settings are missing or no settings.
pub fn settings(snapshot: &Snapshot) -> Result<Option<Settings>, Error> {
    snapshot.check_owner("hermite")?;
    if snapshot.states.is_none() {
        return Ok(None);
    }
    let regularize = match Line::of(snapshot, REGULARIZED) {
        Some(mut line) => line.word()?,
        None => 0.0,
    };
    let mut words = Line::required(snapshot, SETTINGS)?;
    let settings = Settings {
        eps: words.word()?,
        eta: words.word()?,
        eta_start: words.word()?,
        dt_max: words.word()?,
        dt_min: words.word()?,
        shared: words.word()?,
        regularize,
        galaxy: Galaxy::of(snapshot)?,
    };
    words.end()?;
    Ok(Some(settings))
}

/// How much the run had done that `snapshot` was saved from.
///
/// # Errors
///
/// The lines are missing or no counts.
pub fn counts(snapshot: &Snapshot) -> Result<Counts, Error> {
    let mut words = Line::required(snapshot, COUNTS)?;
    let mut counts = Counts {
        steps: words.word()?,
        block_steps: words.word()?,
        pairs: words.word()?,
        block_sizes: Vec::new(),
    };
    words.end()?;
    if let Some(sizes) = Line::of(snapshot, BLOCK_SIZES) {
        counts.block_sizes = sizes.rest()?;
    }
    Ok(counts)
}

/// The run that `snapshot` was saved from. `settings` hold from now on: they are those of the snapshot, except that
/// the limits of accuracy may differ.
///
/// # Errors
///
/// The snapshot has no states, or they or the lines of the run are not those of a run.
pub fn resume<'g>(
    grape: &'g Grape,
    settings: Settings,
    snapshot: Snapshot,
) -> Result<Run<Integrator<'g>>, Error> {
    let (counts, log) = (counts(&snapshot)?, Log::of(&snapshot)?);
    let (pairs, past) = (pairs(&snapshot)?, Line::of(&snapshot, REGULARIZED));
    let past = match past {
        Some(mut line) => {
            line.word::<f64>()?;
            (line.word()?, line.word()?, line.word()?)
        }
        None => (0, 0, 0.0),
    };
    let Snapshot {
        time,
        bodies,
        states,
        ..
    } = snapshot;
    let states = states.ok_or_else(|| "the snapshot has no states".to_owned())?;
    let mut integrator = Integrator::resume(grape, settings, time, bodies, states, counts)?;
    integrator.resume_pairs(&pairs, past)?;
    Run::new(integrator, log)
}
