//! NBODY6's regular forces, lists and potentials on a GPU agree with the plain sum. The lists are those of the CPU. The
//! bits do not depend on the size of the block.

use crate::regular_client::{Case, arguments, check, client, expected, tolerance};
use crate::{PRECISIONS, succeed};

fn agree(case: Case<'_>, settings: &[(&str, &str)]) {
    let (Some(client), Some(expected)) = (client(), expected(&case)) else {
        return;
    };
    for precision in PRECISIONS {
        let all = [&[("KIRIN_PRECISION", precision)], settings].concat();
        if let Some(found) = succeed(client, &arguments(&case), &all) {
            check(
                &found,
                &expected,
                tolerance(precision),
                &format!("{case:?} {all:?}"),
            );
        }
    }
}

#[test]
fn any_number_of_sources_and_targets() {
    for n in [
        "1", "2", "31", "33", "63", "65", "511", "512", "513", "1500",
    ] {
        let ni = if n.len() < 3 { n } else { "60" };
        agree([n, ni, "0", "cloud", "60", n], &[]);
    }
    for ni in ["31", "33", "129", "257", "512"] {
        agree(
            ["700", ni, "1", "cloud", ni, "700"],
            &[("FAKE_CUDA_MULTIPROCESSORS", "1")],
        );
    }
}

#[test]
fn the_last_bit_decides_who_is_a_neighbour() {
    for by_mass in ["0", "1"] {
        agree(["1300", "600", by_mass, "edge", "600", "1300"], &[]);
    }
}

#[test]
fn close_pairs_and_odd_numbers() {
    // Rounded positions tell no close pairs apart.
    let case = ["800", "45", "0", "close", "45", "9"];
    let (Some(client), Some(expected)) = (client(), expected(&case)) else {
        return;
    };
    for precision in ["mixed", "double"] {
        let settings = [("KIRIN_PRECISION", precision)];
        if let Some(found) = succeed(client, &arguments(&case), &settings) {
            check(&found, &expected, tolerance(precision), precision);
        }
    }
    for scene in ["odd", "negative"] {
        for by_mass in ["0", "1"] {
            agree(["1200", "40", by_mass, scene, "40", "1200"], &[]);
        }
    }
}

#[test]
fn long_lists_are_counted_and_cut() {
    for longest in ["1", "37", "699", "700"] {
        agree(["700", "40", "0", "cloud", "40", longest], &[]);
    }
}

#[test]
fn the_same_bits_in_any_block_on_any_device() {
    let Some(client) = client() else {
        return;
    };
    for precision in PRECISIONS {
        let run = |scene, ni, block, multiprocessors| {
            let case = ["1400", ni, "0", scene, block, "1400"];
            let settings = [
                ("KIRIN_PRECISION", precision),
                ("FAKE_CUDA_MULTIPROCESSORS", multiprocessors),
            ];
            succeed(client, &arguments(&case), &settings)
        };
        // Shapes of all kinds: one or four targets a thread, pages divided among up to four of them.
        for (scene, ni, multiprocessors, blocks) in [
            (
                "edge",
                "512",
                "1",
                &[("512", "132"), ("129", "1"), ("64", "4"), ("7", "4")][..],
            ),
            // Alone, and beside targets that look farther ahead.
            ("cloud", "40", "4", &[("1", "4")]),
        ] {
            let Some(whole) = run(scene, ni, ni, multiprocessors) else {
                return;
            };
            for &(block, multiprocessors) in blocks {
                let found = run(scene, ni, block, multiprocessors);
                assert!(
                    found.as_ref() == Some(&whole),
                    "{precision}, {scene}, blocks of {block}"
                );
            }
        }
    }
}
