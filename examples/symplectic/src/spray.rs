//! A stream without an N-body run: particle spray after Fardal, Huang and Weinberg (2015, MNRAS 452, 301).
//!
//! The cluster is a single body on its orbit. It releases stars in pairs, one outwards and one inwards, and they then
//! move in the field of the galaxy alone. Their offsets have normal distributions. The unit of the positions is the
//! tidal radius, and the mean distance is 2. The unit of the velocities is the circular speed times the tidal radius
//! over the distance from the galaxy's centre.

use kirin_kit::galaxy::{Field, Galaxy, flow::Phase, way};
use kirin_kit::models::Random;
use kirin_kit::vector::{Vec3, add_scaled, cross, norm};
use rayon::prelude::*;

/// Means and dispersions: outward distance, velocity along the orbit, distance and velocity across its plane.
const MEAN: [f64; 4] = [2.0, 0.3, 0.0, 0.0];
const DISPERSION: [f64; 4] = [0.4, 0.4, 0.5, 0.5];

/// A model of the stream of a cluster whose phase-space coordinates at the time `to` are `phase`. `pairs` pairs of stars are
/// released at equal intervals from `from` to `to`, and the result has the stars at `to`. `mass(t)` is the mass of the
/// cluster.
///
/// # Errors
///
/// An orbit leads into a point mass, or the tide draws no star off anywhere; in words.
pub fn spray(
    galaxy: &Galaxy,
    phase: &Phase,
    (from, to): (f64, f64),
    mass: &(dyn Fn(f64) -> f64 + Sync),
    (pairs, seed): (usize, u64),
) -> Result<Vec<Phase>, String> {
    let mut releases = Vec::with_capacity(pairs);
    let (mut now, mut t) = (*phase, to);
    for k in 0..pairs {
        let next = to + (from - to) * (k as f64 + 0.5) / pairs as f64;
        now = way(galaxy, &now, t, next)?;
        t = next;
        releases.push((t, now));
    }
    let stars: Result<Vec<Vec<Phase>>, String> = releases
        .par_iter()
        .enumerate()
        .map(|(k, (t, cluster))| {
            let mut random = Random::of_part(seed, k as u64);
            let tide = galaxy.at(*t).tidal_radius(mass(*t), &cluster.0, &cluster.1);
            // Where the tide compresses, as in the core of a galaxy, no star leaves.
            if !tide.is_finite() {
                return Ok(Vec::new());
            }
            let speed = galaxy.at(*t).circular_speed(&cluster.0);
            let mut side = |sign: f64| {
                let star = let_go(cluster, tide, speed, sign, &mut random);
                way(galaxy, &star, *t, to)
            };
            Ok(vec![side(1.0)?, side(-1.0)?])
        })
        .collect();
    let stars = stars?.concat();
    match stars.is_empty() {
        true => {
            Err("the tide compresses the cluster all along its orbit: no star leaves it".to_owned())
        }
        false => Ok(stars),
    }
}

/// A star that leaves a cluster with this tidal radius, where the circular speed is `speed`.
fn let_go((x, v): &Phase, tide: f64, speed: f64, sign: f64, random: &mut Random) -> Phase {
    let r = norm(x);
    let unit = |a: &Vec3| a.map(|c| c / norm(a).max(f64::MIN_POSITIVE));
    let (outward, pole) = (unit(x), unit(&cross(x, v)));
    let along = cross(&pole, &outward);
    let draw: [f64; 4] = std::array::from_fn(|k| sign * MEAN[k] + DISPERSION[k] * random.normal());
    let (length, velocity) = (tide, speed * tide / r);
    let (mut place, mut motion) = (*x, *v);
    add_scaled(&mut place, draw[0] * length, &outward);
    add_scaled(&mut place, draw[2] * length, &pole);
    add_scaled(&mut motion, draw[1] * velocity, &along);
    add_scaled(&mut motion, draw[3] * velocity, &pole);
    (place, motion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Track;
    use kirin_kit::galaxy::MilkyWay;

    /// Stars that leave inwards lead, stars that leave outwards trail; how far follows from their angular speeds.
    #[test]
    fn stars_drift_as_fast_as_their_orbits_tell() {
        let galaxy = Galaxy {
            model: MilkyWay::MwPotential2014,
            ..Galaxy::default()
        };
        let r = 800.0;
        let speed = galaxy.circular_speed(&[r, 0.0, 0.0]);
        let phase = ([r, 0.0, 0.0], [0.0, speed, 0.0]);
        let (to, mass) = (150.0, |_: f64| 1.0);
        let stars = spray(&galaxy, &phase, (0.0, to), &mass, (300, 1)).unwrap();
        let track = Track::of(&galaxy, &phase, to).unwrap();
        let mean = |first: usize| {
            let places = stars
                .iter()
                .skip(first)
                .step_by(2)
                .map(|s| track.place(&s.0).along);
            places.sum::<f64>() / 300.0
        };
        let (outer, inner) = (mean(0), mean(1));
        // A guiding centre at r + d has the angular momentum (r + 2 t)(v + 0.3 v t / r): it is larger by 2.3 t / r. Where v
        // goes with r^b, r goes with L^(1 / (1 + b)) and the angular speed with r^(b - 1). The mean star has half of the
        // time.
        let tide = galaxy.tidal_radius(1.0, &phase.0, &phase.1);
        let beyond = galaxy.circular_speed(&[1.01 * r, 0.0, 0.0]);
        let slope = (beyond / speed).ln() / 1.01_f64.ln();
        let expected = 2.3 * tide / r * (1.0 - slope) / (1.0 + slope) * speed * 0.5 * to;
        for (found, sign) in [(outer, -1.0), (inner, 1.0)] {
            let ratio = found / (sign * expected);
            assert!((0.9..1.1).contains(&ratio), "{found} {expected}");
        }
    }
}
