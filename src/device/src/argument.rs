//! What arrays hold, and what kernels take.

use std::ffi::c_void;

use crate::arrays::Array;

/// What arrays hold: numbers, and structures of numbers.
///
/// # Safety
///
/// Every pattern of bits is a value, there is no padding, its alignment is at most that of an `u64`, and host and device lay
/// it out in the same way.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($number:ty)*) => {
        $(
            // SAFETY: a number.
            unsafe impl Plain for $number {}
        )*
    };
}
plain!(u8 i32 u32 i64 u64 f32 f64);

// SAFETY: so many of what is plain, one behind the other.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// An argument of a kernel: an array, of which the kernel gets the address of the first element, or a value.
pub trait Argument: sealed::Sealed {
    /// The address of the argument.
    fn address(&self) -> *mut c_void;
}

impl<T: Plain> Argument for T {
    fn address(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

mod sealed {
    /// What nobody else implements: addresses are trusted.
    pub trait Sealed {}
    impl<T: super::Plain> Sealed for T {}
    impl<T> Sealed for super::Array<T> {}
}

impl<T> Argument for Array<T> {
    fn address(&self) -> *mut c_void {
        std::ptr::from_ref(self.start()).cast_mut().cast()
    }
}
