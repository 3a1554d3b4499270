//! The type of a body, which models make, snapshots hold and integrators move.

use crate::vector::Vec3;

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
