//! Collisions against the theory, and what is known of the stars that have grown. `long_collisions.rs` has the rate more precisely.

#[path = "common/mergers.rs"]
mod mergers;

use std::collections::BTreeMap;

use kirin_kit::command::Start;
use kirin_kit::models::MassFunction;
use mergers::{mergers, mergers_per_time, over_theory, with_cluster};
use monte_carlo::cluster::Cluster;
use monte_carlo::collision::Merged;

/// Stars that touch, and stars that gravity brings together: the standard errors are 8 %.
#[test]
fn stars_of_a_plummer_sphere_merge_at_the_rate_of_the_theory() {
    for radius in [1e-3, 1e-6] {
        let found = over_theory(radius, 4);
        assert!((found - 1.0).abs() < 0.25, "{radius:e}: {found}");
    }
}

/// A star has at most one merger in a step. So a step is short enough that hardly any star in the centre would have two.
#[test]
fn few_stars_collide_in_a_step() {
    let (n, radius) = (20_000, 1e-3);
    let (merged, time) = mergers(n, radius, f64::INFINITY, 1);
    // A merger has two stars. In the centre the rate of a star is some four times the mean.
    let of_mean_star = 2.0 * mergers_per_time(n as f64, radius) * time / n as f64;
    println!("{merged} mergers, {of_mean_star} of each star");
    assert!((5e-4..2e-3).contains(&of_mean_star), "{of_mean_star}");
    assert!(merged < 0.002 * n as f64, "{merged}");
}

/// A star that grows keeps its label, also where the lighter one is the outer one, and brings its earlier mergers along. Seen from outside: who is
/// gone after a step, and whose mass is larger by that much?
#[test]
fn the_largest_merged_star_is_named() {
    let start = Start {
        n: Some(1000),
        mass_function: Some(MassFunction::Kroupa),
        ..Start::default()
    };
    let masses = |cluster: &Cluster<_>| -> BTreeMap<u64, f64> {
        let stars = &cluster.stars;
        stars
            .id
            .iter()
            .copied()
            .zip(stars.m.iter().copied())
            .collect()
    };
    with_cluster(&start, 4e-3, |cluster| {
        let (mut expected, mut all) = (BTreeMap::<u64, u64>::new(), 0);
        for _ in 0..150 {
            let before = masses(cluster);
            cluster.step(f64::INFINITY)?;
            let after = masses(cluster);
            let gone = || before.iter().filter(|(id, _)| !after.contains_key(id));
            for (id, mass) in after.iter().filter(|(id, mass)| before[id] != **mass) {
                let by = mass - before[id];
                let closest =
                    gone().min_by(|(_, a), (_, b)| (*a - by).abs().total_cmp(&(*b - by).abs()));
                let (other, lighter) = closest.unwrap();
                assert!((lighter / by - 1.0).abs() < 1e-9, "{lighter} {by}");
                assert!(
                    before[id] >= *lighter,
                    "the label is that of the heavier one"
                );
                let earlier = expected.remove(other).unwrap_or_default();
                *expected.entry(*id).or_default() += 1 + earlier;
                all += 1;
            }
            expected.retain(|id, _| after.contains_key(id));
            let of = |(&id, &mergers): (&u64, &u64)| Merged {
                id,
                mass: after[&id],
                mergers,
            };
            let expected: Vec<Merged> = expected.iter().map(of).collect();
            assert_eq!(cluster.past.merged, expected);
            assert_eq!(cluster.mergers(), all);
        }
        let largest = cluster.largest_merged().unwrap();
        println!("{all} mergers, {largest:?}");
        assert!(all > 100 && largest.mergers > 5);
        assert_eq!(
            largest.mass,
            cluster
                .past
                .merged
                .iter()
                .map(|star| star.mass)
                .fold(0.0, f64::max)
        );
        Ok(())
    });
}
