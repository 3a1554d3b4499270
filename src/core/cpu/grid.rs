//! The common grid of the leading parts of positions.
//!
//! A position is split into a leading part, which is a multiple of the grid's step, and a rest. If both particles are
//! on one grid, the difference of the leading parts is exact. Without a common grid the leading part of an i-particle
//! far out would have as many digits as the distance. The rest would then be less than the last digit of the distance,
//! and would be lost in their sum: an error in the same direction for all j-particles.
//!
//! Each page has a grid. It is a function of the predicted positions of the page's particles.

use super::simd::{Real, leading};
use crate::force::scaling::Scaling;
use crate::sources::jmemory::{PAGE, Page};

/// Slots of which one greatest coordinate is taken.
pub const GROUP: usize = 64;
/// The groups of a page.
pub const GROUPS: usize = PAGE / GROUP;

/// A grid, by the exponent of the distance up to which a leading part has all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    exponent: i32,
}

impl Grid {
    /// That of positions of about 1.
    pub const USUAL: Self = Self::with(4);

    /// The grid for a page. `groups` holds the greatest coordinate of each group of slots, zero for a group without
    /// particles. Only the exponents of the coordinates count.
    ///
    /// Let m be the median of the groups' greatest coordinates. The grid reaches to between 4 m and 16 m. Smaller
    /// coordinates keep all their digits, and so do their differences. Of larger coordinates the leading part keeps the
    /// leading 24 bits. The median is used because a few escapers with large coordinates must not cost the other
    /// particles digits.
    pub fn of(mut groups: [f64; GROUPS]) -> Self {
        groups.sort_unstable_by(f64::total_cmp);
        let some = &groups[groups.partition_point(|&greatest| greatest == 0.0)..];
        match some.len() {
            0 => Self::USUAL,
            count => Self::around(some[(count - 1) / 2]),
        }
    }

    /// Whether this is the grid [`of`](Self::of) these, if one comparison with each of them tells.
    #[inline(always)]
    pub fn is_surely_of(self, groups: &[f64; GROUPS]) -> bool {
        let below = |limit: f64| groups.iter().filter(|&&greatest| greatest < limit).count();
        // Typical coordinates of this grid lie from 2^-4 to 2^-2 of its range.
        let [least, most] = [self.exponent - 4, self.exponent - 2].map(power_of_two);
        let none = groups.iter().filter(|&&greatest| greatest == 0.0).count();
        let median = none + (GROUPS - none).saturating_sub(1) / 2;
        self.exponent.abs() < 60 && none < GROUPS && (below(least)..below(most)).contains(&median)
    }

    fn around(typical: f64) -> Self {
        let above = (typical.to_bits() >> 52 & 0x7ff) as i32 - 1022;
        // Even exponents only: pages of one cluster then mostly share a grid.
        let exponent = (above + 3).div_euclid(2) * 2;
        Self {
            exponent: exponent.clamp(-60, 60),
        }
    }

    /// As a number, and back.
    #[inline(always)]
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// The grid with this [`Grid::exponent`].
    #[inline(always)]
    pub const fn with(exponent: i32) -> Self {
        Self { exponent }
    }

    /// The step: leading parts are multiples of it.
    #[inline(always)]
    pub fn step(self) -> f64 {
        power_of_two(self.exponent - 23)
    }

    /// A number which, added and subtracted again, leaves the nearest multiple of the step.
    #[inline(always)]
    pub fn rounder(self) -> f64 {
        1.5 * power_of_two(self.exponent - 23 + 52)
    }

    /// The leading part of a coordinate.
    #[inline(always)]
    pub fn leading<T: Real>(self, x: f64) -> f64 {
        leading::<T>((x + self.rounder()) - self.rounder())
    }
}

#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The end of the slots of a page that decide on its units, its grid and the leaves that are summed again: `end`, or that of the page
/// where no slot beyond `end` holds a particle.
pub fn deciding(page: &Page, end: usize) -> usize {
    let (word, bit) = (end / 64, end % 64);
    let present = page.present();
    let beyond = end < PAGE
        && (present[word] >> bit != 0 || present[word + 1..].iter().any(|&word| word != 0));
    if beyond { end } else { PAGE }
}

/// Whether the greatest leading part of each group, on any grid, has the exponent of the greatest coordinate. `present`
/// tells by a bit for each slot whether it holds a particle; it is asked only if a group may be empty.
#[inline(always)]
pub fn are_told(groups: &[f64; GROUPS], present: impl FnOnce() -> [u64; GROUPS]) -> bool {
    // Rounding changes the exponent only to the next power of two, or to zero. Zero is not told here.
    let told = |greatest: f64| greatest.is_finite() & !is_power_of_two(greatest);
    let all = groups.iter().fold(true, |all, &group| all & told(group));
    let or_empty = |(&group, present): (&f64, u64)| told(group) || group == 0.0 && present == 0;
    all || groups.iter().zip(present()).all(or_empty)
}

/// Whether a positive number is one. Zero counts as one, too.
#[inline(always)]
pub fn is_power_of_two(x: f64) -> bool {
    x.to_bits() << 12 == 0
}

/// The greatest coordinate of each group at the time `ti`, of the slots below `end`, in the given units.
#[cold]
pub fn groups(page: &Page, ti: f64, units: &Scaling, end: usize) -> [f64; GROUPS] {
    let mut greatest = [0.0_f64; GROUPS];
    for slot in page.slots(page.first_address() + end) {
        let x = page.predicted_position(slot, ti);
        let most = &mut greatest[slot / GROUP];
        *most = x.iter().fold(*most, |m, c| (c * units.length).abs().max(m));
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A power of two may have been rounded up, and zero stands for nothing only where nothing is.
    #[test]
    fn a_rounded_coordinate_tells_its_exponent_or_not() {
        let full = [0.3; GROUPS];
        assert!(are_told(&full, || unreachable!("no group is empty")));
        for k in 0..GROUPS {
            for (greatest, present, told) in [
                (0.5, 1, false),
                (f64::INFINITY, 1, false),
                (f64::NAN, 1, false),
                (0.0, 1, false),
                (0.0, 0, true),
            ] {
                let (mut groups, mut slots) = (full, [1; GROUPS]);
                (groups[k], slots[k]) = (greatest, present);
                assert_eq!(are_told(&groups, || slots), told, "{greatest}, {present}");
            }
        }
    }

    #[test]
    fn a_grid_that_is_surely_of_some_groups_is_their_grid() {
        let mut random = Random::default();
        let mut sure = 0;
        for _ in 0..20_000 {
            let scale = 8.0 * random.signed();
            let groups = [0; GROUPS].map(|_| match random.below(8) {
                0 => 0.0,
                _ => (scale + 3.0 * random.signed()).exp2(),
            });
            let grid = Grid::of(groups);
            for exponent in (-60..=60).step_by(2) {
                if Grid::with(exponent).is_surely_of(&groups) {
                    assert_eq!(grid.exponent(), exponent, "{groups:?}");
                    sure += 1;
                }
            }
        }
        assert!(sure > 19_000, "{sure}");
    }
}
