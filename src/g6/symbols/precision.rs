//! kirin's own calls about precision, in C and Fortran.

use std::ffi::c_int;

use crate::edge::boundary::guard;
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::edge::pointers;
use crate::g6::calls::*;

calls! {
    /// Chooses the precision of cluster `cluster_id`, from its next block on.
    ///
    /// `precision` is `KIRIN_AUTO`, `KIRIN_MIXED`, `KIRIN_DOUBLE`, `KIRIN_SINGLE`, `KIRIN_ADAPTIVE`,
    /// `KIRIN_DOUBLE_SINGLE` or `KIRIN_REDUCED` (docs/numbers.md). In place of `KIRIN_DOUBLE_SINGLE` a CPU takes
    /// `KIRIN_DOUBLE`. In place of `KIRIN_REDUCED` a GPU takes `KIRIN_SINGLE`, and so do blocks with jerks. The user
    /// has the last word: where `KIRIN_PRECISION` names an arithmetic, the call does not change the precision. After
    /// this call a GPU also computes the blocks with few j-particles that the CPU computes by default (docs/gpus.md). A
    /// program may divide its j-particles over several clusters or processes. It then passes what `kirin_precision_for`
    /// returns for their total number, because `auto` would see only a part of them.
    implemented status [(kirin_set_precision) kirin_set_precision_]
    (cluster_id: id, precision: int) = set_precision(cluster_id, precision);

    /// Returns the precision that cluster `cluster_id` takes for `nj` j-particles with velocities: `KIRIN_MIXED`,
    /// `KIRIN_DOUBLE`, `KIRIN_SINGLE` or `KIRIN_DOUBLE_SINGLE`. On a machine with a GPU, a block that the CPU computes
    /// by default (docs/gpus.md) has `KIRIN_DOUBLE` in place of `KIRIN_DOUBLE_SINGLE`.
    ///
    /// The answer depends on `nj`, on the settings, on the kind of processor or GPU and on the last
    /// `kirin_set_precision`. With `adaptive` it also depends on whether noise has limited the time steps.
    implemented count [(kirin_precision_for) kirin_precision_for_]
    (cluster_id: id, nj: int) = precision_for(cluster_id, nj);
}
