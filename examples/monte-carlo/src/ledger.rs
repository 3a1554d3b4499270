//! The energy ledger: the energy that has left the stars, by escape, by collision or into a black hole.

use kirin_kit::communicator::Communicator;

use crate::device::Leaver;
use crate::error::Error;
use crate::potential::Potential;
use crate::stars::Stars;

/// Energy that has left the stars, or changed hands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Number of stars that have escaped.
    pub escapers: u64,
    /// Their mass.
    pub escaped_mass: f64,
    /// Their energy.
    pub escaped: f64,
    /// Energy that collisions have cost.
    pub collided: f64,
    /// Energy and mass that stars have taken with them by their evolution.
    pub evolved: f64,
    /// See [`evolved`](Self::evolved).
    pub evolved_mass: f64,
    /// Number of stars that the black hole has taken.
    pub taken: u64,
    /// Their mass.
    pub taken_mass: f64,
    /// Their energy, and what the growth of the hole has cost the stars.
    pub taken_energy: f64,
    /// Binaries that have formed, encounters of binaries, and binaries that have escaped.
    pub formed: u64,
    /// See [`formed`](Self::formed).
    pub encounters: u64,
    /// See [`formed`](Self::formed).
    pub binaries_escaped: u64,
    /// Binding energy of the binaries that have escaped.
    pub binding_escaped: f64,
    /// Binaries that encounters have dissolved.
    pub dissolved: u64,
    /// Binding energy of the binaries at the start.
    pub primordial: f64,
    /// What all stars have paid: what those in debt and their neighbours could not, and the error of encounters of one step that move mass.
    pub shared: f64,
}

impl Ledger {
    /// Energy that the stars would still have otherwise.
    pub fn left(&self) -> f64 {
        self.escaped + self.collided + self.evolved + self.taken_energy
    }

    /// Notes the energy that a star takes away which escapes, or which the black hole takes. The star's potential is the mean of two values: before any
    /// escaper of the step has left, and after all have left, which is `there`. So two stars that leave together share the energy between
    /// them equally.
    pub fn escape(&mut self, escaper: &Escaper, there: f64) {
        let Escaper { m, v2, phi, .. } = *escaper;
        let energy = 0.5 * m * (v2 + phi + there);
        if escaper.taken {
            self.taken += 1;
            self.taken_mass += m;
            self.taken_energy += energy;
        } else {
            self.escapers += 1;
            self.escaped_mass += m;
            self.escaped += energy;
        }
    }
}

/// A star that leaves in this step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Escaper {
    /// Label.
    id: u64,
    /// Mass.
    m: f64,
    /// Radius from which it left.
    start: f64,
    /// v^2 there.
    v2: f64,
    /// Potential of the others there, before anybody left.
    phi: f64,
    /// Whether the black hole takes it.
    taken: bool,
}

const WORDS: usize = 6;

impl Escaper {
    /// Label.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Mass, if the black hole takes the star, or else 0.
    pub fn mass_taken(&self) -> f64 {
        if self.taken { self.m } else { 0.0 }
    }

    /// Potential of the stars that stay at the radius from which it left.
    pub fn potential_there(&self, potential: &Potential, radii: &[f64]) -> f64 {
        let Self { start, .. } = *self;
        potential.between[potential.star_inside(radii, start)].phi(1.0 / start)
    }

    /// A star that has left on a GPU.
    pub fn leaving(leaver: &Leaver) -> Self {
        let Leaver {
            id,
            m,
            start,
            v2,
            phi,
            ..
        } = *leaver;
        Self {
            id,
            m,
            start,
            v2,
            phi,
            taken: false,
        }
    }

    /// Star `k` of `stars`, whose radius is infinite. `taken` has the labels of the stars that the black hole takes, in order.
    pub fn of(stars: &Stars, k: usize, taken: &[u64]) -> Self {
        Self {
            id: stars.id[k],
            m: stars.m[k],
            start: stars.start[k],
            v2: stars.vr[k] * stars.vr[k] + stars.vt[k] * stars.vt[k],
            phi: stars.climb[k],
            taken: taken.binary_search(&stars.id[k]).is_ok(),
        }
    }

    /// The stars that leave all ranks, by label, on every rank; `mine` is emptied.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn gather<C: Communicator>(world: &C, mine: &mut Vec<Self>) -> Result<Vec<Self>, Error> {
        if world.size() == 1 && mine.is_empty() {
            return Ok(Vec::new());
        }
        let counts = kirin_kit::communicator::sample_sort::counts(world, mine.len())?;
        if counts.iter().all(|&count| count == 0) {
            return Ok(Vec::new());
        }
        let words = |e: &Self| {
            [
                e.id,
                e.m.to_bits(),
                e.start.to_bits(),
                e.v2.to_bits(),
                e.phi.to_bits(),
                e.taken.into(),
            ]
        };
        let send: Vec<u64> = mine.drain(..).flat_map(|e| words(&e)).collect();
        let counts: Vec<usize> = counts.iter().map(|count| count * WORDS).collect();
        let mut receive = Vec::new();
        world.all_gather_v(&send, &counts, &mut receive)?;
        let mut all: Vec<Self> = receive
            .chunks_exact(WORDS)
            .map(|w| Self {
                id: w[0],
                m: f64::from_bits(w[1]),
                start: f64::from_bits(w[2]),
                v2: f64::from_bits(w[3]),
                phi: f64::from_bits(w[4]),
                taken: w[5] == 1,
            })
            .collect();
        all.sort_by_key(|escaper| escaper.id);
        Ok(all)
    }
}
