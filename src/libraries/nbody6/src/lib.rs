//! The names of NBODY6's library. Each function jumps to `kirin_nbody6_NAME` in `libkirin`, which computes; this
//! library has no state.
//!
//! These names are not in `libkirin` because other programs have functions of the same names (`wtime_`), which a
//! preloaded library would replace. The list is checked against kirin's table of calls
//! (`ffi-tests/tests/symbols.rs`).

use std::ffi::{c_int, c_void};

/// Any argument: all are pointers. Programs that pass fewer than there are, as NBODY6 does, are told apart in `libkirin`.
type Argument = *const c_void;

macro_rules! forward {
    ($($name:ident($($argument:ident),*);)+) => {
        mod kirin {
            use super::{Argument, c_int};

            unsafe extern "C" {
                $(
                    #[link_name = concat!("kirin_nbody6_", stringify!($name))]
                    pub fn $name($($argument: Argument),*) -> c_int;
                )+
            }
        }

        $(
            #[doc = concat!("`", stringify!($name), "` of `kirin_nbody6.h`.")]
            ///
            /// # Safety
            ///
            /// As the header says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: Argument),*) -> c_int {
                // SAFETY: passed on.
                unsafe { kirin::$name($($argument),*) }
            }
        )+
    };
}

forward! {
    gpunb_devinit_(irank);
    gpunb_open_(nbmax, irank);
    gpunb_close_();
    gpunb_send_(nj, mj, xj, vj);
    gpunb_regf_(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nbmax, list, m_flag);
    gpunb_profile_(irank);
    gpupot_(irank, istart, ni, n, m, x, pot);
    gpupot_range_(istart, ni, n, m, x, pot);
    irr_simd_open_(nmax, lmax, rank);
    irr_simd_close_(rank);
    irr_simd_profile_(rank);
    irr_simd_set_jp_(addr, pos, vel, acc2, jrk6, mass, time);
    irr_simd_set_list_(addr, nblist);
    irr_simd_firr_vec_(ti, ni, addr, acc, jrk, nnbid);
    gpuirr_open_(nmax, lmax);
    gpuirr_close_();
    gpuirr_set_jp_(addr, pos, vel, acc2, jrk6, mass, time);
    gpuirr_set_list_(addr, nblist);
    gpuirr_pred_all_(js, je, ti);
    gpuirr_pred_act_(ni, addr, ti);
    gpuirr_firr_vec_(ni, addr, acc, jrk);
    gpuirr_firr_(addr, acc, jrk);
    cxvpred_(js, je, time, t0, x0, x0dot, f, fdot, x, xdot, tpred);
    cnbint_(i, pos, vel, mass, nnb, nblist, f, fdot);
    wtime_(ihour, imin, isec);
}
