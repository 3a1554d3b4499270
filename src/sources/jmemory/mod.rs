//! The j-particle memory: double-precision host copies, by address.
//!
//! A page holds the particles at [`PAGE`] consecutive addresses. It is made at the first write to one of these
//! addresses. So an address near 2^31 costs one page, and loops skip pages that were never written. Inside a page
//! every field is an array of its own.

mod page;

use crate::error::{Error, Result};
use crate::process::allocation;
use crate::sources::particle::JParticle;

pub use page::{AtRest, PAGE, Page, PageArray};

/// How many pages one entry of the directory covers.
const SHELF: usize = 2048;

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
}

impl JMemory {
    /// An empty memory.
    pub fn of(sources: SourceKind) -> Self {
        Self {
            sources,
            ..Self::default()
        }
    }

    /// What the particles are.
    #[inline(always)]
    pub fn sources(&self) -> SourceKind {
        self.sources
    }

    /// Stores `count` particles at rest from `address` on: what `make` makes of the number of each,
    /// from 0, and what stood at its address.
    ///
    /// # Errors
    ///
    /// There are no such addresses, or there is no memory for them. Nothing changes then.
    #[inline]
    pub fn fill(
        &mut self,
        address: i32,
        count: usize,
        mut make: impl FnMut(usize, AtRest) -> AtRest,
    ) -> Result<()> {
        let first = check_address(address)?;
        let end = first.saturating_add(count);
        if i32::try_from(end).is_err() {
            return Err(Error::OutOfRange {
                argument: "nj",
                value: count as i64,
                legal: "addresses end at 2147483647",
            });
        }
        for number in first / PAGE..end.div_ceil(PAGE) {
            let position = self.reserve((number * PAGE) as i32)?;
            if self.sources == SourceKind::Softened {
                self.pages[position].soften()?;
            }
        }
        let mut at = first;
        while at < end {
            let stop = end.min((at / PAGE + 1) * PAGE);
            let position = self.reserve(at as i32)?;
            let page = &mut self.pages[position];
            let begin = at / PAGE * PAGE;
            page.fill(at - begin..stop - begin, |slot, before| {
                make(begin + slot - first, before)
            });
            at = stop;
        }
        Ok(())
    }

    /// Stores a particle; the last write to an address wins.
    ///
    /// # Errors
    ///
    /// A negative address, or one for which there is no memory. Nothing changes then.
    #[inline]
    pub fn write(&mut self, address: i32, particle: &JParticle) -> Result<()> {
        let page = self.reserve(address)?;
        self.pages[page].write(address as usize % PAGE, particle);
        Ok(())
    }

    /// Stores a particle at rest at time 0: the same as [`JMemory::write`], but faster.
    ///
    /// # Errors
    ///
    /// Those of [`JMemory::write`].
    #[inline(always)]
    pub fn write_at_rest(
        &mut self,
        address: i32,
        index: i32,
        mass: f64,
        x: &[f64; 3],
    ) -> Result<()> {
        let page = self.reserve(address)?;
        self.pages[page].write_at_rest(address as usize % PAGE, index, mass, x);
        Ok(())
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

    /// The particle at an address, if one was ever written there.
    pub fn read(&self, address: i32) -> Option<JParticle> {
        let address = usize::try_from(address).ok()?;
        let page = &self.pages[self.position(address / PAGE)?];
        let slot = address % PAGE;
        page.holds(slot).then(|| page.particle(slot))
    }

    /// The pages with addresses below `nj`, in address order.
    pub fn pages(&self, nj: usize) -> impl Iterator<Item = &Page> {
        self.positions(nj).map(|p| &self.pages[p])
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

    /// The page at a position.
    pub fn page(&self, position: usize) -> &Page {
        &self.pages[position]
    }

    /// Notes that the backend has seen all writes to the page at a position.
    pub fn forget_changes(&mut self, position: usize) {
        self.pages[position].forget_changes();
    }

    /// Has every particle count as changed, for a backend that has not seen all writes.
    pub fn change_everything(&mut self) {
        self.pages.iter_mut().for_each(Page::change_everything);
    }

    /// Number of pages made so far.
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// Number of addresses that hold a particle.
    pub fn present(&self) -> u64 {
        let words = self.pages.iter().flat_map(|p| p.present());
        words.map(|w| u64::from(w.count_ones())).sum()
    }

    /// Number of particles ever written.
    pub fn written(&self) -> u64 {
        self.pages.iter().map(|p| p.version()).sum()
    }

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
        // Addresses are 31 bits: page numbers and counts fit u32.
        let page = Page::new(number as u32)?;
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
pub fn check_address(address: i32) -> Result<usize> {
    usize::try_from(address).map_err(|_| Error::OutOfRange {
        argument: "address",
        value: address.into(),
        legal: "addresses begin at 0",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn particle(index: i32) -> JParticle {
        let f = f64::from(index);
        JParticle {
            index,
            t: f + 0.5,
            mass: f,
            x: [f, 2.0 * f, 3.0 * f],
            v: [4.0 * f, 5.0 * f, 6.0 * f],
            aby2: [7.0 * f, 8.0 * f, 9.0 * f],
            a1by6: [10.0 * f, 11.0 * f, 12.0 * f],
            a2by18: [13.0 * f, 14.0 * f, 15.0 * f],
        }
    }

    #[test]
    fn any_order_of_addresses_reads_back() {
        let mut memory = JMemory::default();
        let addresses = [70_000, 3, i32::MAX, 511, 512, 0, 1 << 20, 3];
        for (i, &a) in addresses.iter().enumerate() {
            memory.write(a, &particle(i as i32)).unwrap();
        }
        assert_eq!(memory.read(3), Some(particle(7)), "the last write wins");
        assert_eq!(memory.read(i32::MAX), Some(particle(2)));
        assert_eq!(memory.read(1), None);
        assert_eq!(memory.read(-1), None);
        let found: Vec<usize> = memory
            .pages(usize::MAX)
            .flat_map(|p| p.slots(usize::MAX).map(|s| p.first_address() + s))
            .collect();
        assert_eq!(found, [0, 3, 511, 512, 70_000, 1 << 20, i32::MAX as usize]);
        assert_eq!(memory.page_count(), 5);
        assert_eq!((memory.present(), memory.written()), (7, 8));
    }

    /// The short write must leave what the long one leaves, whatever was there before.
    #[test]
    fn a_particle_at_rest_forgets_what_moved() {
        let at_rest = JParticle {
            index: 9,
            mass: 2.0,
            x: [1.0, -0.0, 3.0],
            ..JParticle::default()
        };
        let timed = JParticle { t: 0.5, ..at_rest };
        let snap = JParticle {
            a2by18: [0.0, 1.0, 0.0],
            ..at_rest
        };
        for before in [None, Some(particle(1)), Some(timed), Some(snap)] {
            let mut memory = JMemory::default();
            for address in 0..3 {
                if let Some(p) = before {
                    memory.write(address, &p).unwrap();
                }
            }
            memory.write_at_rest(1, 9, 2.0, &at_rest.x).unwrap();
            assert_eq!(memory.read(1), Some(at_rest));
            assert_eq!(memory.read(2), before);
            assert_eq!(memory.page(0).is_at_rest(), before.is_none());
            let fast = memory.page(0).particle(1).x[1];
            assert_eq!(fast.to_bits(), (-0.0_f64).to_bits());
        }
        assert!(
            JMemory::default()
                .write_at_rest(-1, 0, 1.0, &[0.0; 3])
                .is_err()
        );
    }

    #[test]
    fn versions_tell_what_changed() {
        let mut memory = JMemory::default();
        let mut versions = |index, mass, x| {
            memory.write_at_rest(5, index, mass, &[x; 3]).unwrap();
            let page = memory.page(0);
            (page.version(), page.mass_version(), page.index_version())
        };
        let first = versions(3, 1.0, 0.5);
        assert_eq!(versions(3, 1.0, 0.25), (first.0 + 1, first.1, first.2));
        assert_eq!(versions(3, 2.0, 0.25), (first.0 + 2, first.1 + 1, first.2));
        assert_eq!(
            versions(4, 2.0, 0.25),
            (first.0 + 3, first.1 + 1, first.2 + 1)
        );
    }

    #[test]
    fn slots_and_pages_end_at_nj() {
        let mut memory = JMemory::default();
        for a in 0..1200 {
            memory.write(a, &particle(a)).unwrap();
        }
        for nj in [0, 1, 511, 512, 513, 1199, 1200, 5000] {
            let count: usize = memory.pages(nj).map(|p| p.slots(nj).count()).sum();
            assert_eq!(count, nj.min(1200));
        }
    }

    #[test]
    fn a_negative_address_is_refused() {
        let mut memory = JMemory::default();
        assert!(memory.write(-1, &particle(1)).is_err());
        assert_eq!(memory.page_count(), 0);
    }

    #[test]
    fn a_particle_costs_at_most_256_bytes() {
        let mut memory = JMemory::default();
        memory.write(0, &particle(1)).unwrap();
        let bytes = memory.pages[0].bytes();
        assert!(bytes / PAGE <= 160, "{} bytes", bytes / PAGE);
    }
}
