//! The bulk interface on the device.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};
use kirin_testing::process::{clean_command, run, texts};

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

#[test]
fn sources_that_were_replaced_choose_no_units() {
    let Some(client) = compile("bulk.c", Link::Shared) else {
        return;
    };
    let found = succeed(&client, &[OsStr::new("units")], &[]);
    assert!(found.is_none_or(|found| found.is_empty()));
}

#[test]
fn lists_alone_take_no_forces() {
    let Some(client) = compile("bulk.c", Link::Shared) else {
        return;
    };
    let Some(found) = crate::run(&client, &[OsStr::new("lists")], &[]) else {
        return;
    };
    assert!(found.success && found.err.is_empty(), "{found:?}");
    assert_eq!(found.log.complaints, [""; 0]);
    let kernels: Vec<String> = found.log.kernels().collect();
    let has = |begin: &str| kernels.iter().any(|kernel| kernel.starts_with(begin));
    assert!(
        has("fill_neighbours") && !has("force_") && !has("step_"),
        "{kernels:?}"
    );
    let mut on_cpu = clean_command(&client, &[("KIRIN_BACKEND", "cpu")]);
    let (lists, _) = texts(&run(on_cpu.arg("lists")));
    assert!(lists.lines().count() > 1000);
    assert!(found.out == lists, "other lists than on the CPU");
}
