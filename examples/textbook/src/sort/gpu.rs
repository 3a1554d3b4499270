//! Sample sort on a GPU. Every step is a kernel of `kernels/sort.cu`; only the sorted keys are copied back.

use std::time::Duration;

use kirin_device::{Argument, Gpu};

use super::Key;

/// Keys of a bucket, on the mean: half of what fits into shared memory, for buckets are not even.
const BUCKET: usize = 1024;
/// As many buckets as fit into a thread block's shared memory; the keys of more go to larger ones.
const MOST_BUCKETS: usize = 1024;
/// Keys in the sample for each bucket.
const SAMPLE: usize = 16;
/// Keys that a thread block counts and deals.
const DEALT: usize = 4096;
/// Most thread blocks for that.
const MOST_BLOCKS: usize = 256;
/// Time in which a thread compares two keys in global memory, and exchanges them, on the slowest GPU.
const EXCHANGE: Duration = Duration::from_micros(1);

/// Sorts `keys` by thread blocks of so many threads, a multiple of a warp's 32.
///
/// # Errors
///
/// There is no GPU, or it fails; in words.
pub fn sort(keys: &mut [Key], threads: usize) -> Result<(), String> {
    let gpu = Gpu::open()?;
    let module = gpu.module(kirin_device::ptx!("sort"))?;
    if keys.is_empty() {
        return Ok(());
    }
    let whole = |n: usize| i32::try_from(n).map_err(|e| e.to_string());
    let buckets = keys.len().div_ceil(BUCKET).min(MOST_BUCKETS);
    let blocks = keys.len().div_ceil(DEALT).min(MOST_BLOCKS);
    let taken = keys.len().min(SAMPLE * buckets);
    let unsorted = gpu.array(keys)?;
    let sorted = gpu.zeros::<Key>(keys.len())?;
    let sample = gpu.zeros::<Key>(taken)?;
    let zero = gpu.array(&[0])?;
    let counts = gpu.zeros::<i32>(buckets * blocks)?;

    let (n, count) = (whole(keys.len())?, whole(taken)?);
    let (b, stride, cells) = (whole(buckets)?, whole(blocks)?, whole(buckets * blocks)?);
    // SAFETY: these are the parameters of the kernels; keys have n elements, the sample `count`, the counts one for each bucket
    // and thread block.
    let run = |kernel: &str, blocks, threads, arguments: &[&dyn Argument]| unsafe {
        gpu.launch(&module.kernel(kernel)?, blocks, threads, arguments)
    };
    // The sample: one bucket, sorted by one thread block.
    let sampling: [&dyn Argument; 4] = [&sample, &count, &unsorted, &n];
    run("take_sample", taken.div_ceil(threads), threads, &sampling)?;
    run("sort_buckets", 1, threads, &[&sample, &zero, &1, &count])?;
    // Which thread block has how many keys for which bucket, and where they belong.
    let counting: [&dyn Argument; 6] = [&counts, &b, &sample, &count, &unsorted, &n];
    run("count_keys", blocks, threads, &counting)?;
    run("sum_counts", 1, 1024, &[&counts, &cells])?;
    let dealing: [&dyn Argument; 7] = [&sorted, &counts, &b, &sample, &count, &unsorted, &n];
    run("deal_keys", blocks, threads, &dealing)?;
    // Bucket b begins where its part of the first thread block does.
    run(
        "sort_buckets",
        buckets,
        threads,
        &[&sorted, &counts, &stride, &n],
    )?;
    gpu.plan(longest(keys.len(), threads));
    Ok(sorted.copy_to(keys)?)
}

/// How long the sort of `n` keys takes on the slowest GPU if all are in one bucket, which one thread block sorts.
fn longest(n: usize, threads: usize) -> Duration {
    // A bitonic sort has so many rounds, in each of which every key is compared with another.
    let merges = f64::from(n.next_power_of_two().ilog2());
    let rounds = merges * (merges + 1.0) / 2.0;
    EXCHANGE.mul_f64(rounds * n.div_ceil(2) as f64 / threads as f64)
}
