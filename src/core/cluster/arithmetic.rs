//! Chooses the precision of a block, and keeps one backend for each precision. A backend is made when it is first
//! needed.
//!
//! `auto` looks only at the number of j-particles of the call, at the backend, and at whether j-particles were ever
//! stored with more than a mass and a position. So the force on a particle still depends on that particle and on the
//! j-particles `0..nj` only.

use super::seat::Seat;
use crate::choice::{self, Rule};
use crate::force::Backend;
use crate::process::settings::{BackendChoice, Devices, Precision, PrecisionChoice, Settings};
use crate::sources::jmemory::JMemory;

/// The backends of a cluster, and its rule.
#[derive(Default)]
pub(super) struct Arithmetic {
    /// By precision.
    made: Vec<(Precision, Box<dyn Backend>)>,
    /// That of the last block.
    current: Option<Precision>,
    /// What the client chose.
    chosen: Option<PrecisionChoice>,
    /// Whether noise has limited the time steps, so that `adaptive` computes in double precision.
    raised: bool,
    /// Once it is known.
    rule: Option<Rule>,
    /// Which GPU of several is the cluster's, once that matters.
    seat: Option<Seat>,
    /// How many blocks took double precision or pairs of singles, and how many another one.
    taken: [u64; 2],
}

impl Arithmetic {
    /// This backend alone.
    #[cfg(test)]
    pub fn only(backend: Box<dyn Backend>) -> Self {
        let precision = backend.precision();
        Self {
            made: vec![(precision, backend)],
            chosen: Some(PrecisionChoice::Always(precision)),
            ..Self::default()
        }
    }

    /// What is in force: the user's word, or else the client's.
    fn choice(&self, settings: &Settings) -> PrecisionChoice {
        match settings.precision {
            always @ PrecisionChoice::Always(_) => always,
            rule => self.chosen.unwrap_or(rule),
        }
    }

    /// What the client chooses, from the next block on.
    pub fn choose(&mut self, choice: PrecisionChoice) {
        self.chosen = Some(choice);
    }

    /// Notes that noise limits the client's time steps. Returns the precision with less noise, and whether later
    /// blocks use it (with `adaptive` only).
    pub fn raise(&mut self, settings: &Settings) -> (Precision, bool) {
        let better = match self.rule(settings).better {
            better if self.current == Some(better) => Precision::Double,
            better => better,
        };
        let is_first = !std::mem::replace(&mut self.raised, true);
        let follows = is_first && self.choice(settings) == PrecisionChoice::Adaptive;
        (better, follows)
    }

    fn rule(&mut self, settings: &Settings) -> Rule {
        let rule = self
            .rule
            .unwrap_or_else(|| Rule::of(&self.with_devices(settings)));
        *self.rule.insert(rule)
    }

    /// The precision of a block with `nj` j-particles, some of which may move if `moving` is set.
    pub fn precision_for(&mut self, settings: &Settings, moving: bool, nj: usize) -> Precision {
        let choice = self.choice(settings);
        match choice {
            _ if settings.backend == BackendChoice::Reference => Precision::Double,
            PrecisionChoice::Always(precision) => self.taken_for(settings, moving, precision),
            _ if !moving => Precision::Mixed,
            _ => {
                let rule = self.rule(settings);
                let is_raised = choice == PrecisionChoice::Adaptive && self.raised;
                match is_raised || nj <= rule.up_to {
                    true => rule.better,
                    false => Precision::Mixed,
                }
            }
        }
    }

    /// What computes where `precision` is asked for. Only where that may be another one are the devices looked at.
    fn taken_for(&mut self, settings: &Settings, moving: bool, precision: Precision) -> Precision {
        match precision {
            Precision::Reduced if moving => precision.without_reduced(),
            Precision::DoubleSingle | Precision::Reduced => self.rule(settings).takes(precision),
            Precision::Mixed | Precision::Double | Precision::Single => precision,
        }
    }

    /// The same for every block of the cluster; `None` where it depends on the block.
    fn precision_of_all(&self, settings: &Settings, moving: bool) -> Option<Precision> {
        match self.choice(settings) {
            _ if settings.backend == BackendChoice::Reference => Some(Precision::Double),
            PrecisionChoice::Always(precision) => Some(match self.rule {
                _ if moving && precision == Precision::Reduced => precision.without_reduced(),
                Some(rule) => rule.takes(precision),
                None => precision,
            }),
            _ if !moving => Some(Precision::Mixed),
            _ => None,
        }
    }

    /// What computes the next block. A backend sees in `memory` what has changed since it was last asked.
    pub fn next(
        &mut self,
        settings: &Settings,
        moving: bool,
        nj: usize,
        memory: &mut JMemory,
    ) -> &mut dyn Backend {
        let precision = self.precision_for(settings, moving, nj);
        if self.current.replace(precision) != Some(precision) && self.made.len() > 1 {
            memory.change_everything();
        }
        let is_better = matches!(precision, Precision::Double | Precision::DoubleSingle);
        self.taken[usize::from(!is_better)] += 1;
        self.make(settings, precision)
    }

    /// What computes the last block, or else the next one.
    pub fn any(&mut self, settings: &Settings) -> &mut dyn Backend {
        let first = self.made.first().map(|(precision, _)| *precision);
        let precision = self.current.or(first).unwrap_or_else(|| {
            let asked = self.choice(settings).arithmetic();
            self.taken_for(settings, false, asked)
        });
        self.make(settings, precision)
    }

    /// What computed the last block, where it is still there.
    pub fn last(&mut self) -> Option<&mut dyn Backend> {
        let (_, backend) = self
            .made
            .iter_mut()
            .find(|(precision, _)| Some(*precision) == self.current)?;
        Some(&mut **backend)
    }

    /// Whether the last block was computed in double precision.
    pub fn is_double(&self) -> bool {
        self.current == Some(Precision::Double)
    }

    /// The settings, with the GPU that is this cluster's where neither the user nor the client named one.
    fn with_devices(&mut self, settings: &Settings) -> Settings {
        let mut settings = settings.clone();
        if settings.backend.may_take_gpu() && settings.devices.is_auto() {
            let seat = self.seat.get_or_insert_with(Seat::take);
            settings.devices = Devices::Auto(seat.number());
        }
        settings
    }

    fn make(&mut self, settings: &Settings, precision: Precision) -> &mut dyn Backend {
        let found = self.made.iter().position(|(p, _)| *p == precision);
        let at = found.unwrap_or_else(|| {
            let settings = Settings {
                precision: PrecisionChoice::Always(precision),
                ..self.with_devices(settings)
            };
            self.made.push((precision, choice::choose(&settings)));
            self.made.len() - 1
        });
        &mut *self.made[at].1
    }

    /// Whether a GPU computes.
    pub fn on_gpu(&self) -> bool {
        self.made.iter().any(|(_, backend)| backend.on_gpu())
    }

    /// Whether a backend was made.
    pub fn is_begun(&self) -> bool {
        !self.made.is_empty()
    }

    /// Asks anew what `auto` takes, since other GPUs are to be used.
    pub fn forget_rule(&mut self) {
        self.rule = None;
    }

    /// Leaves the backends as they are, for ever: threads that are lost have half-changed them.
    pub fn forget_backends(&mut self) {
        std::mem::forget(std::mem::take(&mut self.made));
    }

    /// The precision in words: of the last block, or else what is in force.
    pub fn describe(&self, settings: &Settings, moving: bool) -> String {
        match self.current.or(self.precision_of_all(settings, moving)) {
            Some(precision) => precision.to_string(),
            None => self.choice(settings).to_string(),
        }
    }

    /// The backend and the precisions of all blocks in words, for the statistics.
    pub fn summary(&self, settings: &Settings, moving: bool) -> String {
        let Some((_, backend)) = self.made.first() else {
            return "none".to_owned();
        };
        let precision = match (self.precision_of_all(settings, moving), self.taken) {
            (Some(precision), _) => precision.to_string(),
            (None, [few, others]) => format!(
                "{}: {} in {few} of {} blocks",
                self.choice(settings),
                self.rule.map_or(Precision::Double, |rule| rule.better),
                few + others
            ),
        };
        format!("{}, precision {precision}", backend.name())
    }

    /// A sum over the backends.
    pub fn sum(&self, part: impl Fn(&dyn Backend) -> u64) -> u64 {
        self.made.iter().map(|(_, backend)| part(&**backend)).sum()
    }
}
