//! Sample sort against a plain sort, its division of the stars among the ranks, and the rounds that this takes.

use kirin_kit::communicator::{Communicator, threads};
use monte_carlo::partition::{BIN, Partition};
use monte_carlo::random::Stream;
use monte_carlo::sample_sort::{self, SampleSort};
use monte_carlo::sort::Sorter;
use monte_carlo::stars::Stars;

/// Sorts keys, of which each rank has `held`. Returns labels in order, the number of stars of each rank afterwards, and the rounds.
fn sorted(keys: &[f64], held: &[usize]) -> (Vec<u64>, Vec<usize>, u32) {
    let results = threads::run(held.len(), |world| {
        let first: usize = held[..world.rank()].iter().sum();
        let mut stars = Stars::default();
        let own = keys.iter().enumerate().skip(first).take(held[world.rank()]);
        for (k, key) in own {
            stars.push(k as u64, 1.0, *key, [0.0, 0.0]);
        }
        let (mut sorter, mut exchange) = (Sorter::default(), SampleSort::default());
        let partition = sample_sort::sort(&world, &mut stars, &mut sorter, &mut exchange)?;
        assert_eq!(partition.stars(world.rank()).len(), stars.len());
        Ok::<_, monte_carlo::error::Error>((stars.id, exchange.rounds))
    });
    let results = results.unwrap();
    let labels = results.iter().flat_map(|r| r.0.iter().copied()).collect();
    let counts = results.iter().map(|r| r.0.len()).collect();
    (labels, counts, results[0].1)
}

fn cases(n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut random = Stream::of_seed(1);
    let mut uniform: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
    // Most of the stars are within a thousandth of the radius.
    let core = uniform.iter().map(|x| x.powi(12)).collect();
    let random_keys = uniform.clone();
    uniform.sort_by(f64::total_cmp);
    let reversed = uniform.iter().rev().copied().collect();
    vec![
        ("random", random_keys),
        ("sorted", uniform),
        ("reversed", reversed),
        ("equal", vec![0.5; n]),
        ("core-heavy", core),
    ]
}

#[test]
fn it_is_a_plain_sort() {
    for n in [3, 100, 1000, 20_011] {
        for (name, keys) in cases(n) {
            let mut expected: Vec<u64> = (0..n as u64).collect();
            // Stable: equal radii by label.
            expected.sort_by(|a, b| keys[*a as usize].total_cmp(&keys[*b as usize]));
            for ranks in [1, 2, 3, 4, 7, 40] {
                let partition = Partition { n, ranks };
                let (labels, after, rounds) = sorted(&keys, &partition.counts());
                assert!(labels == expected, "{name}, {n} stars on {ranks} ranks");
                assert_eq!(after, partition.counts(), "{name}");
                // A thousand samples leave some tens of 20 011 stars, which are all samples of the second round.
                assert!(rounds <= 3, "{name}, {n} stars on {ranks} ranks: {rounds}");
                // A bin more for some ranks, and up to 19 stars for the last one.
                let (last, others) = after.split_last().unwrap();
                let whole = others.iter().all(|count| count.is_multiple_of(BIN));
                assert!(whole && last % BIN == n % BIN, "{after:?}");
            }
        }
    }
}

/// The ranks of the paper's example, which have 100, 130, 140 and 80 stars, come to their parts; so do ranks without stars.
#[test]
fn ranks_with_unequal_numbers_of_stars_come_to_the_partition() {
    for held in [[100, 130, 140, 80], [0, 0, 450, 0], [1, 0, 0, 449]] {
        let (_, cases) = cases(450).swap_remove(0);
        let (_, counts, _) = sorted(&cases, &held);
        assert_eq!(counts, [120, 120, 100, 110]);
    }
}
