//! The memory of the irregular force: a star and a neighbour list at each address.
//!
//! Clients write from many threads at once, each to its own addresses. There is no lock: a star is overwritten in
//! place, and a list is replaced by exchanging its pointer.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{Error, Result};
use crate::process::allocation;
use crate::sources::particle::JParticle;

/// What memory is for, in messages.
pub const PURPOSE: &str = "the stars of the irregular force";

/// A star as it is stored: rows of four numbers, in two neighbouring lines of the cache. All zeros, without
/// mass, where none was written.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(128))]
pub struct Star {
    /// Position at the star's own time.
    pub x: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Velocity.
    pub v: [f64; 3],
    /// The star's own time.
    pub time: f64,
    /// Half of the acceleration.
    pub aby2: [f64; 3],
    /// 1 where a star was written.
    pub present: f64,
    /// A sixth of the jerk.
    pub a1by6: [f64; 3],
    /// Nothing.
    pub unused: f64,
}

impl Star {
    /// The rows: cubics of the time, column by column, but for the fourth.
    #[inline(always)]
    pub fn rows(&self) -> &[[f64; 4]; 4] {
        // SAFETY: the fields are sixteen numbers in this order.
        unsafe { &*ptr::from_ref(self).cast() }
    }

    /// Position and velocity at the time `ti`: of third and second order, as NBODY6 has them.
    #[inline(always)]
    pub fn predicted(&self, ti: f64) -> ([f64; 3], [f64; 3]) {
        let s = ti - self.time;
        let Self {
            x, v, aby2, a1by6, ..
        } = self;
        (
            [0, 1, 2].map(|k| x[k] + s * (v[k] + s * (aby2[k] + s * a1by6[k]))),
            [0, 1, 2].map(|k| v[k] + 2.0 * s * (aby2[k] + 1.5 * s * a1by6[k])),
        )
    }
}

impl From<Star> for JParticle {
    /// What was written of it.
    fn from(star: Star) -> Self {
        let Star {
            x,
            mass,
            v,
            time,
            aby2,
            a1by6,
            ..
        } = star;
        Self {
            t: time,
            mass,
            x,
            v,
            aby2,
            a1by6,
            ..Self::default()
        }
    }
}

/// The neighbours of one star.
type List = Vec<u32>;

/// Stands in the place of a list that was refused. Nobody writes to it or frees it.
static REFUSED: List = List::new();

/// The list behind a pointer that was taken from its place; `None` if there was no list or a refused one.
///
/// # Safety
///
/// Nobody else has the pointer.
unsafe fn owned(taken: *mut List) -> Option<Box<List>> {
    let is_list = !taken.is_null() && !ptr::eq(taken, &raw const REFUSED);
    // SAFETY: all other lists are made by boxes; the rest is passed on.
    is_list.then(|| unsafe { Box::from_raw(taken) })
}

/// Stars and lists at the addresses `0..capacity`.
pub struct Stars {
    capacity: usize,
    stars: *mut Star,
    lists: *mut AtomicPtr<List>,
}

// SAFETY: the arrays belong to it; who writes to them says to which place, and vouches for being alone there.
unsafe impl Send for Stars {}
// SAFETY: as above.
unsafe impl Sync for Stars {}

impl Stars {
    /// Room for so many stars. Memory is taken from the system as addresses are written.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn new(capacity: usize) -> Result<Self> {
        let mut made = Self {
            capacity,
            stars: ptr::null_mut(),
            lists: ptr::null_mut(),
        };
        if capacity > 0 {
            made.stars = zeroed(capacity)?;
            made.lists = zeroed(capacity)?;
        }
        Ok(made)
    }

    /// Number of addresses.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Stores a star.
    ///
    /// # Safety
    ///
    /// No other thread reads or writes the star of this address, which is below the capacity.
    #[inline(always)]
    pub unsafe fn write(&self, address: usize, star: Star) {
        debug_assert!(address < self.capacity);
        // SAFETY: below the capacity, and nobody else is there.
        unsafe { self.stars.add(address).write(star) };
    }

    /// Moves all stars and lists to others with as many addresses at least, to which nothing was written.
    ///
    /// # Safety
    ///
    /// No other thread reads or writes either.
    pub unsafe fn move_to(&self, others: &Self) {
        for address in 0..self.capacity {
            // SAFETY: below both capacities, and nobody else is there.
            unsafe {
                let star = *self.star(address);
                // Memory of addresses that were never written stays untouched.
                if star.present != 0.0 {
                    others.write(address, star);
                }
            }
            let list = self
                .list_place(address)
                .swap(ptr::null_mut(), Ordering::Acquire);
            if !list.is_null() {
                others.list_place(address).store(list, Ordering::Release);
            }
        }
    }

    /// The star at an address.
    ///
    /// # Safety
    ///
    /// No other thread writes it, and the address is below the capacity.
    #[inline(always)]
    pub unsafe fn star(&self, address: usize) -> &Star {
        debug_assert!(address < self.capacity);
        // SAFETY: below the capacity, and all zeros are a star.
        unsafe { &*self.stars.add(address) }
    }

    /// Where the stars are, for whoever reads ahead.
    #[inline(always)]
    pub fn first(&self) -> *const Star {
        self.stars
    }

    /// Stores the neighbours of the star at `address`, which are below the capacity as it is.
    ///
    /// # Errors
    ///
    /// There is no memory; the list that was there is gone.
    pub fn write_list(
        &self,
        address: usize,
        neighbours: impl ExactSizeIterator<Item = u32>,
    ) -> Result<()> {
        let place = self.list_place(address);
        let taken = place.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the pointer was in one place only.
        let mut list = match unsafe { owned(taken) } {
            None => allocation::boxed(List::new(), PURPOSE)?,
            Some(list) => list,
        };
        list.clear();
        allocation::reserve(&mut list, neighbours.len(), PURPOSE)?;
        list.extend(neighbours);
        let other = place.swap(Box::into_raw(list), Ordering::AcqRel);
        // SAFETY: as above. There is one if two threads wrote to one address.
        drop(unsafe { owned(other) });
        Ok(())
    }

    /// Replaces the list for `address` by a refused one.
    pub fn refuse_list(&self, address: usize) {
        let refused = ptr::from_ref(&REFUSED).cast_mut();
        let taken = self.list_place(address).swap(refused, Ordering::AcqRel);
        // SAFETY: the pointer was in one place only.
        drop(unsafe { owned(taken) });
    }

    /// Whether the last list for `address` was refused.
    #[inline(always)]
    pub fn has_refused_list(&self, address: usize) -> bool {
        ptr::eq(
            self.list_place(address).load(Ordering::Acquire),
            &raw const REFUSED,
        )
    }

    /// The neighbours of the star at `address`; none if the list was refused.
    ///
    /// # Safety
    ///
    /// No thread writes a list for this address.
    #[inline(always)]
    pub unsafe fn list(&self, address: usize) -> &[u32] {
        let list = self.list_place(address).load(Ordering::Acquire);
        // SAFETY: the list is complete, and stays while nobody writes another.
        unsafe { list.as_ref() }.map_or(&[], |list| list)
    }

    fn list_place(&self, address: usize) -> &AtomicPtr<List> {
        assert!(address < self.capacity);
        // SAFETY: below the capacity, and null pointers are all zeros.
        unsafe { &*self.lists.add(address) }
    }
}

impl Drop for Stars {
    fn drop(&mut self) {
        if !self.lists.is_null() {
            for address in 0..self.capacity {
                let list = self
                    .list_place(address)
                    .swap(ptr::null_mut(), Ordering::Acquire);
                // SAFETY: the pointer was here only.
                drop(unsafe { owned(list) });
            }
        }
        // SAFETY: both were made by `zeroed` with this capacity, or are null.
        unsafe {
            free(self.stars, self.capacity);
            free(self.lists, self.capacity);
        }
    }
}

fn layout<T>(count: usize) -> Result<Layout> {
    Layout::array::<T>(count).map_err(|_| Error::OutOfMemory { purpose: PURPOSE })
}

/// An array of zeros, of at least one element.
fn zeroed<T>(count: usize) -> Result<*mut T> {
    // SAFETY: the size is not zero.
    let place = unsafe { alloc_zeroed(layout::<T>(count)?) };
    match place.is_null() {
        true => Err(Error::OutOfMemory { purpose: PURPOSE }),
        false => Ok(place.cast()),
    }
}

/// # Safety
///
/// `place` is null or was made by [`zeroed`] with the same count.
unsafe fn free<T>(place: *mut T, count: usize) {
    if let (false, Ok(layout)) = (place.is_null(), layout::<T>(count)) {
        // SAFETY: passed on.
        unsafe { dealloc(place.cast(), layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_write_to_addresses_of_their_own() {
        let stars = Stars::new(64).unwrap();
        std::thread::scope(|s| {
            for t in 0..4_usize {
                let stars = &stars;
                s.spawn(move || {
                    for round in 0..200 {
                        for address in (t..64).step_by(4) {
                            let star = Star {
                                mass: (address * 1000 + round) as f64,
                                ..Star::default()
                            };
                            // SAFETY: no other thread has this address.
                            unsafe { stars.write(address, star) };
                            let list = (0..(round % 7) as u32).map(|k| k + address as u32);
                            stars.write_list(address, list).unwrap();
                        }
                    }
                });
            }
        });
        for address in 0..64 {
            // SAFETY: the threads have ended.
            let (star, list) = unsafe { (stars.star(address), stars.list(address)) };
            assert_eq!(star.mass, (address * 1000 + 199) as f64);
            let first = address as u32;
            assert_eq!(list, (first..first + 199 % 7).collect::<Vec<_>>());
        }
    }

    #[test]
    fn lists_of_one_address_from_many_threads_are_one_of_them() {
        let stars = Stars::new(1).unwrap();
        std::thread::scope(|s| {
            for t in 1..5_u32 {
                let stars = &stars;
                s.spawn(move || {
                    for _ in 0..500 {
                        let list = std::iter::repeat_n(t, t as usize);
                        stars.write_list(0, list).unwrap();
                    }
                });
            }
        });
        // SAFETY: the threads have ended.
        let list = unsafe { stars.list(0) };
        assert!(list.iter().all(|&t| t as usize == list.len()), "{list:?}");
    }

    #[test]
    fn what_was_never_written_has_no_mass_and_no_neighbours() {
        let stars = Stars::new(3).unwrap();
        // SAFETY: this thread is alone with them.
        let (star, list) = unsafe { (stars.star(2), stars.list(2)) };
        assert_eq!((star.mass, star.present, list.len()), (0.0, 0.0, 0));
        assert!(Stars::new(usize::MAX / 2).is_err());
        assert_eq!(Stars::new(0).unwrap().capacity(), 0);
    }
}
