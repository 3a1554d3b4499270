//! A particle of the treecode, with the force on it.

use kirin_kit::Body;
use kirin_kit::vector::Vec3;

use crate::error::Error;

/// A particle and the force on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Particle {
    /// Position.
    pub x: Vec3,
    /// Velocity.
    pub v: Vec3,
    /// Acceleration.
    pub acc: Vec3,
    /// Potential.
    pub pot: f64,
    /// Mass.
    pub mass: f64,
    /// Label that stays with the particle.
    pub index: i32,
    /// Place among the particles as they were given: building a tree sorts them.
    pub order: u32,
}

impl Particle {
    /// The particle at place `order`, no force known.
    pub fn new(body: &Body, order: u32) -> Self {
        Self {
            x: body.x,
            v: body.v,
            mass: body.mass,
            index: body.index,
            order,
            ..Self::default()
        }
    }

    /// What the particle shares with those of other programs.
    pub fn body(&self) -> Body {
        Body {
            index: self.index,
            mass: self.mass,
            x: self.x,
            v: self.v,
        }
    }
}

/// The error for a particle whose position is not finite, or for particles that no cube of finite size
/// holds.
pub fn not_finite(particles: &[Particle]) -> Error {
    let bad = |p: &&Particle| !p.x.iter().all(|c| c.is_finite());
    match particles.iter().find(bad) {
        Some(p) => Error::Position { index: p.index },
        None => Error::TooFarApart,
    }
}
