//! The improved two-dimensional algorithm: section 3.3 of Nitadori, Makino and Abe (2006), step by
//! step.
//!
//! The N particles are divided over the b columns of an a x b grid of ranks; all ranks of a column hold the same
//! particles. A block step calls the functions below in order. Two grids are the paper's one-dimensional schemes: 1 x
//! p divides the j-particles only, p x 1 the active particles only.

use std::ops::Range;

use hermite::error::Error as Of;
use hermite::particle;
use hermite::settings::Settings;
use kirin_kit::communicator::{Communicator, displacements};

use crate::column::Column;
use crate::error::Error;
use crate::j_particles::{ACTIVE, FORCE};
use crate::machine::{Joining, Node};

/// What step 2 tells every rank of the active lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreed {
    /// Time at which the block ends; infinite where there is no particle at all.
    pub t: f64,
    /// Length of each column's active list, 0 where it is inactive.
    pub lengths: Vec<usize>,
    /// For each column the particles that it has moved in the last block on each of its shared pages; empty if no column
    /// shares any.
    pub moved: Vec<[usize; 2]>,
}

/// The particles of this rank's column whose force is wanted, and how each row of the grid shares in them.
pub struct Shares {
    /// Of each column's list, how many this rank's row takes.
    pub along_row: Vec<usize>,
    /// Of this column's list, how many each row takes.
    pub along_column: Vec<usize>,
    /// This rank's part of its column's list.
    pub mine: Range<usize>,
}

/// Memory that the steps keep from block to block.
#[derive(Default)]
pub struct Scratch {
    send: Vec<f64>,
    receive: Vec<f64>,
    counts: (Vec<usize>, Vec<usize>),
}

/// Step 1: the list of active particles of this rank's subset, those whose step ends first. All ranks
/// of a column make the same list.
pub fn active_list(column: &mut Column, time: f64) {
    // A list that was inactive in the last block is still the one that is due next.
    if column.active.is_empty() {
        column.due = column.schedule.next_time(time).unwrap_or(f64::INFINITY);
        column.schedule.take_due(column.due, &mut column.active);
    }
}

/// What a column tells the others in step 2.
pub enum Told<'a> {
    /// When its list is due, its length, and how many particles it has moved on each of its shared pages.
    List(f64, usize, [usize; 2]),
    /// Why it cannot take its particles to the end of the block.
    Failed(&'a Of),
}

/// A failed column tells the label of a particle and this instead of a length: a negative number. Its first number is then
/// the limit of the step, 0 for a force that is not finite, or -1 for a star beyond the grid of a potential.
const FAILED: f64 = -((1u64 << 33) as f64);

impl Told<'_> {
    /// The numbers of the message. Errors of the whole column instead of a particle are not told.
    fn numbers(&self) -> Result<[f64; 4], Error> {
        match *self {
            Self::List(due, length, [first, last]) => {
                Ok([due, length as f64, first as f64, last as f64])
            }
            Self::Failed(Of::NotFinite { index, .. }) => {
                Ok([0.0, FAILED + f64::from(*index), 0.0, 0.0])
            }
            Self::Failed(Of::StepTooSmall { index, limit, .. }) => {
                Ok([*limit, FAILED + f64::from(*index), 0.0, 0.0])
            }
            Self::Failed(Of::BeyondGrid { index, .. }) => {
                Ok([-1.0, FAILED + f64::from(*index), 0.0, 0.0])
            }
            Self::Failed(other) => Err(Error::Integration(other.clone())),
        }
    }

    /// The error that the numbers of a failed column at `t` stand for. It does not say where a grid ends.
    fn failure(numbers: &[f64], t: f64) -> Option<Of> {
        let [limit, index] = [numbers[0], numbers[1] - FAILED];
        match (numbers[1] < 0.0, index as i32) {
            (false, _) => None,
            (true, index) if limit == 0.0 => Some(Of::NotFinite { index, t }),
            (true, index) if limit < 0.0 => Some(Of::BeyondGrid {
                index,
                t,
                edge: String::new(),
            }),
            (true, index) => Some(Of::StepTooSmall { index, t, limit }),
        }
    }
}

/// Step 2: lengths and minimum times along the row (`MPI_Allgather`). Lists that are due later than another column's are
/// inactive. If columns share pages, they also tell how many particles they have moved on each of these. If a column
/// failed in the block that ended at `now`, all ranks return its error.
///
/// # Errors
///
/// A rank is lost; [`Error::Agreed`] where a column failed.
pub fn lengths_and_time<C: Communicator>(
    machine: &Node<'_, C>,
    told: &Told<'_>,
    now: f64,
    scratch: &mut Scratch,
) -> Result<Agreed, Error> {
    let count = if machine.shared.is_empty() { 2 } else { 4 };
    machine
        .row
        .all_gather(&told.numbers()?[..count], &mut scratch.receive)?;
    let columns = || scratch.receive.chunks_exact(count);
    if let Some(error) = columns().find_map(|c| Told::failure(c, now)) {
        return Err(Error::Agreed(error));
    }
    let t = columns().map(|c| c[0]).fold(f64::INFINITY, f64::min);
    let length = |c: &[f64]| if c[0] == t { c[1] as usize } else { 0 };
    Ok(Agreed {
        t,
        lengths: columns().map(length).collect(),
        moved: columns()
            .filter_map(|c| Some([*c.get(2)? as usize, *c.get(3)? as usize]))
            .collect(),
    })
}

/// Step 3: the list is divided over the rows of the grid, and this rank takes its row's part.
pub fn split_list<C>(machine: &Node<'_, C>, lengths: &[usize]) -> Shares {
    let (row, column) = machine.place;
    let grid = machine.plan.grid;
    let along_column: Vec<usize> = (0..grid.rows)
        .map(|row| grid.shares(lengths, row)[column])
        .collect();
    let begin: usize = along_column[..row].iter().sum();
    Shares {
        along_row: grid.shares(lengths, row),
        mine: begin..begin + along_column[row],
        along_column,
    }
}

/// Step 4: the active particles of all ranks of the row, predicted to `t` (`MPI_Allgatherv`).
///
/// # Errors
///
/// A rank is lost.
pub fn share_along_row<C: Communicator>(
    machine: &Node<'_, C>,
    column: &Column,
    (t, list): (f64, &[usize]),
    shares: &Shares,
    scratch: &mut Scratch,
    combined: &mut Vec<f64>,
) -> Result<(), Error> {
    scratch.send.clear();
    for &i in &list[shares.mine.clone()] {
        scratch.send.extend(column.predicted(i, t));
    }
    multiply(&shares.along_row, ACTIVE, &mut scratch.counts.0);
    let counts = &scratch.counts.0;
    machine.row.all_gather_v(&scratch.send, counts, combined)?;
    Ok(())
}

/// Step 5: the forces of this rank's j-particles on the combined list.
///
/// # Errors
///
/// The library fails.
pub fn partial_forces<C>(
    machine: &mut Node<'_, C>,
    t: f64,
    combined: &[f64],
    partial: &mut Vec<f64>,
) -> Result<(), Error> {
    Ok(machine.sources.partial_forces(t, combined, partial)?)
}

/// Step 6: partial forces are summed over the row. Each rank gets the forces on the particles it brought. With
/// `Joining::Mpi`, `MPI_Reduce_scatter` does this, as in the paper. With `Joining::Tree`, `MPI_Alltoallv` brings the
/// partial sums to their rank, which joins them in the order of the library's tree.
///
/// # Errors
///
/// A rank is lost.
pub fn sum_over_row<C: Communicator>(
    machine: &Node<'_, C>,
    shares: &Shares,
    partial: &[f64],
    scratch: &mut Scratch,
    forces: &mut Vec<f64>,
) -> Result<(), Error> {
    let Scratch {
        send,
        receive,
        counts,
    } = scratch;
    let total: usize = shares.along_row.iter().sum();
    if machine.plan.sums == Joining::Mpi {
        machine.own_sums(partial, total, send);
        multiply(&shares.along_row, FORCE, &mut counts.0);
        machine.row.reduce_scatter(send, &counts.0, forces)?;
        return Ok(());
    }
    // The particles that each rank of the row brought, as places in the combined list.
    let brought: Vec<Range<usize>> = displacements(&shares.along_row)
        .zip(&shares.along_row)
        .map(|(begin, count)| begin..begin + count)
        .collect();
    send.clear();
    counts.0.clear();
    for theirs in &brought {
        let before = send.len();
        let mut place = 0;
        for piece in machine.sources.pieces() {
            let (targets, all) = (piece.targets_among(total, theirs), piece.targets(total));
            let at = (place + targets.start - all.start) * FORCE;
            send.extend_from_slice(&partial[at..at + targets.len() * FORCE]);
            place += all.len();
        }
        counts.0.push(send.len() - before);
    }
    let mine = &brought[machine.place.1];
    counts.1.clear();
    let columns = 0..machine.plan.grid.columns;
    counts
        .1
        .extend(columns.map(|c| machine.parts(c, total, mine) * FORCE));
    machine
        .row
        .all_to_all_v(send, &counts.0, receive, &counts.1)?;
    let by_column: Vec<&[f64]> = displacements(&counts.1)
        .zip(&counts.1)
        .map(|(begin, count)| &receive[begin..begin + count])
        .collect();
    machine.join(&by_column, total, mine, forces);
    Ok(())
}

/// Step 7: the forces on all particles of the column's list (`MPI_Allgatherv` along the column).
///
/// # Errors
///
/// A rank is lost.
pub fn share_along_column<C: Communicator>(
    machine: &Node<'_, C>,
    shares: &Shares,
    mine: &[f64],
    scratch: &mut Scratch,
    forces: &mut Vec<f64>,
) -> Result<(), Error> {
    multiply(&shares.along_column, FORCE, &mut scratch.counts.0);
    let counts = &scratch.counts.0;
    machine.column.all_gather_v(mine, counts, forces)?;
    Ok(())
}

/// Step 8: every rank of the column integrates the orbits of its active particles to `t` and writes them
/// into its j-particle memory.
///
/// # Errors
///
/// A force is not finite, or a step becomes too small: then everybody is where they were before the block.
pub fn integrate<C>(
    machine: &Node<'_, C>,
    column: &mut Column,
    settings: &Settings,
    t: f64,
    forces: &[f64],
) -> Result<(), Of> {
    let mut ends = std::mem::take(&mut column.ends);
    ends.clear();
    column.moved.clear();
    for (&i, force) in column.active.iter().zip(forces.chunks_exact(FORCE)) {
        let (mut body, mut state) = (column.bodies[i], column.states[i]);
        let (acc, jerk) = halves(force);
        particle::advance(settings, t, &mut body, &mut state, acc, jerk)?;
        ends.push((body, state));
    }
    for (&i, end) in column.active.iter().zip(&mut ends) {
        std::mem::swap(&mut column.bodies[i], &mut end.0);
        std::mem::swap(&mut column.states[i], &mut end.1);
        let (body, state) = (&column.bodies[i], &column.states[i]);
        machine
            .sources
            .write(column.addresses.start + i, body, state);
        column.schedule.insert(i, state.dt);
    }
    std::mem::swap(&mut column.active, &mut column.moved);
    column.active.clear();
    column.ends = ends;
    Ok(())
}

/// Acceleration and jerk of a force.
pub fn halves(force: &[f64]) -> ([f64; 3], [f64; 3]) {
    (
        [force[0], force[1], force[2]],
        [force[3], force[4], force[5]],
    )
}

fn multiply(counts: &[usize], by: usize, product: &mut Vec<usize>) {
    product.clear();
    product.extend(counts.iter().map(|count| count * by));
}
