//! Softening lengths too small for single precision, down to the smallest double. Leaves in which particles coincide
//! are then summed again in double precision.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};

use crate::succeed;

#[test]
fn coincident_particles_with_the_least_softening_add_to_the_potential_only() {
    let Some(client) = compile("tiny.c", Link::Shared) else {
        return;
    };
    for (precision, tolerance) in [
        ("mixed", "1e-6"),
        ("single", "2e-5"),
        ("double", "1e-13"),
        ("double-single", "1e-6"),
    ] {
        for (grape, compared) in [("5", 12_800), ("6", 4_480)] {
            // The i-particles have softening lengths, the j-particles none: a line on stderr would ask whether this is meant.
            let settings = [("KIRIN_PRECISION", precision), ("KIRIN_GRAPE5", "plain")];
            let Some(found) = succeed(&client, &[grape, tolerance].map(OsStr::new), &settings)
            else {
                return;
            };
            let expected = format!("0 of {compared} wrong\n");
            assert_eq!(found, expected, "GRAPE-{grape}, {precision}");
        }
    }
}
