//! Sample sort with message passing: each process sorts its keys, a regular sample of all keys gives the splitters,
//! and one exchange brings every key to the process of its bucket.

use kirin_kit::communicator::{Communicator, Result};

use super::{Key, OVERSAMPLING, Placed, parts, placed, splitters};
use crate::distribution::Distribution;

/// Sorts the `keys` of process 0; what the others bring is ignored.
///
/// # Errors
///
/// A process is lost.
pub fn sort<C: Communicator>(world: &C, keys: &mut Vec<Key>) -> Result<()> {
    let bucket = my_bucket(world, keys)?;
    let mut sizes = Vec::new();
    world.all_gather(&[bucket.len() as u64], &mut sizes)?;
    let sizes: Vec<usize> = sizes.into_iter().map(whole).collect();
    world.gather_v(0, &bucket, &sizes, keys)
}

/// The bucket of this process, sorted, of the `keys` of process 0.
///
/// # Errors
///
/// A process is lost.
pub fn my_bucket<C: Communicator>(world: &C, keys: &[Key]) -> Result<Vec<Key>> {
    let (me, p) = (world.rank(), world.size());
    let mut n = [keys.len() as u64];
    world.broadcast(0, &mut n)?;
    let n = usize::try_from(n[0]).expect("it is the number of process 0");
    let counts = Distribution::Block.counts(p, n);

    // A block of the keys to each process.
    let none = vec![0; p];
    let mut from = none.clone();
    from[0] = counts[me];
    let (send, to) = match me {
        0 => (keys, &counts),
        _ => (&[][..], &none),
    };
    let mut mine = Vec::new();
    world.all_to_all_v(send, to, &mut mine, &from)?;
    mine.sort_unstable();

    // Everybody finds the same splitters in everybody's sample, which is regular: equal distances in sorted parts.
    let first: usize = counts[..me].iter().sum();
    let taken: Vec<usize> = counts
        .iter()
        .map(|&count| count.min(OVERSAMPLING))
        .collect();
    let place = |k: usize| (2 * k + 1) * mine.len() / (2 * taken[me]);
    let sample: Vec<Placed> = (0..taken[me])
        .map(|k| placed(mine[place(k)], first + place(k)))
        .collect();
    let mut all = Vec::new();
    world.all_gather_v(&sample, &taken, &mut all)?;
    let splitters = splitters(&mut all, p);

    // My keys are sorted: those of one bucket stand together.
    let mut ends: Vec<usize> = splitters
        .iter()
        .map(|&splitter| {
            let (key, place) = parts(splitter);
            let less = mine.partition_point(|&k| k < key);
            let equal_too = mine.partition_point(|&k| k <= key);
            place.saturating_sub(first).clamp(less, equal_too)
        })
        .collect();
    ends.push(mine.len());
    let begins = [0].iter().chain(&ends);
    let lengths: Vec<usize> = ends
        .iter()
        .zip(begins)
        .map(|(end, begin)| end - begin)
        .collect();
    let arriving = transposed(world, &lengths)?;
    let mut bucket = Vec::new();
    world.all_to_all_v(&mine, &lengths, &mut bucket, &arriving)?;
    // What came are p sorted runs, which a stable sort finds and merges.
    bucket.sort();
    Ok(bucket)
}

/// How many keys each process sends here, where this one sends so many to each.
fn transposed<C: Communicator>(world: &C, lengths: &[usize]) -> Result<Vec<usize>> {
    let one = vec![1; world.size()];
    let sent: Vec<u64> = lengths.iter().map(|&length| length as u64).collect();
    let mut received = Vec::new();
    world.all_to_all_v(&sent, &one, &mut received, &one)?;
    Ok(received.into_iter().map(whole).collect())
}

fn whole(count: u64) -> usize {
    usize::try_from(count).expect("it counts what is in memory")
}
