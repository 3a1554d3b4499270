//! A stream along the orbit of its cluster: where each star is along it and beside it, and how dense it is.

use kirin_kit::Body;
use kirin_kit::galaxy::{Field, Galaxy, flow::Phase, way};
use kirin_kit::vector::{Vec3, add_scaled, cross, dot, norm, sub};
use rayon::prelude::*;

/// Points of the orbit on each side of the cluster.
const POINTS: usize = 400;

/// The orbit is followed to each side for the time in which the cluster would go through this angle, in radians, on a
/// circle at its present distance. The speed on this circle is the cluster's present speed, or the circular speed if
/// that is higher. A star's place is measured from the nearest part of the orbit.
const REACH: f64 = 3.0;

/// The orbit of a cluster, as a single body's, behind it and ahead of it.
#[derive(Clone, Debug)]
pub struct Track {
    /// Positions and velocities in the order of time, the cluster's own in the middle.
    points: Vec<Phase>,
    /// Length of the orbit from the cluster to each point, negative behind it.
    lengths: Vec<f64>,
}

/// Where a star is with respect to the orbit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Length of the orbit from the cluster, positive ahead.
    pub along: f64,
    /// Distance from the orbit in its plane, positive outside.
    pub outward: f64,
    /// Distance from the plane, positive on the side of the angular momentum.
    pub above: f64,
}

impl Track {
    /// The orbit of a cluster that is at `phase` at the time `t`.
    ///
    /// # Errors
    ///
    /// It leads into a point mass; in words.
    pub fn of(galaxy: &Galaxy, phase: &Phase, t: f64) -> Result<Self, String> {
        let speed = norm(&phase.1);
        if speed == 0.0 {
            return Err("a cluster at rest has no orbit".to_owned());
        }
        // A cluster that turns round at the end of a narrow orbit is slow, and its orbit would be followed many times.
        let speed = speed.max(galaxy.at(t).circular_speed(&phase.0));
        let step = REACH / POINTS as f64 * norm(&phase.0) / speed;
        let side = |sign: f64| {
            let (mut now, mut points) = (*phase, Vec::with_capacity(POINTS));
            for k in 0..POINTS {
                let [from, to] = [k, k + 1].map(|k| t + sign * step * k as f64);
                now = way(galaxy, &now, from, to)?;
                points.push(now);
            }
            Ok::<_, String>(points)
        };
        let mut points = side(-1.0)?;
        points.reverse();
        points.push(*phase);
        points.extend(side(1.0)?);
        let mut lengths = vec![0.0; points.len()];
        for k in 1..points.len() {
            lengths[k] = lengths[k - 1] + norm(&sub(&points[k].0, &points[k - 1].0));
        }
        let middle = lengths[POINTS];
        lengths.iter_mut().for_each(|length| *length -= middle);
        Ok(Self { points, lengths })
    }

    /// The positions of the orbit.
    pub fn positions(&self) -> impl Iterator<Item = Vec3> {
        self.points.iter().map(|p| p.0)
    }

    /// Where a star at `x` is.
    pub fn place(&self, x: &Vec3) -> Place {
        let squared = |k: usize| {
            let offset = sub(x, &self.points[k].0);
            dot(&offset, &offset)
        };
        let nearest = (0..self.points.len()).map(|k| (squared(k), k));
        let (_, k) = nearest.fold((f64::INFINITY, POINTS), |best, at| {
            if at.0 < best.0 { at } else { best }
        });
        let (point, velocity) = &self.points[k];
        let speed = norm(velocity);
        let forward = velocity.map(|c| c / speed);
        let offset = sub(x, point);
        let ahead = dot(&offset, &forward);
        let mut across = offset;
        add_scaled(&mut across, -ahead, &forward);
        let momentum = cross(point, velocity);
        let pole = momentum.map(|c| c / norm(&momentum).max(f64::MIN_POSITIVE));
        Place {
            along: self.lengths[k] + ahead,
            outward: dot(&across, &cross(&forward, &pole)),
            above: dot(&across, &pole),
        }
    }

    /// Where all `bodies` are.
    pub fn places(&self, bodies: &[Body]) -> Vec<Place> {
        bodies.par_iter().map(|body| self.place(&body.x)).collect()
    }
}

/// Numbers of stars in intervals of this `width` along the orbit: the middle of each interval, and the stars per unit of
/// length.
pub fn density(along: &[f64], width: f64) -> Vec<(f64, f64)> {
    let number = |s: &f64| (s / width).floor() as i64;
    let (Some(first), Some(last)) = (
        along.iter().map(number).min(),
        along.iter().map(number).max(),
    ) else {
        return Vec::new();
    };
    let mut counts = vec![0.0; usize::try_from(last - first).map_or(0, |n| n + 1)];
    for s in along {
        counts[(number(s) - first) as usize] += 1.0;
    }
    let middle = |k: usize| (first as f64 + k as f64 + 0.5) * width;
    counts
        .into_iter()
        .enumerate()
        .map(|(k, n)| (middle(k), n / width))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::galaxy::MilkyWay;

    #[test]
    fn stars_beside_a_circle_have_their_places() {
        let galaxy = Galaxy {
            model: MilkyWay::AllenSantillan,
            ..Galaxy::default()
        };
        let (r, angle) = (800.0, 0.4_f64);
        let speed = galaxy.circular_speed(&[r, 0.0, 0.0]);
        let track = Track::of(&galaxy, &([r, 0.0, 0.0], [0.0, speed, 0.0]), 0.0).unwrap();
        let at = |r: f64, angle: f64, z: f64| [r * angle.cos(), r * angle.sin(), z];
        let place = track.place(&at(r + 3.0, angle, 2.0));
        assert!((place.along - r * angle).abs() < 0.05, "{place:?}");
        assert!(
            (place.outward - 3.0).abs() < 0.01 && (place.above - 2.0).abs() < 0.01,
            "{place:?}"
        );
        let behind = track.place(&at(r - 1.0, -angle, 0.0));
        assert!(
            (behind.along + r * angle).abs() < 0.05 && behind.outward < -0.9,
            "{behind:?}"
        );
        assert!(Track::of(&galaxy, &([r, 0.0, 0.0], [0.0; 3]), 0.0).is_err());
    }

    #[test]
    fn a_narrow_orbit_is_not_followed_many_times() {
        let galaxy = Galaxy {
            model: MilkyWay::AllenSantillan,
            ..Galaxy::default()
        };
        let start = ([800.0, 0.0, 0.0], [0.0, 1e-3, 0.0]);
        let track = Track::of(&galaxy, &start, 0.0).unwrap();
        let x: Vec<f64> = track.positions().map(|x| x[0]).collect();
        let crossings = x.windows(2).filter(|x| x[0] * x[1] < 0.0).count();
        assert!((2..=6).contains(&crossings), "{crossings}");
    }

    #[test]
    fn densities_are_stars_per_length() {
        let found = density(&[-0.1, 0.1, 0.2, 1.1], 0.5);
        assert_eq!(found, [(-0.25, 2.0), (0.25, 4.0), (0.75, 0.0), (1.25, 2.0)]);
        assert_eq!(density(&[], 1.0), []);
    }
}
