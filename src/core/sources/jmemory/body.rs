//! The particles of a page: as rows, or as columns once somebody has read columns.
//!
//! A GPU gets rows: one particle lies in three cache lines of one page of memory. The CPU's loops read columns: one number of
//! all particles side by side. In columns a particle lies in 18 cache lines, so the rows of the log are brought in one
//! column after the other.

use std::cell::UnsafeCell;
use std::hint;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use std::thread;

use crate::error::{Error, Result};
use crate::process::allocation;

use super::log::{AHEAD, OrderedRow};
use super::page::{Extent, range_of};
use super::row::{ClientParticle, MASS, ROW, Row, SHORT_ROW, V, X, who};
use super::{PAGE, PURPOSE, PageArray, prefetch};

/// Columns of a page: the words of a row but the last.
pub const COLUMNS: usize = ROW - 1;

/// How many rows are brought in at a time: these and the lines of one column that they change fit the first cache.
const TOGETHER: usize = 128;

/// How many rows are copied together where they are neighbours.
const RUN: usize = 8;

/// Numbers of a column in a line of the cache.
pub const LINE: usize = 8;

/// How many columns in advance the lines that will change are fetched into the cache.
const COLUMNS_AHEAD: usize = 3;

/// As columns, all writes brought in: nothing changes before the next write.
const READY: u8 = 0;
/// As rows, all writes brought in.
const ROWS: u8 = 1;
/// In either form, with writes to bring in.
const WAITING: u8 = 2;
/// A thread is at work on it.
const BUSY: u8 = 3;

/// The particles of a page as columns.
pub struct Columns {
    values: Box<[PageArray<f64>; COLUMNS]>,
    pub index: PageArray<i32>,
}

impl Columns {
    fn new() -> Result<Box<Self>> {
        let mut values = Vec::new();
        allocation::lengthen(&mut values, COLUMNS, PURPOSE, PageArray::default)?;
        let values = values.into_boxed_slice().try_into();
        let values = values.map_err(|_| Error::OutOfMemory { purpose: PURPOSE })?;
        let index = PageArray::default();
        allocation::boxed(Self { values, index }, PURPOSE)
    }

    /// The column of a word.
    #[inline(always)]
    pub fn column(&self, word: usize) -> &[f64; PAGE] {
        &self.values[word]
    }

    /// All columns, to be changed.
    #[inline(always)]
    pub fn all(&mut self) -> &mut [PageArray<f64>; COLUMNS] {
        &mut self.values
    }

    /// The row of a slot.
    fn row(&self, slot: usize, present: bool) -> Row {
        let mut row = Row::default();
        for (word, column) in row.0.iter_mut().zip(self.values.iter()) {
            *word = column[slot];
        }
        row.name(slot, self.index[slot], present);
        row
    }

    /// Copies the rows of a page.
    fn load(&mut self, rows: &[Row; PAGE]) {
        for (first, run) in (0..PAGE).step_by(RUN).zip(rows.chunks_exact(RUN)) {
            self.put_run(first, run, MASS + 1..COLUMNS);
        }
    }

    /// Writes masses, labels and these words of [`RUN`] rows to the slots from `first` on. Returns how many masses and how
    /// many labels have changed.
    #[inline(always)]
    fn put_run(&mut self, first: usize, run: &[Row], words: Range<usize>) -> [u64; 2] {
        let mut changes = [0; 2];
        let masses = &mut self.values[MASS][first..first + RUN];
        for ((mass, index), row) in masses.iter_mut().zip(&mut self.index[first..]).zip(run) {
            changes[0] += u64::from(mass.to_bits() != row.0[MASS].to_bits());
            changes[1] += u64::from(*index != row.index());
            (*mass, *index) = (row.0[MASS], row.index());
        }
        for word in words {
            let column = &mut self.values[word][first..first + RUN];
            for (to, row) in column.iter_mut().zip(run) {
                *to = row.0[word];
            }
        }
        changes
    }

    /// The same for rows anywhere in the log and in the page, at most [`TOGETHER`].
    fn put(&mut self, log: &[Row], some: &[OrderedRow], words: Range<usize>) -> [u64; 2] {
        let Self { values, index } = self;
        let mut changes = [0; 2];
        let mut rows = [&Row::NONE; TOGETHER];
        for (to, entry) in rows.iter_mut().zip(some) {
            let (row, slot) = (&log[entry.row()], entry.slot() % PAGE);
            *to = row;
            // What is as before is not stored: then its line of the cache need not be written back.
            let mass = &mut values[MASS][slot];
            if mass.to_bits() != row.0[MASS].to_bits() {
                *mass = row.0[MASS];
                changes[0] += 1;
            }
            if index[slot] != row.index() {
                index[slot] = row.index();
                changes[1] += 1;
            }
        }
        let first = values.as_ptr();
        for word in words.clone().take(COLUMNS_AHEAD) {
            some.iter()
                .for_each(|entry| fetch(first, word, entry.slot()));
        }
        for word in words.clone() {
            let ahead = (word + COLUMNS_AHEAD).min(words.end - 1);
            let column = &mut values[word];
            for (entry, row) in some.iter().zip(&rows) {
                let slot = entry.slot() % PAGE;
                fetch(first, ahead, slot);
                column[slot] = row.0[word];
            }
        }
        changes
    }
}

/// Fetches the line of a slot in a column into the cache. The columns lie side by side from `first` on.
#[inline(always)]
pub fn fetch(first: *const PageArray<f64>, word: usize, slot: usize) {
    let column = first.wrapping_add(word).cast::<f64>();
    prefetch::line(column.wrapping_add(slot));
}

/// Whether [`RUN`] entries are neighbours in the log and in the page, as where a client writes in the order of the addresses.
#[inline(always)]
fn is_run(entries: &[OrderedRow]) -> bool {
    (0..)
        .zip(entries)
        .all(|(k, &entry)| entries[0].is_before(k, entry))
}

/// What is stored of a page.
#[derive(Default)]
pub struct Particles {
    rows: Option<Box<[Row; PAGE]>>,
    /// Where there are columns, they hold.
    pub columns: Option<Box<Columns>>,
    /// Changes with every write that changes a mass.
    pub mass_version: u64,
    /// Changes with every write that changes a label.
    pub index_version: u64,
}

impl Particles {
    /// The columns.
    #[inline(always)]
    pub fn columns(&self) -> &Columns {
        match &self.columns {
            Some(columns) => columns,
            None => unreachable!("pages are handed out with their columns"),
        }
    }

    /// The row of a slot; `present` tells whether it holds a particle.
    #[inline(always)]
    pub fn row(&self, slot: usize, present: bool) -> Row {
        match (&self.columns, &self.rows) {
            (Some(columns), _) => columns.row(slot, present),
            (None, Some(rows)) => rows[slot],
            (None, None) => unreachable!("a page has one of them"),
        }
    }

    /// The same without the words that are zero where the page is at rest.
    #[inline(always)]
    pub fn short_row(&self, slot: usize) -> [f64; SHORT_ROW] {
        match (&self.columns, &self.rows) {
            (Some(columns), _) => {
                let [mass, x, y, z] = [MASS, X, X + 1, X + 2].map(|c| columns.values[c][slot]);
                let who = f64::from_bits(who(slot, columns.index[slot]));
                [mass, x, y, z, who]
            }
            (None, Some(rows)) => rows[slot].short(),
            (None, None) => unreachable!("a page has one of them"),
        }
    }

    /// Position and velocity in a slot.
    #[inline(always)]
    pub fn position_and_velocity(&self, slot: usize) -> [[f64; 3]; 2] {
        match (&self.columns, &self.rows) {
            (Some(columns), _) => {
                [X, V].map(|first| [0, 1, 2].map(|k| columns.values[first + k][slot]))
            }
            (None, Some(rows)) => rows[slot].position_and_velocity(),
            (None, None) => unreachable!("a page has one of them"),
        }
    }

    /// The rows, where there are rows.
    #[inline(always)]
    pub fn rows(&self) -> Option<&[Row; PAGE]> {
        match &self.columns {
            Some(_) => None,
            None => self.rows.as_deref(),
        }
    }

    /// The rows or the columns, to be changed, whichever there are.
    pub fn forms(&mut self) -> (Option<&mut [Row; PAGE]>, Option<&mut Columns>) {
        (self.rows.as_deref_mut(), self.columns.as_deref_mut())
    }

    /// The masses of all slots.
    pub fn masses(&self) -> [f64; PAGE] {
        match (&self.columns, &self.rows) {
            (Some(columns), _) => *columns.column(MASS),
            (None, Some(rows)) => rows.each_ref().map(|row| row.0[MASS]),
            (None, None) => [0.0; PAGE],
        }
    }

    /// The smallest and the greatest label of the page.
    pub fn index_range(&self) -> (i32, i32) {
        match (&self.columns, &self.rows) {
            (Some(columns), _) => range_of(columns.index.iter().copied()),
            (None, Some(rows)) => range_of(rows.iter().map(Row::index)),
            (None, None) => (0, 0),
        }
    }

    /// Writes a particle to a slot. No other words than those of the extent, and masses, differ from zero in the page.
    ///
    /// # Safety
    ///
    /// The pointers among the numbers point to three numbers each.
    #[inline(always)]
    pub unsafe fn write(&mut self, slot: usize, numbers: &ClientParticle, extent: Extent) {
        match (&mut self.columns, &mut self.rows) {
            (Some(columns), _) => {
                let Columns { values, index } = &mut **columns;
                if extent != Extent::Rest {
                    // The next writes mostly follow, and the lock of the next call waits until this call's stores have reached
                    // the cache. Each write fetches the next lines of a few columns.
                    let first = values.as_ptr();
                    let words = (slot % LINE..COLUMNS).step_by(LINE);
                    words.for_each(|word| fetch(first, word, slot + LINE));
                }
                // Branches: both are mostly as before.
                let mass = &mut values[MASS][slot];
                if mass.to_bits() != numbers.mass.to_bits() {
                    *mass = numbers.mass;
                    self.mass_version += 1;
                }
                if index[slot] != numbers.index {
                    index[slot] = numbers.index;
                    self.index_version += 1;
                }
                // SAFETY: passed on.
                unsafe { numbers.words(extent, |word, number| values[word][slot] = number) };
            }
            (None, Some(rows)) => {
                let row = &raw mut rows[slot];
                // As above.
                prefetch::row(row.wrapping_add(AHEAD));
                if rows[slot].0[MASS].to_bits() != numbers.mass.to_bits() {
                    self.mass_version += 1;
                }
                if rows[slot].index() != numbers.index {
                    self.index_version += 1;
                }
                // SAFETY: passed on.
                unsafe { Row::write(row, slot, numbers) };
            }
            (None, None) => unreachable!("a page has one of them"),
        }
    }

    /// Brings in some writes to this page, in this order, from the rows of the log. The extent is as for [`Particles::write`].
    pub fn bring_in(&mut self, log: &[Row], order: &[OrderedRow], extent: Extent) {
        if self.columns.is_some() {
            for some in order.chunks(TOGETHER) {
                self.put_in_columns(log, some, extent);
            }
            return;
        }
        for &entry in order {
            self.replace(entry.slot(), &log[entry.row()]);
        }
    }

    /// Replaces the particle in a slot, where there are rows.
    #[inline(always)]
    pub fn replace(&mut self, slot: usize, row: &Row) {
        let Some(rows) = &mut self.rows else { return };
        let to = &mut rows[slot % PAGE];
        self.mass_version += u64::from(to.0[MASS].to_bits() != row.0[MASS].to_bits());
        self.index_version += u64::from(to.index() != row.index());
        to.copy(row);
    }

    fn put_in_columns(&mut self, log: &[Row], some: &[OrderedRow], extent: Extent) {
        let Some(columns) = &mut self.columns else {
            return;
        };
        let words = extent.words();
        let mut rest = some;
        while !rest.is_empty() {
            let (changes, after) = match rest.split_at_checked(RUN) {
                Some((run, after)) if is_run(run) => {
                    let rows = &log[run[0].row()..][..RUN];
                    (columns.put_run(run[0].slot(), rows, words.clone()), after)
                }
                _ => {
                    let next_run =
                        (1..rest.len()).find(|&at| rest.get(at..at + RUN).is_some_and(is_run));
                    let (scattered, after) = rest.split_at(next_run.unwrap_or(rest.len()));
                    (columns.put(log, scattered, words.clone()), after)
                }
            };
            rest = after;
            self.mass_version += changes[0];
            self.index_version += changes[1];
        }
    }

    /// Has the rows made columns, in `columns`.
    fn convert(&mut self, mut columns: Box<Columns>) {
        if let Some(rows) = &self.rows {
            columns.load(rows);
        }
        // A process that forks here has one form or the other, and never half of one.
        self.columns = Some(columns);
        drop(self.rows.take());
    }

    /// Bytes on the heap.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        let rows = self.rows.as_ref().map_or(0, |rows| size_of_val(&**rows));
        let columns = self.columns.as_ref();
        rows + columns.map_or(0, |c| size_of_val(&**c) + size_of_val(&*c.values))
    }
}

/// The particles of a page, of which one thread at a time changes the form or brings in writes.
pub struct Body {
    state: AtomicU8,
    particles: UnsafeCell<Particles>,
    /// Where the rows are; null where there are columns. Nobody follows the pointer: it is for fetching into the cache.
    rows_at: AtomicPtr<Row>,
}

// SAFETY: in the state READY nothing changes but by `&mut`; in all others the thread that has set BUSY alone uses it.
unsafe impl Sync for Body {}

impl Body {
    /// No particles, as rows or as columns.
    pub fn new(as_columns: bool) -> Result<Self> {
        let mut particles = Particles::default();
        if as_columns {
            particles.columns = Some(Columns::new()?);
        } else {
            let mut rows = Vec::new();
            allocation::lengthen(&mut rows, PAGE, PURPOSE, Row::default)?;
            let rows = rows.into_boxed_slice().try_into();
            particles.rows = Some(rows.map_err(|_| Error::OutOfMemory { purpose: PURPOSE })?);
        }
        let rows = particles.rows.as_deref_mut();
        let rows_at = rows.map_or(ptr::null_mut(), |rows| rows.as_mut_ptr());
        Ok(Self {
            state: AtomicU8::new(if as_columns { READY } else { ROWS }),
            particles: UnsafeCell::new(particles),
            rows_at: AtomicPtr::new(rows_at),
        })
    }

    /// Whether the columns are up to date.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        self.state.load(Ordering::Acquire) == READY
    }

    /// The particles, where [`Body::is_ready`] was seen since they last changed.
    #[inline(always)]
    pub fn ready(&self) -> &Particles {
        debug_assert!(self.is_ready());
        // SAFETY: READY was seen: they change by `&mut` alone. (Every page that is handed out is READY.)
        unsafe { &*self.particles.get() }
    }

    /// The particles, which the caller may change: it has exclusive access. `waiting` says whether writes to this page
    /// still wait to be brought in after the change.
    #[inline(always)]
    pub fn change(&mut self, waiting: bool) -> &mut Particles {
        let particles = self.particles.get_mut();
        let state = match (waiting, &particles.columns) {
            (true, _) => WAITING,
            (false, Some(_)) => READY,
            (false, None) => ROWS,
        };
        if *self.state.get_mut() != state {
            *self.state.get_mut() = state;
        }
        particles
    }

    /// The particles. No writes wait: the caller has settled them.
    #[inline(always)]
    pub fn particles(&mut self) -> &Particles {
        debug_assert!(!self.waits());
        self.particles.get_mut()
    }

    /// Fetches the row of a slot into the cache, where there are rows.
    #[inline(always)]
    pub fn fetch_row(&self, slot: usize) {
        let rows = self.rows_at.load(Ordering::Relaxed);
        if !rows.is_null() {
            prefetch::row(rows.wrapping_add(slot));
        }
    }

    /// Fetches the position and the velocity in a slot into the cache, where there are rows.
    #[inline(always)]
    pub fn fetch_motion(&self, slot: usize) {
        let rows = self.rows_at.load(Ordering::Relaxed);
        if !rows.is_null() {
            let words = rows.wrapping_add(slot).cast::<f64>();
            // They are six words, which lie in one line or in two.
            prefetch::line(words.wrapping_add(X));
            prefetch::line(words.wrapping_add(V + 2));
        }
    }

    /// Whether writes wait to be brought in.
    pub fn waits(&mut self) -> bool {
        *self.state.get_mut() == WAITING
    }

    /// Takes the particles for this thread. `bring_in` brings in what waits.
    #[inline]
    pub fn take(&self, bring_in: impl FnOnce(&mut Particles)) -> Taken<'_> {
        let mut looks = 0_u32;
        let state = loop {
            let state = self.state.load(Ordering::Acquire);
            let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            let take = || (self.state).compare_exchange(state, BUSY, order, failed);
            if state == READY || state != BUSY && take().is_ok() {
                break state;
            }
            looks = looks.saturating_add(1);
            match looks {
                0..100 => hint::spin_loop(),
                _ => thread::yield_now(),
            }
        };
        if state == WAITING {
            // SAFETY: this thread has set BUSY.
            bring_in(unsafe { &mut *self.particles.get() });
        }
        Taken { body: self, state }
    }

    /// Makes columns, if there are none.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn make_columns(&self, bring_in: impl FnOnce(&mut Particles)) -> Result<()> {
        let taken = self.take(bring_in);
        if taken.columns.is_none() {
            let columns = Columns::new()?;
            // SAFETY: without columns the state was not READY: this thread has set BUSY.
            unsafe { &mut *self.particles.get() }.convert(columns);
            self.rows_at.store(ptr::null_mut(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The state that a fork leaves in the child if a thread was just dropping the rows of which it had made columns.
    #[cfg(test)]
    pub fn leave_with_both_forms(&mut self) {
        let rows_of = Self::new(false).expect("there is memory");
        self.particles.get_mut().rows = rows_of.particles.into_inner().rows;
        *self.state.get_mut() = BUSY;
    }

    /// Makes the page usable in the child of a fork that came while a thread of the parent was working on the page.
    /// `waiting` says that writes were waiting to be brought in; the child brings them in again.
    pub fn inherit(&mut self, waiting: bool) {
        if *self.state.get_mut() == BUSY {
            let particles = self.change(waiting);
            if particles.columns.is_some() {
                // That thread had made columns of the rows, and was dropping them.
                std::mem::forget(particles.rows.take());
            }
            particles.mass_version += 1;
            particles.index_version += 1;
            if particles.rows.is_none() {
                self.rows_at.store(ptr::null_mut(), Ordering::Relaxed);
            }
        }
    }
}

/// The particles of a page, up to date, in the form that they have. No other thread changes the form meanwhile.
pub struct Taken<'a> {
    body: &'a Body,
    state: u8,
}

impl std::ops::Deref for Taken<'_> {
    type Target = Particles;
    #[inline(always)]
    fn deref(&self) -> &Particles {
        // SAFETY: READY, or this thread has set BUSY.
        unsafe { &*self.body.particles.get() }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.state != READY {
            let state = if self.columns.is_some() { READY } else { ROWS };
            self.body.state.store(state, Ordering::Release);
        }
    }
}
