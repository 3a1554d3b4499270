//! The calls of the bulk interface. Each has one name, without a Fortran spelling: Fortran programs pass the arguments
//! by value, through the module `kirin`.

use std::ffi::{c_char, c_int};

use super::arrays::{Indices, Results, Sources, Targets};
use super::calls::*;
use super::message::guard;
use crate::edge::call::{Argument, Call, Kind, Returns, Support};

calls! {
    /// Opens a handle, which has no sources yet, and writes it to `*handle`.
    ///
    /// Handles are independent of each other and of the clusters of `g6_open`. They may be used from any thread; calls
    /// for one handle wait for each other. A handle belongs to the process that opened it: after a fork the child
    /// opens its own. At most 65536 can be open at a time.
    implemented status [kirin_bulk_open -]
    (handle: out_handle) = open(handle);

    /// Closes a handle and frees its memory.
    implemented status [kirin_bulk_close -]
    (handle: handle) = close(handle);

    /// Chooses the precision of a handle, from the next `kirin_bulk_forces` on. The numbers are those of
    /// `kirin_set_precision`, and a precision that the user has set wins here, too.
    implemented status [kirin_bulk_set_precision -]
    (handle: handle, precision: int) = set_precision(handle, precision);

    /// Replaces all sources of a handle by these `n`, from 0 to 2147483647. Their indices are 0 to n - 1.
    ///
    /// `mass` and `x` are required; the other arrays are taken as zero where they are absent. Masses may have any sign.
    /// `v`, `acc`, `jerk` and `snap` are the derivatives of the position at `time`, from which a source is predicted to
    /// the time of `kirin_bulk_forces`. `eps2` are the squares of the sources' own softening lengths, which are added
    /// to those of the targets. Forces of sources with `eps2` are computed in double precision on the CPU. A refused
    /// call leaves the earlier sources as they were.
    implemented status [kirin_bulk_set_sources -]
    (handle: handle, n: long, sources: sources) = set_sources(handle, n, sources);

    /// Changes `count` sources: entry k of each array in `sources` belongs to the source with the index `index[k]`.
    ///
    /// What is absent stays as it was. If an index occurs more than once, the last entry wins. `eps2` can be given if
    /// `kirin_bulk_set_sources` was given it, too. A refused call changes nothing.
    implemented status [kirin_bulk_update_sources -]
    (handle: handle, count: long, index: indices, sources: sources) = update_sources(handle, count, index, sources);

    /// Returns the number of sources of a handle.
    implemented count [kirin_bulk_source_count -]
    (handle: handle) = source_count(handle);

    /// Computes the forces of all sources, predicted to `time`, on `n` targets. It fills the arrays of `results` that
    /// are not null: `acc`, `jerk` and `pot` as `g6calc_lasthalf` defines them, the index of the nearest source, and
    /// the square of its distance, without softening.
    ///
    /// Targets are at `x`, with velocities `v` (zero where absent). A target that is itself a source gives its index in
    /// `source` and gets no force from that source. For other targets the entry of `source` is negative; without any
    /// target that is a source the array may be absent. Without `x` the targets are sources at their predicted
    /// positions and velocities: those that `source` lists, or the first `n`. The square of a target's softening length
    /// is its entry of the targets' array `eps2`; without that array it is the argument `eps2` or, without `x`, the
    /// source's own if sources have their own. With `radius2`, the squares of radii, the call also makes the neighbour
    /// lists. The bits are those of `g6calc_lasthalf2` for the same particles in the same precision. A refused call
    /// writes nothing; if memory runs out in the middle, the results of the first targets have been written.
    implemented status [kirin_bulk_forces -]
    (handle: handle, time: double, eps2: double, n: long, targets: targets, results: results)
        = forces(handle, [time, eps2], n, targets, results);

    /// Writes the `n + 1` numbers `offsets` of the neighbour lists that the last `kirin_bulk_forces` made; that call
    /// had `n` targets with radii. The neighbours of target k are entries `offsets[k]` to `offsets[k + 1] - 1` of the
    /// array that `kirin_bulk_neighbour_indices` writes.
    implemented status [kirin_bulk_neighbour_offsets -]
    (handle: handle, n: long, offsets: out_longs) = neighbour_offsets(handle, n, offsets);

    /// Writes the indices of the sources that are nearer than the radius of each target, ascending for each target and
    /// without the target itself. `indices` has room for `room` numbers, at least `offsets[n]`.
    implemented status [kirin_bulk_neighbour_indices -]
    (handle: handle, room: long, indices: out_longs) = neighbour_indices(handle, room, indices);

    /// For Fortran: writes the message of `kirin_bulk_message` to `text`, which has `length` characters. The rest is
    /// filled with blanks, and there is no zero at the end. Returns the length of the message.
    implemented count [kirin_bulk_message_text -]
    (text: out_text, length: long) = message_text(text, length);
}
