//! The client's arrays: a pointer, and the bytes from one particle to the next. These structures are part of the
//! interface (`kirin.h`).

use kirin_core::error::{Error, Result};
use kirin_core::sources::strided::{self, Strided};

/// Bytes of a number.
const NUMBER: i64 = 8;

/// One number of each particle: that of particle k lies `k * step` bytes after `at`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Numbers {
    /// The first; null where the particles have none.
    pub at: *const f64,
    /// Bytes from one particle to the next; 0 stands for 8.
    pub step: i64,
}

/// Three numbers of each particle: coordinate c of particle k lies `k * step + c * next` bytes after `at`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Vectors {
    /// The first; null where the particles have none.
    pub at: *const f64,
    /// Bytes from one particle to the next; 0 stands for 24.
    pub step: i64,
    /// Bytes from one coordinate to the next; 0 stands for 8.
    pub next: i64,
}

/// As [`Numbers`], for indices of sources.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Indices {
    /// The first; null where there are none.
    pub at: *const i64,
    /// Bytes from one to the next; 0 stands for 8.
    pub step: i64,
}

/// As [`Numbers`], to be written; null where they are not wanted.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OutNumbers {
    /// The first.
    pub at: *mut f64,
    /// Bytes from one particle to the next; 0 stands for 8.
    pub step: i64,
}

/// As [`Vectors`], to be written; null where they are not wanted.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OutVectors {
    /// The first.
    pub at: *mut f64,
    /// Bytes from one particle to the next; 0 stands for 24.
    pub step: i64,
    /// Bytes from one coordinate to the next; 0 stands for 8.
    pub next: i64,
}

/// As [`Indices`], to be written; null where they are not wanted.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OutIndices {
    /// The first.
    pub at: *mut i64,
    /// Bytes from one to the next; 0 stands for 8.
    pub step: i64,
}

/// What the sources are: `kirin_sources`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Sources {
    /// Masses, of any sign.
    pub mass: Numbers,
    /// Positions.
    pub x: Vectors,
    /// Velocities.
    pub v: Vectors,
    /// Accelerations.
    pub acc: Vectors,
    /// Their first derivatives.
    pub jerk: Vectors,
    /// Their second derivatives.
    pub snap: Vectors,
    /// The times at which all this holds.
    pub time: Numbers,
    /// Squares of the sources' own softening lengths.
    pub eps2: Numbers,
    /// Null, for later versions.
    pub reserved: [usize; 4],
}

/// Where forces are wanted: `kirin_targets`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Targets {
    /// Positions.
    pub x: Vectors,
    /// Velocities.
    pub v: Vectors,
    /// Squares of softening lengths.
    pub eps2: Numbers,
    /// Squares of the radii of neighbour lists.
    pub radius2: Numbers,
    /// Which source a target is; negative for none.
    pub source: Indices,
    /// Null, for later versions.
    pub reserved: [usize; 4],
}

/// Where results go: `kirin_results`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Results {
    /// Accelerations.
    pub acc: OutVectors,
    /// Jerks.
    pub jerk: OutVectors,
    /// Potentials.
    pub pot: OutNumbers,
    /// Indices of the nearest sources; -1 where there is none.
    pub nearest: OutIndices,
    /// Squares of their distances, without softening; infinite where there is none.
    pub distance2: OutNumbers,
    /// Null, for later versions.
    pub reserved: [usize; 4],
}

macro_rules! absent_by_default {
    ($($array:ident: $null:expr;)*) => {
        $(impl Default for $array {
            fn default() -> Self {
                // All bytes zero: absent, packed.
                $null
            }
        })*
    };
}

absent_by_default! {
    Numbers: Self { at: std::ptr::null(), step: 0 };
    Vectors: Self { at: std::ptr::null(), step: 0, next: 0 };
    Indices: Self { at: std::ptr::null(), step: 0 };
    OutNumbers: Self { at: std::ptr::null_mut(), step: 0 };
    OutVectors: Self { at: std::ptr::null_mut(), step: 0, next: 0 };
    OutIndices: Self { at: std::ptr::null_mut(), step: 0 };
}

/// A step in bytes, or that of a packed array.
fn or_packed(step: i64, packed: i64) -> isize {
    (if step == 0 { packed } else { step }) as isize
}

/// The address of entry `k`.
fn entry<T>(at: *mut T, step: i64, packed: i64, k: usize) -> *mut T {
    at.wrapping_byte_offset(or_packed(step, packed).wrapping_mul(k as isize))
}

impl Numbers {
    /// The numbers, where there are any.
    pub fn strided(self) -> Option<Strided> {
        let there = !self.at.is_null();
        there.then(|| Strided::new(self.at, or_packed(self.step, NUMBER)))
    }

    /// # Errors
    ///
    /// A number is not finite.
    ///
    /// # Safety
    ///
    /// There are `count` numbers, or none.
    pub unsafe fn check(self, array: &'static str, count: usize) -> Result<()> {
        let Some(numbers) = self.strided() else {
            return Ok(());
        };
        // SAFETY: passed on.
        found(array, unsafe { strided::not_finite([numbers], count) })
    }

    /// # Errors
    ///
    /// A number is not finite, or negative.
    ///
    /// # Safety
    ///
    /// There are `count` numbers, or none.
    pub unsafe fn check_not_negative(self, array: &'static str, count: usize) -> Result<()> {
        // SAFETY: passed on.
        unsafe { self.check(array, count)? };
        let Some(numbers) = self.strided() else {
            return Ok(());
        };
        // SAFETY: passed on.
        match (0..count).find(|&k| unsafe { numbers.get(k) } < 0.0) {
            None => Ok(()),
            particle => Err(Error::Negative { array, particle }),
        }
    }
}

impl Vectors {
    /// The coordinates, where there are any.
    pub fn strided(self) -> Option<[Strided; 3]> {
        let (step, next) = (
            or_packed(self.step, 3 * NUMBER),
            or_packed(self.next, NUMBER),
        );
        let coordinate = |c: isize| {
            let at = self.at.wrapping_byte_offset(next.wrapping_mul(c));
            Strided::new(at, step)
        };
        (!self.at.is_null()).then(|| [0, 1, 2].map(coordinate))
    }

    /// # Errors
    ///
    /// A number is not finite.
    ///
    /// # Safety
    ///
    /// There are `count` vectors, or none.
    pub unsafe fn check(self, array: &'static str, count: usize) -> Result<()> {
        let Some(coordinates) = self.strided() else {
            return Ok(());
        };
        // SAFETY: passed on.
        found(array, unsafe { strided::not_finite(coordinates, count) })
    }
}

fn found(array: &'static str, bad: Option<usize>) -> Result<()> {
    match bad {
        None => Ok(()),
        particle => Err(Error::NotFinite { array, particle }),
    }
}

impl Indices {
    /// Whether there are none.
    pub fn are_absent(self) -> bool {
        self.at.is_null()
    }

    /// Entry `k`.
    ///
    /// # Safety
    ///
    /// There is one.
    #[inline(always)]
    pub unsafe fn get(self, k: usize) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { entry(self.at.cast_mut(), self.step, NUMBER, k).read_unaligned() }
    }
}

impl OutNumbers {
    /// Writes entry `k`, if it is wanted.
    ///
    /// # Safety
    ///
    /// Where the array is wanted, it has one.
    #[inline(always)]
    pub unsafe fn put(self, k: usize, value: f64) {
        if !self.at.is_null() {
            // SAFETY: the caller's promise.
            unsafe { entry(self.at, self.step, NUMBER, k).write_unaligned(value) };
        }
    }
}

impl OutVectors {
    /// As [`OutNumbers::put`].
    ///
    /// # Safety
    ///
    /// That of [`OutNumbers::put`].
    #[inline(always)]
    pub unsafe fn put(self, k: usize, value: [f64; 3]) {
        if !self.at.is_null() {
            let first = entry(self.at, self.step, 3 * NUMBER, k);
            for (c, value) in value.into_iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { entry(first, self.next, NUMBER, c).write_unaligned(value) };
            }
        }
    }
}

impl OutIndices {
    /// As [`OutNumbers::put`].
    ///
    /// # Safety
    ///
    /// That of [`OutNumbers::put`].
    #[inline(always)]
    pub unsafe fn put(self, k: usize, value: i64) {
        if !self.at.is_null() {
            // SAFETY: the caller's promise.
            unsafe { entry(self.at, self.step, NUMBER, k).write_unaligned(value) };
        }
    }
}
