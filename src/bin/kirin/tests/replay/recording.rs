//! `kirin record`: a program that was linked with its own library is recorded with kirin in place of that library.

use super::*;

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
    // A program that is not on the PATH: the shell would need the ./, too.
    std::fs::write(folder.join("near"), "").expect("a file");
    for (program, words) in [("near", "./near"), ("far", "no folder of PATH")] {
        let mut near = command();
        near.current_dir(&folder).args(["record", "--", program]);
        let output = near.output().expect("it runs");
        assert_eq!(output.status.code(), Some(127));
        let said = text(&output.stderr);
        assert!(said.contains(words), "{said}");
    }
}

/// An id that was never opened stands for the only open cluster. The client begins blocks under one name and fetches them
/// under the other.
#[test]
fn a_client_with_two_names_for_its_cluster_is_repeated() {
    let folder = folder("names");
    let source = r#"
        int g6_open(int); int g6_set_j_particle(int, int, int, double, double, double, double *, double *, double *, double *, double *);
        int g6calc_firsthalf(int, int, int, int *, double (*)[3], double (*)[3], double (*)[3], double (*)[3], double *, double, double *);
        int g6calc_lasthalf(int, int, int, int *, double (*)[3], double (*)[3], double, double *, double (*)[3], double (*)[3], double *);
        int main(void)
        {
            double z[3] = {0}, x[1][3] = {{0}}, a[1][3], j[1][3], p[1], one[3] = {1.0, 0.0, 0.0};
            int label = 1, turn;
            g6_open(5);
            g6_set_j_particle(0, 0, 2, 0.0, 0.0, 3.0, z, z, z, z, one);
            for (turn = 0; turn < 4; turn++) {
                x[0][0] = -turn;
                g6calc_firsthalf(turn < 2 ? 7 : 0, 1, 1, &label, x, x, x, x, z, 0.0, z);
                g6calc_lasthalf(turn < 3 ? 5 : 7, 1, 1, &label, x, x, 0.0, z, a, j, p);
            }
            return 0;
        }"#;
    let Some(client) = linked(&folder, source) else {
        return;
    };
    let json = repeated(&folder, &client, &["--exact"]);
    assert_eq!(json["figures"][0]["forces"]["compared"], 4);
}

/// In a replay the memory of GRAPE-5 is the only open cluster, until the client uses id 0 without opening it.
#[test]
fn a_client_of_grape5_that_opens_no_cluster_of_grape6_is_repeated() {
    let folder = folder("both");
    let source = r#"
        void g5_set_n(int), g5_set_eps_to_all(double), g5_set_xmj(int, int, double (*)[3], double *);
        void g5_calculate_force_on_x(double (*)[3], double (*)[3], double *, int);
        int g6_set_j_particle(int, int, int, double, double, double, double *, double *, double *, double *, double *);
        int g6calc_firsthalf(int, int, int, int *, double (*)[3], double (*)[3], double (*)[3], double (*)[3], double *, double, double *);
        int g6calc_lasthalf(int, int, int, int *, double (*)[3], double (*)[3], double, double *, double (*)[3], double (*)[3], double *);
        int main(void)
        {
            double z[3] = {0}, x[1][3] = {{0}}, a[1][3], j[1][3], p[1], m[2] = {1.0, 2.0};
            double places[2][3] = {{1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}}, others[3] = {0.0, 0.0, -3.0};
            int label = 7;
            g5_set_xmj(0, 2, places, m);
            g5_set_n(2);
            g5_set_eps_to_all(0.5);
            for (int k = 0; k < 3; k++)
                g6_set_j_particle(0, k, k, 0.0, 0.0, 1.0 + k, z, z, z, z, others);
            g6calc_firsthalf(0, 3, 1, &label, x, x, x, x, z, 0.0, z);
            g6calc_lasthalf(0, 3, 1, &label, x, x, 0.0, z, a, j, p);
            g5_calculate_force_on_x(x, a, p, 1);
            return 0;
        }"#;
    let Some(client) = linked_with_grape5(&folder, source) else {
        return;
    };
    let json = repeated(&folder, &client, &[]);
    let figure = &json["figures"][0];
    assert_eq!(figure["forces"]["compared"], 2);
    assert!(number(&figure["acc"]["max"]) < 1e-5, "{figure}");
}

/// The calls of GRAPE-5 are repeated as those of GRAPE-6, whose sums without softening have other last bits.
#[test]
fn forces_of_grape5_agree_within_errors() {
    let folder = folder("grape5");
    let source = r#"
        void g5_open(void), g5_set_n(int), g5_set_eps_to_all(double), g5_close(void);
        void g5_set_xmj(int, int, double (*)[3], double *);
        void g5_calculate_force_on_x(double (*)[3], double (*)[3], double *, int);
        enum { N = 40 };
        static double x[N][3], m[N], a[N][3], p[N];
        int main(void)
        {
            unsigned seed = 1;
            for (int i = 0; i < N; i++) {
                m[i] = 1.0 / N;
                for (int k = 0; k < 3; k++) x[i][k] = (seed = seed * 1664525u + 1013904223u) / 4294967296.0;
            }
            g5_open();
            g5_set_xmj(0, N, x, m);
            g5_set_n(N);
            g5_set_eps_to_all(0.0);
            g5_calculate_force_on_x(x, a, p, N);
            g5_close();
            return 0;
        }"#;
    let Some(client) = linked_with_grape5(&folder, source) else {
        return;
    };
    let json = repeated(&folder, &client, &[]);
    let figure = &json["figures"][0];
    assert_eq!(figure["forces"]["compared"], 40);
    assert!(number(&figure["acc"]["max"]) < 1e-5, "{figure}");
    assert!(number(&figure["forces"]["different"]) > 0.0, "{figure}");
    let notes = json["notes"].to_string();
    assert!(notes.contains("calls of GRAPE-5"), "{notes}");
}

#[test]
fn an_unwritable_trace_ends_the_run_before_it_begins() {
    let folder = folder("unwritable");
    let done = folder.join("done");
    let _ = std::fs::remove_file(&done);
    let long = folder.join("x".repeat(300));
    // In the setting that names the trace, %r would become a number.
    let pattern = folder.join("50%runs");
    std::fs::create_dir_all(&pattern).expect("a folder");
    let in_pattern = pattern.join("x.trace");
    // Nobody, root neither, can make files there.
    for place in [
        "/proc/self/x.trace",
        "/no/such/folder/x.trace",
        long.to_str().expect("a plain path"),
        folder.to_str().expect("a plain path"),
        in_pattern.to_str().expect("a plain path"),
    ] {
        let output = command()
            .args(["record", "-o", place, "--", "touch"])
            .arg(&done)
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{place}");
        assert!(
            text(&output.stderr).contains(place),
            "{}",
            text(&output.stderr)
        );
        assert!(!done.exists(), "{place}: the program ran");
    }
}
