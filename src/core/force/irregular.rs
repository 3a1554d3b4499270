//! NBODY6's irregular force: the trait of a backend, the results, and the plain implementation.
//!
//! Star and neighbours are predicted to the time of the block, always in double precision. Then the force and its
//! derivative are
//!
//! ```text
//! a = sum m r / r^3
//! j = sum m (v - 3 (r.v) r / r^2) / r^3
//! ```
//!
//! with sums over the star's list. A neighbour at distance zero (r^2 below 1e-200) exerts no force.

use std::ops::Range;

use crate::sources::stars::Stars;

/// The force of a star's neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NeighbourForce {
    /// Acceleration.
    pub acc: [f64; 3],
    /// Its derivative.
    pub jerk: [f64; 3],
    /// Address of the nearest neighbour; none where there are only the star itself and stars that were never
    /// written.
    pub nearest: Option<u32>,
}

/// One implementation.
pub trait IrregularForce: Sync {
    /// Computes the force of the listed neighbours, at the time `ti`, on the star at `address(k)` for each k of `run`.
    /// Each force is handed to `answer`.
    ///
    /// # Safety
    ///
    /// The addresses are below the capacity of the stars, and no thread writes stars or lists.
    unsafe fn forces(
        &self,
        stars: &Stars,
        ti: f64,
        run: Range<usize>,
        address: &dyn Fn(usize) -> usize,
        answer: &mut dyn FnMut(usize, &NeighbourForce),
    );
}

/// The formulas as they stand.
pub struct PlainIrregular;

impl IrregularForce for PlainIrregular {
    unsafe fn forces(
        &self,
        stars: &Stars,
        ti: f64,
        run: Range<usize>,
        address: &dyn Fn(usize) -> usize,
        answer: &mut dyn FnMut(usize, &NeighbourForce),
    ) {
        for k in run {
            // SAFETY: passed on.
            answer(k, &unsafe { Self::force(stars, ti, address(k)) });
        }
    }
}

impl PlainIrregular {
    /// The force on one star.
    ///
    /// # Safety
    ///
    /// The address is below the capacity, and no thread writes stars or lists.
    pub unsafe fn force(stars: &Stars, ti: f64, address: usize) -> NeighbourForce {
        // SAFETY: passed on.
        let (star, list) = unsafe { (stars.star(address), stars.list(address)) };
        let (xi, vi) = star.predicted(ti);
        let mut force = NeighbourForce::default();
        let mut least = f64::INFINITY;
        for &neighbour in list {
            // SAFETY: lists name addresses below the capacity.
            let star = unsafe { stars.star(neighbour as usize) };
            if neighbour as usize == address || star.present == 0.0 {
                continue;
            }
            let (xj, vj) = star.predicted(ti);
            let r = [0, 1, 2].map(|k| xj[k] - xi[k]);
            let v = [0, 1, 2].map(|k| vj[k] - vi[k]);
            let r2 = add_pair(&mut force, star.mass, r, v);
            if r2 < least {
                least = r2;
                force.nearest = Some(neighbour);
            }
        }
        force
    }
}

/// Squares of distances below this count as none: r^-3 would not be a number.
pub const COINCIDENT: f64 = 1e-200;

/// Adds the force of a mass. `r` is its position and `v` its velocity relative to the star. Returns the square of the
/// distance.
#[inline(always)]
pub fn add_pair(force: &mut NeighbourForce, m: f64, r: [f64; 3], v: [f64; 3]) -> f64 {
    let r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if r2 >= COINCIDENT {
        let inverse = 1.0 / r2.sqrt();
        let m_r3 = m * inverse * inverse * inverse;
        let rv = 3.0 * (r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) / r2;
        for k in 0..3 {
            force.acc[k] += m_r3 * r[k];
            force.jerk[k] += m_r3 * (v[k] - rv * r[k]);
        }
    }
    r2
}
