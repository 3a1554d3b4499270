//! Ranks that compute together: the operations of a communicator by their MPI names, over MPI or
//! among the threads of one process.
//!
//! * [`Communicator`]: the operations that a parallel algorithm uses
//! * [`threads`]: the ranks are threads of this process; needs nothing else
//! * `mpi`: the ranks are processes under an MPI launcher (feature `mpi`)
//! * [`counted`]: counts messages, bytes and time around either
//! * [`launch`]: how a program finds its ranks, and reads a file on all of them
//! * [`cores`]: how many threads a rank uses
//! * [`sample_sort`]: sorts elements over the ranks; each gets the part of the sorted whole that the caller wants there
//! * [`agreement`]: whether all ranks compute the same
//! * [`checkpoint`]: states that ranks write together
//! * [`over_ranks`]: least, mean and greatest of a number over the ranks
//! * [`network`]: how long a collective operation takes on a network
//! * [`check`]: checks every operation of a communicator against its definition; for the tests of all implementations
//!
//! All ranks of a communicator make the same calls in the same order, as MPI demands.

pub mod agreement;
pub mod check;
pub mod checkpoint;
pub mod cores;
pub mod counted;
pub mod launch;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod network;
pub mod over_ranks;
pub mod sample_sort;
pub mod threads;

pub use counted::Counted;
pub use over_ranks::OverRanks;

/// What a message may consist of: plain numbers.
#[cfg(not(feature = "mpi"))]
pub trait Datum: Copy + Default + Send + Sync + 'static {}
/// What a message may consist of: plain numbers.
#[cfg(feature = "mpi")]
pub trait Datum: Copy + Default + Send + Sync + 'static + ::mpi::traits::Equivalence {}

impl Datum for f64 {}
impl Datum for u64 {}
impl Datum for i64 {}
impl Datum for i32 {}
impl Datum for u8 {}

/// Why ranks cannot go on together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommunicationError {
    /// This rank ended, with an error or a panic of its own, while others waited for it.
    RankLost(usize),
    /// A message of so many elements: MPI counts in 32-bit integers.
    TooLong(usize),
}

impl std::fmt::Display for CommunicationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RankLost(rank) => write!(f, "rank {rank} ended before the others"),
            Self::TooLong(n) => write!(f, "a message of {n} elements is longer than MPI can count"),
        }
    }
}

impl std::error::Error for CommunicationError {}

/// Result of a communication.
pub type Result<T> = std::result::Result<T, CommunicationError>;

/// How [`Communicator::all_reduce`] joins the ranks' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Their sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Operation {
    fn join(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Sum => a + b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

/// A group of ranks. Counts are in elements; `receive` is resized to what arrives, and keeps its
/// memory from call to call. Each operation fails with [`CommunicationError`] only.
pub trait Communicator: Sized {
    /// Number of this rank in the group, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks in the group.
    fn size(&self) -> usize;

    /// `MPI_Comm_split`: the group of the ranks with the same `colour`, in the order of their `key`s. Ranks with equal
    /// keys keep their present order.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn split(&self, colour: usize, key: usize) -> Result<Self>;

    /// `MPI_Barrier`: returns when all ranks have called it.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn barrier(&self) -> Result<()>;

    /// `MPI_Bcast`: everybody's `data`, of one length, becomes that of `root`.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn broadcast<T: Datum>(&self, root: usize, data: &mut [T]) -> Result<()>;

    /// `MPI_Gatherv`: `root` receives what all ranks send, in the order of the ranks; the others receive nothing. Rank
    /// r sends `counts[r]` elements.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn gather_v<T: Datum>(
        &self,
        root: usize,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()>;

    /// `MPI_Allgather`: on every rank, what each of them sends, by rank, equally much from each.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn all_gather<T: Datum>(&self, send: &[T], receive: &mut Vec<T>) -> Result<()>;

    /// `MPI_Allgatherv`: every rank receives what all ranks send, in the order of the ranks. Rank r sends `counts[r]`
    /// elements.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn all_gather_v<T: Datum>(
        &self,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()>;

    /// `MPI_Alltoallv`: `send` holds `send_counts[r]` elements for each rank r, in the order of the ranks. `receive`
    /// gets the `receive_counts[r]` elements that each rank r sends to this one, in the same order.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn all_to_all_v<T: Datum>(
        &self,
        send: &[T],
        send_counts: &[usize],
        receive: &mut Vec<T>,
        receive_counts: &[usize],
    ) -> Result<()>;

    /// `MPI_Allreduce`: joins the `data` of all ranks, which have the same length, element by element. The order in
    /// which MPI adds is MPI's own.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn all_reduce(&self, operation: Operation, data: &mut [f64]) -> Result<()>;

    /// `MPI_Reduce_scatter`: adds everybody's `send` element by element and divides the sum among the ranks; rank r
    /// gets `counts[r]` elements. The order in which MPI adds is MPI's own.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn reduce_scatter(&self, send: &[f64], counts: &[usize], receive: &mut Vec<f64>) -> Result<()>;

    /// `MPI_Sendrecv` around the ring: sends to the rank `by` places on and receives `count`
    /// elements from the rank `by` places back. All ranks call it together.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn shift<T: Datum>(
        &self,
        by: usize,
        send: &[T],
        count: usize,
        receive: &mut Vec<T>,
    ) -> Result<()>;
}

/// Where each rank's part begins in what was gathered: the sums of the counts before it.
pub fn displacements(counts: &[usize]) -> impl Iterator<Item = usize> {
    counts.iter().scan(0, |sum, count| {
        let begin = *sum;
        *sum += count;
        Some(begin)
    })
}

#[cfg(test)]
mod tests;
