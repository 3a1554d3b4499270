//! Some slots of a page.

use super::PAGE;

/// Some slots of a page. Iterating skips words without slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Bit `slot % 64` of word `slot / 64` tells whether a slot is among them.
    words: [u64; PAGE / 64],
    /// Bit `w` tells whether word `w` is not zero.
    used: u8,
}

const _: () = assert!(PAGE / 64 == u8::BITS as usize);

impl From<&[u64; PAGE / 64]> for Slots {
    fn from(words: &[u64; PAGE / 64]) -> Self {
        let mut slots = Self::default();
        slots.add(words);
        slots
    }
}

impl Slots {
    /// Adds a slot.
    #[inline(always)]
    pub fn insert(&mut self, slot: usize) {
        self.words[slot / 64] |= 1 << (slot % 64);
        if self.used >> (slot / 64) & 1 == 0 {
            self.used |= 1 << (slot / 64);
        }
    }

    /// Adds the slots whose bits are set.
    pub fn add(&mut self, bits: &[u64; PAGE / 64]) {
        for (w, (word, bits)) in self.words.iter_mut().zip(bits).enumerate() {
            *word |= bits;
            self.used |= u8::from(*word != 0) << w;
        }
    }

    /// The words.
    pub fn words(&self) -> &[u64; PAGE / 64] {
        &self.words
    }

    /// Number of slots.
    #[inline]
    pub fn count(&self) -> usize {
        let words = bits(self.used.into()).map(|w| self.words[w]);
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// All of them, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        bits(self.used.into()).flat_map(|w| bits(self.words[w]).map(move |bit| w * 64 + bit))
    }
}

/// The numbers of the bits that are set, ascending.
#[inline(always)]
fn bits(mut rest: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros() as usize;
        (rest != 0).then(|| {
            rest &= rest - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_in_order() {
        let mut slots = Slots::default();
        [511, 3, 0, 3]
            .into_iter()
            .for_each(|slot| slots.insert(slot));
        let mut bits = [0; PAGE / 64];
        bits[2] = 1 << 5;
        slots.add(&bits);
        assert_eq!(slots.iter().collect::<Vec<_>>(), [0, 3, 133, 511]);
        assert_eq!(slots.count(), 4);
        assert_eq!(Slots::from(slots.words()), slots);
    }
}
