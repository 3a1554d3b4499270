//! The particles of a page at exactly the position of an i-particle. Without softening they exert no force. Single
//! precision cannot distinguish them from pairs at a tiny distance.

use std::ops::Range;

use crate::sources::jmemory::{PAGE, Page};

/// A power of two, twice as many as particles.
const ROOM: usize = 2 * PAGE;

/// A table of a page's particles without softening by their positions.
pub struct Places {
    /// The slot plus one of a particle whose position is worth this entry, or one before it without a gap.
    slots: [u16; ROOM],
    version: Option<u64>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            slots: [0; ROOM],
            version: None,
        }
    }
}

/// The entry that a position is worth.
#[inline(always)]
fn entry(x: [f64; 3]) -> usize {
    // Both zeros are the same place.
    let [a, b, c] = x.map(|x| (x + 0.0).to_bits());
    let mixed = a ^ b.rotate_left(21) ^ c.rotate_left(43);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % ROOM
}

#[inline(always)]
fn is_at(page: &Page, slot: usize, x: &[f64; 3]) -> bool {
    page.x(slot) == *x && page.eps2().is_none_or(|eps2| eps2[slot] == 0.0)
}

impl Places {
    /// Whether it is that of the page as it is.
    #[inline(always)]
    pub fn are_fresh(&self, page: &Page) -> bool {
        self.version == Some(page.version())
    }

    /// Makes the table of a page.
    pub fn load(&mut self, page: &Page) {
        self.slots.fill(0);
        for slot in page.slots(usize::MAX) {
            let mut at = entry(page.x(slot));
            while self.slots[at] != 0 {
                at = (at + 1) % ROOM;
            }
            self.slots[at] = slot as u16 + 1;
        }
        self.version = Some(page.version());
    }

    /// Calls `found` for each particle of the page among `range` that is at `x`. Returns whether there is any.
    #[inline(always)]
    pub fn each(
        &self,
        page: &Page,
        x: &[f64; 3],
        range: &Range<usize>,
        mut found: impl FnMut(usize),
    ) -> bool {
        let mut at = entry(*x);
        let mut any = false;
        while self.slots[at] != 0 {
            let slot = usize::from(self.slots[at] - 1);
            if range.contains(&slot) && is_at(page, slot, x) {
                found(slot);
                any = true;
            }
            at = (at + 1) % ROOM;
        }
        any
    }
}

/// As [`Places::each`], without a table.
#[cold]
#[inline(never)]
pub fn each(page: &Page, x: &[f64; 3], range: &Range<usize>, found: &mut dyn FnMut(usize)) -> bool {
    let mut any = false;
    for slot in range.clone() {
        if is_at(page, slot, x) {
            found(slot);
            any = true;
        }
    }
    any
}

#[cfg(test)]
mod tests {
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
                let any = places.each(page, &x, &range, |slot| a.push(slot));
                assert_eq!(any, each(page, &x, &range, &mut |slot| b.push(slot)));
                a.sort_unstable();
                assert_eq!(a, b);
            }
        }
        assert!(!places.each(page, &[0.5, 0.0, 1.0], &(0..PAGE), |_| panic!(
            "nobody is there"
        )));
    }
}
