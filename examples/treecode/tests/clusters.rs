//! Clusters of the library in turn on a GPU, here the driver that interprets PTX: threads, pipelines and ranks change no bit.

mod common;

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::PROGRAM;
use fake_cuda::Run;
use kirin_core::trace::{Event, Trace};
use kirin_kit::Snapshot;
use kirin_testing::Folder;

/// Two steps of a cluster whose groups have lists of a hundred entries.
const STEPS: &str = "--n 150 --n-crit 24 --theta 0.9 --dt 1/64 --t-end 1/32";

/// The number of a folder.
fn number() -> usize {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// The run with the fake driver, and where it ended; nothing where there is no compiler for the driver.
fn on_gpu(more: &str, settings: &[(&str, &str)]) -> Option<(Run, Snapshot)> {
    let driver = fake_cuda::driver()?;
    let folder = Folder::new(&format!("tree-gpu-{}", number()));
    let end = folder.file("end");
    let arguments = format!("{STEPS} {more} --output");
    let arguments = arguments.split_whitespace().chain([&*end]);
    let arguments: Vec<&OsStr> = arguments.map(AsRef::as_ref).collect();
    let run = fake_cuda::run(driver, Path::new(PROGRAM.path), &arguments, settings);
    assert!(
        run.success && run.log.complaints.is_empty(),
        "{more} {settings:?}: {} {:?}",
        run.err,
        run.log.complaints
    );
    let end = Snapshot::load(end.as_ref()).expect("it was written");
    Some((run, end))
}

#[test]
fn threads_pipelines_and_ranks_change_no_bit() {
    let one = [("RAYON_NUM_THREADS", "1")];
    let Some((run, expected)) = on_gpu("", &one) else {
        return;
    };
    assert!(run.out.contains("cuda 0"), "{}", run.out);
    for (more, settings) in [
        ("", ("RAYON_NUM_THREADS", "3")),
        ("", ("KIRIN_NPIPES", "7")),
        ("--ranks 2", ("RAYON_NUM_THREADS", "2")),
    ] {
        let (run, end) = on_gpu(more, &[settings]).expect("there is a driver");
        assert!(end.bodies == expected.bodies, "{more} {settings:?}");
        assert_eq!(run.log.left(), [""; 0], "{more} {settings:?}");
    }
    assert_near_host(&expected);
}

/// The end is that of sums by the program itself, but for the precision.
fn assert_near_host(end: &Snapshot) {
    let folder = Folder::new(&format!("tree-host-{}", number()));
    let host = folder.file("host");
    let arguments: Vec<_> = STEPS
        .split(' ')
        .chain(["--host", "--force", "--output", &host])
        .collect();
    PROGRAM.succeed(&arguments);
    let host = Snapshot::load(host.as_ref()).unwrap();
    for (a, b) in host.bodies.iter().zip(&end.bodies) {
        for (a, b) in a.v.iter().zip(b.v) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

/// A block is begun on one cluster before the results of the one before are fetched from the other.
#[test]
fn the_next_list_is_loaded_while_the_device_sums() {
    let folder = Folder::new("tree-gpu-trace");
    let trace = folder.file("trace");
    let settings = [("RAYON_NUM_THREADS", "1"), ("KIRIN_TRACE", &trace)];
    if on_gpu("", &settings).is_none() {
        return;
    }
    let mut trace = Trace::open(trace.as_ref()).expect("it was written");
    let (mut begun, mut blocks, mut most) = (Vec::new(), 0, 0);
    while let Some(event) = trace.next_event().expect("it is whole") {
        match event {
            // What is loaded is not that of a block that waits.
            Event::JParticle { id, .. } => assert!(!begun.contains(&id)),
            Event::FirstHalf { id, .. } => {
                assert!(!begun.contains(&id));
                begun.push(id);
                blocks += 1;
            }
            Event::LastHalf { id, .. } => {
                most = most.max(begun.len());
                assert_eq!(begun.remove(0), id);
            }
            _ => {}
        }
    }
    assert!(begun.is_empty() && blocks > 20, "{blocks} blocks");
    assert_eq!(most, 2);
}

/// A GPU that is lost in the midst of a step costs nothing: the library goes on with the CPU, in all clusters.
#[test]
fn a_gpu_that_is_lost_ends_no_run() {
    let settings = [
        ("RAYON_NUM_THREADS", "2"),
        ("FAKE_CUDA_FAIL", "cuLaunchKernel#60:700:device"),
    ];
    for more in ["", "--ranks 2"] {
        let Some((run, end)) = on_gpu(more, &settings) else {
            return;
        };
        assert!(run.err.contains("CPU"), "{}", run.err);
        assert_near_host(&end);
    }
}
