//! The irregular force: stars written one by one, predicted here, summed over their neighbour lists.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use crate::choice;
use crate::cpu::{self, Pool};
use crate::error::{Error, Result};
use crate::force::irregular::{IrregularForce, NeighbourForce};
use crate::nbody6::events::{Call, record};
use crate::nbody6::statistics::COUNTS;
use crate::process::{self, allocation, settings};
use crate::sources::stars::{self, Star, Stars};
use crate::sources::sum_tree::share;

/// Rough nanoseconds of a pair on one core, and tasks for each thread.
const PAIR: f64 = 5.0;
const TASKS_PER_THREAD: usize = 4;

/// The stars of the process.
pub struct IrregularLibrary {
    stars: AtomicPtr<Stars>,
    /// Time of the last prediction that NBODY6 asked for.
    predicted: AtomicU64,
}

/// The library behind the exported functions.
pub static LIBRARY: IrregularLibrary = IrregularLibrary::new();

/// The neighbours of a star, as NBODY6 counts addresses: from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Force and derivative.
    pub force: NeighbourForce,
    /// Address of the nearest neighbour, 0 if there is none.
    pub nearest: i32,
}

impl IrregularLibrary {
    /// A library that is not open.
    pub const fn new() -> Self {
        Self {
            stars: AtomicPtr::new(ptr::null_mut()),
            predicted: AtomicU64::new(0),
        }
    }

    /// Makes room for `capacity` stars. What was there is forgotten.
    ///
    /// # Errors
    ///
    /// There is no memory; nothing has changed.
    ///
    /// # Safety
    ///
    /// No other thread is in a call of the irregular force.
    pub unsafe fn open(&self, capacity: usize) -> Result<()> {
        // What the forces need besides is made before stars and lists take the memory.
        process::protected(|| means().and_then(|_| Pool::get()))?;
        let stars = allocation::boxed(Stars::new(capacity)?, stars::PURPOSE)?;
        // SAFETY: passed on.
        unsafe { self.replace(Box::into_raw(stars)) };
        Ok(())
    }

    /// Forgets all stars.
    ///
    /// # Safety
    ///
    /// As [`IrregularLibrary::open`].
    pub unsafe fn close(&self) {
        // SAFETY: passed on.
        unsafe { self.replace(ptr::null_mut()) };
        record::call(|| Call::IrregularClose);
    }

    unsafe fn replace(&self, stars: *mut Stars) {
        let before = self.stars.swap(stars, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: it was made by a box, and no other thread has it: the caller vouches for that.
            drop(unsafe { Box::from_raw(before) });
        }
    }

    #[inline(always)]
    fn stars(&self) -> Result<&Stars> {
        // SAFETY: complete before it could be reached, and freed while nobody else is in a call.
        unsafe { self.stars.load(Ordering::Acquire).as_ref() }.ok_or(Error::NotOpen {
            by: "irr_simd_open or gpuirr_open",
        })
    }

    /// Stores a star at an address from 1.
    ///
    /// # Errors
    ///
    /// There is no such address.
    ///
    /// # Safety
    ///
    /// No other thread is in a call about this address, or in one of all stars.
    #[inline(always)]
    pub unsafe fn set_star(&self, address: i32, star: Star) -> Result<()> {
        let stars = self.stars()?;
        let place = place(address, stars, "addr")?;
        // SAFETY: below the capacity; the rest is passed on.
        unsafe { stars.write(place, star) };
        // Read back only where it is wanted: otherwise the compiler would keep a second copy at hand.
        record::call(move || Call::Star {
            address,
            // SAFETY: as above.
            star: unsafe { *stars.star(place) }.into(),
        });
        Ok(())
    }

    /// Stores the neighbours, addresses from 1, of the star at an address from 1.
    ///
    /// # Errors
    ///
    /// One of the addresses does not exist, and the list that was there stays; or there is no memory.
    ///
    /// # Safety
    ///
    /// As [`IrregularLibrary::set_star`].
    pub unsafe fn set_list(
        &self,
        address: i32,
        neighbours: impl ExactSizeIterator<Item = i32> + Clone,
    ) -> Result<()> {
        let stars = self.stars()?;
        let at = place(address, stars, "addr")?;
        let legal = 1..=stars.capacity() as i64;
        if let Some(bad) = neighbours.clone().find(|&n| !legal.contains(&n.into())) {
            place(bad, stars, "nblist")?;
        }
        stars.write_list(at, neighbours.clone().map(|n| (n - 1) as u32))?;
        record::list(address, neighbours);
        Ok(())
    }

    /// Has NBODY6's forces that follow belong to the time `ti`.
    pub fn predict(&self, ti: f64) {
        self.predicted.store(ti.to_bits(), Ordering::Relaxed);
    }

    /// The time that [`IrregularLibrary::predict`] set last.
    pub fn predicted(&self) -> f64 {
        f64::from_bits(self.predicted.load(Ordering::Relaxed))
    }

    /// Computes the forces on the stars `address(0)` to `address(count - 1)`, from 1, at the time `ti`, and hands each to
    /// `answer`, from several threads.
    ///
    /// # Errors
    ///
    /// There is no star at one of the addresses; nothing was computed.
    ///
    /// # Safety
    ///
    /// No other thread writes stars or lists.
    pub unsafe fn forces(
        &self,
        ti: f64,
        count: usize,
        address: &(dyn Fn(usize) -> i32 + Sync),
        answer: &(dyn Fn(usize, &Answer) + Sync),
    ) -> Result<()> {
        let stars = self.stars()?;
        let mut pairs = 0;
        for k in 0..count {
            let i = place(address(k), stars, "addr")?;
            // SAFETY: below the capacity; the rest is passed on.
            unsafe {
                if stars.star(i).present == 0.0 {
                    return Err(Error::OutOfRange {
                        argument: "addr",
                        value: address(k).into(),
                        legal: "no star was stored there",
                    });
                }
                pairs += stars.list(i).len();
            }
        }
        let begin = COUNTS.begin();
        process::protected(|| {
            // SAFETY: the addresses were looked at above; the rest is passed on.
            unsafe { Self::compute(stars, ti, count, pairs, address, answer) }
        })?;
        COUNTS.irregular.add(count, pairs, begin);
        Ok(())
    }

    /// # Safety
    ///
    /// As [`IrregularLibrary::forces`], and there are stars at all the addresses.
    unsafe fn compute(
        stars: &Stars,
        ti: f64,
        count: usize,
        pairs: usize,
        address: &(dyn Fn(usize) -> i32 + Sync),
        answer: &(dyn Fn(usize, &Answer) + Sync),
    ) -> Result<()> {
        let Means { kernel, threads } = means()?;
        let work = pairs as f64 * PAIR;
        let (threads, effort) = (
            cpu::threads_for(work, *threads),
            Duration::from_nanos(work as u64),
        );
        let tasks = match threads {
            1 => 1,
            _ => count.min(threads * TASKS_PER_THREAD),
        };
        let run = || {
            Pool::get()?.run(tasks, threads, effort, &|t| {
                let place = |k: usize| (address(k) - 1) as usize;
                let mut answer = |k: usize, &force: &NeighbourForce| {
                    let nearest = force.nearest.map_or(0, |n| n as i32 + 1);
                    answer(k, &Answer { force, nearest });
                };
                let run = share(count, tasks, t);
                // SAFETY: passed on.
                unsafe { kernel.forces(stars, ti, run, &place, &mut answer) };
            })
        };
        // In the child of a signal handler's fork what the threads had begun is done anew.
        match run() {
            Err(Error::ThreadsLost) => run(),
            done => done,
        }
    }
}

impl Default for IrregularLibrary {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for IrregularLibrary {
    fn drop(&mut self) {
        // SAFETY: nobody else has the library any more.
        unsafe { self.close() };
    }
}

/// The kernel and the threads of the irregular force.
struct Means {
    kernel: Box<dyn IrregularForce>,
    threads: usize,
}

/// What computes, chosen at the first need.
///
/// # Errors
///
/// It is not chosen yet, and there is no memory.
fn means() -> Result<&'static Means> {
    // Nobody waits for another thread, which a child of a fork would not have: both choose.
    static CHOSEN: AtomicPtr<Means> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: never freed, and complete before it can be reached.
    if let Some(chosen) = unsafe { CHOSEN.load(Ordering::Acquire).as_ref() } {
        return Ok(chosen);
    }
    allocation::spare(0, stars::PURPOSE)?;
    let settings = settings::settings();
    let mine = Box::into_raw(Box::new(Means {
        kernel: choice::choose_irregular(settings),
        threads: cpu::threads(settings.threads),
    }));
    let order = (Ordering::AcqRel, Ordering::Acquire);
    let first = CHOSEN.compare_exchange(ptr::null_mut(), mine, order.0, order.1);
    // SAFETY: as above; the thread that was slower leaves its own unused.
    Ok(unsafe { &*first.map_or_else(|others| others, |_| mine) })
}

/// The place of an address from 1.
#[inline(always)]
fn place(address: i32, stars: &Stars, argument: &'static str) -> Result<usize> {
    match usize::try_from(i64::from(address) - 1) {
        Ok(place) if place < stars.capacity() => Ok(place),
        _ => Err(Error::OutOfRange {
            argument,
            value: address.into(),
            legal: "addresses begin at 1 and end at the nmax of the open call",
        }),
    }
}
