//! Checks of arguments that several calls share.

use super::arrays::Targets;
use kirin_core::error::{Error, Result};

/// A number of particles.
pub fn count(value: i64, argument: &'static str) -> Result<usize> {
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
pub unsafe fn structure<T: Copy + Default>(p: *const T) -> T {
    match p.is_null() {
        true => T::default(),
        // SAFETY: not null.
        false => unsafe { p.read_unaligned() },
    }
}

/// Refuses words that are reserved for later versions.
pub fn none_reserved(reserved: [usize; 4], argument: &'static str) -> Result<()> {
    match reserved.into_iter().find(|&word| word != 0) {
        None => Ok(()),
        Some(word) => Err(Error::OutOfRange {
            argument,
            value: word as i64,
            legal: "its reserved words are zero",
        }),
    }
}

/// Refuses a number that is not finite.
pub fn finite(number: f64, array: &'static str) -> Result<()> {
    match number.is_finite() {
        true => Ok(()),
        false => Err(Error::NotFinite {
            array,
            particle: None,
        }),
    }
}

/// Refuses a number that is not finite, or negative.
pub fn not_negative(number: f64, array: &'static str) -> Result<()> {
    finite(number, array)?;
    match number < 0.0 {
        false => Ok(()),
        true => Err(Error::Negative {
            array,
            particle: None,
        }),
    }
}

/// Refuses an index that none of so many `sources` has.
pub fn index(index: i64, argument: &'static str, sources: usize) -> Result<()> {
    match usize::try_from(index) {
        Ok(index) if index < sources => Ok(()),
        _ => Err(Error::OutOfRange {
            argument,
            value: index,
            legal: "indices of sources begin at 0 and end before their number",
        }),
    }
}

/// Refuses targets that make no sense, of a handle with so many `sources`.
///
/// # Safety
///
/// The arrays are null or have `n` entries.
pub unsafe fn targets(sources: usize, targets: &Targets, n: usize) -> Result<()> {
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
        return match at_sources && n > sources {
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
            source => index(source, "source", sources)?,
        }
    }
    Ok(())
}
