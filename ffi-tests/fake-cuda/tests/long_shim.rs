//! The shim and the fake driver themselves run small kernels. Some of them have an error that must be found.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use fake_cuda::{Log, Product, Sanitizer, build, with_driver, with_shim};
use kirin_testing::process::{clean_command, run, texts, workspace};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// A client and the driver in one program.
fn client() -> Option<&'static Path> {
    static CLIENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let sources = with_driver(&[source("toys.cu"), source("client.cc")]);
        build(Product::Program, Sanitizer::None, &sources, &[])
    });
    CLIENT.as_deref()
}

/// What the client prints, and the driver's log.
fn ask(what: &str, settings: &[(&str, &str)]) -> Option<(String, Log)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let log = workspace().join(format!("log-{number}"));
    let program = client()?.join("program");
    let mut command = clean_command(program, settings);
    command.env("FAKE_CUDA_LOG", &log).args(what.split(' '));
    let output = run(&mut command);
    let (out, err) = texts(&output);
    assert!(
        output.status.success(),
        "{what}: {}\n{out}{err}",
        output.status
    );
    assert_eq!(err, "", "{what}");
    Some((out, Log::read(&log)))
}

fn numbers(text: &str) -> Vec<i64> {
    let words = text.split_whitespace();
    words.map(|w| w.parse().expect("a number")).collect()
}

const ORDERS: [&str; 4] = ["forward", "reverse", "1", "2"];

#[test]
fn right_kernels_give_the_same_in_every_order() {
    for order in ORDERS {
        let settings = [("FAKE_CUDA_ORDER", order)];
        let Some((out, log)) = ask("reverse", &settings) else {
            return;
        };
        let mut expected = vec![0, 0];
        expected.extend((0..4).flat_map(|block| (0..64).rev().map(move |i| block * 64 + i)));
        assert_eq!(numbers(&out), expected, "{order}");
        assert_eq!(log.complaints, Vec::<String>::new());
        let sum = |what: &str| ask(what, &settings).map(|a| a.0).unwrap_or_default();
        assert_eq!(sum("sum"), format!("{}\n", (0..255).sum::<i32>()));
        for (by, answer) in [(0, 3), (62, 3), (63, 2), (64, 0)] {
            let found = numbers(&sum(&format!("any {by}")));
            assert!(found[2..66].iter().all(|&n| n == answer), "{by}: {found:?}");
        }
        let place: Vec<i64> = (0..4)
            .flat_map(|b| (0..64).map(move |t| 1000 * b + t))
            .collect();
        assert_eq!(numbers(&sum("place")), place);
    }
}

#[test]
fn a_missing_barrier_shows_in_some_order() {
    let results: Vec<String> = ORDERS
        .iter()
        .filter_map(|order| ask("reverse_without_barrier", &[("FAKE_CUDA_ORDER", order)]))
        .map(|answer| answer.0)
        .collect();
    if results.len() == ORDERS.len() {
        assert_ne!(results[0], results[1]);
    }
}

#[test]
fn threads_that_part_at_a_barrier_fail_the_launch() {
    for (what, why) in [
        ("divergent_end 10", "10 of 64 threads wait at"),
        ("divergent_places", "32 of 64 threads wait at"),
    ] {
        let Some((out, log)) = ask(what, &[]) else {
            return;
        };
        assert_eq!(out, "719 719\n", "{what}");
        let line = &log.complaints[0];
        assert!(
            line.contains(what.split(' ').next().unwrap_or(what)),
            "{line}"
        );
        assert!(line.contains("block 0 0 0") && line.contains(why), "{line}");
    }
}

#[test]
fn a_kernel_that_writes_beside_its_memory_is_caught() {
    // 64 threads on 256 places.
    for (by, code) in [(192, 0), (193, 700), (250, 700)] {
        let Some((out, log)) = ask(&format!("offset {by}"), &[]) else {
            return;
        };
        assert_eq!(numbers(&out)[0], code, "{by}");
        assert_eq!(log.complaints.is_empty(), code == 0, "{:?}", log.complaints);
    }
}

#[test]
fn wrong_addresses_are_refused() {
    for (what, answer) in [
        ("range", "1 1\n"),
        ("freed", "700 1\n"),
        ("others", "700\n"),
    ] {
        let Some((out, log)) = ask(what, &[("FAKE_CUDA_DEVICES", "2")]) else {
            return;
        };
        assert_eq!(out, answer, "{what}");
        assert!(!log.complaints.is_empty(), "{what}");
    }
}

#[test]
fn kernels_see_memory_of_the_host_only_if_it_is_mapped() {
    let Some((out, log)) = ask("mapped", &[]) else {
        return;
    };
    assert_eq!(out, "1 0 0 63 700\n");
    assert_eq!(log.complaints.len(), 2, "{:?}", log.complaints);
    let without = [("FAKE_CUDA_MAPS", "0")];
    let (out, _) = ask("mapped", &without).expect("the compiler was here");
    assert!(out.starts_with("1 1 "), "{out}");
}

#[test]
fn a_kernel_must_be_in_the_text_with_the_same_parameter() {
    if let Some((out, _)) = ask("names", &[]) {
        assert_eq!(out, "500 500 218\n");
    }
    if let Some((out, _)) = ask("ptx", &[]) {
        assert_eq!(out, "222 209 218\n");
    }
    let newer = [
        ("FAKE_CUDA_DRIVER", "12030"),
        ("FAKE_CUDA_CAPABILITY", "9.0"),
    ];
    if let Some((out, _)) = ask("ptx", &newer) {
        assert_eq!(out, "0 0 218\n");
    }
}

#[test]
fn late_execution_copies_what_is_there_at_the_end() {
    for (execution, seen) in [("late", "2\n"), ("immediate", "1\n")] {
        if let Some((out, _)) = ask("stale", &[("FAKE_CUDA_EXECUTION", execution)]) {
            assert_eq!(out, seen, "{execution}");
        }
    }
    if let Some((out, _)) = ask("query", &[]) {
        assert_eq!(out, "0 0 0 \n");
    }
    // Two kernels take 0.6 s.
    if let Some((out, _)) = ask("query", &[("FAKE_CUDA_DELAY", "300")]) {
        assert!(out.starts_with("600 "), "{out}");
    }
}

#[test]
fn fresh_memory_is_full_of_what_was_asked_for() {
    for (fill, seen) in [("255", "-1\n"), ("1", "16843009\n")] {
        if let Some((out, _)) = ask("fresh", &[("FAKE_CUDA_FILL", fill)]) {
            assert_eq!(out, seen);
        }
    }
}

#[test]
fn memory_ends_where_the_settings_say() {
    if let Some((out, log)) = ask("memory", &[("FAKE_CUDA_MEMORY", "3072")]) {
        // Two arrays of 1024 bytes are there before.
        assert_eq!(out, "0 2\n");
        assert!(
            log.text.contains("device 0 used 3072 most 3072"),
            "{}",
            log.text
        );
    }
}

#[test]
fn any_call_can_be_made_to_fail() {
    let Some((_, log)) = ask("reverse", &[]) else {
        return;
    };
    // What is counted agrees with what is done: two allocations, one launch.
    assert_eq!(
        (log.count("cuMemAlloc_v2"), log.count("cuLaunchKernel")),
        (2, 1)
    );
    for number in 1..=log.total {
        let fail = format!("{number}:719");
        let (out, failed) = ask("reverse", &[("FAKE_CUDA_FAIL", &fail)]).expect("g++ is here");
        assert!(out.contains("719"), "call {number}: {out}");
        assert!(failed.total <= log.total);
    }
    let named = [("FAKE_CUDA_FAIL", "cuMemAlloc_v2#2:2")];
    assert_eq!(ask("reverse", &named).expect("g++ is here").0, "failed 2\n");
    // A lost device stays lost, the other one works on.
    let launch = "cuLaunchKernel#1:700";
    for (lasting, answer) in [
        ("once", "700 0\n"),
        ("device", "700 700\n"),
        ("all", "700 700\n"),
    ] {
        let fail = format!("{launch}:{lasting}");
        let (out, _) = ask("reverse", &[("FAKE_CUDA_FAIL", &fail)]).expect("g++ is here");
        assert_eq!(out, answer, "{lasting}");
    }
    let none = [("FAKE_CUDA_DEVICES", "0")];
    assert_eq!(
        ask("reverse", &none).expect("g++ is here").0,
        "failed 100\n"
    );
}

#[test]
fn a_forked_child_has_no_driver() {
    if let Some((out, _)) = ask("fork", &[]) {
        assert_eq!(out, "3 0\n");
    }
}

fn direct(sanitizer: Sanitizer, what: &str) -> Option<Output> {
    let sources = with_shim(&[source("toys.cu"), source("direct.cc")]);
    let program = build(Product::Program, sanitizer, &sources, &[])?.join("program");
    Some(run(clean_command(program, &[]).args(what.split(' '))))
}

fn check(sanitizer: Sanitizer, right: &[&str], wrong: &[&str], finding: &str) {
    for what in right {
        let Some(output) = direct(sanitizer, what) else {
            return;
        };
        let (_, err) = texts(&output);
        assert!(output.status.success() && err.is_empty(), "{what}: {err}");
    }
    for what in wrong {
        let Some(output) = direct(sanitizer, what) else {
            return;
        };
        let (_, err) = texts(&output);
        assert!(
            !output.status.success() && err.contains(finding),
            "{what}: {err}"
        );
    }
}

#[test]
fn the_address_sanitizer_sees_reads_and_writes_out_of_bounds() {
    let right = [
        "reverse",
        "tree_sum",
        "any 5",
        "barriers 50",
        "copy 0",
        "divergent_end 10",
    ];
    let wrong = ["offset 1", "copy 1"];
    check(Sanitizer::Address, &right, &wrong, "heap-buffer-overflow");
}

#[test]
fn the_thread_sanitizer_sees_races() {
    let right = [
        "reverse",
        "tree_sum",
        "any 5",
        "barriers 5",
        "divergent_end 10",
        "divergent_places",
    ];
    let wrong = ["reverse_without_barrier", "race"];
    check(Sanitizer::Thread, &right, &wrong, "data race");
}
