//! Sample sort with threads: each thread distributes a block of the keys to buckets. Then each thread collects the
//! keys of one bucket from all threads and sorts them.

use std::sync::Mutex;

use super::{Key, OVERSAMPLING, bucket, sample, splitters};
use crate::distribution::block;
use crate::team;

/// Sorts `keys` with so many threads.
///
/// # Errors
///
/// The system has no more threads; in words.
pub fn sort(keys: &mut [Key], threads: usize) -> Result<(), String> {
    let splitters = splitters(&mut sample(keys, OVERSAMPLING * threads), threads);
    // Row r: what thread r has for each bucket.
    let dealt: Vec<Mutex<Vec<Vec<Key>>>> = (0..threads).map(|_| Mutex::default()).collect();
    {
        let keys = &*keys;
        team::run(threads, |rank| {
            let mut mine = vec![Vec::new(); threads];
            for place in block(rank, threads, keys.len()) {
                let key = keys[place];
                mine[bucket(key, place, &splitters)].push(key);
            }
            *dealt[rank].lock().expect("one thread has this row") = mine;
        })?;
    }
    let dealt: Vec<Vec<Vec<Key>>> = dealt
        .into_iter()
        .map(|row| row.into_inner().expect("nobody panicked"))
        .collect();
    // The columns' sums tell where each bucket belongs.
    let mut rest = keys;
    let mut buckets = Vec::new();
    for b in 0..threads {
        let count = dealt.iter().map(|row| row[b].len()).sum();
        let (mine, others) = rest.split_at_mut(count);
        buckets.push(Mutex::new(mine));
        rest = others;
    }
    team::run(threads, |rank| {
        let mut mine = buckets[rank].lock().expect("one thread has this bucket");
        let mut begin = 0;
        for row in &dealt {
            let part = &row[rank];
            mine[begin..begin + part.len()].copy_from_slice(part);
            begin += part.len();
        }
        mine.sort_unstable();
    })?;
    Ok(())
}
