//! Threads that build a tree. In the library they are the library's own; another program that builds a tree brings its
//! own.

use std::collections::TryReserveError;
use std::sync::{Mutex, PoisonError};

/// What does work on several threads, if that is worth it. Each method returns when all is done.
pub trait Workers: Sync {
    /// Calls `act` for each item with its number. A task takes `grain` items at least.
    ///
    /// # Errors
    ///
    /// There is no memory.
    fn each<T: Send>(
        &self,
        items: &mut [T],
        grain: usize,
        act: impl Fn(usize, &mut T) + Sync,
    ) -> Result<(), TryReserveError>;

    /// Calls `act` for each item of two arrays of one length.
    ///
    /// # Errors
    ///
    /// There is no memory.
    fn each_pair<T: Send, U: Send>(
        &self,
        first: &mut [T],
        second: &mut [U],
        grain: usize,
        act: impl Fn(&mut T, &mut U) + Sync,
    ) -> Result<(), TryReserveError>;

    /// Calls both.
    fn join(&self, one: impl FnOnce() + Send, other: impl FnOnce() + Send);
}

/// This thread alone.
pub struct Alone;

impl Workers for Alone {
    fn each<T: Send>(
        &self,
        items: &mut [T],
        _: usize,
        act: impl Fn(usize, &mut T) + Sync,
    ) -> Result<(), TryReserveError> {
        items.iter_mut().enumerate().for_each(|(k, t)| act(k, t));
        Ok(())
    }

    fn each_pair<T: Send, U: Send>(
        &self,
        first: &mut [T],
        second: &mut [U],
        _: usize,
        act: impl Fn(&mut T, &mut U) + Sync,
    ) -> Result<(), TryReserveError> {
        first.iter_mut().zip(second).for_each(|(a, b)| act(a, b));
        Ok(())
    }

    fn join(&self, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
        one();
        other();
    }
}

/// [`Workers::each`] by what runs tasks by their numbers.
///
/// # Errors
///
/// There is no memory.
pub fn in_tasks<T: Send>(
    run: impl Fn(usize, &(dyn Fn(usize) + Sync)),
    items: &mut [T],
    grain: usize,
    act: impl Fn(usize, &mut T) + Sync,
) -> Result<(), TryReserveError> {
    let mut parts = Vec::new();
    parts.try_reserve(items.len().div_ceil(grain))?;
    parts.extend(items.chunks_mut(grain).map(Mutex::new));
    run(parts.len(), &|part| {
        // Each part is locked once.
        let mut items = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        for (k, item) in items.iter_mut().enumerate() {
            act(part * grain + k, item);
        }
    });
    Ok(())
}
