//! A GRAPE-5 library as its clients see it: the calls that every one of them has, by their C names.

use std::ffi::c_int;
use std::path::Path;

use super::origin::Origin;
use super::{ClientError, Vec3, to_int};

/// One GRAPE-5 library, ready to be called. Its device is 0.
pub struct Grape5 {
    open: unsafe extern "C" fn() -> c_int,
    close: unsafe extern "C" fn() -> c_int,
    npipes: unsafe extern "C" fn() -> c_int,
    set_eps_to_all: unsafe extern "C" fn(f64) -> c_int,
    set_n: unsafe extern "C" fn(c_int) -> c_int,
    set_xmj: unsafe extern "C" fn(c_int, c_int, *mut Vec3, *const f64) -> c_int,
    calculate_force_on_x: unsafe extern "C" fn(*mut Vec3, *mut Vec3, *mut f64, c_int) -> c_int,
    origin: Origin,
}

impl Grape5 {
    /// The kirin that is linked into this program.
    pub fn linked() -> Self {
        use crate::abi::*;
        Self {
            open: g5_open,
            close: g5_close,
            npipes: g5_get_number_of_pipelines,
            set_eps_to_all: g5_set_eps_to_all,
            set_n: g5_set_n,
            set_xmj: g5_set_xmj,
            calculate_force_on_x: g5_calculate_force_on_x,
            origin: Origin::linked(),
        }
    }

    /// The library at `path`, or where the system's loader finds it.
    ///
    /// # Errors
    ///
    /// The file cannot be loaded, or lacks one of the symbols every client needs.
    pub fn open_library(path: impl AsRef<Path>) -> Result<Self, ClientError> {
        let origin = Origin::open(path.as_ref())?;
        // SAFETY: the GRAPE-5 interface gives each of these names the type of its field; older libraries return
        // nothing where nothing is looked at.
        unsafe {
            Ok(Self {
                open: origin.symbol("g5_open")?,
                close: origin.symbol("g5_close")?,
                npipes: origin.symbol("g5_get_number_of_pipelines")?,
                set_eps_to_all: origin.symbol("g5_set_eps_to_all")?,
                set_n: origin.symbol("g5_set_n")?,
                set_xmj: origin.symbol("g5_set_xmj")?,
                calculate_force_on_x: origin.symbol("g5_calculate_force_on_x")?,
                origin,
            })
        }
    }

    /// The linked kirin, or the library at `path` where one is given.
    ///
    /// # Errors
    ///
    /// Those of [`Grape5::open_library`].
    pub fn linked_or(path: Option<&Path>) -> Result<Self, ClientError> {
        path.map_or_else(|| Ok(Self::linked()), Self::open_library)
    }

    /// Whether it is a kirin, which follows the settings of this process.
    pub fn is_kirin(&self) -> bool {
        self.origin.is_kirin()
    }

    /// What computes the forces: kirin's backend, or the name of a foreign library.
    pub fn backend(&self) -> String {
        self.origin.backend(0)
    }

    /// The precision, or "unknown" for a foreign library.
    pub fn precision(&self) -> String {
        self.origin.precision(0)
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

    /// `g5_set_xmj` and `g5_set_n`: these are the j-particles, all of them.
    ///
    /// # Panics
    ///
    /// The arrays have different lengths, or more entries than the interface can count.
    pub fn set_j_particles(&self, x: &mut [Vec3], mass: &[f64]) {
        assert_eq!(x.len(), mass.len(), "a mass for each position");
        let nj = to_int(x.len());
        // SAFETY: both arrays have `nj` entries, which the call copies.
        unsafe {
            (self.set_xmj)(0, nj, x.as_mut_ptr(), mass.as_ptr());
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
