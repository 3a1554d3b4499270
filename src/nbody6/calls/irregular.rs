//! Irregular forces. The library keeps the stars and the neighbour lists.

use std::ffi::c_int;

use crate::edge::pointers::{count, not_null, scalar, vector};
use crate::nbody6::program::client;
use crate::nbody6::statistics::COUNTS;
use crate::nbody6::{helpers, irregular_library as irregular};
use kirin_core::error::Result;
use kirin_core::sources::stars::Star;
use kirin_core::trace;
use kirin_core::trace::nbody6::{Call, IrregularForce, record};

/// # Safety
///
/// `lmax` is null or points to an integer; no other thread is in a call of the irregular force.
pub unsafe fn irregular_open(nmax: c_int, lmax: *const c_int) -> Result<c_int> {
    client()?;
    helpers::running();
    COUNTS.begin();
    // SAFETY: passed on.
    unsafe { irregular::LIBRARY.open(count(nmax, "nmax")?)? };
    record::call(|| Call::IrregularOpen {
        room: nmax,
        longest: match lmax.is_null() {
            true => 0,
            // SAFETY: passed on.
            false => unsafe { lmax.read_unaligned() },
        },
    });
    Ok(0)
}

/// # Safety
///
/// As [`irregular_open`].
pub unsafe fn irregular_close() -> Result<c_int> {
    // SAFETY: passed on.
    unsafe { irregular::LIBRARY.close() };
    Ok(0)
}

pub fn irregular_profile(rank: c_int) -> Result<c_int> {
    COUNTS.tell_irregular(rank);
    Ok(0)
}

/// # Safety
///
/// The vectors, position to sixth of the jerk, are null or have three numbers each; no other thread is in a call about
/// this address.
#[inline]
pub unsafe fn irregular_set_star(
    addr: c_int,
    [x, v, aby2, a1by6]: [*const f64; 4],
    mass: f64,
    time: f64,
) -> Result<c_int> {
    // SAFETY: passed on.
    unsafe {
        let star = Star {
            x: vector(x, "pos")?,
            mass,
            v: vector(v, "vel")?,
            time,
            aby2: vector(aby2, "acc2")?,
            present: 1.0,
            a1by6: vector(a1by6, "jrk6")?,
            unused: 0.0,
        };
        irregular::LIBRARY.set_star(addr, star)?;
    }
    Ok(0)
}

/// # Safety
///
/// `nblist` is null or has as many entries as its first says, and that; no other thread is in a call about this address.
pub unsafe fn irregular_set_list(addr: c_int, nblist: *const c_int) -> Result<c_int> {
    // SAFETY: passed on.
    let store = || unsafe {
        let length = count(scalar(nblist, "nblist")?, "nblist")?;
        let neighbour = |k| nblist.add(1 + k).read_unaligned();
        irregular::LIBRARY.set_list(addr, (0..length).map(neighbour))
    };
    // The client calls a subroutine: forces of the list before it would be wrong.
    store().inspect_err(|_| irregular::LIBRARY.refuse_list(addr))?;
    Ok(0)
}

/// Arrays of the client's that several threads write to, each to other entries.
#[derive(Clone, Copy)]
struct Places {
    addr: *const c_int,
    acc: *mut [f64; 3],
    jrk: *mut [f64; 3],
    nnbid: *mut c_int,
}

// SAFETY: each entry is read or written by one thread.
unsafe impl Sync for Places {}

impl Places {
    /// # Safety
    ///
    /// The array has more than `k` entries.
    unsafe fn address(&self, k: usize) -> c_int {
        // SAFETY: passed on.
        unsafe { self.addr.add(k).read_unaligned() }
    }

    /// What was written.
    ///
    /// # Safety
    ///
    /// As [`Places::write`].
    unsafe fn read(&self, k: usize) -> IrregularForce {
        // SAFETY: passed on.
        unsafe {
            IrregularForce {
                address: self.address(k),
                acc: self.acc.add(k).read_unaligned(),
                jerk: self.jrk.add(k).read_unaligned(),
                nearest: match self.nnbid.is_null() {
                    true => 0,
                    false => self.nnbid.add(k).read_unaligned(),
                },
            }
        }
    }

    /// # Safety
    ///
    /// The arrays are null or have more than `k` entries.
    unsafe fn write(&self, k: usize, answer: &irregular::Answer) {
        // SAFETY: passed on.
        unsafe {
            if !self.acc.is_null() {
                self.acc.add(k).write_unaligned(answer.force.acc);
            }
            if !self.jrk.is_null() {
                self.jrk.add(k).write_unaligned(answer.force.jerk);
            }
            if !self.nnbid.is_null() {
                self.nnbid.add(k).write_unaligned(answer.nearest);
            }
        }
    }
}

/// # Safety
///
/// The arrays are null or have `ni` entries; no other thread writes stars or lists.
pub unsafe fn irregular_forces(
    ti: f64,
    ni: c_int,
    addr: *const c_int,
    acc: *mut [f64; 3],
    jrk: *mut [f64; 3],
    nnbid: *mut c_int,
) -> Result<c_int> {
    let places = Places {
        addr,
        acc,
        jrk,
        nnbid,
    };
    // SAFETY: passed on.
    unsafe { forces_at(ti, ni, places, true) }
}

pub fn irregular_predict(ti: f64) -> Result<c_int> {
    irregular::LIBRARY.predict(ti);
    Ok(0)
}

/// # Safety
///
/// As [`irregular_forces`].
pub unsafe fn irregular_forces_then(
    ni: c_int,
    addr: *const c_int,
    acc: *mut [f64; 3],
    jrk: *mut [f64; 3],
) -> Result<c_int> {
    let places = Places {
        addr,
        acc,
        jrk,
        nnbid: std::ptr::null_mut(),
    };
    // SAFETY: passed on.
    unsafe { forces_at(irregular::LIBRARY.predicted(), ni, places, false) }
}

/// # Safety
///
/// As [`irregular_forces`].
unsafe fn forces_at(ti: f64, ni: c_int, places: Places, wants_nearest: bool) -> Result<c_int> {
    let ni = count(ni, "ni")?;
    if ni == 0 {
        return Ok(0);
    }
    let all_there = not_null(places.addr, "addr")
        .and(not_null(places.acc, "acc"))
        .and(not_null(places.jrk, "jrk"))
        .and(match wants_nearest {
            true => not_null(places.nnbid, "nnbid"),
            false => Ok(()),
        });
    if let Err(error) = all_there {
        // SAFETY: passed on.
        (0..ni).for_each(|k| unsafe { places.write(k, &irregular::Answer::REFUSED) });
        return Err(error);
    }
    // The whole of it: a closure would take the pointers out one by one.
    let places = &places;
    // SAFETY: k < ni, the length of the arrays.
    let address = |k| unsafe { places.address(k) };
    // SAFETY: as above.
    let answer = |k, answer: &_| unsafe { places.write(k, answer) };
    let begin = trace::clock();
    // SAFETY: passed on.
    unsafe { irregular::LIBRARY.forces(ti, ni, &address, &answer)? };
    if let Some(begin) = begin {
        // SAFETY: they were written a moment ago.
        let forces = (0..ni).map(|k| unsafe { places.read(k) });
        record::irregular(ti, !places.nnbid.is_null(), forces, begin);
    }
    Ok(0)
}
