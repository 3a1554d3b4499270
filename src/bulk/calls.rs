//! The functions behind the calls: check, convert, call the state, write results.

use std::ffi::{c_char, c_int};

use super::arrays::{Indices, Results, Sources, Targets};
use super::gravity::{Gravity, Request};
use super::{handles, message};
use crate::edge::pointers::not_null;
use kirin_core::error::{Error, Result};
use kirin_core::process::settings::PrecisionChoice;

/// A number of particles.
fn count(value: i64, argument: &'static str) -> Result<usize> {
    let count = i32::try_from(value)
        .ok()
        .and_then(|n| usize::try_from(n).ok());
    count.ok_or(Error::OutOfRange {
        argument,
        value,
        legal: "counts are 0 to 2147483647",
    })
}

/// A structure of the client's; all arrays are absent where there is none.
///
/// # Safety
///
/// `p` is null or points to a `T`.
unsafe fn structure<T: Copy + Default>(p: *const T) -> T {
    match p.is_null() {
        true => T::default(),
        // SAFETY: not null.
        false => unsafe { p.read_unaligned() },
    }
}

fn none_reserved(reserved: [usize; 4], argument: &'static str) -> Result<()> {
    match reserved.into_iter().find(|&word| word != 0) {
        None => Ok(()),
        Some(word) => Err(Error::OutOfRange {
            argument,
            value: word as i64,
            legal: "its reserved words are zero",
        }),
    }
}

/// # Safety
///
/// `handle` is null or points to an integer.
pub unsafe fn open(handle: *mut i64) -> Result<c_int> {
    not_null(handle, "handle")?;
    let opened = handles::open()?;
    // SAFETY: not null.
    unsafe { handle.write_unaligned(opened) };
    Ok(0)
}

pub fn close(handle: i64) -> Result<c_int> {
    handles::close(handle).map(|()| 0)
}

pub fn set_precision(handle: i64, precision: c_int) -> Result<c_int> {
    let choice = PrecisionChoice::by_number(precision)?;
    handles::with(handle, |gravity| {
        gravity.set_precision(choice, precision);
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
            gravity.check_index(unsafe { index.get(k) }, "index")?;
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
    handles::with(handle, |gravity| Ok(gravity.count() as c_int))
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
        let (targets, results) = unsafe { (structure(targets), structure(results)) };
        none_reserved(targets.reserved, "targets")?;
        none_reserved(results.reserved, "results")?;
        for (array, number) in [("time", time), ("eps2", eps2)] {
            if !number.is_finite() {
                return Err(Error::NotFinite {
                    array,
                    particle: None,
                });
            }
        }
        if eps2 < 0.0 {
            return Err(Error::Negative {
                array: "eps2",
                particle: None,
            });
        }
        // SAFETY: passed on.
        unsafe {
            check_targets(gravity, &targets, n)?;
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
/// The arrays are null or have `n` entries.
unsafe fn check_targets(gravity: &Gravity, targets: &Targets, n: usize) -> Result<()> {
    // SAFETY: passed on.
    unsafe {
        targets.x.check("x", n)?;
        targets.v.check("v", n)?;
        targets.eps2.check_not_negative("eps2", n)?;
        targets.radius2.check("radius2", n)?;
    }
    let at_sources = targets.x.at.is_null();
    if at_sources && !targets.v.at.is_null() && n > 0 {
        return Err(Error::NullPointer { argument: "x" });
    }
    if targets.source.are_absent() {
        return match at_sources && n > gravity.count() {
            false => Ok(()),
            true => Err(Error::OutOfRange {
                argument: "n",
                value: n as i64,
                legal: "without x the targets are sources, and there are fewer of these",
            }),
        };
    }
    for k in 0..n {
        // SAFETY: passed on.
        match unsafe { targets.source.get(k) } {
            ..0 if !at_sources => {}
            index => gravity.check_index(index, "source")?,
        }
    }
    Ok(())
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
