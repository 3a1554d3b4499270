//! Counts the memory that the solvers allocate, for the claims of section 7.1.11 on storage.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use kirin_kit::communicator::{Communicator, Datum, Operation, Result};

use crate::nbody::reduced_threads::Schedule;
use crate::nbody::{basic_ranks, reduced_ranks, reduced_threads};
use crate::particles::{Assignment, Particles};
use crate::physics::Scheme;

/// The system's allocator, which counts bytes. A program that counts has it as its `#[global_allocator]`.
pub struct Counting;

/// Bytes allocated now, and the most since [`most_bytes`] began.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    MOST.fetch_max(NOW.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

fn less(bytes: usize) {
    NOW.fetch_sub(bytes, Relaxed);
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: passed on.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        less(layout.size());
        // SAFETY: passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // What moves is there twice.
        more(size);
        less(layout.size());
        // SAFETY: passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The most bytes at a time that `work` allocates, beside those allocated before; `None` if [`Counting`] is not the allocator.
fn most_bytes(work: impl FnOnce()) -> Option<usize> {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    work();
    (before > 0).then(|| MOST.load(Relaxed) - before)
}

/// Doubles that a solver allocates, in multiples of the number of particles.
fn in_particles(n: usize, work: impl FnOnce(&mut Particles, &Assignment)) -> Option<f64> {
    let plan = Assignment {
        steps: 1,
        scheme: Scheme::Euler { dt: 1.0 },
        every: None,
    };
    // Particles that are there before do not count.
    let mut particles = Particles::disc(n);
    let bytes = most_bytes(|| work(&mut particles, &plan))?;
    Some(bytes as f64 / (size_of::<f64>() * n) as f64)
}

/// Particles with which the solvers are counted: so many that what does not grow with them is small.
const COUNTED: usize = 3200;

/// What the last of `ranks` processes allocates in a solver with message passing, without the messages on their way: doubles in
/// multiples of the number of particles.
pub fn of_a_rank(is_reduced: bool, ranks: usize) -> Option<f64> {
    let world = OneOf(ranks);
    in_particles(COUNTED, |particles, plan| {
        match is_reduced {
            true => reduced_ranks::solve(&world, particles, plan, &mut |_, _| {
                ControlFlow::Continue(())
            }),
            false => basic_ranks::solve(&world, particles, plan, &mut |_, _| {
                ControlFlow::Continue(())
            }),
        }
        .expect("no process is lost");
    })
}

/// What all of `threads` threads allocate in the reduced solver, divided by their number, in the same unit.
pub fn of_a_thread(threads: usize) -> Option<f64> {
    let all = in_particles(COUNTED, |particles, plan| {
        let schedule = Schedule::default();
        let longest = reduced_threads::solve(threads, schedule, particles, plan, &mut |_, _| {
            ControlFlow::Continue(())
        });
        longest.expect("the system has threads");
    });
    Some(all? / threads as f64)
}

/// The last of so many processes, alone: its messages bring zeros, and a broadcast what it has itself.
struct OneOf(usize);

impl Communicator for OneOf {
    fn rank(&self) -> usize {
        self.0 - 1
    }
    fn size(&self) -> usize {
        self.0
    }
    fn split(&self, _: usize, _: usize) -> Result<Self> {
        Ok(Self(1))
    }
    fn barrier(&self) -> Result<()> {
        Ok(())
    }
    fn broadcast<T: Datum>(&self, _: usize, _: &mut [T]) -> Result<()> {
        Ok(())
    }
    fn gather_v<T: Datum>(
        &self,
        root: usize,
        _: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        match root == self.rank() {
            true => zeros(counts, receive),
            false => zeros(&[], receive),
        }
    }
    fn all_gather<T: Datum>(&self, send: &[T], receive: &mut Vec<T>) -> Result<()> {
        zeros(&[self.0 * send.len()], receive)
    }
    fn all_gather_v<T: Datum>(
        &self,
        _: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        zeros(counts, receive)
    }
    fn all_to_all_v<T: Datum>(
        &self,
        _: &[T],
        _: &[usize],
        receive: &mut Vec<T>,
        counts: &[usize],
    ) -> Result<()> {
        zeros(counts, receive)
    }
    fn all_reduce(&self, _: Operation, _: &mut [f64]) -> Result<()> {
        Ok(())
    }
    fn reduce_scatter(&self, _: &[f64], counts: &[usize], receive: &mut Vec<f64>) -> Result<()> {
        zeros(&[counts[self.rank()]], receive)
    }
    fn shift<T: Datum>(&self, _: usize, _: &[T], count: usize, receive: &mut Vec<T>) -> Result<()> {
        zeros(&[count], receive)
    }
}

fn zeros<T: Datum>(counts: &[usize], receive: &mut Vec<T>) -> Result<()> {
    receive.clear();
    receive.resize(counts.iter().sum(), T::default());
    Ok(())
}
