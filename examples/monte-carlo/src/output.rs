//! The result of a run: a table, JSON, and Figures 3, 4 and 5 of the paper.

use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::counted::Tally;
use kirin_kit::galaxy::Units;
use kirin_kit::history::length_axis;
use kirin_kit::settings::choice;
use kirin_report::plot::{Curve, Figure, Panel, Scale};
use kirin_report::text::{Table, digits, duration, grouped};
use serde_json::{Value, json};

use crate::diagnostics::FRACTIONS;
use crate::error::Error;
use crate::evolution::Tracks;
use crate::history::{DensityProfile, History, Record};
use crate::profile::{Phase, Profile};
use crate::session::{Ending, Run};
use crate::settings::Settings;
use crate::slopes::{self, collapse_slope, tail_slope};

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What the cluster was at the start.
    pub model: String,
    /// The units of the stars, where they are known.
    pub units: Option<Units>,
    /// What determined the run.
    pub settings: Settings,
    /// What was recorded.
    pub history: History,
    /// The cluster at the end.
    pub last: Record,
    /// Number of stars, and half-mass relaxation time in N-body units, at the start.
    pub start: (usize, f64),
    /// Number of escapers.
    pub escapers: u64,
    /// Binaries now, formed, escaped and dissolved, and their encounters.
    pub binaries: [u64; 5],
    /// Stars that have ended, and the mass that they have lost.
    pub evolved: (usize, f64),
    /// Mass of the stars that the black hole has taken.
    pub taken_mass: f64,
    /// Mean mass of the stars at the start of a run with a black hole or collisions.
    pub mean_mass0: f64,
    /// Binding energy that binaries have gained, escapers included.
    pub released: f64,
    /// Why it ended.
    pub ending: Ending,
    /// Steps of this part of the run, and their wall time.
    pub steps: u64,
    /// Seconds of the steps.
    pub seconds: f64,
    /// The GPU, if one was used, and the steps of this part that it has taken.
    pub device: Option<(String, u64)>,
    /// Ranks, and threads of each.
    pub ranks: (usize, usize),
    /// Seconds of each phase on rank 0.
    pub profile: Profile,
    /// What rank 0 has received.
    pub tally: Tally,
    /// Bytes of memory of rank 0's process per star of all ranks, at its largest.
    pub bytes_per_star: Option<f64>,
}

impl Summary {
    /// The end of `run`.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn of<C: Communicator>(run: &Run<C>, ending: Ending) -> Result<Self, Error> {
        let cluster = &run.cluster;
        Ok(Self {
            model: run.model.clone(),
            units: run.units,
            settings: cluster.settings,
            history: run.history.clone(),
            last: Record::of(cluster),
            start: (cluster.past.n0, cluster.past.relaxation_time0),
            escapers: cluster.past.ledger.escapers,
            binaries: [
                cluster.past.binaries.len() as u64,
                cluster.past.ledger.formed,
                cluster.past.ledger.binaries_escaped,
                cluster.past.ledger.dissolved,
                cluster.past.ledger.encounters,
            ],
            evolved: (
                cluster.past.remnants.len(),
                cluster.past.ledger.evolved_mass,
            ),
            taken_mass: cluster.past.ledger.taken_mass,
            mean_mass0: cluster.past.mean_mass0,
            released: cluster.released(),
            ending,
            steps: cluster.past.steps - run.steps_before,
            seconds: run.seconds,
            device: cluster.device.clone(),
            ranks: (cluster.world.size(), rayon::current_num_threads()),
            profile: cluster.profile,
            tally: cluster.world.tally(),
            bytes_per_star: peak_memory().map(|bytes| bytes / cluster.n() as f64),
        })
    }

    /// Largest energy error of all records.
    pub fn worst_energy_error(&self) -> f64 {
        let errors = self.history.records.iter().map(|r| r.energy_error);
        errors.fold(self.last.energy_error, f64::max)
    }

    /// The figures for people.
    pub fn text(&self, profile: bool) -> String {
        let (last, (n0, t_rh)) = (&self.last, self.start);
        let mut table = Table::default();
        table
            .row(
                "model",
                format!("{}, {} stars", self.model, grouped(n0 as u64)),
            )
            .row(
                "relaxation time",
                format!("{}{} at the start", digits(t_rh), self.myr(t_rh)),
            )
            .row(
                "time",
                format!(
                    "{:.4} initial relaxation times{} ({})",
                    last.t,
                    self.myr(last.time),
                    self.ending.words()
                ),
            )
            .row("steps", grouped(last.steps))
            .row(
                "stars left",
                format!(
                    "{}, {} escaped",
                    grouped(last.n as u64),
                    grouped(self.escapers)
                ),
            )
            .row(
                "core radius",
                format!(
                    "{} ({} stars)",
                    self.length(last.core_radius),
                    last.core_stars
                ),
            )
            .row("core density", self.density(last.core_density))
            .row("half-mass radius", self.length(last.half_mass()))
            .row(
                "energy error",
                format!(
                    "{:.1e}, at most {:.1e}",
                    last.energy_error,
                    self.worst_energy_error()
                ),
            );
        if let Some(units) = &self.units {
            table.row("units", units.to_string());
        }
        self.rows_of_options(&mut table);
        if let Some(slope) = collapse_slope(&self.history.records) {
            table.row(
                "d log rho_c / d log r_c",
                format!("{slope:.3} near collapse, {} published", slopes::COLLAPSE),
            );
        }
        if let Some(slope) = tail_slope(&self.history) {
            let words = format!("{slope:.3} outside the core, {} published", slopes::TAIL);
            table.row("d log rho / d log r", words);
        }
        let per_step = self.seconds / self.steps.max(1) as f64;
        table
            .row(
                "ranks",
                format!(
                    "{} of {} threads, steps on {}",
                    self.ranks.0,
                    self.ranks.1,
                    self.device_in_words()
                ),
            )
            .row(
                "wall time",
                format!("{}, {} s a step", duration(self.seconds), digits(per_step)),
            );
        if let Some(bytes) = self.bytes_per_star {
            table.row("memory", format!("{bytes:.0} bytes a star at most"));
        }
        let mut text = table.to_string();
        if profile {
            text.push_str(&format!(
                "\n{}",
                self.profile.table(self.steps, self.last.n)
            ));
        }
        text
    }

    /// Where the steps were computed.
    fn device_in_words(&self) -> String {
        match &self.device {
            Some((device, steps)) if *steps == self.steps && *steps > 0 => device.clone(),
            Some((device, steps)) if *steps > 0 => {
                format!("{device} ({steps} of {})", self.steps)
            }
            _ => "cpu".to_owned(),
        }
    }

    /// A time in Myr, in brackets; nothing where the units are not known.
    fn myr(&self, time: f64) -> String {
        self.units.map_or_else(String::new, |units| {
            format!(" ({:.4} Myr)", time * units.time())
        })
    }

    /// A length, also in pc where the units are known.
    fn length(&self, length: f64) -> String {
        match &self.units {
            Some(units) => format!("{} ({} pc)", digits(length), digits(length * units.length)),
            None => digits(length),
        }
    }

    /// A mass, also in solar masses where the units are known.
    fn mass(&self, mass: f64) -> String {
        match &self.units {
            Some(units) => format!("{} ({} Msun)", digits(mass), digits(mass * units.mass)),
            None => digits(mass),
        }
    }

    /// A density, also in solar masses per cubic parsec where the units are known.
    fn density(&self, density: f64) -> String {
        match &self.units {
            Some(units) => {
                let solar = digits(density * units.density());
                format!("{} ({solar} Msun/pc^3)", digits(density))
            }
            None => digits(density),
        }
    }

    /// Collisions, binaries, stellar evolution, the tidal field and the black hole.
    fn rows_of_options(&self, table: &mut Table) {
        let last = &self.last;
        if self.settings.radius > 0.0 {
            table.row("mergers", grouped(last.mergers));
            if let Some((mass, mergers, label)) = self.largest_merged() {
                let words = format!(
                    "mass {}, {} of the mean at the start; {} mergers, label {label}",
                    self.mass(mass),
                    digits(mass / self.mean_mass0),
                    grouped(mergers)
                );
                table.row("largest merged star", words);
            }
        }
        if self.settings.has_binaries() {
            let [now, formed, escaped, dissolved, encounters] = self.binaries;
            let words = format!(
                "{now}, {formed} formed, {escaped} escaped, {dissolved} dissolved, {encounters} encounters"
            );
            table.row("binaries", words);
            table.row(
                "their binding energy",
                format!(
                    "{} more than at the start, escapers included",
                    digits(self.released)
                ),
            );
        }
        if let Some(evolution) = self.settings.evolution {
            let (ended, lost) = self.evolved;
            let age = last.time * evolution.time;
            let tracks = Tracks::new(evolution.metallicity);
            let turn_off = evolution.turn_off(&tracks, last.time) * evolution.mass;
            table.row(
                "stellar evolution",
                format!(
                    "{} stars have ended and lost the mass {}; turn-off {} Msun at {} Myr",
                    grouped(ended as u64),
                    self.mass(lost),
                    digits(turn_off),
                    digits(age)
                ),
            );
        }
        if let Some(tide) = self.settings.tide {
            let now = last.tidal_radius;
            let words = format!(
                "{}, {} at the start ({})",
                self.length(now),
                self.length(tide.radius),
                tide.criterion.name()
            );
            table.row("tidal radius", words);
        }
        if let Some(hole) = self.settings.black_hole {
            let (mass, influence) = (last.black_hole_mass, last.influence_radius);
            let influence = match influence.is_finite() {
                true => format!("to {}", self.length(influence)),
                false => "beyond all stars".to_owned(),
            };
            table.row(
                "black hole",
                format!(
                    "mass {}, {} at the start; influence {influence}",
                    self.mass(mass),
                    self.mass(hole.mass)
                ),
            );
            table.row(
                "stars taken",
                format!(
                    "{}, mass {}, energy {}",
                    grouped(last.taken),
                    self.mass(self.taken_mass),
                    digits(last.taken_energy)
                ),
            );
        }
    }

    /// Mass, number of mergers and label of the heaviest star that has grown by mergers.
    fn largest_merged(&self) -> Option<(f64, u64, u64)> {
        let last = &self.last;
        Some((
            last.largest_mass?,
            last.largest_mergers?,
            last.largest_label?,
        ))
    }

    /// The figures for programs.
    pub fn json(&self) -> Value {
        let phases: serde_json::Map<String, Value> = Phase::ALL
            .into_iter()
            .map(|phase| {
                (
                    phase.name().to_owned(),
                    self.profile.0[phase as usize].into(),
                )
            })
            .collect();
        json!({
            "model": self.model,
            "units": self.units.as_ref().map(Units::json),
            "seed": self.settings.seed,
            "theta_max": self.settings.theta_max,
            "encounters": self.settings.encounters,
            "gamma": self.settings.gamma,
            "stellar_radius": self.settings.radius,
            "mergers": self.last.mergers,
            "largest_merged": self.largest_merged().map(|(mass, mergers, label)| json!({
                "mass": mass,
                "mergers": mergers,
                "label": label,
            })),
            "binaries": {
                "now": self.binaries[0],
                "formed": self.binaries[1],
                "escaped": self.binaries[2],
                "dissolved": self.binaries[3],
                "encounters": self.binaries[4],
                "binding_energy": self.released,
            },
            "stellar_evolution": self.settings.evolution.map(|evolution| json!({
                "metallicity": evolution.metallicity,
                "ended": self.evolved.0,
                "lost_mass": self.evolved.1,
            })),
            "black_hole": self.settings.black_hole.map(|hole| json!({
                "mass0": hole.mass,
                "mass": self.last.black_hole_mass,
                "law": choice::name(&hole.law),
                "radius": hole.radius,
                "accreted_fraction": hole.accreted,
                "influence_radius": self.last.influence_radius,
                "taken": self.last.taken,
                "taken_mass": self.taken_mass,
                "taken_energy": self.last.taken_energy,
            })),
            "tidal_boundary": self.settings.tide.map(|tide| tide.criterion.name()),
            "tidal_radius0": self.settings.tide.map(|tide| tide.radius),
            "tidal_radius": self.settings.tide.map(|_| self.last.tidal_radius),
            "n0": self.start.0,
            "relaxation_time0": self.start.1,
            "ending": self.ending.words(),
            "escapers": self.escapers,
            "worst_energy_error": self.worst_energy_error(),
            "collapse_slope": collapse_slope(&self.history.records),
            "tail_slope": tail_slope(&self.history),
            "steps": self.steps,
            "seconds": self.seconds,
            "ranks": self.ranks.0,
            "threads": self.ranks.1,
            "device": self.device_in_words(),
            "bytes_per_star": self.bytes_per_star,
            "phases": phases,
            "messages": self.tally.json(),
            "mass_fractions": FRACTIONS,
            "last": self.last.json(),
            "records": self.history.records.iter().map(Record::json).collect::<Vec<_>>(),
        })
    }

    /// Figures 3, 4 and 5 of the paper, and the Lagrangian radii.
    pub fn figure(&self) -> Figure {
        let Settings {
            theta_max,
            gamma,
            seed,
            ..
        } = self.settings;
        figure(
            format!("{} of {} stars", self.model, grouped(self.start.0 as u64)),
            format!(
                "θ_max = {theta_max}, γ = {gamma}, seed {seed}; {} steps to t = {:.3} t_rh{}",
                self.last.steps,
                self.last.t,
                self.myr(self.last.time)
            ),
            &[("", &self.history)],
            self.units.as_ref(),
        )
    }
}

/// Figures 3, 4 and 5 of several runs; density profiles of the last one. Lagrangian radii are in pc where the units are known.
pub fn figure(
    title: String,
    subtitle: String,
    runs: &[(&str, &History)],
    units: Option<&Units>,
) -> Figure {
    let (parsecs, radius) = length_axis("radius", units);
    let curves = |point: fn(&Record) -> (f64, f64)| -> Vec<Curve> {
        let curve = |(label, history): &(&str, &History)| Curve {
            label: (*label).to_owned(),
            points: history.records.iter().map(point).collect(),
            ..Curve::default()
        };
        runs.iter().map(curve).collect()
    };
    let over_time = |title: &str, curves| Panel {
        x_label: "time in initial half-mass relaxation times".to_owned(),
        ..Panel::over_time(title, Scale::Logarithmic, curves)
    };
    let last = runs.last().map(|(_, history)| *history);
    let profiles = last.map_or(&[][..], |history| &history.profiles);
    let of_profile = |profile: &DensityProfile| Curve {
        label: format!("{:.2}", profile.t),
        points: profile.points.clone(),
        ..Curve::default()
    };
    let records = last.map_or(&[][..], |history| &history.records);
    let radii = |f: usize| Curve {
        label: format!("{:.0} %", 100.0 * FRACTIONS[f]),
        points: records
            .iter()
            .map(|r| (r.t, parsecs * r.radii[f]))
            .collect(),
        ..Curve::default()
    };
    Figure {
        title,
        subtitle,
        columns: vec![
            vec![
                over_time(
                    "Core radius (Pattabiraman+ 2013, Figure 3)",
                    curves(|r| (r.t, r.core_radius / r.half_mass())),
                )
                .with_y("r_c / r_h"),
                over_time(
                    "Core density (Pattabiraman+ 2013, Figure 3)",
                    curves(|r| (r.t, r.core_density)),
                )
                .with_y("core density"),
            ],
            vec![
                Panel::logarithmic(
                    "Density (Pattabiraman+ 2013, Figure 4)",
                    "radius",
                    [
                        profiles.iter().map(of_profile).collect::<Vec<_>>(),
                        last.and_then(slopes::tail_line).into_iter().collect(),
                    ]
                    .concat(),
                )
                .with_y("density"),
                Panel::logarithmic(
                    "Core density (Pattabiraman+ 2013, Figure 5)",
                    "core radius",
                    [
                        curves(|r| (r.core_radius, r.core_density)),
                        slopes::collapse_line(records).into_iter().collect(),
                    ]
                    .concat(),
                )
                .with_y("core density"),
            ],
            vec![
                over_time(
                    "Lagrangian radii",
                    (0..FRACTIONS.len()).map(radii).collect(),
                )
                .with_y(&radius),
                over_time("Energy error", curves(|r| (r.t, r.energy_error))).with_y("|ΔE / E₀|"),
            ],
        ],
    }
}

/// Bytes of memory that this process had at most; Linux only.
fn peak_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kilobytes)
}
