//! Memory that may not be there. Where its size depends on the client, its absence is an error of the
//! call and not the end of the process.

use std::alloc::{Layout, alloc};

use crate::error::{Error, Result};

/// Bytes that are left to the client, and to small allocations of which the standard library knows no form
/// that can fail.
const SPARE: usize = 4 << 20;

/// Makes room for `more` values.
///
/// # Errors
///
/// There is no memory for `purpose`; nothing has changed.
pub fn reserve<T>(values: &mut Vec<T>, more: usize, purpose: &'static str) -> Result<()> {
    values
        .try_reserve(more)
        // There may be memory for so many and not for the usual ones beyond.
        .or_else(|_| values.try_reserve_exact(more))
        .map_err(|_| Error::OutOfMemory { purpose })
}

/// Adds a value.
///
/// # Errors
///
/// As [`reserve`].
pub fn push<T>(values: &mut Vec<T>, value: T, purpose: &'static str) -> Result<()> {
    reserve(values, 1, purpose)?;
    values.push(value);
    Ok(())
}

/// Makes `values` longer, if need be, until there are `count`.
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

/// The values of an iterator.
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

/// What is in `place`, made if nothing is.
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

/// Whether more is left to the process than `bytes`: enough for the small allocations of whoever goes
/// on, in whichever thread.
///
/// # Errors
///
/// It is not.
pub fn spare(bytes: usize, purpose: &'static str) -> Result<()> {
    let bytes = SPARE.saturating_add(bytes);
    // Not from the allocator: what that keeps for one thread is of no use to another, and a large block
    // that comes and goes changes how it serves the client.
    // SAFETY: a new mapping, at no address that is in use, and nobody else learns of it.
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
