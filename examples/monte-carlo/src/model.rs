//! Initial models: stars in equilibrium, drawn by all threads of all ranks. Each part of the list of stars has
//! random numbers of its own, so the result does not depend on the number of threads and ranks.

use kirin_kit::Body;
use kirin_kit::command::Start;
use kirin_kit::communicator::Communicator;
use kirin_kit::density::Core;
use kirin_kit::diagnostics::centre_of_mass;
use kirin_kit::galaxy::Units;
use kirin_kit::models::{
    BinaryOptions, Components, DEFAULT_W0, King, MassFunction, Model, Random, plummer_star,
};
use kirin_kit::vector::{Vec3, dot, norm, sub};
use rayon::prelude::*;

use crate::binaries::Binary;
use crate::cluster::FEWEST;
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

/// Refuses models that are in no equilibrium.
///
/// # Errors
///
/// It is one.
pub fn check_equilibrium(start: &Start) -> Result<(), Error> {
    match start.model.unwrap_or_default() {
        Model::Plummer | Model::King => Ok(()),
        Model::Sphere | Model::Collision => Err(Error::Refused(
            "--model must be plummer or king: the method knows clusters in equilibrium only"
                .to_owned(),
        )),
    }
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
    let n = count(start);
    let primordial = primordial(start, binaries);
    let systems = n - primordial.len();
    start.validate().map_err(Error::Refused)?;
    check_equilibrium(start)?;
    let is_king = start.model == Some(Model::King);
    let king = is_king.then(|| King::new(start.w0.unwrap_or(DEFAULT_W0)));
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

/// The cluster that is among the `bodies`: the stars that are bound to each other as shells about the density centre of these
/// stars. Velocities are relative to theirs. The number of bodies that are not among them comes with the stars. (The kit's
/// `BoundPart` sums over all pairs, which is too slow for 10^6 stars, and its potential is not that of shells.)
///
/// # Errors
///
/// A body that can be no star; in words.
pub fn cluster_of(bodies: &[Body]) -> Result<(Stars, usize), Error> {
    for (k, body) in bodies.iter().enumerate() {
        check(k, body)?;
    }
    if bodies.len() < FEWEST {
        return Ok((of_bodies(bodies)?, 0));
    }
    let mut members = bodies.to_vec();
    for _ in 0..ROUNDS {
        let centre = Core::of(&members).centre;
        let (_, drift) = centre_of_mass(&members);
        let is_bound = bound_to(&members, &centre, &drift);
        // Also those that a former centre has left out, now that it is known better.
        let next: Vec<Body> = bodies
            .iter()
            .filter(|body| is_bound(body))
            .copied()
            .collect();
        if next.len() < FEWEST {
            return Err(Error::Refused(format!(
                "only {} of {} bodies are bound to each other, and the method needs {FEWEST}",
                next.len(),
                bodies.len()
            )));
        }
        let is_settled = next == members;
        members = next;
        if is_settled {
            break;
        }
    }
    let centre = Core::of(&members).centre;
    let (_, drift) = centre_of_mass(&members);
    let stars = about(&members, &centre, &drift, "the density centre")?;
    Ok((stars, bodies.len() - members.len()))
}

/// Rounds in which the bound stars are sought: they settle after a few.
const ROUNDS: usize = 50;

/// Whether a body is bound to `members` as shells about `centre`, in a frame with the velocity `drift`.
fn bound_to(members: &[Body], centre: &Vec3, drift: &Vec3) -> impl Fn(&Body) -> bool + use<> {
    let (centre, drift) = (*centre, *drift);
    let mut shells: Vec<(f64, f64)> = members
        .iter()
        .map(|body| (norm(&sub(&body.x, &centre)), body.mass))
        .collect();
    shells.sort_by(|a, b| a.0.total_cmp(&b.0));
    // `inside[k]`: the mass of the first k shells. `outside[k]`: the sum of m / r over all others.
    let mut inside = vec![0.0; shells.len() + 1];
    let mut outside = vec![0.0; shells.len() + 1];
    for (k, (_, m)) in shells.iter().enumerate() {
        inside[k + 1] = inside[k] + m;
    }
    for (k, (r, m)) in shells.iter().enumerate().rev() {
        outside[k] = outside[k + 1] + m / r.max(1e-100);
    }
    move |body| {
        let r = norm(&sub(&body.x, &centre));
        let within = shells.partition_point(|shell| shell.0 < r);
        let v = sub(&body.v, &drift);
        let attracting = if r > 0.0 { inside[within] / r } else { 0.0 };
        0.5 * dot(&v, &v) < attracting + outside[within]
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
    about(bodies, &centre, &drift, "the centre of mass")
}

const IMMODERATE: &str = "has a mass, radius or velocity that is not between 1e-100 and 1e100";

/// Refuses the body in place `k` of a file, from 0, if it can be no star about any centre.
fn check(k: usize, body: &Body) -> Result<(), Error> {
    let refused = |what: &str| {
        let (index, place) = (body.index, k + 1);
        Error::Refused(format!("body {place} of the file (index {index}) {what}"))
    };
    if body.mass <= 0.0 {
        let what = format!("has the mass {}, which must be above 0", body.mass);
        return Err(refused(&what));
    }
    let is_moderate = |c: &f64| c.abs() <= 1e100;
    match (1e-100..=1e100).contains(&body.mass) && body.x.iter().chain(&body.v).all(is_moderate) {
        true => Ok(()),
        false => Err(refused(IMMODERATE)),
    }
}

/// The `bodies` as shells about `centre`, which is called `name`. They keep their labels if no two are equal and none is negative.
fn about(bodies: &[Body], centre: &Vec3, drift: &Vec3, name: &str) -> Result<Stars, Error> {
    let labels: Option<Vec<u64>> = bodies.iter().map(|b| b.index.try_into().ok()).collect();
    let labels = labels.filter(|labels| {
        let mut sorted = labels.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    });
    let mut stars = Stars::default();
    for (k, body) in bodies.iter().enumerate() {
        check(k, body)?;
        // These may be the bound bodies of a file, whose places there are others.
        let refused =
            |what: &str| Error::Refused(format!("the body with index {} {what}", body.index));
        let (x, v) = (sub(&body.x, centre), sub(&body.v, drift));
        let r = norm(&x);
        if r.is_nan() || r <= 0.0 {
            let what = format!("stands in {name}, where a star has no potential");
            return Err(refused(&what));
        }
        let vr = dot(&x, &v) / r;
        let vt = (dot(&v, &v) - vr * vr).max(0.0).sqrt();
        if !Stars::allows(body.mass, r, [vr, vt]) {
            return Err(refused(IMMODERATE));
        }
        let label = labels.as_ref().map_or(k as u64, |labels| labels[k]);
        stars.push(label, body.mass, r, [vr, vt]);
    }
    Ok(stars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::models::plummer;

    /// One escaper far away moves the centre of mass by more than the core's radius, and drifting changes nothing.
    #[test]
    fn an_escaper_moves_no_centre() {
        let mut bodies = plummer(1000, 7);
        for body in &mut bodies {
            body.index += 5000;
            body.x[1] += 3.0;
            body.v[0] -= 2.0;
        }
        let (alone, dropped) = cluster_of(&bodies).unwrap();
        assert!(dropped < 10, "{dropped}");
        bodies.push(Body {
            index: 17,
            mass: 1e-3,
            x: [600.0, 0.0, 0.0],
            v: [30.0, 0.0, 0.0],
        });
        let (stars, more) = cluster_of(&bodies).unwrap();
        assert_eq!(more, dropped + 1);
        assert_eq!(
            (&stars.id, &stars.r, &stars.vr),
            (&alone.id, &alone.r, &alone.vr)
        );
        assert!(stars.id.iter().all(|id| *id >= 5000));
        let mut radii = stars.r.clone();
        radii.sort_by(f64::total_cmp);
        // A tenth of the mass of Plummer's sphere is within 0.31 in these units.
        assert!((radii[100] / 0.31 - 1.0).abs() < 0.1, "{}", radii[100]);
    }

    /// The centre of mass is no place of its own: only in the centre of the shells a star has no potential.
    #[test]
    fn a_star_may_stand_in_the_centre_of_mass() {
        let mut bodies = plummer(200, 7);
        for k in 0..bodies.len() {
            let body = bodies[k];
            bodies.push(Body {
                index: body.index + 200,
                x: body.x.map(|c| -c),
                ..body
            });
        }
        bodies.push(Body {
            index: 400,
            mass: bodies[0].mass,
            x: [0.0; 3],
            v: [0.0, 0.1, 0.0],
        });
        assert_eq!(centre_of_mass(&bodies).0, [0.0; 3]);
        let why = of_bodies(&bodies).unwrap_err().to_string();
        assert!(
            why.contains("the body with index 400 stands in the centre of mass"),
            "{why}"
        );
        let (stars, _) = cluster_of(&bodies).unwrap();
        assert!(stars.id.contains(&400));
        bodies[400].x[2] = f64::INFINITY;
        let why = cluster_of(&bodies).unwrap_err().to_string();
        assert!(why.contains("body 401 of the file (index 400)"), "{why}");
    }

    #[test]
    fn labels_are_kept_if_they_tell_stars_apart() {
        let mut bodies = plummer(200, 7);
        bodies
            .iter_mut()
            .for_each(|body| body.index = 3 * body.index + 2);
        let labels = |bodies: &[Body]| of_bodies(bodies).unwrap().id;
        let kept: Vec<u64> = (0..200)
            .map(|k| bodies[k].index.unsigned_abs().into())
            .collect();
        assert_eq!(labels(&bodies), kept);
        let counted: Vec<u64> = (0..200).collect();
        bodies[3].index = bodies[4].index;
        assert_eq!(labels(&bodies), counted);
        bodies[3].index = -1;
        assert_eq!(labels(&bodies), counted);
    }

    #[test]
    fn bodies_that_fly_apart_are_no_cluster() {
        let mut bodies = plummer(200, 7);
        bodies
            .iter_mut()
            .for_each(|body| body.v = body.v.map(|v| 10.0 * v));
        let why = cluster_of(&bodies).unwrap_err().to_string();
        assert!(why.contains("of 200 bodies are bound"), "{why}");
    }
}
