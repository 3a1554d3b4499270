//! Ranks as processes under an MPI launcher, through the crate rsmpi.
//!
//! An error inside MPI ends all ranks, which is MPI's default.

use std::time::{Duration, Instant};

use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AsRaw, Communicator as _, CommunicatorCollectives, Equivalence, Root};

use super::{CommunicationError, Communicator, Datum, Operation, Result, displacements};

/// One of the ranks.
pub struct Mpi(SimpleCommunicator);

impl Mpi {
    /// All ranks.
    pub fn world(universe: &mpi::environment::Universe) -> Self {
        Self(universe.world())
    }

    /// All ranks, whose calls do not meet those of [`Mpi::world`]. All ranks call it.
    pub fn apart(universe: &mpi::environment::Universe) -> Self {
        Self(universe.world().duplicate())
    }

    /// Whether all ranks have called this function within this time. If not, the only thing left to do is
    /// [`Mpi::abort`].
    pub fn all_arrive(&self, within: Duration) -> bool {
        let began = Instant::now();
        let mut request = self.0.immediate_barrier();
        loop {
            request = match request.test() {
                Ok(_) => return true,
                Err(request) => request,
            };
            if began.elapsed() > within {
                // MPI owns it as long as the process lives.
                std::mem::forget(request);
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// `MPI_Abort`: ends all ranks, as far as the launcher can reach them.
    pub fn abort(&self, status: i32) -> ! {
        self.0.abort(status)
    }
}

/// A count as MPI has it.
fn count(n: usize) -> Result<i32> {
    i32::try_from(n).map_err(|_| CommunicationError::TooLong(n))
}

fn rank(n: usize) -> i32 {
    i32::try_from(n).expect("MPI counts its ranks in 32-bit integers")
}

/// Counts and displacements as MPI has them, and the sum of the counts.
fn layout(counts: &[usize]) -> Result<(Vec<i32>, Vec<i32>, usize)> {
    let total = counts.iter().sum();
    count(total)?;
    let to_mpi = |n: usize| n as i32; // all below the total
    Ok((
        counts.iter().map(|&n| to_mpi(n)).collect(),
        displacements(counts).map(to_mpi).collect(),
        total,
    ))
}

impl Communicator for Mpi {
    fn rank(&self) -> usize {
        self.0.rank() as usize
    }

    fn size(&self) -> usize {
        self.0.size() as usize
    }

    fn split(&self, colour: usize, key: usize) -> Result<Self> {
        let colour = mpi::topology::Color::with_value(rank(colour));
        let group = self.0.split_by_color_with_key(colour, rank(key));
        Ok(Self(group.expect("a rank with a colour has a group")))
    }

    fn barrier(&self) -> Result<()> {
        self.0.barrier();
        Ok(())
    }

    fn broadcast<T: Datum>(&self, root: usize, data: &mut [T]) -> Result<()> {
        // MPI counts in 32 bits. (An empty slice of bytes lies at address 1, which is Open MPI's MPI_IN_PLACE; it has no parts.)
        for part in data.chunks_mut(1 << 30) {
            self.0.process_at_rank(rank(root)).broadcast_into(part);
        }
        Ok(())
    }

    fn gather_v<T: Datum>(
        &self,
        root: usize,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        let (counts, begins, total) = layout(counts)?;
        let root_process = self.0.process_at_rank(rank(root));
        receive.clear();
        if self.rank() == root {
            receive.resize(total, T::default());
            let mut parts = PartitionMut::new(&mut receive[..], counts, begins);
            root_process.gather_varcount_into_root(send, &mut parts);
        } else {
            root_process.gather_varcount_into(send);
        }
        Ok(())
    }

    fn all_gather<T: Datum>(&self, send: &[T], receive: &mut Vec<T>) -> Result<()> {
        let total = send.len() * self.size();
        count(total)?;
        receive.resize(total, T::default());
        self.0.all_gather_into(send, &mut receive[..]);
        Ok(())
    }

    fn all_gather_v<T: Datum>(
        &self,
        send: &[T],
        counts: &[usize],
        receive: &mut Vec<T>,
    ) -> Result<()> {
        let (counts, begins, total) = layout(counts)?;
        receive.resize(total, T::default());
        let mut parts = PartitionMut::new(&mut receive[..], counts, begins);
        self.0.all_gather_varcount_into(send, &mut parts);
        Ok(())
    }

    fn all_to_all_v<T: Datum>(
        &self,
        send: &[T],
        send_counts: &[usize],
        receive: &mut Vec<T>,
        receive_counts: &[usize],
    ) -> Result<()> {
        let (send_counts, send_begins, _) = layout(send_counts)?;
        let (counts, begins, total) = layout(receive_counts)?;
        receive.resize(total, T::default());
        let sent = Partition::new(send, send_counts, send_begins);
        let mut parts = PartitionMut::new(&mut receive[..], counts, begins);
        self.0.all_to_all_varcount_into(&sent, &mut parts);
        Ok(())
    }

    fn all_reduce(&self, operation: Operation, data: &mut [f64]) -> Result<()> {
        count(data.len())?;
        let operation = match operation {
            Operation::Sum => SystemOperation::sum(),
            Operation::Min => SystemOperation::min(),
            Operation::Max => SystemOperation::max(),
        };
        let mine = data.to_vec();
        self.0.all_reduce_into(&mine[..], data, operation);
        Ok(())
    }

    fn reduce_scatter(&self, send: &[f64], counts: &[usize], receive: &mut Vec<f64>) -> Result<()> {
        let (mpi_counts, _, total) = layout(counts)?;
        assert_eq!(send.len(), total, "each rank's part of the sum");
        receive.resize(counts[self.rank()], 0.0);
        // SAFETY: `send` holds the sum of the counts, `receive` this rank's count, `mpi_counts` one
        // number for each rank, all alive during the call.
        unsafe {
            mpi::ffi::MPI_Reduce_scatter(
                send.as_ptr().cast(),
                receive.as_mut_ptr().cast(),
                mpi_counts.as_ptr(),
                f64::equivalent_datatype().as_raw(),
                SystemOperation::sum().as_raw(),
                self.0.as_raw(),
            );
        }
        Ok(())
    }

    fn shift<T: Datum>(
        &self,
        by: usize,
        send: &[T],
        length: usize,
        receive: &mut Vec<T>,
    ) -> Result<()> {
        count(send.len().max(length))?;
        receive.resize(length, T::default());
        let (me, size) = (self.rank(), self.size());
        let at = |r: usize| self.0.process_at_rank(rank(r % size));
        let (to, from) = (at(me + by), at(me + size - by % size));
        send_receive_into(send, &to, &mut receive[..], &from);
        Ok(())
    }
}
