//! Binaries that form of three stars: energy is accounted for, the bits are the same on any number of ranks, bad states are refused.

mod common;

use common::{PROGRAM, assert_refused};
use kirin_testing::Folder;

/// From half.txt in this folder 1 and 4 ranks reach whole.txt, bit for bit.
fn goes_on_to_the_same_end(folder: &Folder, what: &str) {
    let [half, rest] = ["half.txt", "rest.txt"].map(|f| folder.file(f));
    for ranks in ["1", "4"] {
        PROGRAM.succeed(&[
            "--input", &half, "--ranks", ranks, "--output", &rest, "--force", "--steps", "1000000",
        ]);
        let [one, other] = ["rest.txt", "whole.txt"].map(|f| {
            let text = folder.text(f);
            let lines = text
                .lines()
                .filter(|l| !l.contains("told") && !l.starts_with("end"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        });
        assert!(one == other, "{what}: {ranks} ranks");
    }
}

/// A binary of two light stars has the mass of a heavy star. After a fly-by each is where it was: no label is lost, and the state can be read.
#[test]
fn a_binary_meets_a_star_of_its_mass() {
    let folder = Folder::new("mc-equal-mass");
    let [state, csv] = ["state.txt", "a.csv"].map(|f| folder.file(f));
    let cluster = ["--n", "300", "--mass-ratio", "2", "--mass-fraction", "0.1"];
    let run = ["--three-body-binaries", "--theta-max", "2", "--t-end", "60"];
    let files = ["--output", &state, "--csv", &csv];
    PROGRAM.succeed(&[&cluster[..], &run, &files].concat());
    PROGRAM.succeed(&["--input", &state, "--steps", "1", "--t-end", "61"]);
    let last = folder.text("a.csv").lines().last().unwrap().to_owned();
    assert!(last.starts_with("61.0,"), "{last}");
}

/// Exchanges bring heavier stars into binaries; the energy stays.
#[test]
fn any_number_of_ranks_gives_the_same_bits() {
    for masses in ["equal", "2.35,1,5"] {
        let folder = Folder::new(&format!("mc-binaries-{masses}"));
        let [whole, half, json] = ["whole.txt", "half.txt", "a.json"].map(|f| folder.file(f));
        let start = [
            "--n",
            "200",
            "--three-body-binaries",
            "--mass-function",
            masses,
        ];
        let run = |more: &[&str]| PROGRAM.succeed(&[&start[..], more].concat());
        run(&[
            "--t-end",
            "30",
            "--ranks",
            "3",
            "--threads",
            "2",
            "--output",
            &whole,
            "--json",
            &json,
        ]);
        run(&["--t-end", "30", "--steps", "130", "--output", &half]);
        let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
        let number = |name: &str| figures["binaries"][name].as_f64().unwrap();
        assert!(
            number("formed") >= 2.0 && number("encounters") > 20.0,
            "{}",
            figures["binaries"]
        );
        let error = figures["worst_energy_error"].as_f64().unwrap();
        assert!(error < 1e-6, "{error:e}");
        assert!(
            folder.text("half.txt").contains("monte-carlo.binary "),
            "a binary is saved"
        );
        goes_on_to_the_same_end(&folder, masses);
    }
}

/// Primordial binaries meet stars and each other, some are dissolved, and stars end, those of binaries, too.
#[test]
fn primordial_binaries_have_the_same_bits_on_any_number_of_ranks() {
    let folder = Folder::new("mc-primordial");
    let [whole, half, json] = ["whole.txt", "half.txt", "a.json"].map(|f| folder.file(f));
    let start = [
        "--n",
        "300",
        "--binary-fraction",
        "0.25",
        "--mass-function",
        "2.35,0.5,5",
        "--units",
        "347Msun,1pc",
        "--stellar-evolution",
        "0.02",
        "--t-end",
        "2000Myr",
    ];
    let run = |more: &[&str]| PROGRAM.succeed(&[&start[..], more].concat());
    let table = run(&[
        "--ranks",
        "3",
        "--threads",
        "2",
        "--output",
        &whole,
        "--json",
        &json,
    ]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("stars have ended"), "{table}");
    let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
    let steps = figures["steps"].as_u64().unwrap();
    run(&["--steps", &(steps * 9 / 10).to_string(), "--output", &half]);
    let number = |name: &str| figures["binaries"][name].as_f64().unwrap();
    // 240 systems, of which 60 are binaries.
    assert_eq!(figures["n0"], 240);
    let gone = number("dissolved") + number("escaped");
    assert_eq!(number("now"), 60.0 - gone, "{}", figures["binaries"]);
    // Clusters of other seeds have 23 to 111 encounters.
    assert!(
        number("dissolved") >= 2.0 && number("encounters") > 20.0,
        "{}",
        figures["binaries"]
    );
    assert!(figures["stellar_evolution"]["ended"].as_f64().unwrap() > 10.0);
    let error = figures["worst_energy_error"].as_f64().unwrap();
    assert!(error < 1e-10, "{error:e}");
    let state = folder.text("half.txt");
    assert!(
        state.contains("monte-carlo.remnants "),
        "stars that have ended are saved"
    );
    goes_on_to_the_same_end(&folder, "evolution");
}

#[test]
fn senseless_binaries_are_refused() {
    let folder = Folder::new("mc-binaries-refused");
    let [state, bad] = ["state.txt", "bad.txt"].map(|f| folder.file(f));
    PROGRAM.succeed(&[
        "--n",
        "200",
        "--three-body-binaries",
        "--t-end",
        "30",
        "--output",
        &state,
    ]);
    let text = folder.text("state.txt");
    let line = text
        .lines()
        .find(|l| l.starts_with("monte-carlo.binary "))
        .unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let single = text.lines().nth_back(1).unwrap().split(' ').next().unwrap();
    for (place, word) in [
        (1, "999"),
        (1, "x"),
        (2, single),
        (3, "-1"),
        (5, "0"),
        (5, "inf"),
        (6, "1"),
    ] {
        let mut words = words.clone();
        words[place] = word;
        let damaged = text.replacen(line, &words.join(" "), 1);
        std::fs::write(&bad, kirin_testing::summed(&damaged)).unwrap();
        let refusal = PROGRAM.fail(&["--input", &bad, "--t-end", "31"]);
        assert!(
            refusal.contains("monte-carlo.binary"),
            "{place} {word}: {refusal}"
        );
    }
    let refusal = PROGRAM.fail(&[
        "--n",
        "200",
        "--three-body-binaries",
        "--stellar-radius",
        "1e-3",
    ]);
    assert!(refusal.contains("--stellar-radius"), "{refusal}");
    assert_refused(&[
        (&["--stellar-evolution", "0.02"][..], "--units"),
        (
            &["--stellar-evolution", "0.5", "--units", "200Msun,1pc"],
            "0.0001 to 0.03",
        ),
        (
            &[
                "--stellar-evolution",
                "0.02",
                "--units",
                "1e6Msun,1pc",
                "--mass-function",
                "kroupa",
            ],
            "solar masses",
        ),
        (
            &["--binary-fraction", "0.5", "--binary-periods", "kroupa1995"],
            "--units",
        ),
        (
            &["--binary-fraction", "0.5", "--stellar-radius", "1e-3"],
            "--stellar-radius",
        ),
        (&["--binary-fraction", "0.002"], "less than half a binary"),
    ]);
}
