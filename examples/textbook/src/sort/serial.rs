//! Sample sort by one thread: buckets one after the other, each sorted while it is in the cache.

use super::{Key, OVERSAMPLING, bucket, sample, splitters};
use kirin_kit::communicator::displacements;

/// Sorts `keys` in so many buckets.
pub fn sort(keys: &mut Vec<Key>, buckets: usize) {
    let splitters = splitters(&mut sample(keys, OVERSAMPLING * buckets), buckets);
    let mut counts = vec![0; buckets];
    for (place, &key) in keys.iter().enumerate() {
        counts[bucket(key, place, &splitters)] += 1;
    }
    let mut next: Vec<usize> = displacements(&counts).collect();
    let mut sorted = vec![0; keys.len()];
    for (place, &key) in keys.iter().enumerate() {
        let next = &mut next[bucket(key, place, &splitters)];
        sorted[*next] = key;
        *next += 1;
    }
    let mut rest = &mut sorted[..];
    for count in counts {
        let bucket;
        (bucket, rest) = rest.split_at_mut(count);
        bucket.sort_unstable();
    }
    *keys = sorted;
}
