//! The modules that are shipped: each of their kernels is launched, and gives the digits of its C++ source.

use std::collections::BTreeSet;
use std::path::Path;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::{self, Sanitizer, driver_from_source};
use ffi_tests::generate::repository;
use ffi_tests::report::{self, Tolerance};

use crate::inputs::still;
use crate::{PRECISIONS, driver, input, regular_client, set, try_forces};

/// Numbers of i-particles and of multiprocessors whose plans have 1, 2 and 4 i-particles a thread.
const BLOCKS: [(usize, &str); 3] = [(20, "1"), (1000, "2"), (1000, "1")];

/// All kernels of `kernels/prebuilt`.
fn kernels() -> BTreeSet<String> {
    let folder = repository().join("kernels/prebuilt");
    let entries = folder.read_dir().expect("the folder is there");
    let modules = entries.map(|e| e.expect("an entry").path());
    let texts = modules
        .filter(|p| p.extension().is_some_and(|e| e == "ptx"))
        .map(|p| std::fs::read_to_string(p).expect("PTX is text"));
    let names = |text: String| -> Vec<String> {
        let entries = text.split(".entry ").skip(1);
        entries
            .filter_map(|e| Some(e.split_once('(')?.0.to_owned()))
            .collect()
    };
    texts.flat_map(names).collect()
}

#[test]
fn every_kernel_is_launched_and_agrees_with_its_source() {
    let (Some(driver), Some(source)) = (driver(), driver_from_source(Sanitizer::None)) else {
        return;
    };
    let mut launched = BTreeSet::new();
    for (ni, multiprocessors) in BLOCKS {
        for moving in [true, false] {
            let set = set(1100, ni, 1e-4);
            let set = if moving { set } else { still(set) };
            let input = input(&set);
            for precision in PRECISIONS {
                let settings = [
                    ("KIRIN_PRECISION", precision),
                    ("KIRIN_NPIPES", "16384"),
                    ("FAKE_CUDA_MULTIPROCESSORS", multiprocessors),
                ];
                let run = |driver| try_forces(driver, &input, &settings).expect("a compiler");
                let (found, expected) = (run(driver), run(source));
                for run in [&found, &expected] {
                    assert!(run.success && run.err.is_empty(), "{settings:?}\n{run:?}");
                    assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
                }
                report::check(&found.out, &set, Tolerance::of(precision), true);
                assert!(
                    found.out == expected.out,
                    "{ni} {moving} {settings:?}: other digits from PTX than from C++"
                );
                launched.extend(found.log.kernels());
            }
        }
    }
    launched.extend(regular_kernels(driver, source));
    launched.extend(kernels_of_small_blocks(driver, source));
    let all = kernels();
    for kernel in &all {
        let mark = if launched.contains(kernel) {
            "launched"
        } else {
            "NEVER LAUNCHED"
        };
        println!("{kernel:32} {mark}");
    }
    println!("{} of {} kernels", launched.len(), all.len());
    assert_eq!(launched, all, "a kernel that no test launches");
}

/// The same for blocks that take one launch.
fn kernels_of_small_blocks(driver: &Path, source: &Path) -> BTreeSet<String> {
    let Some(client) = compile("few.c", Link::Shared) else {
        return BTreeSet::new();
    };
    let mut launched = BTreeSet::new();
    for precision in PRECISIONS {
        let settings = [("KIRIN_PRECISION", precision)];
        let run = |driver| fake_cuda::run(driver, &client, &["60".as_ref()], &settings);
        let (found, other) = (run(driver), run(source));
        for run in [&found, &other] {
            assert!(run.success && run.err.is_empty(), "{settings:?}\n{run:?}");
            assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
        }
        assert!(
            found.out == other.out,
            "{precision}: other digits from PTX than from C++"
        );
        launched.extend(found.log.kernels());
    }
    launched
}

/// The same for NBODY6's regular force: few targets, and as many as make plans of four a thread.
fn regular_kernels(driver: &Path, source: &Path) -> BTreeSet<String> {
    let Some(client) = regular_client::client() else {
        return BTreeSet::new();
    };
    let mut launched = BTreeSet::new();
    for ni in ["20", "512"] {
        let case = ["1100", ni, "0", "cloud", ni, "1100"];
        let expected = regular_client::expected(&case).expect("a compiler");
        for precision in PRECISIONS {
            let settings = [
                ("KIRIN_PRECISION", precision),
                ("FAKE_CUDA_MULTIPROCESSORS", "1"),
            ];
            let arguments = regular_client::arguments(&case);
            let run = |driver| fake_cuda::run(driver, client, &arguments, &settings);
            let (found, other) = (run(driver), run(source));
            for run in [&found, &other] {
                assert!(run.success && run.err.is_empty(), "{settings:?}\n{run:?}");
                assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
            }
            let tolerance = regular_client::tolerance(precision);
            regular_client::check(&found.out, &expected, tolerance, precision);
            assert!(
                found.out == other.out,
                "{ni} {precision}: other digits from PTX than from C++"
            );
            launched.extend(found.log.kernels());
        }
    }
    launched
}

/// With roots as inaccurate as the PTX manual allows.
#[test]
fn the_worst_roots_are_good_enough() {
    let set = set(1500, 200, 1e-4);
    let input = input(&set);
    for precision in PRECISIONS {
        for roots in ["high", "low", "1", "2"] {
            let settings = [("KIRIN_PRECISION", precision), ("FAKE_CUDA_ROOTS", roots)];
            if let Some(found) = crate::forces(&input, &settings) {
                report::check(&found, &set, Tolerance::of(precision), true);
            }
        }
    }
}
