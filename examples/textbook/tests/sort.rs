//! Every sample sort gives the result of a plain sort, for every kind of list and number of workers.

use kirin_kit::communicator::{CommunicationError, Communicator, threads as world};
use kirin_kit::models::Random;
use textbook::sort::keys::Order;
use textbook::sort::{
    Key, OVERSAMPLING, bucket, parts, placed, ranks, sample, serial, splitters, threads,
};

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

/// Lists of `n` keys that are hard to divide evenly, each with a name.
fn hard_lists(n: usize) -> Vec<(&'static str, Vec<Key>)> {
    let mut random = Random::new(7);
    let at = |k: usize| k as Key;
    let each = |key: &mut dyn FnMut(usize) -> Key| -> Vec<Key> { (0..n).map(key).collect() };
    let mut many_small = Order::Random.make(n, 9);
    // The keys that a sample at equal distances finds are the least ones.
    for k in 0..OVERSAMPLING {
        many_small[(2 * k + 1) * n / (2 * OVERSAMPLING)] = Key::MIN + at(k);
    }
    vec![
        ("random", Order::Random.make(n, 3)),
        ("sorted", Order::Sorted.make(n, 3)),
        ("reversed", Order::Reversed.make(n, 3)),
        ("equal", Order::Equal.make(n, 3)),
        ("two values", each(&mut |k| at(k % 2))),
        (
            "three values",
            each(&mut |k| [Key::MIN, 0, Key::MAX][k % 3]),
        ),
        (
            "nine of ten equal",
            each(&mut |k| if k % 10 == 0 { at(k) } else { 5 }),
        ),
        ("period 32", each(&mut |k| at(k % 32) * 1000)),
        ("period n / 128", each(&mut |k| at(k % (n / 128)))),
        ("up and down", each(&mut |k| at(k.min(n - k)))),
        ("powers of a random number", {
            each(&mut |_| (random.uniform().powi(8) * 1e9) as Key)
        }),
        ("small where samples are equally spaced", many_small),
    ]
}

/// The largest bucket has less than 1.5 times the mean number of keys, for every kind of list. This holds with one
/// process, and with one bucket for each of several processes.
#[test]
fn buckets_are_even() {
    let n = 100_000;
    for (name, keys) in hard_lists(n) {
        let over_mean = |sizes: &[usize]| {
            assert_eq!(sizes.iter().sum::<usize>(), n);
            let most = *sizes.iter().max().expect("there are buckets");
            most as f64 * sizes.len() as f64 / n as f64
        };
        let mut found = Vec::new();
        for buckets in [2, 7, 64] {
            let cuts = splitters(&mut sample(&keys, OVERSAMPLING * buckets), buckets);
            assert_eq!(cuts.len(), buckets - 1);
            let mut sizes = vec![0; buckets];
            for (place, &key) in keys.iter().enumerate() {
                sizes[bucket(key, place, &cuts)] += 1;
            }
            found.push(over_mean(&sizes));
        }
        for processes in [2, 7] {
            let all = world::run(processes, |world| {
                let keys = if world.rank() == 0 { &keys[..] } else { &[] };
                Ok::<_, CommunicationError>(ranks::my_bucket(&world, keys)?.len())
            });
            found.push(over_mean(&all.expect("no process is lost")));
        }
        println!("{name}: {found:.3?}");
        assert!(found.iter().all(|&most| most < 1.5), "{name}: {found:.3?}");
        check(&keys, name);
    }
}

#[test]
fn placed_keys_are_in_order() {
    let keys = [Key::MIN, -1, 0, 1, Key::MAX];
    let all = keys.map(|key| [0, 7, (1 << 32) - 1].map(|place| (key, place)));
    let all = all.concat();
    assert!(all.is_sorted_by_key(|&(key, place)| placed(key, place)));
    assert!(
        all.iter()
            .all(|&(key, place)| parts(placed(key, place)) == (key, place))
    );
}
