//! Pages that several columns have in the library: each of them gets the particles that the others have moved.

use kirin_kit::communicator::Communicator;
use kirin_kit::snapshot::parts::{RECORD, of_record, record};

use super::Integrator;
use crate::columns::{PAGE, Piece};
use crate::error::Error;

/// Numbers that are sent of a particle: its address, body and state.
pub const COPY: usize = 1 + RECORD;

impl<C: Communicator> Integrator<'_, C> {
    fn page_of(&self, i: usize) -> usize {
        (self.column.addresses.start + i) / PAGE
    }

    /// The pages that a column shares.
    fn shared_pages(&self, column: usize) -> &[Piece] {
        let shared = self.machine.shared.get(column);
        shared.map_or(&[], Vec::as_slice)
    }

    /// The particles of `list`, by place in the column, that are on shared pages.
    pub(super) fn on_shared_pages(&self, list: &[usize]) -> Vec<usize> {
        let own = self.shared_pages(self.machine.place.1);
        let is_shared = |i: &&usize| own.iter().any(|piece| piece.page == self.page_of(**i));
        list.iter().filter(is_shared).copied().collect()
    }

    /// How many of these particles are on each shared page of the column.
    pub(super) fn on_each_page(&self, moved: &[usize]) -> [usize; 2] {
        let mut counts = [0; 2];
        let own = self.shared_pages(self.machine.place.1);
        for (count, piece) in counts.iter_mut().zip(own) {
            *count = moved
                .iter()
                .filter(|i| self.page_of(**i) == piece.page)
                .count();
        }
        counts
    }

    /// Sends the particles `moved`, by place in the column, to the columns that share their pages. `counts` has how many
    /// such particles each column has on each of its shared pages; empty if no column shares any.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub(super) fn share_copies(&self, moved: &[usize], counts: &[[usize; 2]]) -> Result<(), Error> {
        if counts.as_flattened().iter().all(|count| *count == 0) {
            return Ok(());
        }
        let columns = self.machine.plan.grid.columns;
        let (me, column) = (self.machine.place.1, &self.column);
        let has = |c: usize, page: usize| self.shared_pages(c).iter().any(|p| p.page == page);
        let (mut send, mut received) = (Vec::new(), Vec::new());
        for &by in &self.machine.sharers {
            let (to, from) = ((me + by) % columns, (me + columns - by) % columns);
            send.clear();
            for &i in moved.iter().filter(|i| has(to, self.page_of(**i))) {
                send.push((column.addresses.start + i) as f64);
                send.extend(record(&column.bodies[i], &column.states[i]));
            }
            let theirs = self.shared_pages(from).iter().zip(&counts[from]);
            let theirs = theirs.filter(|(piece, _)| has(me, piece.page));
            let count = COPY * theirs.map(|(_, count)| count).sum::<usize>();
            self.machine.row.shift(by, &send, count, &mut received)?;
            for [address, copy @ ..] in received.as_chunks::<COPY>().0 {
                let (body, state) = of_record(copy);
                self.machine.sources.write(*address as usize, &body, &state);
            }
        }
        Ok(())
    }

    /// Sends all particles on shared pages.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub(super) fn share_all_copies(&self) -> Result<(), Error> {
        let count = |pieces: &Vec<Piece>| {
            let of = |k: usize| pieces.get(k).map_or(0, |piece| piece.own.len());
            [of(0), of(1)]
        };
        let counts: Vec<[usize; 2]> = self.machine.shared.iter().map(count).collect();
        let all: Vec<usize> = (0..self.column.bodies.len()).collect();
        self.share_copies(&self.on_shared_pages(&all), &counts)
    }
}
