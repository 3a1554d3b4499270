//! The steps of one particle: the first step, the later ones, and its data for the library.
//!
//! Any program that calls these functions with the same forces makes the same steps, to the bit.

use kirin::client::JParticle;
use kirin_kit::Body;
use kirin_kit::galaxy::Field;
use kirin_kit::snapshot::State;
use kirin_kit::vector::{Vec3, add_scaled};

use crate::error::Error;
use crate::scheme::{self, Point};
use crate::settings::Settings;
use crate::step;

/// The state of a particle before its first force, at a time that is a multiple of the largest step.
///
/// # Errors
///
/// The time is none.
pub fn initial_state(settings: &Settings, time: f64) -> Result<State, Error> {
    if !step::is_multiple(time, settings.dt_max) {
        return Err(Error::Refused(format!(
            "the initial time {time} is not a multiple of the largest step {}: --t-start 0 begins at another time",
            settings.dt_max
        )));
    }
    Ok(State {
        t: time,
        dt: settings.dt_max,
        ..State::default()
    })
}

/// Checks that no two bodies have the same label. By the label the library leaves out a particle's force on itself.
///
/// # Errors
///
/// They do not, or there are more bodies than the interface can count.
pub fn check_labels(bodies: &[Body]) -> Result<(), Error> {
    i32::try_from(bodies.len()).map_err(|_| {
        Error::Refused("the interface counts particles in 32-bit integers".to_owned())
    })?;
    let mut labels: Vec<i32> = bodies.iter().map(|b| b.index).collect();
    labels.sort_unstable();
    match labels.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::Refused(format!(
            "two particles have the index {}",
            pair[0]
        ))),
        None => Ok(()),
    }
}

/// Whether an integration at `time` can have left a particle in this state.
///
/// # Errors
///
/// It cannot; in words.
pub fn check_state(
    settings: &Settings,
    time: f64,
    body: &Body,
    state: &State,
) -> Result<(), Error> {
    let refuse = |what: String| {
        Err(Error::Refused(format!(
            "state of particle {}: {what}",
            body.index
        )))
    };
    let State { t, dt, .. } = *state;
    if !(step::is_power_of_two(dt) && dt <= settings.dt_max && dt >= step::resolution(t)) {
        return refuse(format!(
            "its step {dt} is not a power of two from the last digit of its time to {}",
            settings.dt_max
        ));
    }
    if t != (time / dt).floor() * dt {
        return refuse(format!(
            "with the step {dt} its time cannot be {t} when the run's is {time}"
        ));
    }
    Ok(())
}

/// Position, velocity and force of a particle at its own time.
pub fn point(body: &Body, state: &State) -> Point {
    Point {
        x: body.x,
        v: body.v,
        acc: state.acc,
        jerk: state.jerk,
    }
}

/// Adds the galaxy's part to the acceleration and jerk by the other particles. The particle is predicted to be at `x`
/// with the velocity `v`.
fn with_galaxy(settings: &Settings, (x, v): (Vec3, Vec3), acc: Vec3, jerk: Vec3) -> (Vec3, Vec3) {
    let (galaxy, mut acc, mut jerk) = (&settings.galaxy, acc, jerk);
    if !galaxy.is_none() {
        add_scaled(&mut acc, 1.0, &galaxy.acceleration(&x));
        add_scaled(&mut jerk, 1.0, &galaxy.jerk(&x, &v));
    }
    (acc, jerk)
}

/// Length of a trial step as a fraction of |a| / |j|. It is short enough for differences to approximate
/// derivatives, and long enough that the differences exceed the rounding errors of single-precision forces.
const TRIAL: f64 = 1.0 / 16.0;

/// Gives a particle of a new run its first force, and either its first step or the trial step from which
/// [`try_step`] finds the first step. Adds the galaxy's part of the force.
///
/// # Errors
///
/// The force is not finite, or the step too small.
pub fn begin(
    settings: &Settings,
    body: &Body,
    state: &mut State,
    acc: Vec3,
    jerk: Vec3,
) -> Result<(), Error> {
    let eta = match settings.has_trial_steps() {
        true => TRIAL,
        false => settings.eta_start,
    };
    begin_with(eta, settings, body, state, (acc, jerk))
}

/// Chooses the first step of a particle from its trial step. `acc` and `jerk` are the force of the pairs at the end
/// of the trial step. If the trial step was longer than the first step may be, it is replaced by a shorter trial
/// step, and the result is `false`.
///
/// # Errors
///
/// The force is not finite, or the step too small.
pub fn try_step(
    settings: &Settings,
    body: &Body,
    state: &mut State,
    acc: Vec3,
    jerk: Vec3,
) -> Result<bool, Error> {
    let start = point(body, state);
    let trial = state.dt;
    let predicted = scheme::predict(&start, trial);
    let (acc, jerk) = with_galaxy(settings, predicted, acc, jerk);
    check_force(settings, body, state.t + trial, predicted, (&acc, &jerk))?;
    let higher = scheme::at_start(&start, trial, &acc, &jerk);
    let wanted = step::aarseth(settings.eta, &start, &higher);
    state.dt = step::power_of_two_below(wanted.clamp(f64::MIN_POSITIVE, settings.dt_max));
    check_step(settings, body, state)?;
    Ok(state.dt >= trial)
}

/// Gives a particle that begins anew in the midst of a run its first force and the step that follows from it.
///
/// # Errors
///
/// The force is not finite, or the step too small.
pub fn begin_anew(
    settings: &Settings,
    body: &Body,
    state: &mut State,
    acc: Vec3,
    jerk: Vec3,
) -> Result<(), Error> {
    begin_with(settings.eta_anew(), settings, body, state, (acc, jerk))
}

fn begin_with(
    eta: f64,
    settings: &Settings,
    body: &Body,
    state: &mut State,
    (acc, jerk): (Vec3, Vec3),
) -> Result<(), Error> {
    let (acc, jerk) = with_galaxy(settings, (body.x, body.v), acc, jerk);
    check_force(settings, body, state.t, (body.x, body.v), (&acc, &jerk))?;
    (state.acc, state.jerk) = (acc, jerk);
    if !settings.shared {
        let wanted = step::first(eta, &point(body, state));
        state.dt = step::power_of_two_below(wanted.clamp(f64::MIN_POSITIVE, settings.dt_max));
    }
    check_step(settings, body, state)
}

/// Takes a particle to the end of its step at `t` and chooses its next step. `acc` and `jerk` are the force of the
/// pairs at the predicted position.
///
/// # Errors
///
/// The force is not finite, or the next step too small.
pub fn advance(
    settings: &Settings,
    t: f64,
    body: &mut Body,
    state: &mut State,
    acc: Vec3,
    jerk: Vec3,
) -> Result<(), Error> {
    let start = point(body, state);
    let predicted = scheme::predict(&start, t - state.t);
    let (acc, jerk) = with_galaxy(settings, predicted, acc, jerk);
    check_force(settings, body, t, predicted, (&acc, &jerk))?;
    let (end, higher) = scheme::correct(&start, state.dt, acc, jerk);
    (body.x, body.v) = (end.x, end.v);
    let dt = if settings.shared {
        settings.dt_max
    } else {
        let wanted = step::aarseth(settings.eta, &end, &higher);
        step::next(t, state.dt, wanted, settings.dt_max)
    };
    *state = State { t, dt, acc, jerk };
    check_step(settings, body, state)
}

/// Writes to `body` where the particle would be at `t` if its step ended there: predicted, then corrected by `acc` and
/// `jerk`, the force of the other particles at the predicted position.
///
/// # Errors
///
/// The force is not finite.
pub fn synchronise(
    settings: &Settings,
    t: f64,
    body: &mut Body,
    state: &State,
    acc: Vec3,
    jerk: Vec3,
) -> Result<(), Error> {
    let start = point(body, state);
    let predicted = scheme::predict(&start, t - state.t);
    let (acc, jerk) = with_galaxy(settings, predicted, acc, jerk);
    check_force(settings, body, t, predicted, (&acc, &jerk))?;
    let (end, _) = scheme::correct(&start, t - state.t, acc, jerk);
    (body.x, body.v) = (end.x, end.v);
    Ok(())
}

/// The particle as the library's j-particle memory holds it.
pub fn j_particle(body: &Body, state: &State) -> JParticle {
    JParticle {
        index: body.index,
        t: state.t,
        mass: body.mass,
        x: body.x,
        v: body.v,
        aby2: state.acc.map(|c| c / 2.0),
        a1by6: state.jerk.map(|c| c / 6.0),
        // No snap: the host's prediction would need that term too, and some libraries ignore it.
        a2by18: [0.0; 3],
    }
}

/// Refuses a force that is not finite, on a particle that is at `x` with the velocity `v` at the time `t`.
fn check_force(
    settings: &Settings,
    body: &Body,
    t: f64,
    (x, v): (Vec3, Vec3),
    (acc, jerk): (&Vec3, &Vec3),
) -> Result<(), Error> {
    let is_finite = |vector: &Vec3| vector.iter().all(|c| c.is_finite());
    if is_finite(acc) && is_finite(jerk) {
        return Ok(());
    }
    let (index, galaxy) = (body.index, &settings.galaxy);
    let is_within = || is_finite(&galaxy.acceleration(&x)) && is_finite(&galaxy.jerk(&x, &v));
    match galaxy.edge() {
        Some(edge) if !is_within() => Err(Error::BeyondGrid { index, t, edge }),
        _ => Err(Error::NotFinite { index, t }),
    }
}

/// Refuses a step that is below the limit of the settings, or too small to change the particle's time in double
/// precision. A time near 0 could be changed by a step of any size, so times below the largest step count as that step.
///
/// # Errors
///
/// The step is too small.
pub fn check_step(settings: &Settings, body: &Body, state: &State) -> Result<(), Error> {
    let (index, t) = (body.index, state.t);
    let digits = step::resolution(t.abs().max(settings.dt_max));
    let limit = settings.dt_min.max(digits);
    if state.dt < limit {
        return Err(Error::StepTooSmall { index, t, limit });
    }
    Ok(())
}
