//! Sample sort against a plain sort, and the balance of its ranks.

use kirin_kit::communicator::{Communicator, threads};
use monte_carlo::partition::{BIN, Partition};
use monte_carlo::random::Stream;
use monte_carlo::redistribution::redistribute;
use monte_carlo::sample_sort::{self, Exchange, counts};
use monte_carlo::sort::Sorter;
use monte_carlo::stars::Stars;

/// Sorts keys over ranks. Returns labels in order, and the stars of each rank before and after redistribution.
fn sorted(keys: &[f64], ranks: usize) -> (Vec<u64>, Vec<usize>, Vec<usize>) {
    let begin = Partition {
        n: keys.len(),
        ranks,
    };
    let results = threads::run(ranks, |world| {
        let mut stars = Stars::default();
        for k in begin.stars(world.rank()) {
            stars.push(k as u64, 1.0, keys[k], [0.0, 0.0]);
        }
        let (mut sorter, mut exchange) = (Sorter::default(), Exchange::default());
        let all = counts(&world, stars.len())?;
        sample_sort::sort(&world, &all, &mut stars, &mut sorter, &mut exchange)?;
        let all = counts(&world, stars.len())?;
        let partition = redistribute(&world, &all, &mut stars, &mut exchange)?;
        assert_eq!(partition.stars(world.rank()).len(), stars.len());
        Ok::<_, monte_carlo::error::Error>((stars.id.clone(), all, partition.counts()))
    });
    let results = results.unwrap();
    let labels = results.iter().flat_map(|r| r.0.iter().copied()).collect();
    (labels, results[0].1.clone(), results[0].2.clone())
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
            for ranks in [1, 2, 3, 4, 7] {
                let (labels, before, after) = sorted(&keys, ranks);
                assert!(labels == expected, "{name}, {n} stars on {ranks} ranks");
                let mean = n as f64 / ranks as f64;
                if n >= 1000 {
                    let most = before.iter().copied().max().unwrap() as f64;
                    assert!(most <= 2.0 * mean, "{name}: {before:?}");
                }
                // A bin more for some ranks, and up to 19 stars for the last one.
                assert_eq!(after, Partition { n, ranks }.counts(), "{name}");
                let (last, others) = after.split_last().unwrap();
                let whole = others.iter().all(|count| count.is_multiple_of(BIN));
                assert!(whole && last % BIN == n % BIN, "{after:?}");
            }
        }
    }
}

/// The redistribution of the paper's example, with stars.
#[test]
fn a_hundred_to_a_hundred_and_forty() {
    let held = [100, 130, 140, 80];
    let results = threads::run(4, |world| {
        let first: usize = held[..world.rank()].iter().sum();
        let mut stars = Stars::default();
        for k in first..first + held[world.rank()] {
            stars.push(k as u64, 1.0, k as f64, [0.0, 0.0]);
        }
        redistribute(&world, &held, &mut stars, &mut Exchange::default())?;
        Ok::<_, monte_carlo::error::Error>(stars.id)
    });
    let results = results.unwrap();
    let lengths: Vec<usize> = results.iter().map(Vec::len).collect();
    assert_eq!(lengths, [120, 120, 100, 110]);
    assert_eq!(results.concat(), (0..450).collect::<Vec<u64>>());
}
