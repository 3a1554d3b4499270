//! The Milky Way of McMillan (2017, MNRAS 465, 76), his best-fitting model: bulge, four discs, halo.
//!
//! The halo has a closed formula. The potential of each disc is divided as by Kuijken and Dubinski (1995). One part is
//! the closed formula 4 pi Sigma(r) H(z), which has nearly the density of the disc if that is thin. The rest of the
//! disc's density, and the flattened bulge, are expanded in multipoles, which converge fast.

use std::f64::consts::PI;
use std::sync::OnceLock;

use super::Field;
use super::milky_way::solar_masses;
use super::multipole::Multipole;
use super::spheres::{Nfw, Sphere};
use crate::elementary::{exp, exp_m1, ln, pow};
use crate::vector::{Vec3, add_scaled, dot};

/// How the density of a disc falls with height.
#[derive(Clone, Copy, Debug)]
enum Height {
    /// exp(-|z| / h) / 2 h
    Exponential,
    /// sech^2(z / 2 h) / 4 h
    Sech,
}

/// A disc with the surface density s exp(-hole / R - R / length).
#[derive(Clone, Copy, Debug)]
struct Disc {
    /// Surface density in solar masses and square parsecs.
    s: f64,
    length: f64,
    hole: f64,
    h: f64,
    height: Height,
}

/// His Tables 2 and 3: thin and thick disc, atomic and molecular hydrogen. Lengths are in kpc.
const DISCS: [Disc; 4] = [
    Disc {
        s: 896.0,
        length: 2.5,
        hole: 0.0,
        h: 0.3,
        height: Height::Exponential,
    },
    Disc {
        s: 183.0,
        length: 3.02,
        hole: 0.0,
        h: 0.9,
        height: Height::Exponential,
    },
    Disc {
        s: 53.1,
        length: 7.0,
        hole: 4.0,
        h: 0.085,
        height: Height::Sech,
    },
    Disc {
        s: 2180.0,
        length: 1.5,
        hole: 12.0,
        h: 0.045,
        height: Height::Sech,
    },
];

impl Disc {
    /// Surface density at `r` with two derivatives.
    fn surface(&self, r: f64) -> [f64; 3] {
        // 1e6 square parsecs are a square kiloparsec.
        let r = r.max(1e-9);
        let value = solar_masses(1e6 * self.s) * exp(-self.hole / r - r / self.length);
        let slope = self.hole / (r * r) - 1.0 / self.length;
        [
            value,
            value * slope,
            value * (slope * slope - 2.0 * self.hole / (r * r * r)),
        ]
    }

    /// H(z) with two derivatives, the second being the density over height.
    fn over_height(&self, z: f64) -> [f64; 3] {
        let (h, size, sign) = (self.h, z.abs() / self.h, z.signum());
        match self.height {
            Height::Exponential => {
                let rest = -exp_m1(-size);
                [
                    0.5 * h * (size - rest),
                    0.5 * sign * rest,
                    0.5 * (1.0 - rest) / h,
                ]
            }
            Height::Sech => {
                let e = exp(-size);
                // ln cosh(s / 2) = s / 2 + ln((1 + exp(-s)) / 2).
                let log = 0.5 * size + ln(0.5 * (1.0 + e));
                let tanh = (1.0 - e) / (1.0 + e);
                [h * log, 0.5 * sign * tanh, 0.25 * (1.0 - tanh * tanh) / h]
            }
        }
    }

    fn density(&self, big_r: f64, z: f64) -> f64 {
        self.surface(big_r)[0] * self.over_height(z)[2]
    }

    /// What the potential 4 pi Sigma(r) H(z) leaves of the density.
    fn rest(&self, big_r: f64, z: f64) -> f64 {
        let r = big_r.hypot(z);
        let ([s, s1, s2], [h, h1, h2]) = (self.surface(r), self.over_height(z));
        self.surface(big_r)[0] * h2 - s * h2 - s2 * h - 2.0 / r * s1 * (h + z * h1)
    }
}

/// The bulge: density 98.4 solar masses a cubic parsec (1 + s / 0.075 kpc)^-1.8 exp(-(s / 2.1 kpc)^2), its axes 1 : 0.5.
fn bulge(big_r: f64, z: f64) -> f64 {
    let s = big_r.hypot(z / 0.5);
    solar_masses(98.4e9) * pow(1.0 + s / 0.075, -1.8) * exp(-(s / 2.1).powi(2))
}

/// The halo: 0.00854 solar masses a cubic parsec, scale length 19.6 kpc.
const HALO: (f64, f64) = (0.008_54e9, 19.6);

/// The model.
#[derive(Debug)]
pub struct McMillan {
    halo: Nfw,
    rest: Multipole,
}

/// The model, of which the multipoles are found once.
pub fn model() -> &'static McMillan {
    static MODEL: OnceLock<McMillan> = OnceLock::new();
    MODEL.get_or_init(|| {
        let (density, a) = HALO;
        let m = 4.0 * PI * solar_masses(density) * a * a * a;
        let rest = |r: f64, z: f64| bulge(r, z) + DISCS.iter().map(|d| d.rest(r, z)).sum::<f64>();
        McMillan {
            halo: Nfw { m, a },
            rest: Multipole::of(rest, 1e-3, 300.0, 300),
        }
    })
}

impl McMillan {
    /// The table that `kernels/multipole.cuh` reads.
    pub(super) fn numbers(&self) -> Vec<f64> {
        let mut numbers = self.rest.range().to_vec();
        numbers.extend([self.halo.m, self.halo.a]);
        for disc in &DISCS {
            let is_exponential = f64::from(matches!(disc.height, Height::Exponential));
            let density = solar_masses(1e6 * disc.s);
            numbers.extend([is_exponential, density, disc.length, disc.hole, disc.h]);
        }
        numbers.extend(self.rest.numbers());
        numbers
    }

    /// Number of radii of the expansion.
    pub(super) fn radii(&self) -> usize {
        self.rest.radii()
    }
}

impl Field for McMillan {
    fn potential(&self, x: &Vec3) -> f64 {
        let r = dot(x, x).sqrt();
        let thin = |d: &Disc| 4.0 * PI * d.surface(r)[0] * d.over_height(x[2])[0];
        let discs: f64 = DISCS.iter().map(thin).sum();
        self.halo.potential(x) + self.rest.potential(x) + discs
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let r = dot(x, x).sqrt().max(1e-9);
        let mut a = self.rest.acceleration(x);
        add_scaled(&mut a, 1.0, &self.halo.acceleration(x));
        for disc in &DISCS {
            let ([s, s1, _], [h, h1, _]) = (disc.surface(r), disc.over_height(x[2]));
            add_scaled(&mut a, -4.0 * PI * s1 * h / r, x);
            a[2] -= 4.0 * PI * s * h1;
        }
        a
    }

    fn density(&self, x: &Vec3) -> f64 {
        let (big_r, z) = (x[0].hypot(x[1]), x[2]);
        let discs: f64 = DISCS.iter().map(|d| d.density(big_r, z)).sum();
        self.halo.density_at(big_r.hypot(z)) + bulge(big_r, z) + discs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper gives 232.8 km/s at the Sun and (8.2 +- 1.1)e11 solar masses within 100 kpc. With the rounded
    /// parameters of its tables galpy finds 233.2 km/s and 8.53e11.
    #[test]
    fn the_model_as_published() {
        let model = model();
        let sun = 10.0 * model.circular_speed(&[8.21, 0.0, 0.0]);
        assert!((sun - 233.2).abs() < 0.05, "{sun}");
        // The mass within r is that which the force's mean over the sphere tells, here in the plane and on the axis.
        let far = model.circular_speed(&[100.0, 0.0, 0.0]).powi(2) * 100.0 / solar_masses(1.0);
        assert!((far / 8.53e11 - 1.0).abs() < 0.002, "{far:e}");
    }

    /// R, z, radial force, vertical force and potential by `galpy.potential.mwpotentials.McMillan17` 1.12.1, in kpc
    /// and km/s (examples/symplectic/benches/galaxies.py). galpy's expansion has 30 radial functions.
    const GALPY: [[f64; 5]; 5] = [
        [
            8.0,
            0.5,
            -6653.507941549015,
            -1561.1592671979467,
            -184604.29169093232,
        ],
        [
            3.0,
            0.4,
            -14090.995666718125,
            -6992.789885734316,
            -232787.32730661304,
        ],
        [
            1.0,
            1.0,
            -12868.125931260038,
            -24361.174996909685,
            -254255.70423203558,
        ],
        [
            15.0,
            2.0,
            -3287.42355101448,
            -642.5301022017883,
            -150803.12962220891,
        ],
        [100.0, 0.0, -366.74911159024913, 0.0, -65718.64770596659],
    ];

    #[test]
    fn the_field_is_galpys_as_far_as_both_expansions_go() {
        let model = model();
        for [r, z, radial, vertical, potential] in GALPY {
            let x = [r, 0.0, z];
            let [along, _, up] = model.acceleration(&x).map(|c| 100.0 * c);
            let size = radial.hypot(vertical);
            let error = (along - radial).hypot(up - vertical) / size;
            let depth = 100.0 * model.potential(&x) / potential - 1.0;
            assert!(
                error < 1e-3 && depth.abs() < 1e-3,
                "{r} {z}: {error:e} {depth:e}"
            );
        }
    }

    /// Poisson's equation: the divergence of the force is the density. The potential of a disc is a closed formula
    /// plus an expansion; only their sum has the density of the disc.
    #[test]
    fn the_field_has_the_density_of_its_parts() {
        let model = model();
        for x in [
            [8.0, 0.0, 0.5],
            [8.0, 0.0, 0.02],
            [3.0, 1.0, -0.4],
            [1.0, 1.0, 1.0],
            [0.4, 0.0, 0.3],
            [15.0, 0.0, 2.0],
        ] {
            let h = 0.02 * f64::abs(x[2]).max(0.1);
            let mut divergence = 0.0;
            for k in 0..3 {
                let at = |h: f64| {
                    let mut y = x;
                    y[k] += h;
                    model.acceleration(&y)[k]
                };
                divergence += (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h);
            }
            let ratio = -divergence / (4.0 * PI * model.density(&x));
            assert!((ratio - 1.0).abs() < 0.02, "{x:?}: {ratio}");
        }
    }

    /// R, z, radial force and vertical force of the stellar disc, by
    /// `galpy.potential.DoubleExponentialDiskPotential` 1.12.1, which integrates Bessel functions.
    const DISC: [[f64; 4]; 4] = [
        [8.0, 0.5, -2412.055719325544, -870.8681376801142],
        [3.0, 0.4, -5197.43408431117, -4813.706081287227],
        [1.0, 1.0, -2679.773509093465, -9720.181038624347],
        [8.0, 0.02, -2511.7149599383038, -66.6524935350802],
    ];

    #[test]
    fn a_disc_has_the_field_of_its_integral() {
        let disc = &DISCS[0];
        let rest = Multipole::of(|r, z| disc.rest(r, z), 1e-3, 300.0, 300);
        for [big_r, z, radial, vertical] in DISC {
            let x = [big_r, 0.0, z];
            let r = big_r.hypot(z);
            let ([s, s1, _], [h, h1, _]) = (disc.surface(r), disc.over_height(z));
            let mut a = rest.acceleration(&x);
            add_scaled(&mut a, -4.0 * PI * s1 * h / r, &x);
            a[2] -= 4.0 * PI * s * h1;
            let error = (100.0 * a[0] - radial).hypot(100.0 * a[2] - vertical);
            assert!(error / radial.hypot(vertical) < 2e-4, "{x:?}: {error}");
        }
    }
}
