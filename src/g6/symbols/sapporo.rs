//! Names of sapporo that are too general to be exported as they are. They are exported with a prefix, and
//! `libkirin_sapporo` forwards to them.

use std::ffi::c_int;

use crate::edge::boundary::{guard, nothing, unsupported};
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::g6::calls::*;

calls! {
    exported as "kirin_sapporo_";

    /// Reads a j-particle back, in sapporo and ph4. Nothing is written.
    unsupported("clients disagree on its arguments; use g6_get_predicted_j_particles") status [get_j_part_data -]
    (address: int, nj: int)
        = unsupported("clients disagree on its arguments; use g6_get_predicted_j_particles");

    /// Returns the number of GPUs that `g6_open_special` can name, and 1 where there is none or the CPU was
    /// asked for, as in sapporo.
    implemented count [get_device_count -]
    () = device_count();

    /// Sends the waiting j-particles at once, in old versions of sapporo.
    accepted("every write takes effect at the next block by itself") nothing [force_j_particle_send -]
    () = nothing();
}
