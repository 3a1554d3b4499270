//! The targets of one call in Morton order, in groups of neighbours that share an interaction list.

use std::ops::Range;

use kirin_core::error::Result;
use kirin_core::process::allocation;
use kirin_core::tree::morton::LEVELS;

/// What memory is for, in messages.
pub const PURPOSE: &str = "targets";

/// The place of a source that no target is.
pub const NONE: u32 = u32::MAX;

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its place along the Morton curve.
    pub key: u64,
    /// Position.
    pub x: [f64; 3],
    /// Square of the softening length.
    pub eps2: f64,
    /// Its number in the client's arrays.
    pub number: u32,
    /// The place of the source that it is among those in the tree's order; [`NONE`] if it is none.
    pub source: u32,
}

/// Sorts targets along the curve. Those with one key keep the client's order, so that results depend on nothing else.
pub fn sort(targets: &mut [Target]) {
    if !targets.is_sorted_by_key(|t| (t.key, t.number)) {
        targets.sort_unstable_by_key(|t| (t.key, t.number));
    }
}

/// A group is divided where the box around it has more sources than this...
const CROWD: usize = 4096;

/// ...and more than this for each target: all of them are in its list.
const CROWD_PER_TARGET: usize = 16;

/// Divides sorted targets into runs, those in the largest cells with up to `most` of them. `is_crowded` tells whether the box
/// around some targets has more than a number of sources.
///
/// # Errors
///
/// There is no memory.
pub fn groups(
    targets: &[Target],
    most: usize,
    is_crowded: impl Fn(&[Target], usize) -> bool,
) -> Result<Vec<Range<usize>>> {
    let is_fit = |inside: &[Target]| match inside.len() {
        0 | 1 => true,
        n => n <= most && !is_crowded(inside, CROWD.max(CROWD_PER_TARGET * n)),
    };
    let mut groups = Vec::new();
    let mut open = vec![(0..targets.len(), 0)];
    while let Some((run, level)) = open.pop() {
        let inside = &targets[run.clone()];
        if is_fit(inside) || level == LEVELS && inside.len() <= most {
            if !run.is_empty() {
                allocation::push(&mut groups, run, PURPOSE)?;
            }
            continue;
        }
        if level == LEVELS {
            // A heap of targets on one place.
            let parts = run.clone().step_by(most);
            for start in parts {
                let part = start..run.end.min(start + most);
                allocation::push(&mut groups, part, PURPOSE)?;
            }
            continue;
        }
        let shift = 3 * (LEVELS - 1 - level);
        let mut end = run.end;
        // The last octant first, since what is pushed last is divided first.
        while end > run.start {
            let octant = targets[end - 1].key >> shift;
            let before = targets[run.start..end].partition_point(|t| t.key >> shift < octant);
            let begin = run.start + before;
            open.push((begin..end, level + 1));
            end = begin;
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_core::random::Random;

    #[test]
    fn groups_are_cells_in_order() {
        let mut random = Random::new(3);
        let mut targets: Vec<Target> = (0..3000)
            .map(|number| Target {
                key: match number < 100 {
                    true => 77,
                    false => u64::from(random.bits()) << 31 | u64::from(random.bits()) >> 1,
                },
                x: [0.0; 3],
                eps2: 0.0,
                number,
                source: NONE,
            })
            .collect();
        sort(&mut targets);
        for most in [1, 7, 64, 5000] {
            let groups = groups(&targets, most, |_, _| false).unwrap();
            let mut end = 0;
            for group in &groups {
                assert_eq!(group.start, end);
                assert!(group.len() <= most && !group.is_empty());
                end = group.end;
            }
            assert_eq!(end, targets.len());
        }
        assert!(groups(&[], 8, |_, _| true).unwrap().is_empty());
        // In a crowd each is alone, but those on one place.
        let groups = groups(&targets, 64, |_, _| true).unwrap();
        assert_eq!(groups.len(), 2 + 2900);
    }
}
