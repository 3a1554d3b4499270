//! Binaries of single stars: how three stars form one, and how a binary is followed. A binary moves in the cluster as one star of the mass of both.
//!
//! All ranks know all binaries, which are few.

use std::f64::consts::PI;

use kirin_kit::communicator::Communicator;

use crate::error::Error;
use crate::random::Stream;

/// A binary.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// Binaries form at the rate 0.75 G^5 m^5 n^3 / sigma^9 in the unit of volume (Goodman and Hut 1993). The rate counts those that survive.
const RATE: f64 = 0.75;

/// Least binding energy of a new binary, in k T.
const LEAST_HARDNESS: f64 = 3.0;

/// Number of binaries that one star forms in the unit of time, with a star of the second mass and any third star.
/// Unequal masses enter as in Morscher et al. (2013).
pub fn formation_rate(around: &Surroundings, [m1, m2]: [f64; 2]) -> f64 {
    let mean = 0.5 * (m1 + m2);
    RATE * mean.powi(5) * around.density_squared / around.sigma.powi(9)
}

/// Semi-major axis of the softest new binary of two stars.
pub fn hard_axis(around: &Surroundings, [m1, m2]: [f64; 2]) -> f64 {
    m1 * m2 / (2.0 * LEAST_HARDNESS * around.temperature)
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

/// Largest pericentre of the encounters of a binary that are followed, in semi-major axes.
pub const REACH: f64 = 3.0;

/// Square of the largest impact parameter of these encounters: a third star of the mass `m3` has the relative speed `w` far away.
pub fn largest_impact_squared(binary: &Binary, m3: f64, w: f64) -> f64 {
    let reach = REACH * binary.axis;
    reach * reach + 2.0 * reach * (binary.mass() + m3) / (w * w)
}

/// How many encounters a binary has in the unit of time.
pub fn encounter_rate(around: &Surroundings, binary: &Binary, m3: f64, w: f64) -> f64 {
    around.density * PI * largest_impact_squared(binary, m3, w) * w
}

/// Whether an encounter has made a binary softer than new ones are. Such a binary would soon be dissolved. The rate of formation does not count those that do
/// not survive, so these encounters are left out.
pub fn is_lost(around: &Surroundings, before: &Binary, after: &Binary) -> bool {
    let least = LEAST_HARDNESS * around.temperature;
    after.binding() < before.binding().min(least)
}

/// What became of the binaries of one rank in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Label of the binary before; `None` where it is new.
    pub before: Option<u64>,
    /// Encounters that it had.
    pub encounters: u64,
    /// The binary afterwards.
    pub after: Binary,
}

const WORDS: usize = 8;

impl Event {
    fn words(&self) -> [u64; WORDS] {
        let Binary {
            ids,
            masses,
            axis,
            eccentricity,
        } = self.after;
        [
            self.before.unwrap_or(u64::MAX),
            self.encounters,
            ids[0],
            ids[1],
            masses[0].to_bits(),
            masses[1].to_bits(),
            axis.to_bits(),
            eccentricity.to_bits(),
        ]
    }

    fn of_words(words: &[u64]) -> Self {
        let number = |k: usize| f64::from_bits(words[k]);
        Self {
            before: (words[0] != u64::MAX).then_some(words[0]),
            encounters: words[1],
            after: Binary {
                ids: [words[2], words[3]],
                masses: [number(4), number(5)],
                axis: number(6),
                eccentricity: number(7),
            },
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
        all.sort_by_key(|event| event.after.ids[0]);
        Ok(all)
    }
}
