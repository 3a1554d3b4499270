//! The comparison of a GRAPE-5 library: accelerations, and potentials with the particle's own part, as the library
//! computes them. (The client subtracts this part. What is left may be small beside it.)

use kirin::client::Grape5;

use super::exact::{self, Predicted};
use super::measure::ForceErrors;
use super::scene::SceneOf;

/// Compares forces. The library knows no time: it gets the stars where they are.
pub fn forces(grape: &Grape5, scene: &SceneOf) -> ForceErrors {
    let setup = scene.setup();
    let at = Predicted::of(&setup);
    let eps = setup.eps2.sqrt();
    let mass: Vec<f64> = setup.stars.iter().map(|star| star.mass).collect();
    let mut xi: Vec<_> = setup.targets.iter().map(|&target| at.x[target]).collect();
    let (mut acc, mut pot) = (vec![[0.0; 3]; xi.len()], vec![0.0; xi.len()]);
    grape.set_j_particles(&mut at.x.clone(), &mass);
    grape.set_eps_to_all(eps);
    grape.forces_on(&mut xi, &mut acc, &mut pot);
    let mut found = ForceErrors::of(setup.targets.len());
    for (k, &target) in setup.targets.iter().enumerate() {
        let mut exact = exact::force(&setup.stars, &at, target, setup.eps2);
        let own = if eps > 0.0 { mass[target] / eps } else { 0.0 };
        exact.pot -= own;
        exact.pot_terms += own.abs();
        found.add(&exact, &acc[k], &exact.jerk, -pot[k]);
    }
    found.finish();
    found
}
