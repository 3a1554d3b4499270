//! Steps on a GPU, here the driver that interprets PTX: they have the bits of the processor.

mod common;

use std::path::Path;

use common::PROGRAM;
use fake_cuda::Run;
use kirin_testing::Folder;

/// A run with the fake driver; nothing where there is no compiler for it.
fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Option<Run> {
    fake_cuda::run_program(Path::new(PROGRAM.path), arguments, settings)
}

/// A run with these options on the processor, and one on a GPU with these settings, which write the same files; the latter.
fn compared(name: &str, options: &[&str], settings: &[(&str, &str)]) -> Option<Run> {
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
    let run = run(&on_gpu, settings)?;
    assert!(
        run.success,
        "{options:?}: {} {:?}",
        run.err, run.log.complaints
    );
    for (here, there) in here.iter().zip(&there) {
        let [here, there] = [here, there].map(|path| std::fs::read_to_string(path).expect(path));
        assert!(here == there, "{options:?}, {settings:?}: other bits");
    }
    Some(run)
}

/// A run with these options writes the same files on both.
fn alike(name: &str, options: &[&str], order: &str) {
    let Some(run) = compared(name, options, &[("FAKE_CUDA_ORDER", order)]) else {
        return;
    };
    assert_eq!(run.log.complaints, [""; 0], "{options:?}");
    assert_eq!(run.log.left(), [""; 0], "{options:?}");
    assert!(run.log.count("kernel:relax") > 0, "{options:?}");
    assert!(run.err.is_empty(), "{options:?}: {}", run.err);
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

/// By both criteria; the second cluster loses most of its stars in the first step, which the processor repeats.
#[test]
fn a_tidal_field_takes_the_same_stars() {
    let king = [
        "--n", "2500", "--model", "king", "--w0", "3", "--steps", "4",
    ];
    let small = ["--n", "1500", "--steps", "2", "--tidal-radius", "0.6"];
    for (number, (start, criterion)) in [
        (&king[..], "apocentre"),
        (&king, "energy"),
        (&small, "apocentre"),
    ]
    .into_iter()
    .enumerate()
    {
        let options = [start, &["--tidal-boundary", criterion]].concat();
        alike(&format!("tide-{number}"), &options, "forward");
    }
}

/// Below a thousand stars the processor goes on, and the table says so.
#[test]
fn a_cluster_that_shrinks_comes_back() {
    let options = ["--n", "1000", "--theta-max", "2", "--steps", "12"];
    let Some(run) = compared("shrinking", &options, &[("FAKE_CUDA_ORDER", "reverse")]) else {
        return;
    };
    assert_eq!(run.log.complaints, [""; 0]);
    let steps = run.log.count("kernel:relax");
    assert!((1..12).contains(&steps), "{steps}");
    let told = format!("steps on cuda 0 (Fake 0) ({steps} of 12)");
    assert!(run.out.contains(&told), "{}", run.out);
}

#[test]
fn what_the_gpu_cannot_do_is_refused_and_left_to_the_processor() {
    let ranks = ["--n", "10000", "--steps", "1", "--ranks", "2"];
    let refusal = PROGRAM.fail(&[&ranks[..], &["--device", "gpu"]].concat());
    let told = refusal.contains("--device gpu: several ranks only on the processor");
    assert!(told, "{refusal}");
    if let Some(run) = run(&ranks, &[]) {
        assert!(run.success, "{}", run.err);
        assert!(run.out.contains("steps on cpu"), "{}", run.out);
    }
    let few = PROGRAM.fail(&["--n", "999", "--steps", "1", "--device", "gpu"]);
    let why = "--device gpu: 999 stars are too few, it needs 1000";
    assert!(few.contains(why), "{few}");
}

/// Runs with what only the processor has: the GPU finds their orbits, with the bits of the processor.
const WITH_PROCESSOR: [&[&str]; 4] = [
    // Many stars merge in the first steps.
    &[
        "--stellar-radius",
        "1e-3",
        "--tidal-boundary",
        "energy",
        "--tidal-radius",
        "4",
    ],
    &["--binary-fraction", "0.3", "--three-body-binaries"],
    &[
        "--mass-function",
        "kroupa",
        "--units",
        "922Msun,1pc",
        "--stellar-evolution",
        "0.02",
    ],
    &["--black-hole-mass", "0.05", "--capture-radius", "1e-3"],
];

#[test]
fn the_gpu_finds_the_orbits_of_all_runs() {
    for (number, case) in WITH_PROCESSOR.into_iter().enumerate() {
        let options = [&["--n", "1607", "--steps", "8"], case].concat();
        let name = format!("orbits-{number}");
        let Some(run) = compared(&name, &options, &[("FAKE_CUDA_ORDER", "1")]) else {
            return;
        };
        assert_eq!(run.log.complaints, [""; 0], "{case:?}");
        assert_eq!(run.log.left(), [""; 0], "{case:?}");
        assert_eq!(run.log.count("kernel:find_places"), 8, "{case:?}");
        assert_eq!(run.log.count("kernel:relax"), 0, "{case:?}");
        let told = "steps on cpu, orbits on cuda 0 (Fake 0)\n";
        assert!(
            run.err.is_empty() && run.out.contains(told),
            "{case:?}: {run:?}"
        );
    }
}

/// The processor finds the orbits of the step in which the GPU fails, and of all later ones.
#[test]
fn a_gpu_that_fails_with_the_orbits_loses_nothing() {
    let failures = [
        ("FAKE_CUDA_FAIL", "cuLaunchKernel#5:700:device"),
        ("FAKE_CUDA_FAIL", "cuMemcpyDtoHAsync_v2#12:700:device"),
        ("FAKE_CUDA_FAIL", "cuMemcpyHtoDAsync_v2#20:700:device"),
    ];
    let options = ["--n", "1100", "--steps", "4", "--three-body-binaries"];
    for (number, failure) in failures.into_iter().enumerate() {
        let Some(run) = compared(&format!("lost-orbits-{number}"), &options, &[failure]) else {
            return;
        };
        let told = run
            .err
            .contains("the processor goes on from step 3, as the GPU failed");
        assert!(told, "{failure:?}: {}", run.err);
        assert!(
            run.out.contains("orbits on cuda 0 (Fake 0) (2 of 4)"),
            "{failure:?}: {}",
            run.out
        );
    }
}

#[test]
fn a_gpu_that_cannot_be_used_is_told() {
    let arguments = ["--n", "1000", "--steps", "2", "--device", "gpu"];
    for (setting, why) in [
        (("FAKE_CUDA_DEVICES", "0"), "libcuda.so.1: cuInit: "),
        (("FAKE_CUDA_FAIL", "cuMemAlloc_v2#9:2"), "cuMemAlloc_v2: "),
        (("KIRIN_DEVICES", "3"), "device 3 is asked for"),
    ] {
        let Some(run) = run(&arguments, &[setting]) else {
            return;
        };
        assert!(!run.success && run.out.is_empty(), "{setting:?}: {run:?}");
        let told = run.err.contains("--device gpu: ") && run.err.contains(why);
        assert!(told, "{setting:?}: {}", run.err);
    }
}

/// In a step, or when the stars are fetched for a record: the processor repeats the steps since the record before it.
#[test]
fn a_gpu_that_fails_loses_nothing() {
    let failures = [
        ("FAKE_CUDA_FAIL", "cuLaunchKernel#40:700:device"),
        ("FAKE_CUDA_FAIL", "cuLaunchKernel#80:700:device"),
        ("FAKE_CUDA_FAIL", "cuMemcpyDtoHAsync_v2#20:700:device"),
        ("FAKE_CUDA_HANG", "60"),
    ];
    let options = ["--n", "1100", "--steps", "5", "--every", "0.5"];
    for (number, failure) in failures.into_iter().enumerate() {
        let settings = [failure, ("KIRIN_GPU_TIMEOUT", "1")];
        let Some(run) = compared(&format!("lost-{number}"), &options, &settings) else {
            return;
        };
        let told = run.err.contains("the processor goes on from step ");
        assert!(told, "{failure:?}: {}", run.err);
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

/// The driver's counts of instructions: the sums of runs of 64 stars load the masses once on the way out, and masses and
/// radii on the way in.
#[test]
fn the_instructions_of_a_step_are_counted() {
    let count = |steps: &str| {
        let options = ["--n", "1100", "--steps", steps, "--device", "gpu"];
        let run = run(&options, &[("FAKE_CUDA_COUNT", "1")])?;
        assert!(run.success, "{run:?}");
        let of = |what: &str| run.log.count(&format!("{what}:sum_runs:ld.global.f64"));
        Some([of("warps"), of("threads")])
    };
    let (Some(one), Some(two)) = (count("1"), count("2")) else {
        return;
    };
    // One warp: 18 of its threads have a run each, of which the last is shorter.
    assert_eq!(two[1] - one[1], 3 * 1100);
    assert_eq!(two[0] - one[0], 3 * 64);
}
