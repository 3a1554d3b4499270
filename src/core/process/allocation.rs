//! Allocations that may fail. If a client decides how much memory a call needs, a lack of memory is an error of this
//! call and does not end the process.

use std::alloc::{Layout, alloc};

use crate::error::{Error, Result};

/// The reserve, in bytes: for the client, and for the small allocations that the standard library does not
/// let fail.
const SPARE: usize = 4 << 20;

/// Makes room for `more` further values.
///
/// # Errors
///
/// There is no memory for `purpose`; nothing has changed.
#[inline]
pub fn reserve<T>(values: &mut Vec<T>, more: usize, purpose: &'static str) -> Result<()> {
    values
        .try_reserve(more)
        // There may be enough memory for exactly this many, but not for the usual growth.
        .or_else(|_| values.try_reserve_exact(more))
        .map_err(|_| Error::OutOfMemory { purpose })
}

/// Appends a value.
///
/// # Errors
///
/// As [`reserve`].
pub fn push<T>(values: &mut Vec<T>, value: T, purpose: &'static str) -> Result<()> {
    reserve(values, 1, purpose)?;
    values.push(value);
    Ok(())
}

/// Makes `values` at least `count` long.
///
/// # Errors
///
/// As [`reserve`].
pub fn lengthen<T>(
    values: &mut Vec<T>,
    count: usize,
    purpose: &'static str,
    make: impl FnMut() -> T,
) -> Result<()> {
    let more = count.saturating_sub(values.len());
    reserve(values, more, purpose)?;
    values.resize_with(values.len() + more, make);
    Ok(())
}

/// Collects the values of an iterator.
///
/// # Errors
///
/// As [`reserve`].
pub fn collect<T>(
    values: impl ExactSizeIterator<Item = T>,
    purpose: &'static str,
) -> Result<Vec<T>> {
    let mut collected = Vec::new();
    reserve(&mut collected, values.len(), purpose)?;
    collected.extend(values);
    Ok(collected)
}

/// A value on the heap.
///
/// # Errors
///
/// There is no memory for `purpose`.
pub fn boxed<T>(value: T, purpose: &'static str) -> Result<Box<T>> {
    const { assert!(size_of::<T>() > 0, "nothing needs no memory") };
    // SAFETY: the size is not zero.
    let place = unsafe { alloc(Layout::new::<T>()) }.cast::<T>();
    if place.is_null() {
        return Err(Error::OutOfMemory { purpose });
    }
    // SAFETY: the place was made for a `T` by the allocator that boxes use.
    unsafe {
        place.write(value);
        Ok(Box::from_raw(place))
    }
}

/// The value in `place`; makes it if there is none.
///
/// # Errors
///
/// As [`boxed`].
#[inline]
pub fn fill<'a, T>(
    place: &'a mut Option<Box<T>>,
    purpose: &'static str,
    make: impl FnOnce() -> T,
) -> Result<&'a mut T> {
    Ok(match place {
        Some(value) => value,
        none => none.insert(boxed(make(), purpose)?),
    })
}

/// Checks that `bytes` and the reserve for small allocations, in any thread, are still to be had.
///
/// # Errors
///
/// They are not.
pub fn spare(bytes: usize, purpose: &'static str) -> Result<()> {
    let bytes = SPARE.saturating_add(bytes);
    // Asks the system and not the allocator: what that keeps for one thread is of no use to another, and a
    // large block that comes and goes changes how it serves the client.
    // SAFETY: the mapping is new and overlaps no other; nobody else learns of it.
    unsafe {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
        let nowhere = std::ptr::null_mut();
        let place = libc::mmap(
            nowhere,
            bytes,
            protection,
            flags | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if place == libc::MAP_FAILED {
            return Err(Error::OutOfMemory { purpose });
        }
        libc::munmap(place, bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_an_error() {
        let mut values = vec![1_u64];
        let missing = Err(Error::OutOfMemory { purpose: "a test" });
        assert_eq!(reserve(&mut values, usize::MAX / 16, "a test"), missing);
        assert_eq!(
            lengthen(&mut values, usize::MAX / 16, "a test", || 2),
            missing
        );
        assert_eq!(values, [1]);
        assert_eq!(spare(usize::MAX, "a test"), missing);
    }

    #[test]
    fn enough_is_not() {
        let mut values = vec![1_u64];
        lengthen(&mut values, 3, "a test", || 2).unwrap();
        lengthen(&mut values, 2, "a test", || 3).unwrap();
        push(&mut values, 4, "a test").unwrap();
        assert_eq!(values, [1, 2, 2, 4]);
        assert_eq!(
            collect(values.iter().map(|v| v + 1), "a test").unwrap(),
            [2, 3, 3, 5]
        );
        assert_eq!(boxed([7; 100], "a test").unwrap()[99], 7);
        spare(0, "a test").unwrap();
        let mut place = None;
        for other in 1..3 {
            assert_eq!(fill(&mut place, "a test", || other), Ok(&mut 1));
        }
    }
}
