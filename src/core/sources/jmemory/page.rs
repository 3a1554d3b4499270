//! A page: the particles at consecutive addresses, every field an array of its own.

use std::ops::{Deref, DerefMut, Range};

use crate::error::Result;
use crate::process::allocation;
use crate::sources::particle::{IParticle, JParticle};
use crate::sources::predictor::{Coordinate, Scalar};

use super::PURPOSE;
use super::body::{Body, COLUMNS, Columns, Particles};
use super::log::{HAS_MOTION, HAS_SNAP, HAS_TIME, Log, RowPlace};
use super::row::{A1BY6, A2BY18, ABY2, ClientParticle, MASS, TIME, V, X};
use super::slots::Slots;

/// Particles in one page.
pub const PAGE: usize = 512;

/// One coordinate or other scalar of all particles of a page.
///
/// A page has many columns that are used together. Without the padding all of them would
/// begin a power of two apart and compete for the same few lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct PageArray<T> {
    values: [T; PAGE],
    padding: [T; 16],
}

impl<T: Copy + Default> Default for PageArray<T> {
    fn default() -> Self {
        Self {
            values: [T::default(); PAGE],
            padding: [T::default(); 16],
        }
    }
}

impl<T> Deref for PageArray<T> {
    type Target = [T; PAGE];
    #[inline(always)]
    fn deref(&self) -> &[T; PAGE] {
        &self.values
    }
}

impl<T> DerefMut for PageArray<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; PAGE] {
        &mut self.values
    }
}

/// Which words of the particles of a page beside their masses may differ from zero. No others have to be written to columns: each column is
/// in other lines of the cache.
#[derive(Clone, Copy, PartialEq)]
pub enum Extent {
    /// The positions.
    Rest,
    /// All but the fourth derivatives.
    NoSnap,
    All,
}

impl Extent {
    #[inline(always)]
    pub fn words(self) -> Range<usize> {
        match self {
            Self::Rest => X..V,
            Self::NoSnap => TIME..A2BY18,
            Self::All => TIME..COLUMNS,
        }
    }
}

/// What is known of a page without a look at its particles. Changes with the writes that the memory takes in.
pub struct Header {
    number: u32,
    pub(super) version: u64,
    pub(super) present: [u64; PAGE / 64],
    pub(super) changed: Slots,
    /// Those of all writes.
    pub(super) flags: u8,
    /// Whether the memory counts it among the changed pages.
    pub(super) is_listed: bool,
    /// The range of the log's order that has the writes to this page. The range stays after these writes were brought
    /// in, until the next log is taken in.
    pub(super) waiting: Range<usize>,
}

/// The particles at [`PAGE`] consecutive addresses.
///
/// [`JMemory::page`](super::JMemory::page) hands out pages with their columns up to date.
pub struct Page {
    pub(super) header: Header,
    pub(super) body: Body,
    /// Squares of the particles' own softening lengths, where they have any.
    pub(super) eps2: Option<Box<PageArray<f64>>>,
}

impl Deref for Page {
    type Target = Header;
    #[inline(always)]
    fn deref(&self) -> &Header {
        &self.header
    }
}

impl Page {
    /// A page without particles, which will be stored as columns or as rows.
    pub(super) fn new(number: u32, as_columns: bool) -> Result<Self> {
        Ok(Self {
            header: Header {
                number,
                version: 0,
                present: [0; PAGE / 64],
                changed: Slots::default(),
                flags: 0,
                is_listed: false,
                waiting: 0..0,
            },
            body: Body::new(as_columns)?,
            eps2: None,
        })
    }

    /// Makes room for a softening length of each particle.
    pub(super) fn soften(&mut self) -> Result<()> {
        allocation::fill(&mut self.eps2, PURPOSE, PageArray::default).map(drop)
    }

    /// Counts a write that the memory takes in.
    #[inline(always)]
    pub(super) fn count(&mut self, place: RowPlace) {
        let header = &mut self.header;
        header.waiting.end += 1;
        header.note(usize::from(place.slot) % PAGE, place.flags);
    }

    /// Writes a particle to a slot. No writes wait. `at_rest` says that the particle has nothing but a label, a mass and a
    /// position.
    ///
    /// # Safety
    ///
    /// The pointers among the numbers point to three numbers each.
    #[inline(always)]
    pub(super) unsafe fn write(&mut self, slot: usize, numbers: &ClientParticle, at_rest: bool) {
        let flags = match at_rest && self.header.is_at_rest() {
            true => 0,
            // SAFETY: passed on.
            false => unsafe { numbers.flags(self.header.flags) },
        };
        self.header.note(slot, flags);
        let extent = self.header.extent();
        // SAFETY: passed on.
        unsafe { self.body.change(false).write(slot, numbers, extent) };
    }

    /// Brings in the writes that wait.
    #[inline]
    pub(super) fn bring_in(&self, log: &Log, particles: &mut Particles) {
        let order = &log.order()[self.waiting.clone()];
        particles.bring_in(log.rows(), order, self.extent());
    }

    /// The same for the only thread that has the page.
    pub(super) fn bring_all_in(&mut self, log: &Log) {
        if self.body.waits() {
            let Self { header, body, .. } = self;
            let order = &log.order()[header.waiting.clone()];
            let particles = body.change(false);
            particles.bring_in(log.rows(), order, header.extent());
        }
        self.header.waiting = 0..0;
    }

    pub(super) fn forget_changes(&mut self) {
        self.header.changed = Slots::default();
        self.header.is_listed = false;
    }

    pub(super) fn change_everything(&mut self) {
        self.header.changed = Slots::from(&self.header.present);
    }

    #[inline(always)]
    fn columns(&self) -> &Columns {
        self.body.ready().columns()
    }

    /// Changes with every write that changes a mass.
    pub fn mass_version(&self) -> u64 {
        self.body.ready().mass_version
    }

    /// Changes with every write that changes a label.
    pub fn index_version(&self) -> u64 {
        self.body.ready().index_version
    }

    /// Labels; zero where no particle is present.
    pub fn index(&self) -> &[i32; PAGE] {
        &self.columns().index
    }

    /// The smallest and the greatest label of the page.
    #[inline(always)]
    pub fn index_range(&self) -> (i32, i32) {
        range_of(self.index().iter().copied())
    }

    /// Squares of the particles' own softening lengths, where they have any.
    pub fn eps2(&self) -> Option<&[f64; PAGE]> {
        self.eps2.as_deref().map(|eps2| &**eps2)
    }

    /// `i` as the particle in a slot feels it: their softening lengths are added in squares.
    #[inline(always)]
    pub fn softened(&self, slot: usize, i: &IParticle) -> IParticle {
        IParticle {
            eps2: i.eps2 + self.eps2.as_ref().map_or(0.0, |eps2| eps2[slot]),
            ..*i
        }
    }

    /// Masses.
    pub fn mass(&self) -> &[f64; PAGE] {
        self.columns().column(MASS)
    }

    /// The position in a slot, as it was written.
    pub fn x(&self, slot: usize) -> [f64; 3] {
        [0, 1, 2].map(|k| self.columns().column(X + k)[slot])
    }

    /// The velocity in a slot, as it was written.
    pub fn v(&self, slot: usize) -> [f64; 3] {
        [0, 1, 2].map(|k| self.columns().column(V + k)[slot])
    }

    /// The particle in a slot, as it was written. All zero where there is none.
    pub fn particle(&self, slot: usize) -> JParticle {
        self.body.ready().row(slot, self.holds(slot)).particle()
    }

    /// The predicted position of one particle at the time `ti`.
    pub fn predicted_position(&self, slot: usize, ti: f64) -> [f64; 3] {
        let s = ti - self.columns().column(TIME)[slot];
        [0, 1, 2].map(|k| self.coordinate(k, slot).position(Scalar, s))
    }

    /// Predicted positions at the time `ti`.
    pub fn predict_positions(&self, ti: f64, x: &mut [[f64; PAGE]; 3]) {
        for slot in 0..PAGE {
            for (k, x) in x.iter_mut().enumerate() {
                let s = ti - self.columns().column(TIME)[slot];
                x[slot] = self.coordinate(k, slot).position(Scalar, s);
            }
        }
    }

    /// Predicted velocities at the time `ti`.
    pub fn predict_velocities(&self, ti: f64, v: &mut [[f64; PAGE]; 3]) {
        for slot in 0..PAGE {
            for (k, v) in v.iter_mut().enumerate() {
                let s = ti - self.columns().column(TIME)[slot];
                v[slot] = self.coordinate(k, slot).velocity(Scalar, s);
            }
        }
    }

    fn coordinate(&self, k: usize, slot: usize) -> Coordinate<f64> {
        self.coordinate_columns(k).map(|column| column[slot])
    }

    /// Times.
    pub fn times(&self) -> &[f64; PAGE] {
        self.columns().column(TIME)
    }

    /// The columns of one coordinate; without the last derivative where no particle has any.
    pub fn coordinate_columns(&self, k: usize) -> Coordinate<&[f64; PAGE]> {
        let c = self.columns();
        Coordinate {
            x: c.column(X + k),
            v: c.column(V + k),
            aby2: c.column(ABY2 + k),
            a1by6: c.column(A1BY6 + k),
            a2by18: self.has_snap().then(|| c.column(A2BY18 + k)),
        }
    }
}

/// The smallest and the greatest of some labels.
#[inline(always)]
pub(super) fn range_of(labels: impl Iterator<Item = i32>) -> (i32, i32) {
    let widen = |(least, greatest): (i32, i32), index: i32| (least.min(index), greatest.max(index));
    labels.fold((i32::MAX, i32::MIN), widen)
}

impl Header {
    /// Notes a write with these flags.
    #[inline(always)]
    pub(super) fn note(&mut self, slot: usize, flags: u8) {
        self.version += 1;
        if !self.holds(slot) {
            self.present[slot / 64] |= 1 << (slot % 64);
        }
        self.changed.insert(slot);
        if flags & !self.flags != 0 {
            self.flags |= flags;
        }
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

    /// Whether some particle of the page has, or once had, a velocity or a higher derivative.
    pub fn has_motion(&self) -> bool {
        self.flags & (HAS_MOTION | HAS_SNAP) != 0
    }

    /// Whether every particle of the page is where it was written, at any finite time `ti`.
    pub fn is_at_rest(&self) -> bool {
        self.flags & (HAS_MOTION | HAS_SNAP | HAS_TIME) == 0
    }

    /// The words that may differ from zero once the waiting writes are brought in.
    #[inline(always)]
    fn extent(&self) -> Extent {
        match self.is_at_rest() {
            true => Extent::Rest,
            false if self.has_snap() => Extent::All,
            false => Extent::NoSnap,
        }
    }

    /// Bit `slot % 64` of word `slot / 64` tells whether the slot was ever written.
    pub fn present(&self) -> &[u64; PAGE / 64] {
        &self.present
    }

    /// The same for slots below the address `nj` only.
    pub fn present_below(&self, nj: usize) -> [u64; PAGE / 64] {
        let end = nj.saturating_sub(self.first_address());
        let mut words = self.present;
        for (w, word) in words.iter_mut().enumerate() {
            let count = end.saturating_sub(64 * w);
            if count < 64 {
                *word &= (1 << count) - 1;
            }
        }
        words
    }

    /// The slots that were written or emptied since [`super::JMemory::forget_changes`].
    #[inline(always)]
    pub fn changed(&self) -> &Slots {
        &self.changed
    }

    /// Whether a slot holds a particle.
    pub fn holds(&self, slot: usize) -> bool {
        self.present[slot / 64] >> (slot % 64) & 1 == 1
    }

    /// Whether some particle of the page has, or once had, a fourth-order term.
    pub fn has_snap(&self) -> bool {
        self.flags & HAS_SNAP != 0
    }

    /// Whether every slot of `range` holds a particle.
    #[inline]
    pub fn is_full(&self, range: Range<usize>) -> bool {
        let mut slot = range.start;
        while slot < range.end {
            let count = (64 - slot % 64).min(range.end - slot);
            let some = (u64::MAX >> (64 - count)) << (slot % 64);
            if self.present[slot / 64] & some != some {
                return false;
            }
            slot += count;
        }
        true
    }

    /// Slots below the address `nj` that hold a particle, in address order.
    pub fn slots(&self, nj: usize) -> impl Iterator<Item = usize> {
        let end = nj.saturating_sub(self.first_address()).min(PAGE);
        (0..end).filter(|&s| self.holds(s))
    }
}
