//! Compares the galaxies with galpy and gala, by the script that made the published table. It takes minutes, most of them in
//! galpy and gala.

mod common;

use common::compared_by;

#[test]
fn orbits_over_10_gyr_are_those_of_galpy_and_gala() {
    let Some(told) = compared_by("galaxies.py") else {
        return;
    };
    let mut compared = 0;
    for line in told.lines().skip(2) {
        // The last column is one of the others off the other.
        for cell in line.trim_matches('|').split('|').skip(1).take(2) {
            let Ok(off) = cell.trim().parse::<f64>() else {
                assert_eq!(cell.trim(), "-", "{line}");
                continue;
            };
            assert!(off < 1e-6, "{line}");
            compared += 1;
        }
    }
    assert_eq!(compared, 8, "{told}");
}
