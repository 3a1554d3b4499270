//! Phase 3, relaxation. Pairs of neighbours have encounters that stand for all encounters of the step (Henon 1971).
//! If deflections are small, a pair has one encounter; in dense bins and for heavy stars there are more. Some pairs
//! collide instead.

use std::f64::consts::PI;
use std::ops::Range;

use crate::collision::{self, Merger};
use crate::loss_cone::LossCone;
use crate::orbit::{self, Star};
use crate::partition::BIN;
use crate::potential::Potential;
use crate::random::Stream;
use crate::settings::{MOST_ENCOUNTERS, Settings};
use crate::stars::Share;
use crate::time_step::number_density;

/// sin^2 of half the deflection above which a pair turns by a right angle instead, sin^2 = 1/2.
///
/// In a long step the formula gives slow pairs more than any deflection can have: sin^2(beta/2) above 1. Drag and
/// diffusion depend on 1 - cos(beta) = 2 sin^2(beta/2). For slow pairs the phase space is nearly uniform, so a relative
/// speed w contributes with the weight w^4 (1 - cos(beta)).
///
/// Pairs between this limit and a right angle are turned by more than the formula says. This makes up for the slower
/// pairs, which are turned by less. With the limit 1/5 both effects balance: the integral over w equals the formula's,
/// and the remaining error is proportional to dt^(4/3). With the limit 1/2, as in CMC, the error is proportional to
/// dt^(2/3).
const LIMIT: f64 = 0.2;
/// sin^2 of half a right angle.
const RIGHT_ANGLE: f64 = 0.5;

/// Largest 1 - cos(beta) in one encounter of typical speed. A step is divided into as many encounters as this limit
/// needs. The flow of energy between masses is then 0.99 of Spitzer's, and the decay of anisotropy 0.97 of the
/// theory's.
const TYPICAL: f64 = 1.0 / 32.0;

/// What the encounters of one step depend on.
#[derive(Clone, Copy, Debug)]
pub struct Encounters<'a> {
    /// The run's settings.
    pub settings: &'a Settings,
    /// Time step.
    pub dt: f64,
    /// ln(gamma N).
    pub coulomb: f64,
    /// Mean mass of the stars at the start, to which their radii refer.
    pub mean_mass: f64,
    /// Radii of all stars.
    pub radii: &'a [f64],
    /// Potential of all stars.
    pub potential: &'a Potential,
    /// The loss cone of a black hole that takes stars.
    pub cone: Option<LossCone<'a>>,
}

/// Lets the stars of a group meet, and tells for each bin what energy mergers cost.
pub fn of_group(encounters: &Encounters<'_>, group: &mut Share<'_>) {
    for bin in 0..group.streams.len() {
        let begin = bin * BIN;
        let own = begin..(begin + BIN).min(group.r.len());
        let density = number_density(encounters.radii, group.first + begin);
        group.told[bin] = 0.0;
        if encounters.settings.radius > 0.0 {
            group.told[bin] = collide(encounters, group, own.clone(), density);
        }
        deflect(encounters, group, own, density);
    }
}

/// Removes the stars that the black hole takes.
fn remove_taken(potential: &Potential, group: &mut Share<'_>, own: Range<usize>, taken: &[bool]) {
    for (k, _) in own.zip(taken).filter(|(_, taken)| **taken) {
        let velocity = [group.vr[k], group.vt[k]];
        let star = Star::new(potential, group.first + k + 1, group.m[k], velocity);
        orbit::leave(group, k, star.phi);
    }
}

/// Lets pairs of neighbours collide. The merged star takes the place of the outer one, and the inner one is left
/// without mass. The merged star has the label of the heavier one (of the outer one, if both have the same mass), so a star that
/// grows by mergers keeps its label. Returns the energy that the cluster loses by the mergers.
fn collide(
    encounters: &Encounters<'_>,
    group: &mut Share<'_>,
    own: Range<usize>,
    density: f64,
) -> f64 {
    let stream = &mut group.streams[own.start / BIN];
    let mut lost = 0.0;
    for inner in (own.start..own.end.saturating_sub(1)).step_by(2) {
        let pair = inner..inner + 2;
        let masses = [group.m[inner], group.m[inner + 1]];
        let vr: &mut [f64] = &mut group.vr[pair.clone()];
        let vt: &mut [f64] = &mut group.vt[pair];
        let velocities = Velocities::of([vr[0], vr[1]], [vt[0], vt[1]], stream);
        let merger = collision::of_pair(encounters, density, masses, &velocities, stream);
        if let Some(Merger { mass, velocity }) = merger {
            let before = [vr[0] * vr[0] + vt[0] * vt[0], vr[1] * vr[1] + vt[1] * vt[1]];
            let place = group.first + inner;
            let after = velocity.iter().map(|c| c * c).sum();
            lost += collision::loss(encounters.potential, place, masses, before, after);
            group.m[inner] = 0.0;
            group.m[inner + 1] = mass;
            if masses[0] > masses[1] {
                group.id.swap(inner, inner + 1);
            }
            (vr[1], vt[1]) = components(&velocity);
        }
    }
    lost
}

/// How many encounters of a pair stand for a step: more for heavy pairs and in dense bins.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// The same for all.
    Fixed(u32),
    /// This times the square of the pair's mass.
    BySquaredMass(f64),
}

impl Number {
    /// The number of encounters for the stars `own`. In a single encounter sin^2 of half the deflection would be
    /// `rate` (m1 + m2)^2 / w^3. The typical relative speed w is the mean of a Maxwell distribution, 4 sigma /
    /// sqrt(pi).
    fn of(fixed: u32, rate: f64, group: &Share<'_>, own: Range<usize>) -> Self {
        if fixed > 0 {
            return Self::Fixed(fixed);
        }
        let count = own.len() as f64;
        let squares = own.map(|k| group.vr[k] * group.vr[k] + group.vt[k] * group.vt[k]);
        let speed = 4.0 * (squares.sum::<f64>() / (3.0 * count * PI)).sqrt();
        Self::BySquaredMass(2.0 * rate / (TYPICAL * speed * speed * speed))
    }

    #[inline]
    fn of_pair(self, mass: f64) -> u32 {
        match self {
            Self::Fixed(number) => number,
            // A conversion saturates, and NaN becomes 0.
            Self::BySquaredMass(scale) => {
                ((scale * mass * mass).ceil() as u32).clamp(1, MOST_ENCOUNTERS)
            }
        }
    }
}

/// The encounters of a bin's stars: in each round every star has another partner, and pairs whose encounters are over pass.
fn deflect(encounters: &Encounters<'_>, group: &mut Share<'_>, own: Range<usize>, density: f64) {
    let rate = 2.0 * PI * density * encounters.coulomb * encounters.dt;
    let number = Number::of(encounters.settings.encounters, rate, group, own.clone());
    let (mut order, mut count) = ([0; BIN], 0);
    let mut heaviest = [0.0_f64; 2];
    for star in own.clone().filter(|&star| group.m[star] > 0.0) {
        order[count] = star;
        count += 1;
        let mass = group.m[star];
        heaviest = [
            heaviest[0].max(mass),
            heaviest[1].max(mass.min(heaviest[0])),
        ];
    }
    let order = &mut order[..count];
    let mut watched = encounters
        .cone
        .map(|cone| cone.watch(&group.id[own.clone()], &group.m[own.clone()]));
    let stream = &mut group.streams[own.start / BIN];
    let rounds = number.of_pair(heaviest[0] + heaviest[1]);
    // The single round of a thin bin has radial neighbours meet.
    let mut matching = Matching::of(count);
    for round in 1..=rounds {
        if rounds > 1 && matching.round == 0 {
            for last in (1..count).rev() {
                order.swap(last, (stream.uniform() * (last + 1) as f64) as usize);
            }
        }
        for pair in 0..count / 2 {
            let [a, b] = match rounds {
                1 => [order[2 * pair], order[2 * pair + 1]],
                _ => matching.pair(pair).map(|place| order[place]),
            };
            let masses = [group.m[a], group.m[b]];
            let number = number.of_pair(masses[0] + masses[1]);
            if round > number {
                continue;
            }
            let (vr, vt) = (&mut group.vr, &mut group.vt);
            let mut velocities = Velocities::of([vr[a], vr[b]], [vt[a], vt[b]], stream);
            let before = velocities;
            velocities.deflect(rate / f64::from(number), masses, stream);
            if let (Some(cone), Some(watched)) = (&encounters.cone, &mut watched) {
                let part = 1.0 / f64::from(number);
                for (k, place) in [a, b].into_iter().enumerate() {
                    let star = Star::new(
                        encounters.potential,
                        group.first + place + 1,
                        masses[k],
                        [vr[place], vt[place]],
                    );
                    let [from, to] = [before.0[k], velocities.0[k]].map(|v| [v[0], v[1]]);
                    cone.pass(watched, place - own.start, &star, &[from, to], part, stream);
                }
            }
            (vr[a], vt[a]) = components(&velocities.0[0]);
            (vr[b], vt[b]) = components(&velocities.0[1]);
        }
        matching.advance();
    }
    if let Some(watched) = watched {
        remove_taken(encounters.potential, group, own, &watched.taken);
    }
}

/// The pairs of each round of a round-robin tournament (the circle method): every two of `count` stars meet once.
/// There are `count` - 1 rounds, or, if `count` is odd, `count` rounds, in each of which one star rests.
#[derive(Clone, Copy, Debug)]
struct Matching {
    circle: usize,
    round: usize,
    odd: bool,
}

impl Matching {
    fn of(count: usize) -> Self {
        let odd = count % 2 == 1;
        Self {
            circle: if odd { count } else { count.max(1) - 1 }.max(1),
            round: 0,
            odd,
        }
    }

    /// The places that meet in this round; `pair` counts from 0 to count / 2 - 1.
    #[inline]
    fn pair(&self, pair: usize) -> [usize; 2] {
        let step = pair + usize::from(self.odd);
        if step == 0 {
            return [self.circle, self.round];
        }
        let around = |place: usize| {
            if place < self.circle {
                place
            } else {
                place - self.circle
            }
        };
        [
            around(self.round + step),
            around(self.round + self.circle - step),
        ]
    }

    fn advance(&mut self) {
        self.round = (self.round + 1) % self.circle;
    }
}

/// Radial and transverse part.
pub fn components(&[x, y, z]: &[f64; 3]) -> (f64, f64) {
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

    /// Turns the relative velocity w by the angle beta, about a random direction. The angle follows from
    /// sin^2(beta/2) = 2 pi G^2 (m1 + m2)^2 n ln(gamma N) dt / w^3, and `rate` is 2 pi n ln(gamma N) dt. Above
    /// `LIMIT` it is a right angle. The pair's momentum and energy are unchanged.
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
        let mut half = rate * mass * mass / (w2 * speed);
        if half > LIMIT {
            half = RIGHT_ANGLE;
        }
        let cos = 1.0 - 2.0 * half;
        let sin = 2.0 * (half * (1.0 - half)).sqrt();
        let (a, b) = at_right_angles(&w, speed, across2.sqrt());
        let [first, second] = &mut self.0;
        for c in 0..3 {
            let turned = w[c] * cos + sin * (a[c] * cos_psi + b[c] * sin_psi);
            let change = turned - w[c];
            first[c] -= m2 / mass * change;
            second[c] += m1 / mass * change;
        }
    }
}

/// Two vectors of the length `speed` of `w`, at right angles to w and to each other; `across` is the length of its first two components.
#[inline]
fn at_right_angles(w: &[f64; 3], speed: f64, across: f64) -> ([f64; 3], [f64; 3]) {
    if across > 0.0 {
        (
            [w[1] * speed / across, -w[0] * speed / across, 0.0],
            [-w[0] * w[2] / across, -w[1] * w[2] / across, across],
        )
    } else {
        ([speed, 0.0, 0.0], [0.0, speed, 0.0])
    }
}

/// `w`, turned by an angle of this cosine about a random direction.
pub fn turned(w: &[f64; 3], cos: f64, stream: &mut Stream) -> [f64; 3] {
    let across = (w[0] * w[0] + w[1] * w[1]).sqrt();
    let speed = (across * across + w[2] * w[2]).sqrt();
    let sin = (1.0 - cos * cos).max(0.0).sqrt();
    let (cos_psi, sin_psi) = stream.angle();
    let (a, b) = at_right_angles(w, speed, across);
    std::array::from_fn(|c| w[c] * cos + sin * (a[c] * cos_psi + b[c] * sin_psi))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_meets_everybody_once() {
        for count in 2..=BIN {
            let mut matching = Matching::of(count);
            let mut met = [[0; BIN]; BIN];
            for _ in 0..matching.circle {
                let mut busy = [false; BIN];
                for [a, b] in (0..count / 2).map(|pair| matching.pair(pair)) {
                    assert!(!busy[a] && !busy[b] && a != b, "{count}: {a} {b}");
                    (busy[a], busy[b]) = (true, true);
                    met[a.min(b)][a.max(b)] += 1;
                }
                matching.advance();
            }
            assert_eq!(matching.round, 0);
            for (a, others) in met[..count].iter().enumerate() {
                assert!(others[a + 1..count].iter().all(|&b| b == 1), "{count}");
            }
        }
        assert_eq!(Matching::of(1).circle, 1);
    }
}
