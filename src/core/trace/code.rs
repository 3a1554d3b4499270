//! The encoding of integers and floating-point numbers in three byte streams. One description serves for writing and
//! for reading.

use super::PURPOSE;
use crate::process::allocation;

/// What cannot be part of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The three streams of a chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Streams {
    /// Kinds of events and integers.
    pub control: Vec<u8>,
    /// How each number is stored: half a byte each, the first one low.
    pub shapes: Vec<u8>,
    /// The bytes of the numbers.
    pub bytes: Vec<u8>,
    /// Whether the last byte of `shapes` has room for another one.
    pub half: bool,
}

impl Streams {
    /// Bytes in all.
    pub fn len(&self) -> usize {
        self.control.len() + self.shapes.len() + self.bytes.len()
    }

    /// Empties the streams and keeps their memory.
    pub fn clear(&mut self) {
        self.control.clear();
        self.shapes.clear();
        self.bytes.clear();
        self.half = false;
    }
}

/// Writes values from the places they are in, or reads values into these places. So one description of an event serves
/// for both.
pub trait Coder {
    /// Whether values are read.
    const READS: bool;

    /// Makes room for `count` items of `size` bytes each, where they are written.
    ///
    /// # Errors
    ///
    /// There is no memory.
    fn expect(&mut self, count: usize, size: usize) -> Result<(), Malformed> {
        let _ = (count, size);
        Ok(())
    }

    /// An integer.
    ///
    /// # Errors
    ///
    /// There is none to be read.
    fn whole(&mut self, value: &mut u64) -> Result<(), Malformed>;

    /// Reads or writes a number as its difference from the prediction `foretold`, which both sides know.
    ///
    /// # Errors
    ///
    /// There is none to be read.
    fn number(&mut self, value: &mut f64, foretold: f64) -> Result<(), Malformed>;

    /// A text.
    ///
    /// # Errors
    ///
    /// There is none to be read.
    fn text(&mut self, value: &mut String) -> Result<(), Malformed>;

    /// An integer of the interface.
    ///
    /// # Errors
    ///
    /// There is none to be read.
    #[inline]
    fn small(&mut self, value: &mut i32) -> Result<(), Malformed> {
        let mut folded = fold(i64::from(*value));
        self.whole(&mut folded)?;
        if Self::READS {
            *value = unfold(folded).try_into().map_err(|_| Malformed)?;
        }
        Ok(())
    }

    /// Three numbers.
    ///
    /// # Errors
    ///
    /// They are not there to be read.
    #[inline]
    fn vector(&mut self, value: &mut [f64; 3], foretold: [f64; 3]) -> Result<(), Malformed> {
        for k in 0..3 {
            self.number(&mut value[k], foretold[k])?;
        }
        Ok(())
    }
}

/// Writes into streams.
pub struct Writer<'a>(pub &'a mut Streams);

/// Reads from streams.
pub struct Reader<'a> {
    streams: &'a Streams,
    control: usize,
    shapes: usize,
    bytes: usize,
}

impl<'a> Reader<'a> {
    /// From the beginning, or from the places that [`Reader::place`] told.
    pub fn at(streams: &'a Streams, [control, shapes, bytes]: [usize; 3]) -> Self {
        Self {
            streams,
            control,
            shapes,
            bytes,
        }
    }

    /// Where it is in the streams (in half bytes in the second).
    pub fn place(&self) -> [usize; 3] {
        [self.control, self.shapes, self.bytes]
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = *self.streams.control.get(self.control).ok_or(Malformed)?;
        self.control += 1;
        Ok(byte)
    }

    fn shape(&mut self) -> Result<usize, Malformed> {
        let byte = *self.streams.shapes.get(self.shapes / 2).ok_or(Malformed)?;
        let shape = byte >> (4 * (self.shapes % 2)) & 15;
        self.shapes += 1;
        Ok(shape.into())
    }
}

/// The shape of a number of which only the two highest bytes of the difference are not zero.
const HIGH: usize = 9;

/// The bits from which the difference is taken. A NaN has no bits that two machines agree on.
#[inline]
fn base(foretold: f64) -> i64 {
    match foretold.is_nan() {
        true => 0,
        false => foretold.to_bits() as i64,
    }
}

/// Small integers of both signs become small ones without.
#[inline]
fn fold(n: i64) -> u64 {
    ((n << 1) ^ (n >> 63)) as u64
}

#[inline]
fn unfold(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

impl Coder for Writer<'_> {
    const READS: bool = false;

    fn expect(&mut self, count: usize, size: usize) -> Result<(), Malformed> {
        let Streams {
            control,
            shapes,
            bytes,
            ..
        } = &mut *self.0;
        // An item has one integer, of at most ten bytes; a number has a shape of half a byte, and is
        // first written with all its eight.
        let items = count.saturating_mul(size);
        for (column, room) in [
            (control, count.saturating_mul(10)),
            (shapes, items / 16),
            (bytes, items),
        ] {
            allocation::reserve(column, room.saturating_add(16), PURPOSE).map_err(|_| Malformed)?;
        }
        Ok(())
    }

    #[inline]
    fn whole(&mut self, value: &mut u64) -> Result<(), Malformed> {
        let mut rest = *value;
        while rest >= 128 {
            self.0.control.push(rest as u8 | 128);
            rest >>= 7;
        }
        self.0.control.push(rest as u8);
        Ok(())
    }

    #[inline]
    fn number(&mut self, value: &mut f64, foretold: f64) -> Result<(), Malformed> {
        let difference = fold((value.to_bits() as i64).wrapping_sub(base(foretold)));
        let mut shape = (64 - difference.leading_zeros() as usize).div_ceil(8);
        if difference.trailing_zeros() >= 48 && shape > 2 {
            shape = HIGH;
            let high = (difference >> 48) as u16;
            self.0.bytes.extend_from_slice(&high.to_le_bytes());
        } else {
            // All eight are written, which is one store, and those that are zero taken back.
            let end = self.0.bytes.len() + shape;
            self.0.bytes.extend_from_slice(&difference.to_le_bytes());
            self.0.bytes.truncate(end);
        }
        let half = self.0.half;
        match self.0.shapes.last_mut() {
            Some(last) if half => *last |= (shape as u8) << 4,
            _ => self.0.shapes.push(shape as u8),
        }
        self.0.half = !half;
        Ok(())
    }

    fn text(&mut self, value: &mut String) -> Result<(), Malformed> {
        self.whole(&mut (value.len() as u64))?;
        self.0.control.extend_from_slice(value.as_bytes());
        Ok(())
    }
}

impl Coder for Reader<'_> {
    const READS: bool = true;

    fn whole(&mut self, value: &mut u64) -> Result<(), Malformed> {
        *value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            *value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(());
            }
        }
        Err(Malformed)
    }

    fn number(&mut self, value: &mut f64, foretold: f64) -> Result<(), Malformed> {
        let shape = self.shape()?;
        let (length, shift) = match shape {
            HIGH => (2, 48),
            0..=8 => (shape, 0),
            _ => return Err(Malformed),
        };
        let end = self.bytes + length;
        let stored = self.streams.bytes.get(self.bytes..end).ok_or(Malformed)?;
        self.bytes = end;
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(stored);
        let difference = unfold(u64::from_le_bytes(bytes) << shift);
        *value = f64::from_bits(base(foretold).wrapping_add(difference) as u64);
        Ok(())
    }

    fn text(&mut self, value: &mut String) -> Result<(), Malformed> {
        let mut length = 0;
        self.whole(&mut length)?;
        value.clear();
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| self.control.checked_add(length))
            .ok_or(Malformed)?;
        let bytes = self.streams.control.get(self.control..end);
        value.push_str(std::str::from_utf8(bytes.ok_or(Malformed)?).map_err(|_| Malformed)?);
        self.control = end;
        Ok(())
    }
}

/// The length of a list and its items.
///
/// # Errors
///
/// They are not there to be read.
#[inline]
pub fn each<C: Coder, T: Default>(
    c: &mut C,
    items: &mut Vec<T>,
    mut code: impl FnMut(&mut C, &mut T) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let mut count = items.len() as u64;
    c.whole(&mut count)?;
    if !C::READS {
        c.expect(items.len(), size_of::<T>())?;
        return items.iter_mut().try_for_each(|item| code(c, item));
    }
    items.clear();
    // A wrong count meets the end of the streams: every item takes something from them.
    for _ in 0..count {
        let mut item = T::default();
        code(c, &mut item)?;
        items.push(item);
    }
    Ok(())
}

/// Writes or reads a flag.
///
/// # Errors
///
/// There is none to be read.
#[inline]
pub fn flag<C: Coder>(c: &mut C, value: &mut bool) -> Result<(), Malformed> {
    let mut n = u64::from(*value);
    c.whole(&mut n)?;
    *value = n != 0;
    Ok(())
}

/// A label, as its distance from another one.
///
/// # Errors
///
/// There is none to be read.
#[inline]
pub fn label<C: Coder>(c: &mut C, value: &mut i32, near: i32) -> Result<(), Malformed> {
    let mut distance = value.wrapping_sub(near);
    c.small(&mut distance)?;
    *value = near.wrapping_add(distance);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back_bit_for_bit(pairs in prop::collection::vec((any::<u64>(), any::<u64>(), 0..64_u32), 1..50)) {
            let pairs: Vec<(f64, f64)> = pairs
                .into_iter()
                // Neighbours of what is foretold, as well as anything.
                .map(|(a, b, shift)| (f64::from_bits(b ^ (a >> shift)), f64::from_bits(b)))
                .collect();
            let mut streams = Streams::default();
            for (mut value, foretold) in pairs.iter().copied() {
                Writer(&mut streams).number(&mut value, foretold).unwrap();
            }
            let mut reader = Reader::at(&streams, [0; 3]);
            for (value, foretold) in pairs {
                let mut found = 0.0;
                reader.number(&mut found, foretold).unwrap();
                prop_assert_eq!(found.to_bits(), value.to_bits());
            }
        }

        #[test]
        fn integers_come_back(values in prop::collection::vec((any::<i32>(), any::<u64>()), 1..50)) {
            let mut streams = Streams::default();
            for (mut a, mut b) in values.iter().copied() {
                let mut writer = Writer(&mut streams);
                writer.small(&mut a).unwrap();
                writer.whole(&mut b).unwrap();
            }
            let mut reader = Reader::at(&streams, [0; 3]);
            for (a, b) in values {
                let mut found = (0, 0);
                reader.small(&mut found.0).unwrap();
                reader.whole(&mut found.1).unwrap();
                prop_assert_eq!(found, (a, b));
            }
        }
    }

    #[test]
    fn near_numbers_are_short() {
        let mut streams = Streams::default();
        for (mut value, foretold) in [(1.5, 1.5), (1.0, 1.0 - 1e-16), (0.5, 0.25)] {
            Writer(&mut streams).number(&mut value, foretold).unwrap();
        }
        assert_eq!(streams.bytes.len(), 3, "nothing, one byte, two");
        assert_eq!(streams.shapes.len(), 2);
    }

    #[test]
    fn the_end_of_the_columns_is_found() {
        let streams = Streams::default();
        let mut reader = Reader::at(&streams, [0; 3]);
        assert_eq!(reader.small(&mut 0), Err(Malformed));
        assert_eq!(reader.number(&mut 0.0, 0.0), Err(Malformed));
        assert_eq!(reader.text(&mut String::new()), Err(Malformed));
        let long = Streams {
            control: vec![255; 20],
            ..Streams::default()
        };
        assert_eq!(Reader::at(&long, [0; 3]).whole(&mut 0), Err(Malformed));
        let mut list = vec![1];
        let found = each(&mut Reader::at(&long, [0; 3]), &mut list, |c, n| c.small(n));
        assert_eq!(found, Err(Malformed));
    }
}
