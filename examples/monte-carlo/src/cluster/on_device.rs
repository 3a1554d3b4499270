//! Steps on a GPU. The stars stay there; [`Cluster::fetch`] brings them back for those who look at them.

use std::time::Instant;

use kirin_core::process::settings::{BackendChoice, settings};
use kirin_device::{Failure, Gpu};
use kirin_kit::command::Device;
use kirin_kit::communicator::Communicator;

use super::dissolution::MANY;
use super::{Cluster, FEWEST};
use crate::device::StarsOnDevice;
use crate::error::Error;
use crate::ledger::Escaper;
use crate::profile::Phase;
use crate::settings::Settings;
use crate::time_step;

/// Stars from which `--device auto` takes a GPU: the launches of a step take as long as some thousand stars do on a processor.
const FEWEST_ON_GPU: usize = 10_000;

/// The stars on a GPU, and whether they have moved since they were fetched.
pub(super) struct OnDevice {
    stars: StarsOnDevice,
    moved: bool,
}

impl<C: Communicator> Cluster<C> {
    /// Chooses where steps are computed from now on. The bits are the same.
    ///
    /// # Errors
    ///
    /// A GPU is asked for, but there is none that can be used, or the run needs what only the processor does.
    pub fn use_device(&mut self, device: Device) -> Result<(), Error> {
        let refuse = |why: &str| Err(Error::Refused(format!("--device gpu: {why}")));
        let objection = self.objection();
        let gpu = match (device, objection) {
            (Device::Gpu, Some(why)) => return refuse(&why),
            (Device::Gpu, None) => Gpu::open(),
            (Device::Auto, None) if self.n() >= FEWEST_ON_GPU && is_welcome() => Gpu::open(),
            _ => return Ok(()),
        };
        let gpu = match gpu {
            Ok(gpu) => gpu,
            Err(why) if device == Device::Gpu => return refuse(&why.to_string()),
            // A machine without a GPU is nothing to tell.
            Err(_) => return Ok(()),
        };
        match StarsOnDevice::new(gpu, &self.stars, &self.streams) {
            Ok(stars) => {
                self.on_device = Some(OnDevice {
                    stars,
                    moved: false,
                });
            }
            Err(why) if device == Device::Gpu => return refuse(&why.to_string()),
            Err(why) => eprintln!("monte-carlo: the processor computes the steps: {why}"),
        }
        Ok(())
    }

    /// What of this run the GPU cannot do.
    fn objection(&self) -> Option<String> {
        let Settings {
            radius,
            evolution,
            tide,
            black_hole,
            ..
        } = &self.settings;
        let cases = [
            (self.world.size() > 1, "several ranks"),
            (*radius > 0.0, "collisions of stars"),
            (self.settings.has_binaries(), "binaries"),
            (evolution.is_some(), "stellar evolution"),
            (tide.is_some(), "a tidal boundary"),
            (black_hole.is_some(), "a black hole"),
        ];
        let case = cases.into_iter().find(|(is, _)| *is);
        match case {
            Some((_, what)) => Some(format!("{what} only on the processor")),
            None if self.n() < MANY => {
                Some(format!("{} stars are too few, it needs {MANY}", self.n()))
            }
            None => None,
        }
    }

    /// The device on which steps are computed, in words.
    pub fn device(&self) -> String {
        match self.on_device.as_ref().map(|on| on.stars.device()) {
            Some((number, name)) => format!("cuda {number} ({name})"),
            None => "cpu".to_owned(),
        }
    }

    /// Brings the stars back from the GPU, if they have moved there. Steps do not do this by themselves.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn fetch(&mut self) -> Result<(), Error> {
        let Some(on) = self.on_device.as_mut().filter(|on| on.moved) else {
            return Ok(());
        };
        let fetched = on.stars.fetch(&mut self.stars, &mut self.streams);
        fetched.map_err(|why| failed(&why))?;
        on.moved = false;
        self.synchronise()?;
        self.update_potential();
        Ok(())
    }

    /// A step on the GPU, which ends at `t_end` at the latest.
    pub(super) fn step_on_device(&mut self, t_end: f64) -> Result<(), Error> {
        let Some(mut on) = self.on_device.take() else {
            return Ok(());
        };
        on.moved = true;
        let taken = self.advance_on(&mut on.stars, t_end);
        taken.map_err(|why| failed(&why))?;
        if self.n() < FEWEST {
            return Err(self.too_few());
        }
        self.on_device = Some(on);
        // The processor can take back a step that dissolves the cluster.
        if self.n() < MANY {
            self.fetch()?;
            self.on_device = None;
        }
        Ok(())
    }

    /// The phases, in the order of [`advance`](Self::advance).
    fn advance_on(&mut self, device: &mut StarsOnDevice, t_end: f64) -> Result<(), Failure> {
        let profile = &mut self.profile;
        let mut clock = Instant::now();
        let mut lap = |phase: Phase, device: &StarsOnDevice| -> Result<(), Failure> {
            device.wait()?;
            profile.0[phase as usize] += clock.elapsed().as_secs_f64();
            clock = Instant::now();
            Ok(())
        };
        let coulomb = self.settings.coulomb(device.n());
        let least = device.least_relaxation(time_step::angle(&self.settings), coulomb)?;
        let dt = least.min(t_end - self.past.time);
        lap(Phase::TimeStep, device)?;
        device.relax(coulomb, dt, self.settings.encounters)?;
        lap(Phase::Relaxation, device)?;
        device.move_stars()?;
        lap(Phase::Orbits, device)?;
        device.sort()?;
        lap(Phase::Sort, device)?;
        self.partition.n = device.n();
        if device.n() < FEWEST {
            return Ok(());
        }
        device.update_potential()?;
        lap(Phase::Potential, device)?;
        let debt = device.correct()?;
        for leaver in device.leavers()? {
            let ledger = &mut self.past.ledger;
            ledger.escape(&Escaper::leaving(&leaver), leaver.there);
        }
        if debt > 0.0 {
            let now = device.diagnose()?;
            self.past.ledger.shared += debt;
            device.scale_velocities((1.0 - debt / now.kinetic).max(0.0).sqrt())?;
        }
        lap(Phase::Correction, device)?;
        self.past.time += dt;
        self.past.steps += 1;
        self.now = device.diagnose()?;
        lap(Phase::Diagnostics, device)
    }
}

/// Whether the settings of the library allow a GPU.
fn is_welcome() -> bool {
    matches!(
        settings().backend,
        BackendChoice::Auto | BackendChoice::Cuda
    )
}

fn failed(why: &Failure) -> Error {
    Error::Refused(format!("the GPU failed: {why}"))
}
