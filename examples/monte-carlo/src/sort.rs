//! Phase 6, sort: the stars of one rank by radius, and stars of equal radius by label, so that the order is unique.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::stars::Stars;

/// A star to be sorted: the bits of its radius (which are ordered as positive radii are), and where it is.
type Key = (u64, u32);

/// Sorts stars, and keeps its memory from step to step.
#[derive(Debug, Default)]
pub struct Sorter {
    keys: Vec<Key>,
    column: Vec<f64>,
    labels: Vec<u64>,
}

impl Sorter {
    /// Sorts all `stars`.
    ///
    /// # Panics
    ///
    /// More than 2^32 stars on one rank.
    pub fn sort(&mut self, stars: &mut Stars) {
        let Self {
            keys,
            column,
            labels,
        } = self;
        assert!(u32::try_from(stars.len()).is_ok(), "stars of a rank");
        keys.clear();
        keys.extend(stars.r.iter().zip(0..).map(|(r, k)| (r.to_bits(), k)));
        let id = &stars.id;
        let order = |a: &Key, b: &Key| -> Ordering {
            a.0.cmp(&b.0)
                .then_with(|| id[a.1 as usize].cmp(&id[b.1 as usize]))
        };
        // What is in order already costs one look; what consists of runs, as after an exchange, less than a
        // random order.
        if rayon::current_num_threads() > 1 {
            keys.par_sort_unstable_by(order);
        } else {
            keys.sort_unstable_by(order);
        }
        take(keys, &stars.id, labels);
        std::mem::swap(&mut stars.id, labels);
        for values in stars.columns() {
            take(keys, values, column);
            std::mem::swap(values, column);
        }
    }
}

/// What stands at the keys' places.
fn take<T: Copy + Default + Send + Sync>(keys: &[Key], from: &[T], to: &mut Vec<T>) {
    to.resize(from.len(), T::default());
    to.par_iter_mut()
        .zip(keys)
        .with_min_len(1024)
        .for_each(|(to, key)| *to = from[key.1 as usize]);
}
