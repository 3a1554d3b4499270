//! Nearest neighbours and lists where one comparison decides: equal distances, the exact radius, and distances that the
//! pair loop orders wrongly.

use ffi_tests::direct::{Probe, Source};
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::{Set, cloud};
use kirin_core::random::Random;

use crate::{PRECISIONS, forces, input};

/// On one device and on three; with 48 pipelines lists lack the i-particle itself.
const SETTINGS: [&[(&str, &str)]; 3] = [
    &[],
    &[("FAKE_CUDA_DEVICES", "3"), ("KIRIN_DEVICES", "all")],
    &[("KIRIN_NPIPES", "48")],
];

fn check(set: &Set) {
    let input = input(set);
    for precision in PRECISIONS {
        for settings in SETTINGS {
            let all = [&[("KIRIN_PRECISION", precision)], settings].concat();
            let with_self = !settings.contains(&("KIRIN_NPIPES", "48"));
            if let Some(found) = forces(&input, &all) {
                report::check(&found, set, Tolerance::of(precision), with_self);
            }
        }
    }
}

fn at_rest(index: i32, mass: f64, x: [f64; 3]) -> Source {
    Source {
        index,
        mass,
        x,
        ..Source::default()
    }
}

fn observer(index: i32, x: [f64; 3], h2: f64) -> Probe {
    Probe {
        index,
        x,
        v: [0.0; 3],
        h2,
    }
}

/// Pairs of addresses whose nearest neighbours one step of the join compares directly. The join reduces the results of
/// 128 threads, each of which has every 128th address. Each step has pairs with the lower address on either side, and
/// pairs in one leaf, in one page and in two pages.
fn rivals() -> Vec<[usize; 2]> {
    let mut taken = [false; 1280];
    let mut pairs = Vec::new();
    for half in [64, 32, 16, 8, 4, 2, 1, 0] {
        for (low, high, turns) in [
            (0, half, 0),
            (0, half, 1),
            (half, 0, 1),
            (0, half, 8),
            (half, 0, 8),
        ] {
            let pair = |thread: usize| [thread + low, thread + high + 128 * turns];
            let threads = (0..128).filter(|thread| thread & half == 0).map(pair);
            let free = |pair: &[usize; 2]| pair[0] < pair[1] && pair.iter().all(|&a| !taken[a]);
            let found = threads.into_iter().find(free);
            for address in found.into_iter().flatten() {
                taken[address] = true;
            }
            pairs.extend(found);
        }
    }
    pairs
}

/// At exactly the radius, too: nobody is in a list.
#[test]
fn of_two_equally_near_the_lower_address_is_the_nearest() {
    let pairs = rivals();
    assert_eq!(pairs.len(), 39);
    let mut sources: Vec<Source> = (0..1280)
        .map(|n| at_rest(n + 1, 1.0, [0.0, 100.0 + f64::from(n), 50.0]))
        .collect();
    let mut probes = Vec::new();
    for (k, pair) in (0..).zip(&pairs) {
        let place = 4.0 * f64::from(k);
        for (address, side) in pair.iter().zip([0.25, -0.25]) {
            sources[*address].x = [place + side, 0.0, 0.0];
        }
        probes.push(observer(5000 + k, [place, 0.0, 0.0], 0.0625));
    }
    check(&Set {
        sources,
        probes,
        ..Set::default()
    });
}

/// Most sources are at the exact radius, at every place among those that a thread looks at; every seventh is inside.
#[test]
fn at_the_exact_radius_nobody_is_a_neighbour() {
    let sources = (0..900).map(|n| {
        let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
        let x = match n % 7 {
            6 => [1.0, 2.0 * sign, 3.0],
            n if n % 3 == 0 => [3.0, 4.0 * sign, 0.0],
            n if n % 3 == 1 => [0.0, 3.0 * sign, -4.0],
            _ => [5.0 * sign, 0.0, 0.0],
        };
        at_rest(n + 1, 1.0, x)
    });
    let probes = [1, 7, 5000, 5001, 889];
    check(&Set {
        sources: sources.collect(),
        probes: probes.map(|index| observer(index, [0.0; 3], 25.0)).to_vec(),
        ..Set::default()
    });
}

/// Each i-particle has two massless sources in different leaves. Their distances from it differ by less than the error
/// of the pair loop. For differences up to 3e-9 (`mixed`) and 1e-16 (double precision) this error is relative to the
/// distance. For differences up to 1e-5, of close sources, the error of `single` and `mixed` is relative to the
/// coordinates.
#[test]
fn the_pair_loop_may_err_about_who_is_nearer() {
    const APART: usize = 640;
    let mut set = cloud(2 * APART, 5, 0.0);
    let mut noise = Random::new(19);
    set.probes.truncate(240);
    for (k, probe) in set.probes.iter_mut().enumerate() {
        let (distance, more) = [(1e-2, 3e-9), (1e-4, 1e-5), (1e-10, 1e-5), (1e-2, 1e-16)][k % 4];
        let more = more * noise.signed();
        probe.index = 9000 + k as i32;
        for (address, distance) in [(k, distance * (1.0 + more)), (k + APART, distance)] {
            let way = noise.vector(1.0);
            let length = way.iter().map(|c| c * c).sum::<f64>().sqrt();
            let x = [0, 1, 2].map(|n| probe.x[n] + way[n] / length * distance);
            set.sources[address] = at_rest(set.sources[address].index, 0.0, x);
        }
    }
    check(&set);
}
