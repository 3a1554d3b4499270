//! Whole steps on a GPU: the integrator's part.

use std::time::Instant;

use kirin_device::Failure;
use kirin_kit::command::Device;

use super::{Integrator, Past};
use crate::error::Error;
use crate::phase_space::PhaseSpace;
use crate::resident::Pairs;
use crate::resident::steps::{Resident, Seen};

/// The stars come back after so many steps: so many the processor takes again if the GPU fails.
const MOST_AHEAD: usize = 64;

/// A step that a GPU has taken since the stars were here.
pub(super) struct Ahead {
    /// Its length and its end.
    h: f64,
    end: f64,
    /// How it was before.
    time: f64,
    clock_of_forces: f64,
    past: Past,
}

impl Integrator<'_> {
    /// Chooses where the forces of the pairs come from, and computes them anew if that is another place.
    ///
    /// # Errors
    ///
    /// Whatever goes wrong with the forces.
    pub fn use_pairs(&mut self, pairs: Pairs) -> Result<(), Error> {
        if pairs == self.pairs {
            return Ok(());
        }
        let past = self.past;
        self.pairs = pairs;
        let found = self.find_forces();
        self.past = past;
        found
    }

    /// Chooses where whole steps are computed.
    pub(super) fn stay_on_device(&mut self, device: Device) -> Result<(), Error> {
        self.bring_back()?;
        self.resident = None;
        let obstacle = match (&self.state, &self.encounters) {
            (PhaseSpace::Exact { .. }, _) => {
                Some("fixed point (--bits exact) is for the processor")
            }
            (_, Some(_)) => Some(
                "close encounters, which are part of the drift, are for the processor (--changeover none)",
            ),
            _ => None,
        };
        let is_wanted = match device {
            Device::Cpu => false,
            Device::Gpu => true,
            Device::Auto => self.library_is_on_gpu(),
        };
        if !is_wanted || self.labels.is_empty() {
            return Ok(());
        }
        let made = match obstacle {
            Some(why) => Err(why.to_owned()),
            None => Resident::new(
                &self.masses,
                self.settings.eps,
                &self.settings.galaxy,
                &self.moment,
            ),
        };
        match made {
            Ok(resident) => {
                self.resident = Some(resident);
                self.send();
                Ok(())
            }
            Err(why) if device == Device::Gpu => {
                Err(Error::Refused(format!("--device gpu: {why}")))
            }
            Err(why) => {
                eprintln!("symplectic: the processor takes the steps: {why}");
                Ok(())
            }
        }
    }

    /// Sends the stars to the GPU, if it takes the steps.
    pub(super) fn send(&mut self) {
        let (Some(resident), PhaseSpace::Double { x, v }) = (&mut self.resident, &self.state)
        else {
            return;
        };
        if let Err(why) = resident.send((x, v), &self.past.balance, &self.moment) {
            self.give_steps_up(&why);
        }
    }

    fn give_steps_up(&mut self, why: &Failure) {
        eprintln!("symplectic: the processor goes on with the steps, as the GPU failed: {why}");
        self.resident = None;
    }

    /// Whether the stars are here.
    pub(super) fn is_here(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Takes a step of length `h` on the GPU, which ends at `end`. The stars come back at the end of the run.
    pub(super) fn step_there(&mut self, h: f64, end: f64, t_end: f64) -> Result<(), Error> {
        let began = Instant::now();
        self.ahead.push(Ahead {
            h,
            end,
            time: self.time,
            clock_of_forces: self.clock_of_forces,
            past: self.past,
        });
        if let Err(why) = self.queue_step(h, end) {
            self.give_steps_up(&why);
            return self.step_again();
        }
        self.has_come_to(end);
        self.past.work.times.force += began.elapsed();
        let is_last = self.past.grid.next(end, self.settings.dt, t_end).is_none();
        match is_last || self.ahead.len() >= MOST_AHEAD {
            true => self.bring_back(),
            false => Ok(()),
        }
    }

    /// Queues the kicks, drifts and forces of a step that ends at `end`.
    fn queue_step(&mut self, h: f64, end: f64) -> Result<(), Failure> {
        let galaxy = &self.settings.galaxy;
        let stages = self.table.evaluations();
        for stage in 0..stages {
            let drift = self.table.drifts[stage] * h;
            let clock = self.clock_after(stage, drift, end);
            let Some(resident) = &mut self.resident else {
                return Ok(());
            };
            resident.drift(self.table.kicks[stage] * h, drift)?;
            self.clock = clock;
            if galaxy.changes() {
                self.moment = galaxy.at(self.clock);
            }
            resident.find_forces(&self.moment)?;
            self.clock_of_forces = self.clock;
            self.past.work.evaluations += 1;
            self.past.work.pairs += (self.masses.len() as u64).pow(2);
        }
        match &mut self.resident {
            Some(resident) => resident.kick(self.table.kicks[stages] * h),
            None => Ok(()),
        }
    }

    /// Brings the stars back from a GPU that takes the steps. If it has failed, or a force is no finite number, the
    /// processor repeats all steps since the stars were on the host last.
    ///
    /// # Errors
    ///
    /// Those of one of these steps. All stars are then where they were before it.
    pub fn bring_back(&mut self) -> Result<(), Error> {
        let (Some(resident), false) = (&mut self.resident, self.ahead.is_empty()) else {
            return Ok(());
        };
        let began = Instant::now();
        match (resident.read(), &mut self.state) {
            (Ok(Some(seen)), PhaseSpace::Double { x, v }) => {
                let Seen {
                    x: there,
                    v: fast,
                    pot,
                    impulse,
                    gain,
                } = seen;
                x.copy_from_slice(there);
                v.copy_from_slice(fast);
                self.pot.copy_from_slice(pot);
                (self.past.balance.impulse, self.past.balance.gain) = (impulse, gain);
                self.ahead.clear();
                self.past.work.times.transfer += began.elapsed();
                Ok(())
            }
            (Err(why), _) => {
                self.give_steps_up(&why);
                self.step_again()
            }
            // The GPU knows neither the step nor the star: the processor repeats the steps and finds both.
            (Ok(_), _) => {
                self.resident = None;
                self.step_again()
            }
        }
    }

    /// Takes the steps again that the GPU has taken since the stars were here.
    fn step_again(&mut self) -> Result<(), Error> {
        let ahead = std::mem::take(&mut self.ahead);
        if let Some(first) = ahead.first() {
            self.clock = first.clock_of_forces;
            self.look();
            self.find_forces()?;
            (self.past, self.time, self.clock) = (first.past, first.time, first.time);
        }
        ahead
            .into_iter()
            .try_for_each(|step| self.step_here(step.h, step.end))
    }
}
