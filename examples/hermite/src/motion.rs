//! The angular momentum and the centre of mass of a cluster over time, which only `hermite` records.

use kirin_kit::Body;
use kirin_kit::bound::BoundPart;
use kirin_kit::diagnostics::angular_momentum;

/// Angular momentum of everybody about the origin; centre of mass of the bound stars, and its velocity.
pub const COLUMNS: [&str; 9] = ["lx", "ly", "lz", "x", "y", "z", "vx", "vy", "vz"];

/// A number for each of the [`COLUMNS`].
pub fn numbers(bodies: &[Body], bound: &BoundPart) -> Vec<f64> {
    [angular_momentum(bodies), bound.x, bound.v].concat()
}
