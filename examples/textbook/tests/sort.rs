//! Every sample sort gives the result of a plain sort, for every kind of list and number of workers.

use kirin_kit::communicator::{CommunicationError, Communicator, threads as world};
use textbook::sort::keys::Order;
use textbook::sort::{Key, OVERSAMPLING, bucket, ranks, sample, serial, splitters, threads};

const WORKERS: [usize; 4] = [1, 2, 4, 7];

fn by_ranks(keys: &[Key], processes: usize) -> Vec<Key> {
    let all = world::run(processes, |world| {
        let mut keys = if world.rank() == 0 {
            keys.to_vec()
        } else {
            Vec::new()
        };
        ranks::sort(&world, &mut keys)?;
        Ok::<_, CommunicationError>(keys)
    });
    let mut all = all.expect("no process is lost");
    assert!(all[1..].iter().all(Vec::is_empty));
    all.swap_remove(0)
}

fn check(keys: &[Key], what: &str) {
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    for workers in WORKERS {
        let mut found = keys.to_vec();
        serial::sort(&mut found, workers);
        assert!(found == expected, "serial, {what}, {workers} buckets");
        let mut found = keys.to_vec();
        threads::sort(&mut found, workers).expect("there are threads");
        assert!(found == expected, "{workers} threads, {what}");
        assert!(
            by_ranks(keys, workers) == expected,
            "{workers} processes, {what}"
        );
    }
}

#[test]
fn a_million_random_keys() {
    check(&Order::Random.make(1_000_000, 1), "random");
}

#[test]
fn lists_that_are_hard_to_cut() {
    for n in [0, 1, 3, 6, 100, 9999] {
        for order in [Order::Random, Order::Equal, Order::Sorted, Order::Reversed] {
            check(&order.make(n, n as u64), &format!("{order:?} {n}"));
        }
        let few: Vec<Key> = (0..n).map(|k| [Key::MIN, 0, Key::MAX][k * k % 3]).collect();
        check(&few, &format!("three values {n}"));
    }
}

/// Of random keys, and of sorted ones, no bucket has much more than its part.
#[test]
fn buckets_are_even() {
    for order in [Order::Random, Order::Sorted] {
        let keys = order.make(100_000, 3);
        for buckets in [2, 7, 100] {
            let cuts = splitters(&mut sample(&keys, OVERSAMPLING * buckets), buckets);
            assert_eq!(cuts.len(), buckets - 1);
            let mut counts = vec![0; buckets];
            keys.iter().for_each(|&key| counts[bucket(key, &cuts)] += 1);
            let mean = keys.len() / buckets;
            let most = *counts.iter().max().expect("there are buckets");
            // Four standard deviations of a random sample.
            let bound = mean as f64 * (1.0 + 4.0 / (OVERSAMPLING as f64).sqrt());
            assert!(
                (most as f64) < bound,
                "{order:?}: {most} of {mean} in {buckets}"
            );
        }
    }
}

/// Between two neighbours in the regular sample of a process there are n / (64 p) keys, so that a bucket has at most
/// n/p + n/64 of them, whatever the keys, if no two are equal.
#[test]
fn buckets_of_processes_are_even() {
    let n = 100_000;
    for order in [Order::Random, Order::Sorted, Order::Reversed] {
        for processes in [2, 4, 7] {
            let all = world::run(processes, |world| {
                let mut keys = Vec::new();
                if world.rank() == 0 {
                    keys = order.make(n, 5);
                }
                Ok::<_, CommunicationError>(ranks::my_bucket(&world, &keys)?.len())
            });
            let sizes = all.expect("no process is lost");
            assert_eq!(sizes.iter().sum::<usize>(), n);
            let bound = n / processes + n / OVERSAMPLING + 2 * processes;
            let most = sizes.iter().max().expect("there are processes");
            assert!(*most <= bound, "{order:?}: {sizes:?}, {bound}");
        }
    }
}
