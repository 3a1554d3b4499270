//! The calls of the bulk interface. They have one name each: Fortran calls it with values, through the module `kirin`.

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

    /// Chooses the precision of a handle, from the next `kirin_bulk_forces` on: a number as for `kirin_set_precision`,
    /// which also says when the user has the last word.
    implemented status [kirin_bulk_set_precision -]
    (handle: handle, precision: int) = set_precision(handle, precision);

    /// Replaces all sources of a handle by these `n`, from 0 to 2147483647. Their indices are 0 to n - 1.
    ///
    /// `mass` and `x` are needed; what is absent is zero. `v`, `acc`, `jerk` and `snap` are the derivatives of the position
    /// at `time`, from which a source is predicted to the time of `kirin_bulk_forces`; `mass` has any sign. `eps2` are the
    /// squares of the sources' own softening lengths, which are added to those of the targets. Forces of sources with
    /// `eps2` are computed in double precision on the CPU. A refused call leaves the earlier sources as they were.
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

    /// Computes the forces of all sources, predicted to `time`, on `n` targets, and writes those of `results` that are not
    /// null: `acc`, `jerk` and `pot` as `g6calc_lasthalf` defines them, the index of the nearest source and the square of
    /// its distance, without softening.
    ///
    /// Targets are at `x`, with velocities `v` (zero where absent). `source` tells which source a target is, and leaves that
    /// source out of its results; it is absent, or negative, where a target is none. If `x` is absent, the targets are
    /// the sources that `source` lists, or the first `n` where it is absent too, at their predicted positions and
    /// velocities. The square of the softening length is `eps2`, or that of each target. With `radius2`, squares of
    /// radii, the call also makes the neighbour lists. The bits are those of `g6calc_lasthalf2` for the same
    /// particles. A refused call writes nothing.
    implemented status [kirin_bulk_forces -]
    (handle: handle, time: double, eps2: double, n: long, targets: targets, results: results)
        = forces(handle, [time, eps2], n, targets, results);

    /// Writes `offsets[n + 1]`: the neighbours of target k of the last `kirin_bulk_forces`, which had `n` targets with
    /// radii, are at the places `offsets[k]` to `offsets[k + 1] - 1` of what `kirin_bulk_neighbour_indices` writes.
    implemented status [kirin_bulk_neighbour_offsets -]
    (handle: handle, n: long, offsets: out_longs) = neighbour_offsets(handle, n, offsets);

    /// Writes the indices of the sources nearer than the radius of each target, without the target itself, in ascending
    /// order for each target. `room` is how many `indices` has room for, at least `offsets[n]`.
    implemented status [kirin_bulk_neighbour_indices -]
    (handle: handle, room: long, indices: out_longs) = neighbour_indices(handle, room, indices);

    /// Writes what `kirin_bulk_message` returns to `text[length]`, filled up with blanks and without a zero at its end, for
    /// Fortran. Returns the length of the message.
    implemented count [kirin_bulk_message_text -]
    (text: out_text, length: long) = message_text(text, length);
}
