//! The GRAPE-5 interface, as Phantom-GRAPE, FDPS, ASURA, NEMO, sapporo2 and GRAPE-7 have it.

#![allow(non_snake_case)]

use std::ffi::c_int;

use super::calls::*;
use crate::edge::boundary::{guard, nothing};
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::edge::pointers;

calls! {
    /// Makes device 0 ready. Every other call does that, too.
    implemented nothing [g5_open g5_open_]
    () = open();

    /// sapporo2's: as `g5_open`, and names the GPUs to use: `list[ndev]`; none for the library's choice.
    implemented status [g5_open_special g5_open_special_]
    (ndev: int, list: ints) = open_special(ndev, list);

    /// Forgets the j-particles and i-particles of all devices. Nothing is needed before the next call.
    implemented nothing [g5_close g5_close_]
    () = close();

    /// GRAPE-7's: makes a device ready. Every other call does that, too.
    implemented nothing [g5_openMC g5_openMC_]
    (devid: int) = open();

    /// GRAPE-7's: ends the use of one device.
    accepted("g5_close gives back the memory of all devices") nothing [g5_closeMC g5_closeMC_]
    (devid: int) = nothing();

    /// Returns the number of i-particles that one run should bring at most: 96, those of a GRAPE-5 board, or
    /// `KIRIN_NPIPES` if that is more than 96 or less than 48. A run may bring any number.
    implemented count [g5_get_number_of_pipelines g5_get_number_of_pipelines_]
    () = pipelines();

    /// GRAPE-7's: the same as `g5_get_number_of_pipelines`.
    implemented count [g5_get_number_of_pipelinesMC g5_get_number_of_pipelinesMC_]
    (devid: int) = pipelines();

    /// The same as `g5_get_number_of_pipelines`: there is one board.
    implemented count [g5_get_number_of_pipelines_per_board g5_get_number_of_pipelines_per_board_]
    () = pipelines();

    /// Returns 16, the pipelines of a GRAPE-5 board without their turns.
    implemented count [g5_get_number_of_real_pipelines g5_get_number_of_real_pipelines_]
    () = Ok(REAL_PIPELINES);

    /// Returns 1. Devices beyond work like boards: see `g5_set_xmjMC`.
    implemented count [g5_get_number_of_boards g5_get_number_of_boards_]
    () = Ok(1);

    /// Returns 0, the number of the first board.
    implemented count [g5_get_firstcluster g5_get_firstcluster_]
    () = Ok(FIRST);

    /// Returns 33, the MHz of the bus that GRAPE-5 was on.
    implemented count [g5_get_pcibus_freq g5_get_pcibus_freq_]
    () = Ok(PCI_FREQUENCY);

    /// Returns 1048576, a number of j-particles for which there is always room. (There is room for any number, memory
    /// permitting; programs dimension arrays by this one, and send more in parts.)
    implemented count [g5_get_jmemsize g5_get_jmemsize_]
    () = jmemsize();

    /// GRAPE-7's: the same as `g5_get_jmemsize`.
    implemented count [g5_get_jmemsizeMC g5_get_jmemsizeMC_]
    (devid: int) = jmemsize();

    /// Sets the range of coordinates and the smallest mass, from which GRAPE-5 made its fixed-point units.
    accepted("floating-point sums need no scale") nothing [g5_set_range g5_set_range_]
    (xmin: double, xmax: double, mmin: double) = nothing();

    /// GRAPE-7's: `g5_set_range` for one device.
    accepted("floating-point sums need no scale") nothing [g5_set_rangeMC g5_set_rangeMC_]
    (devid: int, xmin: double, xmax: double, mmin: double) = nothing();

    /// GRAPE-7's: sets the length in units of which the table of a force with a cutoff is read. kirin has no such table. If
    /// `eta` is not 0, a line on stderr says so once.
    accepted("there is no such table: the force is Newton's at any distance") nothing [g5_set_eta g5_set_eta_]
    (eta: double) = set_eta("g5_set_eta", eta);

    /// `g5_set_eta` for one device.
    accepted("there is no such table: the force is Newton's at any distance") nothing [g5_set_etaMC g5_set_etaMC_]
    (devid: int, eta: double) = set_eta("g5_set_etaMC", eta);

    /// Sets the number of j-particles that act: those at the addresses `0..n`.
    implemented nothing [g5_set_n g5_set_n_]
    (n: int) = set_n(FIRST, n);

    /// `g5_set_n` for one device. A device to which it was never told takes that of device 0.
    implemented nothing [g5_set_nMC g5_set_nMC_]
    (devid: int, n: int) = set_n(devid, n);

    /// Sets the softening length of the i-particles that `g5_set_xi`, `g5_calculate_force_on_x` and their `MC` forms bring
    /// after this. It is 0 before.
    implemented nothing [g5_set_eps_to_all g5_set_eps_to_all_]
    (eps: double) = set_eps_to_all(eps);

    /// sapporo2's: `g5_set_eps_to_all` with the square of the length.
    implemented nothing [g5_set_eps2_to_all g5_set_eps2_to_all_]
    (eps2: double) = set_eps2_to_all(eps2);

    /// GRAPE-7's: `g5_set_eps_to_all` for the i-particles of one device. The next `g5_set_eps_to_all` or
    /// `g5_set_eps2_to_all` holds for all devices again.
    implemented nothing [g5_set_eps_to_allMC g5_set_eps_to_allMC_]
    (devid: int, eps: double) = set_eps_to_device(devid, eps);

    /// GRAPE-7's: `g5_set_eps_to_allMC` with the square of the length.
    implemented nothing [g5_set_eps2_to_allMC g5_set_eps2_to_allMC_]
    (devid: int, eps2: double) = set_eps2_to_device(devid, eps2);

    /// Sets a softening length for each i-particle of the last `g5_set_xi`: `eps[ni]`, not squared. The next
    /// `g5_set_xi` forgets these lengths.
    implemented nothing [g5_set_eps g5_set_eps_]
    (ni: int, eps: doubles) = set_eps(FIRST, ni, lengths(eps));

    /// `g5_set_eps` for one device.
    implemented nothing [g5_set_epsMC g5_set_epsMC_]
    (devid: int, ni: int, eps: doubles) = set_eps(devid, ni, lengths(eps));

    /// GRAPE-7's: `g5_set_eps` with the squares of the lengths.
    implemented nothing [g5_set_eps2 g5_set_eps2_]
    (ni: int, eps2: doubles) = set_eps(FIRST, ni, squares(eps2));

    /// `g5_set_eps2` for one device.
    implemented nothing [g5_set_eps2MC g5_set_eps2MC_]
    (devid: int, ni: int, eps2: doubles) = set_eps(devid, ni, squares(eps2));

    /// Stores j-particles at the addresses `adr..adr+nj`: positions `xj` and masses `mj` from the element `adr` of the
    /// arrays on, as Phantom-GRAPE and sapporo2 do.
    ///
    /// A Phantom-GRAPE that is built with `SYMMETRIC` has a further argument here, the squares of softening lengths of the
    /// j-particles. With `KIRIN_GRAPE5=symmetric` this call is `g5_set_xmj0`, and `g5_run`, `g5_calculate_force_on_x`,
    /// `g5_calculate_force_on_xe` and their `MC` forms act with these j-particles. Without the setting the further argument
    /// is not read.
    implemented nothing [g5_set_xmj g5_set_xmj_]
    (adr: int, nj: int, xj: vectors, mj: doubles) beyond (epsj2: doubles) = set_xmj(FIRST, adr, nj, xme(xj, mj, epsj2));

    /// `g5_set_xmj` for one device, which has j-particles of its own from then on. Until then those of device 0 act on its
    /// i-particles. Calls for different devices may come from different threads at once.
    implemented nothing [g5_set_xmjMC g5_set_xmjMC_]
    (devid: int, adr: int, nj: int, xj: vectors, mj: doubles) beyond (epsj2: doubles) = set_xmj(devid, adr, nj, xme(xj, mj, epsj2));

    /// From FDPS: `g5_set_xmj` with the square of a softening length for each j-particle, `epsj2`. These j-particles
    /// are kept apart from the others. They act in the calls whose names end in 0, which add the squares of the
    /// softening lengths of both particles.
    implemented nothing [g5_set_xmj0 g5_set_xmj0_]
    (adr: int, nj: int, xj: vectors, mj: doubles, epsj2: doubles) = set_j_particles((FIRST, Softened), adr, nj, xme(xj, mj, epsj2));

    /// `g5_set_xmj0` for one device, as `g5_set_xmjMC`.
    implemented nothing [g5_set_xmjMC0 g5_set_xmjMC0_]
    (devid: int, adr: int, nj: int, xj: vectors, mj: doubles, epsj2: doubles) = set_j_particles((devid, Softened), adr, nj, xme(xj, mj, epsj2));

    /// ASURA's, of its library with SSE: as `g5_set_xmj0`. `g5_run` acts with these j-particles, too, without their softening
    /// lengths.
    implemented nothing [g5_set_xmeps2j g5_set_xmeps2j_]
    (adr: int, nj: int, xj: vectors, mj: doubles, epsj2: doubles) = set_xmeps2j(adr, nj, xme(xj, mj, epsj2));

    /// sapporo2's: `g5_set_xmj` with the masses first.
    implemented nothing [g5_set_jp g5_set_jp_]
    (addr: int, nj: int, mj: doubles, xj: vectors) = set_j_particles((FIRST, Plain), addr, nj, xm(xj, mj));

    /// GRAPE-7's: `g5_set_jp` for one device, as `g5_set_xmjMC`.
    implemented nothing [g5_set_jpMC g5_set_jpMC_]
    (devid: int, addr: int, nj: int, mj: doubles, xj: vectors) = set_j_particles((devid, Plain), addr, nj, xm(xj, mj));

    /// Stores positions only, from the element `adr` of `xj` on, as `g5_set_xmj` does. The masses at these addresses
    /// stay as they are, 0 if there are none.
    implemented nothing [g5_set_xj g5_set_xj_]
    (adr: int, nj: int, xj: vectors) = set_j_particles((FIRST, Plain), adr, nj, x_only(xj));

    /// Stores masses only; the positions at these addresses stay as they are.
    implemented nothing [g5_set_mj g5_set_mj_]
    (adr: int, nj: int, mj: doubles) = set_j_particles((FIRST, Plain), adr, nj, m_only(mj));

    /// Loads i-particles at the positions `xi[ni]`, with the softening length of `g5_set_eps_to_all`.
    implemented nothing [g5_set_xi g5_set_xi_]
    (ni: int, xi: vectors) = set_i_particles(FIRST, ni, xi_alone(xi));

    /// `g5_set_xi` for one device.
    implemented nothing [g5_set_xiMC g5_set_xiMC_]
    (devid: int, ni: int, xi: vectors) = set_i_particles(devid, ni, xi_alone(xi));

    /// Loads i-particles with the squares of softening lengths of their own, `eps2[ni]`.
    implemented nothing [g5_set_xei g5_set_xei_]
    (ni: int, xi: vectors, eps2: doubles) = set_i_particles(FIRST, ni, xi_and(xi, eps2));

    /// `g5_set_xei` for one device.
    implemented nothing [g5_set_xeiMC g5_set_xeiMC_]
    (devid: int, ni: int, xi: vectors, eps2: doubles) = set_i_particles(devid, ni, xi_and(xi, eps2));

    /// The library of GRAPE-6A: as `g5_set_xei`, with the lengths and not their squares, `eps[ni]`.
    implemented nothing [g5_set_xepsi g5_set_xepsi_]
    (ni: int, xi: vectors, eps: doubles) = set_i_particles(FIRST, ni, xi_with_lengths(xi, eps));

    /// GRAPE-5's: as `g5_set_xepsi`. `h[ni]`, the radii in which GRAPE-5 searched for neighbours, is not read: kirin has no
    /// calls that return such lists.
    implemented nothing [g5_set_ip g5_set_ip_]
    (ni: int, xi: vectors, eps: doubles, h: doubles) = set_i_particles(FIRST, ni, xi_with_lengths(xi, eps));

    /// FDPS': the same as `g5_set_xeiMC`.
    implemented nothing [g5_set_xiMC0 g5_set_xiMC0_]
    (devid: int, ni: int, xi: vectors, eps2: doubles) = set_i_particles(devid, ni, xi_and(xi, eps2));

    /// Computes the forces on the i-particles that were loaded last.
    implemented nothing [g5_run g5_run_]
    () = run((FIRST, Plain));

    /// `g5_run` for one device.
    implemented nothing [g5_runMC g5_runMC_]
    (devid: int) = run((devid, Plain));

    /// FDPS': `g5_runMC` with the j-particles of `g5_set_xmjMC0`.
    implemented nothing [g5_runMC0 g5_runMC0_]
    (devid: int) = run((devid, Softened));

    /// ASURA's: `g5_run` with the j-particles of `g5_set_xmeps2j` or `g5_set_xmj0`. The squares of the softening lengths of
    /// both particles are added.
    implemented nothing [g5_run_symmetrized_softening g5_run_symmetrized_softening_]
    () = run((FIRST, Softened));

    /// Writes accelerations `a[ni]` and potentials `p[ni]` that the last run computed:
    /// a = sum m_j (x_j - x_i) / s^3, p = + sum m_j / s with s^2 = |x_j - x_i|^2 + eps^2.
    ///
    /// The potential is positive. The interface has no labels, so an i-particle that is also among the j-particles acts
    /// on itself: this adds m / eps to its potential. Pairs with s = 0 add nothing. NaN and infinite numbers are not
    /// refused. `KIRIN_CHECK=1` reports the first result that is not finite.
    implemented nothing [g5_get_force g5_get_force_]
    (ni: int, a: out_vectors, p: out_doubles) = get_force(FIRST, ni, a, p);

    /// `g5_get_force` for one device.
    implemented nothing [g5_get_forceMC g5_get_forceMC_]
    (devid: int, ni: int, a: out_vectors, p: out_doubles) = get_force(devid, ni, a, p);

    /// Computes the forces on any number of i-particles at `x[ni]`. The results are those of `g5_set_xi`, `g5_run` and
    /// `g5_get_force`, but the registers that these calls share stay as they are.
    implemented nothing [g5_calculate_force_on_x g5_calculate_force_on_x_]
    (x: vectors, a: out_vectors, p: out_doubles, ni: int) = forces_on((FIRST, Plain), xi_alone(x), a, p, ni);

    /// `g5_calculate_force_on_x` for one device.
    implemented nothing [g5_calculate_force_on_xMC g5_calculate_force_on_xMC_]
    (devid: int, x: vectors, a: out_vectors, p: out_doubles, ni: int) = forces_on((devid, Plain), xi_alone(x), a, p, ni);

    /// As `g5_calculate_force_on_x`, with the squares of softening lengths of the i-particles, `eps2[ni]`.
    implemented nothing [g5_calculate_force_on_xe g5_calculate_force_on_xe_]
    (x: vectors, eps2: doubles, a: out_vectors, p: out_doubles, ni: int) = forces_on((FIRST, Plain), xi_and(x, eps2), a, p, ni);

    /// `g5_calculate_force_on_xe` for one device.
    implemented nothing [g5_calculate_force_on_xeMC g5_calculate_force_on_xeMC_]
    (devid: int, x: vectors, eps2: doubles, a: out_vectors, p: out_doubles, ni: int) = forces_on((devid, Plain), xi_and(x, eps2), a, p, ni);

    /// FDPS': as `g5_calculate_force_on_xe`, with the j-particles of `g5_set_xmj0`. Note the order of the arguments.
    implemented nothing [g5_calculate_force_on_x0 g5_calculate_force_on_x0_]
    (x: vectors, a: out_vectors, p: out_doubles, ni: int, eps2: doubles) = forces_on((FIRST, Softened), xi_and(x, eps2), a, p, ni);

    /// `g5_calculate_force_on_x0` for one device.
    implemented nothing [g5_calculate_force_on_xMC0 g5_calculate_force_on_xMC0_]
    (devid: int, x: vectors, a: out_vectors, p: out_doubles, ni: int, eps2: doubles) = forces_on((devid, Softened), xi_and(x, eps2), a, p, ni);

    /// ASURA's: as `g5_calculate_force_on_xe`, with the j-particles of `g5_set_xmeps2j` or `g5_set_xmj0`, and with lengths, not
    /// their squares, `eps[ni]`.
    implemented nothing [g5_calculate_force_on_xeps g5_calculate_force_on_xeps_]
    (x: vectors, eps: doubles, a: out_vectors, p: out_doubles, ni: int) = forces_on((FIRST, Softened), xi_with_lengths(x, eps), a, p, ni);
}
