//! The functions behind the calls: check, convert, call the state, write results.

use std::ffi::{c_char, c_int};

use super::arrays::{Indices, Results, Sources, Targets, Vectors};
use super::check::{self, count, finite, none_reserved, not_negative, structure};
use super::gravity::{Gravity, Request};
use super::handles::{self, Held};
use super::message;
use crate::edge::pointers::not_null;
use kirin_core::error::{Error, Result};
use kirin_core::process::settings::PrecisionChoice;

/// # Safety
///
/// `handle` is null or points to an integer.
pub unsafe fn open(handle: *mut i64) -> Result<c_int> {
    not_null(handle, "handle")?;
    let opened = handles::open(|place, settings, work| {
        Gravity::new(place, settings, work).map(Held::Direct)
    })?;
    // SAFETY: not null.
    unsafe { handle.write_unaligned(opened) };
    Ok(0)
}

pub fn close(handle: i64) -> Result<c_int> {
    handles::close(handle).map(|()| 0)
}

pub fn set_precision(handle: i64, precision: c_int) -> Result<c_int> {
    let choice = PrecisionChoice::by_number(precision)?;
    handles::with_held(handle, |held| {
        match held {
            Held::Direct(gravity) => gravity.set_precision(choice, precision),
            Held::Tree(tree) => tree.set_precision(choice),
        }
        Ok(0)
    })
}

/// # Safety
///
/// The arrays are null or have `n` entries.
pub unsafe fn set_sources(handle: i64, n: i64, sources: *const Sources) -> Result<c_int> {
    handles::with(handle, |gravity| {
        let n = count(n, "n")?;
        // SAFETY: passed on.
        let sources = unsafe { structure(sources) };
        if n > 0 {
            not_null(sources.mass.at, "mass")?;
            not_null(sources.x.at, "x")?;
        }
        // SAFETY: passed on.
        unsafe {
            check_sources(&sources, n)?;
            gravity.load(n, &sources)?;
        }
        Ok(0)
    })
}

/// # Safety
///
/// The arrays are null or have `count` entries.
pub unsafe fn update_sources(
    handle: i64,
    number: i64,
    index: *const Indices,
    sources: *const Sources,
) -> Result<c_int> {
    handles::with(handle, |gravity| {
        let number = count(number, "count")?;
        // SAFETY: passed on.
        let (index, sources) = unsafe { (structure(index), structure(sources)) };
        if number > 0 {
            not_null(index.at, "index")?;
        }
        for k in 0..number {
            // SAFETY: passed on.
            check::index(unsafe { index.get(k) }, "index", gravity.count())?;
        }
        if !sources.eps2.at.is_null() && !gravity.has_softening() {
            return Err(Error::Unsupported {
                reason: "eps2 in an update of sources that were set without: set them all with eps2",
            });
        }
        // SAFETY: passed on.
        unsafe {
            check_sources(&sources, number)?;
            gravity.update(number, index, &sources)?;
        }
        Ok(0)
    })
}

/// # Safety
///
/// The arrays are null or have `n` entries.
unsafe fn check_sources(sources: &Sources, n: usize) -> Result<()> {
    none_reserved(sources.reserved, "sources")?;
    // SAFETY: passed on.
    unsafe {
        sources.mass.check("mass", n)?;
        sources.x.check("x", n)?;
        sources.v.check("v", n)?;
        sources.acc.check("acc", n)?;
        sources.jerk.check("jerk", n)?;
        sources.snap.check("snap", n)?;
        sources.time.check("time", n)?;
        sources.eps2.check_not_negative("eps2", n)
    }
}

pub fn source_count(handle: i64) -> Result<c_int> {
    handles::with_held(handle, |held| {
        let count = match held {
            Held::Direct(gravity) => gravity.count(),
            Held::Tree(tree) => tree.count(),
        };
        Ok(count as c_int)
    })
}

/// # Safety
///
/// The arrays are null or have `n` entries.
pub unsafe fn forces(
    handle: i64,
    [time, eps2]: [f64; 2],
    n: i64,
    targets: *const Targets,
    results: *const Results,
) -> Result<c_int> {
    handles::with(handle, |gravity| {
        let n = count(n, "n")?;
        // SAFETY: passed on.
        let (mut targets, results) = unsafe { (structure(targets), structure(results)) };
        none_reserved(targets.reserved, "targets")?;
        none_reserved(results.reserved, "results")?;
        finite(time, "time")?;
        not_negative(eps2, "eps2")?;
        if results.jerk.at.is_null() {
            // Only jerks depend on velocities.
            targets.v = Vectors::default();
        }
        // SAFETY: passed on.
        unsafe {
            check::targets(gravity.count(), &targets, n)?;
            gravity.forces(Request {
                time,
                eps2,
                n,
                targets,
                results,
            })?;
        }
        Ok(0)
    })
}

/// # Safety
///
/// `offsets` is null or has `n + 1` entries.
pub unsafe fn neighbour_offsets(handle: i64, n: i64, offsets: *mut i64) -> Result<c_int> {
    handles::with(handle, |gravity| {
        let n = count(n, "n")?;
        not_null(offsets, "offsets")?;
        let (lists, targets) = gravity.lists()?;
        if n != targets {
            return Err(Error::OutOfRange {
                argument: "n",
                value: n as i64,
                legal: "the last kirin_bulk_forces had another number of targets",
            });
        }
        let mut end = 0;
        for k in 0..=n {
            // SAFETY: k <= n.
            unsafe { offsets.add(k).write_unaligned(end) };
            end += lists.list(k).len() as i64;
        }
        Ok(0)
    })
}

/// # Safety
///
/// `indices` is null or has `room` entries.
pub unsafe fn neighbour_indices(handle: i64, room: i64, indices: *mut i64) -> Result<c_int> {
    handles::with(handle, |gravity| {
        let (lists, targets) = gravity.lists()?;
        let all: usize = (0..targets).map(|k| lists.list(k).len()).sum();
        if room < all as i64 {
            return Err(Error::OutOfRange {
                argument: "room",
                value: room,
                legal: "the lists are longer: as long as the last of their offsets",
            });
        }
        if all > 0 {
            not_null(indices, "indices")?;
        }
        let labels = (0..targets).flat_map(|k| lists.list(k));
        for (at, &label) in labels.enumerate() {
            // SAFETY: there are at most `room`.
            unsafe { indices.add(at).write_unaligned(label.into()) };
        }
        Ok(0)
    })
}

/// # Safety
///
/// `text` is null or has `length` characters.
pub unsafe fn message_text(text: *mut c_char, length: i64) -> Result<c_int> {
    let length = count(length, "length")?;
    if length > 0 {
        not_null(text, "text")?;
    }
    message::with_message(|message| {
        let blanks = message.iter().chain(std::iter::repeat(&b' '));
        for (k, &byte) in blanks.take(length).enumerate() {
            // SAFETY: k < length.
            unsafe { text.add(k).write(byte as c_char) };
        }
        Ok(message.len() as c_int)
    })
}
