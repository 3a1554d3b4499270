//! `kirin record` and `kirin replay`, as a user runs them: our own Hermite run as it was
//! recorded on another day, damaged traces, wrong libraries.
//!
//! `traces/hermite.trace` was made by
//! `KIRIN_BACKEND=reference KIRIN_TRACE=hermite.trace hermite --n 64 --t-end 0.0625`: plain
//! double-precision loops without fused operations, whose bits are the same on every machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/hermite.trace")
}

fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{test}"));
    std::fs::create_dir_all(&path).expect("a folder for the test");
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The command without any setting of the caller's.
fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kirin"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("KIRIN_") {
            command.env_remove(name);
        }
    }
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

#[test]
fn the_recorded_run_is_repeated_bit_for_bit_by_its_backend_and_closely_by_the_other() {
    let libraries = [
        "--exact",
        "--library",
        "KIRIN_BACKEND=reference kirin",
        "--library",
        "KIRIN_BACKEND=cpu kirin",
        "--library",
        "KIRIN_BACKEND=cpu KIRIN_PRECISION=double kirin",
    ];
    let (output, json) = replay(&folder("exact"), &fixture(), &libraries);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(json["exact"], true);
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

/// A library that answers with zeros, or crashes in its tenth block.
const STAND_IN: &str = r#"
    int g6_open_(int *id) { return 0; }
    int g6_close_(int *id) { return 0; }
    int g6_npipes_(void) { return 48; }
    int g6_set_ti_(int *id, double *ti) { return 0; }
    int g6_set_j_particle_() { return 0; }
    int g6calc_firsthalf_() { static int n; if (++n == CRASH) *(volatile int *)0 = 1; return 0; }
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
"#;

/// Compiles C; `None` where there is no compiler.
fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&from, source).expect("the source is written");
    let compiled = Command::new("gcc")
        .arg("-w")
        .arg("-o")
        .arg(&to)
        .arg(&from)
        .args(options)
        .status();
    match compiled {
        Ok(status) => {
            assert!(status.success(), "gcc {options:?}");
            Some(to)
        }
        Err(e) => {
            println!("SKIPPED: no gcc ({e})");
            None
        }
    }
}

#[test]
fn wrong_and_crashing_libraries_are_shown_as_such() {
    let folder = folder("wrong");
    let shared = ["-shared", "-fPIC"];
    let zeros = [&shared[..], &["-DCRASH=-1"]].concat();
    let crash = [&shared[..], &["-DCRASH=10"]].concat();
    let Some(zeros) = compile(&folder, "zeros.so", STAND_IN, &zeros) else {
        return;
    };
    let Some(crash) = compile(&folder, "crash.so", STAND_IN, &crash) else {
        return;
    };
    let name = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let (zeros, crash) = (name(&zeros), name(&crash));
    let libraries = ["--library", &zeros, "--library", &crash];
    let (output, json) = replay(&folder, &fixture(), &libraries);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let wrong = &json["figures"][1];
    for quantity in ["acc", "jerk", "pot"] {
        assert!((number(&wrong[quantity]["rms"]) - 1.0).abs() < 1e-12);
    }
    assert_eq!(wrong["lists"]["compared"], 0, "it has none");
    let error = json["libraries"][2]["error"].as_str().expect("an error");
    assert!(error.contains("segmentation fault"), "{error}");
    assert!(json["figures"][2].is_null());
}

#[test]
fn a_program_is_recorded_in_place_of_its_own_library() {
    let folder = folder("record");
    let shared = ["-shared", "-fPIC", "-DCRASH=-1"];
    let Some(_) = compile(&folder, "libg6.so", STAND_IN, &shared) else {
        return;
    };
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        int g6_open(int); int g6_set_j_particle(int, int, int, double, double, double, double *, double *, double *, double *, double *);
        int g6calc_firsthalf(int, int, int, int *, double (*)[3], double (*)[3], double (*)[3], double (*)[3], double *, double, double *);
        int g6calc_lasthalf(int, int, int, int *, double (*)[3], double (*)[3], double, double *, double (*)[3], double (*)[3], double *);
        int main(int argc, char **argv)
        {
            double z[3] = {0}, x[1][3] = {{0}}, a[1][3], j[1][3], p[1], one[3] = {1.0, 0.0, 0.0};
            int label = 1;
            g6_open(0);
            g6_set_j_particle(0, 0, 2, 0.0, 0.0, 3.0, z, z, z, z, one);
            g6calc_firsthalf(0, 1, 1, &label, x, x, x, x, z, 0.0, z);
            g6calc_lasthalf(0, 1, 1, &label, x, x, 0.0, z, a, j, p);
            printf("%g\n", p[0]);
            return atoi(argv[1]);
        }"#;
    let place = format!("-L{}", folder.display());
    let path = format!("-Wl,-rpath,{}", folder.display());
    let client =
        compile(&folder, "client", source, &[&place, "-lg6", &path]).expect("gcc was there");
    let trace = folder.join("client.trace");
    for _ in 0..2 {
        let output = command()
            .args(["record", "-o"])
            .arg(&trace)
            .arg("--")
            .arg(&client)
            .arg("7")
            .output()
            .expect("the command runs");
        assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "-3\n", "kirin's potential, not zero");
    }
    let (output, json) = replay(&folder, &trace, &["--exact"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(json["trace"]["blocks"], 1);
    assert_eq!(json["figures"][0]["forces"]["compared"], 1);

    let output = command()
        .args(["record", "--", "/no/such/program"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("/no/such/program"));
}
