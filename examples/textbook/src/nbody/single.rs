//! Whether single precision is enough for the forces on particles.

use crate::particles::at_one_place;

/// Checks masses, positions and velocities in a GPU's units. The kernels multiply the masses of each pair, and divide by each mass
/// and each distance.
///
/// # Errors
///
/// The force would not be a number, or would be lost; in words.
pub fn check(masses: &[f32], pos: &[[f32; 2]], vel: &[[f32; 2]]) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("{why} in single precision: leave out --float"));
    let numbers = || {
        masses
            .iter()
            .chain([pos, vel].into_iter().flatten().flatten())
    };
    if numbers().any(|x| !x.is_finite()) {
        return refuse("a mass, position or velocity is too large");
    }
    let least_two = masses.iter().fold([f32::INFINITY; 2], |[least, next], &m| {
        [least.min(m), next.min(least.max(m))]
    });
    if least_two[0] < f32::MIN_POSITIVE || least_two[0] * least_two[1] < f32::MIN_POSITIVE {
        return refuse("the product of two masses is too small");
    }
    match at_one_place(pos) {
        Some((q, k)) => refuse(&format!("particles {q} and {k} are at one place")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_single_precision_loses_is_refused() {
        let check = |masses: [f32; 2], x: [f32; 2]| {
            super::check(&masses, &x.map(|x| [x, 0.0]), &[[0.0; 2]; 2])
        };
        assert_eq!(check([2e-19, 2e-19], [0.0, 1.0]), Ok(()));
        assert_eq!(super::check(&[1e-30], &[[0.0; 2]], &[[0.0; 2]]), Ok(()));
        for (refused, why) in [
            (check([1e-20, 1e-19], [0.0, 1.0]), "two masses"),
            (check([1.0, 0.0], [0.0, 1.0]), "two masses"),
            (check([1.0, 1.0], [0.0, f32::INFINITY]), "too large"),
            (check([1.0, 1.0], [0.0, -0.0]), "particles 0 and 1"),
        ] {
            let told = refused.unwrap_err();
            assert!(told.contains(why) && told.contains("--float"), "{told}");
        }
    }
}
