//! The forces of all stars on all stars by the program itself, in double precision: for whole steps on a GPU.
//!
//! The library keeps its particles on the host, so with its forces every step goes there and back. With `--pairs program`
//! this module sums over the pairs instead. On a GPU the stars then stay there until somebody looks at them ([`steps`]);
//! elsewhere the processor does the same operations in the same order ([`pairs`]), with the same bits.
//!
//! The order of every sum depends on the number of stars alone. The sources are divided into parts of [`part`] stars. The
//! stars of a part are summed one by one, and so are the parts. Sums over all stars are made of [`STARS`] stars each, which
//! are added as a tree.

pub mod pairs;
pub mod steps;

use std::time::Instant;

use kirin_kit::vector::{Vec3, cross};

use crate::error::Error;
use crate::forces::{Counts, check};
use crate::phase_space::PhaseSpace;
use crate::torque::Effect;

/// Where the forces of the pairs come from.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Pairs {
    /// From a GRAPE-6 library
    #[default]
    Library,
    /// From the program's own loop, in double precision. With a GPU (--device) whole steps stay there
    Program,
}

/// Stars over which a thread block of the kernel `join` sums.
pub const STARS: usize = 256;

/// There are at most so many parts.
const PARTS: usize = 64;

/// Number of sources in a part, of `n` stars.
pub fn part(n: usize) -> usize {
    STARS * n.div_ceil(STARS * PARTS).max(1)
}

/// The sum over all stars of what `term` says of each, added as the kernel `join` adds.
pub fn sum<const Q: usize>(n: usize, term: impl Fn(usize) -> [f64; Q]) -> [f64; Q] {
    let block = |first: usize| {
        let mut terms = [[0.0; Q]; STARS];
        for (t, i) in (first..n.min(first + STARS)).enumerate() {
            terms[t] = term(i);
        }
        let mut half = STARS / 2;
        while half > 0 {
            let (sums, others) = terms.split_at_mut(half);
            for (sum, other) in sums.iter_mut().zip(others) {
                sum.iter_mut().zip(other).for_each(|(a, b)| *a += *b);
            }
            half /= 2;
        }
        terms[0]
    };
    let blocks = (0..n).step_by(STARS).map(block);
    let add = |a: [f64; Q], b: [f64; Q]| std::array::from_fn(|q| a[q] + b[q]);
    blocks.reduce(add).unwrap_or([0.0; Q])
}

/// Finds accelerations and potentials of the particles with these masses on the processor, as
/// [`Forces::find`](crate::forces::Forces::find) does through the library. `meanwhile` is called behind it. Positions are
/// taken as they are: in double precision the differences of near stars are exact.
///
/// # Errors
///
/// A force is not finite.
pub fn find(
    state: &PhaseSpace,
    masses: &[f64],
    eps2: f64,
    (acc, pot): (&mut [Vec3], &mut [f64]),
    work: &mut Counts,
    meanwhile: impl FnOnce(),
) -> Result<(), Error> {
    let began = Instant::now();
    let x: Vec<Vec3> = (0..state.len()).map(|i| state.position(i)).collect();
    pairs::find(&x, masses, eps2, (acc, pot));
    check(acc, pot)?;
    let net = mean(masses, acc);
    for a in acc.iter_mut() {
        *a = [0, 1, 2].map(|k| a[k] - net[k]);
    }
    work.times.force += began.elapsed();
    work.evaluations += 1;
    work.pairs += (masses.len() as u64).pow(2);
    meanwhile();
    Ok(())
}

/// What a galaxy does to all stars together, as [`torque::effect`](crate::torque::effect), added as the kernel adds.
pub fn effect(state: &PhaseSpace, masses: &[f64], external: &[Vec3], changes: &[f64]) -> Effect {
    let sums = sum(masses.len(), |i| {
        let torque = cross(&state.position(i), &external[i]);
        let change = changes.get(i).map_or(0.0, |change| masses[i] * change);
        let [x, y, z] = torque.map(|t| masses[i] * t);
        [x, y, z, change]
    });
    let [x, y, z, power] = sums;
    Effect {
        torque: [x, y, z],
        power,
    }
}

/// The mean of the accelerations, weighted by mass: what rounding errors do to the centre of mass; 0 without mass.
pub fn mean(masses: &[f64], acc: &[Vec3]) -> Vec3 {
    let total = mass(masses);
    let sums = sum(masses.len(), |i| acc[i].map(|a| masses[i] * a));
    sums.map(|sum| if total > 0.0 { sum / total } else { 0.0 })
}

/// The mass of all stars.
pub fn mass(masses: &[f64]) -> f64 {
    masses.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_depend_on_the_number_alone() {
        assert_eq!([1, 256, 257, 16_384].map(part), [256; 4]);
        assert_eq!(part(16_385), 512);
        for n in [1_usize, 1000, 16_385, 300_000] {
            assert!(n.div_ceil(part(n)) <= PARTS);
        }
    }

    #[test]
    fn a_sum_has_every_star_once() {
        for n in [0, 1, 255, 256, 257, 1000] {
            let [count, numbers] = sum(n, |i| [1.0, i as f64]);
            assert_eq!(
                (count, numbers),
                (n as f64, (n * n.max(1) - n) as f64 / 2.0)
            );
        }
        assert_eq!(
            mean(&[1.0, 3.0], &[[4.0, 0.0, 1.0], [0.0, 4.0, 1.0]]),
            [1.0, 3.0, 1.0]
        );
        assert_eq!(mean(&[0.0], &[[1.0; 3]]), [0.0; 3]);
    }
}
