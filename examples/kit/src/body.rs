//! A body: what every model makes, every snapshot holds and every integrator moves.

use crate::vector::Vec3;

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
