//! The memory and kernels that stay on a device when clusters are closed.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::Run;

use crate::run;

fn reopen(rounds: &str, reset: &str) -> Option<Run> {
    let client = compile("reopen.c", Link::Shared)?;
    let run = run(&client, &[rounds, reset].map(OsStr::new), &[])?;
    assert!(run.success && run.err.is_empty(), "{run:?}");
    assert_eq!(run.log.complaints, [""; 0]);
    assert!(run.log.count("cuLaunchKernel") > 0);
    Some(run)
}

#[test]
fn a_thousand_clusters_take_one_context_and_each_kernel_once() {
    let Some(run) = reopen("1000", "0") else {
        return;
    };
    assert_eq!(run.log.count("cuDevicePrimaryCtxRetain"), 1);
    assert_eq!(run.log.count("cuDevicePrimaryCtxRelease_v2"), 0);
    let loaded = run.log.count("cuModuleLoadDataEx");
    assert_eq!(
        loaded,
        run.log.kernels().count() as u64,
        "a module is a kernel"
    );
    // For the prediction, the forces, and measuring the roots.
    assert_eq!(loaded, 3);
    assert_eq!(run.log.left(), [""; 0]);
}

#[test]
fn a_client_may_reset_the_device_between_clusters() {
    let Some(run) = reopen("3", "1") else {
        return;
    };
    // The roots are measured once.
    assert_eq!(run.log.count("cuModuleLoadDataEx"), 2 * 3 + 1);
    assert_eq!(run.log.count("cuDevicePrimaryCtxRetain"), 3);
    assert_eq!(run.log.count("cuDevicePrimaryCtxRelease_v2"), 2);
}

/// The line on stderr repeats what the driver's compiler says.
#[test]
fn what_the_driver_says_of_a_module_is_told() {
    let folder = ffi_tests::library::workspace().join("newer");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let text = ".version 9.9\n.target sm_60\n.visible .entry advance_mixed(\n)\n";
    std::fs::write(folder.join("mixed.ptx"), text).expect("the target folder is writable");
    let newer = folder.to_str().expect("UTF-8");
    let Some(client) = compile("reopen.c", Link::Shared) else {
        return;
    };
    let settings = [("FAKE_CUDA_MODULES", newer)];
    let Some(run) = run(&client, &["1", "0"].map(OsStr::new), &settings) else {
        return;
    };
    let says = |what| run.err.contains(what);
    assert!(run.success && run.err.lines().count() == 1, "{run:?}");
    assert!(says("fake ptxas, line 1; fatal: code 222"), "{run:?}");
    assert!(says("older than the kernels"), "{run:?}");
}
