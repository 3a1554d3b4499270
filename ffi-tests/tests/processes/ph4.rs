//! A client that defines the C names of the interface itself, as AMUSE's ph4 does.

use ffi_tests::compiler::{Link, compile, succeed};
use ffi_tests::library;
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::cloud;

/// Runs the client that defines the C names itself, and compares its forces.
pub fn check(link: Link, name: &str) {
    let mut set = cloud(60, 71, 0.01);
    for probe in &mut set.probes {
        probe.h2 = 0.0;
    }
    let Some(client) = compile("ph4.c", link) else {
        return;
    };
    let input = library::workspace().join(name);
    std::fs::write(&input, set.to_text()).expect("the target folder is writable");
    for backend in ["reference", "cpu"] {
        for precision in ["double", "mixed"] {
            let settings = [("KIRIN_BACKEND", backend), ("KIRIN_PRECISION", precision)];
            let output = succeed(&client, &[input.as_os_str()], &settings);
            report::check(&output, &set, Tolerance::of(precision), false);
        }
    }
}
