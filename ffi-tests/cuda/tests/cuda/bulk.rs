//! The bulk interface on the device.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};

use crate::succeed;

#[test]
fn the_bits_are_those_of_the_g6_calls() {
    let Some(client) = compile("bulk.c", Link::Shared) else {
        return;
    };
    for devices in ["1", "2"] {
        let settings = [("FAKE_CUDA_DEVICES", devices), ("KIRIN_DEVICES", "all")];
        let found = succeed(&client, &[OsStr::new("bits")], &settings);
        assert!(found.is_none_or(|found| found.is_empty()), "{devices}");
    }
}
