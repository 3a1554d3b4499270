//! Shared symplectic steps of a cluster in a galaxy.

mod integration;
mod on_device;

use std::time::{Duration, Instant};

use kirin::client::Grape;
use kirin_device::Failure;
use kirin_kit::Body;
use kirin_kit::command::Device;
use kirin_kit::diagnostics::angular_momentum;
use kirin_kit::galaxy::{Field, Galaxy, Moment};
use kirin_kit::run::TimeGrid;
use kirin_kit::vector::{Vec3, add_scaled};

use crate::device::FieldOnDevice;
use crate::encounter::Encounters;
use crate::error::Error;
use crate::forces::{Counts, Forces};
use crate::phase_space::PhaseSpace;
use crate::resident::steps::Resident;
use crate::resident::{self, Pairs};
use crate::scheme::Coefficients;
use crate::settings::Settings;
use crate::torque::{self, Balance, Effect};
use on_device::Ahead;

/// The largest number of particles for which the program itself sums the potential energy over all pairs. Above it
/// the potentials that came with the forces are used.
pub const LARGEST_ENERGY: usize = 65536;

/// What an integration has behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Past {
    /// The steps' ends.
    pub grid: TimeGrid,
    /// Steps taken.
    pub steps: u64,
    /// What they have cost.
    pub work: Counts,
    /// Angular momentum and torque.
    pub balance: Balance,
}

/// A cluster on its way, everybody at one time.
///
/// Opens cluster 0 of the library and closes it when dropped.
pub struct Integrator<'g> {
    forces: Forces<'g>,
    pairs: Pairs,
    settings: Settings,
    table: Coefficients,
    labels: Vec<i32>,
    masses: Vec<f64>,
    state: PhaseSpace,
    /// The state before the step that is being taken.
    before: PhaseSpace,
    acc: Vec<Vec3>,
    pot: Vec<f64>,
    external: Vec<Vec3>,
    /// The near parts of attractions, if any are divided.
    encounters: Option<Encounters>,
    /// The galaxy that kicks, at the clock's time, where that is not the whole of it: without the divided black hole.
    around: Option<Moment>,
    /// The galaxy at the clock's time, and what it does to everybody.
    moment: Moment,
    effect: Effect,
    /// Where a GPU computes the galaxy's field.
    on_device: Option<FieldOnDevice>,
    /// The stars on a GPU, where that takes whole steps, and the steps that it has taken since they were here last.
    resident: Option<Resident>,
    ahead: Vec<Ahead>,
    time: f64,
    /// The time within a step that the drifts have come to.
    clock: f64,
    /// That time at the last forces.
    clock_of_forces: f64,
    past: Past,
}

impl<'g> Integrator<'g> {
    /// Starts from `bodies` at `time`.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces.
    pub fn start(
        grape: &'g Grape,
        settings: Settings,
        time: f64,
        bodies: &[Body],
    ) -> Result<Self, Error> {
        let state = PhaseSpace::new(settings.bits, bodies, fastest(&settings, bodies))?;
        let past = Past {
            grid: TimeGrid::from(time),
            ..Past::default()
        };
        let mut new = Self::resume(grape, settings, time, bodies, state, past)?;
        let bodies = new.bodies();
        new.past.balance.initial = angular_momentum(&bodies);
        Ok(new)
    }

    /// Goes on from `state`, in which the `bodies` with their labels and masses are at `time`.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces.
    pub fn resume(
        grape: &'g Grape,
        settings: Settings,
        time: f64,
        bodies: &[Body],
        state: PhaseSpace,
        past: Past,
    ) -> Result<Self, Error> {
        settings.validate()?;
        let hole = (settings.galaxy.black_hole, settings.galaxy.black_hole_eps);
        let divided = !settings.changeover.is_none();
        let encounters = divided.then(|| Encounters::new(&settings.changeover, settings.eps, hole));
        i32::try_from(bodies.len()).map_err(|_| {
            Error::Refused("the interface counts particles in 32-bit integers".to_owned())
        })?;
        let mut new = Self {
            forces: Forces::open(grape)?,
            pairs: Pairs::default(),
            settings,
            table: settings.scheme.table(),
            labels: bodies.iter().map(|b| b.index).collect(),
            masses: bodies.iter().map(|b| b.mass).collect(),
            before: state.clone(),
            state,
            acc: vec![[0.0; 3]; bodies.len()],
            pot: vec![0.0; bodies.len()],
            external: Vec::new(),
            around: None,
            encounters,
            moment: settings.galaxy.at(time),
            effect: Effect::default(),
            on_device: None,
            resident: None,
            ahead: Vec::new(),
            time,
            clock: time,
            clock_of_forces: time,
            past,
        };
        new.look();
        new.find_forces()?;
        // The first forces belong to no step.
        new.past.work = past.work;
        Ok(new)
    }

    /// Looks for pairs close to each other, where nothing is known of them.
    fn look(&mut self) {
        let (encounters, state) = (self.encounters.as_mut(), self.state.in_double());
        if let (Some(encounters), Some((x, _))) = (encounters, state) {
            encounters.look(x);
        }
        self.around = self.without_hole();
    }

    /// The galaxy at the clock's time without the black hole, if that is divided.
    fn without_hole(&self) -> Option<Moment> {
        let galaxy = Galaxy {
            black_hole: 0.0,
            black_hole_eps: 0.0,
            ..self.settings.galaxy
        };
        let divided = self.encounters.as_ref().filter(|e| e.divides_hole());
        divided.map(|_| galaxy.at(self.clock))
    }

    /// `result`, with the label of a star instead of its number.
    fn labelled<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let label = |index: i32| self.labels[index as usize];
        result.map_err(|e| match e {
            Error::Force { index } => Error::Force {
                index: label(index),
            },
            Error::Encounter { index, hole } => Error::Encounter {
                index: label(index),
                hole,
            },
            other => other,
        })
    }

    /// Chooses where the galaxy's field is computed from now on, and if the program sums over the pairs itself, where whole
    /// steps are computed. The bits are the same.
    ///
    /// # Errors
    ///
    /// A GPU is asked for, but there is none that can be used, nothing for it to do, or a potential from a file.
    pub fn use_device(&mut self, device: Device) -> Result<(), Error> {
        if self.pairs == Pairs::Program {
            return self.stay_on_device(device);
        }
        let galaxy = &self.settings.galaxy;
        let is_wanted = match device {
            Device::Cpu => false,
            Device::Gpu if galaxy.is_none() => {
                return Err(Error::Refused("--device gpu needs a --galaxy".to_owned()));
            }
            Device::Gpu => true,
            Device::Auto => !galaxy.is_none() && self.library_is_on_gpu(),
        };
        self.on_device = None;
        if !is_wanted || self.labels.is_empty() {
            return Ok(());
        }
        match FieldOnDevice::new(galaxy, &self.moment, self.labels.len()) {
            Ok(on_device) => self.on_device = Some(on_device),
            Err(why) if device == Device::Gpu => {
                return Err(Error::Refused(format!("--device gpu: {why}")));
            }
            Err(why) => eprintln!("symplectic: the processor computes the galaxy: {why}"),
        }
        Ok(())
    }

    /// Finds everybody's acceleration by the others and by the galaxy: of divided attractions the far parts.
    fn find_forces(&mut self) -> Result<(), Error> {
        let Settings {
            eps,
            galaxy,
            uncentred,
            ..
        } = self.settings;
        if !galaxy.is_none() {
            self.start_field();
        }
        let result = (&mut self.acc[..], &mut self.pot[..]);
        let (state, masses, work) = (&self.state, &self.masses, &mut self.past.work);
        let moment = self.around.as_ref().unwrap_or(&self.moment);
        let (on_device, external, effect) =
            (&mut self.on_device, &mut self.external, &mut self.effect);
        let effect_of = match self.pairs {
            Pairs::Library => torque::effect,
            Pairs::Program => resident::effect,
        };
        // While a GPU sums over the pairs.
        let mut of_field = Duration::ZERO;
        let field = || {
            if !galaxy.is_none() {
                let began = Instant::now();
                let at = (moment, galaxy.changes(), effect_of);
                *effect = field(at, state, masses, on_device, external);
                of_field = began.elapsed();
            }
        };
        let how = (eps * eps, uncentred);
        let found = match self.pairs {
            Pairs::Library => self.forces.find(state, masses, how, result, work, field),
            Pairs::Program => resident::find(state, masses, eps * eps, result, work, field),
        };
        work.times.field += of_field;
        self.labelled(found)?;
        self.clock_of_forces = self.clock;
        if let (Some(encounters), Some((x, _))) = (&self.encounters, self.state.in_double()) {
            encounters.take_near(x, &self.masses, &mut self.acc);
        }
        if !galaxy.is_none() {
            torque::check(&self.external, &self.labels, &galaxy)?;
            self.add_field();
        }
        Ok(())
    }

    /// Brings the galaxy to the clock's time, and has a GPU begin with its field.
    fn start_field(&mut self) {
        let (began, galaxy) = (Instant::now(), &self.settings.galaxy);
        let changes = galaxy.changes();
        if changes {
            self.moment = galaxy.at(self.clock);
            self.around = self.without_hole();
        }
        let moment = self.around.as_ref().unwrap_or(&self.moment);
        if let Some(on_device) = &mut self.on_device
            && let Err(why) = on_device.start(moment, changes, &self.state)
        {
            give_up(&mut self.on_device, &why);
        }
        self.past.work.times.field += began.elapsed();
    }

    /// Adds the accelerations by the galaxy.
    fn add_field(&mut self) {
        let (began, state) = (Instant::now(), &self.state);
        for (i, (a, external)) in self.acc.iter_mut().zip(&self.external).enumerate() {
            add_scaled(a, 1.0, external);
            // The black hole is at the centre, so it has no torque.
            if let (Some(_), Some(encounters)) = (&self.around, &self.encounters) {
                add_scaled(a, 1.0, &encounters.pull(&state.position(i)));
            }
        }
        self.past.work.times.field += began.elapsed();
    }

    /// Takes a step, or the part of one that is left to `t_end`. Returns whether there was any.
    ///
    /// # Errors
    ///
    /// A force is no longer finite, a number leaves its range, or the library fails. All stars are then where they were
    /// before the step. On a GPU this may be noticed up to 64 steps later; the processor then repeats the steps, and the
    /// stars are where they were before the one that fails.
    pub fn step(&mut self, t_end: f64) -> Result<bool, Error> {
        let dt = self.settings.dt;
        let Some(end) = self.past.grid.next(self.time, dt, t_end) else {
            return Ok(false);
        };
        // All whole steps have one length, to the bit: the way back has to have it too.
        let h = match self.past.grid.is_whole(dt, t_end) {
            true => dt,
            false => end - self.time,
        };
        match self.resident {
            Some(_) => self.step_there(h, end, t_end)?,
            None => self.step_here(h, end)?,
        }
        Ok(true)
    }

    /// Takes a step of length `h` on the processor, which ends at `end`.
    fn step_here(&mut self, h: f64, end: f64) -> Result<(), Error> {
        self.before.clone_from(&self.state);
        let (past, clock) = (self.past, self.clock_of_forces);
        if let Err(e) = self.stages(h, end) {
            std::mem::swap(&mut self.state, &mut self.before);
            self.past = past;
            self.clock = clock;
            self.look();
            // Those of the state, which had them before.
            let _ = self.find_forces();
            self.past = past;
            self.clock = self.time;
            return Err(e);
        }
        self.has_come_to(end);
        Ok(())
    }

    /// A step has ended.
    fn has_come_to(&mut self, end: f64) {
        self.past.steps += 1;
        self.past.grid.advance(end, self.settings.dt);
        self.time = end;
        self.clock = end;
    }

    /// The kicks and drifts of one step, which ends at `end`.
    fn stages(&mut self, h: f64, end: f64) -> Result<(), Error> {
        for stage in 0..self.table.evaluations() {
            let drift = self.table.drifts[stage] * h;
            self.kick(stage, h)?;
            let began = Instant::now();
            self.drift(drift)?;
            self.clock = self.clock_after(stage, drift, end);
            self.past.work.times.predict += began.elapsed();
            self.find_forces()?;
        }
        self.kick(self.table.evaluations(), h)
    }

    /// The time after the drift of a stage. The last forces of a step are those of its end, as a run finds them that goes on there: the sum of
    /// the drifts may be off by a rounding.
    fn clock_after(&self, stage: usize, drift: f64, end: f64) -> f64 {
        match stage + 1 == self.table.evaluations() {
            true => end,
            false => self.clock + drift,
        }
    }

    fn drift(&mut self, h: f64) -> Result<(), Error> {
        match (self.encounters.as_mut(), self.state.in_double()) {
            (Some(encounters), Some((x, v))) => {
                let moved = encounters.drift(x, v, &self.masses, h);
                self.labelled(moved)
            }
            _ => self.state.drift(h),
        }
    }

    fn kick(&mut self, stage: usize, h: f64) -> Result<(), Error> {
        let began = Instant::now();
        let kick = self.table.kicks[stage] * h;
        self.state.kick(kick, &self.acc)?;
        self.past.balance.kick(kick, &self.effect);
        self.past.work.times.predict += began.elapsed();
        Ok(())
    }

    /// Turns all velocities round, so that steps from now on undo those before. The balance of angular momentum and
    /// energy begins anew.
    ///
    /// # Errors
    ///
    /// Those of a step that a GPU has taken.
    pub fn reverse(&mut self) -> Result<(), Error> {
        self.bring_back()?;
        self.state.reverse();
        self.past.balance = Balance {
            initial: angular_momentum(&self.bodies()),
            ..Balance::default()
        };
        self.send();
        Ok(())
    }

    /// The galaxy, now.
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Everybody; where a GPU takes whole steps, when they were [brought back](Self::bring_back) last.
    pub fn bodies(&self) -> Vec<Body> {
        let body = |i: usize| Body {
            index: self.labels[i],
            mass: self.masses[i],
            x: self.state.position(i),
            v: self.state.velocity(i),
        };
        (0..self.labels.len()).map(body).collect()
    }

    /// Positions and velocities as they are kept.
    pub fn state(&self) -> &PhaseSpace {
        &self.state
    }

    /// What the integration was started with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Time of everybody.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// What has been done so far.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// Acceleration of each particle by the others and by the galaxy, without the near parts of divided attractions.
    pub fn accelerations(&self) -> &[Vec3] {
        &self.acc
    }

    /// What computes the galaxy's field.
    pub fn field_device(&self) -> String {
        let field = self.on_device.as_ref().map(FieldOnDevice::device);
        match field.or_else(|| self.resident.as_ref().map(Resident::device)) {
            Some((number, name)) => format!("cuda {number} ({name})"),
            None => "cpu".to_owned(),
        }
    }

    /// Name of what computes the forces, and its precision.
    pub fn description(&self) -> (String, String) {
        match self.pairs {
            Pairs::Library => self.forces.description(),
            Pairs::Program => (self.field_device(), "double".to_owned()),
        }
    }

    /// Where the forces of the pairs come from.
    pub fn pairs(&self) -> Pairs {
        self.pairs
    }

    fn library_is_on_gpu(&self) -> bool {
        self.forces.description().0.starts_with("cuda")
    }
}

/// What sums the effect of a galaxy over all stars.
type EffectOf = fn(&PhaseSpace, &[f64], &[Vec3], &[f64]) -> Effect;

/// The accelerations by the galaxy, of which a GPU may have computed them, and what it does to all.
fn field(
    (moment, changes, effect): (&Moment, bool, EffectOf),
    state: &PhaseSpace,
    masses: &[f64],
    on_device: &mut Option<FieldOnDevice>,
    external: &mut Vec<Vec3>,
) -> Effect {
    match on_device.as_ref().map(FieldOnDevice::finish) {
        Some(Ok((accelerations, potentials))) => {
            external.clear();
            external.extend_from_slice(accelerations);
            let potentials = if changes { potentials } else { &[] };
            return effect(state, masses, external, potentials);
        }
        Some(Err(why)) => give_up(on_device, &why),
        None => {}
    }
    torque::accelerations(moment, state, external);
    let potentials = match changes {
        true => torque::potential_changes(moment, state),
        false => Vec::new(),
    };
    effect(state, masses, external, &potentials)
}

/// Leaves the galaxy to the processor.
fn give_up(on_device: &mut Option<FieldOnDevice>, why: &Failure) {
    eprintln!("symplectic: the processor goes on with the galaxy, as the GPU failed: {why}");
    *on_device = None;
}

/// A speed that none of `bodies` is likely to exceed by much: what they could fall to the galaxy's centre with.
fn fastest(settings: &Settings, bodies: &[Body]) -> f64 {
    let escape = |b: &Body| settings.galaxy.escape_speed(&b.x);
    bodies.iter().map(escape).fold(0.0, f64::max)
}
