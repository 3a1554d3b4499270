//! A GRAPE-5 library as its clients see it: the calls that every one of them has, by their C names.

use std::ffi::c_int;

use super::interface::interface;
use super::{Vec3, to_int};
use kirin_core::choice;

interface! {
    /// One GRAPE-5 library, ready to be called. Its device is 0.
    Grape5 {
        open = g5_open: unsafe extern "C" fn() -> c_int;
        close = g5_close: unsafe extern "C" fn() -> c_int;
        npipes = g5_get_number_of_pipelines: unsafe extern "C" fn() -> c_int;
        set_eps_to_all = g5_set_eps_to_all: unsafe extern "C" fn(f64) -> c_int;
        set_n = g5_set_n: unsafe extern "C" fn(c_int) -> c_int;
        set_xmj = g5_set_xmj: unsafe extern "C" fn(c_int, c_int, *mut Vec3, *const f64, *const f64) -> c_int;
        calculate_force_on_x = g5_calculate_force_on_x: unsafe extern "C" fn(*mut Vec3, *mut Vec3, *mut f64, c_int) -> c_int;
    }
}

impl Grape5 {
    /// What computes the forces: kirin's backend, or the name of a foreign library.
    pub fn backend(&self) -> String {
        self.origin.backend(0)
    }

    /// The precision, or "unknown" for a foreign library.
    pub fn precision(&self) -> String {
        self.origin.precision_by(choice::precision_at_rest)
    }

    /// `g5_open`
    pub fn open(&self) {
        // SAFETY: the function takes nothing.
        unsafe { (self.open)() };
    }

    /// `g5_close`
    pub fn close(&self) {
        // SAFETY: the function takes nothing.
        unsafe { (self.close)() };
    }

    /// `g5_get_number_of_pipelines`: number of i-particles that one run should bring at most.
    pub fn npipes(&self) -> usize {
        // SAFETY: the function takes nothing.
        usize::try_from(unsafe { (self.npipes)() })
            .unwrap_or(1)
            .max(1)
    }

    /// `g5_set_eps_to_all`: the softening length of all i-particles.
    pub fn set_eps_to_all(&self, eps: f64) {
        // SAFETY: a number.
        unsafe { (self.set_eps_to_all)(eps) };
    }

    /// `g5_set_xmj` and `g5_set_n`: these are the j-particles, all of them. A library whose `g5_set_xmj` has softening
    /// lengths of j-particles, too, gets zeros.
    ///
    /// # Panics
    ///
    /// The arrays have different lengths, or more entries than the interface can count.
    pub fn set_j_particles(&self, x: &mut [Vec3], mass: &[f64]) {
        assert_eq!(x.len(), mass.len(), "a mass for each position");
        let nj = to_int(x.len());
        let eps2 = vec![0.0; x.len()];
        // SAFETY: the arrays have `nj` entries, which the call copies. Most libraries do not have the last argument.
        unsafe {
            (self.set_xmj)(0, nj, x.as_mut_ptr(), mass.as_ptr(), eps2.as_ptr());
            (self.set_n)(nj);
        }
    }

    /// `g5_calculate_force_on_x`: accelerations and positive potentials at the positions `x`.
    ///
    /// # Panics
    ///
    /// The arrays have different lengths, or more entries than the interface can count.
    pub fn forces_on(&self, x: &mut [Vec3], acc: &mut [Vec3], pot: &mut [f64]) {
        assert!(acc.len() == x.len() && pot.len() == x.len(), "one length");
        let ni = to_int(x.len());
        // SAFETY: every array has `ni` entries.
        unsafe {
            (self.calculate_force_on_x)(x.as_mut_ptr(), acc.as_mut_ptr(), pot.as_mut_ptr(), ni)
        };
    }
}
