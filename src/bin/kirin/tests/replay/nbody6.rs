//! NBODY6's library: a program is recorded, and its calls are repeated on kirin and on a library that gives zeros.

use super::*;

/// A library that answers with zeros and, like older libraries, writes beyond the last particle up to the next
/// multiple of 4. It crashes in its second call for regular forces if CRASH is set.
const STAND_IN: &str = r#"
    #include <string.h>
    void gpunb_open_(int *nbmax, int *rank) {}
    void gpunb_close_(void) {}
    void gpunb_send_(int *nj, double *m, double *x, double *v) {}
    void gpunb_regf_(int *ni, double *h2, double *dtr, double *x, double *v, double *a, double *j, double *p, int *lmax,
                     int *nbmax, int *list, int *flag)
    {
        static int calls;
        int n = (*ni + 3) / 4 * 4;
        if (++calls == 2 && CRASH) *(volatile int *)0 = 1;
        memset(a, 0, 24 * n);
        memset(j, 0, 24 * n);
        memset(p, 0, 8 * n);
        for (int i = 0; i < *ni; i++) list[i * *lmax] = 0;
    }
    void gpupot_(int *rank, int *start, int *ni, int *n, double *m, double *x, double *p)
    {
        memset(p + *start - 1, 0, 8 * (*ni + 7));
    }
    void irr_simd_open_(int *nmax, int *lmax, int *rank) {}
    void irr_simd_close_(int *rank) {}
    void irr_simd_set_jp_(int *a, double *x, double *v, double *f, double *d, double *m, double *t) {}
    void irr_simd_set_list_(int *a, int *list) {}
    void irr_simd_firr_vec_(double *ti, int *ni, int *addr, double *a, double *j, int *nearest)
    {
        memset(a, 0, 24 * *ni);
        memset(j, 0, 24 * *ni);
        memset(nearest, 0, 4 * *ni);
    }
"#;

/// Two calls for regular forces, of which the second one's rows are too short, and one each of the others.
const CLIENT: &str = r#"
    #include <stdio.h>
    void gpunb_open_(int *, int *), gpunb_close_(void), gpunb_send_(int *, double *, double *, double *);
    void gpunb_regf_(int *, double *, double *, double *, double *, double *, double *, double *, int *, int *, int *, int *);
    void gpupot_(int *, int *, int *, int *, double *, double *, double *);
    void irr_simd_open_(int *, int *, int *), irr_simd_close_(int *), irr_simd_set_list_(int *, int *);
    void irr_simd_set_jp_(int *, double *, double *, double *, double *, double *, double *);
    void irr_simd_firr_vec_(double *, int *, int *, double *, double *, int *);
    enum { N = 40, NI = 5 };
    static double m[N], x[N][3], v[N][3], h2[NI], dtr[NI], a[N][3], j[N][3], p[N];
    int main(void)
    {
        int n = N, ni = NI, rank = 0, flag = 0, list[NI * 8], addr[NI], nearest[NI], three = 3, four = 4, eight = 8, start = 11;
        int near[3] = {2};
        double z[3] = {0.1, 0.2, 0.3}, t = 0.0, ti = 0.125;
        for (int k = 0; k < N; k++) m[k] = 1.0, x[k][0] = k, x[k][1] = 0.1 * (k % 7), v[k][2] = 0.01 * k;
        for (int k = 0; k < NI; k++) h2[k] = k == 2 ? 0.0 : 1.3, addr[k] = 3 * k + 1;
        gpunb_open_(&n, &rank);
        gpunb_send_(&n, m, x[0], v[0]);
        gpunb_regf_(&ni, h2, dtr, x[5], v[5], a[0], j[0], p, &eight, &eight, list, &flag);
        gpunb_regf_(&ni, h2, dtr, x[20], v[20], a[0], j[0], p, &three, &three, list, &flag);
        gpupot_(&rank, &start, &four, &n, m, x[0], p);
        irr_simd_open_(&n, &eight, &rank);
        for (int k = 1; k <= N; k++) {
            near[1] = k % N + 1, near[2] = (k + 3) % N + 1;
            irr_simd_set_jp_(&k, x[k - 1], v[k - 1], z, z, m, &t);
            irr_simd_set_list_(&k, near);
        }
        irr_simd_firr_vec_(&ti, &ni, addr, a[0], j[0], nearest);
        irr_simd_close_(&rank);
        gpunb_close_();
        printf("%g\n", p[0]);
        return 0;
    }"#;

fn library(folder: &Path, name: &str, crash: u8) -> Option<String> {
    let crash = format!("-DCRASH={crash}");
    let path = compile(folder, name, STAND_IN, &["-shared", "-fPIC", &crash])?;
    Some(path.to_str().expect("a plain path").to_owned())
}

#[test]
fn the_calls_of_nbody6_are_repeated_on_its_libraries() {
    let folder = folder("nbody6");
    let Some(zeros) = library(&folder, "libzeros.so", 0) else {
        return;
    };
    let crashing = library(&folder, "libcrash.so", 1).expect("gcc was there");
    let place = format!("-L{}", folder.display());
    let path = format!("-Wl,-rpath,{}", folder.display());
    let client = compile(&folder, "client", CLIENT, &[&place, "-lzeros", &path]);
    let client = client.expect("gcc was there");
    let trace = folder.join("nbody6.trace");
    let _ = std::fs::remove_file(&trace);
    let output = record(&trace, &client, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    assert_ne!(text(&output.stdout), "0\n", "kirin's potential");

    // What the caller's own program is says nothing of how the calls are repeated.
    let libraries = [
        "--exact",
        "--library",
        "kirin",
        "--library",
        "KIRIN_PRECISION=double kirin",
        "--library",
        "KIRIN_BACKEND=reference kirin",
        "--library",
        &zeros,
    ];
    let (output, json) = replay(&folder, &trace, &libraries);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(json["exact"], true);
    assert_eq!(json["interface"], "nbody6");
    assert_eq!(
        (&json["trace"]["blocks"], &json["trace"]["largest_block"]),
        (&2.into(), &5.into())
    );
    let shown = text(&output.stdout);
    for row in [
        "regular forces",
        "irregular forces",
        "potentials",
        "gpunb_regf_",
        "irr_simd_firr_vec_",
        "gpupot_",
    ] {
        assert!(
            shown.lines().any(|l| l.trim_start().starts_with(row)),
            "{row}: {shown}"
        );
    }
    let close = [1e-5, 1e-4, 1e-6];
    for (k, limits) in [[0.0; 3], close, close].into_iter().enumerate() {
        let figure = &json["figures"][k];
        let (irregular, potentials) = (
            &figure["nbody6"]["irregular"],
            &figure["nbody6"]["potentials"],
        );
        for (of, count) in [(figure, 10.0), (irregular, 5.0), (potentials, 4.0)] {
            assert_eq!(number(&of["forces"]["compared"]), count, "{k}");
            assert_eq!(number(&of["not_finite"]), 0.0);
            for (quantity, limit) in ["acc", "jerk", "pot"].iter().zip(limits) {
                let max = number(&of[quantity]["max"]);
                assert!(max <= limit, "{k}: {quantity}: {max}");
            }
        }
        for (what, count) in [("lists", 10.0), ("neighbours", 5.0)] {
            assert_eq!(number(&figure[what]["compared"]), count, "{k}");
            assert_eq!(number(&figure[what]["different"]), 0.0, "{k}: {what}");
        }
    }
    let double = &json["figures"][1];
    assert!(number(&double["forces"]["different"]) > 0.0);
    // These are in double precision always.
    let irregular = &double["nbody6"]["irregular"];
    assert_eq!(number(&irregular["forces"]["different"]), 0.0);
    let wrong = &json["figures"][3];
    for of in [wrong, &wrong["nbody6"]["irregular"]] {
        assert!((number(&of["acc"]["rms"]) - 1.0).abs() < 1e-12, "{of}");
    }
    assert!((number(&wrong["nbody6"]["potentials"]["pot"]["max"]) - 1.0).abs() < 1e-12);
    // The target without a radius has no neighbour.
    assert_eq!(number(&wrong["lists"]["different"]), 8.0);
    assert_eq!(number(&wrong["neighbours"]["different"]), 5.0);

    // Another library of the recorded one's bits is not exact, and one that crashes is lost.
    let double = ["--exact", "--library", "KIRIN_PRECISION=double kirin"];
    let (output, _) = replay(&folder, &trace, &double);
    assert_eq!(output.status.code(), Some(1));
    let (output, json) = replay(&folder, &trace, &["--library", &crashing]);
    assert_eq!(output.status.code(), Some(1));
    let error = json["libraries"][1]["error"].as_str().expect("an error");
    assert!(error.contains("segmentation fault"), "{error}");
    assert_eq!(json["figures"][0]["finished"], true);
}

#[test]
fn a_variant_in_the_environment_does_not_change_a_replay() {
    let folder = folder("nbody6-variant");
    let Some(_) = library(&folder, "libzeros.so", 0) else {
        return;
    };
    let place = format!("-L{}", folder.display());
    let path = format!("-Wl,-rpath,{}", folder.display());
    let client = compile(&folder, "client", CLIENT, &[&place, "-lzeros", &path]);
    let trace = folder.join("nbody6.trace");
    let _ = std::fs::remove_file(&trace);
    let output = record(&trace, &client.expect("gcc was there"), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut replay = command();
    replay
        .env("KIRIN_NBODY6", "6")
        .arg("replay")
        .arg(&trace)
        .arg("--exact");
    let output = replay.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}
