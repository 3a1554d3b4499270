//! Phase 3, relaxation: each pair of radial neighbours has one encounter that stands for all those of the
//! step (Henon 1971), or collides; by option stars have several encounters each.

use std::f64::consts::PI;
use std::ops::Range;

use crate::collision::{self, Merger};
use crate::partition::BIN;
use crate::potential::Potential;
use crate::random::Stream;
use crate::settings::Settings;
use crate::stars::Share;
use crate::time_step::number_density;

/// Largest sin^2 of half the deflection, a right angle: to a pair so slow that the formula asks for more it does most,
/// as equal stars that turn by pi - beta are those that turn by beta with their places exchanged.
const LARGEST: f64 = 0.5;

/// What the encounters of one step depend on.
#[derive(Clone, Copy, Debug)]
pub struct Encounters<'a> {
    /// The run's settings.
    pub settings: &'a Settings,
    /// Time step.
    pub dt: f64,
    /// ln(gamma N).
    pub coulomb: f64,
    /// Mean mass of the stars.
    pub mean_mass: f64,
    /// Radii of all stars.
    pub radii: &'a [f64],
    /// Potential of all stars.
    pub potential: &'a Potential,
}

/// Lets the stars of a group meet, and tells for each bin what energy mergers cost.
pub fn of_group(encounters: &Encounters<'_>, group: &mut Share<'_>) {
    let settings = encounters.settings;
    let once = settings.encounters == 1;
    for bin in 0..group.streams.len() {
        let begin = bin * BIN;
        let own = begin..(begin + BIN).min(group.r.len());
        let density = number_density(encounters.radii, group.first + begin);
        group.told[bin] = 0.0;
        if once || settings.radius > 0.0 {
            group.told[bin] = of_neighbours(encounters, group, own.clone(), density, once);
        }
        if !once {
            mix(encounters, group, own, density);
        }
    }
}

/// What sin^2 of half the deflection is to be multiplied by in each of a star's encounters: 2 pi n ln(gamma N) dt, divided by
/// their number.
fn rate(encounters: &Encounters<'_>, density: f64) -> f64 {
    let share = encounters.dt / f64::from(encounters.settings.encounters);
    2.0 * PI * density * encounters.coulomb * share
}

/// Pairs of neighbours collide, or, if `deflect`, have their one encounter. A merged star stands in the place of the outer
/// one, and the inner one has no mass left; tells what energy that costs.
fn of_neighbours(
    encounters: &Encounters<'_>,
    group: &mut Share<'_>,
    own: Range<usize>,
    density: f64,
    deflect: bool,
) -> f64 {
    let stream = &mut group.streams[own.start / BIN];
    let rate = rate(encounters, density);
    let mut lost = 0.0;
    for inner in (own.start..own.end.saturating_sub(1)).step_by(2) {
        let pair = inner..inner + 2;
        let [m1, m2] = [group.m[inner], group.m[inner + 1]];
        let vr: &mut [f64] = &mut group.vr[pair.clone()];
        let vt: &mut [f64] = &mut group.vt[pair];
        let mut velocities = Velocities::of([vr[0], vr[1]], [vt[0], vt[1]], stream);
        let merger = collision::of_pair(encounters, density, [m1, m2], &velocities, stream);
        if let Some(Merger { mass, velocity }) = merger {
            let before = [vr[0] * vr[0] + vt[0] * vt[0], vr[1] * vr[1] + vt[1] * vt[1]];
            let place = group.first + inner;
            let after = velocity.iter().map(|c| c * c).sum();
            lost += collision::loss(encounters.potential, place, [m1, m2], before, after);
            group.m[inner] = 0.0;
            group.m[inner + 1] = mass;
            (vr[1], vt[1]) = components(&velocity);
        } else if deflect {
            velocities.deflect(rate, [m1, m2], stream);
            (vr[0], vt[0]) = components(&velocities.0[0]);
            (vr[1], vt[1]) = components(&velocities.0[1]);
        }
    }
    lost
}

/// Several encounters of each star, each time with another one of its bin.
///
/// The deflection of one encounter for all of a long step ends at [`LARGEST`], which the slow pairs of a dense core
/// reach: at theta_max = 1 a third of the relaxation is missing there. Partners that change share it out.
fn mix(encounters: &Encounters<'_>, group: &mut Share<'_>, own: Range<usize>, density: f64) {
    let stream = &mut group.streams[own.start / BIN];
    let rate = rate(encounters, density);
    let mut order = [0; BIN];
    for _ in 0..encounters.settings.encounters {
        let mut count = 0;
        for star in own.clone().filter(|&star| group.m[star] > 0.0) {
            order[count] = star;
            count += 1;
        }
        for last in (1..count).rev() {
            order.swap(last, (stream.uniform() * (last + 1) as f64) as usize);
        }
        for &[a, b] in order[..count].as_chunks().0 {
            let (vr, vt) = (&mut group.vr, &mut group.vt);
            let mut velocities = Velocities::of([vr[a], vr[b]], [vt[a], vt[b]], stream);
            velocities.deflect(rate, [group.m[a], group.m[b]], stream);
            (vr[a], vt[a]) = components(&velocities.0[0]);
            (vr[b], vt[b]) = components(&velocities.0[1]);
        }
    }
}

/// Radial and transverse part.
fn components(&[x, y, z]: &[f64; 3]) -> (f64, f64) {
    (z, (x * x + y * y).sqrt())
}

/// Velocities of two stars in space: z points outwards, x along the transverse motion of the first, and the
/// transverse motion of the second has a random direction.
#[derive(Clone, Copy, Debug)]
pub struct Velocities(pub [[f64; 3]; 2]);

impl Velocities {
    /// Of two stars with these radial and transverse velocities.
    #[inline]
    pub fn of(vr: [f64; 2], vt: [f64; 2], stream: &mut Stream) -> Self {
        let (cos, sin) = stream.angle();
        Self([[vt[0], 0.0, vr[0]], [vt[1] * cos, vt[1] * sin, vr[1]]])
    }

    /// Velocity of the second relative to the first.
    pub fn relative(&self) -> [f64; 3] {
        let [a, b] = &self.0;
        [b[0] - a[0], b[1] - a[1], b[2] - a[2]]
    }

    /// Turns the relative velocity w by the angle beta, about a random direction:
    /// sin^2(beta/2) = 2 pi G^2 (m1 + m2)^2 n ln(gamma N) dt / w^3, of which `rate` is
    /// 2 pi n ln(gamma N) dt. The pair's momentum and energy stay what they are.
    #[inline]
    pub fn deflect(&mut self, rate: f64, [m1, m2]: [f64; 2], stream: &mut Stream) {
        let w = self.relative();
        let across2 = w[0] * w[0] + w[1] * w[1];
        let w2 = across2 + w[2] * w[2];
        let (cos_psi, sin_psi) = stream.angle();
        if w2 == 0.0 {
            return;
        }
        let speed = w2.sqrt();
        let mass = m1 + m2;
        let half = (rate * mass * mass / (w2 * speed)).min(LARGEST);
        let cos = 1.0 - 2.0 * half;
        let sin = 2.0 * (half * (1.0 - half)).sqrt();
        // Two vectors of length w, at right angles to w and to each other.
        let across = across2.sqrt();
        let (a, b) = if across > 0.0 {
            (
                [w[1] * speed / across, -w[0] * speed / across, 0.0],
                [-w[0] * w[2] / across, -w[1] * w[2] / across, across],
            )
        } else {
            ([speed, 0.0, 0.0], [0.0, speed, 0.0])
        };
        let [first, second] = &mut self.0;
        for c in 0..3 {
            let turned = w[c] * cos + sin * (a[c] * cos_psi + b[c] * sin_psi);
            let change = turned - w[c];
            first[c] -= m2 / mass * change;
            second[c] += m1 / mass * change;
        }
    }
}
