//! Which `libcuda` is opened: never a toolkit's stub if there is a driver.

use std::path::{Path, PathBuf};

use ffi_tests::fake_cuda::{self, Run};
use ffi_tests::library;

use crate::{driver, input, set, try_forces};

/// A folder of this test's own with copies of the library in `from` under these names.
fn copies(folder: &str, of: &Path, names: &[&str]) -> PathBuf {
    let to = library::workspace().join(folder);
    std::fs::create_dir_all(&to).expect("the target folder is writable");
    for name in names {
        std::fs::copy(of.join("libcuda.so.1"), to.join(name)).expect("a folder of our own");
    }
    to
}

/// Runs a small block with these folders on the search path.
fn block(folders: &[&Path], settings: &[(&str, &str)]) -> Run {
    let folders: Vec<_> = folders.iter().map(|f| f.to_str().expect("UTF-8")).collect();
    let path = folders.join(":");
    let all = [&[("LD_LIBRARY_PATH", path.as_str())], settings].concat();
    try_forces(Path::new(""), &input(&set(50, 5, 1e-4)), &all).expect("a compiler")
}

fn is_on_device(run: &Run) -> bool {
    run.success && run.err.is_empty() && run.log.count("cuLaunchKernel") > 0
}

#[test]
fn a_stub_for_linking_does_not_win() {
    let (Some(driver), Some(stub)) = (driver(), fake_cuda::stub()) else {
        return;
    };
    let linking = copies("stub", stub, &["libcuda.so"]);
    let run = block(&[&linking, driver], &[]);
    assert!(is_on_device(&run), "{run:?}");
}

#[test]
fn a_stub_alone_is_told_to_those_who_asked() {
    let Some(stub) = fake_cuda::stub() else {
        return;
    };
    let run = block(&[stub], &[]);
    let says = |what| run.err.contains(what);
    if run.log.count("cuLaunchKernel") == 0 && !Path::new("/usr/lib/wsl/lib").exists() {
        assert!(
            run.success && says("libcuda.so.1") && says("a stub"),
            "{run:?}"
        );
    }
    let quiet = block(&[stub], &[("KIRIN_BACKEND", "auto")]);
    assert!(quiet.success && quiet.err.is_empty(), "{quiet:?}");
}

#[test]
fn the_place_of_wsl_is_looked_at() {
    let (Some(driver), Some(stub), Some(wsl)) = (driver(), fake_cuda::stub(), fake_cuda::wsl())
    else {
        return;
    };
    let preloaded = wsl.join("library.so");
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (preloaded, there) = (text(&preloaded), text(driver));
    let settings = [
        ("LD_PRELOAD", preloaded.as_str()),
        ("WSL_FOLDER", there.as_str()),
    ];
    let run = block(&[stub], &settings);
    assert!(is_on_device(&run), "{run:?}");
}

/// In a container that has the driver without its compiler, the line on stderr says what is missing.
#[test]
fn a_missing_compiler_is_named() {
    let Some(driver) = driver() else {
        return;
    };
    let run = block(&[driver], &[("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:221")]);
    let says = |what| run.err.contains(what);
    assert!(
        run.success && says("libnvidia-ptxjitcompiler.so.1") && says("NVIDIA_DRIVER_CAPABILITIES"),
        "{run:?}"
    );
}
