//! The situations in which results are compared.

use kirin_core::sources::particle::JParticle;
use serde::{Deserialize, Serialize};

use crate::model::{Random, Vec3, plummer, set_in_motion};

/// A situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scene {
    /// Plummer sphere, masses over three decades, softened.
    Softened,
    /// The same without softening.
    Unsoftened,
    /// Masses 1/3000, which no binary fraction holds; softened.
    EqualSoftened,
    /// The same without softening.
    EqualUnsoftened,
    /// With the fourth order of the predictor.
    Snap,
    /// Binaries of separation down to 1e-8 at unit distance from the origin, softened.
    BinariesSoftened,
    /// The same without softening.
    Binaries,
    /// The same ten thousand units from the origin.
    FarBinaries,
    /// Binaries of separations from 1e-12 to 1e-8 at unit distance from the origin.
    CloseBinaries,
    /// The same at 1000.
    CloseBinariesAt1e3,
    /// The same at a million, where positions have digits down to 1e-10: many coincide.
    CloseBinariesAt1e6,
    /// A cluster of ten thousand suns at the distance of the sun from the centre of the Galaxy, with binaries
    /// of 1 to 100 astronomical units, in parsecs.
    Parsecs,
    /// The same in astronomical units.
    AstronomicalUnits,
    /// A cluster of ten thousand suns in centimetres, grams and seconds, softened.
    CgsSoftened,
    /// The same without softening.
    Cgs,
}

impl Scene {
    /// All scenes, in the order of the table.
    pub const ALL: [Self; 15] = [
        Self::Softened,
        Self::Unsoftened,
        Self::EqualSoftened,
        Self::EqualUnsoftened,
        Self::Snap,
        Self::BinariesSoftened,
        Self::Binaries,
        Self::FarBinaries,
        Self::CloseBinaries,
        Self::CloseBinariesAt1e3,
        Self::CloseBinariesAt1e6,
        Self::Parsecs,
        Self::AstronomicalUnits,
        Self::CgsSoftened,
        Self::Cgs,
    ];

    /// The scene in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Softened => "Plummer sphere, masses over three decades, eps = 1/256",
            Self::Unsoftened => "Plummer sphere, masses over three decades, eps = 0",
            Self::EqualSoftened => "Plummer sphere, masses 1/3000, eps = 1/256",
            Self::EqualUnsoftened => "Plummer sphere, masses 1/3000, eps = 0",
            Self::Snap => "Plummer sphere, fourth-order prediction (a2by18), eps = 0",
            Self::BinariesSoftened => "binaries of 1e-8 to 1e-3 at unit distance, eps = 1/256",
            Self::Binaries => "binaries of 1e-8 to 1e-3 at unit distance, eps = 0",
            Self::FarBinaries => "the same 1e4 from the origin, eps = 0",
            Self::CloseBinaries => "binaries of 1e-12 to 1e-8 at unit distance, eps = 0",
            Self::CloseBinariesAt1e3 => "the same 1e3 from the origin, eps = 0",
            Self::CloseBinariesAt1e6 => "the same 1e6 from the origin, eps = 0",
            Self::Parsecs => "binaries of 1 to 100 AU, 8 kpc from the origin, in pc, eps = 0",
            Self::AstronomicalUnits => "the same in AU, eps = 0",
            Self::CgsSoftened => "Plummer sphere of 1e4 suns in cgs, eps = pc/256",
            Self::Cgs => "Plummer sphere of 1e4 suns in cgs, eps = 0",
        }
    }
}

/// A situation of a given size.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SceneOf {
    /// Which situation.
    pub scene: Scene,
    /// Number of particles.
    pub n: usize,
    /// Names the random cluster.
    pub seed: u64,
}

/// What the library is given.
pub struct Setup {
    /// The j-particles, by address.
    pub stars: Vec<JParticle>,
    /// Addresses of those whose force is compared.
    pub targets: Vec<usize>,
    /// Time of the force.
    pub ti: f64,
    /// Square of the softening length.
    pub eps2: f64,
}

/// Parsec in centimetres, ten thousand suns in grams.
const CGS: (f64, f64) = (3.085_677_6e18, 1.988_4e37);
/// Astronomical units in a parsec.
const AU: f64 = 206_264.806;
/// Distance from the centre of the Galaxy in parsecs.
const GALACTIC: f64 = 8000.0;
/// Gravitational constant in cgs: it sets the unit of time.
const G: f64 = 6.674e-8;

impl SceneOf {
    /// Makes the situation.
    pub fn setup(&self) -> Setup {
        let mut random = Random::new(self.seed);
        let mut stars = plummer(self.n, self.seed);
        let mut targets: Vec<usize> = (0..self.n).collect();
        let mut eps = 1.0 / 256.0;
        match self.scene {
            Scene::EqualSoftened | Scene::EqualUnsoftened => {
                stars.iter_mut().for_each(|p| p.mass = 1.0 / 3000.0);
            }
            _ => any_masses(&mut stars, &mut random),
        }
        match self.scene.separations() {
            Some(range) => {
                targets.truncate(self.n / 20 * 2);
                let far = self.scene.distance().map(|d| random.direction(d));
                pair_up(&mut stars, targets.len(), range, far, &mut random);
            }
            None => set_in_motion(&mut stars, self.scene == Scene::Snap, &mut random),
        }
        match self.scene {
            Scene::AstronomicalUnits => stars.iter_mut().for_each(to_astronomical_units),
            Scene::Cgs | Scene::CgsSoftened => {
                stars.iter_mut().for_each(to_cgs);
                eps *= CGS.0;
            }
            _ => {}
        }
        if !self.scene.is_softened() {
            eps = 0.0;
        }
        Setup {
            stars,
            targets,
            ti: 0.0,
            eps2: eps * eps,
        }
    }
}

impl Scene {
    /// The smallest and the largest separation, where there are binaries.
    fn separations(self) -> Option<(f64, f64)> {
        match self {
            Self::Binaries | Self::BinariesSoftened | Self::FarBinaries => Some((1e-8, 1e-3)),
            Self::CloseBinaries | Self::CloseBinariesAt1e3 | Self::CloseBinariesAt1e6 => {
                Some((1e-12, 1e-8))
            }
            Self::Parsecs | Self::AstronomicalUnits => Some((1.0 / AU, 100.0 / AU)),
            _ => None,
        }
    }

    /// How far from the origin the cluster is, where that is not its centre.
    fn distance(self) -> Option<f64> {
        match self {
            Self::FarBinaries => Some(1e4),
            Self::CloseBinariesAt1e3 => Some(1e3),
            Self::CloseBinariesAt1e6 => Some(1e6),
            Self::Parsecs | Self::AstronomicalUnits => Some(GALACTIC),
            _ => None,
        }
    }

    /// Whether the forces that are compared are those on the stars of binaries.
    pub fn has_binaries(self) -> bool {
        self.separations().is_some()
    }

    /// Whether there is a softening length.
    pub fn is_softened(self) -> bool {
        matches!(
            self,
            Self::Softened | Self::EqualSoftened | Self::BinariesSoftened | Self::CgsSoftened
        )
    }
}

/// Masses between 1 and 1000 parts of a total of 1.
fn any_masses(stars: &mut [JParticle], random: &mut Random) {
    for p in &mut *stars {
        p.mass = 1000.0_f64.powf(-random.uniform());
    }
    let total: f64 = stars.iter().map(|p| p.mass).sum();
    stars.iter_mut().for_each(|p| p.mass /= total);
}

/// Makes binaries of the first `count` stars, each of two successive stars. The orbits are circular, and their centres
/// are at unit distance from the origin. The first binary has the smallest separation. Then all stars are displaced by
/// `far`.
fn pair_up(
    stars: &mut [JParticle],
    count: usize,
    (least, most): (f64, f64),
    far: Option<Vec3>,
    random: &mut Random,
) {
    let far = far.unwrap_or_default();
    for p in &mut stars[count..] {
        p.x = [0, 1, 2].map(|d| far[d] + p.x[d]);
    }
    for (number, pair) in stars[..count].chunks_exact_mut(2).enumerate() {
        let wide = match number {
            0 => least,
            _ => least * (most / least).powf(random.uniform()),
        };
        let mass = pair[0].mass + pair[1].mass;
        let centre = random.direction(1.0);
        let drift = pair[0].v;
        let along = random.direction(1.0);
        let speed = across(&along, random).map(|c| c * (mass / wide).sqrt());
        for k in 0..2 {
            let share = match k {
                0 => pair[1].mass / mass,
                _ => -pair[0].mass / mass,
            };
            // The separation is added last: it keeps what digits there are.
            pair[k].x = [0, 1, 2].map(|d| (far[d] + centre[d]) + share * wide * along[d]);
            pair[k].v = [0, 1, 2].map(|d| drift[d] + share * speed[d]);
        }
    }
}

/// A unit vector at right angles to a unit vector.
fn across(along: &Vec3, random: &mut Random) -> Vec3 {
    loop {
        let r = random.direction(1.0);
        let c = [
            along[1] * r[2] - along[2] * r[1],
            along[2] * r[0] - along[0] * r[2],
            along[0] * r[1] - along[1] * r[0],
        ];
        let length = crate::model::dot(&c, &c).sqrt();
        if length > 0.1 {
            return c.map(|x| x / length);
        }
    }
}

/// From parsecs, of velocities too, to astronomical units.
fn to_astronomical_units(p: &mut JParticle) {
    p.x = p.x.map(|c| c * AU);
    p.v = p.v.map(|c| c * AU);
}

/// From N-body units to centimetres, grams and seconds.
fn to_cgs(p: &mut JParticle) {
    let (length, mass) = CGS;
    let time = (length.powi(3) / (G * mass)).sqrt();
    let scale = |a: &mut Vec3, power: i32| *a = a.map(|c| c * length / time.powi(power));
    p.t *= time;
    p.mass *= mass;
    scale(&mut p.x, 0);
    scale(&mut p.v, 1);
    scale(&mut p.aby2, 2);
    scale(&mut p.a1by6, 3);
    scale(&mut p.a2by18, 4);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dot;

    fn setup(scene: Scene) -> Setup {
        SceneOf {
            scene,
            n: 400,
            seed: 3,
        }
        .setup()
    }

    #[test]
    fn the_tightest_binary_is_1e_8_wide_at_unit_distance() {
        let Setup { stars, targets, .. } = setup(Scene::Binaries);
        assert_eq!(targets.len(), 40);
        let [a, b] = [&stars[0], &stars[1]];
        let r = [0, 1, 2].map(|k| a.x[k] - b.x[k]);
        let v = [0, 1, 2].map(|k| a.v[k] - b.v[k]);
        assert!((dot(&r, &r).sqrt() / 1e-8 - 1.0).abs() < 1e-6);
        assert!((dot(&a.x, &a.x).sqrt() - 1.0).abs() < 1e-7);
        let circular = (a.mass + b.mass) / 1e-8;
        assert!((dot(&v, &v) / circular - 1.0).abs() < 1e-6);
    }

    #[test]
    fn every_scene_is_finite_and_softened_as_it_says() {
        for scene in Scene::ALL {
            let s = setup(scene);
            assert_eq!(
                s.eps2 == 0.0,
                scene.title().contains("eps = 0"),
                "{scene:?}"
            );
            let numbers = s.stars.iter().flat_map(|p| p.x.into_iter().chain(p.v));
            assert!(numbers.into_iter().all(f64::is_finite));
        }
    }

    #[test]
    fn centimetres_are_beyond_single_precision_when_cubed() {
        let s = setup(Scene::Cgs);
        assert!(dot(&s.stars[0].x, &s.stars[0].x).powf(1.5) > f64::from(f32::MAX));
    }
}
