//! The seconds of each phase, in the order of Figure 1.

use std::time::Instant;

use kirin_report::text::{MarkdownTable, digits};

/// The phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Potential.
    Potential,
    /// Time step.
    TimeStep,
    /// Relaxation and collisions ("dynamics").
    Relaxation,
    /// New orbits.
    Orbits,
    /// Sort, and the exchange of stars among the ranks.
    Sort,
    /// Duplicated radii and masses become known to all ranks.
    Synchronisation,
    /// Energy correction.
    Correction,
    /// Diagnostics.
    Diagnostics,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Potential,
        Self::TimeStep,
        Self::Relaxation,
        Self::Orbits,
        Self::Sort,
        Self::Synchronisation,
        Self::Correction,
        Self::Diagnostics,
    ];

    /// What a table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Potential => "potential",
            Self::TimeStep => "time step",
            Self::Relaxation => "relaxation",
            Self::Orbits => "new orbits",
            Self::Sort => "sort",
            Self::Synchronisation => "synchronisation",
            Self::Correction => "energy correction",
            Self::Diagnostics => "diagnostics",
        }
    }
}

/// Seconds of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Profile(pub [f64; Phase::ALL.len()]);

impl Profile {
    /// Runs a phase on the clock.
    pub fn of<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let began = Instant::now();
        let result = work();
        self.0[phase as usize] += began.elapsed().as_secs_f64();
        result
    }

    /// Seconds of each phase a step, and what part of the whole that is: of so many steps of so many stars.
    pub fn table(&self, steps: u64, stars: usize) -> MarkdownTable {
        let (steps, stars) = (steps.max(1) as f64, stars as f64);
        let mut table = MarkdownTable::new(["phase", "s/step", "ns/star", "part"]);
        let total = self.total();
        let mut row = |name: &str, seconds: f64, part: String| {
            let each = seconds / steps;
            let [s, ns] = [each, 1e9 * each / stars].map(digits);
            table.row(vec![name.to_owned(), s, ns, part]);
        };
        for phase in Phase::ALL {
            let seconds = self.0[phase as usize];
            row(
                phase.name(),
                seconds,
                format!("{:.1} %", 100.0 * seconds / total),
            );
        }
        row("all", total, String::new());
        table
    }

    /// All phases together.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}
