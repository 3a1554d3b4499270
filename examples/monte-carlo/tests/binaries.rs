//! Binaries that form of three stars: they end a collapse, energy is accounted for, and the bits are the same on any number of ranks.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;

/// The columns of a CSV file by name, a line each.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let place = head.split(',').position(|n| n == name).unwrap();
    lines
        .map(|line| line.split(',').nth(place).unwrap().parse().unwrap())
        .collect()
}

/// Mean of `values` at times from `begin` to `end`.
fn mean(times: &[f64], values: &[f64], begin: f64, end: f64) -> f64 {
    let within = times
        .iter()
        .zip(values)
        .filter(|(t, _)| (begin..end).contains(*t));
    let (sum, count) = within.fold((0.0, 0), |(sum, count), (_, v)| (sum + v.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

/// Without binaries such a cluster ends with fewer than 30 stars in its core. With them the core expands again, and then the whole cluster, as the energy of binaries
/// flows outwards.
#[test]
fn a_collapse_ends_in_a_bounce() {
    let folder = Folder::new("mc-bounce");
    let [csv, json] = ["a.csv", "a.json"].map(|f| folder.file(f));
    for seed in ["1", "3"] {
        let run = [
            "--n",
            "1000",
            "--three-body-binaries",
            "--t-end",
            "30",
            "--seed",
            seed,
            "--threads",
            "1",
            "--csv",
            &csv,
            "--json",
            &json,
        ];
        PROGRAM.succeed(&run);
        let text = folder.text("a.csv");
        let t = column(&text, "t");
        let core = column(&text, "core_radius");
        let deepest = (0..t.len())
            .min_by(|a, b| core[*a].total_cmp(&core[*b]))
            .unwrap();
        let collapsed = mean(&t, &core, t[deepest] - 0.05, t[deepest] + 0.05);
        assert!(
            (12.0..28.0).contains(&t[deepest]),
            "collapse at {}",
            t[deepest]
        );
        let (begin, end) = (mean(&t, &core, 0.0, 1.0), mean(&t, &core, 29.0, 30.0));
        assert!(
            collapsed < 0.1 * begin && end > 2.0 * collapsed,
            "{begin} {collapsed} {end}"
        );
        let half = column(&text, "lagrangian_50");
        let (at_collapse, end) = (half[deepest], mean(&t, &half, 29.0, 30.0));
        assert!(end > 1.05 * at_collapse, "{at_collapse} {end}");
        // The energy of the binaries is that which the stars, and those that have escaped, have gained.
        let parts = ["kinetic", "potential", "escaped_energy", "binary_energy"];
        let parts = parts.map(|name| column(&text, name));
        let sum = |k: usize| parts.iter().map(|part| part[k]).sum::<f64>();
        let last = t.len() - 1;
        assert!(
            (sum(last) / sum(0) - 1.0).abs() < 1e-9,
            "{} {}",
            sum(0),
            sum(last)
        );
        assert!(parts[3][last] < -0.05, "{}", parts[3][last]);
        let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
        assert_eq!(figures["ending"], "time");
        assert!(figures["binaries"]["formed"].as_f64().unwrap() >= 2.0);
        assert!(figures["worst_energy_error"].as_f64().unwrap() < 1e-9);
    }
}

/// Exchanges bring heavier stars into binaries; the energy stays.
#[test]
fn any_number_of_ranks_gives_the_same_bits() {
    for masses in ["equal", "2.35,1,5"] {
        let folder = Folder::new(&format!("mc-binaries-{masses}"));
        let [whole, half, rest, json] =
            ["whole.txt", "half.txt", "rest.txt", "a.json"].map(|f| folder.file(f));
        let start = [
            "--n",
            "300",
            "--three-body-binaries",
            "--mass-function",
            masses,
        ];
        let run = |more: &[&str]| PROGRAM.succeed(&[&start[..], more].concat());
        run(&[
            "--t-end",
            "18",
            "--ranks",
            "3",
            "--threads",
            "2",
            "--output",
            &whole,
            "--json",
            &json,
        ]);
        run(&["--t-end", "18", "--steps", "150", "--output", &half]);
        let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
        let number = |name: &str| figures["binaries"][name].as_f64().unwrap();
        assert!(
            number("formed") >= 2.0 && number("encounters") > 20.0,
            "{figures}"
        );
        let error = figures["worst_energy_error"].as_f64().unwrap();
        assert!(error < 1e-6, "{error:e}");
        assert!(
            folder.text("half.txt").contains("monte-carlo.binary "),
            "a binary is saved"
        );
        for ranks in ["1", "4"] {
            PROGRAM.succeed(&[
                "--input", &half, "--ranks", ranks, "--output", &rest, "--steps", "1000000",
            ]);
            let [one, other] = ["rest.txt", "whole.txt"].map(|f| {
                let text = folder.text(f);
                let lines = text
                    .lines()
                    .filter(|l| !l.contains("told") && !l.starts_with("end"));
                lines.map(str::to_owned).collect::<Vec<_>>()
            });
            assert!(one == other, "{masses}: {ranks} ranks");
        }
    }
}

#[test]
fn senseless_binaries_are_refused() {
    let folder = Folder::new("mc-binaries-refused");
    let [state, bad] = ["state.txt", "bad.txt"].map(|f| folder.file(f));
    PROGRAM.succeed(&[
        "--n",
        "300",
        "--three-body-binaries",
        "--t-end",
        "18",
        "--output",
        &state,
    ]);
    let text = folder.text("state.txt");
    let line = text
        .lines()
        .find(|l| l.starts_with("monte-carlo.binary "))
        .unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    for (place, word) in [
        (1, "999"),
        (1, "x"),
        (3, "-1"),
        (5, "0"),
        (5, "inf"),
        (6, "1"),
    ] {
        let mut words = words.clone();
        words[place] = word;
        let damaged = text.replacen(line, &words.join(" "), 1);
        std::fs::write(&bad, kirin_testing::summed(&damaged)).unwrap();
        let refusal = PROGRAM.fail(&["--input", &bad, "--t-end", "19"]);
        assert!(
            refusal.contains("monte-carlo.binary "),
            "{place} {word}: {refusal}"
        );
    }
    let refusal = PROGRAM.fail(&[
        "--n",
        "300",
        "--three-body-binaries",
        "--stellar-radius",
        "1e-3",
    ]);
    assert!(refusal.contains("--stellar-radius"), "{refusal}");
}
