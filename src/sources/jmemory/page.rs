//! A page: the particles at consecutive addresses, every field an array of its own.

use std::ops::{Deref, DerefMut, Range};

use crate::error::{Error, Result};
use crate::process::allocation;
use crate::sources::particle::{IParticle, JParticle};
use crate::sources::predictor::{Coordinate, Scalar};

use super::PURPOSE;

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

/// A particle of those who know neither time nor velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtRest {
    /// Mass.
    pub mass: f64,
    /// Position.
    pub x: [f64; 3],
    /// Square of its own softening length, which is added to that of the i-particle.
    pub eps2: f64,
}

/// Columns of a page, in storage order.
const MASS: usize = 0;
const TIME: usize = 1;
const X: usize = 2;
const V: usize = 5;
const ABY2: usize = 8;
const A1BY6: usize = 11;
const A2BY18: usize = 14;
const COLUMNS: usize = 17;

/// Whether any number differs from zero. Compares bits: this runs in the client's floating-point
/// environment, where arithmetic might trap. -0 counts as different, which costs time at most.
#[inline(always)]
fn is_some(numbers: &[f64]) -> bool {
    numbers.iter().fold(0, |bits, n| bits | n.to_bits()) != 0
}

/// The particles at [`PAGE`] consecutive addresses.
pub struct Page {
    number: u32,
    version: u64,
    mass_version: u64,
    index_version: u64,
    columns: Box<[PageArray<f64>; COLUMNS]>,
    index: [i32; PAGE],
    present: [u64; PAGE / 64],
    changed: [u64; PAGE / 64],
    has_snap: bool,
    has_motion: bool,
    has_times: bool,
    /// Squares of the particles' own softening lengths, where they have any.
    eps2: Option<Box<PageArray<f64>>>,
}

impl Page {
    pub(super) fn new(number: u32) -> Result<Self> {
        let mut columns = Vec::new();
        allocation::lengthen(&mut columns, COLUMNS, PURPOSE, PageArray::default)?;
        let columns = columns.into_boxed_slice().try_into();
        Ok(Self {
            number,
            version: 0,
            mass_version: 0,
            index_version: 0,
            columns: columns.map_err(|_| Error::OutOfMemory { purpose: PURPOSE })?,
            index: [0; PAGE],
            present: [0; PAGE / 64],
            changed: [0; PAGE / 64],
            has_snap: false,
            has_motion: false,
            has_times: false,
            eps2: None,
        })
    }

    /// Makes room for a softening length of each particle.
    pub(super) fn soften(&mut self) -> Result<()> {
        allocation::fill(&mut self.eps2, PURPOSE, PageArray::default).map(drop)
    }

    /// What is written at rest to a slot.
    #[inline(always)]
    fn at_rest(&self, slot: usize) -> AtRest {
        AtRest {
            mass: self.columns[MASS][slot],
            x: [0, 1, 2].map(|k| self.columns[X + k][slot]),
            eps2: self.eps2.as_ref().map_or(0.0, |eps2| eps2[slot]),
        }
    }

    /// Writes particles at rest without labels to `slots`: what `make` makes of a slot and of what is there. Their
    /// softening lengths are kept where there is room for them.
    #[inline(always)]
    pub(super) fn fill(
        &mut self,
        slots: Range<usize>,
        mut make: impl FnMut(usize, AtRest) -> AtRest,
    ) {
        debug_assert!(self.is_at_rest() && self.index_range() == (0, 0));
        let mut mass_changes = 0;
        for slot in slots.clone() {
            let before = self.at_rest(slot);
            let particle = make(slot, before);
            mass_changes |= before.mass.to_bits() ^ particle.mass.to_bits();
            let c = &mut self.columns;
            c[MASS][slot] = particle.mass;
            for k in 0..3 {
                c[X + k][slot] = particle.x[k];
            }
            if let Some(eps2) = &mut self.eps2 {
                eps2[slot] = particle.eps2;
            }
        }
        self.mass_version += u64::from(mass_changes != 0);
        self.version += slots.len() as u64;
        for (w, first) in (0..PAGE).step_by(64).enumerate() {
            let bits = |slot: usize| match slot.clamp(first, first + 64) - first {
                64 => u64::MAX,
                below => (1 << below) - 1,
            };
            let written = bits(slots.end) & !bits(slots.start);
            self.present[w] |= written;
            self.changed[w] |= written;
        }
    }

    /// Writes a particle at rest at time 0, which is what treecodes send.
    #[inline(always)]
    pub(super) fn write_at_rest(&mut self, slot: usize, index: i32, mass: f64, x: &[f64; 3]) {
        // In a page at rest all other columns are zero already.
        if !self.is_at_rest() {
            self.stop(slot);
        }
        self.place(slot, index, mass, x);
    }

    /// Sets the time and all derivatives of the position to zero.
    #[cold]
    fn stop(&mut self, slot: usize) {
        self.columns[TIME][slot] = 0.0;
        for column in &mut self.columns[V..] {
            column[slot] = 0.0;
        }
    }

    #[inline]
    pub(super) fn write(&mut self, slot: usize, p: &JParticle) {
        self.place(slot, p.index, p.mass, &p.x);
        let c = &mut self.columns;
        c[TIME][slot] = p.t;
        for k in 0..3 {
            c[V + k][slot] = p.v[k];
            c[ABY2 + k][slot] = p.aby2[k];
            c[A1BY6 + k][slot] = p.a1by6[k];
            c[A2BY18 + k][slot] = p.a2by18[k];
        }
        self.has_times |= is_some(&[p.t]);
        self.has_snap |= is_some(&p.a2by18);
        self.has_motion |= is_some(&p.v) || is_some(&p.aby2) || is_some(&p.a1by6);
    }

    /// Writes label, mass and position.
    #[inline(always)]
    fn place(&mut self, slot: usize, index: i32, mass: f64, x: &[f64; 3]) {
        // No branch: whether a treecode's masses change follows no pattern that could be predicted.
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

    /// [`Page::present`] for slots written since [`super::JMemory::forget_changes`].
    pub fn changed(&self) -> &[u64; PAGE / 64] {
        &self.changed
    }

    pub(super) fn forget_changes(&mut self) {
        self.changed = [0; PAGE / 64];
    }

    pub(super) fn change_everything(&mut self) {
        self.changed = self.present;
    }

    /// Whether a slot holds a particle.
    pub(super) fn holds(&self, slot: usize) -> bool {
        self.present[slot / 64] >> (slot % 64) & 1 == 1
    }

    /// Memory of the page.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.columns)
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
            || range.into_iter().all(|s| self.holds(s))
    }

    /// Slots below the address `nj` that hold a particle, in address order.
    pub fn slots(&self, nj: usize) -> impl Iterator<Item = usize> {
        let end = nj.saturating_sub(self.first_address()).min(PAGE);
        (0..end).filter(|&s| self.holds(s))
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
        &self.columns[MASS]
    }

    /// The position in a slot, as it was written.
    pub fn x(&self, slot: usize) -> [f64; 3] {
        [0, 1, 2].map(|k| self.columns[X + k][slot])
    }

    /// The velocity in a slot, as it was written.
    pub fn v(&self, slot: usize) -> [f64; 3] {
        [0, 1, 2].map(|k| self.columns[V + k][slot])
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
