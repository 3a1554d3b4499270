//! Tests of linear tides against the few-body integrator under the same tides.

use super::*;
use crate::body::Body;
use crate::few_body::flight::Flight;
use crate::few_body::kepler::Orbit;
use crate::few_body::nested::tests::{binary, orbit, star, triple};
use crate::few_body::pair::tests::Passage;
use crate::few_body::{Alone, System};
use crate::vector::norm;

/// Position of the third star from the first, and of the second.
fn places(system: &System) -> [Vec3; 2] {
    [1, 2].map(|k| system.relative(0, k).0)
}

fn apart(a: &[Vec3; 2], b: &[Vec3; 2]) -> [f64; 2] {
    [0, 1].map(|k| norm(&sub(&a[k], &b[k])))
}

/// A tide that changes to another one, on a triple and on its binary: the hierarchy moves as the few-body integrator moves it.
#[test]
fn tides_that_change_are_followed_within_a_step() {
    let stars = triple();
    let system = || System::new(&stars).with_tolerance(1e-14);
    let matrix = |scale: f64, [a, b, c]: [f64; 3]| {
        [[a, c, 0.0], [c, b, c], [0.0, c, -a - b]].map(|row: Vec3| row.map(|x| scale * x))
    };
    let dt = 1000.0;
    let mut alone = system();
    alone.advance(dt, &mut Alone).unwrap();
    for (on, scale) in [(vec![0, 1, 2], 1e-7), (vec![0, 1], 1e-5)] {
        let tensor = |at: [f64; 3], rate: [f64; 3]| Tensor {
            tide: matrix(scale, at),
            rate: matrix(3.0 * scale / dt, rate),
        };
        let ends = [
            tensor([1.0, -0.5, 0.3], [2.0, 0.0, -1.0]),
            tensor([-0.4, 0.9, -0.6], [0.0, 1.0, 1.0]),
        ];
        let course = Course::of([&ends[0], &ends[1]], dt);
        for (t, end) in [(0.0, &ends[0]), (dt, &ends[1])] {
            let found = course.at(t);
            let both = [(found.tide, end.tide), (found.rate, end.rate)];
            let numbers = both
                .iter()
                .flat_map(|(a, b)| a.as_flattened().iter().zip(b.as_flattened()));
            numbers.for_each(|(a, b)| assert!((a - b).abs() < 1e-14 * scale));
        }
        let masses = stars.iter().map(|star| star.mass).collect::<Vec<f64>>();
        let mut tides = Tides(vec![Tide {
            masses: on.iter().map(|&k| masses[k]).collect(),
            stars: on,
            course,
        }]);
        let mut expected = system();
        expected.advance(dt, &mut tides).unwrap();
        let chain = system().chain().clone();
        let chain = Flight::in_tides(masses.clone(), chain, 1e-13, &mut tides, dt).unwrap();
        let found = [1, 2].map(|k| chain.relative(0, k).0);
        let moved = apart(&places(&alone), &places(&expected));
        let missed = apart(&found, &places(&expected));
        assert!(moved.iter().all(|d| *d > 1e-4), "{moved:?}");
        assert!(missed[0] < 1e-4 * moved[0], "{missed:?} of {moved:?}");
        assert!(missed[1] < 1e-4 * moved[1], "{missed:?} of {moved:?}");
    }
}

/// Follows a triple past a star to the time `t_end`. Returns the number of steps, and the stars in linear tides in turn.
fn follow(stars: &[Body], star: &Passage, t_end: f64) -> (Multiple, usize, Vec<Vec<usize>>) {
    let (_, mut multiple) = Multiple::of(stars);
    let (mut t, mut dt, mut steps) = (0.0, 0.0, 0);
    let mut modes: Vec<Vec<usize>> = Vec::new();
    loop {
        t += dt;
        let places = multiple.places(dt, dt).unwrap();
        assert!(places.len() <= MOST_PLACES);
        let pull = |(x, v): &Place| star.pull(t, x, v);
        multiple
            .advance(dt, &places.iter().map(pull).collect::<Vec<_>>())
            .unwrap();
        multiple.plan(0.01);
        let mode: Vec<usize> = multiple
            .linear()
            .iter()
            .flat_map(|p| p.stars.clone())
            .collect();
        if modes.last() != Some(&mode) {
            modes.push(mode);
        }
        steps += 1;
        if t >= t_end {
            return (multiple, steps, modes);
        }
        let longest = multiple.longest_step(0.01).min(multiple.cheapest_step());
        dt = longest.min(t_end - t);
    }
}

/// The inner and the outer orbit of the triple.
fn orbits(stars: &[Body]) -> [Orbit; 2] {
    let (centre, pair) = Pair::of(&stars[0], &stars[1]);
    [pair.orbit(), Pair::of(&centre, &stars[2]).1.orbit()]
}

/// A star passes slowly and far away: the whole triple is in a linear tide. Another passes nearer: only the binary is, and the orbit of
/// the third star is followed. The next one comes from far and goes again. In the last triple the binary moves as a point, as far as
/// places of forces are concerned. Both orbits end as by the few-body integrator, in fewer steps
/// than revolutions.
#[test]
fn a_triple_is_in_a_linear_tide_as_a_whole_or_in_part() {
    let wide = orbit(
        [&binary([0.6, 0.4], 1.0, 0.4, 0.0), &star(0.5)],
        60.0,
        0.3,
        0.6,
    );
    let passage = |x, speed| Passage {
        x,
        v: [speed, 0.0, 0.0],
    };
    let (whole, inner) = (vec![0, 1, 2], vec![0, 1]);
    for (stars, mut star, t_end, expected_modes, parts, most) in [
        (
            triple(),
            passage([-300.0, 1000.0, 60.0], 0.1),
            6000.0,
            vec![vec![], whole.clone()],
            [2e-2; 2],
            60,
        ),
        (
            triple(),
            passage([-60.0, 130.0, 20.0], 0.06),
            2000.0,
            vec![vec![], inner.clone()],
            [1e-3, 2e-5],
            400,
        ),
        (
            triple(),
            passage([-2500.0, 130.0, 20.0], 0.5),
            10_000.0,
            vec![vec![], whole.clone(), vec![], inner.clone(), whole],
            [2e-3, 5e-4],
            1000,
        ),
        (
            wide,
            passage([-100.0, 400.0, 60.0], 0.03),
            6000.0,
            vec![vec![], inner],
            [1e-3, 1e-5],
            300,
        ),
    ] {
        let (multiple, steps, modes) = follow(&stars, &star, t_end);
        let mut expected = System::new(&stars).with_tolerance(1e-14);
        expected.advance(t_end, &mut star).unwrap();
        let mut alone = System::new(&stars).with_tolerance(1e-14);
        alone.advance(t_end, &mut Alone).unwrap();
        let [found, expected, alone] =
            [multiple.stars(), expected.stars(), alone.stars()].map(|stars| orbits(&stars));
        for k in 0..2 {
            let missed = |a: &Orbit| norm(&sub(&a.momentum, &expected[k].momentum));
            let (missed, effect) = (missed(&found[k]), missed(&alone[k]));
            assert!(missed < parts[k] * effect, "{k}: {missed:e} of {effect:e}");
        }
        assert_eq!(modes, expected_modes);
        assert!(steps < most, "{steps}");
    }
}
