//! The client's arrays that results are written to.

use std::ffi::c_int;

use crate::edge::pointers::not_null;
use kirin_core::cluster::BlockResults;
use kirin_core::error::Result;
use kirin_core::process::settings::{self, NoNeighbour};

/// Where results go; the last two may be null, and are then not wanted.
pub struct Outputs {
    pub acc: *mut [f64; 3],
    pub jerk: *mut [f64; 3],
    pub pot: *mut f64,
    pub nearest: *mut c_int,
    pub nearest_distance: *mut f32,
}

/// Outputs without nearest neighbours.
pub fn forces_to(acc: *mut [f64; 3], jerk: *mut [f64; 3], pot: *mut f64) -> Outputs {
    Outputs {
        acc,
        jerk,
        pot,
        nearest: std::ptr::null_mut(),
        nearest_distance: std::ptr::null_mut(),
    }
}

impl Outputs {
    /// With the labels of the nearest neighbours.
    pub fn nearest_to(self, nearest: *mut c_int) -> Self {
        Self { nearest, ..self }
    }

    /// With the softened distances of the nearest neighbours.
    pub fn distance_to(self, nearest_distance: *mut f32) -> Self {
        Self {
            nearest_distance,
            ..self
        }
    }
}

impl Outputs {
    pub(super) fn validate(&self, ni: usize) -> Result<()> {
        if ni > 0 {
            not_null(self.acc, "acc")?;
            not_null(self.jerk, "jerk")?;
            not_null(self.pot, "pot")?;
        }
        Ok(())
    }

    /// Writes the results of a run of i-particles, the first of which has this number in the arrays.
    ///
    /// # Safety
    ///
    /// `validate` succeeded, and arrays that are not null have an entry for each of them.
    pub(super) unsafe fn write(&self, first: usize, answer: BlockResults<'_>) {
        for (i, f) in (first..).zip(answer.forces) {
            // SAFETY: i is below the length of the arrays. An array may be both acc and jerk
            // (ph4): the later write wins, as it does in C.
            unsafe {
                self.acc.add(i).write_unaligned(f.acc);
                self.jerk.add(i).write_unaligned(f.jerk);
                self.pot.add(i).write_unaligned(f.pot);
            }
        }
        for ((i, n), particle) in (first..).zip(answer.nearest).zip(answer.particles) {
            // SAFETY: as above, for the arrays that are not null.
            unsafe {
                if !self.nearest.is_null() {
                    let p = self.nearest.add(i);
                    p.write_unaligned(match n {
                        Some(n) => n.index,
                        None => no_neighbour(p),
                    });
                }
                if !self.nearest_distance.is_null() {
                    let distance = n.map_or(f64::INFINITY, |n| (n.r2 + particle.eps2).sqrt());
                    self.nearest_distance
                        .add(i)
                        .write_unaligned(distance as f32);
                }
            }
        }
    }
}

/// What stands for "no neighbour" at `p`.
///
/// # Safety
///
/// `p` points to an integer.
unsafe fn no_neighbour(p: *const c_int) -> c_int {
    match settings::settings().no_neighbour {
        NoNeighbour::Zero => 0,
        NoNeighbour::MinusOne => -1,
        // SAFETY: passed on.
        NoNeighbour::Auto if unsafe { p.read_unaligned() } == -1 => -1,
        NoNeighbour::Auto => 0,
    }
}
