//! The library of NBODY6++: regular forces and potentials (also for NBODY6 and AMUSE's nbody6xx, with other
//! arguments), and irregular forces. They are exported with a prefix, and `libkirin_nbody6` forwards to them.

use std::ffi::c_int;

use crate::edge::boundary::{guard, nothing};
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::edge::pointers;
use crate::nbody6::calls::*;

calls! {
    exported as "kirin_nbody6_";

    /// Chooses the device.
    accepted("the settings say what computes") nothing [- gpunb_devinit_]
    (irank: int_ref) = nothing();

    /// Opens the library for `nbmax` sources. kirin takes any number of them, and needs no such call; a
    /// second one changes nothing. NBODY6 has no `irank`.
    implemented nothing [- gpunb_open_]
    (nbmax: int, irank: int_ref) = gpunb_open(nbmax);

    /// Forgets the sources and gives back their memory. Nothing happens where there are none.
    implemented nothing [- gpunb_close_]
    () = gpunb_close();

    /// Replaces all sources: addresses `0..nj`, predicted by the caller to the time of the block. `mj[nj]`,
    /// `xj[nj][3]`, `vj[nj][3]`.
    implemented nothing [- gpunb_send_]
    (nj: int, mj: doubles, xj: vectors, vj: vectors) = gpunb_send(nj, mj, xj, vj);

    /// Computes the regular forces on `ni` particles and lists their neighbours. The force is that of all sources but
    /// the particle's neighbours.
    ///
    /// A source j is a neighbour if min(|r|^2, |r + dtr v|^2) < `h2[ni]`, or < m_j `h2[ni]`, with r = x_j - x_i and v =
    /// v_j - v_i, and `dtr[ni]` the regular step. `m_flag` is 0 for the first criterion and 1 for the second. NBODY6
    /// and AMUSE do not pass it: NBODY6 compares with m_j h2, AMUSE with h2. NBODY6 of 2009 does not pass `dtr` either.
    ///
    /// The forces are `acc[ni][3]` = sum m r / r^3, `jrk[ni][3]` = sum m (v - 3 (r.v) r / r^2) / r^3, `pot[ni]` = sum m
    /// / r, over all sources that are no neighbours. There is no softening, and sources at distance zero add nothing.
    ///
    /// `list` has `ni` rows of `lmax` integers. A row has the number of neighbours, then their addresses, from 0 and
    /// ascending, the particle itself among them. If there are more than `nbmax` (or `lmax` - 1) neighbours, their
    /// number is written with a minus sign, and the rest of the row stays as it was. The force is right all the same.
    ///
    /// Older libraries lose digits, or answer NaN, for close pairs and for `h2` = 0. They write beyond `ni`, up to the
    /// next multiple of 4. If there are too many neighbours, they tell too small a number.
    implemented nothing [- gpunb_regf_]
    (
        ni: int, h2: doubles, dtr: doubles, xi: vectors, vi: vectors, acc: out_vectors,
        jrk: out_vectors, pot: out_doubles, lmax: int_ref, nbmax: int_ref, list: out_ints, m_flag: int_ref
    )
        = gpunb_regf(ni, Targets { h2, dtr, x: xi, v: vi }, Forces { acc, jrk, pot }, Rows { list, lmax, nbmax }, m_flag);

    /// Writes a line on stderr: calls, pairs and time since the last report, for rank `irank`.
    implemented nothing [- gpunb_profile_]
    (irank: int) = gpunb_profile(irank);

    /// Computes the positive potentials `pot[ni]` = sum m / r that `n` particles with the masses `m[n]` and positions
    /// `x[n][3]` cause at some of them: the particles `istart` to `istart + ni - 1`, counted from 1. The potential at
    /// `istart` goes to `pot[0]`. Particles at distance zero, such as the particle itself, are left out.
    ///
    /// NBODY6 passes four arguments: `n`, `m`, `x`, `pot`, and gets the potentials at all particles.
    ///
    /// The CPU libraries of NBODY6++ write from `pot[istart - 1]` on; its GPU library writes as this one.
    implemented nothing [- gpupot_]
    (irank: int_ref, istart: int_ref, ni: int_ref, n: int_ref, m: doubles, x: vectors, pot: out_doubles)
        = gpupot(irank, istart, ni, n, m, x, pot);

    /// As `gpupot_`, for NBODY7 with MPI. `pot` has `n` entries: the potentials of the particles `istart` to `istart + ni - 1`
    /// go to `pot[istart - 1]` to `pot[istart + ni - 2]`, and the others stay as they were.
    implemented nothing [- gpupot_range_]
    (istart: int, ni: int, n: int, m: doubles, x: vectors, pot: out_doubles)
        = gpupot_range(istart, ni, n, m, x, pot);

    /// Makes room for `nmax` stars. A second call keeps stars and lists. Neighbour lists have any length:
    /// `lmax` is not looked at.
    implemented nothing [- irr_simd_open_]
    (nmax: int, lmax: int_ref, rank: int_ref) = irregular_open(nmax, lmax);

    /// Forgets all stars. No other thread may be in a call of these.
    implemented nothing [- irr_simd_close_]
    (rank: int_ref) = irregular_close();

    /// Writes a line on stderr: calls, pairs and time since the last report.
    implemented nothing [- irr_simd_profile_]
    (rank: int) = irregular_profile(rank);

    /// Stores the star at address `addr`, from 1: position, velocity, half of the acceleration, a sixth of
    /// the jerk, mass, and the time at which they hold. Threads may call it at once for different
    /// addresses.
    implemented nothing [- irr_simd_set_jp_]
    (addr: int, pos: vector, vel: vector, acc2: vector, jrk6: vector, mass: double, time: double)
        = irregular_set_star(addr, [pos, vel, acc2, jrk6], mass, time);

    /// Stores the neighbours of the star at address `addr`. `nblist[0]` is their number, which has no limit. Their
    /// addresses follow, from 1. Threads may call it at once for different addresses.
    implemented nothing [- irr_simd_set_list_]
    (addr: int, nblist: ints) = irregular_set_list(addr, nblist);

    /// Predicts the `ni` stars at the addresses `addr[ni]`, and their neighbours, to the time `ti`, and
    /// sums the forces of the neighbours: `acc[ni][3]`, `jrk[ni][3]`. `nnbid[ni]` gets the address of the
    /// nearest neighbour, 0 where there is none.
    ///
    /// All of it is double precision, whatever `KIRIN_PRECISION` says. Neighbours that were never stored have no mass.
    /// The force is NaN at an address of `addr` without a star, and at one whose last list was refused; stderr names the
    /// first such address.
    implemented nothing [- irr_simd_firr_vec_]
    (ti: double, ni: int, addr: ints, acc: out_vectors, jrk: out_vectors, nnbid: out_ints)
        = irregular_forces(ti, ni, addr, acc, jrk, nnbid);
}
