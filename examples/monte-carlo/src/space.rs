//! Gives the star of each shell a random direction in space, for programs that need one.

use kirin_kit::Body;
use kirin_kit::models::Random;
use kirin_kit::vector::{add_scaled, cross, norm};

use crate::binaries::Binary;
use crate::stars::Stars;

/// The stars as bodies, in the order of radii. The directions are the same on every call at one step.
pub fn bodies(stars: &Stars, seed: u64, steps: u64) -> Vec<Body> {
    let mut random = Random::of_part(!seed, steps);
    (0..stars.len())
        .map(|k| {
            let outwards = random.direction(1.0);
            let across = loop {
                let other = cross(&outwards, &random.direction(1.0));
                let length = norm(&other);
                if length > 0.01 {
                    break other.map(|c| c / length);
                }
            };
            let mut v = outwards.map(|c| c * stars.vr[k]);
            add_scaled(&mut v, stars.vt[k], &across);
            Body {
                index: i32::try_from(stars.id[k]).expect("labels are below 2^31"),
                mass: stars.m[k],
                x: outwards.map(|c| c * stars.r[k]),
                v,
            }
        })
        .collect()
}

/// The index of the black hole of a run that begins with these stars and binaries: one more than the largest label.
pub fn hole_index(stars: &Stars, binaries: &[Binary]) -> i32 {
    let of_binaries = binaries.iter().map(|binary| &binary.ids[1]);
    let last = stars.id.iter().chain(of_binaries).max();
    last.map_or(0, |last| i32::try_from(last + 1).unwrap_or(i32::MAX))
}

/// A black hole of this mass at rest at the centre.
pub fn hole(index: i32, mass: f64) -> Body {
    Body {
        index,
        mass,
        x: [0.0; 3],
        v: [0.0; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::of_bodies;

    #[test]
    fn radii_and_velocities_stay() {
        let mut stars = Stars::default();
        for k in 0..200 {
            let x = f64::from(k);
            stars.push(k as u64, 0.005, 0.1 + x, [x - 100.0, 0.5 * x]);
        }
        let bodies = bodies(&stars, 1, 3);
        for (k, body) in bodies.iter().enumerate() {
            assert!((norm(&body.x) - stars.r[k]).abs() < 1e-10);
            let speed = (stars.vr[k].powi(2) + stars.vt[k].powi(2)).sqrt();
            assert!((norm(&body.v) - speed).abs() < 1e-10);
        }
        // Back again, but for the centre of mass.
        assert_eq!(of_bodies(&bodies).unwrap().len(), 200);
    }
}
