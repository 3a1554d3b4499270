//! `kirin record` and `kirin replay`, as a user runs them: a recorded Hermite run, damaged traces, wrong libraries.
//!
//! `traces/hermite.trace` was made by
//! `KIRIN_BACKEND=reference KIRIN_NPIPES=256 KIRIN_TRACE=hermite.trace hermite --n 64 --t-end 0.0625`. The reference
//! backend has plain double-precision loops without fused operations, whose bits are the same on every machine. The
//! line `host` was taken out of the trace. `traces/version-1.trace` is such a run in the first version of the format,
//! made when the loops rounded differently.

#[path = "../common/mod.rs"]
mod common;
mod libraries;
mod nbody6;
mod recording;
mod splitting;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{compile, text, without_settings};
use serde_json::Value;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/hermite.trace")
}

fn folder(test: &str) -> PathBuf {
    common::folder(&format!("replay-{test}"))
}

/// The command without any setting of the caller's.
fn command() -> Command {
    let mut command = without_settings(env!("CARGO_BIN_EXE_kirin"));
    // Where no GPU is, `auto` says so on stderr.
    command.env("KIRIN_BACKEND", "cpu");
    command
}

/// Replays a trace, and returns what was printed and written.
fn replay(folder: &Path, trace: &Path, options: &[&str]) -> (Output, Value) {
    let file = folder.join("out.json");
    let _ = std::fs::remove_file(&file);
    let output = command()
        .arg("replay")
        .arg(trace)
        .args(options)
        .arg("--json")
        .arg(&file)
        .output()
        .expect("the command runs");
    let json =
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    (output, serde_json::from_str(&json).expect("JSON"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A library that answers with zeros. It crashes in block number CRASH, or at its end if CRASH is 0. It also
/// crashes if a block has more i-particles than it has pipelines.
const STAND_IN: &str = r#"
    int g6_open_(int *id) { return 0; }
    int g6_close_(int *id) { return 0; }
    int g6_npipes_(void) { return PIPES; }
    int g6_set_ti_(int *id, double *ti) { return 0; }
    int g6_set_j_particle_() { return 0; }
    static void crash(void) { *(volatile int *)0 = 1; }
    __attribute__((destructor)) static void end(void) { if (CRASH == 0) crash(); }
    int g6calc_firsthalf_(int *id, int *nj, int *ni)
    {
        static int n;
        if (++n == CRASH || *ni > PIPES) crash();
        return 0;
    }
    int g6calc_lasthalf_(int *id, int *nj, int *ni, int *l, double *x, double *v, double *e,
                         double *h, double *a, double *j, double *p)
    {
        for (int k = 0; k < *ni; k++) a[3*k] = a[3*k+1] = a[3*k+2] = j[3*k] = j[3*k+1] = j[3*k+2] = p[k] = 0.0;
        return 0;
    }
    void g6_open(int id) {}
    int g6_set_j_particle() { return 0; }
    void g6calc_firsthalf() {}
    int g6calc_lasthalf() { return 0; }
    int g6calc_lasthalf2() { return 0; }
    int g6_set_ti() { return 0; }
    int g6_read_neighbour_list() { return 0; }
    int g6_get_neighbour_list() { return 0; }
"#;

/// The stand-in with values for its macros.
fn stand_in(folder: &Path, name: &str, pipes: u32, crash: i32) -> Option<String> {
    let (pipes, crash) = (format!("-DPIPES={pipes}"), format!("-DCRASH={crash}"));
    let options = ["-shared", "-fPIC", &pipes, &crash];
    let path = compile(folder, name, STAND_IN, &options)?;
    Some(path.to_str().expect("a plain path").to_owned())
}

/// A program linked against the stand-in.
fn linked(folder: &Path, source: &str) -> Option<PathBuf> {
    linked_with(folder, source, "-lg6")
}

/// A program linked against the stand-in and one for GRAPE-5.
fn linked_with_grape5(folder: &Path, source: &str) -> Option<PathBuf> {
    let library = include_str!("../command/grape5.c");
    compile(folder, "libg5.so", library, &["-shared", "-fPIC"])?;
    linked_with(folder, source, "-lg5")
}

fn linked_with(folder: &Path, source: &str, library: &str) -> Option<PathBuf> {
    stand_in(folder, "libg6.so", 48, -1)?;
    let place = format!("-L{}", folder.display());
    let path = format!("-Wl,-rpath,{}", folder.display());
    let options = [&place, "-lg6", library, &path];
    compile(folder, "client", source, &options)
}

/// Runs a program under `kirin record`.
fn record(trace: &Path, client: &Path, options: &[&str]) -> Output {
    let mut command = command();
    command.args(["record", "-o"]).arg(trace).args(options);
    command.arg("--").arg(client).arg("7");
    command.output().expect("the command runs")
}

/// Records a program and replays its trace. Both must succeed. Returns what the replay tells.
fn repeated(folder: &Path, client: &Path, options: &[&str]) -> Value {
    let trace = folder.join("client.trace");
    let _ = std::fs::remove_file(&trace);
    let output = record(&trace, client, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (output, json) = replay(folder, &trace, options);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    json
}

/// GRAPE-5's calls are recorded as those of GRAPE-6.
#[test]
fn a_trace_is_replayed_whatever_interface_is_named() {
    let folder = folder("interface");
    for interface in ["grape5", "nbody6"] {
        let (output, json) = replay(&folder, &fixture(), &["--interface", interface]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{interface}: {said}");
        assert_eq!(json["figures"][0]["finished"], true, "{interface}: {said}");
    }
}

#[test]
fn the_recorded_run_is_repeated_bit_for_bit_by_its_backend_and_closely_by_the_other() {
    let libraries = [
        "--exact",
        "--library",
        "KIRIN_BACKEND=reference kirin",
        "--library",
        "KIRIN_BACKEND=cpu KIRIN_PRECISION=mixed kirin",
        "--library",
        "KIRIN_BACKEND=cpu KIRIN_PRECISION=double kirin",
    ];
    let (output, json) = replay(&folder("exact"), &fixture(), &libraries);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert_eq!(json["exact"], true);
    assert!(out.contains("  noise: 0.00 % of "), "{out}");
    assert!(number(&json["trace"]["steps"]) > 10.0);
    assert!(json["trace"]["damage"].is_null());
    let figures = json["figures"].as_array().expect("a list");
    for (figure, limits) in figures
        .iter()
        .zip([[0.0; 3], [1e-5, 1e-4, 1e-6], [1e-12; 3]])
    {
        assert!(number(&figure["forces"]["compared"]) > 300.0);
        assert_eq!(number(&figure["not_finite"]), 0.0);
        for (quantity, limit) in ["acc", "jerk", "pot"].iter().zip(limits) {
            let max = number(&figure[quantity]["max"]);
            assert!(max <= limit, "{quantity}: {max}");
        }
    }
    assert_eq!(number(&figures[0]["forces"]["different"]), 0.0);
    assert!(number(&figures[1]["forces"]["different"]) > 0.0);
    let (file, raw) = (
        number(&json["trace"]["file_bytes"]),
        number(&json["trace"]["raw_bytes"]),
    );
    assert!(file < 200e3 && file < 0.4 * raw, "{file} bytes of {raw}");

    let other = ["--exact", "--library", "KIRIN_BACKEND=cpu kirin"];
    let (output, json) = replay(&folder("exact"), &fixture(), &other);
    assert_eq!(
        (output.status.code(), &json["exact"]),
        (Some(1), &Value::Bool(false))
    );
}

#[test]
fn a_trace_of_the_first_version_is_read() {
    let trace = fixture().with_file_name("version-1.trace");
    let reference = ["--library", "KIRIN_BACKEND=reference kirin"];
    let (output, json) = replay(&folder("version-1"), &trace, &reference);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let figure = &json["figures"][0];
    assert_eq!(figure["events"], json["trace"]["events"]);
    assert!(number(&figure["forces"]["compared"]) > 300.0);
    assert!(number(&figure["acc"]["max"]) < 1e-14);
}

#[test]
fn a_damaged_trace_is_replayed_as_far_as_it_goes() {
    let folder = folder("damaged");
    let whole = std::fs::read(fixture()).expect("the fixture");
    let mut changed = whole.clone();
    let at = whole.len() - 100;
    changed[at] ^= 1;
    for (bytes, reason) in [(&whole[..at], "cut off"), (&changed[..], "damaged")] {
        let trace = folder.join("damaged.trace");
        std::fs::write(&trace, bytes).expect("the folder is writable");
        let reference = ["--library", "KIRIN_BACKEND=reference kirin"];
        let (output, json) = replay(&folder, &trace, &reference);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stderr).contains(reason),
            "{}",
            text(&output.stderr)
        );
        assert!(
            json["trace"]["damage"]
                .as_str()
                .is_some_and(|d| d.contains(reason))
        );
        let figure = &json["figures"][0];
        assert_eq!(figure["events"], json["trace"]["events"]);
        assert!(number(&figure["forces"]["compared"]) > 0.0);
        assert_eq!(number(&figure["forces"]["different"]), 0.0);
    }
}

#[test]
fn what_is_no_trace_is_refused() {
    let folder = folder("foreign");
    let other = folder.join("other.trace");
    std::fs::write(&other, "kirin trace 99\n\n").expect("the folder is writable");
    for (file, reason) in [
        (Path::new("/no/such/trace"), "No such file"),
        (Path::new(env!("CARGO_BIN_EXE_kirin")), "no trace of kirin"),
        (&other, "version 99"),
    ] {
        let output = command().arg("replay").arg(file).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(reason),
            "{}",
            text(&output.stderr)
        );
    }
}
