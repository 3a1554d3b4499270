//! Initial models: stars in equilibrium, drawn by all threads of all ranks. Each part of the list of stars has
//! random numbers of its own, so the result does not depend on the number of threads and ranks.

use kirin_kit::Body;
use kirin_kit::command::Start;
use kirin_kit::communicator::Communicator;
use kirin_kit::diagnostics::centre_of_mass;
use kirin_kit::galaxy::Units;
use kirin_kit::models::{
    BinaryOptions, Components, DEFAULT_W0, King, MassFunction, Model, Random, plummer_star,
};
use kirin_kit::vector::{dot, norm, sub};
use rayon::prelude::*;

use crate::binaries::Binary;
use crate::error::Error;
use crate::stars::Stars;

/// Stars of a part.
const PART: usize = 4096;

/// Number of stars where no option says otherwise.
pub const DEFAULT_N: u64 = 10_000;

/// A star of a model: mass, radius, radial and transverse velocity.
type Star = [f64; 4];

/// Number of stars of the model, those of binaries included.
fn count(start: &Start) -> usize {
    usize::try_from(start.n.unwrap_or(DEFAULT_N)).expect("at most 2^31")
}

/// Two stars of the model that are a binary.
#[derive(Clone, Copy, Debug)]
struct Primordial {
    masses: [f64; 2],
    /// Part of all axes that are smaller.
    axis: f64,
    eccentricity: f64,
}

/// The binaries of the model, which every rank draws. They are the first of its systems.
fn primordial(start: &Start, binaries: &BinaryOptions) -> Vec<Primordial> {
    let n = count(start);
    let masses = Masses::of(start, n);
    // Neither the numbers of a part of the model, nor those of the kit's binaries.
    let mut random = Random::of_part(start.seed(), u64::MAX - 2);
    (0..binaries.count(n))
        .map(|k| Primordial {
            masses: [2 * k, 2 * k + 1].map(|i| masses.of_star(i, n, &mut random)),
            axis: random.uniform(),
            eccentricity: random.uniform().sqrt().min(0.9999),
        })
        .collect()
}

/// The binaries of a model in standard units. `mass` is the mass of the model before it was scaled to these units.
/// Eccentricities are thermal, and the options choose the semi-major axes.
///
/// # Errors
///
/// The periods need units, and there are none; in words.
pub fn binaries(
    start: &Start,
    options: &BinaryOptions,
    mass: f64,
    units: Option<&Units>,
) -> Result<Vec<Binary>, Error> {
    let n = count(start);
    let drawn = primordial(start, options);
    let systems = n - drawn.len();
    let binary = |(k, drawn): (usize, &Primordial)| {
        let masses = drawn.masses.map(|m| m / mass);
        Ok(Binary {
            // The second star has no label among the systems.
            ids: [k as u64, (systems + k) as u64],
            masses,
            axis: options
                .axis(drawn.axis, masses[0] + masses[1], n, units)
                .map_err(Error::Refused)?,
            eccentricity: drawn.eccentricity,
        })
    };
    drawn.iter().enumerate().map(binary).collect()
}

/// The systems of the model that this rank of `world` draws. The first systems of the model are the centres of mass of
/// its [`binaries`], the others are stars. The masses of all systems add up to about 1.
///
/// # Errors
///
/// A model that is not in equilibrium, or more stars than can be counted.
pub fn draw<C: Communicator>(
    world: &C,
    start: &Start,
    binaries: &BinaryOptions,
) -> Result<Stars, Error> {
    let refuse = |why: &str| Err(Error::Refused(why.to_owned()));
    let n = count(start);
    let primordial = primordial(start, binaries);
    let systems = n - primordial.len();
    start.validate().map_err(Error::Refused)?;
    let model = start.model.unwrap_or_default();
    let king = match model {
        Model::Plummer => None,
        Model::King => Some(King::new(start.w0.unwrap_or(DEFAULT_W0))),
        Model::Sphere | Model::Collision => {
            return refuse(
                "--model must be plummer or king: the method knows clusters in equilibrium only",
            );
        }
    };
    let masses = Masses::of(start, n);
    let parts = systems.div_ceil(PART);
    let share = |rank: usize| rank * parts / world.size();
    let own = share(world.rank())..share(world.rank() + 1);
    let drawn: Vec<Vec<Star>> = own
        .clone()
        .into_par_iter()
        .map(|part| {
            let mut random = Random::of_part(start.seed(), part as u64);
            let of_part = part * PART..((part + 1) * PART).min(systems);
            of_part
                .map(|i| {
                    let (r, speed) = match &king {
                        None => plummer_star(&mut random),
                        Some(king) => king.star(&mut random),
                    };
                    let cos = 2.0 * random.uniform() - 1.0;
                    let (vr, vt) = (speed * cos, speed * (1.0 - cos * cos).sqrt());
                    let mass = match primordial.get(i) {
                        Some(binary) => binary.masses.iter().sum(),
                        None => masses.of_star(i, n, &mut random),
                    };
                    [mass, r, vr, vt]
                })
                .collect()
        })
        .collect();
    let mut stars = Stars::default();
    for (id, [m, r, vr, vt]) in (own.start * PART..).zip(drawn.into_iter().flatten()) {
        // A star in the very centre would have no potential.
        stars.push(id as u64, m, r.max(1e-12), [vr, vt]);
    }
    Ok(stars)
}

/// How the masses of a model are found.
enum Masses {
    Function(MassFunction),
    Components { heavy: usize, ratio: f64 },
}

impl Masses {
    fn of(start: &Start, n: usize) -> Self {
        match (start.mass_ratio, start.mass_fraction) {
            (Some(ratio), Some(fraction)) => Self::Components {
                heavy: Components { ratio, fraction }.heavy(n),
                ratio,
            },
            _ => Self::Function(start.mass_function.unwrap_or_default()),
        }
    }

    /// In units of the mean mass of all, and of 1/n.
    fn of_star(&self, i: usize, n: usize, random: &mut Random) -> f64 {
        match *self {
            Self::Function(MassFunction::Equal) => 1.0 / n as f64,
            Self::Function(function) => function.mass(random) / function.mean() / n as f64,
            Self::Components { heavy, ratio } => {
                let light = 1.0 / ((n - heavy) as f64 + ratio * heavy as f64);
                if Components::is_heavy(i, heavy, n) {
                    ratio * light
                } else {
                    light
                }
            }
        }
    }
}

/// The `bodies` as stars of this rank. Radii are distances from the centre of mass of `bodies`, and velocities are
/// relative to its velocity.
///
/// # Errors
///
/// A body that can be no star; in words.
pub fn of_bodies(bodies: &[Body]) -> Result<Stars, Error> {
    let (centre, drift) = centre_of_mass(bodies);
    let mut stars = Stars::default();
    for (k, body) in bodies.iter().enumerate() {
        let refuse = |what: &str| {
            let (index, place) = (body.index, k + 1);
            Err(Error::Refused(format!(
                "body {place} of the file (index {index}) {what}"
            )))
        };
        if body.mass <= 0.0 {
            return refuse(&format!(
                "has the mass {}, which must be above 0",
                body.mass
            ));
        }
        let (x, v) = (sub(&body.x, &centre), sub(&body.v, &drift));
        let r = norm(&x);
        if r.is_nan() || r <= 0.0 {
            return refuse("stands in the centre of mass, where a star has no potential");
        }
        let vr = dot(&x, &v) / r;
        let vt = (dot(&v, &v) - vr * vr).max(0.0).sqrt();
        if !Stars::allows(body.mass, r, [vr, vt]) {
            return refuse("has a mass, radius or velocity that is not between 1e-100 and 1e100");
        }
        stars.push(k as u64, body.mass, r, [vr, vt]);
    }
    Ok(stars)
}
