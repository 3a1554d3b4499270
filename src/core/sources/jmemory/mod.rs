//! The j-particle memory: double-precision host copies, by address.
//!
//! A page holds the particles at [`PAGE`] consecutive addresses. It is made at the first write to one of these
//! addresses. So an address near 2^31 costs one page, and loops skip pages that were never written.
//!
//! [`JMemory::write_at_once`] writes straight into a page. Writes are appended to a log instead if they are scattered
//! over rows, if many are scattered over columns, or if a block needs the memory unchanged. [`JMemory::take_in`] makes the
//! writes so far part of the state. If all pages are rows and the writes are few, it brings them into the pages. Otherwise each page learns which writes are its own.
//! They are brought into the page when something reads it, or before the next log is taken in. GRAPE-6's particles are rows
//! ([`Row`]) until something reads columns; all others are columns from the start.

mod body;
mod load;
mod log;
mod page;
mod prefetch;
mod row;
mod run;
mod slots;
mod writes;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::process::allocation;
use crate::sources::particle::JParticle;

pub use self::body::Particles;
use self::body::{Body, Taken};
pub use self::load::{Given, Three};
pub use self::log::LOG;
use self::log::Log;
pub use self::page::{Header, PAGE, Page, PageArray};
pub use self::row::{ClientParticle, ROW, Row, SHORT_ROW, ZERO};
use self::run::Run;
pub use self::slots::Slots;

/// How many pages one entry of the directory covers.
const SHELF: usize = 2048;

/// Changed particles on up to so many pages are still in the cache, as they were just brought into the pages.
pub const CACHED_PAGES: usize = 256;

/// What the memory is for, in messages.
pub const PURPOSE: &str = "j-particles";

/// The bytes that a backend needs beside each page: masses in its own precision, and where the page is.
pub const BESIDE_A_PAGE: usize = 6 << 10;

/// What the particles of a memory are to those who ask for forces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// GRAPE-6's: they move, and have labels and neighbours.
    #[default]
    Moving,
    /// GRAPE-5's: masses at rest, of which acceleration and potential are all that is asked.
    AtRest,
    /// The same, each with a softening length of its own.
    Softened,
    /// As the first, each with a softening length of its own. Forces of these are summed in double precision on the CPU.
    MovingSoftened,
}

/// All j-particles of one cluster.
#[derive(Default)]
pub struct JMemory {
    sources: SourceKind,
    /// From page number to position in `pages` plus one; 0 where there is no page.
    directory: Vec<Option<Box<[u32; SHELF]>>>,
    /// The pages, in the order in which they were made.
    pages: Vec<Page>,
    /// Positions in `pages`, sorted by page number.
    by_number: Vec<u32>,
    /// Writes that are not yet part of the state.
    incoming: Log,
    /// The writes that were taken in last.
    log: Log,
    /// Positions of the pages that have writes in `log`.
    touched: Vec<u32>,
    /// Positions of the pages that have changed since [`JMemory::forget_changes`].
    changed: Vec<u32>,
    /// Number of writes taken in.
    written: u64,
    /// The address after that of the last write straight into a page since the last block. `None` if there was no such
    /// write: then any address follows.
    next: Option<i32>,
    /// Writes straight into a page that are still to be counted.
    pub run: Run,
    /// Whether all pages are columns.
    has_columns: AtomicBool,
    /// Whether some pages are.
    has_some_columns: AtomicBool,
    /// The position of the page that was last written straight.
    last: usize,
    /// How many writes since the last block were scattered: those to another page than the write before, and those of logs that were full.
    scattered: usize,
    /// Whether the writes before the last block were scattered, and so many that an order by pages pays.
    is_scattered: bool,
    /// Whether what a write will replace is fetched into the cache as the write is appended to the log.
    fetches: bool,
}

impl JMemory {
    /// An empty memory.
    pub fn of(sources: SourceKind) -> Self {
        Self {
            sources,
            has_columns: AtomicBool::new(sources != SourceKind::Moving),
            has_some_columns: AtomicBool::new(sources != SourceKind::Moving),
            ..Self::default()
        }
    }

    /// What the particles are.
    #[inline(always)]
    pub fn sources(&self) -> SourceKind {
        self.sources
    }

    /// Makes the columns of all pages, and has later pages begin with columns.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn make_columns(&self) -> Result<()> {
        if !self.has_columns.load(Ordering::Acquire) {
            self.has_some_columns.store(true, Ordering::Relaxed);
            for page in &self.pages {
                (page.body).make_columns(|particles| page.bring_in(&self.log, particles))?;
            }
            self.has_columns.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Makes the memory usable in the child of a fork, where a thread of the parent was reading it.
    pub fn inherit(&mut self) {
        for page in &mut self.pages {
            page.body.inherit(!page.header.waiting.is_empty());
        }
    }

    /// Makes the page of `address` if it is missing. Returns the page's position.
    ///
    /// # Errors
    ///
    /// Those of [`JMemory::write`].
    #[inline(always)]
    pub fn reserve(&mut self, address: i32) -> Result<usize> {
        let number = check_address(address)? / PAGE;
        match self.position(number) {
            Some(position) => Ok(position),
            None => self.make_page(number),
        }
    }

    /// The particle at an address, if one was ever written there and taken in.
    pub fn read(&self, address: i32) -> Option<JParticle> {
        let address = usize::try_from(address).ok()?;
        let position = self.position(address / PAGE)?;
        let slot = address % PAGE;
        let is_present = self.pages[position].holds(slot);
        is_present.then(|| self.particles(position).row(slot, true).particle())
    }

    /// The pages with addresses below `nj`, in address order.
    pub fn pages(&self, nj: usize) -> impl Iterator<Item = &Page> {
        self.positions(nj).map(|p| self.page(p))
    }

    /// The positions of the pages with addresses below `nj`, in address order. A position
    /// (the order of creation) names a page as long as the memory lives.
    pub fn positions(&self, nj: usize) -> impl Iterator<Item = usize> {
        let end = nj.div_ceil(PAGE);
        self.by_number
            .iter()
            .map(|&p| p as usize)
            .take_while(move |&p| (self.pages[p].number() as usize) < end)
    }

    /// The page at a position, with its columns up to date.
    ///
    /// # Panics
    ///
    /// There is no memory for the columns. [`JMemory::make_columns`] makes them in advance.
    #[inline(always)]
    pub fn page(&self, position: usize) -> &Page {
        let page = &self.pages[position];
        if !page.body.is_ready() {
            self.bring_up_to_date(page);
        }
        page
    }

    #[cold]
    #[inline(never)]
    fn bring_up_to_date(&self, page: &Page) {
        self.has_some_columns.store(true, Ordering::Relaxed);
        let made = (page.body).make_columns(|particles| page.bring_in(&self.log, particles));
        made.expect("there is memory for the columns");
    }

    /// Whether no writes wait to be brought into the page at a position.
    pub fn is_up_to_date(&self, position: usize) -> bool {
        self.pages[position].body.is_ready()
    }

    /// What is known of the page at a position without a look at its particles.
    #[inline(always)]
    pub fn header(&self, position: usize) -> &Header {
        &self.pages[position]
    }

    /// The particles of the page at a position, up to date, as rows or as columns, whichever the page has. A thread
    /// that holds them may not ask for another page.
    pub fn particles(&self, position: usize) -> Taken<'_> {
        let page = &self.pages[position];
        page.body
            .take(|particles| page.bring_in(&self.log, particles))
    }

    /// The positions of the pages that have changed since [`JMemory::forget_changes`].
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Shows the pages that have changed since [`JMemory::forget_changes`]: their positions, what is known of them, and their
    /// particles. With exclusive access this costs less than [`JMemory::particles`].
    pub fn look_at_changed(&mut self, mut look: impl FnMut(usize, &Header, &Particles)) {
        self.settle();
        let is_cached = self.changed.len() <= CACHED_PAGES;
        for (n, &position) in self.changed.iter().enumerate() {
            if let Some(&next) = self.changed.get(n + 1)
                && !is_cached
            {
                self.fetch_each(next as usize, Body::fetch_motion);
            }
            let Page { header, body, .. } = &mut self.pages[position as usize];
            look(position as usize, header, body.particles());
        }
    }

    /// Fetches the changed particles of a page into the cache, where the page is rows.
    pub fn fetch_changed(&self, position: usize) {
        self.fetch_each(position, Body::fetch_row);
    }

    #[inline(always)]
    fn fetch_each(&self, position: usize, fetch: impl Fn(&Body, usize)) {
        let page = &self.pages[position];
        (page.changed().iter()).for_each(|slot| fetch(&page.body, slot));
    }

    /// Notes that the backend has seen all writes.
    pub fn forget_changes(&mut self) {
        for position in self.changed.drain(..) {
            self.pages[position as usize].forget_changes();
        }
    }

    /// Has every particle count as changed, for a backend that has not seen all writes.
    pub fn change_everything(&mut self) {
        for position in 0..self.pages.len() {
            self.list(position);
            self.pages[position].change_everything();
        }
    }

    /// Number of pages made so far.
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// Number of addresses that hold a particle.
    pub fn present(&self) -> u64 {
        let words = self.pages.iter().flat_map(|page| page.present());
        words.map(|w| u64::from(w.count_ones())).sum()
    }

    /// The first address of a range at which no particle was ever written and taken in.
    pub fn first_gap(&self, addresses: Range<usize>) -> Option<usize> {
        let mut address = addresses.start;
        while address < addresses.end {
            let Some(position) = self.position(address / PAGE) else {
                return Some(address);
            };
            let word = self.pages[position].present()[address % PAGE / 64];
            let absent = !word >> (address % 64);
            if absent != 0 {
                let gap = address + absent.trailing_zeros() as usize;
                return (gap < addresses.end).then_some(gap);
            }
            address = (address / 64 + 1) * 64;
        }
        None
    }

    /// Number of writes taken in.
    pub fn written(&self) -> u64 {
        self.written
    }

    #[inline(always)]
    fn position(&self, number: usize) -> Option<usize> {
        let shelf = self.directory.get(number / SHELF)?.as_ref()?;
        (shelf[number % SHELF] as usize).checked_sub(1)
    }

    #[cold]
    fn make_page(&mut self, number: usize) -> Result<usize> {
        allocation::lengthen(&mut self.directory, number / SHELF + 1, PURPOSE, || None)?;
        let shelf = &mut self.directory[number / SHELF];
        let shelf = allocation::fill(shelf, PURPOSE, || [0; SHELF])?;
        allocation::reserve(&mut self.pages, 1, PURPOSE)?;
        allocation::reserve(&mut self.by_number, 1, PURPOSE)?;
        for list in [&mut self.touched, &mut self.changed] {
            let room = self.pages.len() + 1 - list.len();
            allocation::reserve(list, room, PURPOSE)?;
        }
        // Addresses are 31 bits: page numbers and counts fit u32.
        let page = Page::new(number as u32, self.has_columns.load(Ordering::Acquire))?;
        // Better to refuse a particle than to store one with which no backend has the memory to compute.
        allocation::spare(self.pages.len() * BESIDE_A_PAGE, PURPOSE)?;
        let position = self.pages.len();
        let rank = self
            .by_number
            .partition_point(|&p| (self.pages[p as usize].number() as usize) < number);
        self.by_number.insert(rank, position as u32);
        self.pages.push(page);
        shelf[number % SHELF] = position as u32 + 1;
        Ok(position)
    }
}

/// An address as an array subscript.
///
/// # Errors
///
/// The address is negative.
#[inline(always)]
pub fn check_address(address: i32) -> Result<usize> {
    usize::try_from(address).map_err(|_| negative(address))
}

#[cold]
fn negative(address: i32) -> Error {
    Error::OutOfRange {
        argument: "address",
        value: address.into(),
        legal: "addresses begin at 0",
    }
}

#[cfg(test)]
pub(crate) mod tests;
