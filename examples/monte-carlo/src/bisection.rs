//! Bisections of many ranges, level by level. A single bisection waits for memory at every level; many bisections
//! wait at the same time.

use std::hint::select_unpredictable;

use crate::partition::BIN;

/// Ranges that are searched together, at most: those of the stars of a few bins.
pub const STARS_TOGETHER: usize = 8 * BIN;

/// A range of places: those for which something holds, then those for which it does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search {
    /// At first the beginning of the range, in the end the first place for which it does not hold.
    pub found: usize,
    /// End of the range.
    pub end: usize,
}

/// Finds the end of what `holds`, asked with the index of the search and a place, in every range.
///
/// A range that is empty is asked, too, and the answer not used: about the place before it, or place 0.
#[inline]
pub fn bisect(searches: &mut [Search], holds: impl Fn(usize, usize) -> bool) {
    let longest = searches.iter().map(|s| s.end - s.found).max().unwrap_or(0);
    let mut stride = (longest + 1).next_power_of_two() / 2;
    while stride > 0 {
        for (k, search) in searches.iter_mut().enumerate() {
            let next = search.found + stride;
            let asked = next.min(search.end).max(1) - 1;
            let on = holds(k, asked) & (next <= search.end);
            search.found = select_unpredictable(on, next, search.found);
        }
        stride /= 2;
    }
}

/// Bisects in two levels. The first level looks at every `every`-th place only, and asks `holds_at` with the place's
/// number among these. Their values can stand close together in memory, so that a search reads fewer lines of the
/// cache. The second level bisects between two of these places.
#[inline]
pub fn bisect_coarsely(
    searches: &mut [Search],
    every: usize,
    holds_at: impl Fn(usize, usize) -> bool,
    holds: impl Fn(usize, usize) -> bool,
) {
    let mut coarse = [Search::default(); STARS_TOGETHER];
    let coarse = &mut coarse[..searches.len()];
    for (coarse, search) in coarse.iter_mut().zip(searches.iter()) {
        coarse.found = search.found.div_ceil(every);
        coarse.end = search.end.div_ceil(every).max(coarse.found);
    }
    bisect(coarse, holds_at);
    for (coarse, search) in coarse.iter().zip(searches.iter_mut()) {
        if coarse.found > search.found.div_ceil(every) {
            search.found = (coarse.found - 1) * every + 1;
        }
        // With one place more the end is that of a range that is not empty.
        search.end = search.end.min(coarse.found * every).max(search.found);
    }
    bisect(searches, holds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_divided_where_it_should() {
        let last = 70;
        let mut searches = Vec::new();
        let mut limits = Vec::new();
        for found in 0..=last {
            for end in found..=last {
                for limit in [0, found, (found + end) / 2, end, last] {
                    searches.push(Search { found, end });
                    limits.push(limit);
                }
            }
        }
        let holds = |k: usize, place: usize, limits: &[usize]| {
            assert!(place < last);
            place < limits[k]
        };
        for (before, limits) in searches
            .chunks(STARS_TOGETHER)
            .zip(limits.chunks(STARS_TOGETHER))
        {
            let ways = [0, 1, 4, 16, 1000].map(|every| {
                let mut searches = before.to_vec();
                let fine = |k, place| holds(k, place, limits);
                match every {
                    0 => bisect(&mut searches, fine),
                    _ => bisect_coarsely(
                        &mut searches,
                        every,
                        |k, number| number * every < limits[k],
                        fine,
                    ),
                }
                searches
            });
            for searches in ways {
                for (k, (search, before)) in searches.iter().zip(before).enumerate() {
                    let expected = limits[k].clamp(before.found, before.end);
                    assert_eq!(search.found, expected, "{before:?} {}", limits[k]);
                }
            }
        }
    }
}
