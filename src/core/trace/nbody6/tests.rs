//! Tests: every call can be written and read back, and data that a client repeats take few bytes.

use super::*;
use crate::trace::code::{Reader, Streams, Writer};

const ODD: [f64; 3] = [f64::NAN, f64::NEG_INFINITY, -0.0];

fn sources(count: i32) -> Vec<Source> {
    let source = |k: i32| Source {
        mass: 1.0 / f64::from(k + 1),
        x: [0.1 * f64::from(k), f64::from(k * k), 1e-300],
        v: [0.3, -0.2 * f64::from(k), 0.0],
    };
    (0..count).map(source).collect()
}

fn target(source: &Source) -> Target {
    Target {
        x: source.x,
        v: source.v,
        h2: 0.04,
        dtr: 0.125,
    }
}

fn force(a: f64) -> Force {
    Force {
        acc: [a, -a, 0.5],
        jerk: ODD,
        pot: 3.0 * a,
    }
}

/// One of every kind, with numbers of every kind.
pub(crate) fn every_call() -> Vec<Call> {
    let all = sources(7);
    let regular = |target, neighbours, list: &[i32]| RegularForce {
        target,
        force: force(0.3),
        neighbours,
        list: list.to_vec(),
    };
    let elsewhere = Target {
        x: ODD,
        v: [1.0; 3],
        h2: f64::INFINITY,
        dtr: -1.0,
    };
    let irregular = |address: i32, nearest| IrregularForce {
        address,
        acc: [0.1, f64::from(address), -0.0],
        jerk: ODD,
        nearest,
    };
    let star = |k: i32| JParticle {
        t: 0.0625 * f64::from(k),
        mass: 0.1,
        x: [1.0, 2.0, f64::from(k)],
        v: ODD,
        aby2: [0.1, 0.2, 0.3],
        a1by6: [0.01; 3],
        ..JParticle::default()
    };
    let nanoseconds = u64::MAX;
    vec![
        Call::Open { room: i32::MAX },
        Call::Send {
            sources: all.clone(),
            nanoseconds,
        },
        Call::Regular {
            by_mass: true,
            longest: 2,
            forces: vec![
                regular(target(&all[2]), 2, &[2, i32::MAX]),
                regular(target(&all[5]), 0, &[]),
                regular(elsewhere, 3, &[]),
                regular(target(&all[1]), u64::MAX, &[]),
            ],
            nanoseconds,
        },
        Call::Send {
            sources: all[..3].to_vec(),
            nanoseconds: 0,
        },
        Call::Potentials {
            sources: all.iter().map(|&s| Source { v: [0.0; 3], ..s }).collect(),
            first: 4,
            potentials: ODD.to_vec(),
            nanoseconds,
        },
        Call::IrregularOpen {
            room: 100,
            longest: -7,
        },
        Call::Star {
            address: 1,
            star: star(1),
        },
        Call::Star {
            address: i32::MAX,
            star: star(2),
        },
        Call::List {
            address: 1,
            neighbours: vec![i32::MIN, 3, i32::MAX],
        },
        Call::List {
            address: 2,
            neighbours: Vec::new(),
        },
        Call::Irregular {
            ti: 0.125,
            with_nearest: true,
            forces: vec![irregular(1, 2), irregular(i32::MIN, i32::MAX)],
            nanoseconds,
        },
        Call::Irregular {
            ti: f64::NAN,
            with_nearest: false,
            forces: vec![irregular(1, 0), irregular(2, 0)],
            nanoseconds: 1,
        },
        Call::Close,
        Call::IrregularClose,
    ]
}

/// Bytes of the numbers of some calls, one after the other.
fn costs(calls: &[Call]) -> Vec<usize> {
    let mut streams = Streams::default();
    let mut forecast = Forecast::default();
    let mut cost = |call: &Call| {
        let before = streams.bytes.len();
        let mut call = call.clone();
        call.code(&mut Writer(&mut streams), &mut forecast)
            .expect("it is written");
        streams.bytes.len() - before
    };
    calls.iter().map(&mut cost).collect()
}

#[test]
fn calls_come_back_whatever_was_before() {
    let calls = [every_call(), every_call()].concat();
    let mut streams = Streams::default();
    let mut forecast = Forecast::default();
    for call in &calls {
        let written = call.clone().code(&mut Writer(&mut streams), &mut forecast);
        assert_eq!(written, Ok(()));
    }
    let mut reader = Reader::at(&streams, [0; 3]);
    let mut forecast = Forecast::default();
    for call in &calls {
        let mut found = Call::blank(call.kind()).expect("it has a number");
        assert_eq!(found.kind(), call.kind());
        found.code(&mut reader, &mut forecast).expect("it is there");
        // NaN is not equal to itself, but its text is.
        assert_eq!(format!("{found:?}"), format!("{call:?}"));
    }
}

#[test]
fn targets_that_are_sources_and_what_is_repeated_cost_nothing() {
    let all = sources(50);
    let send = Call::Send {
        sources: all.clone(),
        nanoseconds: 0,
    };
    let regular = Call::Regular {
        by_mass: false,
        longest: 9,
        // Not in the order of addresses.
        forces: [7, 8, 30, 3]
            .map(|k| RegularForce {
                target: target(&all[k]),
                // Of a NaN nothing is foretold.
                force: Force {
                    jerk: [0.3, 0.2, 0.1],
                    ..force(0.1)
                },
                ..RegularForce::default()
            })
            .to_vec(),
        nanoseconds: 0,
    };
    let potentials = Call::Potentials {
        sources: all.clone(),
        first: 0,
        potentials: Vec::new(),
        nanoseconds: 0,
    };
    let costs = costs(&[send.clone(), regular.clone(), send, regular, potentials]);
    assert!(costs[0] > 1000, "{costs:?}");
    // Forces, radii and steps; the targets are the sources.
    assert!((1..4 * 8 * 9).contains(&costs[1]), "{costs:?}");
    assert_eq!(costs[2..], [0, 0, 0]);
}

#[test]
fn sources_and_stars_that_move_as_foretold_cost_little() {
    let all = sources(20);
    let at = |t: f64| Call::Send {
        sources: all
            .iter()
            .map(|s| Source {
                x: [0, 1, 2].map(|k| s.x[k] + t * s.v[k]),
                ..*s
            })
            .collect(),
        nanoseconds: 0,
    };
    let time = |ti| Call::Irregular {
        ti,
        with_nearest: false,
        forces: Vec::new(),
        nanoseconds: 0,
    };
    let star = JParticle {
        mass: 0.1,
        x: [0.3, 0.7, 0.9],
        v: [0.1, 0.2, 0.3],
        aby2: [0.11, 0.12, 0.13],
        a1by6: [0.01, 0.02, 0.03],
        ..JParticle::default()
    };
    let (x, v) = star.predicted(0.5);
    let later = JParticle {
        t: 0.5,
        x,
        v,
        aby2: [0, 1, 2].map(|k| star.aby2[k] + 3.0 * 0.5 * star.a1by6[k]),
        ..star
    };
    let write = |star| Call::Star { address: 9, star };
    let costs = costs(&[
        time(0.25),
        at(0.25),
        write(star),
        time(0.5),
        at(0.5),
        write(later),
    ]);
    // A last bit at most.
    assert!(costs[4] <= 20 * 3, "{costs:?}");
    assert_eq!(costs[5], 0);
}
