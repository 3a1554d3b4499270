//! The comparison of a library of NBODY6++: regular and irregular forces, potentials, neighbours and lists.

use kirin::client::{IrregularBlock, Nbody6, Orbit, RegularBlock};

use super::exact::{self, Predicted};
use super::measure::{self, ForceErrors, LISTS, LONGEST, ListErrors, TIE};
use super::scene::{SceneOf, Setup};
use crate::model;

/// Regular step.
const DTR: f64 = 1.0 / 64.0;

fn masses(setup: &Setup) -> Vec<f64> {
    setup.stars.iter().map(|star| star.mass).collect()
}

/// Sends a scene's stars, where they are.
fn send(library: &Nbody6, setup: &Setup, at: &Predicted) {
    let mass = masses(setup);
    library.close();
    library.open(mass.len(), LONGEST);
    library.send(&mass, &mut at.x.clone(), &mut at.v.clone());
}

/// Compares regular forces, potentials, irregular forces and nearest neighbours. Every second target has the neighbour
/// radius 0, so its regular force is the sum over all stars, as is its potential. The other targets have up to
/// [`LONGEST`] neighbours, and so do the irregular forces.
pub fn forces(library: &Nbody6, scene: &SceneOf) -> ForceErrors {
    let mut setup = scene.setup();
    for star in &mut setup.stars {
        // NBODY6 predicts without it.
        star.a2by18 = [0.0; 3];
    }
    let at = Predicted::of(&setup);
    send(library, &setup, &at);
    for (address, star) in setup.stars.iter().enumerate() {
        library.set_star(address, &Orbit::from(star));
    }
    let mut potentials = vec![0.0; setup.stars.len()];
    library.potentials(&masses(&setup), &mut at.x.clone(), 0, &mut potentials);
    let mut found = ForceErrors {
        wrong_neighbours: Some(0),
        ..ForceErrors::of(2 * setup.targets.len())
    };
    for (chunk, some) in setup.targets.chunks(Nbody6::LARGEST_BLOCK).enumerate() {
        let mut block = regular(some, chunk, &at, DTR);
        (0..some.len()).step_by(2).for_each(|k| block.h2[k] = 0.0);
        library.regular_forces(&mut block);
        let answers = (&block, &potentials[..]);
        let lists = compare_regular(&setup, &at, some, answers, &mut found);
        for (&address, list) in some.iter().zip(&lists) {
            library.set_list(address, list);
        }
        let mut block = IrregularBlock::new(some);
        library.irregular_forces(setup.ti, &mut block);
        compare_irregular(&setup, &at, some, (&lists, &block), &mut found);
    }
    found.finish();
    found
}

/// Compares the regular forces on some stars, and the potentials of those without a neighbour radius. Returns the
/// list of neighbours of each.
fn compare_regular(
    setup: &Setup,
    at: &Predicted,
    some: &[usize],
    (block, potentials): (&RegularBlock, &[f64]),
    found: &mut ForceErrors,
) -> Vec<Vec<usize>> {
    let mut lists = Vec::new();
    for (k, &address) in some.iter().enumerate() {
        let h2 = block.h2[k];
        let is_near: Vec<bool> = at.least_distances2(address, DTR).map(|s| s < h2).collect();
        let exact = exact::force_of(&setup.stars, at, address, 0.0, |j| !is_near[j]);
        found.add(&exact, &block.acc[k], &block.jerk[k], -block.pot[k]);
        if h2 == 0.0 {
            found.compared += 1;
            found.add_potential(&exact, -potentials[address]);
        }
        let is_member = |&j: &usize| is_near[j] && j != address;
        lists.push((0..at.x.len()).filter(is_member).take(LONGEST).collect());
    }
    lists
}

/// Compares the irregular forces on some stars, and their nearest neighbours.
fn compare_irregular(
    setup: &Setup,
    at: &Predicted,
    some: &[usize],
    (lists, block): (&[Vec<usize>], &IrregularBlock),
    found: &mut ForceErrors,
) {
    for (k, (&address, list)) in some.iter().zip(lists).enumerate() {
        let counts = |j| list.binary_search(&j).is_ok();
        let exact = exact::force_of(&setup.stars, at, address, 0.0, counts);
        // Without neighbours, or with none but at no distance, there is no force and nothing to divide by.
        match exact.pot_terms == 0.0 {
            true if block.acc[k] == [0.0; 3] && block.jerk[k] == [0.0; 3] => found.compared -= 1,
            true => found.not_finite += 1,
            // It has no potential.
            false => found.add(&exact, &block.acc[k], &block.jerk[k], exact.pot),
        }
        let right = match block.nearest(k) {
            None => list.is_empty(),
            Some(nearest) => counts(nearest) && is_nearest_of(list, at, address, nearest),
        };
        *found.wrong_neighbours.get_or_insert(0) += usize::from(!right);
    }
}

/// Compares the lists of regular forces, without looking ahead.
pub fn lists(library: &Nbody6, scene: &SceneOf) -> ListErrors {
    let mut setup = scene.setup();
    let at = Predicted::of(&setup);
    send(library, &setup, &at);
    setup.targets.truncate(LISTS);
    let mut found = ListErrors {
        compared: setup.targets.len(),
        wrong: 0,
    };
    for (chunk, some) in setup.targets.chunks(Nbody6::LARGEST_BLOCK).enumerate() {
        let mut block = regular(some, chunk, &at, 0.0);
        library.regular_forces(&mut block);
        for (k, &address) in some.iter().enumerate() {
            let labels = block.list(k).and_then(|list| {
                let label = |&a| usize::try_from(a).map(model::label).ok();
                list.iter().map(label).collect::<Option<Vec<i32>>>()
            });
            let right = labels.is_some_and(|l| measure::is_list(&at, address, block.h2[k], &l));
            found.wrong += usize::from(!right);
        }
    }
    found
}

/// The particles at some addresses, with radii that have 0 to [`LONGEST`] - 1 neighbours.
fn regular(some: &[usize], chunk: usize, at: &Predicted, dtr: f64) -> RegularBlock {
    // A particle is its own neighbour, and others may come near.
    let mut block = RegularBlock::new(some.len(), 4 * LONGEST);
    for (k, &address) in some.iter().enumerate() {
        let turn = chunk * Nbody6::LARGEST_BLOCK + k;
        let count = turn % LONGEST.min(at.x.len() - 1);
        block.h2[k] = measure::radius2(at, address, count);
        (block.x[k], block.v[k], block.dtr[k]) = (at.x[address], at.v[address], dtr);
    }
    block
}

/// Whether no particle of a list is noticeably nearer to the one at `address` than `nearest`.
fn is_nearest_of(list: &[usize], at: &Predicted, address: usize, nearest: usize) -> bool {
    let r2: Vec<f64> = at.distances2(address).collect();
    let least = list.iter().map(|&j| r2[j]).fold(f64::INFINITY, f64::min);
    r2[nearest].sqrt() <= least.sqrt() * (1.0 + TIE)
}
