//! Forces by a tree on the device.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};

use crate::succeed;

/// Several clusters of one handle, on one device and in turn on two.
#[test]
fn lists_go_to_several_clusters_in_turn() {
    let Some(client) = compile("tree.c", Link::Shared) else {
        return;
    };
    for devices in ["1", "2"] {
        let settings = [("FAKE_CUDA_DEVICES", devices), ("KIRIN_THREADS", "2")];
        let Some(found) = succeed(&client, &[OsStr::new("device")], &settings) else {
            return;
        };
        assert!(
            !found.contains("wrong") && found.contains("cuda"),
            "{found}"
        );
    }
}
