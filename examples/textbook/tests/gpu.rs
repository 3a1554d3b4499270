//! The programs for a GPU, on a driver that interprets their PTX. Their results are those of the programs for a CPU,
//! bit for bit, in any order of blocks and threads. No memory stays allocated on the device.

mod common;

use std::path::Path;

use common::PROGRAM;
use fake_cuda::Run;

/// A run with the fake driver; nothing where there is no compiler for it.
fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Option<Run> {
    fake_cuda::run_program(Path::new(PROGRAM.path), arguments, settings)
}

/// What a run prints that goes well.
fn out(arguments: &[&str], settings: &[(&str, &str)]) -> Option<String> {
    let run = run(arguments, settings)?;
    let what = format!("{arguments:?} {settings:?}");
    assert!(run.success, "{what}: {} {:?}", run.err, run.log.complaints);
    assert_eq!(run.log.complaints, [""; 0], "{what}");
    assert_eq!(run.log.left(), [""; 0], "{what}");
    Some(run.out)
}

/// What a program for the CPU prints.
fn on_cpu(arguments: &[&str]) -> String {
    String::from_utf8(PROGRAM.succeed(arguments).stdout).expect("UTF-8")
}

const ORDERS: [&str; 4] = ["forward", "reverse", "1", "2"];

#[test]
fn the_solvers_have_the_bits_of_the_serial_one() {
    // One alone, less than a block, whole blocks, and a rest.
    for n in ["1", "7", "64", "150"] {
        for scheme in [&["--every", "2"][..], &["--leapfrog"]] {
            let problem = [&[n, "3", "2000"], scheme].concat();
            let expected = on_cpu(&[&["basic"], &problem[..]].concat());
            // The cooperative one with a particle a thread, with several, and with blocks that have none.
            for program in [
                &["basic-gpu"][..],
                &["shared-gpu"],
                &["cooperative-gpu"],
                &["cooperative-gpu", "--blocks", "2"],
                &["cooperative-gpu", "--blocks", "5"],
            ] {
                for order in ORDERS {
                    let arguments = [program, &problem[..], &["--block", "64"]].concat();
                    let Some(found) = out(&arguments, &[("FAKE_CUDA_ORDER", order)]) else {
                        return;
                    };
                    assert_eq!(found, expected, "{arguments:?}, {order}");
                }
            }
        }
    }
}

/// A step of each kernel, once for all particles.
#[test]
fn the_kernels_are_the_chapters() {
    for (program, kernel) in [
        ("basic-gpu", "compute_force"),
        ("shared-gpu", "compute_force_shared"),
    ] {
        let Some(run) = run(&[program, "1500", "2", "1", "--no-output"], &[]) else {
            return;
        };
        let count = |what: &str| run.log.count(what);
        assert!(run.success, "{run:?}");
        assert_eq!(count(&format!("kernel:{kernel}")), 2);
        assert_eq!(count("kernel:update_pos_vel"), 2);
        // 1024 threads a block.
        assert_eq!(count("blocks"), 2 * 2 * 2);
    }
}

/// Words that the threads of a kernel loaded from global memory: each instruction, with its bytes.
fn words_loaded(log: &fake_cuda::Log, kernel: &str) -> u64 {
    let begin = format!("count threads:{kernel}:ld.global.");
    let words = |line: &str| {
        let (opcode, times) = line.strip_prefix(&begin)?.split_once(' ')?;
        let (vector, number) = opcode.split_once('.').unwrap_or(("v1", opcode));
        let [several, bits] = [&vector[1..], &number[1..]].map(|n| n.parse::<u64>().expect(opcode));
        Some(several * bits / 64 * times.parse::<u64>().expect("a number"))
    };
    log.text.lines().filter_map(words).sum()
}

/// The words of section 7.1.16, as the interpreter counts them: three for each thread's own particle, and those of the loops.
#[test]
fn shared_memory_saves_loads() {
    for (n, block) in [(256, 64), (320, 32), (200, 128)] {
        let [basic, shared] = textbook::tables::words_loaded(n, block);
        for (program, kernel, expected) in [
            ("basic-gpu", "compute_force", basic),
            ("shared-gpu", "compute_force_shared", shared),
        ] {
            let (n_words, block) = (n.to_string(), block.to_string());
            let arguments = [
                program,
                &n_words,
                "1",
                "1",
                "--no-output",
                "--block",
                &block,
            ];
            let Some(run) = run(&arguments, &[("FAKE_CUDA_COUNT", "1")]) else {
                return;
            };
            assert!(run.success, "{run:?}");
            let found = words_loaded(&run.log, kernel);
            assert_eq!(found, 3 * n + expected, "{program} {n} {block}");
        }
    }
}

/// One launch between two outputs, and of no more steps than take about a second on a slow GPU. The barriers are counted from
/// launch to launch.
#[test]
fn a_cooperative_launch_takes_many_steps() {
    for (n, steps, every, launches) in [
        ("40", "7", None, 1),
        ("40", "7", Some("3"), 3),
        ("1", "10000", None, 2),
    ] {
        let mut problem = vec![n, steps, "1000"];
        problem.extend(every.map(|every| ["--every", every]).into_iter().flatten());
        let arguments = [&["cooperative-gpu"], &problem[..], &["--block", "32"]].concat();
        let Some(run) = run(&arguments, &[]) else {
            return;
        };
        assert!(run.success, "{run:?}");
        assert_eq!(run.log.count("cuLaunchCooperativeKernel"), launches);
        assert_eq!(run.log.count("kernel:basic_steps"), launches);
        assert_eq!(run.log.count("cuLaunchKernel"), 0);
        assert!(run.out == on_cpu(&[&["basic"], &problem[..]].concat()));
    }
}

/// There are no more blocks than the device holds at a time: here 16 with 64 threads.
#[test]
fn blocks_of_a_cooperative_launch_are_resident() {
    let one = ("FAKE_CUDA_MULTIPROCESSORS", "1");
    for (n, blocks) in [("64", 1), ("1000", 16), ("1100", 16)] {
        let arguments = [
            "cooperative-gpu",
            n,
            "1",
            "1",
            "--no-output",
            "--block",
            "64",
        ];
        let Some(run) = run(&arguments, &[one]) else {
            return;
        };
        assert!(run.success, "{run:?}");
        assert_eq!(run.log.count("blocks"), blocks, "{n}");
    }
}

/// The interpreter notices a barrier of the grid that lacks one of its fences, and positions that come out of the
/// multiprocessor's cache. The kernel has two barriers, each with a fence before and behind it.
#[test]
fn a_barrier_without_a_fence_is_noticed() {
    let shipped = include_str!("../kernels/prebuilt/nbody_f64.ptx");
    let begin = shipped.find(".entry basic_steps(").expect("the kernel");
    let (others, kernel) = shipped.split_at(begin);
    let without = |number: usize| {
        let (at, fence) = kernel.match_indices("membar.gl;").nth(number)?;
        Some([&kernel[..at], &kernel[at + fence.len()..]].concat())
    };
    assert_eq!(without(4), None);
    let mut broken: Vec<(String, &str)> = (0..4)
        .map(|fence| (without(fence).expect("there are four"), "race: "))
        .collect();
    broken.push((
        kernel.replace("ld.global.cg.", "ld.global."),
        "a read through the multiprocessor's cache of what another block wrote",
    ));
    for (number, (kernel, why)) in broken.iter().enumerate() {
        let folder = kirin_testing::Folder::new(&format!("without-{number}"));
        std::fs::write(folder.file("nbody.ptx"), [others, kernel].concat()).expect("a file");
        let modules = folder.file("");
        for order in ORDERS {
            let settings = [("FAKE_CUDA_MODULES", &*modules), ("FAKE_CUDA_ORDER", order)];
            let arguments = ["cooperative-gpu", "150", "3", "2000", "--block", "64"];
            let Some(run) = run(&arguments, &settings) else {
                return;
            };
            let complaints = run.log.complaints.join("\n");
            assert!(!run.success, "{number}, {order}");
            assert!(complaints.contains(why), "{number}, {order}: {complaints}");
        }
    }
}

/// Launches behind a device that does not answer would at some time not return.
#[test]
fn the_host_waits_for_each_step() {
    let waits = |steps| {
        let run = run(&["basic-gpu", "3", steps, "1", "--no-output"], &[])?;
        assert!(run.success, "{run:?}");
        Some(run.log.count("cuStreamQuery"))
    };
    if let (Some(few), Some(many)) = (waits("2"), waits("7")) {
        assert!(many >= few + 5, "{few}, {many}");
    }
}

#[test]
fn single_precision_has_its_own_accuracy() {
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace()
            .map(|w| w.parse().expect("a number"))
            .collect()
    };
    for n in ["1", "50"] {
        let expected = numbers(&on_cpu(&["basic", n, "5", "2000"]));
        let mut of_basic = None;
        for program in ["basic-gpu", "shared-gpu", "cooperative-gpu"] {
            let arguments = [program, n, "5", "2000", "--float", "--block", "32"];
            let Some(found) = out(&arguments, &[]) else {
                return;
            };
            assert_eq!(&found, of_basic.get_or_insert(found.clone()), "{program}");
            let found = numbers(&found);
            assert_eq!(found.len(), expected.len());
            let largest = |k: usize| {
                let column = expected[1..].iter().skip(k).step_by(5);
                column.fold(0.0_f64, |m, x| m.max(x.abs()))
            };
            let mut differs = false;
            for (i, (a, b)) in found[1..].iter().zip(&expected[1..]).enumerate() {
                assert!(
                    (a - b).abs() <= 1e-6 * largest(i % 5),
                    "{program} {n}: {a:e} {b:e}"
                );
                differs |= a != b;
            }
            assert_eq!(differs, n != "1", "{program} is in single precision");
        }
    }
}

/// Two bodies 1 km apart, far from the origin; two of 1 kg.
#[test]
fn what_single_precision_loses_is_refused() {
    let folder = kirin_testing::Folder::new("too-fine");
    for (bodies, why) in [
        (
            "1e30 1.5e11 0 0 0\n1e30 1.50000001e11 0 0 0\n",
            "particles 0 and 1 are at one place in single precision: leave out --float",
        ),
        (
            "1 0 0 0 0\n1 1e9 0 0 0\n",
            "the product of two masses is too small in single precision: leave out --float",
        ),
    ] {
        let path = folder.file("bodies");
        std::fs::write(&path, bodies).expect("a file");
        for program in ["basic-gpu", "shared-gpu", "cooperative-gpu"] {
            let arguments = [program, "2", "1", "1", "--input", &path, "--block", "32"];
            let Some(run) = run(&[&arguments[..], &["--float"]].concat(), &[]) else {
                return;
            };
            assert!(!run.success && run.out.is_empty(), "{run:?}");
            assert!(run.err.contains(why), "{}", run.err);
            assert!(out(&arguments, &[]).is_some_and(|text| !text.contains("NaN")));
        }
    }
}

/// The keys that `list` asks for are sorted on the GPU as on the CPU, in any order of execution.
fn sorted_as_on_the_cpu(list: &[&str]) {
    let expected = on_cpu(&[&["sort", "3"], list].concat());
    for (order, block) in [("forward", "256"), ("reverse", "64"), ("1", "96")] {
        let arguments = [&["sort-gpu", "--block", block], list].concat();
        let Some(found) = out(&arguments, &[("FAKE_CUDA_ORDER", order)]) else {
            return;
        };
        assert!(found == expected, "{arguments:?}, {order}");
    }
}

#[test]
fn the_sort_is_a_plain_one() {
    // Nothing, less than a warp, a block in shared memory, several buckets, one in global memory; with 70000 keys
    // more counts than one round adds up.
    for (keys, sizes) in [
        (
            "random",
            &["0", "1", "31", "33", "1000", "9999", "70000"][..],
        ),
        ("sorted", &["5", "9999"]),
        ("reversed", &["2100"]),
        ("equal", &["1", "64", "5000"]),
    ] {
        for n in sizes {
            let list = [n, "--keys", keys];
            sorted_as_on_the_cpu(&list);
        }
    }
}

#[test]
fn a_bucket_of_different_keys_is_sorted_in_global_memory() {
    // The sample has 16 keys for each of the five buckets, at equal distances, and here the smallest of all: so the
    // others lie in one bucket.
    let (n, sample) = (5000, 80);
    let mut state = 7_u32;
    let mut keys: Vec<u32> = (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 1
        })
        .collect();
    for k in 0..sample {
        keys[(2 * k + 1) * n / (2 * sample)] = 0;
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-bucket.txt");
    let text: Vec<String> = keys.iter().map(u32::to_string).collect();
    std::fs::write(&file, text.join("\n")).expect("the target folder is writable");
    let list = ["5000", "--input", file.to_str().expect("UTF-8")];
    sorted_as_on_the_cpu(&list);
}

/// A GPU that sorts one large bucket by one thread block is given up later than one with nothing to do.
#[test]
fn a_long_sort_has_its_time() {
    let hangs = [("FAKE_CUDA_HANG", "1"), ("KIRIN_GPU_TIMEOUT", "1")];
    let Some(run) = run(&["sort-gpu", "40000", "--block", "32"], &hangs) else {
        return;
    };
    let seconds = run.err.split_once("no answer for ").and_then(|(_, rest)| {
        let number = rest.split_whitespace().next()?;
        number.parse::<f64>().ok()
    });
    assert!(seconds.is_some_and(|s| s > 2.5), "{}", run.err);
}

#[test]
fn what_fails_is_told() {
    for (settings, why) in [
        (
            &[("FAKE_CUDA_DEVICES", "0")][..],
            "textbook: libcuda.so.1: cuInit: FAKE_ERROR_100 (no GPU is visible to this process)",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuDeviceGet:101")],
            "textbook: device 0 (unknown): cuDeviceGet: FAKE_ERROR_101",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuMemAlloc_v2#3:2")],
            "textbook: cuMemAlloc_v2: FAKE_ERROR_2",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuLaunchKernel#2:700:device")],
            "textbook: cuLaunchKernel: FAKE_ERROR_700",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:222")],
            "textbook: cuModuleLoadDataEx: FAKE_ERROR_222 (the driver is older than the kernels)",
        ),
        (
            &[("FAKE_CUDA_DRIVER", "12000")],
            "textbook: libcuda.so.1: the driver knows CUDA 12.0, kirin's kernels need 12.1",
        ),
        // A kernel that never ends.
        (
            &[("FAKE_CUDA_HANG", "1"), ("KIRIN_GPU_TIMEOUT", "1")],
            "textbook: cuStreamQuery: FAKE_ERROR_600: no answer for ",
        ),
    ] {
        for program in [&["basic-gpu", "4", "2", "1"][..], &["sort-gpu", "100"]] {
            let Some(run) = run(program, settings) else {
                return;
            };
            assert!(!run.success && run.out.is_empty(), "{settings:?}: {run:?}");
            assert!(run.err.starts_with(why), "{settings:?}: {}", run.err);
        }
    }
    let cooperative = ["cooperative-gpu", "4", "2", "1", "--block", "64"];
    for (more, settings, why) in [
        (
            &[][..],
            ("FAKE_CUDA_COOPERATES", "0"),
            "textbook: device 0 (Fake 0) has no cooperative launches: thread blocks cannot wait for each other\n",
        ),
        (
            &["--blocks", "65"],
            ("FAKE_CUDA_MULTIPROCESSORS", "4"),
            "textbook: 65 thread blocks of 64 threads are to wait for each other; the device holds 64 at a time\n",
        ),
        (
            &[],
            ("FAKE_CUDA_REGISTERS", "2048"),
            "textbook: the device has no room for a thread block of 64 threads of this kernel\n",
        ),
        (
            &[],
            ("FAKE_CUDA_FAIL", "cuLaunchCooperativeKernel:700:device"),
            "textbook: cuLaunchCooperativeKernel: FAKE_ERROR_700",
        ),
        (
            &[],
            ("FAKE_CUDA_HANG", "1"),
            "textbook: cuStreamQuery: FAKE_ERROR_600: no answer for ",
        ),
    ] {
        let settings = [settings, ("KIRIN_GPU_TIMEOUT", "1")];
        let Some(run) = run(&[&cooperative, more].concat(), &settings) else {
            return;
        };
        assert!(!run.success && run.out.is_empty(), "{settings:?}: {run:?}");
        assert!(run.err.starts_with(why), "{settings:?}: {}", run.err);
    }
    for (arguments, why) in [
        (
            &["cooperative-gpu", "4", "1", "1", "--blocks", "0"][..],
            "at least one",
        ),
        (
            &["sort-gpu", "10", "--block", "33"][..],
            "33 is not a multiple of 32",
        ),
        (&["sort-gpu"], "required arguments"),
        (&["basic-gpu", "4", "1"], "required arguments"),
        (
            &["shared-gpu", "4", "1", "1", "1"],
            "unexpected argument '1'",
        ),
        (
            &["shared-gpu", "4", "1", "1", "--block", "1025"],
            "above 1024",
        ),
    ] {
        let told = PROGRAM.fail(arguments);
        assert!(told.contains(why), "{told}");
    }
}
