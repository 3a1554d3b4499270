//! An index of sorted radii: a table, addressed by the leading bits of a radius, that narrows the search.

use crate::bisection::Search;

/// Stars to a place of the table, as a power of two, where radii are dense.
const DENSITY: u32 = 5;

/// Bits of the mantissa in a double precision number.
const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;

/// For each of the numbers that consist of a radius' exponent and some bits more, the first radius that has it or more.
#[derive(Clone, Debug, Default)]
pub struct RadialIndex {
    first: Vec<u32>,
    least: u64,
    shift: u32,
}

impl RadialIndex {
    /// Makes the table for these radii, which ascend; there are fewer than 2^32.
    pub fn update(&mut self, radii: &[f64]) {
        self.first.clear();
        let [Some(first), Some(last)] = [radii.first(), radii.last()] else {
            return;
        };
        self.shift = MANTISSA - radii.len().ilog2().saturating_sub(DENSITY).min(MANTISSA);
        // Very small radii share the first place.
        let span = 64 << (MANTISSA - self.shift);
        let most = self.number(*last);
        self.least = self.number(*first).max(most.saturating_sub(span));
        for (k, r) in (0..).zip(radii) {
            let place = self.number(*r).saturating_sub(self.least) as usize;
            if place >= self.first.len() {
                self.first.resize(place + 1, k);
            }
        }
        self.first.push(radii.len() as u32);
    }

    /// The range in which the first radius is found that is larger than `r`.
    #[inline(always)]
    pub fn range(&self, r: f64) -> Search {
        let place = self.number(r).saturating_sub(self.least) as usize;
        let place = place.min(self.first.len().saturating_sub(2));
        Search {
            found: self.first[place] as usize,
            end: self.first[place + 1] as usize,
        }
    }

    #[inline(always)]
    fn number(&self, r: f64) -> u64 {
        r.to_bits() >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn it_finds_what_a_search_finds() {
        let mut random = Stream::of_seed(1);
        for n in [1, 2, 100, 5000] {
            let mut radii: Vec<f64> = (0..n).map(|_| 1.0 / random.uniform() - 0.99).collect();
            radii.push(1e-30);
            radii.push(2.5);
            radii.push(2.5);
            radii.sort_by(f64::total_cmp);
            let mut index = RadialIndex::default();
            index.update(&radii);
            let others = (0..5000).map(|_| 1.0 / random.uniform() - 1.0);
            let all: Vec<f64> = others
                .chain(radii.clone())
                .chain([0.0, 1e-31, 1e300])
                .collect();
            for r in all {
                let Search { found, end } = index.range(r);
                let expected = radii.partition_point(|other| *other <= r);
                assert!(
                    (found..=end).contains(&expected),
                    "{n} {r}: {found} {end} {expected}"
                );
            }
        }
    }

    /// Otherwise the table would be of no use.
    #[test]
    fn ranges_are_short() {
        let radii: Vec<f64> = (1..100_000).map(|k| f64::from(k) * 1e-5).collect();
        let mut index = RadialIndex::default();
        index.update(&radii);
        let mean = radii
            .iter()
            .map(|r| index.range(*r).end - index.range(*r).found)
            .sum::<usize>()
            / radii.len();
        assert!(mean < 100, "{mean}");
    }
}
