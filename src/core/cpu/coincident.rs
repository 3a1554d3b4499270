//! The particles of a page at exactly the position of an i-particle. Without softening they exert no force. Single
//! precision cannot distinguish them from pairs at a tiny distance.

use std::ops::Range;

use super::simd::{Rows, Simd};
use crate::error::Result;
use crate::process::allocation;
use crate::sources::jmemory::{PAGE, Page};

/// A power of two, twice as many as particles.
const ROOM: usize = 2 * PAGE;

/// The bits of a filter: 64 times as many as particles, so that it sends 1.5 % of all other positions to the table.
const BITS: usize = 64 * PAGE;

/// Slots that are looked at together where there is no table.
const LOOKED_AT: usize = 32;

/// A number that depends on a position. Its upper half is the bit of the filter, its lower half the tag.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hash(u32);

impl Hash {
    /// That of an i-particle with softening, which is looked for nowhere.
    pub const NOWHERE: Self = Self((BITS as u32) << 16);

    /// The hash of a position.
    #[inline(always)]
    pub fn of(x: &[f64; 3]) -> Self {
        // Both zeros are the same place.
        let [a, b, c] = x.map(|x| (x + 0.0).to_bits());
        let mixed = a ^ b.rotate_left(21) ^ c.rotate_left(43);
        // The leading bits of the product depend on all bits of the factor.
        let product = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self((product >> (u64::BITS - BITS.ilog2() - 16)) as u32)
    }

    /// The bit of the filter.
    #[inline(always)]
    fn bit(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// What the table compares: other positions hardly ever have the same.
    #[inline(always)]
    fn tag(self) -> u16 {
        self.0 as u16
    }

    /// The entry of the table where a search begins.
    #[inline(always)]
    fn entry(self) -> usize {
        self.bit() / (BITS / ROOM)
    }

    /// The word and the bit of the filter.
    #[inline(always)]
    fn in_filter(self) -> (usize, u64) {
        (self.bit() / 64, 1 << (self.bit() % 64))
    }
}

/// A table of a page's particles without softening by their positions.
pub struct Places {
    /// One bit is set for the hash of each position. Most other positions find theirs not set, which takes one load.
    /// A word more is for those that are looked for nowhere.
    filter: [u64; BITS / 64 + 1],
    /// The slot plus one of a particle whose hash has this entry, or one before it without a gap; and the tag of its hash.
    slots: [(u16, u16); ROOM],
    version: Option<u64>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            filter: [0; BITS / 64 + 1],
            slots: [(0, 0); ROOM],
            version: None,
        }
    }
}

/// Which i-particles of a task may coincide with a particle of a page: a bit for each, and a word more.
#[derive(Default)]
pub struct MayCoincide(Vec<u64>);

impl MayCoincide {
    /// Makes room for so many i-particles.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn restart(&mut self, count: usize, purpose: &'static str) -> Result<()> {
        let words = count.div_ceil(64) + 1;
        allocation::lengthen(&mut self.0, words, purpose, u64::default)
    }

    /// The number of i-particles from number `k` on up to the first that may coincide, if that is less than 64.
    #[inline(always)]
    pub fn apart(&self, k: usize) -> usize {
        let (word, shift) = (k / 64, k % 64);
        let from_k = self.0[word] >> shift | (self.0[word + 1] << 1) << (63 - shift);
        from_k.trailing_zeros() as usize
    }
}

/// Whether a particle without softening is in the slot, at the position. (Absent ones are nowhere, though their memory names the origin.)
#[inline(always)]
fn is_at(page: &Page, slot: usize, x: &[f64; 3]) -> bool {
    page.x(slot) == *x && page.holds(slot) && page.eps2().is_none_or(|eps2| eps2[slot] == 0.0)
}

impl Places {
    /// Whether it is that of the page as it is.
    #[inline(always)]
    pub fn are_fresh(&self, page: &Page) -> bool {
        self.version == Some(page.version())
    }

    /// Makes the table of a page.
    pub fn load(&mut self, page: &Page) {
        self.filter.fill(0);
        self.slots.fill((0, 0));
        for slot in page.slots(usize::MAX) {
            let hash = Hash::of(&page.x(slot));
            let (word, bit) = hash.in_filter();
            self.filter[word] |= bit;
            let mut at = hash.entry();
            while self.slots[at].0 != 0 {
                at = (at + 1) % ROOM;
            }
            self.slots[at] = (slot as u16 + 1, hash.tag());
        }
        self.version = Some(page.version());
    }

    /// Whether a particle of the page may be at a position of this hash.
    #[inline(always)]
    fn may_hold(&self, hash: Hash) -> bool {
        let (word, bit) = hash.in_filter();
        self.filter[word] & bit != 0
    }

    /// Notes which i-particles may coincide with a particle of the page. All are looked up at once, so that the processor
    /// waits for the memory once, and fetches what [`Self::each`] will read. This is a function of its own, so that it takes
    /// no registers of the pair loops.
    #[inline(never)]
    pub fn look_up<S: Simd>(&self, s: S, page: &Page, hashes: &[Hash], found: &mut MayCoincide) {
        let columns = [0, 1, 2].map(|k| page.coordinate_columns(k).x);
        for (word, hashes) in found.0.iter_mut().zip(hashes.chunks(64)) {
            let each = hashes.iter().rev();
            *word = each.fold(0, |bits, &hash| bits << 1 | u64::from(self.may_hold(hash)));
            let mut rest = *word;
            while rest != 0 {
                let (slot, _) = self.slots[hashes[rest.trailing_zeros() as usize].entry()];
                for column in columns {
                    s.double()
                        .prefetch(&raw const column[usize::from(slot.max(1)) - 1]);
                }
                rest &= rest - 1;
            }
        }
    }

    /// Calls `found` for each unsoftened particle at the position `x` among the slots `range` of the page. `hash` is
    /// the hash of `x`. Returns whether there is any.
    #[inline(never)]
    pub fn each(
        &self,
        page: &Page,
        (x, hash): (&[f64; 3], Hash),
        range: &Range<usize>,
        mut found: impl FnMut(usize),
    ) -> bool {
        let mut at = hash.entry();
        let mut any = false;
        loop {
            let (slot, tag) = self.slots[at];
            let Some(slot) = usize::from(slot).checked_sub(1) else {
                return any;
            };
            if tag == hash.tag() && range.contains(&slot) && is_at(page, slot, x) {
                found(slot);
                any = true;
            }
            at = (at + 1) % ROOM;
        }
    }
}

/// So many i-particles without softening seek without tables for as long as it takes to make the table of one page.
const WORTH_A_TABLE: usize = 6;

/// The i-particles without softening since the j-particles have changed.
#[derive(Default)]
pub struct Sought {
    written: u64,
    count: usize,
}

impl Sought {
    /// Whether tables of so many pages pay for `ni` more i-particles. `written` counts the writes to the j-particles. Earlier
    /// i-particles count, too: who writes before each small block needs no tables, who asks again and again does.
    pub fn pay(&mut self, written: u64, ni: usize, pages: usize) -> bool {
        let before = if self.written == written {
            self.count
        } else {
            0
        };
        *self = Self {
            written,
            count: before.saturating_add(ni),
        };
        self.count / WORTH_A_TABLE >= pages
    }
}

/// As [`Places::each`], without a table.
#[cold]
#[inline(never)]
pub fn each(page: &Page, x: &[f64; 3], range: &Range<usize>, found: &mut dyn FnMut(usize)) -> bool {
    let column = page.coordinate_columns(0).x;
    let mut any = false;
    for begin in range.clone().step_by(LOOKED_AT) {
        let slots = begin..range.end.min(begin + LOOKED_AT);
        // A loop over vectors. Hardly any slots but those sought pass.
        let equal = |count: u64, c: &f64| count + u64::from(*c == x[0]);
        if column[slots.clone()].iter().fold(0, equal) == 0 {
            continue;
        }
        for slot in slots.filter(|&slot| is_at(page, slot, x)) {
            found(slot);
            any = true;
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::super::simd::portable::Portable;
    use super::*;
    use crate::sources::jmemory::JMemory;
    use crate::sources::particle::JParticle;

    #[test]
    fn the_table_knows_what_a_walk_through_the_page_finds() {
        let mut memory = JMemory::default();
        for address in 0..PAGE as i32 {
            let x = f64::from(address / 3);
            let particle = JParticle {
                x: [x, -0.0, 1.0 / (x + 1.0)],
                ..JParticle::default()
            };
            memory.write(address, &particle).unwrap();
        }
        let page = memory.page(0);
        let mut places = Places::default();
        assert!(!places.are_fresh(page));
        places.load(page);
        assert!(places.are_fresh(page));
        for range in [0..PAGE, 100..300] {
            for k in 0..PAGE / 2 {
                let x = [k as f64, 0.0, 1.0 / (k as f64 + 1.0)];
                let (mut a, mut b) = (Vec::new(), Vec::new());
                let hash = Hash::of(&x);
                let any = places.each(page, (&x, hash), &range, |slot| a.push(slot));
                assert!(places.may_hold(hash) || !any, "the filter forgot {x:?}");
                assert_eq!(any, each(page, &x, &range, &mut |slot| b.push(slot)));
                a.sort_unstable();
                assert_eq!(a, b);
            }
        }
        let x = [0.5, 0.0, 1.0];
        let nobody = |_| panic!("nobody is there");
        assert!(!places.each(page, (&x, Hash::of(&x)), &(0..PAGE), nobody));
    }

    #[test]
    fn the_next_that_may_coincide_is_found_across_words() {
        const COUNT: usize = 200;
        let mut memory = JMemory::default();
        let x = |k: usize| [k as f64, 0.5, -0.25];
        let is_there = |k: usize| [0, 3, 62, 63, 64, 128, 191, 199].contains(&k);
        for k in (0..COUNT).filter(|&k| is_there(k)) {
            let particle = JParticle {
                x: x(k),
                ..JParticle::default()
            };
            memory.write(k as i32, &particle).unwrap();
        }
        let (mut places, mut found) = (Places::default(), MayCoincide::default());
        places.load(memory.page(0));
        let hashes: Vec<Hash> = (0..COUNT).map(|k| Hash::of(&x(k))).collect();
        let may_hold: Vec<bool> = hashes.iter().map(|&hash| places.may_hold(hash)).collect();
        assert!((0..COUNT).all(|k| may_hold[k] || !is_there(k)));
        found.restart(COUNT, "a test").unwrap();
        places.look_up(
            Portable::<f32, 8>::default(),
            memory.page(0),
            &hashes,
            &mut found,
        );
        for k in 0..COUNT {
            let next = may_hold[k..].iter().position(|&may| may).unwrap_or(64);
            assert_eq!(found.apart(k).min(64), next.min(64), "{k}");
        }
        let full = Places {
            filter: std::array::from_fn(|word| if word < BITS / 64 { !0 } else { 0 }),
            ..places
        };
        assert!(full.may_hold(hashes[0]) && !full.may_hold(Hash::NOWHERE));
    }

    #[test]
    fn tables_pay_for_many_who_seek_without_a_write() {
        let mut sought = Sought::default();
        let small = WORTH_A_TABLE;
        assert!(sought.pay(1, 2 * small, 2));
        for written in 2..9 {
            assert!(!sought.pay(written, small, 2));
        }
        assert!(sought.pay(8, small, 2));
        assert!(!sought.pay(9, small, 2));
    }

    #[test]
    fn the_filter_holds_few_positions_that_are_not_there() {
        let mut memory = JMemory::default();
        // Round numbers have few bits.
        let lattice = |k: usize| [(k % 8) as f64, (k / 8 % 8) as f64, (k / 64) as f64];
        for address in 0..PAGE {
            let particle = JParticle {
                x: lattice(address),
                ..JParticle::default()
            };
            memory.write(address as i32, &particle).unwrap();
        }
        let mut places = Places::default();
        places.load(memory.page(0));
        let held = |x: [f64; 3]| places.may_hold(Hash::of(&x));
        assert!((0..PAGE).all(|k| held(lattice(k))));
        let elsewhere = (0..PAGE).map(|k| lattice(k).map(|x| x + 0.25));
        let false_alarms = elsewhere.filter(|&x| held(x)).count();
        assert!(false_alarms < PAGE / 20, "{false_alarms}");
    }
}
