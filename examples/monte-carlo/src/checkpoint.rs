//! The state of a run as a snapshot. A run that is read from it continues with the same bits on any number of
//! ranks.
//!
//! ```text
//! monte-carlo.settings THETA_MAX GAMMA RADIUS ENCOUNTERS SEED
//! monte-carlo.tide CRITERION RADIUS MASS          where there is a tidal field
//! monte-carlo.evolution METALLICITY MASS TIME ENERGY LOST_MASS        where stars evolve: units in solar masses and Myr, and what is lost
//! monte-carlo.remnants LABEL ...                                       the stars that have ended
//! monte-carlo.past TIME STEPS N0 E0 T_RH0
//! monte-carlo.ledger ESCAPERS MASS ENERGY COLLIDED SHARED
//! monte-carlo.binaries FORMED ENCOUNTERS ESCAPED BINDING_ESCAPED DISSOLVED PRIMORDIAL_BINDING KINDS      where there are binaries: three-body, primordial or both
//! monte-carlo.binary LABEL LABEL MASS MASS AXIS ECCENTRICITY           one line for each
//! monte-carlo.model NAME
//! monte-carlo.record T ...        one line for each record: see `history::COLUMNS`
//! monte-carlo.profile T R RHO ... one line for each density profile
//! monte-carlo.told NAME VALUE     an option of the command line
//! galaxy.field none MASS LENGTH 0 0                                    the units in solar masses and pc, where they are known
//! monte-carlo.streams HEX ...     states of the random numbers, 32 digits for each bin
//! ```
//!
//! Stars are concentric shells and have no direction: x is the radius, vx the radial and vy the transverse
//! velocity, in the order of radii.

use kirin_kit::galaxy::{Galaxy, Units};
use kirin_kit::run::Told;
use kirin_kit::snapshot::Line;
use kirin_kit::{Body, Snapshot};
use kirin_report::text::exact;

use crate::binaries::Binary;
use crate::cluster::Past;
use crate::evolution::Evolution;
use crate::history::{DensityProfile, History, Record};
use crate::ledger::Ledger;
use crate::partition::BIN;
use crate::random::Stream;
use crate::settings::Settings;
use crate::stars::Stars;
use crate::tide::{Criterion, Tide};

/// Softening, in the snapshots of other programs.
const EPS: &str = "run.eps";
const SETTINGS: &str = "monte-carlo.settings";
const TIDE: &str = "monte-carlo.tide";
const BINARIES: &str = "monte-carlo.binaries";
const EVOLUTION: &str = "monte-carlo.evolution";
const REMNANTS: &str = "monte-carlo.remnants";
const BINARY: &str = "monte-carlo.binary";
const PAST: &str = "monte-carlo.past";
const LEDGER: &str = "monte-carlo.ledger";
const MODEL: &str = "monte-carlo.model";
const RECORD: &str = "monte-carlo.record";
const PROFILE: &str = "monte-carlo.profile";
/// Key of what the run was told.
pub const TOLD: &str = "monte-carlo.told";
const STREAMS: &str = "monte-carlo.streams";

/// States on a line.
const STATES: usize = 64;

/// All that is needed to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What determines the run.
    pub settings: Settings,
    /// What has happened.
    pub past: Past,
    /// What the cluster was at the start.
    pub model: String,
    /// The units of the stars, where they are known.
    pub units: Option<Units>,
    /// What was recorded.
    pub history: History,
    /// What the run was told.
    pub told: Told,
    /// Random numbers of all bins.
    pub streams: Vec<Stream>,
    /// All stars in the order of radii.
    pub stars: Stars,
}

impl Checkpoint {
    /// As a snapshot.
    pub fn snapshot(&self) -> Snapshot {
        let Self {
            past,
            history,
            told,
            streams,
            stars,
            ..
        } = self;
        let mut run = self.head();
        run.extend(past.binaries.iter().map(|binary| {
            let [a, b] = binary.masses;
            let numbers = exact(&[a, b, binary.axis, binary.eccentricity]);
            let [first, second] = binary.ids;
            (BINARY, format!("{first} {second} {numbers}"))
        }));
        let records = history.records.iter();
        run.extend(records.map(|r| (RECORD, exact(&r.numbers()))));
        run.extend(history.profiles.iter().map(|profile| {
            let mut numbers = vec![profile.t];
            numbers.extend(profile.points.iter().flat_map(|&(r, rho)| [r, rho]));
            (PROFILE, exact(&numbers))
        }));
        run.extend(streams.chunks(STATES).map(|states| {
            let words: Vec<String> = states
                .iter()
                .map(|state| state.words().map(|w| format!("{w:016x}")).concat())
                .collect();
            (STREAMS, words.join(" "))
        }));
        Snapshot {
            time: past.time,
            bodies: (0..stars.len()).map(|k| body(stars, k)).collect(),
            states: None,
            run: run
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .chain(told.lines())
                .chain(Galaxy::of_units(self.units).lines())
                .collect(),
        }
    }

    /// The lines that there are once.
    fn head(&self) -> Vec<(&'static str, String)> {
        let Self {
            settings,
            past,
            model,
            ..
        } = self;
        let Settings {
            theta_max,
            gamma,
            radius,
            encounters,
            primordial,
            three_body,
            evolution,
            tide,
            seed,
        } = settings;
        let numbers = exact(&[*theta_max, *gamma, *radius]);
        let settings = format!("{numbers} {encounters} {seed}");
        let (time, steps, n0) = (past.time, past.steps, past.n0);
        let start = exact(&[past.energy0, past.relaxation_time0]);
        let ledger = &past.ledger;
        let energies = [ledger.escaped, ledger.collided, ledger.shared];
        let (mass, energies) = (exact(&[ledger.escaped_mass]), exact(&energies));
        let mut head = vec![
            (SETTINGS, settings),
            (PAST, format!("{time:?} {steps} {n0} {start}")),
            (LEDGER, format!("{} {mass} {energies}", ledger.escapers)),
            (MODEL, model.clone()),
        ];
        let kind = KINDS
            .iter()
            .find(|(_, kinds)| kinds == &[*primordial, *three_body]);
        if let Some((kind, _)) = kind {
            let (formed, encounters) = (ledger.formed, ledger.encounters);
            let (escaped, dissolved) = (ledger.binaries_escaped, ledger.dissolved);
            let binding = exact(&[ledger.binding_escaped]);
            let before = exact(&[ledger.primordial]);
            let counts =
                format!("{formed} {encounters} {escaped} {binding} {dissolved} {before} {kind}");
            head.push((BINARIES, counts));
        }
        head.extend(evolution.map(|evolution| {
            let Evolution {
                metallicity,
                mass,
                time,
            } = evolution;
            let lost = [ledger.evolved, ledger.evolved_mass];
            let numbers = [metallicity, mass, time, lost[0], lost[1]];
            (EVOLUTION, exact(&numbers))
        }));
        head.extend(past.remnants.chunks(STATES).map(|labels| {
            let labels: Vec<String> = labels.iter().map(u64::to_string).collect();
            (REMNANTS, labels.join(" "))
        }));
        head.extend(tide.map(|tide| {
            let numbers = exact(&[tide.radius, tide.mass]);
            (TIDE, format!("{} {numbers}", tide.criterion.name()))
        }));
        head
    }

    /// What `snapshot` holds; `None` where that are bodies without a run.
    ///
    /// # Errors
    ///
    /// A line of ours makes no sense, or it is the state of another program; in words.
    pub fn of(snapshot: &Snapshot) -> Result<Option<Self>, String> {
        snapshot.check_owner("monte-carlo")?;
        if snapshot.states.is_some() {
            return Err("it is a run of another program: its `columns` have the state of an integrator, and each body its own time".to_owned());
        }
        // The softening stands in every program's snapshots of bodies, and means nothing here.
        let galaxy = Galaxy::of(snapshot)?;
        let is_ours = |key: &str| match key {
            EPS => true,
            Galaxy::KEY => galaxy.is_none(),
            _ => key.starts_with("monte-carlo."),
        };
        let foreign = |(key, _): &&(String, String)| !is_ours(key);
        if let Some((key, value)) = snapshot.run.iter().find(foreign) {
            return Err(format!(
                "it is a run of another program: its header has the line `{key} {value}`"
            ));
        }
        let Some(mut line) = Line::of(snapshot, SETTINGS) else {
            let told_of_bodies = [EPS, Galaxy::KEY];
            return match snapshot
                .run
                .iter()
                .all(|(key, _)| told_of_bodies.contains(&key.as_str()))
            {
                true => Ok(None),
                false => Err(format!("the line `{SETTINGS}` is missing")),
            };
        };
        let [primordial, three_body] = kinds(snapshot)?;
        let (evolution, lost) = evolution(snapshot)?;
        let settings = Settings {
            theta_max: line.word()?,
            gamma: line.word()?,
            radius: line.word()?,
            encounters: line.word()?,
            primordial,
            three_body,
            evolution,
            tide: tide(snapshot)?,
            seed: line.word()?,
        };
        line.end()?;
        settings.validate().map_err(|e| e.to_string())?;
        let mut past = past(snapshot)?;
        [past.ledger.evolved, past.ledger.evolved_mass] = lost;
        let stars = stars(&snapshot.bodies)?;
        let streams = streams(snapshot)?;
        if streams.len() != stars.len().div_ceil(BIN) {
            return Err(format!(
                "{} states of random numbers for {} stars, whose bins are {}",
                streams.len(),
                stars.len(),
                stars.len().div_ceil(BIN)
            ));
        }
        let history = history(snapshot)?;
        if history
            .records
            .last()
            .is_some_and(|last| last.steps > past.steps)
        {
            return Err(format!(
                "a line `{RECORD}` is of a later step than `{PAST}`"
            ));
        }
        Ok(Some(Self {
            settings,
            past,
            units: galaxy.known_units(),
            model: snapshot.value(MODEL).unwrap_or("Snapshot").to_owned(),
            history,
            told: Told::of(TOLD, snapshot),
            streams,
            stars,
        }))
    }
}

/// What has happened, as the lines of `snapshot` tell.
fn past(snapshot: &Snapshot) -> Result<Past, String> {
    let missing = |key: &str| format!("the line `{key}` is missing");
    let mut line = Line::of(snapshot, PAST).ok_or_else(|| missing(PAST))?;
    let mut past = Past {
        time: line.word()?,
        steps: line.word()?,
        n0: line.word()?,
        energy0: line.word()?,
        relaxation_time0: line.word()?,
        ledger: Ledger::default(),
        binaries: binaries(snapshot)?,
        remnants: remnants(snapshot)?,
    };
    let finite = past.time.is_finite() && past.energy0 < 0.0 && past.relaxation_time0 > 0.0;
    if !finite {
        return line.refuse();
    }
    line.end()?;
    let mut line = Line::of(snapshot, LEDGER).ok_or_else(|| missing(LEDGER))?;
    past.ledger = Ledger {
        escapers: line.word()?,
        escaped_mass: line.word()?,
        escaped: line.word()?,
        collided: line.word()?,
        shared: line.word()?,
        ..Ledger::default()
    };
    line.end()?;
    if let Some(mut line) = Line::of(snapshot, BINARIES) {
        past.ledger.formed = line.word()?;
        past.ledger.encounters = line.word()?;
        past.ledger.binaries_escaped = line.word()?;
        past.ledger.binding_escaped = line.word()?;
        // A run that began before there were other binaries than those of three stars has no more.
        if line.clone().end().is_err() {
            past.ledger.dissolved = line.word()?;
            past.ledger.primordial = line.word()?;
        }
    }
    Ok(past)
}

/// Stellar evolution, and the energy and mass that were lost by it.
fn evolution(snapshot: &Snapshot) -> Result<(Option<Evolution>, [f64; 2]), String> {
    let Some(mut line) = Line::of(snapshot, EVOLUTION) else {
        return Ok((None, [0.0; 2]));
    };
    let evolution = Evolution {
        metallicity: line.word()?,
        mass: line.word()?,
        time: line.word()?,
    };
    let lost = [line.word()?, line.word()?];
    line.end()?;
    Ok((Some(evolution), lost))
}

/// The labels of the stars that have ended, in order.
fn remnants(snapshot: &Snapshot) -> Result<Vec<u64>, String> {
    let mut labels = Vec::new();
    for value in snapshot.values(REMNANTS) {
        labels.extend(Line::new(REMNANTS, value).rest::<u64>()?);
    }
    labels.sort_unstable();
    Ok(labels)
}

/// Names of the kinds of binaries, and whether there are primordial ones and those of three stars.
const KINDS: [(&str, [bool; 2]); 3] = [
    ("three-body", [false, true]),
    ("primordial", [true, false]),
    ("both", [true, true]),
];

/// Whether there are binaries from the start, and whether three stars can form one.
fn kinds(snapshot: &Snapshot) -> Result<[bool; 2], String> {
    let Some(line) = Line::of(snapshot, BINARIES) else {
        return Ok([false; 2]);
    };
    let words = line.clone().rest::<String>()?;
    let kind = match words.len() {
        4 => KINDS[0].0,
        7 => words[6].as_str(),
        _ => return line.refuse(),
    };
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    found.map_or_else(|| line.refuse(), |(_, kinds)| Ok(*kinds))
}

fn body(stars: &Stars, k: usize) -> Body {
    Body {
        index: i32::try_from(stars.id[k]).expect("labels are below 2^31"),
        mass: stars.m[k],
        x: [stars.r[k], 0.0, 0.0],
        v: [stars.vr[k], stars.vt[k], 0.0],
    }
}

/// The bodies as shells.
fn stars(bodies: &[Body]) -> Result<Stars, String> {
    let mut stars = Stars::default();
    for (k, b) in bodies.iter().enumerate() {
        let is_shell = b.x[1] == 0.0 && b.x[2] == 0.0 && b.v[2] == 0.0;
        let is_allowed = Stars::allows(b.mass, b.x[0], [b.v[0], b.v[1]]);
        if !is_shell || !is_allowed || b.index < 0 {
            return Err(format!(
                "body {} (index {}) is no star of a run: {b:?}",
                k + 1,
                b.index
            ));
        }
        stars.push(
            b.index.unsigned_abs().into(),
            b.mass,
            b.x[0],
            [b.v[0], b.v[1]],
        );
    }
    match repeated(stars.id.clone()) {
        Some(label) => Err(format!("two bodies have the index {label}")),
        None => Ok(stars),
    }
}

/// One of the labels that are there twice.
fn repeated(mut labels: Vec<u64>) -> Option<u64> {
    labels.sort_unstable();
    let mut neighbours = labels.windows(2);
    neighbours
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
}

fn binaries(snapshot: &Snapshot) -> Result<Vec<Binary>, String> {
    let mut binaries = Vec::new();
    for value in snapshot.values(BINARY) {
        let mut line = Line::new(BINARY, value);
        let binary = Binary {
            ids: [line.word()?, line.word()?],
            masses: [line.word()?, line.word()?],
            axis: line.word()?,
            eccentricity: line.word()?,
        };
        if !binary.is_sensible()
            || !snapshot
                .bodies
                .iter()
                .any(|b| u64::try_from(b.index) == Ok(binary.ids[0]))
        {
            return line.refuse();
        }
        line.end()?;
        binaries.push(binary);
    }
    binaries.sort_by_key(|binary| binary.ids[0]);
    let bodies = snapshot.bodies.iter();
    let mut labels: Vec<u64> = bodies.filter_map(|b| b.index.try_into().ok()).collect();
    labels.extend(binaries.iter().map(|binary| binary.ids[1]));
    match repeated(labels) {
        Some(label) => Err(format!("{BINARY}: two stars have the index {label}")),
        None => Ok(binaries),
    }
}

fn tide(snapshot: &Snapshot) -> Result<Option<Tide>, String> {
    let Some(mut line) = Line::of(snapshot, TIDE) else {
        return Ok(None);
    };
    let Some(criterion) = Criterion::named(&line.word::<String>()?) else {
        return line.refuse();
    };
    let tide = Tide {
        criterion,
        radius: line.word()?,
        mass: line.word()?,
    };
    line.end()?;
    Ok(Some(tide))
}

fn streams(snapshot: &Snapshot) -> Result<Vec<Stream>, String> {
    let mut streams = Vec::new();
    for value in snapshot.values(STREAMS) {
        let line = Line::new(STREAMS, value);
        for word in line.clone().rest::<String>()? {
            let half = |part: Option<&str>| u64::from_str_radix(part?, 16).ok();
            let is_state = word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let words = half(word.get(..16)).zip(half(word.get(16..)));
            let words = words.filter(|_| is_state);
            let stream = words.and_then(|(a, b)| Stream::of_words([a, b]));
            streams.push(stream.map_or_else(|| line.refuse(), Ok)?);
        }
    }
    Ok(streams)
}

fn history(snapshot: &Snapshot) -> Result<History, String> {
    let mut history = History::default();
    for value in snapshot.values(RECORD) {
        let line = Line::new(RECORD, value);
        let record = Record::of_numbers(&line.clone().rest::<f64>()?);
        history
            .records
            .push(record.map_or_else(|| line.refuse(), Ok)?);
    }
    for value in snapshot.values(PROFILE) {
        let line = Line::new(PROFILE, value);
        let numbers = line.clone().rest::<f64>()?;
        let Some((t, points)) = numbers.split_first() else {
            return line.refuse();
        };
        let points = points
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[r, rho]| (r, rho))
            .collect();
        history.profiles.push(DensityProfile { t: *t, points });
    }
    Ok(history)
}
