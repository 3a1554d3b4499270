//! The chapter's tables of the division of the work, compared cell by cell with the print.

use textbook::distribution::Distribution;
use textbook::tables::{first_phase_table, ring_table, second_phase_sums};

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
