//! Writes to the memory: at once into a page, or to the log and from there into the pages.

use super::log::LOG;
use super::prefetch::{self, CACHED_ROWS};
use super::row::{ClientParticle, Row};
use super::{Header, JMemory, PAGE};
use crate::error::Result;
use crate::sources::particle::JParticle;

/// From so many scattered writes on before a block an order by pages takes less time than writing each at once: columns
/// in a cache, and elsewhere.
const MANY: [usize; 2] = [1024, 256];

/// So many pages of columns fit the second-level cache.
const PAGES_IN_CACHE: usize = 48;

impl JMemory {
    /// Writes a particle that is part of the state at once; the last write to an address wins.
    ///
    /// # Errors
    ///
    /// A negative address, or one for which there is no memory. Nothing changes then.
    pub fn write(&mut self, address: i32, particle: &JParticle) -> Result<()> {
        let position = self.reserve(address)?;
        if self.is_full() && !self.grow()? {
            self.take_in();
        }
        // SAFETY: they are the vectors of the particle.
        unsafe { self.append(position, address, &ClientParticle::from(particle)) };
        self.take_in();
        Ok(())
    }

    /// Appends a write to the log, which is not full. `position` is what [`JMemory::reserve`] returned for the address.
    ///
    /// # Safety
    ///
    /// The pointers among the numbers point to three numbers each.
    #[inline(always)]
    pub unsafe fn append(&mut self, position: usize, address: i32, numbers: &ClientParticle) {
        let slot = address as usize % PAGE;
        if self.fetches && self.incoming.len() < CACHED_ROWS {
            // When the row is brought in, it is in the cache.
            self.pages[position].body.fetch_row(slot);
        }
        // SAFETY: passed on.
        unsafe { self.incoming.push(position, slot, numbers) };
    }

    /// Writes a particle straight into its page if a detour through the log would only cost time. For this the log must
    /// be empty. Besides, the address must be the next one after the last write of this kind, or all pages must be columns, and the
    /// writes before the last block not many scattered ones. The first write after a block may have any address. Returns whether it
    /// wrote. The arguments are those of [`JMemory::append`]; `at_rest` says that the particle has nothing but a label, a mass and a position.
    ///
    /// # Safety
    ///
    /// That of [`JMemory::append`].
    #[inline(always)]
    pub unsafe fn write_at_once(
        &mut self,
        position: usize,
        address: i32,
        numbers: &ClientParticle,
        at_rest: bool,
    ) -> bool {
        if self.incoming.len() > 0 {
            return false;
        }
        if self.is_scattered || !*self.has_columns.get_mut() {
            if self.next.is_some_and(|next| next != address) {
                return false;
            }
            self.next = Some(address.wrapping_add(1));
        }
        if !self.touched.is_empty() {
            self.settle();
        }
        self.written += 1;
        if self.last != position {
            self.last = position;
            self.scattered += 1;
        }
        let Self { pages, changed, .. } = self;
        let page = &mut pages[position];
        list(&mut page.header, position, changed);
        // SAFETY: passed on.
        unsafe { page.write(address as usize % PAGE, numbers, at_rest) };
        true
    }

    /// The position of the page of `address`, if there is one, if the log is neither empty nor full.
    #[inline(always)]
    pub fn may_append(&self, address: i32) -> Option<usize> {
        let may = self.incoming.len() > 0 && !self.incoming.is_full() && address >= 0;
        match may {
            true => self.position(address as usize / PAGE),
            false => None,
        }
    }

    /// Whether the write to `address` was made at once: then a run may begin after it.
    #[inline(always)]
    pub fn may_run(&mut self, address: i32) -> bool {
        self.incoming.len() == 0
            && self.pages[self.last].number() as usize == address as usize / PAGE
    }

    /// Whether the log has no room for a further write.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.incoming.is_full()
    }

    /// Makes room in the log; false if it is as long as it may be.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[cold]
    pub fn grow(&mut self) -> Result<bool> {
        let may_grow = self.incoming.len() < LOG;
        if may_grow {
            self.incoming.grow()?;
        }
        Ok(may_grow)
    }

    /// Empties the log without an allocation; false if nothing was ever appended.
    #[cold]
    pub fn empty_log(&mut self) -> bool {
        let scattered = self.scattered + self.incoming.len();
        self.take_in();
        // The block is still to come.
        self.scattered = scattered;
        self.settle();
        !self.is_full()
    }

    /// Makes the writes so far part of the state.
    pub fn take_in(&mut self) {
        self.next = None;
        let many = MANY[usize::from(self.pages.len() > PAGES_IN_CACHE)];
        self.is_scattered = self.scattered + self.incoming.len() >= many;
        self.scattered = 0;
        if self.incoming.len() == 0 {
            return;
        }
        self.settle();
        // The next log is taken to be about as long.
        self.fetches = self.incoming.len() <= CACHED_ROWS && !*self.has_some_columns.get_mut();
        if self.fetches {
            return self.bring_in_rows();
        }
        std::mem::swap(&mut self.log, &mut self.incoming);
        self.written += self.log.len() as u64;
        for &place in self.log.places() {
            let page = &mut self.pages[place.position as usize];
            if page.header.waiting.is_empty() {
                // There is room: see `make_page`.
                self.touched.push(place.position);
            }
            page.count(place);
        }
        let mut begin = 0;
        for at in 0..self.touched.len() {
            let position = self.touched[at] as usize;
            self.list(position);
            let page = &mut self.pages[position];
            let count = page.header.waiting.len();
            page.header.waiting = begin..begin;
            page.body.change(true);
            begin += count;
        }
        let Self { log, pages, .. } = self;
        log.sort(|position| {
            let end = &mut pages[position].header.waiting.end;
            *end += 1;
            *end - 1
        });
    }

    /// Makes the writes so far part of the state where all pages are rows, and what the writes replace is in the cache: brings
    /// them in at once, in the order of the calls. An order by pages would gain nothing.
    fn bring_in_rows(&mut self) {
        let Self {
            incoming,
            pages,
            changed,
            ..
        } = self;
        for (row, &place) in incoming.rows().iter().zip(incoming.places()) {
            let page = &mut pages[place.position as usize];
            page.header
                .note(usize::from(place.slot) % PAGE, place.flags);
            list(&mut page.header, place.position as usize, changed);
            let particles = page.body.change(false);
            debug_assert!(particles.rows().is_some(), "all pages are rows");
            particles.replace(place.slot.into(), row);
        }
        self.written += self.incoming.len() as u64;
        self.incoming.clear();
    }

    /// Brings the writes that were taken in into all pages that wait for them.
    #[cold]
    #[inline(never)]
    pub fn settle(&mut self) {
        let Self {
            log,
            pages,
            touched,
            ..
        } = self;
        for position in touched.drain(..) {
            let waiting = pages[position as usize].header.waiting.clone();
            prefetch::rows(log, pages, waiting);
            pages[position as usize].bring_all_in(log);
        }
        let was_used = log.len() > 0;
        log.clear();
        if was_used && self.incoming.len() == 0 {
            // The room that was used last is still in the cache, and is there at all where memory is lacking.
            std::mem::swap(&mut self.log, &mut self.incoming);
        }
    }

    /// Counts a page among those that have changed.
    #[inline(always)]
    pub(super) fn list(&mut self, position: usize) {
        let Self { pages, changed, .. } = self;
        list(&mut pages[position].header, position, changed);
    }

    /// The writes that are not yet part of the state, in their order, with their addresses.
    pub fn appended(&self) -> impl DoubleEndedIterator<Item = (i32, &Row)> + ExactSizeIterator {
        let (places, rows) = (self.incoming.places(), self.incoming.rows());
        places.iter().zip(rows).map(|(place, row)| {
            let page = &self.pages[place.position as usize];
            let address = page.first_address() + usize::from(place.slot);
            (address as i32, row)
        })
    }
}

/// Counts the page at a position among those that have changed.
#[inline(always)]
fn list(page: &mut Header, position: usize, changed: &mut Vec<u32>) {
    if !page.is_listed {
        page.is_listed = true;
        // There is room: see `make_page`.
        changed.push(position as u32);
    }
}
