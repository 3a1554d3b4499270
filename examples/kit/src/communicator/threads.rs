//! Ranks as threads of one process: any number of them, on any machine, without MPI.
//!
//! Every operation is one exchange: each rank posts its data, waits for all others, and takes the data for itself.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{CommunicationError, Communicator, Datum, Operation, Result, displacements};

/// How long a rank that waits spins before it sleeps: messages follow each other within
/// microseconds, and to be woken takes longer than that.
const SPIN: Duration = Duration::from_micros(30);

/// How often a rank that waits looks whether another is lost.
const WATCH: Duration = Duration::from_millis(50);

/// No rank is lost.
const NOBODY: usize = usize::MAX;

/// Runs `work` on so many ranks, each on a thread of its own, and returns what they return, by rank.
///
/// # Errors
///
/// The error of the rank that failed first. The other ranks get the error that this rank is lost.
///
/// # Panics
///
/// That of a rank which panicked first; or there is no thread to be had.
pub fn run<R, E>(
    ranks: usize,
    work: impl Fn(Threads) -> std::result::Result<R, E> + Sync,
) -> std::result::Result<Vec<R>, E>
where
    R: Send,
    E: Send,
{
    let lost = Arc::new(AtomicUsize::new(NOBODY));
    let group = Arc::new(Group::new(ranks));
    let rank = |rank: usize| {
        let communicator = Threads {
            rank,
            turn: Cell::new(0),
            group: group.clone(),
            world_rank: rank,
            lost: lost.clone(),
        };
        let result = catch_unwind(AssertUnwindSafe(|| work(communicator)));
        if !matches!(result, Ok(Ok(_))) {
            let _ = lost.compare_exchange(NOBODY, rank, Ordering::Relaxed, Ordering::Relaxed);
        }
        result
    };
    let mut results: Vec<_> = thread::scope(|scope| {
        let spawn = |r: usize| {
            let named = thread::Builder::new().name(format!("rank {r}"));
            let rank = &rank;
            named.spawn_scoped(scope, move || rank(r))
        };
        let ranks: Vec<_> = (0..ranks)
            .map(|r| {
                spawn(r).unwrap_or_else(|why| {
                    // Those that are there do not wait for it.
                    let _ = lost.compare_exchange(NOBODY, r, Ordering::Relaxed, Ordering::Relaxed);
                    panic!("the system has no thread for rank {r} of {ranks}: {why}")
                })
            })
            .collect();
        let join = |rank: thread::ScopedJoinHandle<'_, _>| rank.join().expect("panics are caught");
        ranks.into_iter().map(join).collect()
    });
    // The error of the rank that failed first explains those of the others.
    let first = lost.load(Ordering::Relaxed);
    if first < results.len() {
        results.swap(0, first);
    }
    let mut all = Vec::with_capacity(results.len());
    for result in results {
        all.push(result.unwrap_or_else(|panic| resume_unwind(panic))?);
    }
    Ok(all)
}

/// One of the ranks.
pub struct Threads {
    rank: usize,
    /// Number of exchanges that this rank has begun.
    turn: Cell<u64>,
    group: Arc<Group>,
    /// Number among all ranks.
    world_rank: usize,
    /// The first of all ranks that ended with an error.
    lost: Arc<AtomicUsize>,
}

type Brought = Arc<dyn Any + Send + Sync>;

/// Where the ranks of a group meet.
struct Group {
    size: usize,
    /// Whether each rank may have a core of its own.
    spins: bool,
    /// Number of exchanges to which everybody has come.
    complete: AtomicU64,
    table: Mutex<Table>,
    arrival: Condvar,
}

/// What the ranks brought to the present exchange and to the one before. No older one is needed. A rank begins exchange
/// k + 2 only when all ranks have come to exchange k + 1. By then they all have taken what they need of exchange k.
struct Table {
    brought: [Vec<Option<Brought>>; 2],
    present: [usize; 2],
}

impl Group {
    fn new(size: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            size,
            spins: size <= cores,
            complete: AtomicU64::new(0),
            table: Mutex::new(Table {
                brought: [vec![None; size], vec![None; size]],
                present: [0; 2],
            }),
            arrival: Condvar::new(),
        }
    }

    /// No rank panics with the table locked.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Threads {
    /// The only rank, on the thread that calls.
    pub fn alone() -> Self {
        Self {
            rank: 0,
            turn: Cell::new(0),
            group: Arc::new(Group::new(1)),
            world_rank: 0,
            lost: Arc::new(AtomicUsize::new(NOBODY)),
        }
    }

    /// Brings `mine` and returns what all ranks have brought.
    fn exchange<T: Send + Sync + 'static>(&self, mine: T) -> Result<Vec<Arc<T>>> {
        let group = &*self.group;
        let turn = self.turn.get();
        self.turn.set(turn + 1);
        let side = (turn % 2) as usize;
        let mut table = group.table();
        table.brought[side][self.rank] = Some(Arc::new(mine));
        table.present[side] += 1;
        if table.present[side] == group.size {
            table.present[side] = 0;
            group.complete.store(turn + 1, Ordering::Release);
            group.arrival.notify_all();
        } else {
            drop(table);
            table = self.wait(turn)?;
        }
        let taken = table.brought[side].iter().map(|brought| {
            let brought = brought.clone().expect("everybody has come");
            // Ranks that make different calls at one time: an error of the program, which nothing can mend.
            brought.downcast().expect("all ranks make the same call")
        });
        Ok(taken.collect())
    }

    /// Waits until everybody has come to exchange number `turn`.
    fn wait(&self, turn: u64) -> Result<MutexGuard<'_, Table>> {
        let group = &*self.group;
        let is_complete = || group.complete.load(Ordering::Acquire) > turn;
        let begin = Instant::now();
        while group.spins && !is_complete() && begin.elapsed() < SPIN {
            std::hint::spin_loop();
        }
        let mut table = group.table();
        while !is_complete() {
            let lost = self.lost.load(Ordering::Relaxed);
            if lost != NOBODY {
                return Err(CommunicationError::RankLost(lost));
            }
            let waited = group.arrival.wait_timeout(table, WATCH);
            table = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(table)
    }
}

impl Communicator for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.size
    }

    fn split(&self, colour: usize, key: usize) -> Result<Self> {
        let all = self.exchange((colour, key))?;
        let mut mine: Vec<usize> = (0..all.len()).filter(|&r| all[r].0 == colour).collect();
        mine.sort_by_key(|&r| all[r].1);
        // The first rank of each group makes the place where it meets.
        let made = (mine[0] == self.rank).then(|| Arc::new(Group::new(mine.len())));
        let groups = self.exchange(made)?;
        let place = mine.iter().position(|&r| r == self.rank);
        Ok(Self {
            rank: place.expect("every rank has its own colour"),
            turn: Cell::new(0),
            group: (*groups[mine[0]]).clone().expect("its first rank made it"),
            world_rank: self.world_rank,
            lost: self.lost.clone(),
        })
    }

    fn barrier(&self) -> Result<()> {
        self.exchange(()).map(drop)
    }

    fn broadcast<T: Datum>(&self, root: usize, data: &mut [T]) -> Result<()> {
        let mine = if self.rank == root {
            data.to_vec()
        } else {
            Vec::new()
        };
        data.copy_from_slice(&self.exchange(mine)?[root]);
        Ok(())
    }

    fn gather_v<T: Datum>(
        &self,
        root: usize,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        self.all_gather_v(send, counts, receive)?;
        if self.rank != root {
            receive.clear();
        }
        Ok(())
    }

    fn all_gather<T: Datum>(&self, send: &[T], receive: &mut Vec<T>) -> Result<()> {
        receive.clear();
        for part in self.exchange(send.to_vec())? {
            assert_eq!(part.len(), send.len(), "equally much from each rank");
            receive.extend_from_slice(&part);
        }
        Ok(())
    }

    fn all_gather_v<T: Datum>(
        &self,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        receive.clear();
        for (part, &count) in self.exchange(send.to_vec())?.iter().zip(counts) {
            assert_eq!(part.len(), count, "as much from each rank as was announced");
            receive.extend_from_slice(part);
        }
        Ok(())
    }

    fn all_to_all_v<T: Datum>(
        &self,
        send: &[T],
        send_counts: &[usize],
        receive: &mut Vec<T>,
        receive_counts: &[usize],
    ) -> Result<()> {
        let parts: Vec<Vec<T>> = displacements(send_counts)
            .zip(send_counts)
            .map(|(begin, &count)| send[begin..begin + count].to_vec())
            .collect();
        receive.clear();
        for (parts, &count) in self.exchange(parts)?.iter().zip(receive_counts) {
            let part = &parts[self.rank];
            assert_eq!(part.len(), count, "as much from each rank as was announced");
            receive.extend_from_slice(part);
        }
        Ok(())
    }

    fn all_reduce(&self, operation: Operation, data: &mut [f64]) -> Result<()> {
        let all = self.exchange(data.to_vec())?;
        for (k, value) in data.iter_mut().enumerate() {
            let values = all.iter().map(|part| part[k]);
            *value = values
                .reduce(|a, b| operation.join(a, b))
                .unwrap_or_default();
        }
        Ok(())
    }

    fn reduce_scatter(&self, send: &[f64], counts: &[usize], receive: &mut Vec<f64>) -> Result<()> {
        let begin: usize = counts[..self.rank].iter().sum();
        receive.clear();
        receive.resize(counts[self.rank], 0.0);
        for part in self.exchange(send.to_vec())? {
            for (sum, value) in receive.iter_mut().zip(&part[begin..]) {
                *sum += value;
            }
        }
        Ok(())
    }

    fn shift<T: Datum>(
        &self,
        by: usize,
        send: &[T],
        count: usize,
        receive: &mut Vec<T>,
    ) -> Result<()> {
        let size = self.size();
        let source = (self.rank + size - by % size) % size;
        let part = &self.exchange(send.to_vec())?[source];
        assert_eq!(part.len(), count, "as much as was announced");
        receive.clear();
        receive.extend_from_slice(part);
        Ok(())
    }
}
