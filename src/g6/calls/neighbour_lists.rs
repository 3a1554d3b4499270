//! Neighbour lists of the last block.

use std::ffi::c_int;

use crate::edge::pointers::{count, not_null};
use crate::g6::CLUSTERS;
use kirin_core::error::{Error, Result};
use kirin_core::process::{allocation, log};
use kirin_core::sources::neighbours;
use kirin_core::trace::{self, Event};

/// 0, or 1 where the lists are too long or do not fit into memory: the client then shrinks its radii.
pub fn read_neighbour_list(id: c_int) -> Result<c_int> {
    CLUSTERS.with(id, |c| {
        let status = match c.neighbour_lists() {
            Ok(_) => 0,
            Err(Error::OutOfMemory { .. } | Error::ListsTooLong { .. }) => 1,
            Err(error) => return Err(error),
        };
        let id = c.id();
        trace::record(|| Event::ReadList { id, status });
        Ok(status)
    })
}

/// # Safety
///
/// `list` is null or has `maxlength` entries, `length` is null or points to an integer.
pub unsafe fn get_neighbour_list(
    id: c_int,
    ipipe: c_int,
    maxlength: c_int,
    length: *mut c_int,
    list: *mut c_int,
) -> Result<c_int> {
    not_null(length, "nblen")?;
    // A client may go on shrinking its radius until the list fits: what is not a success must
    // look like a list that is too long (kira loops for ever otherwise).
    // SAFETY: not null, so it points to an integer.
    unsafe { length.write_unaligned(maxlength.max(0)) };
    let ipipe = usize::try_from(ipipe).map_err(|_| Error::OutOfRange {
        argument: "ipipe",
        value: ipipe.into(),
        legal: "the i-particles of a block begin at 0",
    })?;
    let room = count(maxlength, "maxlength")?;
    if room > 0 {
        not_null(list, "nbl")?;
    }
    CLUSTERS.with(id, |c| {
        let (own_id, present) = (c.id(), c.block_length());
        let found = match c.neighbour_lists() {
            Ok(lists) => lists.list(ipipe),
            Err(Error::OutOfMemory { .. } | Error::ListsTooLong { .. }) => return Ok(1),
            Err(error) => return Err(error),
        };
        if ipipe >= present {
            tell_beyond(ipipe, present);
        }
        let copied = found.len().min(room);
        if copied > 0 {
            let (from, to) = (found.as_ptr().cast::<u8>(), list.cast::<u8>());
            // SAFETY: copied is at most maxlength, the length of the client's array, which may lie at
            // any address and is none of ours.
            unsafe { std::ptr::copy_nonoverlapping(from, to, copied * size_of::<c_int>()) };
        }
        // SAFETY: as above; copied is at most maxlength, which is a C integer.
        unsafe { length.write_unaligned(copied as c_int) };
        let status = c_int::from(found.len() > room);
        trace::try_record(|| {
            Ok(Event::GetList {
                id: own_id,
                ipipe: ipipe as c_int,
                room: maxlength,
                status,
                labels: allocation::collect(found[..copied].iter().copied(), trace::PURPOSE)?,
            })
        });
        Ok(status)
    })
}

/// Tells once that a list beyond the block was asked for.
#[cold]
fn tell_beyond(ipipe: usize, present: usize) {
    log::once(
        "a list of no i-particle",
        "g6_get_neighbour_list",
        format_args!(
            "ipipe = {ipipe}, but the last block has {present} i-particles, from 0: the list is empty"
        ),
    );
}

pub fn set_sort_mode(mode: c_int) -> Result<c_int> {
    neighbours::set_sort_mode(mode);
    trace::record(|| Event::SortMode { mode });
    Ok(0)
}

pub fn sort_mode() -> Result<c_int> {
    Ok(neighbours::sort_mode())
}
