//! Stores many particles at once, from the arrays of a client: all particles, or the particles at listed addresses.
//!
//! A load goes through a page word by word, so that each column is written in the order of the memory. A particle's label
//! is its address.

use crate::error::Result;
use crate::sources::strided::Strided;

use super::body::{COLUMNS, Columns, Particles};
use super::log::{HAS_MOTION, HAS_SNAP, HAS_TIME};
use super::page::{Header, Page};
use super::row::{A1BY6, A2BY18, ABY2, MASS, TIME, V, X};
use super::{JMemory, PAGE, SourceKind};

/// One word of each of some particles: the client's numbers, divided.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    from: Strided,
    divisor: f64,
}

/// What a client gives of some particles. What it does not give is zero in a load, and stays in an update.
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

    /// Where the numbers of the particles from `first` on have other bits than these; 0 if nowhere.
    ///
    /// # Safety
    ///
    /// The client has as many.
    #[inline(always)]
    unsafe fn differ(self, from: &[f64], first: usize) -> u64 {
        let differences = from.iter().enumerate().map(|(slot, number)| {
            // SAFETY: passed on.
            number.to_bits() ^ unsafe { self.get(first + slot) }.to_bits()
        });
        differences.fold(0, |all, difference| all | difference)
    }

    /// Writes the numbers of the particles from `first` on. Returns the bits of all of them.
    ///
    /// # Safety
    ///
    /// The client has as many.
    #[inline(always)]
    unsafe fn fill(self, to: &mut [f64], first: usize) -> u64 {
        let mut bits = 0;
        for (slot, to) in to.iter_mut().enumerate() {
            // SAFETY: passed on.
            let number = unsafe { self.from.bits(first + slot) };
            *to = f64::from_bits(number);
            bits |= number;
        }
        if self.divisor != 1.0 {
            to.iter_mut().for_each(|to| *to /= self.divisor);
        }
        bits
    }
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
    /// Stores these particles at the addresses `0..count`, and empties the rest of their pages. All earlier particles must
    /// have been stored by this function, too.
    ///
    /// # Errors
    ///
    /// There is no memory. Nothing changes then.
    ///
    /// # Safety
    ///
    /// The client has `count` of all numbers that it gives.
    pub unsafe fn load(&mut self, count: usize, given: &Given) -> Result<()> {
        for number in 0..count.div_ceil(PAGE) {
            let position = self.reserve((number * PAGE) as i32)?;
            let page = &self.pages[position];
            (page.body).make_columns(|particles| page.bring_in(&self.log, particles))?;
            if self.has_softening() {
                self.pages[position].soften()?;
            }
        }
        self.settle();
        self.written += count as u64;
        for first in (0..count).step_by(PAGE) {
            let position = self.reserve(first as i32)?;
            self.list(position);
            // SAFETY: passed on.
            unsafe { self.pages[position].load(first, PAGE.min(count - first), given) };
        }
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

impl Page {
    /// # Safety
    ///
    /// The client has `count` numbers from `first` on.
    unsafe fn load(&mut self, first: usize, count: usize, given: &Given) {
        let Self { header, body, eps2 } = self;
        let particles = body.change(false);
        let Some(columns) = &mut particles.columns else {
            return;
        };
        let mut mass_changes = 0;
        let is_at_rest = header.is_at_rest();
        let mut flags = 0;
        for (word, column) in columns.all().iter_mut().enumerate() {
            match given.words[word] {
                Some(numbers) => {
                    let (to, rest) = column.split_at_mut(count);
                    if word == MASS {
                        // SAFETY: passed on.
                        mass_changes = unsafe { numbers.differ(to, first) };
                    }
                    // SAFETY: passed on.
                    let bits = unsafe { numbers.fill(to, first) };
                    rest.fill(0.0);
                    flags |= if bits != 0 { flag(word) } else { 0 };
                }
                // Zero already.
                None if is_at_rest && flag(word) != 0 => {}
                None => column.fill(0.0),
            }
        }
        if let (Some(eps2), Some(given)) = (eps2, given.eps2) {
            for (slot, eps2) in eps2[..count].iter_mut().enumerate() {
                // SAFETY: passed on.
                *eps2 = unsafe { given.get(first + slot) };
            }
        }
        let same_slots = header.hold_just(count);
        particles.mass_version += u64::from(mass_changes != 0 || !same_slots);
        if !same_slots {
            label(particles, first, count);
        }
        header.load(count, flags);
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
        self.present == first_slots(count)
    }

    /// Records that the page's first `count` slots now hold new particles with these `flags`, and that all other slots are
    /// empty.
    fn load(&mut self, count: usize, flags: u8) {
        let present = first_slots(count);
        for (w, now) in present.into_iter().enumerate() {
            self.changed[w] |= self.present[w] | now;
        }
        self.present = present;
        self.flags = flags;
        self.version += count as u64;
    }
}

/// The bits of the first `count` slots.
fn first_slots(count: usize) -> [u64; PAGE / 64] {
    std::array::from_fn(|w| match count.saturating_sub(64 * w) {
        64.. => u64::MAX,
        below => (1 << below) - 1,
    })
}
