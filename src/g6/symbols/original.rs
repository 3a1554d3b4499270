//! Symbols of the original GRAPE-6 library that its manual does not have. Order and kind of the arguments are those
//! of `libg6lx.a`, the library with which NBODY4 was distributed.

use std::ffi::c_int;

use crate::edge::boundary::{guard, nothing};
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::edge::pointers;
use crate::g6::calls::*;

calls! {
    /// Returns the last i-particle whose fixed-point scale was changed during `g6calc_lasthalf`, or -1 for
    /// none, which is always the answer here.
    ///
    /// NBODY4 passes an argument, which the original does not read either.
    implemented count [g6_changed_index g6_changed_index_]
    (cluster_id: unit) = Ok(-1);

    /// As `g6_set_j_particle`, to the clusters `cluster_id` to `cluster_id + nclusters - 1`, as far as they
    /// are open, and to `cluster_id` in any case.
    implemented status [g6_set_j_particle_multisend g6_set_j_particle_multisend_]
    (
        cluster_id: id, nclusters: int, address: int, index: int, tj: double, dtj: double,
        mass: double, a2by18: vector, a1by6: vector, aby2: vector, v: vector, x: vector
    )
        = to_clusters(cluster_id, nclusters, |id| { set_j_particle(id, address, index, [tj, dtj], mass, JVectors { a2by18, a1by6, aby2, v, x }) });

    /// Loads the i-particle registers `address` to `address + nip - 1`: as `g6_set_i_particle` with arrays,
    /// each particle with its own softening.
    implemented status [- g6_set_i_particle_vector_]
    (
        cluster_id: id, address: int, nip: int, index: ints, x: vectors, v: vectors, eps2: doubles,
        h2: doubles
    )
        = set_i_particles(cluster_id, address, nip, arrays(index, x, v, h2), eps2);

    /// As `g6calc_lasthalf0`, and writes the labels of the nearest neighbours to `nnbindex[ni]`.
    implemented status [- g6calc_lasthalf0a_]
    (
        cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double_ref,
        h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, nnbindex: out_ints,
        mode: int
    )
        = lasthalf2( cluster_id, nj, ni, arrays(index, xi, vi, h2), by_mode(eps2, mode)?, forces_to(acc, jerk, pot).nearest_to(nnbindex) );

    /// Returns which overflow a flag of `g6_get_force` tells of, 0 for none.
    accepted("the flags of kirin's forces are zero") status [- g6_test_flag_]
    (cluster_id: unit, flag: unit) = nothing();

    /// The same as `g6_set_i_particle_scales_from_real_value`.
    accepted("floating-point sums need no scale") status [- g6_set_ip_scales_]
    (
        cluster_id: id, address: int, acc: vector, jerk: vector, phi: double, jfactor: double,
        ffactor: double
    )
        = nothing();

    /// Changes the scales of i-particle `address` after the overflow that `flag` tells of.
    accepted("floating-point sums need no scale") status [- g6_adjust_ip_scales_]
    (cluster_id: id, address: int, flag: int) = nothing();

    /// Sets the scales of i-particle `address` to the entries of that number in three arrays.
    accepted("floating-point sums need no scale") status [- g6_copy_i_particle_scales_]
    (cluster_id: id, address: int, ascale: ints, jscale: ints, pscale: ints) = nothing();

    /// Computes the scales of i-particle `address`, and writes them to the entries with this number in three arrays.
    /// kirin leaves the arrays as they are.
    accepted("floating-point sums need no scale") status [- g6_calc_i_particle_scales_from_real_value_]
    (
        cluster_id: id, address: int, acc: vector, jerk: vector, phi: double, jfactor: double,
        ffactor: double, ascale: out_ints, jscale: out_ints, pscale: out_ints
    )
        = nothing();

    /// Sets the scales that i-particle `address` has in later blocks.
    ///
    /// In the original, `phi` is the last argument of the C spelling, and a pointer in C, too. kirin looks at no
    /// argument.
    accepted("floating-point sums need no scale") status [g6_preset_i_particle_scales_from_real_value g6_preset_i_particle_scales_from_real_value_]
    (
        cluster_id: id, address: int, acc: vector, jerk: vector, phi: double_ref, jfactor: unit,
        ffactor: unit
    )
        = nothing();

    /// Sets whether a simulator takes the place of the hardware.
    accepted("there is neither") status [g6_set_simulator_use g6_set_simulator_use_]
    (mode: unit) = nothing();

    /// Sets how i- and j-particles share the way to the boards.
    accepted("there is no bus to share") status [g6_set_ijp_mode g6_set_ijp_mode_]
    (cluster_id: id, mode: int) = nothing();

    /// Sets the memory mode of the control boards.
    accepted("there are no boards") status [g6_change_cbjpmode g6_change_cbjpmode_]
    (cluster_id: id, mode: int) = nothing();

    /// Sets the memory mode of one control board.
    accepted("there are no boards") status [- g6_setcbjpmode_]
    (cluster_id: id, board: int, mode: int, network: int) = nothing();

    /// Sets whether errors on the way back from the boards are looked for.
    accepted("there is no hardware that could err") status [- g6_setfoerrchkmode_]
    (cluster_id: id, mode: int) = nothing();

    /// Switches the clock of the boards.
    accepted("there is no clock to switch") status [g6_change_clock -]
    (cluster_id: id, on: int) = nothing();

    /// Sets the number that `g6_mccount_` returns; the hardware was opened with it.
    implemented status [g6_setmccount g6_setmccount_]
    (mccount: int) = set_mccount(mccount);

    /// Returns the number that `g6_setmccount` set, 1 before.
    implemented count [- g6_mccount_]
    () = mccount();
}
