//! Stores many particles at once, from the arrays of a client: all particles, those of a range of addresses, or those at
//! listed addresses.
//!
//! A load goes through a page word by word, so that each column is written in the order of the memory. The label of a
//! loaded particle is its address.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::sources::strided::Strided;

use super::body::{COLUMNS, Columns, Particles};
use super::log::{HAS_MOTION, HAS_SNAP, HAS_TIME};
use super::page::{Header, Page, PageArray};
use super::row::{A1BY6, A2BY18, ABY2, MASS, TIME, V, X};
use super::{JMemory, PAGE, SourceKind, check_address};

/// One word of each of some particles: the client's numbers, divided.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    from: Strided,
    divisor: f64,
}

/// What a client gives of some particles. What it does not give is zero in a load, and stays in a fill or an update.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given {
    words: [Option<Word>; COLUMNS],
    /// Squares of the particles' own softening lengths.
    pub eps2: Option<Strided>,
}

/// Three numbers of each particle.
pub type Three = Option<[Strided; 3]>;

impl Given {
    /// Nothing but masses and times.
    pub fn new(mass: Option<Strided>, time: Option<Strided>) -> Self {
        let mut given = Self::default();
        given.put(MASS, mass, 1.0);
        given.put(TIME, time, 1.0);
        given
    }

    /// The same with positions, velocities, accelerations, jerks and snaps.
    pub fn with(mut self, [x, v, acc, jerk, snap]: [Three; 5]) -> Self {
        let of = [
            (X, x, 1.0),
            (V, v, 1.0),
            (ABY2, acc, 2.0),
            (A1BY6, jerk, 6.0),
            (A2BY18, snap, 18.0),
        ];
        for (word, three, divisor) in of {
            for (k, from) in three.into_iter().flatten().enumerate() {
                self.put(word + k, Some(from), divisor);
            }
        }
        self
    }

    /// The same without snaps.
    pub fn without_snap(mut self) -> Self {
        self.words[A2BY18..A2BY18 + 3].fill(None);
        self
    }

    fn put(&mut self, word: usize, from: Option<Strided>, divisor: f64) {
        self.words[word] = from.map(|from| Word { from, divisor });
    }

    /// Writes what is given of the particles from `first` on to these slots of a page.
    ///
    /// # Safety
    ///
    /// The client has as many.
    unsafe fn write(
        &self,
        columns: &mut Columns,
        eps2: Option<&mut PageArray<f64>>,
        slots: Range<usize>,
        first: usize,
    ) -> Written {
        let mut written = Written::default();
        for (word, column) in columns.all().iter_mut().enumerate() {
            let Some(numbers) = self.words[word] else {
                continue;
            };
            let to = &mut column[slots.clone()];
            if word == MASS {
                // SAFETY: passed on.
                written.mass_changes = unsafe { numbers.differ(to, first) };
            }
            // SAFETY: passed on.
            let bits = unsafe { numbers.fill(to, first) };
            written.flags |= if bits != 0 { flag(word) } else { 0 };
        }
        if let (Some(to), Some(eps2)) = (eps2, self.eps2) {
            for (k, to) in (first..).zip(&mut to[slots]) {
                // SAFETY: passed on.
                *to = unsafe { eps2.get(k) };
            }
        }
        written
    }

    /// Whether a particle is given anything but a mass and a position.
    pub fn moves(&self) -> bool {
        let rest = |word: usize| word == MASS || (X..V).contains(&word);
        let mut given = (0..COLUMNS).filter(|&word| self.words[word].is_some());
        given.any(|word| !rest(word))
    }
}

impl Word {
    /// # Safety
    ///
    /// The client has a number of particle `k`.
    #[inline(always)]
    unsafe fn get(self, k: usize) -> f64 {
        // SAFETY: passed on.
        let number = unsafe { self.from.get(k) };
        match self.divisor == 1.0 {
            true => number,
            false => number / self.divisor,
        }
    }

    /// Whether one of the numbers of the particles from `first` on has other bits than these. The divisor is 1.
    ///
    /// # Safety
    ///
    /// The client has as many.
    #[inline(always)]
    unsafe fn differ(self, from: &[f64], first: usize) -> bool {
        let differences = self.from.by_step(|numbers| {
            let differences = from.iter().enumerate().map(|(slot, number)| {
                // SAFETY: passed on.
                number.to_bits() ^ unsafe { numbers.bits(first + slot) }
            });
            differences.fold(0, |all, difference| all | difference)
        });
        differences != 0
    }

    /// Writes the numbers of the particles from `first` on. Returns the bits of all of them.
    ///
    /// # Safety
    ///
    /// The client has as many.
    #[inline(always)]
    unsafe fn fill(self, to: &mut [f64], first: usize) -> u64 {
        let bits = self.from.by_step(|numbers| {
            let mut bits = 0;
            for (slot, to) in to.iter_mut().enumerate() {
                // SAFETY: passed on.
                let number = unsafe { numbers.bits(first + slot) };
                *to = f64::from_bits(number);
                bits |= number;
            }
            bits
        });
        if self.divisor != 1.0 {
            to.iter_mut().for_each(|to| *to /= self.divisor);
        }
        bits
    }
}

/// What is known of particles that were written to a page.
#[derive(Default)]
struct Written {
    /// A mass is another than before.
    mass_changes: bool,
    /// Those of all words that are not zero.
    flags: u8,
}

/// The flag of a word that is not zero.
fn flag(word: usize) -> u8 {
    match word {
        TIME => HAS_TIME,
        V..A2BY18 => HAS_MOTION,
        A2BY18.. => HAS_SNAP,
        _ => 0,
    }
}

impl JMemory {
    /// Stores these particles at the addresses `0..count`, and empties all others. All earlier particles must have been
    /// stored by this function, too.
    ///
    /// # Errors
    ///
    /// There is no memory. Nothing changes then.
    ///
    /// # Safety
    ///
    /// The client has `count` of all numbers that it gives.
    pub unsafe fn load(&mut self, count: usize, given: &Given) -> Result<()> {
        self.make_room(0..count)?;
        for (first, slots) in pages_of(0..count) {
            let position = self.reserve(first as i32)?;
            self.list(position);
            // SAFETY: passed on.
            unsafe { self.pages[position].load(first, slots.end, given) };
        }
        let end = count.div_ceil(PAGE);
        let pages = &self.pages;
        let is_before = |&p: &u32| (pages[p as usize].number() as usize) < end;
        for rank in self.by_number.partition_point(is_before)..self.by_number.len() {
            let position = self.by_number[rank] as usize;
            if !self.pages[position].hold_just(0) {
                self.list(position);
                // SAFETY: no number is read.
                unsafe { self.pages[position].load(0, 0, given) };
            }
        }
        Ok(())
    }

    /// Stores particles at rest without labels at `count` addresses from `address` on. What the client does not give stays.
    /// The number for an address is at the address's place in the client's array. Nothing but masses, positions and
    /// softening lengths is given.
    ///
    /// # Errors
    ///
    /// There are no such addresses, or there is no memory for them. Nothing changes then.
    ///
    /// # Safety
    ///
    /// The client has numbers at these places.
    pub unsafe fn fill(&mut self, address: i32, count: usize, given: &Given) -> Result<()> {
        let first = check_address(address)?;
        let end = first.saturating_add(count);
        if i32::try_from(end).is_err() {
            return Err(Error::OutOfRange {
                argument: "nj",
                value: count as i64,
                legal: "addresses end at 2147483647",
            });
        }
        self.make_room(first..end)?;
        for (first, slots) in pages_of(first..end) {
            let position = self.reserve(first as i32)?;
            self.list(position);
            // SAFETY: passed on.
            unsafe { self.pages[position].fill(first, slots, given) };
        }
        Ok(())
    }

    /// Makes the pages of these addresses, as columns, and settles what was written before.
    fn make_room(&mut self, addresses: Range<usize>) -> Result<()> {
        *self.has_some_columns.get_mut() = true;
        for (first, _) in pages_of(addresses.clone()) {
            let position = self.reserve(first as i32)?;
            let page = &self.pages[position];
            (page.body).make_columns(|particles| page.bring_in(&self.log, particles))?;
            if self.has_softening() {
                self.pages[position].soften()?;
            }
        }
        self.settle();
        self.written += addresses.len() as u64;
        Ok(())
    }

    /// Overwrites the particles at `count` addresses, each of which holds one. The numbers for the k-th address are
    /// at place k in the client's arrays. If an address is listed more than once, the last entry wins.
    ///
    /// # Safety
    ///
    /// That of [`JMemory::load`].
    pub unsafe fn update(&mut self, count: usize, address: impl Fn(usize) -> usize, given: &Given) {
        self.settle();
        self.written += count as u64;
        for k in 0..count {
            let address = address(k);
            let Some(position) = self.position(address / PAGE) else {
                continue;
            };
            self.list(position);
            // SAFETY: passed on.
            unsafe { self.pages[position].update(address % PAGE, k, given) };
        }
    }

    /// Whether each particle has a softening length of its own.
    pub fn has_softening(&self) -> bool {
        matches!(
            self.sources,
            SourceKind::Softened | SourceKind::MovingSoftened
        )
    }

    /// The square of the softening length of the particle at an address.
    pub fn own_eps2(&self, address: usize) -> f64 {
        let position = self.position(address / PAGE);
        let eps2 = position.and_then(|position| self.pages[position].eps2());
        eps2.map_or(0.0, |eps2| eps2[address % PAGE])
    }
}

/// The pages of these addresses: of each, the first of the addresses and the slots of all.
fn pages_of(addresses: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    let pages = addresses.start / PAGE..addresses.end.div_ceil(PAGE);
    // None where there are no addresses.
    pages.take(addresses.len()).map(move |number| {
        let begin = number * PAGE;
        let first = addresses.start.max(begin);
        let end = addresses.end.min(begin + PAGE);
        (first, first - begin..end - begin)
    })
}

impl Page {
    /// Writes particles at rest without labels to `slots`. The page has columns, and no writes wait.
    ///
    /// # Safety
    ///
    /// The client has numbers at the places from `first` on.
    unsafe fn fill(&mut self, first: usize, slots: Range<usize>, given: &Given) {
        debug_assert!(self.is_at_rest() && !given.moves());
        let Self { header, body, eps2 } = self;
        let particles = body.change(false);
        let Some(columns) = &mut particles.columns else {
            return;
        };
        debug_assert!(columns.index.iter().all(|&index| index == 0));
        // SAFETY: passed on.
        let written = unsafe { given.write(columns, eps2.as_deref_mut(), slots.clone(), first) };
        particles.mass_version += u64::from(written.mass_changes);
        header.fill(slots);
    }

    /// # Safety
    ///
    /// The client has `count` numbers from `first` on.
    unsafe fn load(&mut self, first: usize, count: usize, given: &Given) {
        let Self { header, body, eps2 } = self;
        let particles = body.change(false);
        let Some(columns) = &mut particles.columns else {
            return;
        };
        // SAFETY: passed on.
        let written = unsafe { given.write(columns, eps2.as_deref_mut(), 0..count, first) };
        let is_at_rest = header.is_at_rest();
        for (word, column) in columns.all().iter_mut().enumerate() {
            match given.words[word] {
                Some(_) => column[count..].fill(0.0),
                // Zero already.
                None if is_at_rest && flag(word) != 0 => {}
                None => column.fill(0.0),
            }
        }
        let same_slots = header.hold_just(count);
        particles.mass_version += u64::from(written.mass_changes || !same_slots);
        if !same_slots {
            label(particles, first, count);
        }
        header.load(count, written.flags);
    }

    /// # Safety
    ///
    /// The client has a number `k`.
    unsafe fn update(&mut self, slot: usize, k: usize, given: &Given) {
        let Self { header, body, eps2 } = self;
        let particles = body.change(false);
        let Some(columns) = &mut particles.columns else {
            return;
        };
        let before = columns.column(MASS)[slot].to_bits();
        let mut flags = 0;
        for (word, column) in columns.all().iter_mut().enumerate() {
            if let Some(numbers) = given.words[word] {
                // SAFETY: passed on.
                let number = unsafe { numbers.get(k) };
                column[slot] = number;
                flags |= if number.to_bits() != 0 { flag(word) } else { 0 };
            }
        }
        if let (Some(eps2), Some(given)) = (eps2, given.eps2) {
            // SAFETY: passed on.
            eps2[slot] = unsafe { given.get(k) };
        }
        particles.mass_version += u64::from(columns.column(MASS)[slot].to_bits() != before);
        header.note(slot, flags);
    }
}

/// Labels the first particles of a page by their addresses.
fn label(particles: &mut Particles, first: usize, count: usize) {
    let Some(columns) = &mut particles.columns else {
        return;
    };
    let Columns { index, .. } = &mut **columns;
    let (labelled, rest) = index.split_at_mut(count);
    for (slot, index) in labelled.iter_mut().enumerate() {
        *index = (first + slot) as i32;
    }
    rest.fill(0);
    particles.index_version += 1;
}

impl Header {
    /// Whether the first `count` slots hold particles, and no others do.
    fn hold_just(&self, count: usize) -> bool {
        self.present == bits_of(0..count)
    }

    /// Records that these slots now hold new particles.
    pub(super) fn fill(&mut self, slots: Range<usize>) {
        self.version += slots.len() as u64;
        let written = bits_of(slots);
        self.changed.add(&written);
        for (present, written) in self.present.iter_mut().zip(written) {
            *present |= written;
        }
    }

    /// Records that the page's first `count` slots now hold new particles with these `flags`, and that all other slots are
    /// empty.
    fn load(&mut self, count: usize, flags: u8) {
        let present = bits_of(0..count);
        self.changed.add(&self.present);
        self.changed.add(&present);
        self.present = present;
        self.flags = flags;
        self.version += count.max(1) as u64;
    }
}

/// The bits of these slots.
fn bits_of(slots: Range<usize>) -> [u64; PAGE / 64] {
    let below = |slot: usize, w: usize| match slot.saturating_sub(64 * w) {
        64.. => u64::MAX,
        below => (1 << below) - 1,
    };
    std::array::from_fn(|w| below(slots.end, w) & !below(slots.start, w))
}
