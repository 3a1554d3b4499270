//! Sample sort by one thread: buckets one after the other, each sorted while it is in the cache.

use super::{Key, OVERSAMPLING, bucket, sample, splitters};
use kirin_kit::communicator::displacements;

/// Sorts `keys` in so many buckets.
pub fn sort(keys: &mut Vec<Key>, buckets: usize) {
    let splitters = splitters(&mut sample(keys, OVERSAMPLING * buckets), buckets);
    let mut counts = vec![0; buckets];
    for &key in &*keys {
        counts[bucket(key, &splitters)] += 1;
    }
    let mut next: Vec<usize> = displacements(&counts).collect();
    let mut sorted = vec![0; keys.len()];
    for &key in &*keys {
        let place = &mut next[bucket(key, &splitters)];
        sorted[*place] = key;
        *place += 1;
    }
    let mut rest = &mut sorted[..];
    for count in counts {
        let bucket;
        (bucket, rest) = rest.split_at_mut(count);
        bucket.sort_unstable();
    }
    *keys = sorted;
}
