//! The functions behind the calls: check, convert, call the state.

use std::ffi::c_int;

use super::gravity::{Call, TreeGravity};
use crate::bulk::arrays::{Results, Sources, Targets, Vectors};
use crate::bulk::check;
use crate::bulk::handles::{self, Held};
use crate::edge::pointers::not_null;
use kirin_core::error::{Error, Result};

/// # Safety
///
/// `handle` is null or points to an integer.
pub unsafe fn tree_open(handle: *mut i64) -> Result<c_int> {
    not_null(handle, "handle")?;
    let opened = handles::open(|(_, name), settings, work| {
        Ok(Held::Tree(TreeGravity::new(name, settings, work)))
    })?;
    // SAFETY: not null.
    unsafe { handle.write_unaligned(opened) };
    Ok(0)
}

/// Refuses an array that a tree has no use for.
fn absent<T>(at: *const T, reason: &'static str) -> Result<()> {
    match at.is_null() {
        true => Ok(()),
        false => Err(Error::Unsupported { reason }),
    }
}

/// # Safety
///
/// The arrays are null or have `n` entries.
pub unsafe fn tree_set_sources(handle: i64, n: i64, sources: *const Sources) -> Result<c_int> {
    handles::with_tree(handle, |tree| {
        let n = check::count(n, "n")?;
        // SAFETY: passed on.
        let sources = unsafe { check::structure(sources) };
        check::none_reserved(sources.reserved, "sources")?;
        for derivative in [sources.v, sources.acc, sources.jerk, sources.snap] {
            absent(
                derivative.at,
                "sources of a tree are at rest: they have mass and x only",
            )?;
        }
        absent(
            sources.time.at,
            "sources of a tree are at rest: they have mass and x only",
        )?;
        absent(
            sources.eps2.at,
            "eps2 of the sources of a tree: targets can have eps2",
        )?;
        if n > 0 {
            not_null(sources.mass.at, "mass")?;
            not_null(sources.x.at, "x")?;
        }
        // SAFETY: passed on.
        unsafe {
            sources.mass.check_not_negative("mass", n)?;
            sources.x.check("x", n)?;
            tree.load(n, &sources)?;
        }
        Ok(0)
    })
}

/// # Safety
///
/// The arrays are null or have `n` entries.
pub unsafe fn tree_forces(
    handle: i64,
    (theta, quadrupoles): (f64, c_int),
    eps2: f64,
    n: i64,
    targets: *const Targets,
    results: *const Results,
) -> Result<c_int> {
    handles::with_tree(handle, |tree| {
        let n = check::count(n, "n")?;
        // SAFETY: passed on.
        let (mut targets, results) =
            unsafe { (check::structure(targets), check::structure(results)) };
        check::none_reserved(targets.reserved, "targets")?;
        check::none_reserved(results.reserved, "results")?;
        check::not_negative(theta, "theta")?;
        check::not_negative(eps2, "eps2")?;
        if !(0..=1).contains(&quadrupoles) {
            return Err(Error::OutOfRange {
                argument: "quadrupoles",
                value: quadrupoles.into(),
                legal: "1 is with quadrupoles, 0 without",
            });
        }
        // Only jerks depend on velocities.
        targets.v = Vectors::default();
        absent(targets.radius2.at, "neighbour lists by a tree")?;
        absent(results.jerk.at.cast_const(), "jerks by a tree")?;
        absent(results.nearest.at.cast_const(), "nearest sources by a tree")?;
        absent(
            results.distance2.at.cast_const(),
            "nearest sources by a tree",
        )?;
        // SAFETY: passed on.
        unsafe {
            check::targets(tree.count(), &targets, n)?;
            tree.forces(&Call {
                theta,
                quadrupoles: quadrupoles == 1,
                eps2,
                n,
                targets,
                results,
            })?;
        }
        Ok(0)
    })
}
