//! Satellites of the galaxy: spheres that stand still or move in its field, with dynamical friction if it is wanted. They
//! attract the stars; the galaxy does not move, and satellites do not attract each other.

use super::Field;
use super::component::Plummer;
use super::flow::{Phase, follow};
use super::friction::Friction;
use super::milky_way::{TIME, VELOCITY, solar_masses};
use super::sky::{Seen, Sun};
use super::spheres::{Hernquist, Nfw};
use super::words::{self, Formula, Part};
use crate::vector::{Vec3, add_scaled, dot};

/// Shape of a satellite; masses and lengths in the model's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// Plummer's sphere.
    Plummer(Plummer),
    /// Hernquist's sphere.
    Hernquist(Hernquist),
    /// The halo of Navarro, Frenk and White.
    Nfw(Nfw),
}

impl Body {
    fn field(&self) -> &dyn Field {
        match self {
            Self::Plummer(sphere) => sphere,
            Self::Hernquist(sphere) => sphere,
            Self::Nfw(sphere) => sphere,
        }
    }

    /// Mass and half-mass radius, by which friction is found; of a halo those within its scale formula's mass.
    pub(super) fn size(&self) -> (f64, f64) {
        match self {
            Self::Plummer(p) => (p.m, p.b / (4.0_f64.powf(1.0 / 3.0) - 1.0).sqrt()),
            Self::Hernquist(h) => (h.m, h.a * (1.0 + std::f64::consts::SQRT_2)),
            // Half of the formula's mass is within 2.3 scale lengths.
            Self::Nfw(n) => (n.m, 2.314_46 * n.a),
        }
    }
}

/// A satellite as the command line tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Satellite {
    /// Its text.
    pub text: String,
    pub(super) body: Body,
    /// Today's position in kpc and velocity in 10 km/s.
    today: Phase,
    fixed: bool,
    friction: bool,
}

impl Satellite {
    /// `lmc`, or `SHAPE:MASS:RADIUS:X,Y,Z:VX,VY,VZ` with plummer, hernquist or nfw, solar masses, kpc and km/s.
    /// `:fixed` or `:friction` may follow.
    ///
    /// # Errors
    ///
    /// The text is neither; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words: Vec<&str> = text.split(':').map(str::trim).collect();
        let mut take = |word: &str| match words.last() == Some(&word) {
            true => words.pop().is_some(),
            false => false,
        };
        let (fixed, friction) = (take("fixed"), take("friction"));
        let vector = |text: &str| -> Option<Vec3> {
            let numbers: Option<Vec<f64>> =
                text.split(',').map(|c| c.trim().parse().ok()).collect();
            let vector: Vec3 = numbers?.try_into().ok()?;
            vector.iter().all(|c| c.is_finite()).then_some(vector)
        };
        let known = match words[..] {
            ["lmc"] => Some(lmc()),
            [shape, mass, radius, x, v] => (|| {
                let number = |text: &str| {
                    text.parse()
                        .ok()
                        .filter(|n: &f64| *n > 0.0 && n.is_finite())
                };
                let (m, a) = (solar_masses(number(mass)?), number(radius)?);
                let body = match shape {
                    "plummer" => Body::Plummer(Plummer { m, b: a }),
                    "hernquist" => Body::Hernquist(Hernquist { m, a }),
                    "nfw" => Body::Nfw(Nfw { m, a }),
                    _ => return None,
                };
                Some((body, (vector(x)?, vector(v)?.map(|c| c / VELOCITY))))
            })(),
            _ => None,
        };
        let (body, today) = known.ok_or(
            "neither lmc nor SHAPE:MASS:RADIUS:X,Y,Z:VX,VY,VZ such as plummer:1e9:1.2:20,0,5:0,150,0 (plummer, \
             hernquist or nfw; solar masses, kpc, km/s), with :fixed or :friction behind it",
        )?;
        if fixed && friction {
            return Err("a fixed satellite has no friction".to_owned());
        }
        Ok(Self {
            // As it is written into states: there a space divides words.
            text: text.split_whitespace().collect(),
            body,
            today,
            fixed,
            friction,
        })
    }

    /// Whether the galaxy slows it by dynamical friction.
    pub fn is_slowed(&self) -> bool {
        self.friction
    }

    /// Whether it moves.
    pub fn moves(&self) -> bool {
        !self.fixed
    }
}

/// The Large Magellanic Cloud: a Hernquist sphere of 1.38e11 solar masses and 16.08 kpc (Erkal et al. 2019) where
/// Kallivayalil et al. (2013) and van der Marel et al. (2002) saw it.
fn lmc() -> (Body, Phase) {
    let seen = Seen {
        ra: 78.76,
        dec: -69.19,
        distance: 50.1,
        pm_ra: 1.910,
        pm_dec: 0.229,
        radial: 262.2,
    };
    let (x, v) = Sun::default().place(&seen);
    let body = Body::Hernquist(Hernquist {
        m: solar_masses(1.38e11),
        a: 16.08,
    });
    (body, (x, v.map(|c| c / VELOCITY)))
}

/// How far from today an orbit is known, in Myr.
pub const REACH: f64 = 14_000.0;

/// Interval of the orbit's table, in Myr.
pub(super) const INTERVAL: f64 = 1.0;

/// A satellite with its orbit, by time from today in the model's units.
#[derive(Debug)]
pub struct Moving {
    satellite: Satellite,
    /// Position, velocity and acceleration from the first time on.
    orbit: Vec<[Vec3; 3]>,
    /// Number of the entry of today.
    origin: usize,
    /// Time between two entries.
    step: f64,
    /// Why it could not be followed farther, where it could not.
    end: Option<String>,
}

impl Moving {
    /// Follows the satellite from today in both directions through the field that `host` is at a time, for [`REACH`] or as far as it can be
    /// followed: to the edge of a table, or to a point mass. Friction comes with the masses of the galaxy at a time, in parts of today's.
    pub fn new(
        satellite: Satellite,
        host: &dyn Fn(f64, &Vec3) -> Vec3,
        friction: Option<(&Friction, &dyn Fn(f64) -> f64)>,
    ) -> Self {
        let step = INTERVAL / TIME;
        let (mass, size) = satellite.body.size();
        let force = |t: f64, (x, v): &Phase| {
            let mut a = host(t, x);
            if let Some((friction, masses)) = friction.filter(|_| satellite.friction) {
                add_scaled(&mut a, -friction.rate(mass, size, x, v, masses(t)), v);
            }
            a
        };
        let entry = |t: f64, p: &Phase| [p.0, p.1, force(t, p)];
        if satellite.fixed {
            let orbit = vec![[satellite.today.0, [0.0; 3], [0.0; 3]]];
            return Self {
                satellite,
                orbit,
                origin: 0,
                step,
                end: None,
            };
        }
        let lines = (REACH / INTERVAL) as usize;
        let mut end = None;
        let mut way = |sign: f64| {
            let mut now = satellite.today;
            let mut way = Vec::with_capacity(lines);
            for k in 0..lines {
                let (t, next) = (sign * step * k as f64, sign * step * (k + 1) as f64);
                match follow(&force, &now, t, next, step) {
                    Ok(there) => now = there,
                    Err(why) => {
                        end = Some(why);
                        break;
                    }
                }
                way.push(entry(next, &now));
            }
            way
        };
        let (mut orbit, after) = (way(-1.0), way(1.0));
        let origin = orbit.len();
        orbit.reverse();
        orbit.push(entry(0.0, &satellite.today));
        orbit.extend(after);
        Self {
            satellite,
            orbit,
            origin,
            step,
            end,
        }
    }

    /// Refuses times from today, in Myr, at which it is not known where it is. `edge` tells where the galaxy is not known.
    ///
    /// # Errors
    ///
    /// In words.
    pub fn check(&self, times: [f64; 2], edge: Option<&str>) -> Result<(), String> {
        if self.satellite.fixed {
            return Ok(());
        }
        let before = INTERVAL * self.origin as f64;
        let after = INTERVAL * (self.orbit.len() - 1 - self.origin) as f64;
        if -before <= times[0] && times[1] <= after {
            return Ok(());
        }
        let why = match (&self.end, edge) {
            (None, _) => String::new(),
            (Some(_), Some(edge)) => format!("; the potential ends at {edge}"),
            (Some(why), None) => format!("; {why}"),
        };
        Err(format!(
            "--satellite {}: its orbit is known from {before} Myr before to {after} Myr after today{why}",
            self.satellite.text
        ))
    }

    /// Where it is at the time `t` from today, with its velocity; at the ends of the table where `t` is beyond them.
    pub fn at(&self, t: f64) -> Here {
        let body = self.satellite.body;
        if self.orbit.len() < 2 {
            let [x, v, _] = self.orbit[0];
            return Here { body, x, v };
        }
        let place = (t / self.step + self.origin as f64).clamp(0.0, (self.orbit.len() - 1) as f64);
        let k = (place as usize).min(self.orbit.len() - 2);
        let s = place - k as f64;
        let (a, b, h) = (&self.orbit[k], &self.orbit[k + 1], self.step);
        let (mut x, mut v) = ([0.0; 3], [0.0; 3]);
        let basis = super::multipole::quintic(s);
        for i in 0..3 {
            let knots = [
                a[0][i],
                h * a[1][i],
                h * h * a[2][i],
                b[0][i],
                h * b[1][i],
                h * h * b[2][i],
            ];
            for (knot, [value, slope]) in knots.iter().zip(&basis) {
                x[i] += knot * value;
                v[i] += knot * slope / h;
            }
        }
        Here { body, x, v }
    }
}

/// A satellite at one time.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    body: Body,
    x: Vec3,
    v: Vec3,
}

impl Here {
    fn from(&self, x: &Vec3) -> Vec3 {
        crate::vector::sub(x, &self.x)
    }

    /// For a GPU.
    pub(super) fn words(&self) -> Part {
        let shape: &dyn Formula = match &self.body {
            Body::Plummer(sphere) => sphere,
            Body::Hernquist(sphere) => sphere,
            Body::Nfw(sphere) => sphere,
        };
        words::satellite(shape, &self.x, &self.v)
    }

    /// Position and velocity.
    pub fn phase(&self) -> Phase {
        (self.x, self.v)
    }
}

impl Field for Here {
    fn potential(&self, x: &Vec3) -> f64 {
        self.body.field().potential(&self.from(x))
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        self.body.field().acceleration(&self.from(x))
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        self.body.field().jerk(&self.from(x), v)
    }

    fn potential_change(&self, x: &Vec3) -> f64 {
        dot(&self.v, &self.acceleration(x))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::galaxy::MilkyWay;
    use crate::galaxy::additions::{AdditionOptions, Additions};
    use crate::vector::{norm, sub};

    pub fn followed(text: &str) -> &'static Additions {
        let told = AdditionOptions {
            satellites: vec![Satellite::parse(text).unwrap()],
            ..AdditionOptions::default()
        };
        Additions::of(told, MilkyWay::MwPotential2014)
    }

    /// MWPotential2014 on a grid that ends at R = z = 60 kpc.
    pub fn gridded(name: &str) -> AdditionOptions {
        let folder = kirin_testing::Folder::new(name);
        let path = folder.file("grid.txt");
        let model = MilkyWay::MwPotential2014;
        let axis = |k: i32| 60.0 * (f64::from(k) / 80.0).powi(2);
        let mut text = "R_kpc z_kpc potential_km2_s2\n".to_owned();
        for i in 0..=80 {
            for j in 0..=80 {
                let (r, z) = (axis(i), axis(j));
                let phi = 100.0 * model.potential(&[r.max(1e-3), 0.0, z]);
                text.push_str(&format!("{r} {z} {phi:?}\n"));
            }
        }
        std::fs::write(&path, text).unwrap();
        let table = crate::galaxy::table::Table::load(path.as_ref());
        AdditionOptions {
            table: Some(table.unwrap()),
            ..AdditionOptions::default()
        }
    }

    #[test]
    fn an_orbit_is_known_as_far_as_the_galaxy_is() {
        let mut told = gridded("kit-grid-edge");
        told.satellites = vec![Satellite::parse("lmc").unwrap()];
        let more = Additions::of(told, MilkyWay::None);
        assert_eq!(more.check([0.0, 20.0], None), Ok(()));
        let refused = more.check([0.0, 5000.0], Some("R = 60 kpc")).unwrap_err();
        assert!(
            refused.contains("--satellite lmc: its orbit is known from")
                && refused.ends_with("the potential ends at R = 60 kpc"),
            "{refused}"
        );
        assert!(followed("lmc").check([-14_000.0, 14_000.0], None).is_ok());
        assert!(followed("lmc").check([-14_001.0, 0.0], None).is_err());
        assert!(followed("lmc:fixed").check([-20_000.0, 0.0], None).is_ok());
    }

    #[test]
    fn satellites_are_read() {
        for bad in [
            "smc",
            "plummer:1e9:1:1,2,3",
            "king:1e9:1:1,2,3:1,2,3",
            "plummer:-1:1:1,2,3:1,2,3",
            "plummer:1e9:1:1,2:1,2,3",
            "lmc:fixed:friction",
        ] {
            assert!(Satellite::parse(bad).is_err(), "{bad}");
        }
        for (text, is_slowed) in [("lmc ", false), (" lmc : friction ", true)] {
            let satellite = Satellite::parse(text).unwrap();
            assert!(!satellite.text.contains(' ') && satellite.is_slowed() == is_slowed);
            assert_eq!(Satellite::parse(&satellite.text), Ok(satellite));
        }
        let lmc = followed("lmc").satellites(0.0)[0].phase();
        // Kallivayalil et al. (2013): (-1, -41, -28) kpc, (-57, -226, 221) km/s with another Sun.
        assert!(norm(&sub(&lmc.0, &[-1.0, -41.0, -28.0])) < 0.5, "{lmc:?}");
        let v = lmc.1.map(|c| VELOCITY * c);
        assert!(norm(&sub(&v, &[-57.0, -226.0, 221.0])) < 15.0, "{v:?}");
        assert_eq!(followed("lmc:fixed").satellites(9.0)[0].phase().0, lmc.0);
    }
}
