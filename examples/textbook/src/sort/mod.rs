//! Sample sort (section 7.2): a sample of the keys gives the limits of buckets with about equal numbers of keys;
//! then every worker sorts a bucket.
//!
//! This module has the parts that all versions share; each version is one file.

pub mod gpu;
pub mod keys;
pub mod ranks;
pub mod serial;
pub mod threads;

use kirin_kit::models::Random;

/// What is sorted.
pub type Key = i32;

/// A key and, below it, its place in the list, so that equal keys differ: a bucket may end in the middle of them.
pub type Placed = u64;

/// Keys in the sample for each bucket. The more there are, the more even the buckets become: with s of them the
/// sizes scatter by a fraction of about 1 / sqrt(s).
pub const OVERSAMPLING: usize = 128;

/// Seed of the sample: every run takes the same one.
const SEED: u64 = 72;

/// The key at a place below 2^32, in an order that is first that of keys and then that of places.
pub fn placed(key: Key, place: usize) -> Placed {
    u64::from(key.cast_unsigned() ^ (1 << 31)) << 32 | (place as u64 & u64::from(u32::MAX))
}

/// The key and the place of [`placed`].
pub fn parts(placed: Placed) -> (Key, usize) {
    let key = ((placed >> 32) as u32 ^ (1 << 31)).cast_signed();
    (key, (placed & u64::from(u32::MAX)) as usize)
}

/// `count` of the keys, all of them if there are fewer: at random, so that no order or period of the list matters.
pub fn sample(keys: &[Key], count: usize) -> Vec<Placed> {
    let n = keys.len();
    let at = |place: usize| placed(keys[place], place);
    if count >= n {
        return (0..n).map(at).collect();
    }
    let mut random = Random::new(SEED);
    let mut any = || (random.uniform() * n as f64) as usize;
    (0..count).map(|_| at(any())).collect()
}

/// The splitters between the `buckets`, one fewer than there are buckets: keys at equal distances in the sorted sample.
/// Bucket b holds the keys that are at least splitter b - 1 and less than splitter b.
pub fn splitters(sample: &mut [Placed], buckets: usize) -> Vec<Placed> {
    sample.sort_unstable();
    let at = |b: usize| sample.get(b * sample.len() / buckets).copied();
    // Without any keys there is nothing to be cut.
    (1..buckets).map(|b| at(b).unwrap_or_default()).collect()
}

/// The bucket of the key at a place.
pub fn bucket(key: Key, place: usize, splitters: &[Placed]) -> usize {
    let placed = placed(key, place);
    splitters.partition_point(|&s| s <= placed)
}
