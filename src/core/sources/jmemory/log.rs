//! Writes on their way to the pages, in the order of the calls.
//!
//! A client's write is one append; no page is waited for. If all pages are rows and the writes are few,
//! [`JMemory::take_in`](super::JMemory::take_in) brings them in at once. Otherwise a page takes in its writes when something
//! reads it, or before the next log is taken in.

use crate::error::Result;
use crate::process::allocation;

use super::row::{ClientParticle, Row};
use super::{PURPOSE, prefetch};

/// How many writes a log holds at most.
pub const LOG: usize = 8192;

/// The room for a row is fetched into the cache when the row this many places before it is written. Otherwise the
/// stores would wait for memory, and the lock of the next call would wait for the stores.
pub const AHEAD: usize = 6;

/// The room that a log begins with.
const FIRST: usize = 64;

/// Where a row belongs, and what a look at it has shown.
#[derive(Clone, Copy)]
pub struct RowPlace {
    /// The position of its page.
    pub position: u32,
    /// Its slot in the page.
    pub slot: u16,
    /// The bits below.
    pub flags: u8,
}

/// Its time is not zero.
pub const HAS_TIME: u8 = 2;
/// It has a velocity, or a second or third derivative of the position.
pub const HAS_MOTION: u8 = 4;
/// It has a fourth derivative.
pub const HAS_SNAP: u8 = 8;

const _: () = assert!(size_of::<Row>() + size_of::<RowPlace>() <= 152);

/// A row in the order by pages.
#[derive(Clone, Copy, PartialEq)]
pub struct OrderedRow(u32);

const _: () = assert!(LOG <= 1 << 16);

impl OrderedRow {
    fn new(row: usize, slot: u16) -> Self {
        Self(row as u32 | u32::from(slot) << 16)
    }

    /// The number of the row in the log.
    #[inline(always)]
    pub fn row(self) -> usize {
        self.0 as usize & 0xFFFF
    }

    /// Its slot in the page.
    #[inline(always)]
    pub fn slot(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// Whether another one is `k` rows later, and `k` slots, too.
    #[inline(always)]
    pub fn is_before(self, k: u32, other: Self) -> bool {
        other.0 == self.0.wrapping_add(k << 16 | k)
    }
}

/// Writes, and their order by pages.
#[derive(Default)]
pub struct Log {
    rows: Vec<Row>,
    /// One for each row, with as much room.
    places: Vec<RowPlace>,
    /// The rows of one page side by side, each page's in the order of the calls. As much room, too.
    order: Vec<OrderedRow>,
}

impl Log {
    /// Number of rows.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// All rows in the order of the calls.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Where they belong.
    pub fn places(&self) -> &[RowPlace] {
        &self.places
    }

    /// The rows by pages.
    pub fn order(&self) -> &[OrderedRow] {
        &self.order
    }

    /// Whether nothing can be appended without a further allocation, or at all.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.rows.len() == self.rows.capacity()
    }

    /// Makes room for more rows, up to [`LOG`].
    ///
    /// # Errors
    ///
    /// There is no memory; nothing has changed.
    #[cold]
    pub fn grow(&mut self) -> Result<()> {
        let room = (2 * self.rows.capacity()).clamp(FIRST, LOG);
        let more = room - self.rows.len();
        self.order.clear();
        // The rows last: where they have room, the others have.
        allocation::reserve(&mut self.order, room, PURPOSE)?;
        allocation::reserve(&mut self.places, more, PURPOSE)?;
        allocation::reserve(&mut self.rows, more, PURPOSE)
    }

    /// Appends a write to a slot of the page at a position. There is room for it.
    ///
    /// # Safety
    ///
    /// The pointers of `p` point to three numbers each.
    #[inline(always)]
    pub unsafe fn push(&mut self, position: usize, slot: usize, p: &ClientParticle) {
        let len = self.rows.len();
        assert!(!self.is_full() && len == self.places.len() && len < self.places.capacity());
        // SAFETY: there is room for another row and its place, which are written before they count. The caller
        // vouches for `p`.
        unsafe {
            let row = self.rows.as_mut_ptr().add(len);
            prefetch::row(row.wrapping_add(AHEAD));
            Row::write(row, slot, p);
            self.rows.set_len(len + 1);
            self.places.as_mut_ptr().add(len).write(RowPlace {
                position: position as u32,
                slot: slot as u16,
                flags: p.flags(0),
            });
            self.places.set_len(len + 1);
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.places.clear();
        self.order.clear();
    }

    /// Sorts the rows by pages. `at` gives for the position of a page where its next row belongs.
    pub fn sort(&mut self, mut at: impl FnMut(usize) -> usize) {
        self.order.clear();
        self.order.resize(self.rows.len(), OrderedRow(0));
        for (n, place) in self.places.iter().enumerate() {
            self.order[at(place.position as usize)] = OrderedRow::new(n, place.slot);
        }
    }
}
