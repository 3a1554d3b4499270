//! Computes one value for each index, on all processors.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

/// Rows that one thread takes at a time: long enough to amortise, short enough to balance.
const ROWS: usize = 64;

/// Up to so many rows one thread is faster than several.
const ONE_THREAD: usize = 512;

/// `row(0)`, `row(1)`, ... `row(n - 1)`. The result does not depend on the number of threads.
pub(crate) fn rows<T: Clone + Default + Send>(n: usize, row: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if n < ONE_THREAD {
        return (0..n).map(row).collect();
    }
    tasks(n, ROWS, row)
}

/// Like [`rows`], for rows that take longer. A thread takes `at_a_time` rows at once. There are no more threads than
/// portions of this size.
pub(crate) fn tasks<T: Clone + Default + Send>(
    n: usize,
    at_a_time: usize,
    row: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut rows = vec![T::default(); n];
    let most = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = most.min(n.div_ceil(at_a_time));
    let work = Mutex::new(rows.chunks_mut(at_a_time).enumerate());
    let run = || {
        loop {
            let next = work.lock().expect("no thread panics with the lock").next();
            let Some((chunk, rows)) = next else { break };
            for (k, place) in rows.iter_mut().enumerate() {
                *place = row(chunk * at_a_time + k);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    rows
}
