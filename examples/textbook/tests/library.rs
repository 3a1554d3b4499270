//! The solver through the GRAPE-6 interface agrees with the basic solver, as far as its precision goes.

mod common;

use common::PROGRAM;

/// All numbers that the program prints with these settings of the library.
fn numbers(program: &str, n: &str, scheme: &[&str], precision: &str) -> Vec<f64> {
    let arguments = [&[program, n, "20", "2000"], scheme].concat();
    let output = PROGRAM
        .command(&arguments)
        .env("KIRIN_PRECISION", precision)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_whitespace()
        .map(|w| w.parse().expect("a number"))
        .collect()
}

#[test]
fn the_library_agrees_as_far_as_its_precision_goes() {
    for (precision, bound) in [("double", 1e-12), ("mixed", 1e-6)] {
        // 50 particles are more than the library has pipelines.
        for n in ["1", "2", "50"] {
            for scheme in [&[][..], &["--leapfrog"]] {
                let expected = numbers("basic", n, scheme, precision);
                let found = numbers("library", n, scheme, precision);
                assert_eq!(found.len(), expected.len());
                // Positions and velocities, each relative to the largest.
                for columns in [1..3, 3..5] {
                    let these = |all: &[f64]| -> Vec<f64> {
                        let rows = all[1..].chunks(5);
                        rows.flat_map(|row| row[columns.clone()].to_vec()).collect()
                    };
                    let (a, b) = (these(&found), these(&expected));
                    let largest = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                    let apart = a.iter().zip(&b).map(|(x, y)| (x - y).abs());
                    let worst = apart.fold(0.0, f64::max);
                    assert!(
                        worst <= bound * largest,
                        "{precision} {n}: {worst:e} of {largest:e}"
                    );
                }
            }
        }
    }
}
