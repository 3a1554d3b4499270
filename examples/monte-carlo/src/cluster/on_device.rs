//! Steps on a GPU. The stars stay there; [`Cluster::fetch`] brings them back for those who look at them. Where a run needs a phase
//! that only the processor has, the GPU finds the new orbits, and the processor does all else.

use std::time::Instant;

use kirin_core::process::settings::{BackendChoice, settings};
use kirin_device::{Failure, Gpu};
use kirin_kit::command::Device;
use kirin_kit::communicator::Communicator;

use super::dissolution::MANY;
use super::{Cluster, Past};
use crate::device::{OrbitsOnDevice, StarsOnDevice};
use crate::diagnostics::Diagnostics;
use crate::error::Error;
use crate::ledger::Escaper;
use crate::profile::Phase;
use crate::renewal::Renewal;
use crate::settings::Settings;
use crate::stars::Stars;
use crate::time_step;

/// Stars from which `--device auto` takes a GPU: the launches of a step take as long as some thousand stars do on a processor.
const FEWEST_ON_GPU: usize = 10_000;

/// The stars on a GPU.
pub(super) struct OnDevice {
    stars: StarsOnDevice,
    /// Whether they have moved since they were fetched.
    moved: bool,
    /// The cluster when they were fetched.
    fetched: (Past, Diagnostics),
    /// Where steps end at the latest.
    t_end: f64,
}

impl<C: Communicator> Cluster<C> {
    /// Chooses where steps are computed from now on. The bits are the same.
    ///
    /// # Errors
    ///
    /// A GPU is asked for, but there is none that can be used, or the run has several ranks or too few stars.
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
        if self.needs_processor() {
            return self.use_device_for_orbits(gpu, device);
        }
        match StarsOnDevice::new(gpu, &self.stars, &self.streams) {
            Ok(stars) => {
                let (number, name) = stars.device();
                self.device = Some((format!("cuda {number} ({name})"), 0));
                self.on_device = Some(OnDevice {
                    stars,
                    moved: false,
                    fetched: (self.past.clone(), self.now),
                    t_end: f64::INFINITY,
                });
            }
            Err(why) if device == Device::Gpu => return refuse(&why.to_string()),
            Err(why) => eprintln!("monte-carlo: the processor computes the steps: {why}"),
        }
        Ok(())
    }

    /// The GPU finds the orbits of this run.
    fn use_device_for_orbits(&mut self, gpu: Gpu, device: Device) -> Result<(), Error> {
        match OrbitsOnDevice::new(gpu, self.n()) {
            Ok(orbits) => {
                let (number, name) = orbits.device();
                self.device = Some((format!("cpu, orbits on cuda {number} ({name})"), 0));
                self.orbits = Some(orbits);
            }
            Err(why) if device == Device::Gpu => {
                return Err(Error::Refused(format!("--device gpu: {why}")));
            }
            Err(why) => eprintln!("monte-carlo: the processor computes the steps: {why}"),
        }
        Ok(())
    }

    /// New orbits, on the GPU. The answer is `false`, and nothing has changed, if there is none for this, or if it fails.
    pub(super) fn move_on_device(&mut self) -> bool {
        let Some(mut orbits) = self.orbits.take().filter(|_| self.n() >= MANY) else {
            return false;
        };
        let began = Instant::now();
        let (stars, streams) = (&mut self.stars, &mut self.streams);
        if let Err(why) =
            orbits.move_stars(&self.potential, &self.radii, &self.renewal, stars, streams)
        {
            let next = self.past.steps + 1;
            eprintln!(
                "monte-carlo: the processor goes on from step {next}, as the GPU failed: {why}"
            );
            return false;
        }
        self.orbits = Some(orbits);
        self.profile.0[Phase::Orbits as usize] += began.elapsed().as_secs_f64();
        true
    }

    /// Counts a step whose orbits the GPU has found.
    pub(super) fn note_orbits(&mut self) {
        if let (Some(_), Some((_, steps))) = (&self.orbits, &mut self.device) {
            *steps += 1;
        }
    }

    /// Whether this run has a phase that only the processor has.
    fn needs_processor(&self) -> bool {
        let Settings {
            radius,
            evolution,
            black_hole,
            ..
        } = &self.settings;
        let mergers = *radius > 0.0;
        mergers || self.settings.has_binaries() || evolution.is_some() || black_hole.is_some()
    }

    /// Why a GPU cannot have a part in this run.
    fn objection(&self) -> Option<String> {
        if self.world.size() > 1 {
            return Some("several ranks only on the processor".to_owned());
        }
        let n = self.n();
        (n < MANY).then(|| format!("{n} stars are too few, it needs {MANY}"))
    }

    /// Brings the stars back from the GPU, if they have moved there. Steps do not do this by themselves. If the GPU fails, the
    /// processor repeats the steps since the last time.
    ///
    /// # Errors
    ///
    /// Those of [`step`](Self::step).
    pub fn fetch(&mut self) -> Result<(), Error> {
        let Some(mut on) = self.on_device.take() else {
            return Ok(());
        };
        if on.moved {
            let (mut stars, mut streams) = (Stars::default(), Vec::new());
            if let Err(why) = on.stars.fetch(&mut stars, &mut streams) {
                return self.repeat(&on, &why, self.past.steps);
            }
            (self.stars, self.streams) = (stars, streams);
            self.synchronise()?;
            self.update_potential();
            on.fetched = (self.past.clone(), self.now);
            on.moved = false;
        }
        self.on_device = Some(on);
        Ok(())
    }

    /// A step on the GPU, which ends at `t_end` at the latest.
    pub(super) fn step_on_device(&mut self, t_end: f64) -> Result<(), Error> {
        let Some(mut on) = self.on_device.take() else {
            return Ok(());
        };
        (on.moved, on.t_end) = (true, t_end);
        let next = self.past.steps + 1;
        let is_taken = match self.advance_on(&mut on.stars, t_end) {
            Ok(is_taken) => is_taken,
            Err(why) => return self.repeat(&on, &why, next),
        };
        self.on_device = Some(on);
        // The processor can take back a step that dissolves the cluster.
        if self.n() < MANY || !is_taken {
            self.fetch()?;
            self.on_device = None;
        }
        match self.past.steps < next {
            true => self.step(t_end),
            false => Ok(()),
        }
    }

    /// Goes on on the processor where the stars were fetched last, up to the step with this number. The bits are the same.
    fn repeat(&mut self, on: &OnDevice, why: &Failure, number: u64) -> Result<(), Error> {
        let lost = self.past.steps - on.fetched.0.steps;
        if let Some((_, steps)) = &mut self.device {
            *steps -= lost;
        }
        (self.past, self.now) = on.fetched.clone();
        self.partition.n = self.stars.len();
        let first = self.past.steps + 1;
        eprintln!("monte-carlo: the processor goes on from step {first}, as the GPU failed: {why}");
        while self.past.steps < number && !self.dissolved {
            self.step(on.t_end)?;
        }
        Ok(())
    }

    /// Takes out the stars beyond the tidal boundary, as [`strip`](Self::strip). The answer is `false` if few are left.
    fn strip_on(settings: &Settings, device: &StarsOnDevice) -> Result<bool, Failure> {
        let Some(tide) = settings.tide else {
            return Ok(true);
        };
        let (mut mass, mut n) = (device.mass(), device.n());
        loop {
            let boundary = tide.boundary(mass, n, settings.coulomb(n));
            let (leaves, stay) = device.strip(&boundary)?;
            if leaves == 0.0 {
                return Ok(true);
            }
            (mass, n) = (mass - leaves, stay);
            if n < MANY {
                return Ok(false);
            }
        }
    }

    /// The phases, in the order of [`advance`](Self::advance). The answer is `false`, and the stars are as they were before, if
    /// few would be left.
    fn advance_on(&mut self, device: &mut StarsOnDevice, t_end: f64) -> Result<bool, Failure> {
        let profile = &mut self.profile;
        let mut clock = Instant::now();
        let mut lap = |phase: Phase, device: &StarsOnDevice| -> Result<(), Failure> {
            device.wait()?;
            profile.0[phase as usize] += clock.elapsed().as_secs_f64();
            clock = Instant::now();
            Ok(())
        };
        let coulomb = self.settings.coulomb(device.n());
        let (least, heaviest) =
            device.least_relaxation(time_step::angle(&self.settings), coulomb)?;
        let renewal = Renewal::of(&self.settings, least, heaviest, self.past.steps);
        let dt = least[0].min(t_end - self.past.time);
        lap(Phase::TimeStep, device)?;
        if self.settings.tide.is_some() {
            device.keep()?;
        }
        device.relax(coulomb, dt, self.settings.encounters)?;
        lap(Phase::Relaxation, device)?;
        if !Self::strip_on(&self.settings, device)? {
            device.restore();
            return Ok(false);
        }
        device.move_stars(&renewal)?;
        lap(Phase::Orbits, device)?;
        device.sort()?;
        lap(Phase::Sort, device)?;
        self.partition.n = device.n();
        device.update_potential()?;
        lap(Phase::Potential, device)?;
        let debt = device.correct()?;
        for leaver in device.leavers()? {
            let ledger = &mut self.past.ledger;
            ledger.escape(&Escaper::leaving(&leaver), leaver.there);
        }
        if debt > 0.0 {
            let now = device.diagnose()?;
            if debt > now.kinetic {
                // The processor repeats the steps, finds the same debt, and ends the run.
                return Err(Failure::new(
                    "the stars are to pay more energy together than they have",
                ));
            }
            self.past.ledger.shared += debt;
            device.scale_velocities((1.0 - debt / now.kinetic).sqrt())?;
        }
        lap(Phase::Correction, device)?;
        self.past.time += dt;
        self.past.steps += 1;
        if let Some((_, steps)) = &mut self.device {
            *steps += 1;
        }
        self.now = device.diagnose()?;
        lap(Phase::Diagnostics, device)?;
        Ok(true)
    }
}

/// Whether the settings of the library allow a GPU.
fn is_welcome() -> bool {
    matches!(
        settings().backend,
        BackendChoice::Auto | BackendChoice::Cuda
    )
}
