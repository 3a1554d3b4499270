//! Calls that address all boards at once, as in the GRAPE-6A library, and the low-level calls from which that library
//! made `firsthalf` and `lasthalf`.

use std::ffi::c_int;

use crate::edge::boundary::{guard, nothing};
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::edge::pointers;
use crate::g6::calls::*;

calls! {
    /// Stores mass and position only, at time 0 and at rest: the load of treecodes.
    implemented status [g6_set_j_particle_mxonly g6_set_j_particle_mxonly_]
    all [g6_set_j_particle_mxonly_all g6_set_j_particle_mxonly_all_]
    (cluster_id: id, address: int, index: int, mass: double, x: vector)
        = set_mass_position(cluster_id, address, index, mass, x);

    /// As `g6calc_firsthalf`, but `eps2` is passed by reference in C too. If `mode` is odd, `eps2` is one number; if it
    /// is even, `eps2[ni]` has one for each i-particle (Fortran's module declares a scalar: pass `eps2(1)` for the array). The other bits of `mode` are ignored. In the original library
    /// `g6calc_firsthalf` calls this function with `mode` 1.
    implemented nothing [g6calc_firsthalf0 g6calc_firsthalf0_]
    all [g6calc_firsthalf0_all g6calc_firsthalf0_all_]
    (
        cluster_id: id, nj: int_or_error, ni: int_or_error, index: ints, xi: vectors, vi: vectors, aold: vectors,
        jold: vectors, phiold: doubles, eps2: double_ref, h2: doubles, mode: int_or_error
    )
        = firsthalf(
            cluster_id, nj, ni, hinted(arrays(index, xi, vi, h2), aold, jold, phiold),
            mode.and_then(|mode| by_mode(eps2, mode))
        );

    /// As `g6calc_lasthalf` with `eps2` by reference in C too; see `g6calc_firsthalf0`.
    implemented status [g6calc_lasthalf0 g6calc_lasthalf0_]
    all [g6calc_lasthalf0_all g6calc_lasthalf0_all_]
    (
        cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double_ref,
        h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, mode: int
    )
        = lasthalf(cluster_id, nj, ni, arrays(index, xi, vi, h2), by_mode(eps2, mode)?, forces_to(acc, jerk, pot));

    /// Sets the number of i-particles for `g6_get_force`.
    implemented nothing [g6_set_nip g6_set_nip_]
    all [g6_set_nip_all g6_set_nip_all_]
    (cluster_id: id, nip: int) = set_nip(cluster_id, nip);

    /// Sets the number of j-particles (addresses `0..njp`) for `g6_get_force`.
    implemented nothing [g6_set_njp g6_set_njp_]
    all [g6_set_njp_all g6_set_njp_all_]
    also [- g6_set_njp_real_]
    (cluster_id: id, njp: int) = set_njp(cluster_id, njp);

    /// Sets the fixed-point scales of one pipeline from the expected acceleration, jerk and potential.
    accepted("floating-point sums need no scale") nothing [g6_set_i_particle_scales_from_real_value g6_set_i_particle_scales_from_real_value_]
    all [g6_set_i_particle_scales_from_real_value_all g6_set_i_particle_scales_from_real_value_all_]
    (
        cluster_id: id, address: int, acc: vector, jerk: vector, phi: double, jfactor: double,
        ffactor: double
    )
        = nothing();

    /// Loads i-particle register `address` (from 0) with label, position, velocity, squared softening
    /// length and squared neighbour radius.
    implemented status [g6_set_i_particle g6_set_i_particle_]
    all [g6_set_i_particle_all g6_set_i_particle_all_]
    (cluster_id: id, address: int, index: int, x: vector, v: vector, eps2: double, h2: double)
        = set_i_particle(cluster_id, address, index, x, v, eps2, h2);

    /// Computes the forces on the i-particle registers `0..nip` and writes `acc[nip][3]`, `jerk[nip][3]`,
    /// `phi[nip]`, and zeros to `flag[nip]`. `nip` is what `g6_set_nip` announced, not more than there are loaded registers.
    implemented status [g6_get_force g6_get_force_]
    all [g6_get_force_all g6_get_force_all_]
    (cluster_id: id, acc: out_vectors, jerk: out_vectors, phi: out_doubles, flag: out_ints)
        = get_force(cluster_id, forces_to(acc, jerk, phi), flag);

    /// As `g6_get_force`, and writes the labels of the nearest neighbours to `nnbindex[nip]`.
    implemented status [g6_get_force_etc g6_get_force_etc_]
    all [g6_get_force_etc_all g6_get_force_etc_all_]
    (
        cluster_id: id, acc: out_vectors, jerk: out_vectors, phi: out_doubles, nnbindex: out_ints,
        flag: out_ints
    )
        = get_force(cluster_id, forces_to(acc, jerk, phi).nearest_to(nnbindex), flag);

    /// Writes the predicted positions and velocities of the j-particles at addresses `0..nj`; zeros where
    /// there is none.
    implemented nothing [g6_get_predicted_j_particles g6_get_predicted_j_particles_]
    all [g6_get_predicted_j_particles_all g6_get_predicted_j_particles_all_]
    (cluster_id: id, nj: int, x: out_vectors, v: out_vectors) = predicted(cluster_id, nj, x, v);

    /// Returns 1048576, a number of j-particles for which there is always room. Memory permitting, there is room at any
    /// address.
    implemented count [g6_getnjmax g6_getnjmax_]
    all [g6_getnjmax_all g6_getnjmax_all_]
    (cluster_id: id) = Ok(1 << 20);
}
