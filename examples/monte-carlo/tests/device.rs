//! Steps on a GPU, here the driver that interprets PTX: they have the bits of the processor.

mod common;

use std::ffi::OsStr;
use std::path::Path;

use common::PROGRAM;
use fake_cuda::Run;
use kirin_testing::Folder;

/// A run with the fake driver; nothing where there is no compiler for it.
fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Option<Run> {
    let arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    let driver = fake_cuda::driver()?;
    Some(fake_cuda::run(
        driver,
        Path::new(PROGRAM.path),
        &arguments,
        settings,
    ))
}

/// A run with these options writes the same files on both.
fn alike(name: &str, options: &[&str], order: &str) {
    let folders = ["cpu", "gpu"].map(|device| Folder::new(&format!("mc-{name}-{device}")));
    let [here, there] = folders
        .each_ref()
        .map(|folder| ["run", "csv", "bodies"].map(|file| folder.file(file)));
    let arguments = |device, [run, csv, bodies]: &[String; 3]| {
        let files = ["--output", run, "--csv", csv, "--bodies", bodies];
        let all = [&["--device", device][..], &files, options].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let on_cpu = arguments("cpu", &here);
    PROGRAM.succeed(&on_cpu.iter().map(String::as_str).collect::<Vec<_>>());
    let on_gpu = arguments("gpu", &there);
    let on_gpu: Vec<&str> = on_gpu.iter().map(String::as_str).collect();
    let Some(run) = run(&on_gpu, &[("FAKE_CUDA_ORDER", order)]) else {
        return;
    };
    assert!(
        run.success,
        "{options:?}: {} {:?}",
        run.err, run.log.complaints
    );
    assert_eq!(run.log.complaints, [""; 0], "{options:?}");
    assert_eq!(run.log.left(), [""; 0], "{options:?}");
    for (here, there) in here.iter().zip(&there) {
        let [here, there] = [here, there].map(|path| std::fs::read_to_string(path).expect(path));
        assert!(here == there, "{options:?}: other bits");
    }
}

/// Stars of unequal masses, with three blocks of the potential, eight tiles of the sort and two levels of sums over bins; the
/// last bin is incomplete. Then long steps, in which stars escape and some cannot pay for their correction.
#[test]
fn steps_have_the_bits_of_the_processor() {
    let options = ["--n", "12007", "--mass-function", "kroupa"];
    alike(
        "unequal",
        &[&options[..], &["--steps", "2"]].concat(),
        "forward",
    );
    let options = ["--n", "1100", "--theta-max", "2", "--every", "0.2"];
    alike(
        "long",
        &[&options[..], &["--steps", "9", "--encounters", "3"]].concat(),
        "1",
    );
}

/// Below a thousand stars the processor goes on.
#[test]
fn a_cluster_that_shrinks_comes_back() {
    let options = ["--n", "1000", "--theta-max", "2", "--steps", "12"];
    alike("shrinking", &options, "reverse");
}

#[test]
fn what_the_gpu_cannot_do_is_refused_and_left_to_the_processor() {
    let units = ["--units", "1000Msun,1pc"];
    let evolution = [&units[..], &["--stellar-evolution", "0.02"]].concat();
    let cases: [(&[&str], &str); 7] = [
        (&["--ranks", "2"], "several ranks"),
        (&["--stellar-radius", "1e-3"], "collisions of stars"),
        (&["--three-body-binaries"], "binaries"),
        (&evolution, "stellar evolution"),
        (
            &["--tidal-boundary", "energy", "--tidal-radius", "8"],
            "a tidal boundary",
        ),
        (&["--black-hole-mass", "0.01"], "a black hole"),
        (&["--n", "999"], "999 stars are too few, it needs 1000"),
    ];
    for (case, why) in cases {
        let start: &[&str] = if case[0] == "--n" {
            &[]
        } else {
            &["--n", "1000"]
        };
        let arguments = [start, &["--steps", "1", "--t-end", "1"], case].concat();
        let refusal = PROGRAM.fail(&[&arguments[..], &["--device", "gpu"]].concat());
        let told = refusal.contains("--device gpu: ") && refusal.contains(why);
        assert!(told, "{case:?}: {refusal}");
        PROGRAM.succeed(&arguments);
    }
}

#[test]
fn a_gpu_that_cannot_be_used_or_fails_is_told() {
    let arguments = ["--n", "1000", "--steps", "2", "--device", "gpu"];
    for (setting, why) in [
        (
            ("FAKE_CUDA_DEVICES", "0"),
            "--device gpu: libcuda.so.1: cuInit: ",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuMemAlloc_v2#9:2"),
            "--device gpu: cuMemAlloc_v2: ",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuLaunchKernel#40:700:device"),
            "the GPU failed: cuLaunchKernel: ",
        ),
        (("FAKE_CUDA_HANG", "30"), "the GPU failed: "),
    ] {
        let settings = [setting, ("KIRIN_GPU_TIMEOUT", "1")];
        let Some(run) = run(&arguments, &settings) else {
            return;
        };
        assert!(!run.success && run.out.is_empty(), "{setting:?}: {run:?}");
        assert!(run.err.contains(why), "{setting:?}: {}", run.err);
    }
}

/// Large clusters take a GPU, unless the settings of the library name another backend.
#[test]
fn auto_takes_a_gpu_for_large_clusters() {
    for (n, settings, device) in [
        ("10000", &[][..], "cuda 0 (Fake 0)"),
        ("10000", &[("KIRIN_BACKEND", "cpu")], "cpu"),
        ("10000", &[("FAKE_CUDA_DEVICES", "0")], "cpu"),
        ("9999", &[], "cpu"),
    ] {
        let Some(run) = run(&["--n", n, "--steps", "1"], settings) else {
            return;
        };
        assert!(
            run.success && run.err.is_empty(),
            "{n} {settings:?}: {run:?}"
        );
        let told = format!("steps on {device}");
        assert!(run.out.contains(&told), "{n} {settings:?}: {}", run.out);
    }
}
