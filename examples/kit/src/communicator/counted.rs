//! A communicator that wraps another one and counts the messages, bytes and time of each operation.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use kirin_report::machine::processor_seconds;

use super::{Communicator, Datum, Operation, Result};

/// The operations that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// [`Communicator::barrier`]
    Barrier,
    /// [`Communicator::broadcast`]
    Broadcast,
    /// [`Communicator::gather_v`]
    GatherV,
    /// [`Communicator::all_gather`]
    AllGather,
    /// [`Communicator::all_gather_v`]
    AllGatherV,
    /// [`Communicator::all_to_all_v`]
    AllToAllV,
    /// [`Communicator::all_reduce`]
    AllReduce,
    /// [`Communicator::reduce_scatter`]
    ReduceScatter,
    /// [`Communicator::shift`]
    Shift,
}

impl Collective {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Barrier,
        Self::Broadcast,
        Self::GatherV,
        Self::AllGather,
        Self::AllGatherV,
        Self::AllToAllV,
        Self::AllReduce,
        Self::ReduceScatter,
        Self::Shift,
    ];

    /// Its name in MPI.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "MPI_Barrier",
            Self::Broadcast => "MPI_Bcast",
            Self::GatherV => "MPI_Gatherv",
            Self::AllGather => "MPI_Allgather",
            Self::AllGatherV => "MPI_Allgatherv",
            Self::AllToAllV => "MPI_Alltoallv",
            Self::AllReduce => "MPI_Allreduce",
            Self::ReduceScatter => "MPI_Reduce_scatter",
            Self::Shift => "MPI_Sendrecv",
        }
    }
}

/// What one rank has received by one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Calls.
    pub calls: u64,
    /// Parts that came from other ranks.
    pub messages: u64,
    /// Bytes that came from other ranks, as the operation defines them: what an implementation
    /// forwards on the way is not counted.
    pub bytes: u64,
    /// Wall time inside the calls: also what was spent waiting for the others to come.
    pub seconds: f64,
    /// Processor time of the thread inside the calls; 0 unless [`Counted::with_processor_time`] counts.
    pub processor_seconds: f64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
        self.processor_seconds += other.processor_seconds;
    }
}

/// The counts of all operations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally([Count; Collective::ALL.len()]);

impl Tally {
    /// The count of one operation.
    pub fn of(&self, collective: Collective) -> Count {
        self.0[collective as usize]
    }

    /// All operations together.
    pub fn total(&self) -> Count {
        let mut total = Count::default();
        self.0.iter().for_each(|count| total.add(count));
        total
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.0.iter_mut().zip(&other.0) {
            sum.add(count);
        }
    }

    /// What has come since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = *self;
        for (now, before) in difference.0.iter_mut().zip(&earlier.0) {
            now.calls -= before.calls;
            now.messages -= before.messages;
            now.bytes -= before.bytes;
            now.seconds -= before.seconds;
            now.processor_seconds -= before.processor_seconds;
        }
        difference
    }

    /// The operations that were called, for programs.
    pub fn json(&self) -> Value {
        let called = Collective::ALL.iter().filter_map(|&collective| {
            let count = self.of(collective);
            (count.calls > 0).then(|| {
                let value = json!({
                    "calls": count.calls,
                    "messages": count.messages,
                    "bytes": count.bytes,
                    "seconds": count.seconds,
                });
                (collective.name().to_owned(), value)
            })
        });
        called.collect::<Map<_, _>>().into()
    }
}

/// A communicator that counts. What is split off counts into the same tally.
pub struct Counted<C> {
    inner: C,
    tally: Rc<RefCell<Tally>>,
    has_processor_time: bool,
}

impl<C: Communicator> Counted<C> {
    /// Counts around `inner`, from nothing.
    pub fn new(inner: C) -> Self {
        Self {
            inner,
            tally: Rc::default(),
            has_processor_time: false,
        }
    }

    /// Counts the thread's processor time, too: two more calls of the system in each operation.
    pub fn with_processor_time(inner: C) -> Self {
        Self {
            has_processor_time: true,
            ..Self::new(inner)
        }
    }

    /// The counts so far.
    pub fn tally(&self) -> Tally {
        *self.tally.borrow()
    }

    /// The communicator inside.
    pub fn inner(&self) -> &C {
        &self.inner
    }

    /// Counts a call that brings `elements` from so many other ranks.
    fn count<T, R>(
        &self,
        collective: Collective,
        (messages, elements): (usize, usize),
        call: impl FnOnce(&C) -> Result<R>,
    ) -> Result<R> {
        let processor = || match self.has_processor_time {
            true => processor_seconds(),
            false => 0.0,
        };
        let (began, computed) = (Instant::now(), processor());
        let result = call(&self.inner)?;
        let count = &mut self.tally.borrow_mut().0[collective as usize];
        count.calls += 1;
        count.messages += messages as u64;
        count.bytes += (elements * size_of::<T>()) as u64;
        count.seconds += began.elapsed().as_secs_f64();
        count.processor_seconds += processor() - computed;
        Ok(result)
    }

    /// Messages and elements from the others, where rank r sends `counts[r]`.
    fn others_parts(&self, counts: &[usize]) -> (usize, usize) {
        let me = self.rank();
        let others = || (0..counts.len()).filter(|&r| r != me && counts[r] > 0);
        (others().count(), others().map(|r| counts[r]).sum())
    }

    fn others(&self) -> usize {
        self.size() - 1
    }
}

impl<C: Communicator> Communicator for Counted<C> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn split(&self, colour: usize, key: usize) -> Result<Self> {
        Ok(Self {
            inner: self.inner.split(colour, key)?,
            tally: self.tally.clone(),
            has_processor_time: self.has_processor_time,
        })
    }

    fn barrier(&self) -> Result<()> {
        let amount = (self.others(), 0);
        self.count::<u8, _>(Collective::Barrier, amount, |c| c.barrier())
    }

    fn broadcast<T: Datum>(&self, root: usize, data: &mut [T]) -> Result<()> {
        let amount = match self.rank() == root {
            true => (0, 0),
            false => (1, data.len()),
        };
        self.count::<T, _>(Collective::Broadcast, amount, |c| c.broadcast(root, data))
    }

    fn gather_v<T: Datum>(
        &self,
        root: usize,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        let amount = match self.rank() == root {
            true => self.others_parts(counts),
            false => (0, 0),
        };
        self.count::<T, _>(Collective::GatherV, amount, |c| {
            c.gather_v(root, send, counts, receive)
        })
    }

    fn all_gather<T: Datum>(&self, send: &[T], receive: &mut Vec<T>) -> Result<()> {
        let amount = (self.others(), self.others() * send.len());
        self.count::<T, _>(Collective::AllGather, amount, |c| {
            c.all_gather(send, receive)
        })
    }

    fn all_gather_v<T: Datum>(
        &self,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        let amount = self.others_parts(counts);
        self.count::<T, _>(Collective::AllGatherV, amount, |c| {
            c.all_gather_v(send, counts, receive)
        })
    }

    fn all_to_all_v<T: Datum>(
        &self,
        send: &[T],
        send_counts: &[usize],
        receive: &mut Vec<T>,
        receive_counts: &[usize],
    ) -> Result<()> {
        let amount = self.others_parts(receive_counts);
        self.count::<T, _>(Collective::AllToAllV, amount, |c| {
            c.all_to_all_v(send, send_counts, receive, receive_counts)
        })
    }

    fn all_reduce(&self, operation: Operation, data: &mut [f64]) -> Result<()> {
        let amount = (self.others(), self.others() * data.len());
        self.count::<f64, _>(Collective::AllReduce, amount, |c| {
            c.all_reduce(operation, data)
        })
    }

    fn reduce_scatter(&self, send: &[f64], counts: &[usize], receive: &mut Vec<f64>) -> Result<()> {
        let amount = (self.others(), self.others() * counts[self.rank()]);
        self.count::<f64, _>(Collective::ReduceScatter, amount, |c| {
            c.reduce_scatter(send, counts, receive)
        })
    }

    fn shift<T: Datum>(
        &self,
        by: usize,
        send: &[T],
        count: usize,
        receive: &mut Vec<T>,
    ) -> Result<()> {
        let amount = match by % self.size() {
            0 => (0, 0),
            _ => (usize::from(count > 0), count),
        };
        self.count::<T, _>(Collective::Shift, amount, |c| {
            c.shift(by, send, count, receive)
        })
    }
}
