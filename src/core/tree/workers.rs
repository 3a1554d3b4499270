//! Threads that build a tree: the library's own here, others in a program that builds the same tree.

use std::collections::TryReserveError;
use std::sync::{Mutex, PoisonError};

/// What runs tasks on several threads.
pub trait Workers: Sync {
    /// Runs `task(0)` to `task(tasks - 1)`, on several threads if that is worth it, and returns when all are done.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

/// This thread alone.
pub struct Alone;

impl Workers for Alone {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(task);
    }
}

/// Calls `act` for each item with its number. A task takes `grain` items.
///
/// # Errors
///
/// There is no memory.
pub fn each<T: Send>(
    workers: &impl Workers,
    items: &mut [T],
    grain: usize,
    act: impl Fn(usize, &mut T) + Sync,
) -> Result<(), TryReserveError> {
    let mut parts = Vec::new();
    parts.try_reserve(items.len().div_ceil(grain))?;
    parts.extend(items.chunks_mut(grain).map(Mutex::new));
    workers.run(parts.len(), &|part| {
        // Each part is locked once.
        let mut items = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        for (k, item) in items.iter_mut().enumerate() {
            act(part * grain + k, item);
        }
    });
    Ok(())
}

/// Calls `act` for each item of two arrays of one length.
///
/// # Errors
///
/// There is no memory.
pub fn each_pair<T: Send, U: Send>(
    workers: &impl Workers,
    first: &mut [T],
    second: &mut [U],
    grain: usize,
    act: impl Fn(&mut T, &mut U) + Sync,
) -> Result<(), TryReserveError> {
    let mut parts = Vec::new();
    parts.try_reserve(first.len().div_ceil(grain))?;
    parts.extend(first.chunks_mut(grain).zip(second.chunks_mut(grain)));
    each(workers, &mut parts, 1, |_, (first, second)| {
        for (a, b) in first.iter_mut().zip(second.iter_mut()) {
            act(a, b);
        }
    })
}
