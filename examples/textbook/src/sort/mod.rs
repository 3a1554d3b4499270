//! Sample sort (section 7.2): a sample of the keys gives the limits of buckets with about equal numbers of keys;
//! then every worker sorts a bucket.
//!
//! This module has the parts that all versions share; each version is one file.

pub mod gpu;
pub mod keys;
pub mod ranks;
pub mod serial;
pub mod threads;

/// What is sorted.
pub type Key = i32;

/// Keys in the sample for each bucket. More of them make the buckets more even: of random keys, with s in the sample, the
/// sizes of the buckets scatter by a part of about 1 / sqrt(s).
pub const OVERSAMPLING: usize = 64;

/// `count` of the keys at equal distances, all of them if there are fewer.
///
/// From a sorted list this is a regular sample; from a list in no order it is as good as a random one.
pub fn sample(keys: &[Key], count: usize) -> Vec<Key> {
    let taken = count.min(keys.len());
    (0..taken)
        .map(|k| keys[(2 * k + 1) * keys.len() / (2 * taken)])
        .collect()
}

/// The keys between the `buckets`: one fewer than these, at equal distances in the sorted sample. Bucket b holds the
/// keys from splitter b - 1 up to, but without, splitter b.
pub fn splitters(sample: &mut [Key], buckets: usize) -> Vec<Key> {
    sample.sort_unstable();
    let at = |b: usize| sample.get(b * sample.len() / buckets).copied();
    // Without any keys there is nothing to be cut.
    (1..buckets).map(|b| at(b).unwrap_or_default()).collect()
}

/// The bucket of a key.
pub fn bucket(key: Key, splitters: &[Key]) -> usize {
    splitters.partition_point(|&s| s <= key)
}
