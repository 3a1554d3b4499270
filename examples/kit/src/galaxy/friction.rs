//! Dynamical friction on satellites.

use std::f64::consts::PI;

use super::Field;
use super::bar::{Bar, Turned};
use crate::vector::{Vec3, dot, norm};

/// Dynamical friction by Chandrasekhar's formula. The density is that at the satellite. The velocity dispersion is
/// isotropic and depends on the radius only. It is found by the Jeans equation on a line at 45 degrees from the plane.
/// A bar counts as its mean over all angles, for it turns much faster than a satellite.
pub struct Friction {
    /// Logarithm of the first radius, and the step.
    first: f64,
    step: f64,
    /// Dispersion squared at the radii.
    squared: Vec<f64>,
    host: Smooth,
}

/// What slows a satellite: the galaxy, and a bar at all angles.
struct Smooth {
    host: &'static (dyn Field + Sync),
    bar: Vec<Turned>,
}

impl Smooth {
    /// Angles of the bar in a quarter of a turn. In the mean over all angles the other quarters add nothing: half a turn brings a
    /// bar to itself, and it has the same density on both sides of its axis.
    const ANGLES: usize = 8;

    fn of(host: &'static (dyn Field + Sync), bar: Option<Bar>) -> Self {
        let turned = |bar: Bar| {
            let angle = |k: usize| 0.5 * PI * (k as f64 + 0.5) / Self::ANGLES as f64;
            (0..Self::ANGLES).map(move |k| bar.towards(angle(k)))
        };
        Self {
            host,
            bar: bar.into_iter().flat_map(turned).collect(),
        }
    }

    /// A scalar of the galaxy at `x`, with the mean of the bar's.
    fn sum(&self, x: &Vec3, scalar: impl Fn(&dyn Field, &Vec3) -> f64) -> f64 {
        // All azimuths have the same mean, and the angles are counted from this one.
        let on_axis = [x[0].hypot(x[1]), 0.0, x[2]];
        let bars = self.bar.iter().map(|bar| scalar(bar, &on_axis));
        scalar(self.host, x) + bars.sum::<f64>() / self.bar.len().max(1) as f64
    }

    fn density(&self, x: &Vec3) -> f64 {
        self.sum(x, |field, x| field.density(x)).max(0.0)
    }

    /// The attraction to the centre times the distance from it.
    fn pull(&self, x: &Vec3) -> f64 {
        self.sum(x, |field, x| -dot(&field.acceleration(x), x))
    }
}

/// From 10 pc to 1 Mpc.
const FRICTION_RADII: (f64, f64) = (0.01, 1000.0);
const FRICTION_LINES: usize = 1600;

fn diagonal(r: f64) -> Vec3 {
    let c = r * std::f64::consts::FRAC_1_SQRT_2;
    [c, 0.0, c]
}

impl Friction {
    /// By the Jeans equation of the field of a galaxy and its bar, as far as it is known, and to 1 Mpc.
    pub fn of(host: &'static (dyn Field + Sync), bar: Option<Bar>) -> Self {
        let host = Smooth::of(host, bar);
        let first = FRICTION_RADII.0.ln();
        let step = (FRICTION_RADII.1 / FRICTION_RADII.0).ln() / FRICTION_LINES as f64;
        // Density and rho |a| r of d ln r.
        let at = |k: usize| {
            let x = diagonal((first + step * k as f64).exp());
            let (rho, pull) = (host.density(&x), host.pull(&x));
            // Beyond a table of a grid nothing is known.
            match pull.is_finite() {
                true => (rho, rho * pull),
                false => (0.0, 0.0),
            }
        };
        let lines: Vec<(f64, f64)> = (0..=FRICTION_LINES).map(at).collect();
        let mut squared = vec![0.0; lines.len()];
        let mut pressure = 0.0;
        for k in (0..FRICTION_LINES).rev() {
            pressure += 0.5 * step * (lines[k].1 + lines[k + 1].1);
            squared[k] = if lines[k].0 > 0.0 {
                pressure / lines[k].0
            } else {
                0.0
            };
        }
        Self {
            first,
            step,
            squared,
            host,
        }
    }

    /// Velocity dispersion in one direction at `r`, today.
    pub fn dispersion(&self, r: f64) -> f64 {
        let place = ((r.ln() - self.first) / self.step).clamp(0.0, (FRICTION_LINES - 2) as f64);
        let k = place as usize;
        let part = place - k as f64;
        (self.squared[k] + part * (self.squared[k + 1] - self.squared[k]))
            .max(0.0)
            .sqrt()
    }

    /// The deceleration, divided by the velocity, of a satellite of this mass and half-mass radius: 4 pi m rho
    /// ln(Lambda) (erf X - 2 X exp(-X^2) / sqrt pi) / v^3, with X = v / (sqrt 2 sigma). ln(Lambda) is ln(1 + (r /
    /// max(size, m / v^2))^2) / 2. A satellite nearer to the galaxy's centre than its half-mass radius is no point
    /// mass: a further factor falls from 1 there to 0 at the centre. The galaxy's masses are `masses` times today's.
    pub(super) fn rate(&self, mass: f64, size: f64, x: &Vec3, v: &Vec3, masses: f64) -> f64 {
        let (r, speed) = (norm(x), norm(v));
        let rho = masses * self.host.density(x);
        let sigma = masses.sqrt() * self.dispersion(r);
        if rho == 0.0 || sigma == 0.0 || speed == 0.0 {
            return 0.0;
        }
        let lambda = r / size.max(mass / (speed * speed));
        let logarithm = 0.5 * (lambda * lambda).ln_1p();
        let s = speed / (std::f64::consts::SQRT_2 * sigma);
        let slower = libm::erf(s) - 2.0 * s / PI.sqrt() * (-s * s).exp();
        let inside = (r / size).min(1.0);
        let fading = inside * inside * (3.0 - 2.0 * inside);
        4.0 * PI * mass * rho * logarithm * slower * fading / speed.powi(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::galaxy::MilkyWay;
    use crate::galaxy::additions::{AdditionOptions, Additions};
    use crate::galaxy::bar::Needle;
    use crate::galaxy::component::Plummer;
    use crate::galaxy::milky_way::{TIME, VELOCITY, solar_masses};
    use crate::galaxy::satellite::tests::{followed, gridded};
    use crate::galaxy::satellite::{INTERVAL, Satellite};
    use crate::vector::{add_scaled, sub};

    /// Time from today in Gyr and position in kpc by galpy 1.12.1 (`benches/galaxies.py --friction`): an orbit in
    /// MWPotential2014 with `ChandrasekharDynamicalFrictionForce(GMs=2e10, rhm=half-mass radius, dens=MWPotential2014)`.
    const GALPY: [(f64, Vec3); 2] = include!("friction_reference.txt");

    /// Its dispersion at 5, 10, 20 and 40 kpc in km/s.
    const DISPERSION: [(f64, f64); 4] = [
        (5.0, 153.07125802301886),
        (10.0, 137.55393656290326),
        (20.0, 121.92815368670719),
        (40.0, 106.63951810224448),
    ];

    #[test]
    fn friction_is_galpys() {
        let host: &'static MilkyWay = Box::leak(Box::new(MilkyWay::MwPotential2014));
        let friction = Friction::of(host, None);
        for (r, expected) in DISPERSION {
            let found = VELOCITY * friction.dispersion(r);
            assert!((found / expected - 1.0).abs() < 2e-3, "{r}: {found}");
        }
        let text = "plummer:2e10:1.5:30,0,20:0,120,30";
        let [slowed, free] = [":friction", ""].map(|end| followed(&format!("{text}{end}")));
        for (gyr, expected) in GALPY {
            let at = |more: &Additions| more.satellites(1000.0 * gyr / TIME)[0].phase().0;
            let off = norm(&sub(&at(slowed), &expected)) / norm(&expected);
            assert!(off < 1e-3, "{gyr}: {:?}", at(slowed));
            assert!(norm(&sub(&at(free), &expected)) / norm(&expected) > 0.1);
        }
    }

    /// Where all masses are f times as large and all velocities sqrt(f) times, an orbit is passed sqrt(f) times as fast.
    #[test]
    fn friction_grows_with_the_galaxy() {
        let host: &'static MilkyWay = Box::leak(Box::new(MilkyWay::MwPotential2014));
        let friction = Friction::of(host, None);
        let (x, v, mass, size) = ([30.0, 0.0, 20.0], [0.2, 0.7, 0.1], solar_masses(2e10), 2.0);
        let today = friction.rate(mass, size, &x, &v, 1.0);
        for f in [0.25_f64, 1.7] {
            let faster = friction.rate(f * mass, size, &x, &v.map(|c| f.sqrt() * c), f);
            assert!((faster / (f.sqrt() * today) - 1.0).abs() < 1e-12, "{f}");
        }
        // A billion years ago, when the masses were 1.3 times today's.
        let told = AdditionOptions {
            satellites: vec![
                Satellite::parse("plummer:2e10:1.5:30,0,20:0,120,30:friction").unwrap(),
            ],
            growth: -0.3,
            ..AdditionOptions::default()
        };
        let more = Additions::of(told, MilkyWay::MwPotential2014);
        let (then, h) = (-1000.0 / TIME, INTERVAL / TIME);
        let at = |t: f64| more.satellites(t)[0].phase();
        let ((x, v), (_, before), (_, after)) = (at(then), at(then - h), at(then + h));
        let pull = host.acceleration(&x);
        let slowing: Vec3 =
            std::array::from_fn(|k| 1.3 * pull[k] - (after[k] - before[k]) / (2.0 * h));
        let (mass, size) = more.told.satellites[0].body.size();
        let expected = friction.rate(mass, size, &x, &v, 1.3);
        let found = dot(&slowing, &v) / dot(&v, &v);
        // With today's masses it would be off by some per cent.
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }

    /// A needle of no length is a Plummer sphere.
    #[test]
    fn a_bar_is_of_the_galaxy_that_slows() {
        struct WithSphere(MilkyWay, Plummer);
        impl Field for WithSphere {
            fn potential(&self, x: &Vec3) -> f64 {
                self.0.potential(x) + self.1.potential(x)
            }
            fn acceleration(&self, x: &Vec3) -> Vec3 {
                let mut a = self.0.acceleration(x);
                add_scaled(&mut a, 1.0, &self.1.acceleration(x));
                a
            }
            fn density(&self, x: &Vec3) -> f64 {
                self.0.density(x) + self.1.density(x)
            }
        }
        let model = MilkyWay::MwPotential2014;
        let (m, scale) = (solar_masses(3e10), 2.0);
        let sphere = WithSphere(model, Plummer { m, b: scale });
        let expected = Friction::of(Box::leak(Box::new(sphere)), None);
        let needle = Needle {
            m,
            a: 1e-3 * scale,
            b: 0.0,
            c: scale,
        };
        let bar = Bar {
            needle,
            speed: 0.0,
            angle: 0.0,
        };
        let host: &'static MilkyWay = Box::leak(Box::new(model));
        let [found, without] = [Some(bar), None].map(|bar| Friction::of(host, bar));
        let v = [0.2, 0.7, 0.1];
        for (x, least) in [([1.0, 2.0, 0.5], 0.3), ([4.0, 1.0, 3.0], 0.1)] {
            let rate = |f: &Friction| f.rate(solar_masses(1e9), 0.1, &x, &v, 1.0);
            let (right, of_bar) = (rate(&expected), rate(&found));
            assert!((of_bar / right - 1.0).abs() < 1e-4, "{of_bar} {right}");
            assert!(
                (right / rate(&without) - 1.0).abs() > least,
                "{right} {}",
                rate(&without)
            );
        }
    }

    /// The pressure beyond the grid, which the dispersion lacks, is a thousandth of that at 5 kpc.
    #[test]
    fn a_galaxy_on_a_grid_slows_satellites_too() {
        let mut told = gridded("kit-grid-friction");
        told.satellites =
            vec![Satellite::parse("plummer:2e10:1.5:10,0,5:0,120,30:friction").unwrap()];
        let table: &'static crate::galaxy::table::Table =
            Box::leak(Box::new(told.table.clone().unwrap()));
        let friction = Friction::of(table, None);
        for (r, expected) in &DISPERSION[..3] {
            let found = VELOCITY * friction.dispersion(*r);
            assert!((0.985..1.003).contains(&(found / expected)), "{r}: {found}");
        }
        let slowed = Additions::of(told.clone(), MilkyWay::None);
        told.satellites = vec![Satellite::parse("plummer:2e10:1.5:10,0,5:0,120,30").unwrap()];
        let free = Additions::of(told, MilkyWay::None);
        let [a, b] = [slowed, free].map(|more| more.satellites(500.0 / TIME)[0].phase().0);
        assert!(norm(&sub(&a, &b)) > 1.0, "{a:?} {b:?}");
    }
}
