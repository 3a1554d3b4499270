//! The calls that ordinary clients make, with the extensions of sapporo and Phantom-GRAPE.

use std::ffi::c_int;

use crate::edge::boundary::{guard, nothing, unsupported};
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::edge::pointers;
use crate::g6::calls::*;

calls! {
    /// Opens cluster `cluster_id`. If it is open already, nothing changes and its j-particles are kept.
    ///
    /// Any integer is a valid id; it is a name and not a device number. If exactly one cluster is open, an
    /// id that was never opened stands for that one. Any other id that is not open, also one that was closed, is a
    /// cluster of its own from its first use on, with no j-particles at first; if a block has none, a line on stderr
    /// says so. On GRAPE-6 the id was the number of a board.
    implemented status [g6_open g6_open_]
    all [g6_open_all g6_open_all_]
    also [GPU_g6_open GPU_g6_open_]
    (cluster_id: id) = open(cluster_id);

    /// Closes cluster `cluster_id` and frees its j-particles. If it is not open, nothing happens.
    implemented status [g6_close g6_close_]
    all [g6_close_all g6_close_all_]
    also [GPU_g6_close GPU_g6_close_]
    (cluster_id: id) = close(cluster_id);

    /// Returns the number of pipelines: the most i-particles that one call should bring.
    ///
    /// The number is constant and may be asked for before `g6_open`. It is 48 as on GRAPE-6, on which codes
    /// with fixed arrays rely (NBODY4); `KIRIN_NPIPES` sets another. kirin itself accepts blocks of any size.
    implemented count [g6_npipes g6_npipes_]
    also [g6_get_number_of_pipelines g6_get_number_of_pipelines_]
         [GPU_g6_npipes GPU_g6_npipes_]
    () = npipes();

    /// Sets the binary exponent of the fixed-point unit of time.
    ///
    /// The argument is an integer in some clients and a double in others; it is never looked at.
    accepted("kirin computes in floating point") nothing [g6_set_tunit g6_set_tunit_]
    also [GPU_g6_set_tunit GPU_g6_set_tunit_]
    (newtunit: unit) = nothing();

    /// Sets the binary exponent of the fixed-point unit of length.
    ///
    /// The argument is an integer in some clients and a double in others; it is never looked at.
    accepted("kirin computes in floating point") nothing [g6_set_xunit g6_set_xunit_]
    also [GPU_g6_set_xunit GPU_g6_set_xunit_]
    (newxunit: unit) = nothing();

    /// Sets the time `ti` to which the j-particles are predicted, from the next `g6calc_firsthalf` on. Before
    /// the first call it is 0.
    implemented nothing [g6_set_ti g6_set_ti_]
    all [g6_set_ti_all g6_set_ti_all_]
    also [GPU_g6_set_ti GPU_g6_set_ti_]
    (cluster_id: id, ti: double) = set_ti(cluster_id, ti);

    /// Stores a j-particle at `address`, for the next `g6calc_firsthalf`.
    ///
    /// Addresses begin at 0, also in Fortran, and may come in any order; the last write wins. `index` is the particle's label:
    /// any integer. It names neighbours, and a particle exerts no force on an i-particle with its own label.
    /// `x[3]`, `v[3]`, `aby2[3]` (half the acceleration), `a1by6[3]` (a sixth of the jerk) and `a2by18[3]` (an
    /// eighteenth of the second derivative of the acceleration) hold at the time `tj`, in any units with
    /// G = 1; `mass` may be 0. `dtj`, the particle's step, scaled the fixed-point time of GRAPE-6 and does
    /// not enter any force; where it is positive, it helps to tell whether noise limits the steps (docs/numbers.md).
    /// Returns a negative code, and stores nothing, if the address is negative or there is no memory
    /// for it.
    implemented status [g6_set_j_particle g6_set_j_particle_]
    all [g6_set_j_particle_all g6_set_j_particle_all_]
    also [GPU_g6_set_j_particle GPU_g6_set_j_particle_]
    (
        cluster_id: id, address: int, index: int, tj: double, dtj: double, mass: double,
        a2by18: vector, a1by6: vector, aby2: vector, v: vector, x: vector
    )
        = set_j_particle(cluster_id, address, index, [tj, dtj], mass, JVectors { a2by18, a1by6, aby2, v, x });

    /// Starts the calculation of the forces of the j-particles at addresses `0..nj`, predicted to the time
    /// of `g6_set_ti`, on `ni` i-particles.
    ///
    /// `index[ni]`, `xi[ni][3]`, `vi[ni][3]` are the labels, predicted positions and velocities of the i-particles;
    /// `eps2` is the squared softening length and `h2[ni]` the squared neighbour radii. `aold`, `jold`, `phiold` were
    /// scaling hints for the fixed-point sums of GRAPE-6. They do not enter the forces; only a trace (`KIRIN_TRACE`)
    /// records them. The arrays are copied, so the client may change them after the return. A block whose results were
    /// not fetched is dropped. Where this call is refused, so are the next `g6calc_lasthalf` and the neighbour lists, with the same code.
    ///
    /// An address at which nothing was stored exerts no force. If addresses begin at 1, a line on stderr says so, once for each cluster.
    /// Numbers are not tested: a NaN or an infinite number is taken as it is, and so is a negative `eps2`, with which the
    /// force of a close pair is NaN. The status is 0 then, too. `KIRIN_CHECK=1` reports the first result that is not finite.
    implemented nothing [g6calc_firsthalf g6calc_firsthalf_]
    all [g6calc_firsthalf_all g6calc_firsthalf_all_]
    also [GPU_g6calc_firsthalf GPU_g6calc_firsthalf_]
         [- GPU2_g6calc_firsthalf_]
    (
        cluster_id: id, nj: int_or_error, ni: int_or_error, index: ints, xi: vectors, vi: vectors, aold: vectors,
        jold: vectors, phiold: doubles, eps2: double_or_error, h2: doubles
    )
        = firsthalf(cluster_id, nj, ni, hinted(arrays(index, xi, vi, h2), aold, jold, phiold), eps2);

    /// Waits for the block of `g6calc_firsthalf` and writes `acc[ni][3]`, `jerk[ni][3]` and `pot[ni]`.
    ///
    /// With r = x_j - x_i, v = v_j - v_i and s = r^2 + eps^2: acc = sum m r / s^(3/2), jerk = sum m (v /
    /// s^(3/2) - 3 (r.v) r / s^(5/2)), pot = -sum m / s^(1/2), over all j with another label. A pair with
    /// s = 0 adds nothing. `nj`, `index`, `xi`, `vi`, `eps2` and `h2` are not looked at, because those of
    /// `g6calc_firsthalf` count (`KIRIN_CHECK=1` reports the first difference of `nj`, `index`, `xi` or `eps2`). If no block waits, this call does the whole
    /// calculation with its own arguments. So it does where `g6calc_firsthalf` was called several times, with one `nj` and neither a write nor
    /// another time in between, and the block that waits begins with other labels or positions: a client may begin all parts of a block
    /// before it fetches the first. With a smaller `ni` than the block's it returns the first results; a larger one is refused. A
    /// nonzero return asked for a repetition on GRAPE-6; here it means that the arguments are illegal or
    /// memory is lacking. Neighbour lists are available after every form of this call; Phantom-GRAPE made
    /// them only in the forms whose names end in `n`.
    implemented status [g6calc_lasthalf g6calc_lasthalf_]
    all [g6calc_lasthalf_all g6calc_lasthalf_all_]
    also [g6calc_lasthalfn g6calc_lasthalfn_]
         [GPU_g6calc_lasthalf GPU_g6calc_lasthalf_]
         [- GPU2_g6calc_lasthalf_]
    (
        cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double,
        h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles
    )
        = lasthalf(cluster_id, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot));

    /// As `g6calc_lasthalf`; also writes the label of each i-particle's nearest neighbour to `nnbindex[ni]`.
    ///
    /// Distances are not softened and the own label does not count. Of equally near particles the one with
    /// the lowest address is taken. If there is no neighbour, an entry that is -1 before the call stays -1,
    /// and any other becomes 0 (`KIRIN_NO_NEIGHBOUR` changes this).
    implemented status [g6calc_lasthalf2 g6calc_lasthalf2_]
    all [g6calc_lasthalf2_all g6calc_lasthalf2_all_]
    also [g6calc_lasthalf2n g6calc_lasthalf2n_]
         [- GPU2_g6calc_lasthalf2_]
    (
        cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double,
        h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, nnbindex: out_ints
    )
        = lasthalf2(cluster_id, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot).nearest_to(nnbindex));

    /// Makes the neighbour lists of the last block. Returns 0; or 1, with a line on stderr, if there is no memory for
    /// them or they have more than 2^28 entries together. On GRAPE-6 a 1 meant that its list memory had overflowed.
    /// After a 1 the client shrinks its radii and computes the block again.
    implemented status [g6_read_neighbour_list g6_read_neighbour_list_]
    all [g6_read_neighbour_list_all g6_read_neighbour_list_all_]
    also [g6_read_neighbour_list_old g6_read_neighbour_list_old_]
         [- GPU_g6_read_neighbour_list_]
    (cluster_id: id) = read_neighbour_list(cluster_id);

    /// Copies the neighbour list of i-particle `ipipe` of the block (from 0, also in Fortran): at most `maxlength` labels to
    /// `nbl[maxlength]`, and their number to `*nblen`.
    ///
    /// The list has the labels of all j-particles with r^2 < h^2, without softening, in ascending order (see
    /// `g6_set_neighbour_list_sort_mode`). The own label is in it if there are more than 48 pipelines, as kira expects.
    /// Returns 0, or 1 if the list is longer than `maxlength` or the lists could not be made; `*nblen` is then
    /// `maxlength`.
    implemented status [g6_get_neighbour_list g6_get_neighbour_list_]
    all [g6_get_neighbour_list_all g6_get_neighbour_list_all_]
    also [- GPU_g6_get_neighbour_list_]
    (cluster_id: id, ipipe: int, maxlength: int, nblen: out_int, nbl: out_ints)
        = get_neighbour_list(cluster_id, ipipe, maxlength, nblen, nbl);

    /// Reserves a buffer for `size` j-particles on their way to the board.
    accepted("writes are always staged") nothing [g6_initialize_jp_buffer g6_initialize_jp_buffer_]
    also [GPU_g6_initialize_jp_buffer GPU_g6_initialize_jp_buffer_]
    (cluster_id: id, size: int) = nothing();

    /// Sends the buffered j-particles.
    accepted("every write takes effect at the next block by itself") nothing [g6_flush_jp_buffer g6_flush_jp_buffer_]
    also [GPU_g6_flush_jp_buffer GPU_g6_flush_jp_buffer_]
    (cluster_id: id) = nothing();

    /// Resets the hardware. j-particles are kept.
    accepted("there is no hardware to reset") status [g6_reset g6_reset_]
    also [GPU_g6_reset GPU_g6_reset_]
    (cluster_id: id) = nothing();

    /// Resets the summation chips. j-particles are kept.
    accepted("there is no hardware to reset") status [g6_reset_fofpga g6_reset_fofpga_]
    also [GPU_g6_reset_fofpga GPU_g6_reset_fofpga_]
    (cluster_id: id) = nothing();

    /// Opens cluster 0 on the `ngpu` devices in `list`, as sapporo does.
    ///
    /// The numbers in `list` are the device numbers of `kirin info`. They have no effect where `KIRIN_DEVICES` is set,
    /// where there are no GPUs, after an earlier call that named devices, and once cluster 0 has computed. With a null `list` or with `ngpu` = 0 the call is
    /// `g6_open`.
    implemented status [g6_open_special -]
    (ngpu: int, list: ints) = open_on(ngpu, list);

    /// As `g6_open_special`; `nmax`, the largest number of j-particles, is not needed.
    implemented status [g6_open_special2 -]
    (ngpu: int, list: ints, nmax: int) = open_on(ngpu, list);

    /// Announces the number of j-particles.
    accepted("every block brings its own nj") nothing [g6_setup_njdata g6_setup_njdata_]
    (cluster_id: id, nj: int) = nothing();

    /// Brings the hardware back to a defined state after an error. j-particles are kept.
    accepted("there is no hardware to bring back") status [g6_reinitialize g6_reinitialize_]
    also [GPU_g6_reinitialize -]
    (cluster_id: id) = nothing();

    /// Sets whether the labels in neighbour lists ascend: yes for any `mode` but 0, the default being 1.
    /// For all clusters.
    implemented nothing [g6_set_neighbour_list_sort_mode g6_set_neighbour_list_sort_mode_]
    also [GPU_g6_set_neighbour_list_sort_mode -]
    (mode: int) = set_sort_mode(mode);

    /// Returns the mode that `g6_set_neighbour_list_sort_mode` set.
    implemented count [g6_get_neighbour_list_sort_mode g6_get_neighbour_list_sort_mode_]
    () = sort_mode();

    /// Sets whether the overflow of fixed-point sums is tested for acceleration, jerk and potential.
    ///
    /// Clients disagree on the number of arguments: none is looked at.
    accepted("floating-point sums do not overflow that way") nothing [g6_set_overflow_flag_test_mode g6_set_overflow_flag_test_mode_]
    also [GPU_g6_set_overflow_flag_test_mode -]
    (aflag: unit, jflag: unit, pflag: unit) = nothing();

    /// Prints the state of the chips, on the hardware.
    accepted("there are no chips") status [g6_print_chip_status g6_print_chip_status_]
    also [GPU_g6_print_chip_status -]
    (cluster_id: id) = nothing();

    /// Stores mass and position only, at time 0 and at rest, for treecodes. The particle goes to the same clusters as
    /// with `g6_set_j_particle_multisend`.
    implemented status [g6_set_j_particle_multisend_mxfast g6_set_j_particle_multisend_mxfast_]
    also [- g6_set_j_particle_multisend_mxf_]
         [- GPU_g6_set_j_particle_multisend_mxfast_]
    (cluster_id: id, nclusters: int, address: int, index: int, mass: double, x: vector)
        = to_clusters(cluster_id, nclusters, |id| set_mass_position(id, address, index, mass, x));

    /// Sends the buffered j-particles to several boards.
    accepted("every write takes effect at the next block by itself") status [g6_flush_jp_buffer_and_multisend g6_flush_jp_buffer_and_multisend_]
    also [GPU_g6_flush_jp_buffer_and_multisend -]
    (cluster_id: id, nclusters: int) = nothing();

    /// As `g6calc_lasthalf2`, and writes the softened distance of the nearest neighbour, (r^2 +
    /// eps^2)^(1/2), to `rnnb[ni]`; infinite where there is none. From Phantom-GRAPE.
    implemented status [g6calc_lasthalf2p g6calc_lasthalf2p_]
    also [g6calc_lasthalf2np g6calc_lasthalf2np_]
    (
        cluster_id: id, nj: int, ni: int, index: ints, xi: vectors, vi: vectors, eps2: double,
        h2: doubles, acc: out_vectors, jerk: out_vectors, pot: out_doubles, nnbindex: out_ints,
        rnnb: out_floats
    )
        = lasthalf2(cluster_id, nj, ni, arrays(index, xi, vi, h2), eps2, forces_to(acc, jerk, pot).nearest_to(nnbindex).distance_to(rnnb));

    /// A hook for debugging Phantom-GRAPE.
    accepted("it is for debugging another library") nothing [g6_debugfunc g6_debugfunc_]
    (value: int) = nothing();

    /// A hook for debugging Phantom-GRAPE.
    accepted("it is for debugging another library") nothing [g6_debugfunc_double g6_debugfunc_double_]
    (value: double) = nothing();

    /// Writes a file for debugging Phantom-GRAPE.
    unsupported("the library writes no files") nothing [g6_dump g6_dump_]
    (t: double, n: int, mass: doubles, x: vectors, v: vectors)
        = unsupported("the library writes no files");
}
