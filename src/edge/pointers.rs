//! One helper for each shape of pointer that a client passes.
//!
//! Nothing here makes a Rust reference to client memory: inputs and outputs may
//! overlap, and Fortran may align doubles to four bytes only.

use std::ffi::c_int;

use kirin_core::error::{Error, Result};
use kirin_core::process::allocation;
use kirin_core::sources::particle::{Force, IParticle};

/// A cluster id by reference; the null pointer stands for cluster 0.
///
/// # Safety
///
/// `p` is null or points to an integer.
pub unsafe fn id(p: *const c_int) -> c_int {
    if p.is_null() {
        0
    } else {
        // SAFETY: not null, so it points to an integer.
        unsafe { p.read_unaligned() }
    }
}

/// A scalar by reference.
///
/// # Safety
///
/// `p` is null or points to a value.
pub unsafe fn scalar<T: Copy>(p: *const T, argument: &'static str) -> Result<T> {
    not_null(p, argument)?;
    // SAFETY: not null, so it points to a value.
    Ok(unsafe { p.read_unaligned() })
}

/// A three-vector.
///
/// # Safety
///
/// `p` is null or points to three numbers.
pub unsafe fn vector(p: *const f64, argument: &'static str) -> Result<[f64; 3]> {
    // SAFETY: three numbers have the layout of an array of three.
    unsafe { scalar(p.cast::<[f64; 3]>(), argument) }
}

/// Refuses the null pointer.
pub fn not_null<T>(p: *const T, argument: &'static str) -> Result<()> {
    if p.is_null() {
        return Err(Error::NullPointer { argument });
    }
    Ok(())
}

/// A count of particles.
pub fn count(value: c_int, argument: &'static str) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::OutOfRange {
        argument,
        value: value.into(),
        legal: "counts begin at 0",
    })
}

/// The arrays that describe a block of i-particles.
#[derive(Clone, Copy)]
pub struct IArrays {
    /// Labels.
    pub index: *const c_int,
    /// Positions.
    pub x: *const [f64; 3],
    /// Velocities.
    pub v: *const [f64; 3],
    /// Squares of neighbour radii; may be null.
    pub h2: *const f64,
}

/// The squared softening lengths of a block.
#[derive(Clone, Copy)]
pub enum Softening {
    /// One for all i-particles.
    All(f64),
    /// An array with one for each; not null where there are i-particles.
    Each(*const f64),
}

impl From<f64> for Softening {
    fn from(eps2: f64) -> Self {
        Self::All(eps2)
    }
}

/// The scaling hints of a block, which GRAPE-6 needed and kirin only records.
#[derive(Clone, Copy)]
pub struct Hints {
    /// Old accelerations; may be null.
    pub acc: *const [f64; 3],
    /// Old jerks; may be null.
    pub jerk: *const [f64; 3],
    /// Old potentials; may be null.
    pub pot: *const f64,
}

impl Hints {
    /// Those of i-particle `i`; zero where there are none.
    ///
    /// # Safety
    ///
    /// Arrays that are not null have more than `i` entries.
    pub unsafe fn of(&self, i: usize) -> Force {
        // SAFETY: passed on.
        unsafe {
            Force {
                acc: entry(self.acc, i),
                jerk: entry(self.jerk, i),
                pot: entry(self.pot, i),
            }
        }
    }
}

/// An entry of an array; the default where there is no array.
///
/// # Safety
///
/// `p` is null or has more than `i` entries.
unsafe fn entry<T: Copy + Default>(p: *const T, i: usize) -> T {
    if p.is_null() {
        T::default()
    } else {
        // SAFETY: not null, so it has more than `i` entries.
        unsafe { p.add(i).read_unaligned() }
    }
}

/// Vector `i`, one number after the other: a copy of the whole goes through the stack, where its load waits for two stores.
///
/// # Safety
///
/// `p` has more than `i` entries.
pub unsafe fn row(p: *const [f64; 3], i: usize) -> [f64; 3] {
    let p = p.wrapping_add(i).cast::<f64>();
    // SAFETY: passed on.
    [0, 1, 2].map(|k| unsafe { p.add(k).read_unaligned() })
}

impl IArrays {
    /// Refuses null pointers, unless there is nothing to read.
    pub fn validate(&self, ni: usize) -> Result<()> {
        if ni > 0 {
            not_null(self.index, "index")?;
            not_null(self.x, "xi")?;
            not_null(self.v, "vi")?;
        }
        Ok(())
    }

    /// The i-particles.
    ///
    /// # Safety
    ///
    /// `validate(ni)` succeeded, and all arrays, including that of the softening lengths, have `ni` entries while
    /// the iterator lives.
    pub unsafe fn particles(
        self,
        ni: usize,
        eps2: Softening,
    ) -> impl ExactSizeIterator<Item = IParticle> {
        (0..ni).map(move |i| {
            // SAFETY: i < ni, the length of the arrays.
            unsafe {
                IParticle {
                    index: self.index.add(i).read_unaligned(),
                    x: row(self.x, i),
                    v: row(self.v, i),
                    eps2: match eps2 {
                        Softening::All(eps2) => eps2,
                        Softening::Each(eps2) => eps2.add(i).read_unaligned(),
                    },
                    h2: entry(self.h2, i),
                }
            }
        })
    }
}

/// The numbers of GPUs in a list.
///
/// # Safety
///
/// `list` is null or has `ngpu` entries.
pub unsafe fn devices(ngpu: c_int, list: *const c_int) -> Result<Vec<usize>> {
    let ngpu = count(ngpu, "ngpu")?;
    let mut devices = Vec::new();
    for k in 0..if list.is_null() { 0 } else { ngpu } {
        // SAFETY: the caller vouches for the length.
        let device = count(unsafe { list.add(k).read_unaligned() }, "list")?;
        allocation::push(&mut devices, device, "a list of devices")?;
    }
    Ok(devices)
}
