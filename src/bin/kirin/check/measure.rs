//! The comparison in the worker: a library's answers with the exact ones.

use kirin::client::{Block, Grape};
use kirin_report::repeat::Spread;
use serde::{Deserialize, Serialize};

use super::exact::{self, Exact, Predicted};
use super::scene::{SceneOf, Setup};
use crate::model::{self, Vec3, hypot, sub};
use crate::worker::CLUSTER;

/// Relative difference below which two distances count as equal.
pub(super) const TIE: f64 = 1e-6;
/// Particles whose lists are compared.
pub(super) const LISTS: usize = 200;
/// Longest list asked for: every library that has lists at all holds as many.
pub(super) const LONGEST: usize = 100;
/// Errors beyond are all alike.
const HOPELESS: f64 = 1e30;

/// Errors of one quantity.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Errors {
    /// Root mean square, relative to the number.
    pub rms: f64,
    /// Largest, relative to the number.
    pub max: f64,
    /// Root mean square, relative to the sum of the terms' magnitudes.
    pub rms_of_terms: f64,
    /// Largest, likewise.
    pub max_of_terms: f64,
    #[serde(skip)]
    count: u32,
}

impl Errors {
    fn add(&mut self, error: f64, number: f64, terms: f64) {
        let of_number = (error / number).min(HOPELESS);
        let of_terms = (error / terms).min(HOPELESS);
        self.max = self.max.max(of_number);
        self.max_of_terms = self.max_of_terms.max(of_terms);
        self.rms += of_number * of_number;
        self.rms_of_terms += of_terms * of_terms;
        self.count += 1;
    }

    fn finish(&mut self) {
        for sum in [&mut self.rms, &mut self.rms_of_terms] {
            *sum = (*sum / f64::from(self.count.max(1))).sqrt();
        }
    }
}

/// How well forces and nearest neighbours are computed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ForceErrors {
    /// Number of forces, and of potentials that come without a force.
    pub compared: usize,
    /// Forces with a component that is no finite number; they enter no error.
    pub not_finite: usize,
    /// Of the acceleration.
    pub acc: Errors,
    /// Of the jerk.
    pub jerk: Errors,
    /// Of the potential.
    pub pot: Errors,
    /// Nearest neighbours that are not; none if the library does not know any.
    pub wrong_neighbours: Option<usize>,
    /// What of the error of an acceleration changes from one short step to the next, relative to it: see [`noise`].
    pub noise: Option<f64>,
}

/// How well neighbour lists are made.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ListErrors {
    /// Number of lists.
    pub compared: usize,
    /// Lists that lack a neighbour or have one too many.
    pub wrong: usize,
}

/// Sends a scene to the library, and the time.
fn send(grape: &Grape, setup: &Setup) {
    for (address, p) in (0..).zip(&setup.stars) {
        grape.set_j_particle(CLUSTER, address, 0.5_f64.powi(10), p);
    }
    grape.set_ti(CLUSTER, setup.ti);
}

/// The i-particles at some addresses.
fn block_of(some: &[usize], at: &Predicted) -> Block {
    let mut block = Block::default();
    block.resize(some.len());
    for (k, &address) in some.iter().enumerate() {
        block.index[k] = model::label(address);
        block.x[k] = at.x[address];
        block.v[k] = at.v[address];
    }
    block
}

/// Compares forces and nearest neighbours.
pub fn forces(grape: &Grape, scene: &SceneOf) -> ForceErrors {
    let setup = scene.setup();
    let (nj, eps2) = (setup.stars.len(), setup.eps2);
    send(grape, &setup);
    let at = Predicted::of(&setup);
    let mut found = ForceErrors {
        wrong_neighbours: Some(0),
        ..ForceErrors::of(setup.targets.len())
    };
    for some in setup.targets.chunks(grape.npipes()) {
        let mut block = block_of(some, &at);
        grape.firsthalf(CLUSTER, nj, &mut block, eps2);
        grape.lasthalf(CLUSTER, nj, &mut block, eps2);
        for (k, &address) in some.iter().enumerate() {
            let exact = exact::force(&setup.stars, &at, address, eps2);
            found.add(&exact, &block.acc[k], &block.jerk[k], block.pot[k]);
        }
        if found.wrong_neighbours.is_none() {
            continue;
        }
        grape.firsthalf(CLUSTER, nj, &mut block, eps2);
        if grape.lasthalf2(CLUSTER, nj, &mut block, eps2).is_none() {
            grape.lasthalf(CLUSTER, nj, &mut block, eps2);
            found.wrong_neighbours = None;
            continue;
        }
        let wrong = some.iter().zip(&block.nearest);
        let wrong = wrong.filter(|&(&address, &label)| !is_nearest(&at, address, label));
        *found.wrong_neighbours.get_or_insert(0) += wrong.count();
    }
    found.finish();
    found.noise = noise(grape, setup);
    found
}

/// The noise of the acceleration: how much the error changes from step to step, along the trajectories of some
/// particles. The step is 1/1024 of their median |a| / |j|. The noise of one particle is the root mean square of the
/// difference of two successive relative errors, divided by sqrt(2). Returns the median over the particles, or `None`
/// where their forces are not finite.
///
/// Integrators take higher derivatives from differences of forces, so this part of the error limits their steps.
fn noise(grape: &Grape, mut setup: Setup) -> Option<f64> {
    const PARTICLES: usize = 32;
    const STEPS: usize = 8;
    let (nj, eps2) = (setup.stars.len(), setup.eps2);
    let every = setup.targets.len().div_ceil(PARTICLES).max(1);
    let some: Vec<usize> = setup.targets.iter().copied().step_by(every).collect();
    let at = Predicted::of(&setup);
    let time_scale = |&address: &usize| {
        let exact = exact::force(&setup.stars, &at, address, eps2);
        hypot(&exact.acc) / hypot(&exact.jerk)
    };
    let h = median(some.iter().map(time_scale))? / 1024.0;
    // The last error of each particle, the sum of squares of the differences, and how often there was one.
    let mut errors: Vec<(Option<Vec3>, f64)> = vec![(None, 0.0); some.len()];
    for _ in 0..=STEPS {
        setup.ti += h;
        grape.set_ti(CLUSTER, setup.ti);
        let at = Predicted::of(&setup);
        for (some, errors) in some
            .chunks(grape.npipes())
            .zip(errors.chunks_mut(grape.npipes()))
        {
            let mut block = block_of(some, &at);
            grape.firsthalf(CLUSTER, nj, &mut block, eps2);
            grape.lasthalf(CLUSTER, nj, &mut block, eps2);
            for ((&address, acc), (last, sum)) in some.iter().zip(&block.acc).zip(errors) {
                let exact = exact::force(&setup.stars, &at, address, eps2).acc;
                let of_acc = 1.0 / hypot(&exact);
                let error = [0, 1, 2].map(|k| (acc[k] - exact[k]) * of_acc);
                if let Some(last) = last.replace(error) {
                    let change = [0, 1, 2].map(|k| error[k] - last[k]);
                    *sum += hypot(&change).powi(2);
                }
            }
        }
    }
    median(
        errors
            .iter()
            .map(|(_, sum)| (sum / (2 * STEPS) as f64).sqrt()),
    )
}

/// The median of the finite numbers.
fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    Spread::of(numbers.filter(|x| x.is_finite()).collect()).map(|spread| spread.median)
}

impl ForceErrors {
    /// Of so many particles, to be added.
    pub fn of(compared: usize) -> Self {
        Self {
            compared,
            ..Self::default()
        }
    }

    /// Takes the means, when all are added.
    pub fn finish(&mut self) {
        for errors in [&mut self.acc, &mut self.jerk, &mut self.pot] {
            errors.finish();
        }
    }

    /// Adds the force on a particle.
    pub fn add(&mut self, exact: &Exact, acc: &Vec3, jerk: &Vec3, pot: f64) {
        let finite = acc.iter().chain(jerk).all(|c| c.is_finite()) && pot.is_finite();
        if !finite {
            self.not_finite += 1;
            return;
        }
        let error = |a: &Vec3, b: &Vec3| hypot(&sub(a, b));
        let acc_error = error(acc, &exact.acc);
        self.acc.add(acc_error, hypot(&exact.acc), exact.acc_terms);
        let jerk_error = error(jerk, &exact.jerk);
        self.jerk
            .add(jerk_error, hypot(&exact.jerk), exact.jerk_terms);
        self.add_potential(exact, pot);
    }

    /// Adds the potential of a particle.
    pub fn add_potential(&mut self, exact: &Exact, pot: f64) {
        if !pot.is_finite() {
            self.not_finite += 1;
            return;
        }
        let pot_error = (pot - exact.pot).abs();
        self.pot.add(pot_error, exact.pot.abs(), exact.pot_terms);
    }
}

/// Whether no particle is noticeably nearer to the one at `address` than the one labelled `label`.
fn is_nearest(at: &Predicted, address: usize, label: i32) -> bool {
    let Some(chosen) = model::address(label).filter(|&a| a < at.x.len() && a != address) else {
        return false;
    };
    let (mut chosen_r2, mut least) = (f64::INFINITY, f64::INFINITY);
    for (j, r2) in at.distances2(address).enumerate() {
        if j == chosen {
            chosen_r2 = r2;
        }
        if j != address {
            least = least.min(r2);
        }
    }
    chosen_r2.sqrt() <= least.sqrt() * (1.0 + TIE)
}

/// Compares neighbour lists.
///
/// # Errors
///
/// The library has none.
pub fn lists(grape: &Grape, scene: &SceneOf) -> Result<ListErrors, String> {
    let mut setup = scene.setup();
    let (nj, eps2) = (setup.stars.len(), setup.eps2);
    send(grape, &setup);
    let at = Predicted::of(&setup);
    setup.targets.truncate(LISTS);
    let mut found = ListErrors {
        compared: setup.targets.len(),
        wrong: 0,
    };
    // Room for the particle itself, which some libraries list.
    let mut list = [0; LONGEST + 1];
    for (chunk, some) in setup.targets.chunks(grape.npipes()).enumerate() {
        let mut block = block_of(some, &at);
        for (k, &address) in some.iter().enumerate() {
            let turn = chunk * grape.npipes() + k;
            block.h2[k] = radius2(&at, address, turn % LONGEST.min(nj - 1));
        }
        grape.firsthalf(CLUSTER, nj, &mut block, eps2);
        grape.lasthalf(CLUSTER, nj, &mut block, eps2);
        if grape.read_neighbour_list(CLUSTER).is_none() {
            return Err("it has no g6_read_neighbour_list_".to_owned());
        }
        for (k, &address) in some.iter().enumerate() {
            let (status, length) = grape
                .get_neighbour_list(CLUSTER, k, &mut list)
                .ok_or("it has no g6_get_neighbour_list_")?;
            if status != 0 || !is_list(&at, address, block.h2[k], &list[..length]) {
                found.wrong += 1;
            }
        }
    }
    Ok(found)
}

/// The square of a radius with `count` neighbours within; 0 for none.
pub(super) fn radius2(at: &Predicted, address: usize, count: usize) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let mut r2: Vec<f64> = at.distances2(address).collect();
    r2.swap_remove(address);
    r2.sort_by(f64::total_cmp);
    match r2.get(count) {
        Some(beyond) => 0.5 * (r2[count - 1] + beyond),
        None => 2.0 * r2[count - 1],
    }
}

/// Whether the list holds exactly the neighbours within the radius. Particles so close to the radius that rounding
/// decides may be in the list or not.
pub(super) fn is_list(at: &Predicted, address: usize, h2: f64, list: &[i32]) -> bool {
    let mut listed = vec![false; at.x.len()];
    for &label in list {
        match model::address(label).and_then(|a| listed.get_mut(a)) {
            Some(twice) if *twice => return false,
            Some(once) => *once = true,
            None => return false,
        }
    }
    at.distances2(address)
        .zip(listed)
        .enumerate()
        .all(|(j, (r2, listed))| {
            let on_the_edge = (r2.sqrt() - h2.sqrt()).abs() <= TIE * h2.sqrt();
            j == address || (on_the_edge && h2 > 0.0) || listed == (r2 < h2)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Predicted {
        let x = [0.0, 1.0, 3.0, 3.0 + 1e-9, -3.0].map(|x| [x, 0.0, 0.0]);
        Predicted {
            x: x.to_vec(),
            v: vec![[0.0; 3]; 5],
        }
    }

    #[test]
    fn the_nearest_neighbour_is_known_up_to_ties() {
        let at = line();
        let nearest = |from, to| is_nearest(&at, from, model::label(to));
        assert!(nearest(0, 1));
        assert!(!nearest(0, 2) && !nearest(0, 0) && !nearest(0, 9));
        assert!(nearest(1, 0) && !nearest(1, 2));
        assert!(!is_nearest(&at, 0, -1) && !is_nearest(&at, 0, 0));
    }

    #[test]
    fn lists_are_known_up_to_ties() {
        let at = line();
        let is = |h2, list: &[usize]| {
            let labels: Vec<i32> = list.iter().map(|&a| model::label(a)).collect();
            is_list(&at, 0, h2, &labels)
        };
        assert!(is(4.0, &[1]) && is(4.0, &[0, 1]));
        assert!(!is(4.0, &[]) && !is(4.0, &[1, 1]) && !is(4.0, &[1, 2]) && !is(4.0, &[1, 77]));
        assert!(is(9.0, &[1, 2]) && is(9.0, &[1, 3, 4]), "on the edge");
        assert!(is(0.0, &[]) && !is(0.0, &[1]));
        assert_eq!(radius2(&at, 0, 1), 5.0);
        assert_eq!(radius2(&at, 0, 0), 0.0);
    }

    #[test]
    fn root_mean_square_and_maximum() {
        let mut errors = Errors::default();
        errors.add(3.0, 1.0, 10.0);
        errors.add(4.0, 1.0, 10.0);
        errors.finish();
        assert_eq!(errors.rms, 12.5_f64.sqrt());
        assert_eq!((errors.max, errors.max_of_terms), (4.0, 0.4));
    }
}
