//! The chapter's tables of the division of the work, compared cell by cell with the print.

mod common;

use common::PROGRAM;
use textbook::distribution::Distribution;
use textbook::tables::{first_phase_table, ring_table, second_phase_sums, words_loaded};

/// Owner, and the cells of the three threads, for particles 0 to 5.
type Row = (usize, [&'static str; 3]);

const TABLE_7_1: [Row; 6] = [
    (0, ["f01 + f02 + f03 + f04 + f05", "0", "0"]),
    (0, ["-f01 + f12 + f13 + f14 + f15", "0", "0"]),
    (1, ["-f02 - f12", "f23 + f24 + f25", "0"]),
    (1, ["-f03 - f13", "-f23 + f34 + f35", "0"]),
    (2, ["-f04 - f14", "-f24 - f34", "f45"]),
    (2, ["-f05 - f15", "-f25 - f35", "-f45"]),
];

const TABLE_7_2: [Row; 6] = [
    (0, ["f01 + f02 + f03 + f04 + f05", "0", "0"]),
    (1, ["-f01", "f12 + f13 + f14 + f15", "0"]),
    (2, ["-f02", "-f12", "f23 + f24 + f25"]),
    (0, ["-f03 + f34 + f35", "-f13", "-f23"]),
    (1, ["-f04 - f34", "-f14 + f45", "-f24"]),
    (2, ["-f05 - f35", "-f15 - f45", "-f25"]),
];

#[test]
fn first_phase_of_the_reduced_solver() {
    for (distribution, table) in [
        (Distribution::Block, TABLE_7_1),
        (Distribution::Cyclic, TABLE_7_2),
    ] {
        let found = first_phase_table(distribution);
        assert_eq!(found.len(), table.len());
        for (q, ((owner, cells), (its_owner, its_cells))) in found.iter().zip(table).enumerate() {
            assert_eq!(*owner, its_owner, "{distribution:?}, particle {q}");
            assert_eq!(cells, &its_cells, "{distribution:?}, particle {q}");
        }
    }
}

/// Row q of the matrix of section 7.1.2.
#[test]
fn the_second_phase_makes_the_whole_force() {
    let expected = [
        "f01 + f02 + f03 + f04 + f05",
        "-f01 + f12 + f13 + f14 + f15",
        "-f02 - f12 + f23 + f24 + f25",
        "-f03 - f13 - f23 + f34 + f35",
        "-f04 - f14 - f24 - f34 + f45",
        "-f05 - f15 - f25 - f35 - f45",
    ];
    for distribution in [Distribution::Block, Distribution::Cyclic] {
        assert_eq!(second_phase_sums(distribution), expected);
    }
}

/// Moment, then loc_pos, loc_forces, tmp_pos and tmp_forces of both processes.
const TABLE_7_4: [(&str, [[&str; 4]; 2]); 6] = [
    (
        "start",
        [
            ["s0, s2", "0, 0", "s0, s2", "0, 0"],
            ["s1, s3", "0, 0", "s1, s3", "0, 0"],
        ],
    ),
    (
        "after computation of forces",
        [
            ["s0, s2", "f02, 0", "s0, s2", "0, -f02"],
            ["s1, s3", "f13, 0", "s1, s3", "0, -f13"],
        ],
    ),
    (
        "after communication 1",
        [
            ["s0, s2", "f02, 0", "s1, s3", "0, -f13"],
            ["s1, s3", "f13, 0", "s0, s2", "0, -f02"],
        ],
    ),
    (
        "after computation of forces",
        [
            [
                "s0, s2",
                "f01 + f02 + f03, f23",
                "s1, s3",
                "-f01, -f03 - f13 - f23",
            ],
            ["s1, s3", "f12 + f13, 0", "s0, s2", "0, -f02 - f12"],
        ],
    ),
    (
        "after communication 2",
        [
            ["s0, s2", "f01 + f02 + f03, f23", "s0, s2", "0, -f02 - f12"],
            ["s1, s3", "f12 + f13, 0", "s1, s3", "-f01, -f03 - f13 - f23"],
        ],
    ),
    (
        "after computation of forces",
        [
            [
                "s0, s2",
                "f01 + f02 + f03, -f02 - f12 + f23",
                "s0, s2",
                "0, -f02 - f12",
            ],
            [
                "s1, s3",
                "-f01 + f12 + f13, -f03 - f13 - f23",
                "s1, s3",
                "-f01, -f03 - f13 - f23",
            ],
        ],
    ),
];

#[test]
fn the_ring_pass() {
    let found = ring_table();
    assert_eq!(found.len(), TABLE_7_4.len());
    for ((when, cells), (its_time, its_cells)) in found.iter().zip(TABLE_7_4) {
        assert_eq!(when, its_time);
        assert_eq!(cells, &its_cells, "{when}");
    }
}

/// The numbers in the rows of a table of `textbook tables` whose title begins so.
fn rows(text: &str, title: &str) -> Vec<Vec<f64>> {
    let (_, table) = text.split_once(title).expect("the table");
    let lines = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let numbers = |line: &str| -> Vec<f64> {
        let cells = line
            .split('|')
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        cells.map(|cell| cell.parse().expect("a number")).collect()
    };
    lines.skip(2).map(numbers).collect()
}

/// Section 7.1.11, with what the solvers allocate: a thread stores what the chapter says. A process also stores its forces, 2/p,
/// and a message that arrives, 4/p; so the basic solver's positions of all are p/4 of the extra storage of the reduced one.
#[test]
fn the_storage_of_the_solvers() {
    let text = String::from_utf8(PROGRAM.succeed(&["tables"]).stdout).expect("UTF-8");
    let (beside, extra) = (
        rows(&text, "Storage of the reduced solvers"),
        rows(&text, "Storage of the solvers with message passing"),
    );
    let near = |found: f64, expected: f64| {
        assert!(
            (found - expected).abs() <= 0.02,
            "{found}, not {expected}\n{text}"
        );
    };
    assert_eq!((beside.len(), extra.len()), (4, 4));
    for (beside, extra) in beside.iter().zip(&extra) {
        let p = beside[0];
        assert_eq!(p, extra[0]);
        let expected = [1.0 + 4.0 / p, 1.0 + 10.0 / p, 2.0 + 3.0 / p, 2.0 + 3.0 / p];
        for (found, expected) in beside[1..].iter().zip(expected) {
            near(*found, expected);
        }
        // The chapter's difference of the two.
        near(beside[5], 1.0 - 1.0 / p);
        near(beside[6], 1.0 - 7.0 / p);
        let expected = [2.0, 2.0, 4.0 / p, 8.0 / p, p / 2.0];
        for (found, expected) in extra[1..].iter().zip(expected) {
            near(*found, expected);
        }
        near(extra[6] / (p / 4.0), 1.0);
    }
}

/// Section 7.1.16: "approximately 512 times as many words" with 512 threads per block.
#[test]
fn words_loaded_in_the_loops() {
    let text = String::from_utf8(PROGRAM.succeed(&["tables"]).stdout).expect("UTF-8");
    let loads = rows(&text, "Words that a GPU loads");
    assert_eq!(loads.len(), 6);
    for row in loads {
        let [basic, shared] = words_loaded(1 << 15, row[0] as u64).map(|words| words as f64);
        assert_eq!(row[1..4], [basic, shared, row[0]]);
        assert!((basic / shared / row[0] - 1.0).abs() < 1e-4);
        assert!((row[4] - basic / shared).abs() <= 0.005);
    }
}
