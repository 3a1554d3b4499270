//! An i-particle as the pair loops read it.

use super::grid::Grid;
use super::resolution::Resolution;
use super::simd::Real;
use crate::force::scaling::Scaling;
use crate::sources::particle::IParticle;

/// An i-particle in the numbers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct ScaledParticle<T> {
    /// Position: its leading part, or rounded to `T`.
    pub x: [T; 3],
    /// What the leading part left.
    pub x_low: [T; 3],
    /// Velocity.
    pub v: [T; 3],
    /// Square of the softening length.
    pub eps2: T,
    /// Its label.
    pub label: i32,
    /// Whether it has a velocity.
    pub moves: bool,
    /// Which pairs `T` can resolve.
    pub resolution: Resolution,
}

impl<T: Real> ScaledParticle<T> {
    /// The i-particle in the given units. With `SPLIT` its position is split on the grid of a tile, so that
    /// coincident particles are at distance zero.
    #[inline(always)]
    pub fn new<const SPLIT: bool>(i: &IParticle, units: &Scaling, grid: Grid) -> Self {
        let scaled = i.x.map(|x| x * units.length);
        let (x, x_low) = Self::split::<SPLIT>(&scaled, grid);
        let v = i.v.map(|v| v * units.velocity);
        let eps2 = i.eps2 * (units.length * units.length);
        Self {
            x,
            x_low,
            v: v.map(T::from_f64),
            eps2: T::from_f64(eps2),
            label: i.index,
            moves: i.v != [0.0; 3],
            resolution: match T::IS_DOUBLE {
                true => Resolution::DOUBLE,
                false if SPLIT => Resolution::of(&scaled, &v, eps2, true).on(grid.step()),
                false => Resolution::of(&scaled, &v, eps2, false),
            },
        }
    }

    /// Splits the position of the i-particle, which has these units already, on another grid.
    #[inline(always)]
    pub fn split_anew<const SPLIT: bool>(&mut self, i: &IParticle, units: &Scaling, grid: Grid) {
        let scaled = i.x.map(|x| x * units.length);
        (self.x, self.x_low) = Self::split::<SPLIT>(&scaled, grid);
        if SPLIT && !T::IS_DOUBLE {
            self.resolution = self.resolution.at(&scaled).on(grid.step());
        }
    }

    #[inline(always)]
    fn split<const SPLIT: bool>(scaled: &[f64; 3], grid: Grid) -> ([T; 3], [T; 3]) {
        let leading = scaled.map(|x| if SPLIT { grid.leading::<T>(x) } else { x });
        let low = [0, 1, 2].map(|k| T::from_f64(scaled[k] - leading[k]));
        (leading.map(T::from_f64), low)
    }
}
