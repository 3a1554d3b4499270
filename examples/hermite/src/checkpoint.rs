//! The state of an integration as a snapshot. An integration that is read from it continues with the same bits.
//!
//! Beside the bodies, their states and the lines of [`kirin_kit::run::Log`] the snapshot has these lines:
//!
//! ```text
//! galaxy.field ...               what there is around the cluster, if anything
//! hermite.settings EPS ETA ETA_START DT_MAX DT_MIN SHARED    SHARED is true or false
//! hermite.scale SCALE            virial radius over mass at the start of a regularized run, where it is not 1
//! hermite.regularized FACTOR FORMED STEPS SECONDS            where systems are regularized, and for each:
//! hermite.pair I J X Y Z VX VY VZ  x y z vx vy vz  TX TY TZ RX RY RZ PERTURBED [U | TXX TXY ... RXX RXY ...]
//!                                labels; centre; second star from the first; tide and its rate; whether the tide is
//!                                followed along the orbit; if not, what the orbit's energy has of that in the tide; if
//!                                its linear part is followed, the tide at the distance 1 along each axis, and its rate
//! hermite.multiple N I J ... X Y Z VX VY VZ  K1 K2 ... x y z vx vy vz ...  TX TY TZ RX RY RZ ...  A B ...
//!                                labels; centre; places in the list of labels along a chain; from each star of the
//!                                chain to the next; for each label tide and its rate; places of the two stars of each
//!                                binary that moves in the mean
//! hermite.tide N I J ... TXX TXY ... RXX RXY ...             for each part of a larger system in a linear tide: labels; the
//!                                tide at the distance 1 along each axis, and its rate
//! hermite.counts STEPS BLOCKS PAIRS
//! hermite.block_sizes C0 C1 ... blocks of 2^k to 2^(k+1) - 1 particles
//! ```

use std::str::FromStr;

use kirin_kit::few_body::multiple::Multiple;
use kirin_kit::few_body::multiple::in_tide::InTide;
use kirin_kit::few_body::pair::{Pair, Pull};
use kirin_kit::few_body::secular::Tensor;
use kirin_kit::few_body::subsystem::Subsystem;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Integration, Log};
use kirin_kit::snapshot::line::{read, refuse, words};
use kirin_kit::vector::{Vec3, dot};
use kirin_kit::{Body, Snapshot};
use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::error::Error;
use crate::integrator::Integrator;
use crate::settings::Settings;
use crate::sources::Sources;

const SETTINGS: &str = "hermite.settings";
const REGULARIZED: &str = "hermite.regularized";
const SCALE: &str = "hermite.scale";
const PAIR: &str = "hermite.pair";
const MULTIPLE: &str = "hermite.multiple";
const TIDE: &str = "hermite.tide";
const COUNTS: &str = "hermite.counts";
const BLOCK_SIZES: &str = "hermite.block_sizes";

/// The line of all regularized systems: the factor of their distances, how many were formed, their steps and seconds.
type Regularized = (f64, u64, u64, f64);

/// The line of a pair.
#[derive(Serialize, Deserialize)]
struct PairLine {
    labels: [i32; 2],
    /// Centre, second star from the first, tide and its rate.
    vectors: [Vec3; 6],
    /// Whether the tide is followed along the orbit.
    is_perturbed: bool,
    /// [`Pair::in_tide`] of a tide in the mean, which older states have not, or the 18 numbers of [`Pair::linear`].
    #[serde(default)]
    rest: Vec<f64>,
}

/// All of `integrator`.
pub fn save<S: Sources>(integrator: &Integrator<S>) -> Snapshot {
    let mut run = lines(integrator.settings(), integrator.counts());
    run.extend(system_lines(integrator));
    let (bodies, states) = integrator.stars();
    Snapshot {
        time: integrator.time(),
        bodies,
        states: Some(states),
        run,
        ..Snapshot::default()
    }
}

/// The lines of the regularized systems.
fn system_lines<S: Sources>(integrator: &Integrator<S>) -> Vec<(String, String)> {
    let (factor, all) = (integrator.settings().regularize, integrator.regularized());
    if factor == 0.0 {
        return Vec::new();
    }
    let (formed, steps) = (all.formed, all.steps);
    let head: Regularized = (factor, formed, steps, all.seconds);
    let mut lines = vec![(REGULARIZED.to_owned(), words(&head))];
    if all.scale != 1.0 {
        lines.push((SCALE.to_owned(), words(&all.scale)));
    }
    for (first, held) in &all.at {
        let centre = &integrator.bodies()[*first];
        let (x, v) = (centre.x, centre.v);
        match &held.system {
            Subsystem::Pair(pair) => {
                let vectors = [x, v, pair.x, pair.v, pair.tide, pair.tide_rate];
                let linear = pair.linear.iter().flat_map(numbers);
                let line = PairLine {
                    labels: pair.labels,
                    vectors,
                    is_perturbed: pair.is_perturbed,
                    rest: pair.in_tide.into_iter().chain(linear).collect(),
                };
                lines.push((PAIR.to_owned(), words(&line)));
            }
            Subsystem::Multiple(multiple) => {
                let (order, links) = multiple.links();
                let links: Vec<Pull> = links.chain(multiple.tides.iter().copied()).collect();
                let labels = held.system.labels();
                let inner = multiple.inner();
                let line = (order.len(), labels, [x, v], order, links, inner);
                lines.push((MULTIPLE.to_owned(), words(&line)));
                for InTide { stars, tensor } in multiple.linear() {
                    let labels: Vec<i32> = stars.iter().map(|&k| labels[k]).collect();
                    let line = (labels.len(), labels, numbers(tensor));
                    lines.push((TIDE.to_owned(), words(&line)));
                }
            }
        }
    }
    lines
}

/// The 18 numbers of a linear tide.
fn numbers(tensor: &Tensor) -> Vec<f64> {
    let Tensor { tide, rate } = tensor;
    [tide, rate].map(|part| part.as_flattened()).concat()
}

/// The linear tide of these numbers; `None` if they are not 18.
fn tensor(numbers: &[f64]) -> Option<Tensor> {
    let (vectors, []) = numbers.as_chunks::<3>() else {
        return None;
    };
    let ([tide, rate], []) = vectors.as_chunks::<3>() else {
        return None;
    };
    let (tide, rate) = (*tide, *rate);
    Some(Tensor { tide, rate })
}

/// The systems of the run that `snapshot` was saved from. Each comes with its centre, labelled as its first star. The
/// systems have no masses yet.
fn systems(snapshot: &Snapshot) -> Result<Vec<(Body, Subsystem)>, Error> {
    let pairs = snapshot.values(PAIR).map(pair);
    let multiples = snapshot.values(MULTIPLE).map(multiple);
    let mut systems: Vec<(Body, Subsystem)> = pairs.chain(multiples).collect::<Result<_, _>>()?;
    for line in snapshot.values(TIDE) {
        if add_tide(line, &mut systems).is_none() {
            refuse::<()>(TIDE, line)?;
        }
    }
    Ok(systems)
}

/// Puts the part of one system that the line tells of into its linear tide.
fn add_tide(line: &str, systems: &mut [(Body, Subsystem)]) -> Option<()> {
    let all: Vec<&str> = line.split_whitespace().collect();
    let (count, rest) = all.split_first()?;
    let (labels, numbers) = rest.split_at_checked(count.parse().ok()?)?;
    let (labels, numbers): (Vec<i32>, Vec<f64>) = (parsed(labels)?, parsed(numbers)?);
    let tensor = tensor(&numbers).filter(|_| numbers.iter().all(|c| c.is_finite()))?;
    let places = |system: &Subsystem| -> Option<Vec<usize>> {
        let place = |label: &i32| system.labels().iter().position(|l| l == label);
        labels.iter().map(place).collect()
    };
    systems.iter_mut().find_map(|(_, system)| {
        let stars = places(system)?;
        let Subsystem::Multiple(multiple) = system else {
            return None;
        };
        multiple.add_linear(InTide { stars, tensor })
    })
}

fn centre(index: i32, [x, v]: [Vec3; 2]) -> Body {
    Body {
        index,
        mass: 0.0,
        x,
        v,
    }
}

fn is_finite(vectors: &[Vec3]) -> bool {
    vectors.as_flattened().iter().all(|c| c.is_finite())
}

fn pair(line: &str) -> Result<(Body, Subsystem), Error> {
    let PairLine {
        labels,
        vectors,
        is_perturbed,
        rest,
    } = read(PAIR, line)?;
    let [at, moves, x, v, tide, tide_rate] = vectors;
    let (in_tide, linear) = match rest[..] {
        [] => (None, None),
        [energy] if !is_perturbed => (Some(energy), None),
        _ => match tensor(&rest) {
            Some(linear) if is_perturbed => (None, Some(linear)),
            _ => refuse(PAIR, line)?,
        },
    };
    let is_whole = rest.iter().all(|number| number.is_finite());
    if !(is_finite(&vectors) && is_whole) || x == [0.0; 3] {
        refuse::<()>(PAIR, line)?;
    }
    // In older states the orbit of a pair in a mean tide has all of its energy in the tide.
    let in_older = || (!is_perturbed).then(|| -0.5 * dot(&x, &tide));
    let in_tide = in_tide.or_else(in_older);
    let pair = Pair {
        labels,
        masses: [0.0; 2],
        x,
        v,
        tide,
        tide_rate,
        is_perturbed,
        in_tide,
        linear,
    };
    Ok((centre(labels[0], [at, moves]), Subsystem::Pair(pair)))
}

fn multiple(line: &str) -> Result<(Body, Subsystem), Error> {
    let found = words_of_multiple(line);
    found.map_or_else(|| Ok(refuse(MULTIPLE, line)?), Ok)
}

/// The parts of the line, whose number follows from its first word.
fn words_of_multiple(line: &str) -> Option<(Body, Subsystem)> {
    let all: Vec<&str> = line.split_whitespace().collect();
    let (count, rest) = all.split_first()?;
    let count: usize = count.parse().ok().filter(|count| *count >= 3)?;
    let (labels, rest) = rest.split_at_checked(count)?;
    let (at, rest) = rest.split_at_checked(6)?;
    let (order, rest) = rest.split_at_checked(count)?;
    let (links, inner) = rest.split_at_checked(6 * (2 * count - 1))?;
    let inner: Vec<usize> = parsed(inner)?;
    let (inner, []) = inner.as_chunks::<2>() else {
        return None;
    };
    let inner = inner.to_vec();
    let labels: Vec<i32> = parsed(labels)?;
    let vectors: Vec<f64> = parsed(&[at, links].concat())?;
    let (vectors, []) = vectors.as_chunks::<3>() else {
        return None;
    };
    let (both, []) = vectors.as_chunks::<2>() else {
        return None;
    };
    let (at, links) = both.split_first()?;
    if !is_finite(vectors) || links.len() != 2 * count - 1 {
        return None;
    }
    let mut links: Vec<Pull> = links.iter().map(|[x, v]| (*x, *v)).collect();
    let tides = links.split_off(count - 1);
    let centre = centre(labels[0], *at);
    let masses = vec![0.0; count];
    let multiple = Multiple::from_parts(labels, masses, parsed(order)?, links, inner, tides)?;
    Some((centre, Subsystem::Multiple(multiple)))
}

fn parsed<T: FromStr>(words: &[&str]) -> Option<Vec<T>> {
    words.iter().map(|word| word.parse().ok()).collect()
}

/// The lines of a snapshot: keys and values.
pub fn lines(s: &Settings, counts: &Counts) -> Vec<(String, String)> {
    let Counts {
        steps,
        block_steps,
        pairs,
        ref block_sizes,
    } = *counts;
    // The factor stands in the line of the regularized systems.
    let settings = Settings {
        regularize: 0.0,
        ..*s
    };
    let mut lines = vec![
        (SETTINGS, words(&settings)),
        (COUNTS, words(&(steps, block_steps, pairs))),
    ];
    if !block_sizes.is_empty() {
        lines.push((BLOCK_SIZES, words(block_sizes)));
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
    let mut settings = Settings {
        galaxy: Galaxy::of(snapshot)?,
        ..snapshot.required(SETTINGS)?
    };
    if let Some((factor, ..)) = snapshot.line::<Regularized>(REGULARIZED)? {
        settings.regularize = factor;
    }
    Ok(Some(settings))
}

/// How much the run had done that `snapshot` was saved from.
///
/// # Errors
///
/// The lines are missing or no counts.
pub fn counts(snapshot: &Snapshot) -> Result<Counts, Error> {
    let (steps, block_steps, pairs) = snapshot.required(COUNTS)?;
    Ok(Counts {
        steps,
        block_steps,
        pairs,
        block_sizes: snapshot.line(BLOCK_SIZES)?.unwrap_or_default(),
    })
}

/// The integration that `snapshot` was saved from, and what had happened. `settings` hold from now on: they are those of
/// the snapshot, except that the limits of accuracy may differ, and that it may regularize systems from now on. If it does, all
/// stars take a step that ends at the time of the snapshot and begin anew there.
///
/// # Errors
///
/// The snapshot has no states, or they or the lines of the run are not those of a run.
pub fn resume<S: Sources>(
    sources: S,
    settings: Settings,
    snapshot: Snapshot,
) -> Result<(Integrator<S>, Log), Error> {
    let (counts, mut log) = (counts(&snapshot)?, Log::of(&snapshot)?);
    let saved = self::settings(&snapshot)?;
    let systems = systems(&snapshot)?;
    let past = snapshot.line::<Regularized>(REGULARIZED)?;
    let past = past.map_or((0, 0, 0.0), |(_, formed, steps, seconds)| {
        (formed, steps, seconds)
    });
    let scale: f64 = snapshot.line(SCALE)?.unwrap_or(1.0);
    if !(f64::is_normal(scale) && scale > 0.0) {
        refuse::<()>(SCALE, &scale.to_string())?;
    }
    let Snapshot {
        time,
        bodies,
        states,
        ..
    } = snapshot;
    let (Some(states), Some(saved)) = (states, saved) else {
        return Err("the snapshot has no states".to_owned().into());
    };
    if settings.regularize > 0.0 && saved.regularize == 0.0 {
        settings.validate()?;
        let past = Integrator::resume(sources, saved, time, bodies, states, Counts::default());
        let mut past = past?;
        let bodies = past.synchronised(time)?;
        let integrator = Integrator::begin(past.into_sources(), settings, time, bodies, counts)?;
        // The cluster's own energy is without that of its systems from now on.
        log.start = log.start.map(|(energy, _, eps)| (energy, None, eps));
        let columns = integrator.own_columns().len();
        for record in &mut log.records {
            record.own.resize(columns, f64::NAN);
        }
        return Ok((integrator, log));
    }
    let mut integrator = Integrator::resume(sources, settings, time, bodies, states, counts)?;
    integrator.resume_systems(systems, past, scale)?;
    Ok((integrator, log))
}
