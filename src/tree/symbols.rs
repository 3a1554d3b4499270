//! The calls of the tree. Like the calls of the bulk interface they have one name each, and they use its handles and
//! arrays.

use std::ffi::c_int;

use super::calls::*;
use crate::bulk::arrays::{Results, Sources, Targets};
use crate::bulk::message::guard;
use crate::edge::call::{Argument, Call, Kind, Returns, Support};

calls! {
    /// Opens a handle whose forces are found by a Barnes-Hut tree, and writes it to `*handle`. It has no sources yet.
    ///
    /// `kirin_bulk_close`, `kirin_bulk_set_precision`, `kirin_bulk_source_count`, `kirin_bulk_backend` and
    /// `kirin_bulk_precision` take this handle, too. If a call is refused, `kirin_bulk_message` returns the reason. The
    /// precision of a tree is `mixed` unless another one is chosen.
    implemented status [kirin_tree_open -]
    (handle: out_handle) = tree_open(handle);

    /// Replaces all sources of a tree by these `n`, from 0 to 2147483647, and builds the tree. Their indices are 0 to n - 1.
    ///
    /// `mass` and `x` are required, and no mass may be negative; the other arrays must be null. The tree is kept for
    /// any number of `kirin_tree_forces`. A refused call leaves the earlier sources as they were.
    implemented status [kirin_tree_set_sources -]
    (handle: handle, n: long, sources: sources) = tree_set_sources(handle, n, sources);

    /// Computes the forces of all sources on `n` targets by the tree, and writes `acc` and `pot` of `results` where they are
    /// not null, as `kirin_bulk_forces` defines them; the other results must be null.
    ///
    /// A cell with the edge l acts as a whole on targets whose distance from its centre of mass is greater than l /
    /// theta + delta. Here delta is the distance of its centre of mass from its centre; for 1 / theta at least 0.867 is
    /// taken, so that no target is inside such a cell. The cell acts as one mass, or with `quadrupoles` = 1 as three
    /// masses that have its quadrupole moment, too. `theta` may not be negative; with 0 all sources are summed. `eps2`
    /// and `targets` are those of `kirin_bulk_forces`, but `v` has no effect and `radius2` must be null. The bits
    /// depend on the sources and on the targets of the call, and not on the number of threads or on earlier calls. A
    /// refused call writes nothing.
    implemented status [kirin_tree_forces -]
    (handle: handle, theta: double, quadrupoles: int, eps2: double, n: long, targets: targets, results: results)
        = tree_forces(handle, (theta, quadrupoles), eps2, n, targets, results);
}
