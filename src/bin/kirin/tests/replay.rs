//! `kirin record` and `kirin replay`, as a user runs them: our own Hermite run as it was
//! recorded on another day, damaged traces, wrong libraries.
//!
//! `traces/hermite.trace` was made by
//! `KIRIN_BACKEND=reference KIRIN_TRACE=hermite.trace hermite --n 64 --t-end 0.0625`: plain
//! double-precision loops without fused operations, whose bits are the same on every machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kirin_kit::trial::skipped;
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

/// A library that answers with zeros. It crashes in block number CRASH, at its end if that is 0, and
/// in a block that its pipelines do not hold.
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
            skipped(format!("no gcc ({e})"));
            None
        }
    }
}

/// The stand-in with values for its macros.
fn stand_in(folder: &Path, name: &str, pipes: u32, crash: i32) -> Option<String> {
    let (pipes, crash) = (format!("-DPIPES={pipes}"), format!("-DCRASH={crash}"));
    let options = ["-shared", "-fPIC", &pipes, &crash];
    let path = compile(folder, name, STAND_IN, &options)?;
    Some(path.to_str().expect("a plain path").to_owned())
}

#[test]
fn wrong_and_crashing_libraries_are_shown_as_such() {
    let folder = folder("wrong");
    let Some(zeros) = stand_in(&folder, "zeros.so", 256, -1) else {
        return;
    };
    let (output, json) = replay(&folder, &fixture(), &["--library", &zeros]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let wrong = &json["figures"][1];
    for quantity in ["acc", "jerk", "pot"] {
        assert!((number(&wrong[quantity]["rms"]) - 1.0).abs() < 1e-12);
    }
    assert_eq!(wrong["lists"]["compared"], 0, "it has none");

    let tenth = stand_in(&folder, "tenth.so", 256, 10).expect("gcc was there");
    let end = stand_in(&folder, "end.so", 256, 0).expect("gcc was there");
    for (library, reason, finished) in [
        (&tenth[..], "crashed: segmentation fault", false),
        (&end, "crashed at its exit: segmentation fault", true),
        ("/no/such/library.so", "no such file", false),
    ] {
        let (output, json) = replay(&folder, &fixture(), &["--library", library]);
        assert_eq!(output.status.code(), Some(1), "{library}");
        let error = json["libraries"][1]["error"].as_str().expect("an error");
        let (error, said) = (error.to_lowercase(), text(&output.stderr).to_lowercase());
        assert!(error.contains(reason) && said.contains(reason), "{error}");
        assert_eq!(json["figures"][1].is_null(), !finished, "{library}");
        assert_eq!(json["figures"][0]["finished"], true, "{library}");
    }
}

#[test]
fn the_recorded_number_of_pipelines_is_kept_and_blocks_are_split_for_fewer() {
    let folder = folder("pipelines");
    let kirin = ["kirin", "KIRIN_NPIPES=16 kirin"].map(|k| format!("KIRIN_BACKEND=reference {k}"));
    let mut libraries = vec!["--exact", "--library", &kirin[0], "--library", &kirin[1]];
    let small = stand_in(&folder, "small.so", 5, -1);
    if let Some(small) = &small {
        libraries.extend(["--library", small]);
    }
    let (output, json) = replay(&folder, &fixture(), &libraries);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(json["trace"]["pipelines"], 256, "what the client was told");
    let pipes = |k: usize| json["libraries"][k]["npipes"].clone();
    assert_eq!((pipes(0), pipes(1)), (256.into(), 16.into()));
    let shown = text(&output.stdout);
    let row = shown.lines().find(|l| l.starts_with("pipelines"));
    let words: Vec<_> = row.expect("a row").split_whitespace().collect();
    assert_eq!(words[..4], ["pipelines", "256", "256", "16"]);

    let figures = json["figures"].as_array().expect("a list");
    assert_eq!(number(&figures[0]["split"]), 0.0);
    for figure in &figures[1..] {
        assert!(number(&figure["split"]) > 0.0);
        assert_eq!(
            figure["forces"]["compared"],
            figures[0]["forces"]["compared"]
        );
    }
    assert_eq!(number(&figures[1]["forces"]["different"]), 0.0);
    let notes = json["notes"].as_array().expect("a list");
    let noted = |words: [&str; 2]| {
        let says = |n: &Value| {
            words
                .iter()
                .all(|w| n.as_str().is_some_and(|n| n.contains(w)))
        };
        notes.iter().any(says)
    };
    assert!(noted(["recorded times", "does not tell"]), "{notes:?}");
    assert!(noted(["reference 16", "several calls"]), "{notes:?}");
    if small.is_some() {
        assert!(noted(["small.so", "several calls"]), "{notes:?}");
        assert!(noted(["small.so", "single bits"]), "{notes:?}");
    }
}

/// Writes and sets the time between the halves of its blocks, and reads all lists after them.
const CLIENT_OF_LISTS: &str = r#"
    int g6_open(int), g6_set_ti(int, double), g6_read_neighbour_list(int), g6_get_neighbour_list(int, int, int, int *, int *);
    int g6_set_j_particle(int, int, int, double, double, double, double *, double *, double *, double *, double *);
    int g6calc_firsthalf(int, int, int, int *, double (*)[3], double (*)[3], double (*)[3], double (*)[3], double *, double, double *);
    int g6calc_lasthalf2(int, int, int, int *, double (*)[3], double (*)[3], double, double *, double (*)[3], double (*)[3], double *, int *);
    enum { N = 5 };
    static double z[3], v[3] = {0.5, 0.0, 0.0}, x[N][3], u[N][3], a[N][3], j[N][3], p[N], h2[N];
    static int label[N], nearest[N];
    static void write(int k, double shift)
    {
        double place[3] = {k * k + shift, 0.0, 0.0};
        g6_set_j_particle(0, k, 10 - k, 0.0, 0.0, 1.0, z, z, z, v, place);
    }
    int main(void)
    {
        g6_open(0);
        for (int k = 0; k < N; k++) write(k, 0.0), label[k] = 10 - k, x[k][0] = k * k, h2[k] = 9.5;
        for (int block = 0; block < 3; block++) {
            int list[N], length;
            g6calc_firsthalf(0, N, N, label, x, u, a, j, p, 0.25, h2);
            g6_set_ti(0, block + 1.0);
            for (int k = 0; k < N; k++) write(k, 0.125 * (block + 1));
            g6calc_lasthalf2(0, N, N, label, x, u, 0.25, h2, a, j, p, nearest);
            g6_set_ti(0, block + 0.5);
            g6_read_neighbour_list(0);
            for (int k = N - 1; k >= 0; k--) g6_get_neighbour_list(0, k, k == 1 ? 1 : N, &length, list);
        }
        return 0;
    }"#;

#[test]
fn split_blocks_see_the_memory_that_the_whole_block_saw() {
    let folder = folder("split");
    let Some(client) = linked(&folder, CLIENT_OF_LISTS) else {
        return;
    };
    let trace = folder.join("lists.trace");
    let _ = std::fs::remove_file(&trace);
    let output = record(&trace, &client, &["--pipelines", "64"]);
    assert!(output.status.success(), "{}", text(&output.stderr));

    let libraries = [
        "kirin",
        "KIRIN_NPIPES=63 kirin",
        "KIRIN_NPIPES=2 kirin",
        "KIRIN_BACKEND=reference KIRIN_NPIPES=4 kirin",
    ];
    let options: Vec<_> = libraries.iter().flat_map(|l| ["--library", l]).collect();
    let (output, json) = replay(&folder, &trace, &[&["--exact"], &options[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(json["trace"]["pipelines"], 64);
    for (k, split) in [0.0, 0.0, 3.0, 3.0].into_iter().enumerate() {
        let figure = &json["figures"][k];
        assert_eq!(number(&figure["split"]), split, "{k}");
        assert_eq!(number(&figure["forces"]["compared"]), 15.0);
        if k < 3 {
            assert_eq!(number(&figure["forces"]["different"]), 0.0, "{k}");
        }
        assert!(number(&figure["acc"]["max"]) < 1e-6, "{k}: {figure}");
        for what in ["neighbours", "lists"] {
            assert_eq!(number(&figure[what]["compared"]), 15.0);
            assert_eq!(number(&figure[what]["different"]), 0.0, "{k}: {what}");
        }
    }
    let notes = json["notes"].as_array().expect("a list");
    let lists = |n: &&Value| n.as_str().is_some_and(|n| n.contains("its lists"));
    let of: Vec<_> = notes.iter().filter(lists).collect();
    assert_eq!(of.len(), 2, "kirin 2 and reference 4: {notes:?}");
    let machine = |n: &Value| n.as_str().is_some_and(|n| n.contains("recorded times"));
    let here = notes
        .iter()
        .filter(|n| machine(n) && !n.as_str().unwrap_or("").contains("calls"));
    assert_eq!(here.count(), 0, "it was recorded here: {notes:?}");
}

/// A program linked against the stand-in.
fn linked(folder: &Path, source: &str) -> Option<PathBuf> {
    stand_in(folder, "libg6.so", 48, -1)?;
    let place = format!("-L{}", folder.display());
    let path = format!("-Wl,-rpath,{}", folder.display());
    compile(folder, "client", source, &[&place, "-lg6", &path])
}

/// Runs a program under `kirin record`.
fn record(trace: &Path, client: &Path, options: &[&str]) -> Output {
    let mut command = command();
    command.args(["record", "-o"]).arg(trace).args(options);
    command.arg("--").arg(client).arg("7");
    command.output().expect("the command runs")
}

#[test]
fn a_program_is_recorded_in_place_of_its_own_library() {
    let folder = folder("record");
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
    let Some(client) = linked(&folder, source) else {
        return;
    };
    let trace = folder.join("client.trace");
    for entry in folder.read_dir().expect("our folder").flatten() {
        if entry.file_name().to_string_lossy().contains(".trace") {
            std::fs::remove_file(entry.path()).expect("it is there");
        }
    }
    let mut said = Vec::new();
    let mut first = Vec::new();
    for _ in 0..2 {
        let output = record(&trace, &client, &[]);
        assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "-3\n", "kirin's potential, not zero");
        said.push(text(&output.stderr));
        let bytes = std::fs::read(&trace).expect("a trace");
        assert!(first.is_empty() || bytes == first, "it was overwritten");
        first = bytes;
    }
    assert_eq!(said[0], "");
    let other = said[1].trim().rsplit(' ').next().expect("a name");
    assert!(
        other.starts_with(trace.to_str().expect("a plain path")),
        "{said:?}"
    );
    let second = std::fs::read(other).expect("the second trace");
    assert!(second.starts_with(b"kirin trace"));
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
