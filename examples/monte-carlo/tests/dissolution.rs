//! Runs that end because a step would leave fewer than 100 stars.

mod common;

use common::PROGRAM;
use kirin_kit::Snapshot;
use kirin_testing::Folder;

/// The last step is not taken: the state has at least 100 stars, no energy is lost, and a run that goes on from it comes to the same end. By
/// encounters, with binaries, by a black hole, with stars that merge, and where nearly all mass is lost at once by stars that end.
#[test]
fn a_cluster_of_few_stars_dissolves() {
    let folder = Folder::new("mc-dissolution");
    let [state, again, json] = ["state.txt", "again.txt", "run.json"].map(|f| folder.file(f));
    let hole = [
        "--n",
        "300",
        "--black-hole-mass",
        "0.2",
        "--capture-radius",
        "0.2",
    ];
    let cases = [
        ["--n", "104", "--core-stars", "0"].to_vec(),
        ["--n", "104", "--three-body-binaries"].to_vec(),
        hole.to_vec(),
        [&hole[..], &["--stellar-radius", "0.2"]].concat(),
        [
            "--n",
            "2000",
            "--units",
            "20000Msun,1pc",
            "--stellar-evolution",
            "0.02",
        ]
        .to_vec(),
    ];
    for case in cases {
        let mut whole = None;
        for ranks in ["1", "2"] {
            let files = [
                "--t-end", "1e5", "--ranks", ranks, "--json", &json, "--force", "--output",
            ];
            PROGRAM.succeed(&[&case[..], &files, &[&state]].concat());
            let value: serde_json::Value = serde_json::from_str(&folder.text("run.json")).unwrap();
            assert_eq!(value["ending"], "dissolved", "{case:?}");
            let error = value["worst_energy_error"].as_f64().unwrap();
            // Many mergers in a step have an error of their own: each is computed as if the others moved no mass. (Here 5.9e-4.)
            let merges = case.contains(&"--stellar-radius");
            let most = if merges { 2e-3 } else { 1e-10 };
            assert!(error < most, "{case:?}: {error:e}");
            let stars = Snapshot::load(state.as_ref()).unwrap().bodies.len();
            assert!(stars >= 100, "{case:?}: {stars}");
            assert!(
                stars < 200 || case.contains(&"--units"),
                "{case:?}: {stars}"
            );
            let text = folder.text("state.txt");
            let expected = whole.get_or_insert_with(|| text.clone());
            assert!(text == *expected, "{case:?}: {ranks} ranks");
            PROGRAM.succeed(&[&["--input", &state], &files[2..], &[&again]].concat());
            assert!(folder.text("again.txt") == text, "{case:?}");
            std::fs::remove_file(&state).unwrap();
            std::fs::remove_file(&again).unwrap();
        }
    }
}
