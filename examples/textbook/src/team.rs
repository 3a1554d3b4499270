//! Threads that begin together, and arrays that all of them may write.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use kirin_report::machine::processor_seconds;

use crate::physics::Vect;

/// Runs `work(0)`, `work(1)`, ... at the same time, on a thread each; rank 0 is the calling thread. Returns the processor time
/// of the thread that computed longest, in seconds: how long the team would take with a core for each thread, if nobody
/// waited.
///
/// # Errors
///
/// The system has no more threads; nothing has been run then. In words.
pub fn run(threads: usize, work: impl Fn(usize) + Sync) -> Result<f64, String> {
    // Nobody begins before all are there: one who waits at a barrier for a thread that was never made
    // would wait for ever.
    let all_there = Mutex::new(false);
    let longest = Mutex::new(0.0_f64);
    let timed = |rank: usize| {
        let began = processor_seconds();
        work(rank);
        let mut longest = longest.lock().expect("no thread panics with the lock");
        *longest = longest.max(processor_seconds() - began);
    };
    thread::scope(|scope| {
        let mut gate = all_there.lock().expect("no thread panics with the lock");
        for rank in 1..threads {
            let (timed, all_there) = (&timed, &all_there);
            let begin = move || {
                let go = *all_there.lock().expect("no thread panics with the lock");
                if go {
                    timed(rank);
                }
            };
            let made = thread::Builder::new().spawn_scoped(scope, begin);
            made.map_err(|e| format!("thread {rank} of {threads}: {e}"))?;
        }
        *gate = true;
        drop(gate);
        timed(0);
        Ok::<_, String>(())
    })?;
    Ok(longest
        .into_inner()
        .expect("no thread panics with the lock"))
}

/// An array of vectors that all threads may read and write. Barriers make sure that a thread sees what others have
/// written. Loads and stores are relaxed atomic operations, which cost no more than plain ones.
pub struct SharedVectors(Vec<[AtomicU64; 2]>);

impl SharedVectors {
    /// A copy of these vectors.
    pub fn new(vectors: &[Vect]) -> Self {
        let cells = |v: &Vect| v.map(|x| AtomicU64::new(x.to_bits()));
        Self(vectors.iter().map(cells).collect())
    }

    /// Element `q`.
    #[inline(always)]
    pub fn get(&self, q: usize) -> Vect {
        let [x, y] = &self.0[q];
        [x, y].map(|cell| f64::from_bits(cell.load(Ordering::Relaxed)))
    }

    /// Makes element `q` this vector.
    #[inline(always)]
    pub fn set(&self, q: usize, vector: Vect) {
        for (cell, x) in self.0[q].iter().zip(vector) {
            cell.store(x.to_bits(), Ordering::Relaxed);
        }
    }

    /// Writes all elements to `vectors`, which is as long.
    pub fn copy_to(&self, vectors: &mut [Vect]) {
        for (q, vector) in vectors.iter_mut().enumerate() {
            *vector = self.get(q);
        }
    }
}
