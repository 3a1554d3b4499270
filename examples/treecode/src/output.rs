//! The reports of a run: a table, a JSON object, a figure.

use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::number::fraction;
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_report::plot::{Data, Figure, Panel};
use kirin_report::text::{Table, grouped, shares, si, time_split};
use serde_json::{Value, json};

use crate::error::Error;
use crate::forces::Counts;
use crate::integrator::Integrator;
use crate::settings::Settings;

/// The end of a run.
pub struct Report<'a> {
    summary: &'a Summary,
    settings: Settings,
    steps: u64,
    work: Counts,
    forces: ForceFacts,
    ranks: Option<RankFacts>,
    direct_energy_error: Option<(f64, f64)>,
}

/// What several ranks exchange and hold: that of the rank that has most.
struct RankFacts {
    ranks: usize,
    /// Bytes received in a step of this part of the run, diagnostics included.
    received: f64,
    /// Particles of its own, and of others.
    particles: [f64; 2],
    cells: f64,
    /// Least and greatest number of pairs of a rank, in parts of the mean.
    pairs: [f64; 2],
}

impl RankFacts {
    fn of<C: Communicator>(integrator: &Integrator<'_, C>) -> Result<Option<Self>, Error> {
        let ranks = integrator.forces().ranks();
        let (world, held) = (&ranks.world, &ranks.holdings);
        let size = world.size();
        if size == 1 {
            return Ok(None);
        }
        let here = integrator.forces().work_here();
        let (evaluations, pairs) = (here.evaluations.max(1) as f64, here.pairs as f64);
        let mut sum = [pairs];
        let mut most = [
            world.tally().total().bytes as f64 / evaluations,
            held.particles as f64,
            held.foreign as f64,
            held.cells as f64,
            pairs,
            -pairs,
        ];
        world.all_reduce(Operation::Sum, &mut sum)?;
        world.all_reduce(Operation::Max, &mut most)?;
        let mean = sum[0] / size as f64;
        Ok(Some(Self {
            ranks: size,
            received: most[0],
            particles: [most[1], most[2]],
            cells: most[3],
            pairs: [-most[5], most[4]].map(|p| if mean > 0.0 { p / mean } else { 1.0 }),
        }))
    }
}

impl RankFacts {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let whole = |number: f64| grouped(number as u64);
        let [own, foreign] = self.particles.map(whole);
        vec![
            ("ranks", self.ranks.to_string()),
            (
                "of a rank",
                format!(
                    "up to {own} particles, {foreign} of others, {} cells",
                    whole(self.cells)
                ),
            ),
            (
                "received",
                format!("up to {}B by a rank in a step", si(self.received)),
            ),
            (
                "balance",
                format!(
                    "{:.3} to {:.3} of the mean pairs",
                    self.pairs[0], self.pairs[1]
                ),
            ),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "particles": self.particles[0],
            "foreign_particles": self.particles[1],
            "cells": self.cells,
            "bytes_received_per_step": self.received,
            "least_pairs": self.pairs[0],
            "most_pairs": self.pairs[1],
        })
    }
}

impl<'a> Report<'a> {
    /// The report at the end of a run; rank 0 has the bodies. The forces came from `library`. `direct_energy_error` is
    /// the energy error from the sums over all pairs, if they were asked for, and the time since which it counts.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn new<C: Communicator>(
        summary: &'a Summary,
        integrator: &Integrator<'_, C>,
        library: &str,
        direct_energy_error: Option<(f64, f64)>,
    ) -> Result<Self, Error> {
        let (backend, precision) = integrator.forces().description();
        let ranks = RankFacts::of(integrator)?;
        let work = integrator.work()?;
        Ok(Self {
            summary,
            settings: *integrator.settings(),
            steps: integrator.steps(),
            work,
            forces: ForceFacts {
                library: library.to_owned(),
                backend,
                precision,
                pairs: pairs_per_step(&work) * integrator.steps() as f64,
            },
            ranks,
            direct_energy_error,
        })
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let work = &self.work;
        let groups = work.groups.max(1) as f64;
        let per_group = self.summary.n as f64 * work.evaluations as f64 / groups;
        let per_list = work.entries as f64 / groups;
        let mut own = vec![
            self.summary.softening(),
            ("opening angle", self.settings.theta.to_string()),
            ("steps", grouped(self.steps)),
            (
                "group, list",
                format!("{per_group:.0} particles, {per_list:.0} entries on average"),
            ),
            ("pairs per step", format!("{:.4e}", pairs_per_step(work))),
            ("time spent", shares(&work.times.parts())),
        ];
        if let Some(ranks) = &self.ranks {
            own.extend(ranks.rows());
        }
        if let Some((error, since)) = self.direct_energy_error {
            let error = format!("{error:.2e} (energy error since t = {since})");
            own.push(("over all pairs", error));
        }
        self.summary.table(&self.forces, own)
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let work = &self.work;
        let own = json!({
            "steps": self.steps,
            "groups": work.groups,
            "list_entries": work.entries,
            "evaluations": work.evaluations,
            "pairs": work.pairs,
            "pairs_per_step": pairs_per_step(work),
            "time_split": time_split(&work.times.parts()),
            "ranks": self.ranks.as_ref().map_or(1, |facts| facts.ranks),
            "most_of_a_rank": self.ranks.as_ref().map(RankFacts::json),
            "direct_energy_error": self.direct_energy_error.map(|(error, _)| error),
        });
        self.summary.json(&self.forces, &self.settings, own)
    }

    /// Diagnostics over time, where the time of a step goes, and the particles from above.
    pub fn figure(&self) -> Figure {
        let work = &self.work;
        let settings = self.settings;
        let evaluations = work.evaluations.max(1) as f64;
        let bars = work
            .times
            .parts()
            .into_iter()
            .map(|(name, seconds)| (name.to_owned(), 1e3 * seconds / evaluations));
        let split = Panel {
            title: "Milliseconds of a step by what they are spent on".to_owned(),
            y_label: "milliseconds".to_owned(),
            x_label: "part of a step".to_owned(),
            data: Data::Bars(bars.collect()),
            ..Panel::default()
        };
        let words = format!(
            "θ = {}, {}, Δt = {}, groups of up to {}",
            settings.theta,
            match settings.quadrupoles {
                true => "quadrupoles",
                false => "monopoles",
            },
            fraction(settings.dt),
            settings.n_crit
        );
        self.summary.figure(&self.forces, &words, split)
    }
}

/// Mean number of pairs of one evaluation of the forces on everybody.
fn pairs_per_step(work: &Counts) -> f64 {
    work.pairs as f64 / work.evaluations.max(1) as f64
}
