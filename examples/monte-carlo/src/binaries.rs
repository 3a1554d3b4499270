//! Binaries of single stars: how three stars form one, and how a binary is followed. A binary moves in the cluster as one star of the mass of both.
//!
//! All ranks know all binaries, which are few.

use std::f64::consts::PI;

use kirin_kit::communicator::Communicator;
use serde::{Deserialize, Serialize};

use crate::encounter::Object;
use crate::error::Error;
use crate::random::Stream;

/// A binary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binary {
    /// Labels of its stars; the first is the label of the binary among the stars of the cluster.
    pub ids: [u64; 2],
    /// Their masses.
    pub masses: [f64; 2],
    /// Semi-major axis.
    pub axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
}

impl Binary {
    /// Energy that it would take to part its stars.
    pub fn binding(&self) -> f64 {
        self.masses[0] * self.masses[1] / (2.0 * self.axis)
    }

    /// Whether its axis is the smaller one; with equal axes the label decides.
    pub fn is_tighter(&self, other: &Self) -> bool {
        (self.axis, self.ids[0]) < (other.axis, other.ids[0])
    }

    /// Takes this energy from the orbit, which shrinks.
    pub fn harden(&mut self, energy: f64) {
        if energy > 0.0 {
            self.axis = self.masses[0] * self.masses[1] / (2.0 * (self.binding() + energy));
        }
    }

    /// Mass of both stars.
    pub fn mass(&self) -> f64 {
        self.masses[0] + self.masses[1]
    }

    /// Whether a file may have it.
    pub fn is_sensible(&self) -> bool {
        let moderate = |x: f64| (1e-100..=1e100).contains(&x);
        self.ids[0] != self.ids[1]
            && self.masses.into_iter().all(moderate)
            && moderate(self.axis)
            && (0.0..1.0).contains(&self.eccentricity)
    }
}

/// Binding energy of all `binaries`.
pub fn binding(binaries: &[Binary]) -> f64 {
    binaries.iter().map(Binary::binding).sum()
}

/// The stars around a place: what rates depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Number of stars in the unit of volume.
    pub density: f64,
    /// Its square. (The square of the estimate of the density would be too large.)
    pub density_squared: f64,
    /// Dispersion of the velocities in one direction.
    pub sigma: f64,
    /// Mean kinetic energy of a star in one direction, twice: k T.
    pub temperature: f64,
    /// Mass of the heaviest star.
    pub heaviest: f64,
}

/// Binaries that survive form at the rate 0.75 G^5 m^5 n^3 / sigma^9 in the unit of volume (Goodman and Hut 1993).
const RATE: f64 = 0.75;

/// Part of the new binaries that get hard; encounters dissolve the others. `tests/long_survivors.rs` measures it.
pub const SURVIVORS: f64 = 0.62;

/// Least binding energy of a new binary, in k T.
const LEAST_HARDNESS: f64 = 3.0;

/// Rate per star at which binaries of these two masses form, including those that encounters will dissolve. It is the
/// rate per volume over the density. The m of that rate is the mean of the two masses (Morscher et al. 2013); the third
/// star may have any mass.
pub fn formation_rate(around: &Surroundings, [m1, m2]: [f64; 2]) -> f64 {
    let mean = 0.5 * (m1 + m2);
    RATE / SURVIVORS * mean.powi(5) * around.density_squared / around.sigma.powi(9)
}

/// A new binary of two stars: binding energies are distributed as E^(-9/2) (Heggie 1975), eccentricities as 2 e.
pub fn form(around: &Surroundings, ids: [u64; 2], masses: [f64; 2], stream: &mut Stream) -> Binary {
    // A random number may be 0; the hundredfold of the least energy is rarer than 1e-6.
    let binding = LEAST_HARDNESS * around.temperature * stream.uniform().max(1e-7).powf(-2.0 / 7.0);
    Binary {
        ids,
        masses,
        axis: masses[0] * masses[1] / (2.0 * binding),
        eccentricity: stream.uniform().sqrt().min(0.9999),
    }
}

/// Largest pericentre of the encounters of a binary that are followed, in semi-major axes. (Fregeau and Rasio 2007 have 2.)
pub const REACH: f64 = 3.0;

/// Largest pericentre of the encounters of `binary` with `other` that are followed: of two binaries the axes add up.
pub fn reach(binary: &Binary, other: &Object) -> f64 {
    let axis = match other {
        Object::Star { .. } => 0.0,
        Object::Binary(other) => other.axis,
    };
    REACH * (binary.axis + axis)
}

/// Square of the largest impact parameter of these encounters, with the relative speed `w` far away.
pub fn largest_impact_squared(binary: &Binary, other: &Object, w: f64) -> f64 {
    let reach = reach(binary, other);
    reach * reach + 2.0 * reach * (binary.mass() + other.mass()) / (w * w)
}

/// Apocentre, in mean distances of stars n^(-1/3), beyond which a binary is none any more.
const WIDEST: f64 = 0.3;

/// Whether a binary is so wide that other stars come between its own.
pub fn is_torn(around: &Surroundings, binary: &Binary) -> bool {
    binary.axis * (1.0 + binary.eccentricity) * around.density.cbrt() > WIDEST
}

/// How many encounters a binary has in the unit of time with `density` objects of this kind in the unit of volume.
pub fn encounter_rate(density: f64, binary: &Binary, other: &Object, w: f64) -> f64 {
    density * PI * largest_impact_squared(binary, other, w) * w
}

/// Encounters that a binary expects in a part of a step at most.
const EXPECTED: f64 = 0.02;

/// Parts of a step at most.
const MOST_PARTS: f64 = 2500.0;

/// The time of a step, in which a binary waits for its next encounter. The partner of that encounter is drawn first, then the time until it. In a
/// long step partners that are met seldom would count too much. So the step has parts with few expected encounters each, and the partner is drawn
/// anew in each part.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    part: f64,
    left: f64,
    later: u32,
}

impl Waiting {
    /// The time `dt` of a binary among `density` single stars in the unit of volume.
    pub fn of(dt: f64, around: &Surroundings, density: f64, binary: &Binary) -> Self {
        let typical = Object::Star {
            id: 0,
            mass: around.temperature / (around.sigma * around.sigma),
        };
        let rate = encounter_rate(density, binary, &typical, 2.0 * around.sigma);
        Self::in_parts(dt, rate * dt)
    }

    /// The time `dt`, in which this number of encounters is expected.
    fn in_parts(dt: f64, expected: f64) -> Self {
        let parts = match expected > EXPECTED {
            true => (expected / EXPECTED).ceil().min(MOST_PARTS),
            false => 1.0,
        };
        let part = dt / parts;
        Self {
            part,
            left: part,
            later: parts as u32 - 1,
        }
    }

    /// Whether an encounter comes, after the time `wait`, before this part ends.
    pub fn is_within(&mut self, wait: f64) -> bool {
        self.left -= wait;
        self.left > 0.0
    }

    /// Begins the next part, if there is one.
    pub fn goes_on(&mut self) -> bool {
        let goes_on = self.later > 0;
        self.later = self.later.saturating_sub(1);
        self.left = self.part;
        goes_on
    }
}

/// What became of one or two binaries of a rank in a step, or a new one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// Labels of the binaries before; none where a binary is new.
    pub before: Vec<u64>,
    /// Encounters that they had.
    pub encounters: u64,
    /// The binaries afterwards.
    pub after: Vec<Binary>,
}

/// Binaries before and after at most.
const MOST: usize = 2;
/// Words of a binary, and of an event.
const WORDS_OF_BINARY: usize = 6;
const WORDS: usize = 1 + MOST + MOST * WORDS_OF_BINARY;
/// In the place of a label that there is not.
const NONE: u64 = u64::MAX;

impl Binary {
    fn words(&self) -> [u64; WORDS_OF_BINARY] {
        let [m1, m2] = self.masses.map(f64::to_bits);
        let orbit = [self.axis, self.eccentricity].map(f64::to_bits);
        [self.ids[0], self.ids[1], m1, m2, orbit[0], orbit[1]]
    }

    fn of_words(words: &[u64]) -> Self {
        let number = |k: usize| f64::from_bits(words[k]);
        Self {
            ids: [words[0], words[1]],
            masses: [number(2), number(3)],
            axis: number(4),
            eccentricity: number(5),
        }
    }
}

impl Event {
    fn words(&self) -> Vec<u64> {
        let mut words = vec![self.encounters];
        words.extend(&self.before);
        words.resize(1 + MOST, NONE);
        words.extend(self.after.iter().flat_map(Binary::words));
        words.resize(WORDS, NONE);
        words
    }

    fn of_words(words: &[u64]) -> Self {
        let (head, binaries) = words.split_at(1 + MOST);
        let is_there = |word: &&u64| **word != NONE;
        let binaries = binaries.chunks_exact(WORDS_OF_BINARY);
        Self {
            before: head[1..].iter().filter(is_there).copied().collect(),
            encounters: head[0],
            after: binaries
                .filter(|words| words[0] != NONE)
                .map(Binary::of_words)
                .collect(),
        }
    }

    /// The events of all ranks, on every rank, in one order.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn gather<C: Communicator>(world: &C, mine: Vec<Self>) -> Result<Vec<Self>, Error> {
        let mut all = mine;
        if world.size() > 1 {
            let counts = kirin_kit::communicator::sample_sort::counts(world, all.len())?;
            if counts.iter().all(|&count| count == 0) {
                return Ok(Vec::new());
            }
            let send: Vec<u64> = all.iter().flat_map(Self::words).collect();
            let counts: Vec<usize> = counts.iter().map(|count| count * WORDS).collect();
            let mut receive = Vec::new();
            world.all_gather_v(&send, &counts, &mut receive)?;
            all = receive.chunks_exact(WORDS).map(Self::of_words).collect();
        }
        // Each binary is in one event at most, and the stars of a new one in none.
        let label = |event: &Self| event.before.first().copied();
        all.sort_by_key(|event| label(event).or(event.after.first().map(|b| b.ids[0])));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A binary meets partners of each kind at their own rates, however long the step is.
    #[test]
    fn long_steps_have_as_many_encounters_as_short_ones() {
        let rates = [0.2, 1.0, 6.0];
        let mean = rates.iter().sum::<f64>() / 3.0;
        let mut stream = Stream::of_seed(3);
        for expected in [0.02, 0.5, 2.0, 20.0] {
            let (mut met, mut rounds) = (0, 0);
            while f64::from(rounds) * expected < 40_000.0 {
                rounds += 1;
                let mut waiting = Waiting::in_parts(expected / mean, expected);
                loop {
                    let rate = rates[(stream.uniform() * 3.0) as usize];
                    if waiting.is_within(-stream.uniform().ln() / rate) {
                        met += 1;
                    } else if !waiting.goes_on() {
                        break;
                    }
                }
            }
            let ratio = f64::from(met) / (f64::from(rounds) * expected);
            assert!((ratio - 1.0).abs() < 0.03, "{expected}: {ratio}");
        }
    }
}
