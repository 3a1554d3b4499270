//! The initial position and velocity of a cluster in its galaxy.

use super::flow::{Phase, follow};
use super::{Field, Galaxy};
use crate::body::Body;
use crate::models::to_centre_of_mass;
use crate::vector::{Vec3, add_scaled, norm};

/// Part of the circular speed with which a quasi-radial orbit begins.
pub const SIDEWAYS: f64 = 0.001;

/// The orbit of a cluster's centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Orbit {
    /// None: it stays at rest at the origin.
    Rest,
    /// Begins at `(r, 0, 0)` with the circular speed, in the plane and counterclockwise; a length of the cluster's.
    Circular(f64),
    /// Begins at `(-r, 0, 0)` with the circular speed, in the plane and clockwise: as the disc of the Milky Way turns.
    Prograde(f64),
    /// Begins at `(r, 0, 0)` nearly at rest: with a thousandth of the circular speed.
    Radial(f64),
    /// Begins at this position with this velocity, in the cluster's units.
    Given(Vec3, Vec3),
}

impl Orbit {
    /// Position and velocity at the beginning, in the cluster's units.
    pub fn start(&self, galaxy: &Galaxy) -> (Vec3, Vec3) {
        let beside = |r: f64, part: f64| {
            let x = [r, 0.0, 0.0];
            (x, [0.0, part * galaxy.circular_speed(&x), 0.0])
        };
        match *self {
            Self::Rest => ([0.0; 3], [0.0; 3]),
            Self::Circular(r) => beside(r, 1.0),
            Self::Prograde(r) => beside(-r, 1.0),
            Self::Radial(r) => beside(r, SIDEWAYS),
            Self::Given(x, v) => (x, v),
        }
    }

    /// The start of a run that begins the time `back` before today, so that the cluster is at the start of this orbit
    /// today. It is found by following a single body back through the galaxy.
    ///
    /// # Errors
    ///
    /// The way leads into a point mass; in words.
    pub fn back(&self, galaxy: &Galaxy, back: f64) -> Result<Self, String> {
        if back == 0.0 {
            return Ok(*self);
        }
        let (x, v) = way(
            galaxy,
            &self.start(galaxy),
            galaxy.today,
            galaxy.today - back,
        )?;
        Ok(Self::Given(x, v))
    }

    /// Puts the centre of mass of `bodies` at the beginning of the orbit.
    pub fn place(&self, galaxy: &Galaxy, bodies: &mut [Body]) {
        if *self != Self::Rest {
            to_centre_of_mass(bodies);
            self.shift(galaxy, bodies);
        }
    }

    /// Takes `bodies` about the origin to the beginning of the orbit.
    pub fn shift(&self, galaxy: &Galaxy, bodies: &mut [Body]) {
        let (x, v) = self.start(galaxy);
        for body in bodies {
            add_scaled(&mut body.x, 1.0, &x);
            add_scaled(&mut body.v, 1.0, &v);
        }
    }
}

/// Where a single body is at the time `to` that is at `start` at the time `from`, earlier or later.
///
/// # Errors
///
/// The way leads into a point mass; in words.
pub fn way(galaxy: &Galaxy, start: &Phase, from: f64, to: f64) -> Result<Phase, String> {
    let constant = (!galaxy.changes()).then(|| galaxy.at(galaxy.today));
    let force = |t: f64, p: &Phase| match &constant {
        Some(moment) => moment.acceleration(&p.0),
        None => galaxy.at(t).acceleration(&p.0),
    };
    // A hundredth of a radian of the orbit, to begin with.
    let first = 0.01 * norm(&start.0)
        / norm(&start.1)
            .max(galaxy.circular_speed(&start.0))
            .max(1e-12);
    follow(&force, start, from, to, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::centre_of_mass;
    use crate::galaxy::MilkyWay;
    use crate::models;
    use crate::vector::sub;

    #[test]
    fn the_centre_of_mass_is_on_the_orbit() {
        let galaxy = Galaxy {
            model: MilkyWay::Irrgang,
            ..Galaxy::default()
        };
        let r = galaxy.units.from_kpc(8.4);
        for (orbit, speed) in [(Orbit::Circular(r), 242.0), (Orbit::Radial(r), 0.242)] {
            let mut bodies = models::plummer(100, 1);
            orbit.place(&galaxy, &mut bodies);
            let (x, v) = centre_of_mass(&bodies);
            assert!(norm(&sub(&x, &[r, 0.0, 0.0])) < 1e-9 * r);
            let km_s = norm(&v) * galaxy.units.velocity();
            assert!((km_s / speed - 1.0).abs() < 1e-3, "{km_s}");
            assert!(v[1] > 0.0);
        }
    }

    /// The way back ends where the way there began, through a galaxy that grows and has a bar and a satellite.
    #[test]
    fn back_and_there_again() {
        use crate::galaxy::additions::{AdditionOptions, Additions};
        use crate::galaxy::satellite::Satellite;
        let told = AdditionOptions {
            bar: Some([1e10, 4.0, 1.0, 0.5, -39.0, 28.0]),
            growth: 0.05,
            satellites: vec![Satellite::parse("plummer:1e10:2:20,0,5:0,150,0").unwrap()],
            ..AdditionOptions::default()
        };
        let model = MilkyWay::MwPotential2014;
        let galaxy = Galaxy {
            model,
            more: Some(Additions::of(told, model)),
            today: 300.0,
            ..Galaxy::default()
        };
        let units = galaxy.units;
        let x = [8.0, 2.0, 5.0].map(|c| units.from_kpc(c));
        let v = [30.0, -150.0, 40.0].map(|c| units.from_km_s(c));
        let Orbit::Given(past, speed) = Orbit::Given(x, v).back(&galaxy, 300.0).unwrap() else {
            panic!("a given orbit");
        };
        assert!(norm(&sub(&past, &x)) > 100.0);
        let (again, _) = way(&galaxy, &(past, speed), 0.0, 300.0).unwrap();
        assert!(norm(&sub(&again, &x)) < 1e-6, "{again:?} {x:?}");
    }

    /// Galaxy, program, and position in kpc after 10 Gyr. The figures were made with galpy 1.12.1 and gala 1.11.0
    /// by `examples/symplectic/benches/galaxies.py --references`.
    const AFTER_10_GYR: [(&str, &str, Vec3); 8] = include!("orbit_reference.txt");

    fn galaxy(name: &str) -> Galaxy {
        use crate::galaxy::additions::{AdditionOptions, Additions};
        use crate::galaxy::satellite::Satellite;
        let model = MilkyWay::MwPotential2014;
        let satellite = |end: &str| {
            let text = format!("plummer:1e10:3:60,0,40:0,100,30{end}");
            vec![Satellite::parse(&text).unwrap()]
        };
        let told = match name {
            "bar" => AdditionOptions {
                bar: Some([1e10, 4.0, 1.0, 0.5, -39.0, 28.0]),
                ..AdditionOptions::default()
            },
            "fixed" => AdditionOptions {
                satellites: satellite(":fixed"),
                ..AdditionOptions::default()
            },
            "moving" => AdditionOptions {
                satellites: satellite(""),
                ..AdditionOptions::default()
            },
            "growth" => AdditionOptions {
                growth: 0.03,
                ..AdditionOptions::default()
            },
            _ => AdditionOptions::default(),
        };
        let more = (!told.is_empty()).then(|| Additions::of(told, model));
        Galaxy {
            model,
            more,
            ..Galaxy::default()
        }
    }

    /// Orbits over 10 Gyr are those of two other programs, which differ by 2e-7 from each other.
    #[test]
    fn orbits_are_those_of_galpy_and_gala() {
        for (name, program, expected) in AFTER_10_GYR {
            let galaxy = galaxy(name);
            let units = galaxy.units;
            let x = [8.0, 1.0, 6.0].map(|c| units.from_kpc(c));
            let v = [60.0, 150.0, -40.0].map(|c| units.from_km_s(c));
            let (end, _) = way(&galaxy, &(x, v), 0.0, 10_000.0 / units.time()).unwrap();
            let off = norm(&sub(&end.map(|c| units.to_kpc(c)), &expected)) / norm(&expected);
            let most = if program == "galpy" { 1e-7 } else { 1e-6 };
            assert!(off < most, "{name} {program}: {off:e}");
        }
    }
}
