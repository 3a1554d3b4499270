//! The angular momentum and the centre of mass of a cluster over time, which `hermite` and `parallel` record.

use kirin_kit::Body;
use kirin_kit::bound::BoundPart;
use kirin_kit::diagnostics::angular_momentum;
use kirin_kit::vector::Vec3;

kirin_kit::record! {
    /// The motion of a cluster as a whole.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Motion {
        /// Angular momentum of all stars about the origin.
        angular_momentum: Vec3 = Plain ["lx", "ly", "lz"],
        /// Centre of mass of the bound stars.
        x: Vec3 = Position ["x", "y", "z"],
        /// Its velocity.
        v: Vec3 = Velocity ["vx", "vy", "vz"],
    }
}

impl Motion {
    /// Of these bodies, and the bound ones among them.
    pub fn of(bodies: &[Body], bound: &BoundPart) -> Self {
        Self {
            angular_momentum: angular_momentum(bodies),
            x: bound.x,
            v: bound.v,
        }
    }
}
