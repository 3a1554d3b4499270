//! The state of a run as a snapshot. A run that is read from it continues with the same bits on any number of
//! ranks.
//!
//! ```text
//! monte-carlo.settings THETA_MAX GAMMA RADIUS ENCOUNTERS SEED
//! monte-carlo.tide CRITERION RADIUS MASS          where there is a tidal field
//! monte-carlo.black-hole MASS LAW RADIUS ACCRETED MASS_NOW FEEDING TAKEN TAKEN_MASS TAKEN_ENERGY MEAN_MASS INDEX      where there is one: MASS and MEAN_MASS are those at the start
//! monte-carlo.collisions MEAN_MASS                where stars collide: that at the start
//! monte-carlo.merged LABEL MERGERS LABEL MERGERS ...                   the stars into which others have merged
//! monte-carlo.evolution METALLICITY MASS TIME ENERGY LOST_MASS        where stars evolve: units in solar masses and Myr, and what is lost
//! monte-carlo.remnants LABEL ...                                       the stars that have ended
//! monte-carlo.past TIME STEPS N0 E0 T_RH0
//! monte-carlo.ledger ESCAPERS MASS ENERGY COLLIDED SHARED
//! monte-carlo.binaries FORMED ENCOUNTERS ESCAPED BINDING_ESCAPED DISSOLVED PRIMORDIAL_BINDING KINDS      where there are binaries: three-body, primordial or both
//! monte-carlo.binary LABEL LABEL MASS MASS AXIS ECCENTRICITY           one line for each
//! monte-carlo.model NAME
//! monte-carlo.record T ...        one line for each record: see `history::Record::COLUMNS`
//! monte-carlo.profile T R RHO ... one line for each density profile
//! monte-carlo.told NAME VALUE     an option of the command line
//! galaxy.field none MASS LENGTH 0 0                                    the units in solar masses and pc, where they are known
//! monte-carlo.streams HEX ...     states of the random numbers, 32 digits for each bin
//! ```
//!
//! Stars are concentric shells and have no direction: x is the radius, vx the radial and vy the transverse
//! velocity, in the order of radii.

use std::collections::BTreeMap;

use kirin_kit::galaxy::{Galaxy, Units};
use kirin_kit::run::Told;
use kirin_kit::snapshot::line::{read, refuse, words};
use kirin_kit::{Body, Snapshot};

use serde::{Deserialize, Serialize};

use crate::binaries::Binary;
use crate::black_hole::BlackHole;
use crate::cluster::Past;
use crate::collision::Merged;
use crate::evolution::Evolution;
use crate::history::{History, Record};
use crate::ledger::Ledger;
use crate::partition::BIN;
use crate::random::Stream;
use crate::settings::Settings;
use crate::space::hole_index;
use crate::stars::Stars;

/// A binary, in the snapshots of `hermite --regularize`.
const HERMITES_BINARY: &str = "hermite.binary";
const SETTINGS: &str = "monte-carlo.settings";
const TIDE: &str = "monte-carlo.tide";
const BLACK_HOLE: &str = "monte-carlo.black-hole";
const COLLISIONS: &str = "monte-carlo.collisions";
const MERGED: &str = "monte-carlo.merged";
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

/// The line of the ledger: number, mass and energy of the escapers, what collisions cost, what all have shared.
type Losses = (u64, f64, f64, f64, f64);

/// The line of stellar evolution: the evolution, and the energy and the mass that were lost by it.
type Evolving = (Evolution, f64, f64);

/// The line of a black hole.
#[derive(Serialize, Deserialize)]
struct Hole {
    settings: BlackHole,
    mass: f64,
    /// Mass that it gains in a unit of time.
    feeding: f64,
    /// Number, mass and energy of the stars that it has taken.
    taken: u64,
    taken_mass: f64,
    taken_energy: f64,
    /// Mean mass of the stars at the start. `None` in files of older versions; then it is the mean mass now.
    #[serde(default)]
    mean_mass0: Option<f64>,
    /// Index among the bodies for other programs. `None` in files of older versions; then it is that of a run that begins with these stars.
    #[serde(default)]
    index: Option<i32>,
}

/// The line of all binaries.
#[derive(Serialize, Deserialize)]
struct Binaries {
    formed: u64,
    encounters: u64,
    escaped: u64,
    binding_escaped: f64,
    /// Number of binaries dissolved, binding energy of the binaries at the start, and the kind of binaries. `None` in
    /// files of older versions, in which all binaries form of three stars.
    #[serde(default)]
    of_kind: Option<(u64, f64, String)>,
}

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
        run.extend(past.binaries.iter().map(|binary| (BINARY, words(binary))));
        let records = history.records.iter();
        run.extend(records.map(|r| (RECORD, words(&r.numbers()))));
        let profiles = history.profiles.iter();
        run.extend(profiles.map(|profile| (PROFILE, words(profile))));
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
            run: run
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .chain(told.lines())
                .chain(Galaxy::of_units(self.units).lines())
                .collect(),
            ..Snapshot::default()
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
        let ledger = &past.ledger;
        let losses: Losses = (
            ledger.escapers,
            ledger.escaped_mass,
            ledger.escaped,
            ledger.collided,
            ledger.shared,
        );
        let mut head = vec![
            (SETTINGS, words(settings)),
            (PAST, words(past)),
            (LEDGER, words(&losses)),
            (MODEL, model.clone()),
        ];
        let kinds = [settings.primordial, settings.three_body];
        if let Some((kind, _)) = KINDS.iter().find(|(_, other)| *other == kinds) {
            let binaries = Binaries {
                formed: ledger.formed,
                encounters: ledger.encounters,
                escaped: ledger.binaries_escaped,
                binding_escaped: ledger.binding_escaped,
                of_kind: Some((ledger.dissolved, ledger.primordial, (*kind).to_owned())),
            };
            head.push((BINARIES, words(&binaries)));
        }
        head.extend(settings.evolution.map(|evolution| {
            let line: Evolving = (evolution, ledger.evolved, ledger.evolved_mass);
            (EVOLUTION, words(&line))
        }));
        if settings.radius > 0.0 {
            head.push((COLLISIONS, words(&past.mean_mass0)));
        }
        head.extend(past.merged.chunks(STATES).map(|stars| {
            let stars: Vec<_> = stars.iter().map(|star| (star.id, star.mergers)).collect();
            (MERGED, words(&stars))
        }));
        let remnants = past.remnants.chunks(STATES);
        head.extend(remnants.map(|labels| (REMNANTS, words(&labels))));
        head.extend(settings.tide.map(|tide| (TIDE, words(&tide))));
        head.extend(settings.black_hole.map(|hole| {
            let line = Hole {
                settings: hole,
                mass: past.hole_mass,
                feeding: past.feeding.unwrap_or_default(),
                taken: ledger.taken,
                taken_mass: ledger.taken_mass,
                taken_energy: ledger.taken_energy,
                mean_mass0: Some(past.mean_mass0),
                index: Some(past.hole_index),
            };
            (BLACK_HOLE, words(&line))
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
        let galaxy = Galaxy::of(snapshot)?;
        if Galaxy::is_in(snapshot)? {
            return Err(
                "its bodies move in the field of a galaxy or a black hole, which this program does not have: \
                 --tidal-boundary and --black-hole-mass are its own"
                    .to_owned(),
            );
        }
        let Some(settings) = snapshot.line(SETTINGS)? else {
            if snapshot.value(HERMITES_BINARY).is_some() {
                return Err(format!(
                    "it has binaries (`{HERMITES_BINARY}`), whose stars would be taken one by one with the speeds of their orbits: this program \
                     makes binaries itself (--binary-fraction)"
                ));
            }
            let is_ours = |(key, _): &(String, String)| key.starts_with("monte-carlo.");
            return match snapshot.run.iter().any(is_ours) {
                true => Err(format!("the line `{SETTINGS}` is missing")),
                false => Ok(None),
            };
        };
        let [primordial, three_body] = kinds(snapshot)?;
        let evolving: Option<Evolving> = snapshot.line(EVOLUTION)?;
        let hole: Option<Hole> = snapshot.line(BLACK_HOLE)?;
        let settings = Settings {
            primordial,
            three_body,
            evolution: evolving.map(|(evolution, ..)| evolution),
            tide: snapshot.line(TIDE)?,
            black_hole: hole.as_ref().map(|hole| hole.settings),
            ..settings
        };
        settings.validate().map_err(|e| e.to_string())?;
        let mut past = past(snapshot)?;
        if let Some((_, energy, mass)) = evolving {
            [past.ledger.evolved, past.ledger.evolved_mass] = [energy, mass];
        }
        let stars = stars(&snapshot.bodies)?;
        if let Some(hole) = &hole {
            let mean_mass = stars.m.iter().sum::<f64>() / stars.len().max(1) as f64;
            past.mean_mass0 = hole.mean_mass0.unwrap_or(mean_mass);
            let sizes = [
                hole.settings.mass,
                hole.mass,
                hole.feeding,
                hole.taken_mass,
                past.mean_mass0,
            ];
            if !(hole.mass > 0.0
                && sizes.iter().all(|x| (0.0..=1e100).contains(x))
                && (hole.mean_mass0.is_none() || past.mean_mass0 > 0.0)
                && hole.taken_energy.is_finite())
            {
                return refuse(BLACK_HOLE, snapshot.value(BLACK_HOLE).unwrap_or_default());
            }
            past.hole_mass = hole.mass;
            let of_stars = || hole_index(&stars, &past.binaries);
            past.hole_index = hole.index.unwrap_or_else(of_stars);
            past.feeding = (hole.settings.radius > 0.0).then_some(hole.feeding);
            past.ledger = Ledger {
                taken: hole.taken,
                taken_mass: hole.taken_mass,
                taken_energy: hole.taken_energy,
                ..past.ledger
            };
        }
        if settings.radius > 0.0 {
            let mean_mass = match snapshot.line(COLLISIONS)? {
                Some(mean_mass) => Some(mean_mass),
                None => hole.and_then(|hole| hole.mean_mass0),
            };
            // In files of older versions the radii were by the mean mass of each time. No mass was lost but that of the stars that have left.
            past.mean_mass0 = mean_mass.unwrap_or_else(|| {
                let ledger = &past.ledger;
                let mass = stars.m.iter().sum::<f64>() + ledger.escaped_mass + ledger.taken_mass;
                mass / past.n0.max(1) as f64
            });
            if !(past.mean_mass0 > 0.0 && past.mean_mass0 <= 1e100) {
                return refuse(COLLISIONS, snapshot.value(COLLISIONS).unwrap_or_default());
            }
            past.merged = merged(snapshot, &stars)?;
        }
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
    let mut past = Past {
        binaries: binaries(snapshot)?,
        remnants: remnants(snapshot)?,
        ..snapshot.required(PAST)?
    };
    if !(past.time.is_finite() && past.energy0 < 0.0 && past.relaxation_time0 > 0.0) {
        return refuse(PAST, snapshot.value(PAST).unwrap_or_default());
    }
    let (escapers, escaped_mass, escaped, collided, shared): Losses = snapshot.required(LEDGER)?;
    past.ledger = Ledger {
        escapers,
        escaped_mass,
        escaped,
        collided,
        shared,
        ..Ledger::default()
    };
    if let Some(line) = snapshot.line::<Binaries>(BINARIES)? {
        let (dissolved, primordial, _) = line.of_kind.unwrap_or_default();
        past.ledger = Ledger {
            formed: line.formed,
            encounters: line.encounters,
            binaries_escaped: line.escaped,
            binding_escaped: line.binding_escaped,
            dissolved,
            primordial,
            ..past.ledger
        };
    }
    Ok(past)
}

/// The labels of the stars that have ended, in order.
fn remnants(snapshot: &Snapshot) -> Result<Vec<u64>, String> {
    let mut labels: Vec<u64> = snapshot.lines::<Vec<u64>>(REMNANTS)?.concat();
    labels.sort_unstable();
    Ok(labels)
}

/// The stars into which others have merged, by label. Files of older versions have none of them.
fn merged(snapshot: &Snapshot, stars: &Stars) -> Result<Vec<Merged>, String> {
    let listed: Vec<(u64, u64)> = snapshot.lines::<Vec<_>>(MERGED)?.concat();
    let masses: BTreeMap<u64, f64> = match listed.is_empty() {
        true => BTreeMap::new(),
        false => stars
            .id
            .iter()
            .copied()
            .zip(stars.m.iter().copied())
            .collect(),
    };
    let mut all = Vec::new();
    for (id, mergers) in listed {
        match masses.get(&id) {
            Some(&mass) if mergers > 0 => all.push(Merged { id, mass, mergers }),
            _ => return refuse(MERGED, &format!("{id} {mergers}")),
        }
    }
    all.sort_by_key(|star| star.id);
    match repeated(all.iter().map(|star| star.id).collect()) {
        Some(label) => Err(format!("{MERGED}: the index {label} is there twice")),
        None => Ok(all),
    }
}

/// Names of the kinds of binaries, and whether there are primordial ones and those of three stars.
const KINDS: [(&str, [bool; 2]); 3] = [
    ("three-body", [false, true]),
    ("primordial", [true, false]),
    ("both", [true, true]),
];

/// Whether there are binaries from the start, and whether three stars can form one.
fn kinds(snapshot: &Snapshot) -> Result<[bool; 2], String> {
    let Some(line) = snapshot.line::<Binaries>(BINARIES)? else {
        return Ok([false; 2]);
    };
    let kind = line.of_kind.as_ref().map_or(KINDS[0].0, |(.., kind)| kind);
    match KINDS.iter().find(|(name, _)| *name == kind) {
        Some((_, kinds)) => Ok(*kinds),
        None => refuse(BINARIES, snapshot.value(BINARIES).unwrap_or_default()),
    }
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
    let bodies = snapshot.bodies.iter();
    let mut labels: Vec<u64> = bodies.filter_map(|b| b.index.try_into().ok()).collect();
    labels.sort_unstable();
    let mut binaries = Vec::new();
    for value in snapshot.values(BINARY) {
        let binary: Binary = read(BINARY, value)?;
        if !binary.is_sensible() || labels.binary_search(&binary.ids[0]).is_err() {
            return refuse(BINARY, value);
        }
        binaries.push(binary);
    }
    binaries.sort_by_key(|binary| binary.ids[0]);
    labels.extend(binaries.iter().map(|binary| binary.ids[1]));
    match repeated(labels) {
        Some(label) => Err(format!("{BINARY}: two stars have the index {label}")),
        None => Ok(binaries),
    }
}

fn streams(snapshot: &Snapshot) -> Result<Vec<Stream>, String> {
    let mut streams = Vec::new();
    for value in snapshot.values(STREAMS) {
        for word in value.split_whitespace() {
            let half = |part: Option<&str>| u64::from_str_radix(part?, 16).ok();
            let is_state = word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let words = half(word.get(..16)).zip(half(word.get(16..)));
            let words = words.filter(|_| is_state);
            let stream = words.and_then(|(a, b)| Stream::of_words([a, b]));
            streams.push(stream.map_or_else(|| refuse(STREAMS, value), Ok)?);
        }
    }
    Ok(streams)
}

fn history(snapshot: &Snapshot) -> Result<History, String> {
    let mut records = Vec::new();
    for value in snapshot.values(RECORD) {
        let record = Record::of_numbers(&read::<Vec<f64>>(RECORD, value)?);
        records.push(record.map_or_else(|| refuse(RECORD, value), Ok)?);
    }
    Ok(History {
        records,
        profiles: snapshot.lines(PROFILE)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::black_hole::Law;

    /// Five stars, whose labels are not in order; the mean mass at the start was 1.
    fn state() -> Checkpoint {
        let mut stars = Stars::default();
        for (k, label) in [70, 3, 9, 41, 5].into_iter().enumerate() {
            stars.push(label, 0.5, 0.1 * (k + 1) as f64, [0.0, 0.1]);
        }
        Checkpoint {
            settings: Settings::default(),
            past: Past {
                n0: 5,
                energy0: -0.25,
                relaxation_time0: 1.0,
                mean_mass0: 1.0,
                ..Past::default()
            },
            model: "Plummer".to_owned(),
            units: None,
            history: History::default(),
            told: Told::default(),
            streams: vec![Stream::of_seed(1)],
            stars,
        }
    }

    /// Stars of a state are in the order of radii, and binaries are found by label.
    #[test]
    fn binaries_are_those_of_labels_in_any_order() {
        let mut saved = state();
        saved.settings.three_body = true;
        saved.past.binaries = [[3, 100], [5, 101], [70, 102]]
            .map(|ids| Binary {
                ids,
                masses: [0.25; 2],
                axis: 0.01,
                eccentricity: 0.5,
            })
            .to_vec();
        let read = Checkpoint::of(&saved.snapshot()).unwrap().unwrap();
        assert_eq!(read.past.binaries, saved.past.binaries);
        for ids in [[4, 100], [70, 9], [41, 101]] {
            let mut bad = saved.clone();
            bad.past.binaries[2].ids = ids;
            let why = Checkpoint::of(&bad.snapshot()).unwrap_err();
            assert!(why.contains(BINARY), "{ids:?}: {why}");
        }
    }

    /// Without a line of collisions the mean mass at the start is that of the black hole's line, and without both it is of what the
    /// ledger has.
    #[test]
    fn states_of_older_versions_have_the_mean_mass_at_the_start() {
        let mut saved = state();
        saved.settings.radius = 1e-3;
        let mean_mass = |saved: &Checkpoint, hidden: &[&str]| {
            let mut snapshot = saved.snapshot();
            snapshot
                .run
                .retain(|(key, _)| !hidden.contains(&key.as_str()));
            Checkpoint::of(&snapshot).unwrap().unwrap().past.mean_mass0
        };
        assert_eq!(mean_mass(&saved, &[]), 1.0);
        assert_eq!(mean_mass(&saved, &[COLLISIONS]), 0.5);
        saved.past.hole_mass = 0.1;
        saved.settings.black_hole = Some(BlackHole {
            mass: 0.1,
            law: Law::Capture,
            radius: 0.0,
            accreted: 1.0,
        });
        assert_eq!(mean_mass(&saved, &[]), 1.0);
        assert_eq!(mean_mass(&saved, &[COLLISIONS]), 1.0);
    }
}
