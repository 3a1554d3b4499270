//! The type of a body, which models make, snapshots hold and integrators move.

use crate::galaxy::Galaxy;
use crate::vector::Vec3;

/// Checks the `bodies` of an input before a run begins with them in `galaxy`: that there are any, that something attracts
/// them, and that they are at different places ([`check_places`]).
///
/// # Errors
///
/// They cannot be integrated; in words.
pub fn check_bodies(bodies: &[Body], eps: f64, galaxy: &Galaxy) -> Result<(), String> {
    if bodies.is_empty() {
        return Err("there are no bodies".to_owned());
    }
    // In a galaxy they are test particles.
    if galaxy.is_none() && bodies.iter().all(|b| b.mass == 0.0) {
        return Err("all masses are 0: nothing attracts these bodies".to_owned());
    }
    check_places(bodies, eps)
}

/// Checks that no two of `bodies` that have mass are at the same place. With softening `eps` the check always
/// succeeds; without it such a pair would have an infinite force and energy.
///
/// # Errors
///
/// Two are; in words.
pub fn check_places(bodies: &[Body], eps: f64) -> Result<(), String> {
    if eps != 0.0 {
        return Ok(());
    }
    // -0 and 0 are one place.
    let place = |b: &Body| b.x.map(|c| (c + 0.0).to_bits());
    let mut order: Vec<&Body> = bodies.iter().filter(|b| b.mass > 0.0).collect();
    order.sort_unstable_by_key(|b| place(b));
    match order
        .windows(2)
        .find(|pair| place(pair[0]) == place(pair[1]))
    {
        None => Ok(()),
        Some(pair) => Err(format!(
            "the bodies {} and {} are at one place: --eps must be above 0",
            pair[0].index, pair[1].index
        )),
    }
}

/// One point mass at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Body {
    /// Label that stays with the body.
    pub index: i32,
    /// Mass.
    pub mass: f64,
    /// Position.
    pub x: Vec3,
    /// Velocity.
    pub v: Vec3,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::galaxy::MilkyWay;

    #[test]
    fn bodies_that_nothing_attracts_are_refused() {
        let alone = Galaxy::default();
        let around = Galaxy {
            model: MilkyWay::Irrgang,
            ..alone
        };
        let light = [Body::default(); 2];
        let heavy = Body {
            mass: 1.0,
            ..Body::default()
        };
        assert!(check_bodies(&light, 0.1, &alone).is_err());
        assert_eq!(check_bodies(&light, 0.1, &around), Ok(()));
        assert_eq!(check_bodies(&[light[0], heavy], 0.1, &alone), Ok(()));
        assert!(check_bodies(&[heavy; 2], 0.0, &alone).is_err());
        for galaxy in [alone, around] {
            let why = check_bodies(&[], 0.1, &galaxy).unwrap_err();
            assert!(why.contains("no bodies"), "{why}");
        }
    }
}
