//! The errors in the orbit of a hard binary over very many revolutions, each of them integrated.

use super::{Alone, Error, System};
use crate::body::Body;
use crate::vector::Vec3;

/// Tolerance of the steps: a tenth of the default, for a million orbits.
const TOLERANCE: f64 = 1e-13;

/// Looks at the axis, over whose mean it is compared.
const LOOKS: u32 = 1000;

/// Orbits between two looks: never the same phase.
const BETWEEN: f64 = 1.618_033_988_749;

/// Relative changes over all revolutions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Of the semi-major axis, in the mean over a thousand looks: a third star moves it to and fro within an orbit.
    pub axis: f64,
    /// Of the energy of all.
    pub energy: f64,
    /// Basic steps that were taken.
    pub steps: f64,
}

/// Integrates `count` orbits of a binary with e = 0.5, alone or with a third star of half its mass on a circle a hundred
/// times as wide; neither in closed form nor slowed down.
///
/// # Errors
///
/// No step converges.
pub fn drift(count: f64, with_third: bool) -> Result<Drift, Error> {
    let body = |mass, x: Vec3, v: Vec3| Body {
        mass,
        x,
        v,
        ..Body::default()
    };
    let speed = (0.5_f64 / 1.5).sqrt();
    let mut bodies = vec![
        body(0.6, [1.5, 0.0, 0.0], [0.0, speed, 0.0]),
        body(0.4, [0.0; 3], [0.0; 3]),
    ];
    if with_third {
        let speed = (1.5_f64 / 100.0).sqrt();
        bodies.push(body(0.5, [0.0, 80.0, 60.0], [speed, 0.0, 0.0]));
    }
    let mut system = System::new(&bodies)
        .with_tolerance(TOLERANCE)
        .without_analytic_steps();
    let (period, energy) = (std::f64::consts::TAU, system.energy());
    let mean = |system: &mut System| -> Result<f64, Error> {
        let mut sum = 0.0;
        for _ in 0..LOOKS {
            system.advance(BETWEEN * period, &mut Alone)?;
            sum += system.orbit(0, 1).axis;
        }
        Ok(sum / f64::from(LOOKS))
    };
    let before = mean(&mut system)?;
    let rest = count - 2.0 * BETWEEN * f64::from(LOOKS);
    system.advance(rest.max(0.0) * period, &mut Alone)?;
    Ok(Drift {
        axis: mean(&mut system)? / before - 1.0,
        energy: system.energy() / energy - 1.0,
        steps: system.steps() as f64,
    })
}
