//! The names that the kirin of 2007 gave the same calls (appendix B of the thesis):
//! programs that chose between GRAPE and GPU at run time use them.

#![allow(non_snake_case)]

use std::ffi::c_int;

use super::calls::*;
use super::table::{Argument, Call, Kind, Returns, Support};
use super::{guard, pointers};

calls! {
    /// The same as `g6_open`.
    implemented status [GPU_g6_open GPU_g6_open_]
    (cluster_id: id) = open(cluster_id);

    /// The same as `g6_close`.
    implemented status [GPU_g6_close GPU_g6_close_]
    (cluster_id: id) = close(cluster_id);

    /// The same as `g6_npipes`.
    implemented count [GPU_g6_npipes GPU_g6_npipes_]
    () = npipes();

    /// The same as `g6_set_ti`.
    implemented nothing [GPU_g6_set_ti GPU_g6_set_ti_]
    (cluster_id: id, ti: double) = set_ti(cluster_id, ti);

    /// The same as `g6_set_j_particle`.
    implemented status [GPU_g6_set_j_particle GPU_g6_set_j_particle_]
    (cluster_id: id, address: int, index: int, tj: double, dtj: double, mass: double, a2by18: vector, a1by6: vector, aby2: vector, v: vector, x: vector) = set_j_particle(cluster_id, address, index, [tj, dtj], mass, JVectors { a2by18, a1by6, aby2, v, x });

    /// The same as `g6_set_j_particle_multisend_mxfast`.
    implemented status [- GPU_g6_set_j_particle_multisend_mxfast_]
    (cluster_id: id, nclusters: int, address: int, index: int, mass: double, x: vector) = to_clusters(cluster_id, nclusters, |id| set_mass_position(id, address, index, mass, x));

    /// The same as `g6calc_firsthalf`.
    implemented nothing [GPU_g6calc_firsthalf GPU_g6calc_firsthalf_]
    (cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, aold: vectors, jold: vectors, phiold: doubles, eps2: double, h2: doubles) = firsthalf(cluster_id, nj, ni, hinted(arrays(index, xi, vi, h2), aold, jold, phiold), eps2);

    /// The same as `g6calc_lasthalf`.
    implemented status [GPU_g6calc_lasthalf GPU_g6calc_lasthalf_]
    (cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double, h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles) = lasthalf(cluster_id, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot));

    /// The same as `g6calc_firsthalf`.
    implemented nothing [- GPU2_g6calc_firsthalf_]
    (cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, aold: vectors, jold: vectors, phiold: doubles, eps2: double, h2: doubles) = firsthalf(cluster_id, nj, ni, hinted(arrays(index, xi, vi, h2), aold, jold, phiold), eps2);

    /// The same as `g6calc_lasthalf`.
    implemented status [- GPU2_g6calc_lasthalf_]
    (cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double, h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles) = lasthalf(cluster_id, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot));

    /// The same as `g6calc_lasthalf2`.
    implemented status [- GPU2_g6calc_lasthalf2_]
    (cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double, h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, nnbindex: out_ints) = lasthalf2(cluster_id, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot).nearest_to(nnbindex));

    /// The same as `g6_read_neighbour_list`.
    implemented status [- GPU_g6_read_neighbour_list_]
    (cluster_id: id) = read_neighbour_list(cluster_id);

    /// The same as `g6_get_neighbour_list`.
    implemented status [- GPU_g6_get_neighbour_list_]
    (cluster_id: id, ipipe: int, maxlength: int, nblen: out_int, nbl: out_ints) = get_neighbour_list(cluster_id, ipipe, maxlength, nblen, nbl);

    /// The same as `g6_set_neighbour_list_sort_mode`.
    implemented nothing [GPU_g6_set_neighbour_list_sort_mode -]
    (mode: int) = set_sort_mode(mode);

    /// The same as `g6_set_tunit`.
    accepted("like the call without the prefix") nothing [GPU_g6_set_tunit GPU_g6_set_tunit_]
    (newtunit: unit) = nothing();

    /// The same as `g6_set_xunit`.
    accepted("like the call without the prefix") nothing [GPU_g6_set_xunit GPU_g6_set_xunit_]
    (newxunit: unit) = nothing();

    /// The same as `g6_initialize_jp_buffer`.
    accepted("like the call without the prefix") nothing [GPU_g6_initialize_jp_buffer GPU_g6_initialize_jp_buffer_]
    (cluster_id: id, size: int) = nothing();

    /// The same as `g6_flush_jp_buffer`.
    accepted("like the call without the prefix") nothing [GPU_g6_flush_jp_buffer GPU_g6_flush_jp_buffer_]
    (cluster_id: id) = nothing();

    /// The same as `g6_flush_jp_buffer_and_multisend`.
    accepted("like the call without the prefix") status [GPU_g6_flush_jp_buffer_and_multisend -]
    (cluster_id: id, nclusters: int) = nothing();

    /// The same as `g6_reset`.
    accepted("like the call without the prefix") status [GPU_g6_reset GPU_g6_reset_]
    (cluster_id: id) = nothing();

    /// The same as `g6_reset_fofpga`.
    accepted("like the call without the prefix") status [GPU_g6_reset_fofpga GPU_g6_reset_fofpga_]
    (cluster_id: id) = nothing();

    /// The same as `g6_print_chip_status`.
    accepted("like the call without the prefix") status [GPU_g6_print_chip_status -]
    (cluster_id: id) = nothing();

    /// The same as `g6_reinitialize`.
    accepted("like the call without the prefix") status [GPU_g6_reinitialize -]
    (cluster_id: id) = nothing();

    /// The same as `g6_set_overflow_flag_test_mode`.
    accepted("like the call without the prefix") nothing [GPU_g6_set_overflow_flag_test_mode -]
    (aflag: unit, jflag: unit, pflag: unit) = nothing();
}
