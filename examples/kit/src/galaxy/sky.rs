//! Observed coordinates of a body in the Galaxy: ICRS position, distance, proper motion, radial velocity.
//!
//! The axes of the Galaxy are those of `Galactocentric` in astropy 4.0 and later: the Sun at negative x, moving towards
//! positive y; the z axis towards the northern galactic pole. The disc turns clockwise as seen from positive z.

use std::fmt;

use crate::vector::{Vec3, dot, norm, sub};

/// Position (kpc) and velocity (km/s) of the Sun in the Galaxy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Distance from the centre in kpc.
    pub distance: f64,
    /// Height above the plane in pc.
    pub height: f64,
    /// Velocity in km/s.
    pub velocity: Vec3,
}

impl Default for Sun {
    /// The values of astropy since 4.0: distance 8.122 kpc (GRAVITY 2018), height 20.8 pc (Bennett and Bovy 2019),
    /// velocity 12.9, 245.6 and 7.78 km/s (Drimmel and Poggio 2018).
    fn default() -> Self {
        Self {
            distance: 8.122,
            height: 20.8,
            velocity: [12.9, 245.6, 7.78],
        }
    }
}

impl Sun {
    /// `8.122,20.8,12.9,245.6,7.78`: distance and height, and the velocity.
    ///
    /// # Errors
    ///
    /// The text is none of these; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<f64>> = text.split(',').map(|c| c.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[distance, height, vx, vy, vz])
                if [distance, height, vx, vy, vz].iter().all(|c| c.is_finite())
                    && distance > height.abs() / 1000.0 =>
            {
                Ok(Self {
                    distance,
                    height,
                    velocity: [vx, vy, vz],
                })
            }
            _ => Err("not kpc, pc and three of km/s such as 8.122,20.8,12.9,245.6,7.78".to_owned()),
        }
    }
}

impl fmt::Display for Sun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [vx, vy, vz] = self.velocity;
        write!(f, "{},{},{vx},{vy},{vz}", self.distance, self.height)
    }
}

/// Right ascension and declination of the galactic centre, and the angle that turns the z axis to the northern pole; in
/// degrees.
const CENTRE: (f64, f64) = (266.4051, -28.936175);
const ROLL: f64 = 58.598_632_030_6;

/// km/s of a motion of a milliarcsecond a year at a distance of a kpc: an astronomical unit a Julian year.
const KM_S: f64 = 4.740_470_463_533_348;

/// What an observer at the Sun sees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Right ascension in degrees, from 0 to 360.
    pub ra: f64,
    /// Declination in degrees.
    pub dec: f64,
    /// Distance in kpc.
    pub distance: f64,
    /// Proper motion in right ascension times the cosine of the declination, in mas/yr.
    pub pm_ra: f64,
    /// Proper motion in declination, in mas/yr.
    pub pm_dec: f64,
    /// Radial velocity in km/s.
    pub radial: f64,
}

type Matrix = [Vec3; 3];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn times(m: &Matrix, x: &Vec3) -> Vec3 {
    std::array::from_fn(|i| dot(&m[i], x))
}

fn transposed(m: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

/// The axes turned by `angle` (in radians) about axis `k`.
fn turn(k: usize, angle: f64) -> Matrix {
    let (sin, cos) = angle.sin_cos();
    let (a, b) = ((k + 1) % 3, (k + 2) % 3);
    let mut m = [[0.0; 3]; 3];
    m[k][k] = 1.0;
    (m[a][a], m[b][b]) = (cos, cos);
    (m[a][b], m[b][a]) = (sin, -sin);
    m
}

impl Sun {
    /// From ICRS to the galaxy's axes.
    fn matrix(&self) -> Matrix {
        let (ra, dec) = (CENTRE.0.to_radians(), CENTRE.1.to_radians());
        let to_centre = product(&turn(1, -dec), &turn(2, ra));
        let level = product(&turn(0, ROLL.to_radians()), &to_centre);
        let tilt = -(self.height / 1000.0 / self.distance).asin();
        product(&turn(1, tilt), &level)
    }

    /// Position of the Sun in kpc.
    pub fn position(&self) -> Vec3 {
        let z = self.height / 1000.0;
        [-(self.distance * self.distance - z * z).sqrt(), 0.0, z]
    }

    /// What is seen of something at `x` (kpc) with the velocity `v` (km/s).
    pub fn see(&self, x: &Vec3, v: &Vec3) -> Seen {
        let back = transposed(&self.matrix());
        let x = times(&back, &sub(x, &self.position()));
        let v = times(&back, &sub(v, &self.velocity));
        let (r, flat) = (norm(&x), x[0].hypot(x[1]));
        let east = (x[0] * v[1] - x[1] * v[0]) / flat;
        let north = (v[2] * flat - x[2] * (x[0] * v[0] + x[1] * v[1]) / flat) / r;
        Seen {
            ra: x[1].atan2(x[0]).to_degrees().rem_euclid(360.0),
            dec: x[2].atan2(flat).to_degrees(),
            distance: r,
            pm_ra: east / (KM_S * r),
            pm_dec: north / (KM_S * r),
            radial: dot(&x, &v) / r,
        }
    }

    /// Position (kpc) and velocity (km/s) in the Galaxy of what is `seen`.
    pub fn place(&self, seen: &Seen) -> (Vec3, Vec3) {
        let (sin_ra, cos_ra) = seen.ra.to_radians().sin_cos();
        let (sin, cos) = seen.dec.to_radians().sin_cos();
        let along = [cos * cos_ra, cos * sin_ra, sin];
        let (east, north) = ([-sin_ra, cos_ra, 0.0], [-sin * cos_ra, -sin * sin_ra, cos]);
        let speed = KM_S * seen.distance;
        let v: Vec3 = std::array::from_fn(|k| {
            seen.radial * along[k] + speed * (seen.pm_ra * east[k] + seen.pm_dec * north[k])
        });
        let m = self.matrix();
        let mut x = times(&m, &along.map(|c| seen.distance * c));
        let mut v = times(&m, &v);
        crate::vector::add_scaled(&mut x, 1.0, &self.position());
        crate::vector::add_scaled(&mut v, 1.0, &self.velocity);
        (x, v)
    }
}

/// Longitude and latitude on the sky along an orbit, as seen from the Sun. The equator lies in the plane of the line of
/// sight to the cluster and the cluster's velocity in the Galaxy. The longitude is 0 at the cluster and grows in the
/// direction of its motion. The latitude is the angle from that plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamAxes {
    axes: Matrix,
    sun: Vec3,
}

impl StreamAxes {
    /// The axes for a cluster at `x` (kpc) with the velocity `v` in the Galaxy (any unit). `None` if it moves along the
    /// line of sight.
    pub fn along(sun: &Sun, x: &Vec3, v: &Vec3) -> Option<Self> {
        let sun = sun.position();
        let sight = sub(x, &sun);
        let pole = crate::vector::cross(&sight, v);
        let unit = |a: &Vec3| a.map(|c| c / norm(a));
        if norm(&pole) <= 1e-9 * norm(&sight) * norm(v) {
            return None;
        }
        let (first, third) = (unit(&sight), unit(&pole));
        let axes = [first, crate::vector::cross(&third, &first), third];
        Some(Self { axes, sun })
    }

    /// Longitude (-180 to 180) and latitude in degrees of something at `x` in kpc.
    pub fn of(&self, x: &Vec3) -> (f64, f64) {
        let [a, b, c] = times(&self.axes, &sub(x, &self.sun));
        (b.atan2(a).to_degrees(), c.atan2(a.hypot(b)).to_degrees())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions and velocities in the Galaxy (kpc, km/s), and what is seen of them. astropy 8.0.2 computed them in
    /// examples/symplectic/benches/galaxies.py: `Galactocentric(...).transform_to(ICRS())` with the defaults of v4.0.
    const SEEN: [([f64; 6], [f64; 6]); 3] = include!("sky_reference.txt");

    #[test]
    fn the_sky_is_that_of_astropy() {
        let sun = Sun::default();
        for ([x, y, z, vx, vy, vz], expected) in SEEN {
            let seen = sun.see(&[x, y, z], &[vx, vy, vz]);
            let Seen {
                ra,
                dec,
                distance,
                pm_ra,
                pm_dec,
                radial,
            } = seen;
            for (found, expected) in [ra, dec, distance, pm_ra, pm_dec, radial]
                .iter()
                .zip(expected)
            {
                assert!(
                    (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
                    "{seen:?}: {expected}"
                );
            }
            let (place, velocity) = sun.place(&seen);
            assert!(norm(&sub(&place, &[x, y, z])) < 1e-11 * norm(&place));
            assert!(norm(&sub(&velocity, &[vx, vy, vz])) < 1e-10 * norm(&velocity));
        }
    }

    #[test]
    fn a_stream_is_a_circle_through_its_cluster() {
        let sun = Sun::default();
        let (x, v) = ([6.2, 0.2, 16.4], [-47.6, -119.7, -11.4]);
        let axes = StreamAxes::along(&sun, &x, &v).unwrap();
        let ahead: Vec3 = std::array::from_fn(|k| x[k] + 0.01 * v[k]);
        let ((l, b), (l1, b1)) = (axes.of(&x), axes.of(&ahead));
        assert!(l.abs() < 1e-12 && b.abs() < 1e-12 && l1 > 1.0 && b1.abs() < 1e-12);
        let away = sub(&x, &sun.position());
        assert_eq!(StreamAxes::along(&sun, &x, &away), None);
    }
}
