//! The forces of all stars on all stars, through a GRAPE-6 library.

use std::time::{Duration, Instant};

use kirin::client::{Block, Grape};
use kirin_kit::snapshot::line::seconds;
use kirin_kit::sum::Sum;
use kirin_kit::vector::Vec3;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::phase_space::PhaseSpace;

/// The cluster of the library that is used: GRAPE-6 clients call their first one 0.
const ID: i32 = 0;

/// Wall time by what it was spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Summing over the pairs: the library's blocks.
    #[serde(with = "seconds")]
    pub force: Duration,
    /// The external field.
    #[serde(with = "seconds")]
    pub field: Duration,
    /// Kicks and drifts.
    #[serde(with = "seconds")]
    pub predict: Duration,
    /// Positions with respect to the centre of mass, and their way into the library's memory.
    #[serde(with = "seconds")]
    pub transfer: Duration,
}

impl Times {
    /// Each part with its name.
    pub fn parts(&self) -> [(&'static str, f64); 4] {
        [
            ("force", self.force),
            ("field", self.field),
            ("predict", self.predict),
            ("transfer", self.transfer),
        ]
        .map(|(name, time)| (name, time.as_secs_f64()))
    }
}

/// How much has been done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Forces on everybody.
    pub evaluations: u64,
    /// Pairs that were summed.
    pub pairs: u64,
    /// Wall time.
    #[serde(skip)]
    pub times: Times,
}

/// The library with its cluster open.
pub struct Forces<'g> {
    grape: &'g Grape,
    most_at_once: usize,
    block: Block,
    /// Positions as the library gets them.
    sent: Vec<Vec3>,
}

impl<'g> Forces<'g> {
    /// Opens cluster 0 of the library, which is closed when this is dropped.
    ///
    /// # Errors
    ///
    /// The library refuses.
    pub fn open(grape: &'g Grape) -> Result<Self, Error> {
        match grape.open(ID) {
            0 => {}
            status => return Err(Error::Library(status)),
        }
        grape.set_ti(ID, 0.0);
        Ok(Self {
            grape,
            most_at_once: grape.most_at_once(),
            block: Block::default(),
            sent: Vec::new(),
        })
    }

    /// Finds accelerations and potentials of the particles with these masses.
    ///
    /// The library gets positions relative to the centre of mass, unless `uncentred`, because the distance from the
    /// galaxy's centre would cost digits. A particle's force on itself is left out by its label. The forces should not
    /// accelerate the centre of mass. The acceleration that rounding errors leave is subtracted from every particle's,
    /// so that momentum is conserved.
    ///
    /// Calls `meanwhile` once, while the library may be at work, and does not count its time.
    ///
    /// # Errors
    ///
    /// The library fails; a force is not finite.
    pub fn find(
        &mut self,
        state: &PhaseSpace,
        masses: &[f64],
        (eps2, uncentred): (f64, bool),
        (acc, pot): (&mut [Vec3], &mut [f64]),
        work: &mut Counts,
        meanwhile: impl FnOnce(),
    ) -> Result<(), Error> {
        let began = Instant::now();
        let origin = if uncentred {
            [0.0; 3]
        } else {
            mean(masses, |i| state.position(i))
        };
        state.relative_to(&origin, &mut self.sent)?;
        for ((address, x), mass) in (0..).zip(&self.sent).zip(masses) {
            self.grape.set_mass_position(ID, address, address, *mass, x);
        }
        let sent = Instant::now();
        let other = self.sum(eps2, acc, pot, meanwhile)?;
        let net = mean(masses, |i| acc[i]);
        for a in acc.iter_mut() {
            *a = [0, 1, 2].map(|k| a[k] - net[k]);
        }
        work.times.transfer += sent - began;
        work.times.force += sent.elapsed().saturating_sub(other);
        work.evaluations += 1;
        work.pairs += (masses.len() as u64).pow(2);
        Ok(())
    }

    /// Asks for the forces, on as many particles at a time as the library likes. Returns the time of `meanwhile`.
    fn sum(
        &mut self,
        eps2: f64,
        acc: &mut [Vec3],
        pot: &mut [f64],
        meanwhile: impl FnOnce(),
    ) -> Result<Duration, Error> {
        let (grape, block, nj) = (self.grape, &mut self.block, self.sent.len());
        let (mut meanwhile, mut other) = (Some(meanwhile), Duration::ZERO);
        for first in (0..nj).step_by(self.most_at_once) {
            let part = first..nj.min(first.saturating_add(self.most_at_once));
            block.resize(part.len());
            for (k, i) in part.clone().enumerate() {
                block.index[k] = i as i32;
                block.x[k] = self.sent[i];
            }
            block.acc.copy_from_slice(&acc[part.clone()]);
            block.pot.copy_from_slice(&pot[part.clone()]);
            grape.firsthalf(ID, nj, block, eps2);
            if let Some(meanwhile) = meanwhile.take() {
                let began = Instant::now();
                meanwhile();
                other = began.elapsed();
            }
            let status = grape.lasthalf(ID, nj, block, eps2);
            if status != 0 {
                return Err(Error::Library(status));
            }
            acc[part.clone()].copy_from_slice(&block.acc);
            pot[part].copy_from_slice(&block.pot);
        }
        check(acc, pot).map(|()| other)
    }

    /// Name of what computes, and its precision.
    pub fn description(&self) -> (String, String) {
        (self.grape.backend(ID), self.grape.precision(ID))
    }
}

impl Drop for Forces<'_> {
    fn drop(&mut self) {
        self.grape.close(ID);
    }
}

/// Checks that all forces are numbers.
///
/// # Errors
///
/// The first one that is not finite.
pub fn check(acc: &[Vec3], pot: &[f64]) -> Result<(), Error> {
    let bad = |(a, p): (&Vec3, &f64)| !(p.is_finite() && a.iter().all(|c| c.is_finite()));
    match acc.iter().zip(pot).position(bad) {
        Some(i) => Err(Error::Force { index: i as i32 }),
        None => Ok(()),
    }
}

/// The mean of a vector of each particle, weighted by mass; 0 without mass.
fn mean(masses: &[f64], vector: impl Fn(usize) -> Vec3) -> Vec3 {
    let mut sums = [Sum::default(); 3];
    for (i, mass) in masses.iter().enumerate() {
        let vector = vector(i);
        for k in 0..3 {
            sums[k] += mass * vector[k];
        }
    }
    let total: f64 = masses.iter().sum();
    if total > 0.0 {
        sums.map(|sum| sum.value() / total)
    } else {
        [0.0; 3]
    }
}
