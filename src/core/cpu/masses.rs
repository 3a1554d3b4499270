//! The masses and the labels of one page as the kernels read them.

use super::grid::GROUPS;
use super::simd::Real;
use crate::force::scaling;
use crate::sources::jmemory::{PAGE, Page, PageArray};

/// The masses of one page, divided by the first of them, so that equal masses are exact.
///
/// The unit is the first mass below `nj`, in address order, by which one can divide, or 1 in double precision. (A power of
/// two as the unit would round the mass 1/N in every term, always in the same direction.)
pub struct Masses<T> {
    /// The masses, divided by the unit.
    pub m: PageArray<T>,
    /// The unit: the first mass.
    pub unit: f64,
    /// The smallest magnitude that is not zero, divided by the unit; infinite where there is none.
    pub least: f64,
    /// The sum of the magnitudes of each leaf, divided by the unit. It is zero if no particle of the leaf has a mass.
    pub of_leaves: [f64; GROUPS],
    /// Whether no two of them have different signs.
    pub one_sign: bool,
    /// Whether all are zero.
    pub none: bool,
    /// Whether each slot has one, of 1.
    pub equal: bool,
    /// The version of the page, and the end of its slots that count.
    stamp: Option<(u64, usize)>,
}

impl<T: Real> Default for Masses<T> {
    fn default() -> Self {
        Self {
            m: PageArray::default(),
            unit: 1.0,
            least: f64::INFINITY,
            of_leaves: [0.0; GROUPS],
            one_sign: true,
            none: true,
            equal: false,
            stamp: None,
        }
    }
}

impl<T: Real> Masses<T> {
    /// Whether these are the masses of `page` below slot `end`.
    #[inline(always)]
    pub fn are_fresh(&self, page: &Page, end: usize) -> bool {
        self.stamp == Some((page.mass_version(), end))
    }

    /// Copies the masses of `page` below slot `end`. Leaves are `leaf` slots long.
    pub fn load(&mut self, page: &Page, end: usize, leaf: usize) {
        let masses = &page.mass()[..end];
        self.unit = match T::IS_DOUBLE {
            true => 1.0,
            false => scaling::of_masses(masses).0,
        };
        let inverse = 1.0 / self.unit;
        for (m, &mass) in self.m.iter_mut().zip(page.mass()) {
            *m = T::from_f64(mass * inverse);
        }
        self.m[end..].fill(T::default());
        let one = T::from_f64(1.0);
        self.none = masses.iter().fold(true, |all, &m| all & (m == 0.0));
        self.equal = self.m.iter().fold(end == PAGE, |all, &m| all & (m == one));
        let range = scaling::mass_range(masses);
        self.least = range.least * inverse.abs();
        self.one_sign = range.one_sign;
        self.of_leaves = [0.0; GROUPS];
        let leaves = self.m[..end].chunks(leaf).zip(masses.chunks(leaf));
        for (sum, (divided, masses)) in self.of_leaves.iter_mut().zip(leaves) {
            *sum = mass_of(divided);
            if *sum == 0.0 {
                // They may have underflowed.
                *sum = mass_of(masses) * inverse.abs();
            }
        }
        self.stamp = Some((page.mass_version(), end));
    }
}

/// The sum of the magnitudes of some masses.
pub fn mass_of<T: Real>(masses: &[T]) -> f64 {
    // In groups of this many, so that the compiler uses vectors.
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    for some in masses.chunks(LANES) {
        for (sum, m) in sums.iter_mut().zip(some) {
            *sum += m.to_f64().abs();
        }
    }
    sums.iter().sum()
}

/// What is known of the labels of one page.
#[derive(Default)]
pub struct Labels {
    least: i32,
    greatest: i32,
    /// Number of the first slots whose labels ascend.
    ascending: usize,
    version: Option<u64>,
}

/// Where in a page a label is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// In no slot.
    Nowhere,
    /// In this slot alone.
    At(usize),
    /// Perhaps in any slot, or in several.
    Anywhere,
}

impl Labels {
    /// Whether these are the labels of `page`.
    #[inline(always)]
    pub fn are_fresh(&self, page: &Page) -> bool {
        self.version == Some(page.index_version())
    }

    /// Notes the range and the order of the labels of `page`.
    #[inline(always)]
    pub fn load(&mut self, page: &Page) {
        (self.least, self.greatest) = page.index_range();
        let pairs = page.index().windows(2);
        self.ascending = 1 + pairs.take_while(|two| two[0] < two[1]).count();
        self.version = Some(page.index_version());
    }

    /// Whether some particle of the page may have this label.
    #[inline(always)]
    pub fn may_hold(&self, label: i32) -> bool {
        (self.least..=self.greatest).contains(&label)
    }

    /// Where a label is among the slots below `end` of `page`.
    pub fn find(&self, page: &Page, label: i32, end: usize) -> Found {
        if end > self.ascending {
            return Found::Anywhere;
        }
        let labels = &page.index()[..end];
        // Most clients number their particles without gaps.
        let first = labels.first().copied().unwrap_or_default();
        let guess = usize::try_from(i64::from(label) - i64::from(first)).unwrap_or(usize::MAX);
        match labels.get(guess) {
            Some(found) if *found == label => Found::At(guess),
            _ => labels
                .binary_search(&label)
                .map_or(Found::Nowhere, Found::At),
        }
    }
}
