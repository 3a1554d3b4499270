//! The types of j-particles, i-particles and forces.

use crate::sources::predictor::{Coordinate, Scalar};

/// A source of gravity: one entry of the j-particle memory.
///
/// All fields belong to the particle's own time `t`; units are the client's
/// (with G = 1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JParticle {
    /// The client's label: any value.
    pub index: i32,
    /// Time at which the other fields hold.
    pub t: f64,
    /// Mass.
    pub mass: f64,
    /// Position.
    pub x: [f64; 3],
    /// Velocity.
    pub v: [f64; 3],
    /// Half of the acceleration.
    pub aby2: [f64; 3],
    /// A sixth of the jerk.
    pub a1by6: [f64; 3],
    /// An eighteenth of the snap, the second derivative of the acceleration.
    pub a2by18: [f64; 3],
}

impl JParticle {
    /// Predicted position and velocity at the time `ti`.
    pub fn predicted(&self, ti: f64) -> ([f64; 3], [f64; 3]) {
        let s = ti - self.t;
        let coordinates = [0, 1, 2].map(|k| Coordinate {
            x: self.x[k],
            v: self.v[k],
            aby2: self.aby2[k],
            a1by6: self.a1by6[k],
            a2by18: Some(self.a2by18[k]),
        });
        (
            coordinates.map(|c| c.position(Scalar, s)),
            coordinates.map(|c| c.velocity(Scalar, s)),
        )
    }
}

/// A point at which the force is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IParticle {
    /// The client's label: j-particles with the same label exert no force on it.
    pub index: i32,
    /// Position.
    pub x: [f64; 3],
    /// Velocity.
    pub v: [f64; 3],
    /// Square of the softening length.
    pub eps2: f64,
    /// Square of the neighbour radius.
    pub h2: f64,
}

impl IParticle {
    /// Whether position, velocity and softening length are finite. A j-particle without a mass exerts no force on such a one.
    pub fn is_finite(&self) -> bool {
        let vectors = self.x.iter().chain(&self.v);
        vectors.chain([&self.eps2]).all(|x| x.is_finite())
    }
}

/// What the pipelines compute for one i-particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Force {
    /// Acceleration.
    pub acc: [f64; 3],
    /// Jerk, the time derivative of the acceleration.
    pub jerk: [f64; 3],
    /// Potential: negative, without a term of the particle itself.
    pub pot: f64,
}

impl Force {
    /// Whether every component is a finite number.
    pub fn is_finite(&self) -> bool {
        self.acc.iter().chain(&self.jerk).all(|c| c.is_finite()) && self.pot.is_finite()
    }
}

/// The nearest neighbour of one i-particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Index (label) of the nearest j-particle.
    pub index: i32,
    /// Square of its distance, without softening.
    pub r2: f64,
}
