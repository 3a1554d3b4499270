//! The command `kirin`, as a user runs it: statuses, tables, files, and libraries that
//! do not exist, lack a symbol, crash, hang, print or give wrong numbers.

#[path = "../common/mod.rs"]
mod common;
mod info;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{text, without_settings};
use serde_json::Value;

/// Runs the command without any setting of the caller's.
fn kirin(arguments: &[&str]) -> Output {
    let mut command = without_settings(env!("CARGO_BIN_EXE_kirin"));
    command.args(arguments).output().expect("the command runs")
}

fn folder(test: &str) -> PathBuf {
    common::folder(&format!("command-{test}"))
}

/// Runs a subcommand with `--json` and returns what it printed and wrote.
fn document(folder: &Path, arguments: &[&str]) -> (Output, Value) {
    let file = folder.join("out.json");
    let mut all = arguments.to_vec();
    all.extend(["--json", file.to_str().expect("a plain path")]);
    let output = kirin(&all);
    let json =
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    (output, serde_json::from_str(&json).expect("JSON"))
}

const QUICK_BENCH: [&str; 9] = [
    "bench",
    "--n",
    "64",
    "--ni",
    "1,full",
    "--rounds",
    "2",
    "--seconds",
    "0.05",
];
const QUICK_CHECK: [&str; 3] = ["check", "--n", "60"];

/// Symbols that a library cannot do without; it answers with zeros.
const STAND_IN: &str = include_str!("grape6.c");

/// The same of GRAPE-5.
const STAND_IN_5: &str = include_str!("grape5.c");

/// A library of NBODY6++ whose forces are zero and whose potentials are NaN, and which finds no neighbours.
const STAND_IN_NBODY6: &str = include_str!("nbody6.c");

/// Compiles the stand-in; `None` where there is no C compiler.
fn stand_in(folder: &Path, name: &str, options: &[&str]) -> Option<String> {
    compile(folder, name, STAND_IN, options)
}

fn compile(folder: &Path, name: &str, text: &str, options: &[&str]) -> Option<String> {
    let options = [&["-shared", "-fPIC"], options].concat();
    let library = common::compile(folder, &format!("{name}.so"), text, &options)?;
    Some(library.to_str().expect("a plain path").to_owned())
}

/// The figures of column `k` in every row.
fn column<'a>(json: &'a Value, rows: &str, k: usize) -> Vec<&'a Value> {
    let rows = json[rows].as_array().expect("rows");
    rows.iter().map(|row| &row["figures"][k]).collect()
}

/// A library that sleeps takes no processor time.
#[test]
fn bench_counts_processor_time_if_asked() {
    let folder = folder("processor-time");
    let Some(sleeper) = stand_in(&folder, "sleeper", &["-DFIRSTHALF=usleep(20000)"]) else {
        return;
    };
    let cases = ["--library", &sleeper, "--cases", "force"];
    let figures = |more: &[&str]| {
        let (output, json) = document(&folder, &[&QUICK_BENCH[..], &cases, more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        // The first library is kirin.
        let figures = column(&json, "cells", 1);
        let medians = figures.iter().map(|f| f["seconds"]["median"].as_f64());
        let medians: Vec<f64> = medians.map(|m| m.expect("a figure")).collect();
        (
            medians,
            json["processor_time"].clone(),
            text(&output.stdout),
        )
    };
    let (passed, flag, _) = figures(&[]);
    assert!(passed.iter().all(|&s| s > 0.019), "{passed:?}");
    assert_eq!(flag, false);
    let (computed, flag, out) = figures(&["--processor-time"]);
    assert!(computed.iter().all(|&s| s < 0.01), "{computed:?}");
    assert_eq!(flag, true);
    assert!(out.contains("processor time of all threads"), "{out}");
}

#[test]
fn bench_measures_every_case_and_writes_them() {
    let (output, json) = document(&folder("bench"), &QUICK_BENCH);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for key in [
        "version",
        "command",
        "machine",
        "libraries",
        "fma_per_second",
        "cells",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
    assert_eq!(json["kind"], "bench");
    assert_eq!(json["libraries"][0]["precision"], "auto");
    // force, close and nearest at two sizes, predict and step at one, two ways to write
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(10));
    for figure in column(&json, "cells", 0) {
        let q = |key: &str| figure["seconds"][key].as_f64().expect(key);
        assert!(q("lower") > 0.0 && q("lower") <= q("median") && q("median") <= q("upper"));
        assert!(
            figure["ratio"].is_null(),
            "there is nothing to compare with"
        );
    }
    // So few are computed in double precision, whose operations are counted for AVX-512.
    let limits = &column(&json, "cells", 0)[0]["of_limit"];
    if json["libraries"][0]["backend"] == "cpu avx512" {
        let [own_pipes, shared] = [0, 1].map(|k| limits[k].as_f64().expect("a fraction"));
        assert!(0.0 < own_pipes && shared < 1.0, "{limits}");
        assert!((shared / own_pipes - 33.0 / 26.0).abs() < 1e-12, "{limits}");
    } else {
        assert!(limits.is_null());
    }
    assert!(text(&output.stdout).contains("set_ti, force, update ni = 1"));
}

#[test]
fn check_passes_in_double_and_knows_when_it_does_not() {
    let folder = folder("check");
    let mut arguments = QUICK_CHECK.to_vec();
    arguments.extend(["--library", "KIRIN_PRECISION=double kirin"]);
    arguments.extend(["--library", "KIRIN_PRECISION=mixed kirin"]);
    let (output, json) = document(&folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(json["passed"], true);
    assert_eq!(json["scenes"].as_array().map(Vec::len), Some(15));
    // Each by the limits of its precision.
    let out = text(&output.stdout);
    for words in [
        "kirin PRECISION=double is within every limit.",
        "kirin PRECISION=mixed is within every limit.",
        "limit, double  limit, mixed",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    // Single precision is heard, in a scene without close pairs.
    let noise = |k: usize| column(&json, "scenes", k)[0]["forces"]["noise"].as_f64();
    assert!(noise(0).is_some_and(|n| n < 1e-14), "{:?}", noise(0));
    assert!(
        noise(1).is_some_and(|n| (1e-9..1e-6).contains(&n)),
        "{:?}",
        noise(1)
    );
    for figure in column(&json, "scenes", 0) {
        for quantity in ["acc", "jerk", "pot"] {
            let max = figure["forces"][quantity]["max_of_terms"].as_f64();
            assert!(max.is_some_and(|m| m < 1e-12), "{quantity} {max:?}");
        }
        assert_eq!(figure["forces"]["wrong_neighbours"], 0);
        assert_eq!(figure["lists"]["wrong"], 0);
    }

    // The predictor without its fourth order is not the one of the check.
    let mut arguments = QUICK_CHECK.to_vec();
    arguments.extend([
        "--library",
        "KIRIN_PRECISION=double KIRIN_SNAP=ignore kirin",
    ]);
    let (output, json) = document(&folder, &arguments);
    assert_eq!(output.status.code(), Some(1));
    let missed = json["missed"].as_array().expect("a list");
    assert!(!missed.is_empty());
    assert!(
        missed
            .iter()
            .all(|m| m.as_str().is_some_and(|m| m.contains("a2by18"))),
        "{missed:?}"
    );
}

/// On a GPU whose driver interprets the kernels that are shipped.
#[test]
fn check_passes_on_a_gpu() {
    let Some(driver) = fake_cuda::driver() else {
        return;
    };
    for precision in ["mixed", "double"] {
        let library = format!("KIRIN_BACKEND=cuda KIRIN_PRECISION={precision} kirin");
        let check = ["check", "--n", "40", "--library", &library].map(OsStr::new);
        let kirin = Path::new(env!("CARGO_BIN_EXE_kirin"));
        let out = fake_cuda::succeed(driver, kirin, &check, &[]);
        assert!(out.contains("kirin is within every limit."), "{out}");
    }
}

/// Every instruction set keeps the promises of GRAPE-5's forces, also where a particle's own part is most of its potential.
#[test]
fn check_of_grape5_passes_with_every_instruction_set() {
    // One that this processor lacks is replaced by one that it has.
    for simd in ["portable", "avx2", "avx512", "neon"] {
        for (n, precision) in [
            ("40", "mixed"),
            ("100", "mixed"),
            ("100", "double"),
            ("1000", "mixed"),
        ] {
            let library = format!("KIRIN_SIMD={simd} KIRIN_PRECISION={precision} kirin");
            let check = [
                "check",
                "--interface",
                "grape5",
                "--n",
                n,
                "--library",
                &library,
            ];
            let output = kirin(&check);
            let out = text(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{library}, {n}: {out}");
        }
    }
}

/// Each interface has its own rule for the precision.
#[test]
fn check_names_the_precision_that_computes() {
    let folder = folder("precision-names");
    for (interface, named) in [
        ("grape5", ["mixed", "reduced", "double", "double"]),
        ("nbody6", ["mixed", "single", "double", "double"]),
    ] {
        let libraries = [
            "KIRIN_BACKEND=cpu kirin",
            "KIRIN_BACKEND=cpu KIRIN_PRECISION=reduced kirin",
            "KIRIN_BACKEND=cpu KIRIN_PRECISION=double-single kirin",
            "KIRIN_BACKEND=reference kirin",
        ];
        let mut arguments = vec!["check", "--n", "40", "--interface", interface];
        arguments.extend(libraries.iter().flat_map(|library| ["--library", *library]));
        let (_, json) = document(&folder, &arguments);
        for (k, name) in named.iter().enumerate() {
            let found = &json["libraries"][k]["precision"];
            assert_eq!(found, name, "{interface}, {}", libraries[k]);
        }
    }
}

/// Runs the command, which must end with 1 in a fraction of what the measurement would take.
fn ends_at_once(arguments: &[&str]) -> String {
    let begin = std::time::Instant::now();
    let output = kirin(arguments);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {err}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert!(begin.elapsed().as_secs() < 10, "{arguments:?}: {err}");
    err
}

#[test]
fn a_named_library_that_cannot_be_opened_ends_the_run() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/hermite.trace");
    let mut libraries = vec!["/no/such/lib.so".to_owned()];
    let options = ["-DFIRSTHALF=", "-DNO_LASTHALF"];
    libraries.extend(stand_in(&folder("symbol"), "lacks", &options));
    for library in &libraries {
        for words in [&["check"][..], &["bench"], &["replay", trace]] {
            let err = ends_at_once(&[words, &["--library", library]].concat());
            assert!(err.contains(library.as_str()), "{words:?}: {err}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_ends_the_run_before_it_begins() {
    for words in ["check", "bench"] {
        let err = ends_at_once(&[words, "--json", "/no/such/folder/x.json"]);
        assert!(err.contains("/no/such/folder/x.json"), "{words}: {err}");
    }
}

#[test]
fn bad_numbers_and_precisions_are_answered_in_words() {
    for (words, answer) in [
        (
            &["info", "--plan", "--multiprocessors", "0"][..],
            "not a positive number",
        ),
        (
            &["info", "--plan", "--clock", "nan"],
            "not a positive number",
        ),
        (
            &["info", "--plan", "--precision", "foo"],
            "not one of: mixed, double-single, double, single, reduced",
        ),
        (
            &["run", "--precision", "foo", "true"],
            "--precision foo is not one of: auto, adaptive, mixed",
        ),
        (
            &["bench", "--library", "x=", "--rounds", "0"],
            "0 is not in 1..=10000",
        ),
        (
            &["bench", "--eps", "nan"],
            "neither 0 nor a positive number",
        ),
        (
            &["bench", "--n", "64", "--ni", "65", "--cases", "force"],
            "nothing to measure",
        ),
        (
            &["bench", "--cases", "load,step", "--plot", "x.svg"],
            "--plot draws the case `force`",
        ),
        (
            &["bench", "--interface", "grape5", "--cases", "step"],
            "--cases step: libraries of this interface have only force, unsoftened, close, load",
        ),
        (
            &["bench", "--peak", "--interface", "grape5"],
            "cannot be used with",
        ),
    ] {
        let output = kirin(words);
        let err = text(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(2 | 125)),
            "{words:?}: {err}"
        );
        assert!(err.contains(answer), "{words:?}: {err}");
    }
    let planned = kirin(&["info", "--plan", "--precision", "double"]);
    assert!(text(&planned.stdout).contains("precision double\n  predicted"));
}

/// A trace is for the user's program: the processes of the libraries record nothing.
#[test]
fn measurements_write_no_trace() {
    let folder = folder("untraced");
    let trace = folder.join("x.trace");
    let mut check = without_settings(env!("CARGO_BIN_EXE_kirin"));
    check.args(QUICK_CHECK).env("KIRIN_TRACE", &trace);
    let output = check.output().expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(!trace.exists());
}

#[test]
fn libraries_of_one_name_are_told_apart_by_their_folders() {
    let folder = folder("labels");
    let mut arguments = QUICK_BENCH.map(str::to_owned).to_vec();
    for part in ["old", "new"] {
        let place = folder.join(part);
        std::fs::create_dir_all(&place).expect("a folder for the test");
        let Some(library) = stand_in(&place, "libg6", &["-DFIRSTHALF="]) else {
            return;
        };
        arguments.extend(["--library".to_owned(), library]);
    }
    let third = format!("LABEL=third {}", arguments[arguments.len() - 1]);
    arguments.extend(["--library".to_owned(), third]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (output, json) = document(&folder, &arguments);
    let names = ["kirin", "old/libg6.so", "new/libg6.so", "third"];
    for (k, name) in names.iter().enumerate() {
        assert_eq!(json["libraries"][k]["name"], *name);
        assert!(text(&output.stdout).contains(name));
    }
}

#[test]
fn two_precisions_of_kirin_have_a_ratio() {
    let mut arguments = QUICK_BENCH.to_vec();
    for library in [
        "KIRIN_PRECISION=mixed kirin",
        "KIRIN_PRECISION=double kirin",
    ] {
        arguments.extend(["--library", library]);
    }
    let (output, json) = document(&folder("precisions"), &arguments);
    let out = text(&output.stdout);
    assert!(
        out.contains("rates to those of kirin PRECISION=mixed."),
        "{out}"
    );
    for figure in column(&json, "cells", 1) {
        assert!(figure["ratio"]["median"].as_f64() > Some(0.0), "{figure}");
    }
    assert!(
        column(&json, "cells", 0)
            .iter()
            .all(|f| f["ratio"].is_null())
    );
}

#[test]
fn crashes_exits_and_hangs_cost_their_columns_only() {
    let folder = folder("lost");
    let ways = [
        (
            "crash",
            "-DFIRSTHALF=*(volatile int *)0=1",
            "segmentation fault",
        ),
        ("exit", "-DFIRSTHALF=_exit(7)", "status 7"),
        (
            "hang",
            "-DFIRSTHALF=for(;;)sleep(1)",
            "no answer within 1 s",
        ),
    ];
    let mut arguments: Vec<String> = QUICK_BENCH.map(str::to_owned).into();
    arguments.extend(["--timeout".to_owned(), "1".to_owned()]);
    for (name, option, _) in ways {
        let Some(library) = stand_in(&folder, name, &[option]) else {
            return;
        };
        arguments.extend(["--library".to_owned(), library]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (output, json) = document(&folder, &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        column(&json, "cells", 0)
            .iter()
            .all(|f| !f["rate"].is_null())
    );
    for (k, (name, _, reason)) in ways.iter().enumerate() {
        let library = &json["libraries"][k + 1];
        let error = library["error"].as_str().expect("an error");
        assert!(error.contains(reason), "{name}: {error}");
        assert_eq!(library["npipes"], 48, "it was opened");
        assert!(
            column(&json, "cells", k + 1)
                .iter()
                .any(|f| f["rate"].is_null())
        );
    }
}

#[test]
fn wrong_numbers_are_found_and_a_talking_library_disturbs_nothing() {
    let folder = folder("zeros");
    let Some(library) = stand_in(&folder, "zeros", &["-DFIRSTHALF="]) else {
        return;
    };
    let mut arguments = QUICK_CHECK.to_vec();
    arguments.extend([
        "--library",
        "KIRIN_PRECISION=double kirin",
        "--library",
        &library,
    ]);
    let (output, json) = document(&folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "the first library is judged");
    assert!(!text(&output.stdout).contains("a library that talks"));
    assert_eq!(json["misses"][0], serde_json::json!([]));
    assert!(text(&output.stderr).contains("a library that talks"));
    for figure in column(&json, "scenes", 1) {
        // Zeros are wrong by the whole number.
        for quantity in ["acc", "jerk", "pot"] {
            let rms = figure["forces"][quantity]["rms"].as_f64();
            assert!(rms.is_some_and(|rms| (rms - 1.0).abs() < 1e-12), "{rms:?}");
        }
        assert!(
            figure["forces"]["wrong_neighbours"].is_null(),
            "it knows none"
        );
        assert!(figure["lists"].is_null());
        let error = figure["error"].as_str().expect("an error");
        assert!(error.contains("g6_read_neighbour_list_"), "{error}");
    }
    let mut arguments = QUICK_BENCH.to_vec();
    arguments.extend(["--library", &library]);
    let (_, json) = document(&folder, &arguments);
    for (cell, figure) in json["cells"]
        .as_array()
        .expect("rows")
        .iter()
        .zip(column(&json, "cells", 0))
    {
        let nearest = cell["case"] == "nearest";
        assert_eq!(figure["ratio"].is_null(), nearest, "{cell}");
    }
    assert_eq!(json["base"], 1);
}

#[test]
fn libraries_of_grape5_are_measured_and_checked() {
    let folder = folder("grape5");
    let Some(library) = compile(&folder, "zeros5", STAND_IN_5, &[]) else {
        return;
    };
    let of_grape5 = |words: &[&str]| {
        let mut arguments = words.to_vec();
        arguments.extend(["--interface", "grape5", "--library"]);
        arguments.extend(["KIRIN_PRECISION=double kirin", "--library", &library]);
        document(&folder, &arguments)
    };
    let (output, json) = of_grape5(&QUICK_CHECK);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(!text(&output.stdout).contains("jerk"));
    for quantity in ["acc", "pot"] {
        for figure in column(&json, "scenes", 0) {
            let max = figure["forces"][quantity]["max_of_terms"].as_f64();
            assert!(max.is_some_and(|m| m < 1e-12), "{quantity} {max:?}");
        }
    }
    for figure in column(&json, "scenes", 1) {
        let rms = figure["forces"]["acc"]["rms"].as_f64();
        assert!(rms.is_some_and(|rms| (rms - 1.0).abs() < 1e-12), "{rms:?}");
    }
    let plot = folder.join("speed.svg");
    let words = ["--plot", plot.to_str().expect("a plain path")];
    let (output, json) = of_grape5(&[&QUICK_BENCH[..], &words].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let drawn = std::fs::read_to_string(&plot).expect("a figure");
    assert!(drawn.contains("Speed of GRAPE-5 libraries"), "{drawn}");
    // Forces at two sizes: softened, without softening, and of close pairs; and the load.
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(7));
    for figure in column(&json, "cells", 0) {
        assert!(!figure["ratio"].is_null(), "{figure}");
    }
}

/// The command's calls have the arguments of NBODY6++.
#[test]
fn a_variant_in_the_environment_does_not_change_a_check() {
    let mut check = without_settings(env!("CARGO_BIN_EXE_kirin"));
    check.args(["check", "--n", "40", "--interface", "nbody6"]);
    let output = check.env("KIRIN_NBODY6", "6").output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

#[test]
fn libraries_of_nbody6_are_measured_and_checked() {
    let folder = folder("nbody6");
    let Some(library) = compile(&folder, "zeros6", STAND_IN_NBODY6, &[]) else {
        return;
    };
    let of_nbody6 = |words: &[&str], kirin: &str| {
        let mut arguments = words.to_vec();
        arguments.extend(["--interface", "nbody6", "--library", kirin]);
        arguments.extend(["--library", &library]);
        document(&folder, &arguments)
    };
    let (output, json) = of_nbody6(&QUICK_CHECK, "KIRIN_PRECISION=double kirin");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let zero = [("forces", "wrong_neighbours"), ("lists", "wrong")];
    for (kind, count) in zero {
        for figure in column(&json, "scenes", 0) {
            assert_eq!(figure[kind][count], 0, "{count} {figure}");
        }
        // Every scene has stars with neighbours.
        for figure in column(&json, "scenes", 1) {
            assert_ne!(figure[kind][count], 0, "{count} {figure}");
        }
    }
    for figure in column(&json, "scenes", 1) {
        let rms = figure["forces"]["acc"]["rms"].as_f64();
        assert!(rms.is_some_and(|rms| (rms - 1.0).abs() < 1e-12), "{rms:?}");
        assert_ne!(figure["forces"]["not_finite"], 0, "potentials");
    }
    let (output, _) = of_nbody6(&QUICK_CHECK, "KIRIN_PRECISION=mixed kirin");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let (output, json) = of_nbody6(&QUICK_BENCH, "kirin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Regular forces, potentials and irregular forces at two sizes, sources and stars.
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(8));
    for figure in column(&json, "cells", 0) {
        assert!(!figure["ratio"].is_null(), "{figure}");
    }
}
