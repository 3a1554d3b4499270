//! Collisions, the second part of phase 3: two stars that touch merge into one ("sticky spheres", Fregeau and Rasio
//! 2007).

use std::f64::consts::PI;

use crate::potential::Potential;
use crate::random::Stream;
use crate::relaxation::{Encounters, Velocities};

/// What two stars have become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merger {
    /// Sum of the masses.
    pub mass: f64,
    /// Velocity of the centre of mass.
    pub velocity: [f64; 3],
}

/// A star into which others have merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merged {
    /// Its label: that of the heaviest star that is in it.
    pub id: u64,
    /// Its mass.
    pub mass: f64,
    /// Number of stars that have merged into it.
    pub mergers: u64,
}

/// Draws whether two neighbours collide in a step. The probability is n S w dt, with the cross section S = pi (R1 +
/// R2)^2 (1 + 2 G (m1 + m2) / ((R1 + R2) w^2)).
#[inline]
pub fn of_pair(
    encounters: &Encounters<'_>,
    density: f64,
    [m1, m2]: [f64; 2],
    velocities: &Velocities,
    stream: &mut Stream,
) -> Option<Merger> {
    if encounters.settings.radius == 0.0 {
        return None;
    }
    let radius = |m| encounters.settings.stellar_radius(m, encounters.mean_mass);
    let reach = radius(m1) + radius(m2);
    let w2: f64 = velocities.relative().iter().map(|c| c * c).sum();
    let mass = m1 + m2;
    // S w, which is finite where w is not 0.
    let volume = PI * reach * (reach * w2 + 2.0 * mass) / w2.sqrt();
    let collide = stream.uniform() < density * volume * encounters.dt;
    let [a, b] = &velocities.0;
    collide.then(|| Merger {
        mass,
        velocity: std::array::from_fn(|c| (m1 * a[c] + m2 * b[c]) / mass),
    })
}

/// The energy that the cluster loses when star `inner` merges with the next star outwards. The merged star stays at the
/// radius of the outer one. `before` has v^2 of the two stars, and `after` is v^2 of the merged star.
pub fn loss(
    potential: &Potential,
    inner: usize,
    [m1, m2]: [f64; 2],
    before: [f64; 2],
    after: f64,
) -> f64 {
    let [a, b] = [potential.nodes[inner + 1], potential.nodes[inner + 2]];
    let mass = m1 + m2;
    // The pair's own energy is in both of its stars' potentials, and is to count once.
    let bound = m1 * (a.phi + m1 * a.u) + m2 * (b.phi + m2 * b.u) + m1 * m2 * b.u;
    let kinetic = 0.5 * (m1 * before[0] + m2 * before[1]);
    kinetic + bound - 0.5 * mass * after - mass * (b.phi + mass * b.u)
}
