//! Pipelines: kirin gets as many as were recorded; for libraries with fewer pipelines blocks are split.

use super::*;

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
    assert!(noted(["kirin NPIPES=16", "several calls"]), "{notes:?}");
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
    let [note] = of[..] else {
        panic!("one note for both: {notes:?}");
    };
    let names = "kirin NPIPES=2, kirin BACKEND=reference NPIPES=4: ";
    assert!(
        note.as_str().is_some_and(|n| n.starts_with(names)),
        "{note}"
    );
    let machine = |n: &Value| n.as_str().is_some_and(|n| n.contains("recorded times"));
    let here = notes
        .iter()
        .filter(|n| machine(n) && !n.as_str().unwrap_or("").contains("calls"));
    assert_eq!(here.count(), 0, "it was recorded here: {notes:?}");
}
