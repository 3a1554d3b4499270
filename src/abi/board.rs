//! Calls that address all boards at once, as the GRAPE-6A library has them, and the
//! low-level calls from which `firsthalf` and `lasthalf` were made.

use std::ffi::c_int;

use super::calls::*;
use super::table::{Argument, Call, Kind, Returns, Support};
use super::{guard, pointers};

calls! {
    /// `g6_open` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_open_all g6_open_all_]
    () = open(ALL);

    /// `g6_close` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_close_all g6_close_all_]
    () = close(ALL);

    /// `g6_set_ti` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented nothing [g6_set_ti_all g6_set_ti_all_]
    (ti: double) = set_ti(ALL, ti);

    /// `g6_set_j_particle` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_set_j_particle_all g6_set_j_particle_all_]
    (address: int, index: int, tj: double, dtj: double, mass: double, a2by18: vector, a1by6: vector, aby2: vector, v: vector, x: vector) = set_j_particle(ALL, address, index, [tj, dtj], mass, JVectors { a2by18, a1by6, aby2, v, x });

    /// Stores mass and position only, at time 0 and at rest: the load of treecodes.
    implemented status [g6_set_j_particle_mxonly g6_set_j_particle_mxonly_]
    (cluster_id: id, address: int, index: int, mass: double, x: vector) = set_mass_position(cluster_id, address, index, mass, x);

    /// `g6_set_j_particle_mxonly` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_set_j_particle_mxonly_all g6_set_j_particle_mxonly_all_]
    (address: int, index: int, mass: double, x: vector) = set_mass_position(ALL, address, index, mass, x);

    /// `g6calc_firsthalf` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented nothing [g6calc_firsthalf_all g6calc_firsthalf_all_]
    (nj: int, ni: int, index: ints, xi: vectors, vi: vectors, aold: vectors, jold: vectors, phiold: doubles, eps2: double, h2: doubles) = firsthalf(ALL, nj, ni, hinted(arrays(index, xi, vi, h2), aold, jold, phiold), eps2);

    /// `g6calc_lasthalf` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6calc_lasthalf_all g6calc_lasthalf_all_]
    (nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double, h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles) = lasthalf(ALL, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot));

    /// `g6calc_lasthalf2` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6calc_lasthalf2_all g6calc_lasthalf2_all_]
    (nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double, h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, nnbindex: out_ints) = lasthalf2(ALL, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot).nearest_to(nnbindex));

    /// As `g6calc_firsthalf` with `eps2` by reference in C too: one number if `mode` is odd, and `eps2[ni]`, one for each i-particle, if it is even.
    /// The original library calls it with `mode` 1 from `g6calc_firsthalf`. Its other bits are not looked at.
    implemented nothing [g6calc_firsthalf0 g6calc_firsthalf0_]
    (cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, aold: vectors, jold: vectors, phiold: doubles, eps2: double_ref, h2: doubles, mode: int) = firsthalf(cluster_id, nj, ni, hinted(arrays(index, xi, vi, h2), aold, jold, phiold), by_mode(eps2, mode)?);

    /// `g6calc_firsthalf0` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented nothing [g6calc_firsthalf0_all g6calc_firsthalf0_all_]
    (nj: int, ni: int, index: ints, xi: vectors, vi: vectors, aold: vectors, jold: vectors, phiold: doubles, eps2: double_ref, h2: doubles, mode: int) = firsthalf(ALL, nj, ni, hinted(arrays(index, xi, vi, h2), aold, jold, phiold), by_mode(eps2, mode)?);

    /// As `g6calc_lasthalf` with `eps2` by reference in C too; see `g6calc_firsthalf0`.
    implemented status [g6calc_lasthalf0 g6calc_lasthalf0_]
    (cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double_ref, h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, mode: int) = lasthalf(cluster_id, nj, ni, arrays(index, xi, vi, h2), by_mode(eps2, mode)?, forces_to(acc, jerk, pot));

    /// `g6calc_lasthalf0` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6calc_lasthalf0_all g6calc_lasthalf0_all_]
    (nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double_ref, h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, mode: int) = lasthalf(ALL, nj, ni, arrays(index, xi, vi, h2), by_mode(eps2, mode)?, forces_to(acc, jerk, pot));

    /// `g6_read_neighbour_list` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_read_neighbour_list_all g6_read_neighbour_list_all_]
    () = read_neighbour_list(ALL);

    /// `g6_get_neighbour_list` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_get_neighbour_list_all g6_get_neighbour_list_all_]
    (ipipe: int, maxlength: int, nblen: out_int, nbl: out_ints) = get_neighbour_list(ALL, ipipe, maxlength, nblen, nbl);

    /// Sets the number of i-particles for `g6_get_force`.
    implemented nothing [g6_set_nip g6_set_nip_]
    (cluster_id: id, nip: int) = set_nip(cluster_id, nip);

    /// `g6_set_nip` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented nothing [g6_set_nip_all g6_set_nip_all_]
    (nip: int) = set_nip(ALL, nip);

    /// Sets the number of j-particles (addresses `0..njp`) for `g6_get_force`.
    implemented nothing [g6_set_njp g6_set_njp_]
    (cluster_id: id, njp: int) = set_njp(cluster_id, njp);

    /// `g6_set_njp` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented nothing [g6_set_njp_all g6_set_njp_all_]
    (njp: int) = set_njp(ALL, njp);

    /// Sets the fixed-point scales of one pipeline from the expected acceleration, jerk and potential.
    accepted("floating-point sums need no scale") nothing [g6_set_i_particle_scales_from_real_value g6_set_i_particle_scales_from_real_value_]
    (cluster_id: id, address: int, acc: vector, jerk: vector, phi: double, jfactor: double, ffactor: double) = nothing();

    /// `g6_set_i_particle_scales_from_real_value` for all boards at once, which is what a cluster of kirin is: cluster 0.
    accepted("floating-point sums need no scale") nothing [g6_set_i_particle_scales_from_real_value_all g6_set_i_particle_scales_from_real_value_all_]
    (address: int, acc: vector, jerk: vector, phi: double, jfactor: double, ffactor: double) = nothing();

    /// Loads i-particle register `address` (from 0) with label, position, velocity, squared softening length and squared neighbour radius.
    implemented status [g6_set_i_particle g6_set_i_particle_]
    (cluster_id: id, address: int, index: int, x: vector, v: vector, eps2: double, h2: double) = set_i_particle(cluster_id, address, index, x, v, eps2, h2);

    /// `g6_set_i_particle` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_set_i_particle_all g6_set_i_particle_all_]
    (address: int, index: int, x: vector, v: vector, eps2: double, h2: double) = set_i_particle(ALL, address, index, x, v, eps2, h2);

    /// Computes the forces on the i-particle registers `0..nip` and writes `acc[nip][3]`, `jerk[nip][3]`, `phi[nip]`, and zeros to `flag[nip]`.
    implemented status [g6_get_force g6_get_force_]
    (cluster_id: id, acc: out_vectors, jerk: out_vectors, phi: out_doubles, flag: out_ints) = get_force(cluster_id, forces_to(acc, jerk, phi), flag);

    /// `g6_get_force` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_get_force_all g6_get_force_all_]
    (acc: out_vectors, jerk: out_vectors, phi: out_doubles, flag: out_ints) = get_force(ALL, forces_to(acc, jerk, phi), flag);

    /// As `g6_get_force`, and writes the labels of the nearest neighbours to `nnbindex[nip]`.
    implemented status [g6_get_force_etc g6_get_force_etc_]
    (cluster_id: id, acc: out_vectors, jerk: out_vectors, phi: out_doubles, nnbindex: out_ints, flag: out_ints) = get_force(cluster_id, forces_to(acc, jerk, phi).nearest_to(nnbindex), flag);

    /// `g6_get_force_etc` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented status [g6_get_force_etc_all g6_get_force_etc_all_]
    (acc: out_vectors, jerk: out_vectors, phi: out_doubles, nnbindex: out_ints, flag: out_ints) = get_force(ALL, forces_to(acc, jerk, phi).nearest_to(nnbindex), flag);

    /// Writes the predicted positions and velocities of the j-particles at addresses `0..nj`; zeros where there is none.
    implemented nothing [g6_get_predicted_j_particles g6_get_predicted_j_particles_]
    (cluster_id: id, nj: int, x: out_vectors, v: out_vectors) = predicted(cluster_id, nj, x, v);

    /// `g6_get_predicted_j_particles` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented nothing [g6_get_predicted_j_particles_all g6_get_predicted_j_particles_all_]
    (nj: int, x: out_vectors, v: out_vectors) = predicted(ALL, nj, x, v);

    /// Returns a number of j-particles for which there is always room (memory permitting there is room for any address).
    implemented count [g6_getnjmax g6_getnjmax_]
    (cluster_id: id) = Ok(1 << 20);

    /// `g6_getnjmax` for all boards at once, which is what a cluster of kirin is: cluster 0.
    implemented count [g6_getnjmax_all g6_getnjmax_all_]
    () = Ok(1 << 20);
}
