//! The j-particle memory: double-precision host copies, by address.
//!
//! Addresses are grouped into pages of [`PAGE`] particles, made at the first
//! write to any of them, so an address near 2^31 costs one page and absent pages
//! cost nothing in a loop. Inside a page every field is an array of its own.

use std::ops::{Deref, DerefMut, Range};

use crate::error::{Error, Result};
use crate::particle::JParticle;
use crate::predictor::{Coordinate, Scalar};

/// Particles in one page.
pub const PAGE: usize = 512;

/// One coordinate or other scalar of all particles of a page.
///
/// A page has many columns that are used together. Without the padding all of them would
/// begin a power of two apart and compete for the same few lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Column<T> {
    values: [T; PAGE],
    padding: [T; 16],
}

impl<T: Copy + Default> Default for Column<T> {
    fn default() -> Self {
        Self {
            values: [T::default(); PAGE],
            padding: [T::default(); 16],
        }
    }
}

impl<T> Deref for Column<T> {
    type Target = [T; PAGE];
    #[inline(always)]
    fn deref(&self) -> &[T; PAGE] {
        &self.values
    }
}

impl<T> DerefMut for Column<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; PAGE] {
        &mut self.values
    }
}

/// Pages named by one entry of the upper directory.
const SHELF: usize = 2048;

/// Columns of a page, in storage order.
const MASS: usize = 0;
const TIME: usize = 1;
const X: usize = 2;
const V: usize = 5;
const ABY2: usize = 8;
const A1BY6: usize = 11;
const A2BY18: usize = 14;
const COLUMNS: usize = 17;

/// The particles at [`PAGE`] consecutive addresses.
pub struct Page {
    number: u32,
    version: u64,
    mass_version: u64,
    index_version: u64,
    columns: Box<[Column<f64>; COLUMNS]>,
    index: [i32; PAGE],
    present: [u64; PAGE / 64],
    changed: [u64; PAGE / 64],
    has_snap: bool,
    has_motion: bool,
    has_times: bool,
}

impl Page {
    fn new(number: u32) -> Result<Self> {
        let mut columns = Vec::new();
        columns
            .try_reserve_exact(COLUMNS)
            .map_err(|_| Error::OutOfMemory {
                purpose: "j-particles",
            })?;
        columns.resize(COLUMNS, Column::default());
        let columns = columns.into_boxed_slice().try_into();
        Ok(Self {
            number,
            version: 0,
            mass_version: 0,
            index_version: 0,
            columns: columns.map_err(|_| Error::OutOfMemory {
                purpose: "j-particles",
            })?,
            index: [0; PAGE],
            present: [0; PAGE / 64],
            changed: [0; PAGE / 64],
            has_snap: false,
            has_motion: false,
            has_times: false,
        })
    }

    /// Writes what treecodes send: a particle at rest, at time 0.
    #[inline(always)]
    fn write_at_rest(&mut self, slot: usize, index: i32, mass: f64, x: &[f64; 3]) {
        // Where everything is at rest all else is zero already.
        if !self.is_at_rest() {
            self.stop(slot);
        }
        self.place(slot, index, mass, x);
    }

    /// Makes everything zero that moves a particle.
    #[cold]
    fn stop(&mut self, slot: usize) {
        self.columns[TIME][slot] = 0.0;
        for column in &mut self.columns[V..] {
            column[slot] = 0.0;
        }
    }

    #[inline]
    fn write(&mut self, slot: usize, p: &JParticle) {
        self.place(slot, p.index, p.mass, &p.x);
        let c = &mut self.columns;
        c[TIME][slot] = p.t;
        for k in 0..3 {
            c[V + k][slot] = p.v[k];
            c[ABY2 + k][slot] = p.aby2[k];
            c[A1BY6 + k][slot] = p.a1by6[k];
            c[A2BY18 + k][slot] = p.a2by18[k];
        }
        self.has_times |= p.t != 0.0;
        self.has_snap |= p.a2by18 != [0.0; 3];
        self.has_motion |= p.v != [0.0; 3] || p.aby2 != [0.0; 3] || p.a1by6 != [0.0; 3];
    }

    /// Writes label, mass and position.
    #[inline(always)]
    fn place(&mut self, slot: usize, index: i32, mass: f64, x: &[f64; 3]) {
        // No branch: a treecode's masses are new or not without a pattern.
        let c = &mut self.columns;
        let before = std::mem::replace(&mut c[MASS][slot], mass);
        self.mass_version += u64::from(before.to_bits() != mass.to_bits());
        for k in 0..3 {
            c[X + k][slot] = x[k];
        }
        let before = std::mem::replace(&mut self.index[slot], index);
        self.index_version += u64::from(before != index);
        self.present[slot / 64] |= 1 << (slot % 64);
        self.changed[slot / 64] |= 1 << (slot % 64);
        self.version += 1;
    }

    /// Number of the page: its first address divided by [`PAGE`].
    pub fn number(&self) -> u32 {
        self.number
    }

    /// First address of the page.
    pub fn first_address(&self) -> usize {
        self.number as usize * PAGE
    }

    /// Changes with every write to the page.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Changes with every write that changes a mass.
    pub fn mass_version(&self) -> u64 {
        self.mass_version
    }

    /// Changes with every write that changes a label.
    pub fn index_version(&self) -> u64 {
        self.index_version
    }

    /// Labels; zero where no particle is present.
    pub fn index(&self) -> &[i32; PAGE] {
        &self.index
    }

    /// Whether some particle of the page has, or once had, a velocity or a higher derivative.
    pub fn has_motion(&self) -> bool {
        self.has_motion || self.has_snap
    }

    /// Whether every particle of the page is where it was written, at any finite time `ti`.
    pub fn is_at_rest(&self) -> bool {
        !self.has_motion() && !self.has_times
    }

    /// Bit `slot % 64` of word `slot / 64` tells whether the slot was ever written.
    pub fn present(&self) -> &[u64; PAGE / 64] {
        &self.present
    }

    /// The same for slots written since [`JMemory::forget_changes`].
    pub fn changed(&self) -> &[u64; PAGE / 64] {
        &self.changed
    }

    /// The smallest and the greatest label of the page.
    #[inline(always)]
    pub fn index_range(&self) -> (i32, i32) {
        let widen =
            |(least, greatest): (i32, i32), &index: &i32| (least.min(index), greatest.max(index));
        self.index.iter().fold((i32::MAX, i32::MIN), widen)
    }

    /// Whether some particle of the page has, or once had, a fourth-order term.
    pub fn has_snap(&self) -> bool {
        self.has_snap
    }

    /// Whether every slot of `range` holds a particle.
    #[inline]
    pub fn is_full(&self, range: Range<usize>) -> bool {
        range
            .clone()
            .step_by(64)
            .all(|s| self.present[s / 64] == u64::MAX)
            || range
                .into_iter()
                .all(|s| self.present[s / 64] >> (s % 64) & 1 == 1)
    }

    /// Slots below the address `nj` that hold a particle, in address order.
    pub fn slots(&self, nj: usize) -> impl Iterator<Item = usize> {
        let end = nj.saturating_sub(self.first_address()).min(PAGE);
        (0..end).filter(|s| self.present[s / 64] >> (s % 64) & 1 == 1)
    }

    /// Masses.
    pub fn mass(&self) -> &[f64; PAGE] {
        &self.columns[MASS]
    }

    /// The particle in a slot, as it was written. All zero where there is none.
    pub fn particle(&self, slot: usize) -> JParticle {
        let three = |first: usize| [0, 1, 2].map(|k| self.columns[first + k][slot]);
        JParticle {
            index: self.index[slot],
            t: self.columns[TIME][slot],
            mass: self.columns[MASS][slot],
            x: three(X),
            v: three(V),
            aby2: three(ABY2),
            a1by6: three(A1BY6),
            a2by18: three(A2BY18),
        }
    }

    /// The predicted position of one particle at the time `ti`.
    pub fn predicted_position(&self, slot: usize, ti: f64) -> [f64; 3] {
        let s = ti - self.columns[TIME][slot];
        [0, 1, 2].map(|k| self.coordinate(k, slot).position(Scalar, s))
    }

    /// Predicted positions at the time `ti`.
    pub fn predict_positions(&self, ti: f64, x: &mut [[f64; PAGE]; 3]) {
        for slot in 0..PAGE {
            for (k, x) in x.iter_mut().enumerate() {
                let s = ti - self.columns[TIME][slot];
                x[slot] = self.coordinate(k, slot).position(Scalar, s);
            }
        }
    }

    /// Predicted velocities at the time `ti`.
    pub fn predict_velocities(&self, ti: f64, v: &mut [[f64; PAGE]; 3]) {
        for slot in 0..PAGE {
            for (k, v) in v.iter_mut().enumerate() {
                let s = ti - self.columns[TIME][slot];
                v[slot] = self.coordinate(k, slot).velocity(Scalar, s);
            }
        }
    }

    fn coordinate(&self, k: usize, slot: usize) -> Coordinate<f64> {
        self.coordinate_columns(k).map(|column| column[slot])
    }

    /// Times.
    pub fn times(&self) -> &[f64; PAGE] {
        &self.columns[TIME]
    }

    /// The columns of one coordinate; without the last derivative where no particle has any.
    pub fn coordinate_columns(&self, k: usize) -> Coordinate<&[f64; PAGE]> {
        let c = &self.columns;
        Coordinate {
            x: &c[X + k],
            v: &c[V + k],
            aby2: &c[ABY2 + k],
            a1by6: &c[A1BY6 + k],
            a2by18: self.has_snap.then(|| &*c[A2BY18 + k]),
        }
    }
}

/// All j-particles of one cluster.
#[derive(Default)]
pub struct JMemory {
    /// Page number to position in `pages`, plus one; 0 where there is no page.
    directory: Vec<Option<Box<[u32; SHELF]>>>,
    /// In the order in which they were made.
    pages: Vec<Page>,
    /// Positions in `pages`, by page number.
    by_number: Vec<u32>,
}

impl JMemory {
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

    /// Stores a particle at rest at time 0, as [`JMemory::write`] would, faster.
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

    /// Makes sure that a write to `address` finds its page, and returns the page's position.
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
        (page.present[slot / 64] >> (slot % 64) & 1 == 1).then(|| page.particle(slot))
    }

    /// The pages with addresses below `nj`, in address order.
    pub fn pages(&self, nj: usize) -> impl Iterator<Item = &Page> {
        self.positions(nj).map(|p| &self.pages[p])
    }

    /// Positions (in order of creation) of the pages with addresses below `nj`, in
    /// address order. A position names a page for the life of the memory.
    pub fn positions(&self, nj: usize) -> impl Iterator<Item = usize> {
        let end = nj.div_ceil(PAGE);
        self.by_number
            .iter()
            .map(|&p| p as usize)
            .take_while(move |&p| (self.pages[p].number as usize) < end)
    }

    /// The page at a position.
    pub fn page(&self, position: usize) -> &Page {
        &self.pages[position]
    }

    /// Takes note that a backend has seen all writes to the page at a position.
    pub fn forget_changes(&mut self, position: usize) {
        self.pages[position].changed = [0; PAGE / 64];
    }

    /// Number of pages made so far.
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// Number of addresses that hold a particle.
    pub fn present(&self) -> u64 {
        let words = self.pages.iter().flat_map(|p| &p.present);
        words.map(|w| u64::from(w.count_ones())).sum()
    }

    /// Number of particles ever written.
    pub fn written(&self) -> u64 {
        self.pages.iter().map(|p| p.version).sum()
    }

    fn position(&self, number: usize) -> Option<usize> {
        let shelf = self.directory.get(number / SHELF)?.as_ref()?;
        (shelf[number % SHELF] as usize).checked_sub(1)
    }

    #[cold]
    fn make_page(&mut self, number: usize) -> Result<usize> {
        let no_memory = |_| Error::OutOfMemory {
            purpose: "j-particles",
        };
        let shelves = number / SHELF + 1;
        if self.directory.len() < shelves {
            self.directory
                .try_reserve(shelves - self.directory.len())
                .map_err(no_memory)?;
            self.directory.resize_with(shelves, || None);
        }
        self.pages.try_reserve(1).map_err(no_memory)?;
        self.by_number.try_reserve(1).map_err(no_memory)?;

        // Addresses are 31 bits: page numbers and counts fit u32.
        let page = Page::new(number as u32)?;
        let position = self.pages.len();
        let rank = self
            .by_number
            .partition_point(|&p| (self.pages[p as usize].number as usize) < number);
        self.by_number.insert(rank, position as u32);
        self.pages.push(page);
        self.directory[number / SHELF].get_or_insert_with(|| Box::new([0; SHELF]))
            [number % SHELF] = position as u32 + 1;
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
        let page = &memory.pages[0];
        let bytes = size_of_val(page) + size_of_val(&*page.columns);
        assert!(bytes / PAGE <= 160, "{} bytes", bytes / PAGE);
    }
}
