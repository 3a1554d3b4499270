//! Bodies of an input on an orbit in a galaxy.

use super::{Field, Galaxy, GalaxyOptions, Units};
use crate::body::Body;
use crate::bound::BoundPart;
use crate::diagnostics::{centre_of_mass, lagrangian_radii, mass};
use crate::models::Random;
use crate::sight::Sight;
use crate::snapshot::Snapshot;
use crate::vector::{add_scaled, norm};

/// Most bodies among which the bound ones are sought; of more, the bound ones of a sample are.
const LARGEST: usize = 65536;

/// A cluster lies at the galaxy's centre where its own is nearer than so many half-mass radii.
const NEAR: f64 = 2.0;

impl GalaxyOptions {
    /// Whether an option tells where the cluster is to be.
    pub fn places(&self) -> bool {
        self.orbit.is_some()
            || self.radius.is_some()
            || self.position.is_some()
            || self.velocity.is_some()
            || self.back.is_some()
    }

    /// Checks that no option would move the bodies of a run that goes on.
    ///
    /// # Errors
    ///
    /// One would; in words.
    pub fn check_resumed(&self) -> Result<(), String> {
        match self.places() {
            true => Err(
                "the input is the state of a run, which is on its orbit already: --orbit, --radius, --position, \
                 --velocity and --back place bodies, such as those of --snapshot-every"
                    .to_owned(),
            ),
            false => Ok(()),
        }
    }

    /// The galaxy of a new run that begins with the bodies of `snapshot`. If these come from a galaxy and no option
    /// places them anew, it is that galaxy, which the options must not contradict. Otherwise it is the galaxy of the
    /// options; what they do not say is taken from the snapshot.
    ///
    /// # Errors
    ///
    /// The options contradict it, or its lines make no sense; in words.
    pub fn galaxy_of(&self, snapshot: &Snapshot) -> Result<Galaxy, String> {
        let found = Galaxy::of(snapshot)?;
        if let Some(told) = Units::of(snapshot)? {
            self.check_units(&told)?;
        }
        if self.places() {
            // Bodies that are placed anew begin at the time 0, which is today unless --back says otherwise.
            return self.or_default(Galaxy {
                today: 0.0,
                ..found
            });
        }
        // Units alone are no galaxy that the options could contradict.
        match found.is_none() {
            true => self.or_default(found),
            false => self.galaxy(Some(found)),
        }
    }

    /// Checks that no option gives the bodies of an input other units than those that it tells.
    fn check_units(&self, told: &Units) -> Result<(), String> {
        if let Some(units) = self.units {
            return units.check_told(told, "--units");
        }
        self.units_or(*told)
            .check_told(told, "--cluster-mass or --cluster-radius")
    }

    /// The units that the options give; what they do not say is that of `found`.
    pub fn units_or(&self, found: Units) -> Units {
        self.units.unwrap_or(Units {
            mass: self.cluster_mass.unwrap_or(found.mass),
            length: self.cluster_radius.unwrap_or(found.length),
        })
    }

    /// Moves the bodies of `snapshot` to their orbit in `galaxy`, and returns the time at which their run begins.
    /// If no option gives an orbit, they stay where they are.
    ///
    /// # Errors
    ///
    /// Options that do not belong together, or bodies without a galaxy that would begin in the centre of one; in words.
    pub fn place(&self, galaxy: &Galaxy, snapshot: &mut Snapshot, eps: f64) -> Result<f64, String> {
        let in_field = Galaxy::is_in(snapshot)?;
        let bodies = &mut snapshot.bodies;
        if !self.places() {
            let (x, _) = centre_of_mass(bodies);
            let size = lagrangian_radii(bodies, &[0.5])[0];
            if !in_field && !galaxy.is_none() && norm(&x) <= NEAR * size {
                return Err(
                    "these bodies are at the centre of the galaxy: --orbit, --radius, --position or --velocity takes \
                     them to an orbit, --orbit rest leaves them there"
                        .to_owned(),
                );
            }
            return Ok(snapshot.time);
        }
        let orbit = self.orbit(galaxy)?;
        centre_on_bound(bodies, eps, in_field);
        orbit.shift(galaxy, bodies);
        Ok(0.0)
    }
}

/// The bound part of the bodies of an input, softened by `eps`, `in_field` if they come from a galaxy. Of more than 65536
/// bodies it is that of a sample, whose stars stand for as many as the second number says. `None` if nobody is bound.
pub fn bound_of_input(bodies: &[Body], eps: f64, in_field: bool) -> Option<(BoundPart, usize)> {
    if bodies.len() < 2 {
        return None;
    }
    let (sample, stride) = sample(bodies, LARGEST);
    let nothing = Galaxy::default();
    let field = in_field.then_some(&nothing as &dyn Field);
    let bound = Sight::summed(&sample, eps * eps, field).bound;
    (bound.count() > 0).then_some((bound, stride))
}

/// At most `largest` of the bodies at random, each with the mass of those that it stands for, whose number comes second.
/// Not every second body or so: in a file the primaries and secondaries of binaries may take turns.
fn sample(bodies: &[Body], largest: usize) -> (Vec<Body>, usize) {
    let stride = bodies.len().div_ceil(largest);
    let mut random = Random::new(1);
    let one_of = |some: &[Body]| {
        let body = &some[(random.uniform() * some.len() as f64) as usize];
        Body {
            mass: some.len() as f64 * body.mass,
            ..*body
        }
    };
    (bodies.chunks(stride).map(one_of).collect(), stride)
}

/// Puts the centre of the bound part at rest in the origin; where nobody is bound, that of all.
fn centre_on_bound(bodies: &mut [Body], eps: f64, in_field: bool) {
    let (x, v) = match bound_of_input(bodies, eps, in_field) {
        Some((bound, _)) => (bound.x, bound.v),
        None => centre_of_mass(bodies),
    };
    for body in bodies {
        add_scaled(&mut body.x, -1.0, &x);
        add_scaled(&mut body.v, -1.0, &v);
    }
}

impl Units {
    /// Makes bodies in solar masses, parsecs and km/s bodies in these units.
    pub fn scale(&self, bodies: &mut [Body]) {
        for body in bodies {
            body.mass /= self.mass;
            body.x = body.x.map(|c| c / self.length);
            body.v = body.v.map(|c| self.from_km_s(c));
        }
    }

    /// Units in which `bodies`, given in solar masses and parsecs, have the total mass 1 and the half-mass radius 1 (or
    /// nearly so).
    pub fn of_physical(bodies: &[Body]) -> Self {
        let length = lagrangian_radii(bodies, &[0.5])[0];
        let whole = mass(bodies);
        let default = Self::default();
        Self {
            mass: if whole > 0.0 { whole } else { default.mass },
            length: if length > 0.0 { length } else { default.length },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::galaxy::MilkyWay;
    use crate::models;
    use crate::vector::sub;

    fn snapshot() -> Snapshot {
        let mut bodies = models::plummer(200, 1);
        // A star that has left is no part of the cluster.
        bodies[0].x[0] += 1e4;
        Snapshot {
            time: 3.0,
            bodies,
            ..Snapshot::default()
        }
    }

    fn options() -> GalaxyOptions {
        GalaxyOptions {
            galaxy: Some(MilkyWay::Irrgang),
            ..GalaxyOptions::default()
        }
    }

    #[test]
    fn the_bound_part_is_on_the_orbit() {
        let mut given = snapshot();
        let options = GalaxyOptions {
            radius: Some(crate::quantity::distance("8").unwrap()),
            ..options()
        };
        let galaxy = options.galaxy_of(&given).unwrap();
        assert_eq!(options.place(&galaxy, &mut given, 0.0), Ok(0.0));
        let (x, _) = centre_of_mass(&given.bodies[1..]);
        assert!(norm(&sub(&x, &[800.0, 0.0, 0.0])) < 0.1, "{x:?}");
    }

    /// An option would not convert the bodies of an input that tells its units.
    #[test]
    fn the_units_of_an_input_are_not_contradicted() {
        let units = |mass| Units { mass, length: 5.0 };
        let mut given = snapshot();
        given.run = Galaxy::of_units(Some(units(2e4))).lines();
        for (options, is_same) in [
            (
                GalaxyOptions {
                    units: Some(units(2e4)),
                    ..GalaxyOptions::default()
                },
                true,
            ),
            (
                GalaxyOptions {
                    units: Some(units(1e4)),
                    ..GalaxyOptions::default()
                },
                false,
            ),
            (
                GalaxyOptions {
                    cluster_mass: Some(2e4),
                    ..options()
                },
                true,
            ),
            (
                GalaxyOptions {
                    cluster_mass: Some(1e4),
                    ..options()
                },
                false,
            ),
            (
                GalaxyOptions {
                    cluster_radius: Some(1.0),
                    ..options()
                },
                false,
            ),
            (
                GalaxyOptions {
                    radius: Some(crate::quantity::distance("8").unwrap()),
                    cluster_radius: Some(1.0),
                    ..options()
                },
                false,
            ),
        ] {
            match options.galaxy_of(&given) {
                Ok(galaxy) => assert!(is_same && galaxy.units == units(2e4), "{options:?}"),
                Err(why) => assert!(!is_same && why.contains("20000.0Msun,5.0pc"), "{why}"),
            }
        }
    }

    #[test]
    fn nobody_falls_into_the_centre_unasked() {
        let mut given = snapshot();
        given.bodies.remove(0);
        let galaxy = options().galaxy_of(&given).unwrap();
        let refusal = options().place(&galaxy, &mut given, 0.0).unwrap_err();
        assert!(refusal.contains("--orbit rest"), "{refusal}");
        // Units are no galaxy from which they could come.
        given.run = Galaxy::of_units(Some(Units::default())).lines();
        let refusal = options().place(&galaxy, &mut given, 0.0).unwrap_err();
        assert!(refusal.contains("--orbit rest"), "{refusal}");
        for body in &mut given.bodies {
            body.x[0] += 800.0;
        }
        assert_eq!(options().place(&galaxy, &mut given, 0.0), Ok(3.0));
        // Bodies that a galaxy's run left there stay there.
        given.bodies = models::plummer(200, 1);
        given.run = galaxy.lines();
        assert_eq!(options().place(&galaxy, &mut given, 0.0), Ok(3.0));
    }

    /// A sample of bodies whose heavy and light stars take turns has the mass of all, and a small set is its own sample.
    #[test]
    fn a_sample_has_heavy_and_light_stars() {
        let mut bodies = models::warm_sphere(4000, 3, 1.0);
        for (k, body) in bodies.iter_mut().enumerate() {
            body.mass *= [1.5, 0.5][k % 2];
        }
        let (some, each) = sample(&bodies, 2000);
        assert_eq!((some.len(), each), (2000, 2));
        let ratio = mass(&some) / mass(&bodies);
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        assert_eq!(sample(&bodies, 4000), (bodies, 1));
    }

    #[test]
    fn physical_units_become_the_clusters() {
        let mut bodies = models::plummer(300, 2);
        let units = Units {
            mass: 1e5,
            length: 4.0,
        };
        let before = bodies.clone();
        for body in &mut bodies {
            body.mass *= units.mass;
            body.x = body.x.map(|c| c * units.length);
            body.v = body.v.map(|c| c * units.velocity());
        }
        assert!((Units::of_physical(&bodies).mass / 1e5 - 1.0).abs() < 1e-12);
        units.scale(&mut bodies);
        for (a, b) in bodies.iter().zip(&before) {
            assert!(norm(&sub(&a.x, &b.x)) < 1e-12 && norm(&sub(&a.v, &b.v)) < 1e-12);
        }
    }
}
