//! With sums along the tree, every grid and algorithm gives the bits of `hermite`.

mod common;

use common::{Outcome, hermite_outcome, run_plan};
use parallel::machine::{Algorithm, Arrangement, Joining};

fn plan(grid: &str, algorithm: Algorithm, sums: Joining) -> Arrangement {
    Arrangement {
        grid: grid.parse().unwrap(),
        algorithm,
        sums,
    }
}

fn assert_same(found: &Outcome, expected: &Outcome, what: &str) {
    assert_eq!(found.time, expected.time, "{what}");
    assert_eq!(found.counts, expected.counts, "{what}");
    assert!(found.bodies == expected.bodies, "{what}: other bodies");
    assert!(found.states == expected.states, "{what}: other states");
    assert!(
        found.later == expected.later,
        "{what}: synchronised elsewhere"
    );
}

#[test]
fn any_grid_gives_the_bits_of_hermite() {
    let expected = hermite_outcome(1000, 0.25);
    for grid in ["1x1", "1x2", "2x1", "2x2", "3x2", "1x4", "4x4", "1x3"] {
        let found = run_plan(plan(grid, Algorithm::TwoD, Joining::Tree), 1000, 0.25);
        assert_same(&found, &expected, grid);
    }
}

/// Columns that are several subtrees, and not as many in each.
#[test]
fn every_algorithm_gives_the_bits_of_hermite() {
    let expected = hermite_outcome(2600, 0.03125);
    for (grid, algorithm) in [
        ("1x3", Algorithm::Ring),
        ("1x4", Algorithm::Ring),
        ("3x1", Algorithm::Copy),
        ("1x3", Algorithm::JParallel),
        ("2x3", Algorithm::TwoD),
        ("1x4", Algorithm::TwoD),
    ] {
        let found = run_plan(plan(grid, algorithm, Joining::Tree), 2600, 0.03125);
        assert_same(&found, &expected, grid);
    }
}

/// What MPI adds in its own order differs in the last digits, and in no others.
#[test]
fn sums_by_reduction_agree_but_for_rounding() {
    let expected = hermite_outcome(2600, 0.015625);
    for (grid, algorithm) in [("2x3", Algorithm::TwoD), ("1x3", Algorithm::Ring)] {
        let found = run_plan(plan(grid, algorithm, Joining::Mpi), 2600, 0.015625);
        assert_eq!(found.later.len(), expected.later.len());
        for (a, b) in found.later.iter().zip(&expected.later) {
            for k in 0..3 {
                assert!((a.x[k] - b.x[k]).abs() < 1e-12, "{a:?} {b:?}");
            }
        }
    }
}
