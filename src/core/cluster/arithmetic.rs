//! Chooses the precision of a block, and whether the CPU computes a small one. Keeps one backend for each choice, and
//! makes it when it is first needed.
//!
//! Both choices of `auto`, precision and backend, depend only on the number of j-particles of the call, on the GPUs, and
//! on what was ever [stored](Stored). So the force on a particle still depends on
//! that particle and on the j-particles `0..nj` only.

use super::seat::Seat;
use crate::choice::{self, Rule};
use crate::force::Backend;
use crate::process::settings::{BackendChoice, Devices, Precision, PrecisionChoice, Settings};
use crate::sources::jmemory::JMemory;

/// What was ever stored in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stored {
    /// Masses and positions, or nothing, by calls of GRAPE-6 or GRAPE-5.
    AtRest,
    /// Masses and positions, by arrays: `auto` looks at their number.
    ArraysAtRest,
    /// More than that.
    Moving,
}

/// What is chosen for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    precision: Precision,
    /// Whether the CPU computes although there may be a GPU.
    on_cpu: bool,
}

/// The backend of a choice.
struct Made {
    choice: Choice,
    backend: Box<dyn Backend>,
    /// How many blocks it took.
    blocks: u64,
}

/// The backends of a cluster, and its rule.
#[derive(Default)]
pub(super) struct Arithmetic {
    made: Vec<Made>,
    /// That of the last block.
    current: Option<Choice>,
    /// Whether `auto` lets the CPU compute with few j-particles.
    few_on_cpu: bool,
    /// What the client chose.
    chosen: Option<PrecisionChoice>,
    /// Whether noise has limited the time steps, so that `adaptive` computes in double precision.
    raised: bool,
    /// Once it is known.
    rule: Option<Rule>,
    /// Which GPU of several is the cluster's, once that matters.
    seat: Option<Seat>,
}

impl Arithmetic {
    /// This backend alone.
    #[cfg(test)]
    pub fn only(backend: Box<dyn Backend>) -> Self {
        let precision = backend.precision();
        let choice = Choice {
            precision,
            on_cpu: false,
        };
        Self {
            made: vec![Made {
                choice,
                backend,
                blocks: 0,
            }],
            chosen: Some(PrecisionChoice::Always(precision)),
            ..Self::default()
        }
    }

    /// The backends of a cluster whose blocks the CPU may compute if they have few j-particles.
    pub fn with_few_on_cpu() -> Self {
        Self {
            few_on_cpu: true,
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
            better if self.current.is_some_and(|c| c.precision == better) => Precision::Double,
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

    /// The precision of a block with `nj` j-particles.
    pub fn precision_for(&mut self, settings: &Settings, stored: Stored, nj: usize) -> Precision {
        let choice = self.choice(settings);
        match choice {
            _ if settings.backend == BackendChoice::Reference => Precision::Double,
            PrecisionChoice::Always(precision) => self.taken_for(settings, stored, precision),
            _ if stored == Stored::AtRest => Precision::Mixed,
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

    /// Whether the CPU computes a block with `nj` j-particles, although there is a GPU. Not where the user or the client
    /// names GPUs. Nor where the client chooses the precision: it may have divided its j-particles over several clusters,
    /// whose bits shall not depend on their numbers.
    fn is_for_cpu(&mut self, settings: &Settings, stored: Stored, nj: usize) -> bool {
        self.few_on_cpu
            && stored == Stored::Moving
            && settings.backend == BackendChoice::Auto
            && settings.devices.is_auto()
            && self.chosen.is_none()
            && self.rule(settings).gives_to_cpu(nj)
    }

    /// What computes where `precision` is asked for. Only where that may be another one are the devices looked at.
    fn taken_for(
        &mut self,
        settings: &Settings,
        stored: Stored,
        precision: Precision,
    ) -> Precision {
        match precision {
            Precision::Reduced if stored == Stored::Moving => precision.without_reduced(),
            Precision::DoubleSingle | Precision::Reduced => self.rule(settings).takes(precision),
            Precision::Mixed | Precision::Double | Precision::Single => precision,
        }
    }

    /// The same for every block of the cluster; `None` where it depends on the block.
    fn precision_of_all(&self, settings: &Settings, stored: Stored) -> Option<Precision> {
        match self.choice(settings) {
            _ if settings.backend == BackendChoice::Reference => Some(Precision::Double),
            PrecisionChoice::Always(precision) => Some(match self.rule {
                _ if stored == Stored::Moving && precision == Precision::Reduced => {
                    precision.without_reduced()
                }
                Some(rule) => rule.takes(precision),
                None => precision,
            }),
            _ if stored == Stored::AtRest => Some(Precision::Mixed),
            _ => None,
        }
    }

    /// Whether the cluster is one of the `g6_*` calls.
    pub fn is_of_grape6(&self) -> bool {
        self.few_on_cpu
    }

    /// What computes the next block. A backend sees in `memory` what has changed since it was last asked.
    pub fn next(
        &mut self,
        settings: &Settings,
        stored: Stored,
        nj: usize,
        memory: &mut JMemory,
    ) -> &mut dyn Backend {
        let precision = self.precision_for(settings, stored, nj);
        let on_cpu = self.is_for_cpu(settings, stored, nj);
        let choice = Choice {
            precision: match on_cpu {
                true => precision.without_pairs(),
                false => precision,
            },
            on_cpu,
        };
        if self.current.replace(choice) != Some(choice) && !self.made.is_empty() {
            memory.change_everything();
        }
        let made = self.make(settings, choice);
        made.blocks += 1;
        &mut *made.backend
    }

    /// The last block was none: only lists are wanted.
    pub fn retract(&mut self) {
        let current = self.current;
        let mut made = self.made.iter_mut();
        if let Some(made) = made.find(|made| Some(made.choice) == current) {
            made.blocks -= 1;
        }
    }

    /// What computes the last block, or else the next one.
    pub fn any(&mut self, settings: &Settings) -> &mut dyn Backend {
        let first = self.made.first().map(|made| made.choice);
        let choice = self.current.or(first).unwrap_or_else(|| {
            let asked = self.choice(settings).arithmetic();
            Choice {
                precision: self.taken_for(settings, Stored::AtRest, asked),
                on_cpu: false,
            }
        });
        &mut *self.make(settings, choice).backend
    }

    /// What computed the last block, where it is still there.
    pub fn last(&mut self) -> Option<&mut dyn Backend> {
        let current = self.current?;
        let made = self.made.iter_mut().find(|made| made.choice == current)?;
        Some(&mut *made.backend)
    }

    /// Whether the last block was computed in double precision.
    pub fn is_double(&self) -> bool {
        self.current
            .is_some_and(|choice| choice.precision == Precision::Double)
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

    fn make(&mut self, settings: &Settings, choice: Choice) -> &mut Made {
        let found = self.made.iter().position(|made| made.choice == choice);
        let at = found.unwrap_or_else(|| {
            let mut settings = self.with_devices(settings);
            settings.precision = PrecisionChoice::Always(choice.precision);
            if choice.on_cpu {
                settings.backend = BackendChoice::Cpu;
            }
            self.made.push(Made {
                choice,
                backend: choice::choose(&settings),
                blocks: 0,
            });
            self.made.len() - 1
        });
        &mut self.made[at]
    }

    /// Whether a GPU computes.
    pub fn on_gpu(&self) -> bool {
        self.made.iter().any(|made| made.backend.on_gpu())
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
    pub fn describe(&self, settings: &Settings, stored: Stored) -> String {
        let last = self.current.map(|choice| choice.precision);
        match last.or(self.precision_of_all(settings, stored)) {
            Some(precision) => precision.to_string(),
            None => self.choice(settings).to_string(),
        }
    }

    /// The backends and the precisions of all blocks in words, for the statistics.
    pub fn summary(&self, settings: &Settings, stored: Stored) -> String {
        let name = |on_cpu| {
            let made = self.made.iter().find(|made| made.choice.on_cpu == on_cpu);
            made.map(|made| made.backend.name())
        };
        let all = self.blocks(|_| true);
        let name = match (name(true), name(false)) {
            (None, None) => return "none".to_owned(),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(few), Some(others)) => {
                let on_cpu = self.blocks(|choice| choice.on_cpu);
                format!("{few} in {on_cpu} of {all} blocks, else {others}")
            }
        };
        let precision = match self.precision_of_all(settings, stored) {
            Some(precision) => self.precisions(precision),
            None => format!(
                "{}: {} in {} of {all} blocks",
                self.choice(settings),
                self.rule.map_or(Precision::Double, |rule| rule.better),
                self.blocks(|choice| {
                    use Precision::{Double, DoubleSingle};
                    matches!(choice.precision, Double | DoubleSingle)
                })
            ),
        };
        format!("{name}, precision {precision}")
    }

    /// The precision of all blocks in words, or those that were chosen in turn; without blocks `next`.
    fn precisions(&self, next: Precision) -> String {
        let mut used: Vec<(Precision, u64)> = Vec::new();
        for made in self.made.iter().filter(|made| made.blocks > 0) {
            match used.iter_mut().find(|(p, _)| *p == made.choice.precision) {
                Some((_, blocks)) => *blocks += made.blocks,
                None => used.push((made.choice.precision, made.blocks)),
            }
        }
        match used[..] {
            [] => next.to_string(),
            [(precision, _)] => precision.to_string(),
            _ => {
                let words: Vec<String> = used
                    .iter()
                    .map(|(p, blocks)| format!("{p} in {blocks}"))
                    .collect();
                format!("{} of {} blocks", words.join(", "), self.blocks(|_| true))
            }
        }
    }

    /// How many blocks had such a choice.
    fn blocks(&self, such: impl Fn(Choice) -> bool) -> u64 {
        let made = self.made.iter().filter(|made| such(made.choice));
        made.map(|made| made.blocks).sum()
    }

    /// A sum over the backends.
    pub fn sum(&self, part: impl Fn(&dyn Backend) -> u64) -> u64 {
        self.made.iter().map(|made| part(&*made.backend)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_computes_few_moving_j_particles_unless_others_are_asked_for() {
        let rule = Rule {
            up_to: 1024,
            better: Precision::DoubleSingle,
            on_gpu: true,
            on_cpu_up_to: 512,
        };
        let of = |arithmetic: Arithmetic| Arithmetic {
            rule: Some(rule),
            ..arithmetic
        };
        let mut few = of(Arithmetic::with_few_on_cpu());
        let auto = Settings::default();
        assert!(few.is_for_cpu(&auto, Stored::Moving, 512));
        assert!(!few.is_for_cpu(&auto, Stored::Moving, 513));
        assert!(!few.is_for_cpu(&auto, Stored::AtRest, 512));
        assert!(!of(Arithmetic::default()).is_for_cpu(&auto, Stored::Moving, 512));
        let no_gpu = Rule {
            on_gpu: false,
            ..rule
        };
        let mut alone = Arithmetic {
            rule: Some(no_gpu),
            ..Arithmetic::with_few_on_cpu()
        };
        assert!(!alone.is_for_cpu(&auto, Stored::Moving, 0));
        let cuda = Settings {
            backend: BackendChoice::Cuda,
            ..Settings::default()
        };
        let named = Settings {
            devices: Devices::These(vec![0]),
            ..Settings::default()
        };
        for settings in [cuda, named] {
            assert!(
                !few.is_for_cpu(&settings, Stored::Moving, 512),
                "{settings:?}"
            );
        }
        few.choose(PrecisionChoice::Auto);
        assert!(!few.is_for_cpu(&auto, Stored::Moving, 512));
    }
}
