//! The calls of NBODY6 and NBODY7 for irregular forces, and the other C++ functions of their library.

use std::ffi::c_int;

use crate::edge::boundary::guard;
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::edge::pointers;
use crate::nbody6::calls::*;

calls! {
    exported as "kirin_nbody6_";

    /// The same as `irr_simd_open_`.
    implemented nothing [- gpuirr_open_]
    (nmax: int, lmax: int_ref) = irregular_open(nmax, lmax);

    /// The same as `irr_simd_close_`.
    implemented nothing [- gpuirr_close_]
    () = irregular_close();

    /// The same as `irr_simd_set_jp_`.
    implemented nothing [- gpuirr_set_jp_]
    (addr: int, pos: vector, vel: vector, acc2: vector, jrk6: vector, mass: double, time: double)
        = irregular_set_star(addr, [pos, vel, acc2, jrk6], mass, time);

    /// The same as `irr_simd_set_list_`.
    implemented nothing [- gpuirr_set_list_]
    (addr: int, nblist: ints) = irregular_set_list(addr, nblist);

    /// Sets the time `ti` of the forces that follow. Each star is predicted when it is needed: `js` and `je` are not
    /// looked at.
    implemented nothing [- gpuirr_pred_all_]
    (js: int_ref, je: int_ref, ti: double) = irregular_predict(ti);

    /// The same as `gpuirr_pred_all_`.
    implemented nothing [- gpuirr_pred_act_]
    (ni: int_ref, addr: ints, ti: double) = irregular_predict(ti);

    /// Sums the forces of the neighbours of `ni` stars, `acc[ni][3]` and `jrk[ni][3]`, at the time of the
    /// last prediction.
    implemented nothing [- gpuirr_firr_vec_]
    (ni: int, addr: ints, acc: out_vectors, jrk: out_vectors)
        = irregular_forces_then(ni, addr, acc, jrk);

    /// As `gpuirr_firr_vec_`, for one star: `acc[3]`, `jrk[3]`.
    implemented nothing [- gpuirr_firr_]
    (addr: int_ref, acc: out_vector, jrk: out_vector)
        = irregular_forces_then(1, addr, acc.cast(), jrk.cast());

    /// Predicts particles `js` to `je`, from 1, of NBODY6's own arrays to `time`, with s = `time` - t0:
    /// x = x0 + s (x0dot + s (f + s fdot)) and xdot = x0dot + 2 s (f + 1.5 s fdot). Particles with `tpred` = `time` are
    /// left alone, and `tpred` becomes `time`.
    implemented nothing [- cxvpred_]
    (
        js: int, je: int, time: double, t0: doubles, x0: vectors, x0dot: vectors, f: vectors,
        fdot: vectors, x: out_vectors, xdot: out_vectors, tpred: out_doubles
    )
        = cxvpred([js, je], time, t0, [x0, x0dot, f, fdot], [x, xdot], tpred);

    /// Sums the force `f[3]` and its derivative `fdot[3]` that the particles in `nblist` exert on particle `i`.
    /// `nblist` has `nnb` - 1 entries. Particles have numbers from 1. The arrays `pos[][3]`, `vel[][3]` and `mass[]`
    /// hold at one time. `f` and `fdot` are NaN if the call is refused.
    implemented nothing [- cnbint_]
    (
        i: int, pos: vectors, vel: vectors, mass: doubles, nnb: int, nblist: ints, f: out_vector,
        fdot: out_vector
    )
        = cnbint(i, pos, vel, mass, nnb, nblist, f, fdot);

    /// Writes the hours, minutes and seconds since the library was opened.
    implemented nothing [- wtime_]
    (ihour: out_int, imin: out_int, isec: out_int) = wtime([ihour, imin, isec]);
}
