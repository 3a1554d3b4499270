//! The seconds of each phase, in the order of Figure 1.

use std::time::Instant;

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

    /// All phases together.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}
