//! A block of i-particles: `firsthalf` begins it, `lasthalf` fetches its results.

use std::ffi::c_int;

use super::results::Outputs;
use crate::edge::pointers::{self, Hints, IArrays, Softening, count, not_null};
use crate::g6::CLUSTERS;
use crate::g6::record;
use kirin_core::cluster::{BlockResults, Cluster, Gap};
use kirin_core::error::{Error, Result};
use kirin_core::process::log;
use kirin_core::trace;

/// The i-particle arrays of a block.
pub fn arrays(
    index: *const c_int,
    x: *const [f64; 3],
    v: *const [f64; 3],
    h2: *const f64,
) -> IArrays {
    IArrays { index, x, v, h2 }
}

/// The arrays with the hints of a `firsthalf`.
pub fn hinted(
    arrays: IArrays,
    acc: *const [f64; 3],
    jerk: *const [f64; 3],
    pot: *const f64,
) -> (IArrays, Hints) {
    (arrays, Hints { acc, jerk, pot })
}

/// The arrays of a `lasthalf`, which has no hints.
const NO_HINTS: Hints = Hints {
    acc: std::ptr::null(),
    jerk: std::ptr::null(),
    pot: std::ptr::null(),
};

/// The softening of the calls with a `mode`. If bit 0 of `mode` is set, `eps2` points to one number for all
/// i-particles, else to an array with one for each.
///
/// # Safety
///
/// `eps2` is null or points to as many numbers, for as long as the result is used.
pub unsafe fn by_mode(eps2: *const f64, mode: c_int) -> Result<Softening> {
    if mode & 1 == 0 {
        not_null(eps2, "eps2")?;
        return Ok(Softening::Each(eps2));
    }
    // SAFETY: passed on.
    unsafe { pointers::scalar(eps2, "eps2") }.map(Softening::All)
}

/// The scalars come with the errors of their conversion: each refusal must be noted.
///
/// # Safety
///
/// The arrays are null or have `ni` entries.
pub unsafe fn firsthalf(
    id: c_int,
    nj: Result<c_int>,
    ni: Result<c_int>,
    (arrays, hints): (IArrays, Hints),
    eps2: Result<impl Into<Softening>>,
) -> Result<c_int> {
    let checked = || {
        let (nj, ni) = (count(nj?, "nj")?, count(ni?, "ni")?);
        arrays.validate(ni)?;
        eps2.map(|eps2| (nj, ni, eps2.into()))
    };
    let (nj, ni, eps2) = checked().inspect_err(|error| note_refusal(id, error))?;
    // SAFETY: the caller vouches for the lengths; the core copies before it returns.
    let particles = unsafe { arrays.particles(ni, eps2) };
    CLUSTERS.with(id, |c| {
        let begin = trace::clock();
        if let Err(error) = c.firsthalf(nj, particles) {
            c.note_refusal(error.clone());
            return Err(error);
        }
        tell_gap(id, c, nj, "g6calc_firsthalf");
        if let Some(begin) = begin {
            // SAFETY: the caller vouches for the lengths, and they were checked.
            unsafe { record::firsthalf(c.id(), nj, ni, arrays, hints, eps2, begin) };
        }
        Ok(0)
    })
}

/// Has the next `lasthalf` answer as the `firsthalf` that was refused.
fn note_refusal(id: c_int, error: &Error) {
    CLUSTERS.with_open(id, |c| c.note_refusal(error.clone()));
}

/// What a `lasthalf` answers after that. A lack of memory is told in the same words, and so once.
fn of_firsthalf(error: Error) -> Error {
    match error {
        Error::OutOfMemory { .. } => error,
        _ => Error::FirstHalfRefused {
            why: Box::new(error),
        },
    }
}

/// Tells once for each cluster if the block that has just begun lacks j-particles: its results are right for those that are
/// there, and wrong for those that the client means.
#[inline(always)]
pub(super) fn tell_gap(id: c_int, cluster: &mut Cluster, nj: usize, call: &'static str) {
    if let Some(gap) = cluster.gap(nj) {
        tell(id, nj, gap, call);
    }
}

#[cold]
fn tell(id: c_int, nj: usize, gap: Gap, call: &'static str) {
    let notice = |message: std::fmt::Arguments<'_>| {
        log::notice("missing j-particles", call, message);
    };
    match gap {
        Gap::Everything if !CLUSTERS.was_opened(id) => notice(format_args!(
            "cluster {id} was not opened, or was closed: it has no j-particles"
        )),
        Gap::Everything => notice(format_args!(
            "nj = {nj}, but cluster {id} has no j-particles"
        )),
        Gap::First => notice(format_args!(
            "nj = {nj}, but the addresses of cluster {id} begin at 1: the last of its j-particles is not counted; addresses begin at 0"
        )),
    }
}

/// # Safety
///
/// The arrays are null or have `ni` entries.
pub unsafe fn lasthalf(
    id: c_int,
    nj: c_int,
    ni: c_int,
    arrays: IArrays,
    eps2: impl Into<Softening>,
    outputs: Outputs,
) -> Result<c_int> {
    // SAFETY: passed on.
    unsafe { fetch(id, [nj, ni], arrays, eps2, outputs, Ok(())) }
}

/// Fetches the results of the block, unless an argument was refused already, as `checked` tells.
///
/// # Safety
///
/// The arrays are null or have as many entries as the second number says.
unsafe fn fetch(
    id: c_int,
    [nj, ni]: [c_int; 2],
    arrays: IArrays,
    eps2: impl Into<Softening>,
    outputs: Outputs,
    checked: Result<()>,
) -> Result<c_int> {
    let checked = || {
        checked?;
        let (nj, ni) = (count(nj, "nj")?, count(ni, "ni")?);
        outputs.validate(ni).map(|()| (nj, ni))
    };
    let (nj, ni) = checked().inspect_err(|_| CLUSTERS.with_open(id, |c| drop(c.take_refusal())))?;
    let eps2 = eps2.into();
    let wants_nearest = !outputs.nearest.is_null() || !outputs.nearest_distance.is_null();
    CLUSTERS.with(id, |c| {
        if let Some(error) = c.take_refusal() {
            return Err(of_firsthalf(error));
        }
        let begin = trace::clock();
        // SAFETY: the caller vouches for the lengths.
        let is_lost = || unsafe { c.lost(arrays.particles(ni, eps2)) };
        if !c.owes_results() || c.overtook() && arrays.validate(ni).is_ok() && is_lost() {
            arrays.validate(ni)?;
            // SAFETY: the caller vouches for the lengths; the core copies before it returns.
            c.firsthalf(nj, unsafe { arrays.particles(ni, eps2) })?;
            tell_gap(id, c, nj, "g6calc_lasthalf");
            if let Some(begin) = begin {
                // SAFETY: the caller vouches for the lengths, and they were checked.
                unsafe { record::firsthalf(c.id(), nj, ni, arrays, NO_HINTS, eps2, begin) };
            }
        } else if c.is_checked() && arrays.validate(ni).is_ok() {
            // SAFETY: as above.
            let given = unsafe { arrays.particles(ni, eps2) };
            if let Some(difference) = c.difference(nj, given) {
                log::notice("other arguments", "g6calc_lasthalf", difference);
            }
        }
        let begin = trace::clock();
        if begin.is_some() {
            record::describe(c);
        }
        let own_id = c.id();
        // SAFETY: there are at most ni results, and the caller vouches for as many entries.
        let write = |first, some: BlockResults<'_>| unsafe { outputs.write(first, some) };
        let answer = c.lasthalf_delivering(ni, wants_nearest, write)?;
        if let Some(begin) = begin {
            // SAFETY: the answer was written.
            unsafe { record::lasthalf(own_id, answer, &outputs, begin) };
        }
        Ok(0)
    })
}

/// # Safety
///
/// `nearest` is not null and has `ni` entries; the other arrays are null or have `ni` entries.
pub unsafe fn lasthalf2(
    id: c_int,
    nj: c_int,
    ni: c_int,
    arrays: IArrays,
    eps2: impl Into<Softening>,
    outputs: Outputs,
) -> Result<c_int> {
    let checked = match ni > 0 {
        true => not_null(outputs.nearest, "nnbindex"),
        false => Ok(()),
    };
    // SAFETY: passed on.
    unsafe { fetch(id, [nj, ni], arrays, eps2, outputs, checked) }
}
