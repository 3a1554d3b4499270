//! The program in a process of its own: its output, the files it continues from, and its messages about bad input.

mod common;

use common::{PROGRAM, end_of};
use kirin_kit::Snapshot;
use kirin_testing::{Folder, summed};

const MODEL: [&str; 4] = ["--n", "100", "--galaxy", "irrgang"];

fn assert_same(a: &Snapshot, b: &Snapshot) {
    assert_eq!(a.time.to_bits(), b.time.to_bits());
    assert!(a.bodies == b.bodies, "bodies differ");
    for key in [
        "symplectic.settings",
        "symplectic.grid",
        "symplectic.counts",
        "symplectic.balance",
        "galaxy.field",
        "run.energy0",
    ] {
        assert!(a.value(key).is_some(), "{key}");
        assert_eq!(a.value(key), b.value(key));
    }
    let lines = |s: &Snapshot, key: &str| s.values(key).map(str::to_owned).collect::<Vec<_>>();
    for key in ["symplectic.point", "run.record"] {
        assert_eq!(lines(a, key), lines(b, key));
    }
}

#[test]
fn a_run_goes_on_with_the_same_bits() {
    let folder = Folder::new("resume");
    for options in [
        &["--scheme", "leapfrog"][..],
        &["--scheme", "si6a", "--bits", "exact"],
        &[
            "--scheme",
            "blanes-moan",
            "--uncentred",
            "--black-hole",
            "2",
        ],
        &["--eps", "0.001", "--dt", "1/1024", "--black-hole", "0.1"],
    ] {
        let model = [&MODEL[..], options, &["--every", "1/16"]].concat();
        let run = |name: &str, start: &[&str], t_end: &str| {
            end_of(&folder, name, &[start, &["--t-end", t_end]].concat())
        };
        let whole = run("whole", &model, "1/4");
        run("half", &model, "1/8");
        let half = folder.file("half");
        let resumed = run("resumed", &["--input", &half, "--every", "1/16"], "1/4");
        assert_same(&resumed, &whole);
        if options.contains(&"--uncentred") {
            let more = ["--pairs", "program", "--t-end", "1/4"];
            let said = PROGRAM.fail(&[&["--input", &half][..], &more].concat());
            assert!(said.contains(&format!("{half}: --uncentred")), "{said}");
        }
    }
}

#[test]
fn threads_and_pipelines_change_no_bit() {
    let folder = Folder::new("threads");
    let run = |name: &str, npipes: &str, threads: &str| {
        let path = folder.file(name);
        let status = PROGRAM
            .command(&["--n", "3000", "--galaxy", "irrgang", "--t-end", "0.001"])
            .args(["--eps", "0.0004", "--dt", "1/2000"])
            .args(["--output", &path])
            .envs([("KIRIN_NPIPES", npipes), ("KIRIN_THREADS", threads)])
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success());
        Snapshot::load(path.as_ref()).unwrap()
    };
    let one = run("one", "48", "1");
    let many = run("many", "16384", "3");
    // Close encounters are part of it.
    assert!(one.value("symplectic.changeover").is_some());
    assert!(one.bodies == many.bodies);
    assert_eq!(
        one.value("symplectic.balance"),
        many.value("symplectic.balance")
    );
}

/// `KIRIN_THREADS` counts the program's own threads, too; rayon's variable does not matter where it is set.
#[cfg(target_os = "linux")]
#[test]
fn threads_are_those_of_kirin() {
    use std::process::Stdio;
    let count = |kirin: &str| {
        let mut command =
            PROGRAM.command(&["--n", "4096", "--galaxy", "irrgang", "--t-end", "1e3"]);
        command.envs([("KIRIN_THREADS", kirin), ("RAYON_NUM_THREADS", "7")]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let tasks = format!("/proc/{}/task", child.id());
        let now = || std::fs::read_dir(&tasks).map_or(0, Iterator::count);
        let began = std::time::Instant::now();
        let mut most = 0;
        while began.elapsed().as_secs_f64() < 1.0 {
            most = most.max(now());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        most
    };
    // The main thread, one of the library, one of rayon, one that waits for signals, one that draws the progress.
    let one = count("1");
    assert!((2..8).contains(&one), "{one}");
}

#[test]
fn files_are_written() {
    let folder = Folder::new("files");
    let [output, csv, json, plot, film] =
        ["run.txt", "run.csv", "run.json", "run.svg", "film"].map(|name| folder.file(name));
    PROGRAM.succeed(
        &[
            &MODEL[..],
            &[
                "--t-end", "1/16", "--every", "1/64", "--output", &output, "--csv", &csv,
            ],
            &["--json", &json, "--plot", &plot, "--snapshot-every", "1/32"],
            &["--frames", &film, "--frame-every", "1/32"],
        ]
        .concat(),
    );
    let text = folder.text("run.csv");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    for name in [
        "time",
        "energy_error",
        "bound_mass",
        "tidal_radius",
        "lz",
        "torque_x",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    for line in lines {
        assert_eq!(line.split(',').count(), names.len());
    }
    let figures: serde_json::Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    let first = &figures["records"][0];
    let bound_mass = first["bound_mass"].as_f64().unwrap();
    assert!((bound_mass - 1.0).abs() < 1e-12, "{bound_mass}");
    // With W = 2 pi / 55 on a flat rotation curve (1 / 2 W^2)^(1/3) is 3.4.
    let tidal_radius = first["tidal_radius"].as_f64().unwrap();
    assert!((2.5..4.5).contains(&tidal_radius), "{tidal_radius}");
    assert_eq!(figures["units"]["pc"], 10.0);
    assert!(folder.text("run.svg").starts_with("<svg"));
    for k in 0..3 {
        let path = folder.file(&format!("film/frame.{k:06}.png"));
        assert!(std::fs::metadata(path).unwrap().len() > 1000);
    }
    assert_eq!(std::fs::read_dir(&film).unwrap().count(), 3);
    // A numbered snapshot knows its galaxy, and begins a new run there.
    let [first, last] = ["run.0000.txt", "run.0002.txt"].map(|name| folder.file(name));
    let tails = folder.file("tails.png");
    PROGRAM.succeed(&["--draw", &first, &last, "--plot", &tails]);
    PROGRAM.succeed(&["--draw", &last, "--zoom", "5", "--plot", &tails]);
    let next = PROGRAM.figures("next", &["--input", &last, "--t-end", "1/8"]);
    assert_eq!(
        (next["galaxy"].as_str(), next["steps"].as_u64()),
        (Some("irrgang"), Some(32))
    );
}

#[test]
fn the_summary_tells_units_and_tides() {
    let output = PROGRAM.succeed(&[&MODEL[..], &["--t-end", "1/64"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "Irrgang et al. (2013)",
        "16000 solar masses, 10 pc, 3.7",
        "stars, mass",
        "order 2, 1 forces a step",
        "tidal radius",
        "of the cluster's T + W",
        "8.0000 kpc from the centre",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn bad_input_is_refused() {
    let folder = Folder::new("refusals");
    let start = folder.file("start.txt");
    PROGRAM.succeed(&[&MODEL[..], &["--t-end", "1/64", "--output", &start]].concat());
    let damaged = folder.file("damaged.txt");
    let text = folder
        .text("start.txt")
        .replace("symplectic.grid", "symplectic.gird");
    std::fs::write(&damaged, summed(&text)).unwrap();
    let bodies = "columns mass x y z vx vy vz\n0.5 1 0 0 0 0.5 0\n0.5 -1 0 0 0 -0.5 0\nend\n";
    let [plain, units, light, empty] =
        ["plain.txt", "units.txt", "light.txt", "empty.txt"].map(|name| folder.file(name));
    let head = "kirin-snapshot 1\nn 2\n";
    std::fs::write(&plain, format!("{head}{bodies}")).unwrap();
    let line = "galaxy.field none 100.0 0.5 0.0 0.0\n";
    std::fs::write(&units, format!("{head}{line}{bodies}")).unwrap();
    let massless = bodies.replace("0.5 1 ", "0 1 ").replace("0.5 -1 ", "0 -1 ");
    std::fs::write(&light, format!("{head}{massless}")).unwrap();
    std::fs::write(&empty, "m x y z vx vy vz\n").unwrap();
    let own = folder.file("own.txt");
    std::fs::write(&own, "m x y z vx vy vz\n1 1 0 0 0 1 0\n1 -1 0 0 0 -1 0\n").unwrap();
    for (arguments, words) in [
        (&["--dt", "0"][..], "step must be"),
        (&["--input", &plain, "--galaxy", "irrgang"], "--orbit rest"),
        (&["--input", &units, "--galaxy", "irrgang"], "--orbit rest"),
        (&["--input", &light], "all masses are 0"),
        (&["--input", &empty], "no bodies"),
        (&["--n", "2147483647"], "GB; this machine has"),
        (&["--cluster-radius", "3"], "--galaxy"),
        (&["--t-end", "500Myr"], "--units"),
        (&["--radius", "8"], "--radius belongs"),
        (&["--eps", "-1"], "finite number from 0"),
        (&["--orbit", "circular"], "needs a --galaxy"),
        (&["--scheme", "euler"], "invalid value"),
        (
            &["--bits", "exact", "--changeover", "0.1"],
            "cannot be undone to the bit",
        ),
        (&["--changeover", "-1"], "--changeover"),
        (&["--changeover", "1pc"], "--units"),
        (&["--reverse"], "--input"),
        // clap asks for no option that another one excludes.
        (&["--n", "64", "--reverse"], "--reverse needs --input"),
        (&["--n", "64", "--zoom", "5"], "--draw"),
        (&["--n", "64", "--minutes", "1"], "--minutes needs --report"),
        (&["--changeover", "0.1,0.2"], "no black hole"),
        (
            &["--draw", &start, "--plot", "p.svg", "--w0", "5"],
            "cannot be used with",
        ),
        (
            &["--report", "paper", "--stop-after", "1s"],
            "cannot be used with",
        ),
        (
            &["--black-hole", "1e5", "--satellite", "lmc:friction"],
            ":friction needs",
        ),
        (&["--input", "nowhere.txt"], "nowhere.txt"),
        (
            &["--input", &start, "--galaxy", "none", "--t-end", "2"],
            "another galaxy",
        ),
        (
            &["--input", &start, "--bits", "exact", "--t-end", "2"],
            "--bits",
        ),
        (&["--input", &start, "--t-end", "1/128"], "already"),
        (&["--input", &damaged, "--t-end", "2"], "symplectic.grid"),
        (&["--draw", &start], "--plot"),
        (&["--mass-function", "2,5,1"], "a least and a largest"),
        (&["--stars", "stars.csv"], "--galaxy"),
        (&["--back", "1Gyr"], "--galaxy"),
        (&["--growth", "0.1"], "--growth"),
        (&["--satellite", "smc"], "SHAPE:MASS:RADIUS"),
        (
            &[
                "--n",
                "8",
                "--dt",
                "10",
                "--galaxy",
                "irrgang",
                "--satellite",
                "lmc",
                "--t-end",
                "15Gyr",
            ],
            "14000 Myr",
        ),
        (&["--bar", "1,2,3"], "MASS,A,B,C"),
        (&["--potential", "nowhere.txt"], "nowhere.txt"),
        (
            &["--input", &start, "--radius", "8", "--t-end", "2"],
            "on its orbit already",
        ),
        (
            &["--input", &start, "--physical", "--t-end", "2"],
            "--physical",
        ),
    ] {
        let said = PROGRAM.fail(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

/// A step that is longer than the run, and a run of very many steps.
#[test]
fn steps_that_do_not_fit_the_run_are_told() {
    let said = PROGRAM.fail(&["--n", "16", "--eps", "1e12", "--t-end", "1"]);
    assert!(said.contains("smaller --eps or a --dt"), "{said}");
    for (dt, what) in [("3", "it is cut to that"), ("1e12", "none is taken")] {
        let output = PROGRAM.succeed(&["--n", "16", "--dt", dt, "--t-end", "1"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("longer than the run from t = 0 to 1") && said.contains(what),
            "{said}"
        );
    }
    let many = ["--n", "2", "--eps", "1e-12", "--stop-after", "1ms"];
    let output = PROGRAM.command(&many).output().unwrap();
    let [table, said] = [output.stdout, output.stderr].map(|t| String::from_utf8(t).unwrap());
    assert!(said.contains("e19 steps of "), "{said}");
    assert!(table.contains("1.000e-12"), "{table}");
}

/// Neither a lone star, of which nothing is bound, nor particles without mass have a number that is none in the table.
#[test]
fn a_lone_star_has_an_orbit() {
    let folder = Folder::new("lone");
    let light = folder.file("light.txt");
    std::fs::write(
        &light,
        "m x y z vx vy vz\n0 800 0 0 0 80 0\n0 801 0 0 0 80 0\n",
    )
    .unwrap();
    let galaxy = ["--galaxy", "irrgang", "--t-end", "1/8"];
    for start in [&["--n", "1"][..], &["--input", &light]] {
        let output = PROGRAM.succeed(&[start, &galaxy].concat());
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(!table.contains("inf") && !table.contains("NaN"), "{table}");
        assert!(table.contains(" kpc from the centre"), "{table}");
        assert!(!table.contains("tidal radius"), "{table}");
    }
}

/// Without options the step resolves the softening: the cluster's own energy is kept while it collapses and bounces.
#[test]
fn the_defaults_keep_the_cluster_s_own_energy() {
    for more in [
        &[][..],
        &["--mass-function", "2.35,0.1,10"],
        &["--eps", "0.02"],
        &["--dt", "1/256"],
    ] {
        let run = ["--n", "128", "--galaxy", "allen-santillan", "--t-end", "6"];
        let figures = PROGRAM.figures("defaults", &[&run[..], more].concat());
        let error = figures["own_energy_error"].as_f64().unwrap();
        assert!(error < 1e-4, "{more:?}: {error:e}");
        // Escapers change neither of these.
        let virial = figures["virial_ratio"].as_f64().unwrap();
        assert!((0.3..0.7).contains(&virial), "{more:?}: {virial}");
        assert!(figures["half_mass_radius"].as_f64().unwrap() < 1.5);
    }
}

/// With a softening and step like the paper's, and without the changeover, the energy of a cluster is lost. The run
/// then ends and keeps its state, unless it is told to continue.
#[test]
fn a_step_that_resolves_no_passage_is_stopped() {
    let folder = Folder::new("guard");
    let output = folder.file("run.txt");
    let run = [
        "--n", "128", "--eps", "0.001", "--dt", "1/256", "--t-end", "2",
    ];
    let galaxy = [
        "--galaxy",
        "irrgang",
        "--changeover",
        "none",
        "--output",
        &output,
    ];
    let all = [&run[..], &galaxy].concat();
    let ended = PROGRAM.command(&all).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(
        said.contains("of the cluster's T + W, above 0.1 (--energy-limit)"),
        "{said}"
    );
    assert!(Snapshot::load(output.as_ref()).unwrap().time < 2.0);
    PROGRAM.succeed(&["--input", &output, "--energy-limit", "none"]);
    assert_eq!(Snapshot::load(output.as_ref()).unwrap().time, 2.0);
}

/// Times, lengths and speeds with units, in the galaxy that gives them a meaning; and in the files.
#[test]
fn units_are_read_and_written() {
    let folder = Folder::new("units");
    let [csv, plot, table] = ["run.csv", "run.svg", "run.txt"].map(|name| folder.file(name));
    let run = [
        &MODEL[..],
        &[
            "--t-end", "2Myr", "--every", "0.5Myr", "--dt", "1/256", "--radius", "8400pc",
        ],
        &["--csv", &csv, "--plot", &plot, "--output", &table],
    ];
    let output = PROGRAM.succeed(&run.concat());
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "(2.0000 Myr)",
        "8.4000 kpc",
        "of the cluster's T + W",
        " pc)",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(text.is_ascii(), "{text}");
    let csv = folder.text("run.csv");
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for name in [
        "time_myr",
        "x_kpc",
        "vy_km_s",
        "tidal_radius_pc",
        "bound_mass_solar",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let figure = folder.text("run.svg");
    for words in [
        "time in Myr",
        "x in kpc",
        "x in pc",
        "radius in pc",
        "own",
        "Energy error",
    ] {
        assert!(figure.contains(words), "{words}");
    }
    let last = csv
        .lines()
        .last()
        .unwrap()
        .split(',')
        .nth(names.iter().position(|n| *n == "time_myr").unwrap());
    assert!(
        (last.unwrap().parse::<f64>().unwrap() - 2.0).abs() < 1e-9,
        "{last:?}"
    );
}

/// A black hole of 1e10 cluster masses: somebody leaves the range of fixed point, and the run up to there is kept.
#[test]
fn what_cannot_go_on_is_kept() {
    let folder = Folder::new("range");
    let output = folder.file("run.txt");
    let said = PROGRAM.fail(&[
        "--n",
        "32",
        "--orbit",
        "radial",
        "--radius",
        "0.001",
        "--black-hole",
        "1e10",
        "--bits",
        "exact",
        "--dt",
        "1/16",
        "--t-end",
        "1e6",
        "--output",
        &output,
    ]);
    assert!(said.contains("range of fixed point"), "{said}");
    let kept = Snapshot::load(output.as_ref()).unwrap();
    assert_eq!(kept.bodies.len(), 32);
}

/// A report of moments: whatever there is no time for is left out, the published columns are not.
#[test]
fn the_report_stands_beside_the_paper() {
    let folder = Folder::new("report");
    let [text, json, plot] = ["paper.md", "paper.json", "paper.svg"].map(|name| folder.file(name));
    let options = ["--report", "paper", "--largest", "480", "--minutes", "0.02"];
    let files = ["--output", &text, "--json", &json, "--plot", &plot];
    PROGRAM.succeed(&[options, files].concat());
    let text = folder.text("paper.md");
    for words in [
        "## Table 2",
        "## Table 8",
        "| 1536000 |      423 |       22 |",
        "5 (leapfrog double)",
        "2.83e-15",
        "5.63e-3",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let figures: serde_json::Value = serde_json::from_str(&folder.text("paper.json")).unwrap();
    let first = &figures["timings"][0];
    assert_eq!(
        (&first["n"], &first["precision"]),
        (&480.into(), &"single".into())
    );
    assert!(first["seconds_per_step"].as_f64().unwrap() > 0.0);
    assert_eq!(figures["not_finished"], serde_json::Value::Null);
}

/// A star that leaves the grid of a potential ends the run before it is kicked; the run up to there can be resumed.
#[test]
fn a_star_beyond_the_grid_spoils_no_state() {
    let folder = Folder::new("beyond-grid");
    let [table, out] = ["grid.txt", "run.txt"].map(|name| folder.file(name));
    std::fs::write(&table, kirin_testing::small_grid()).unwrap();
    let fast = [
        "--orbit",
        "given",
        "--position",
        "3,0,0",
        "--velocity",
        "300,0,0",
    ];
    let run = [
        "--n",
        "16",
        "--potential",
        &table,
        "--t-end",
        "20",
        "--output",
        &out,
    ];
    let said = PROGRAM.fail(&[&run[..], &fast].concat());
    assert!(said.contains("R = 4 kpc, |z| = 2 kpc"), "{said}");
    let state = Snapshot::load(out.as_ref()).unwrap();
    assert!(state.time > 0.0, "{}", state.time);
    let is_finite = |c: &f64| c.is_finite();
    assert!(
        state
            .bodies
            .iter()
            .all(|b| b.x.iter().all(is_finite) && b.v.iter().all(is_finite))
    );
    let said = PROGRAM.fail(&["--input", &out]);
    assert!(said.contains("leaves the grid"), "{said}");
}

/// A run that goes on has the precision that it was told.
#[test]
fn the_precision_is_kept() {
    let folder = Folder::new("precision");
    let out = folder.file("run.txt");
    let run = ["--n", "16", "--precision", "double", "--t-end", "1/16"];
    PROGRAM.succeed(&[&run[..], &["--output", &out]].concat());
    let told = |arguments: &[&str]| {
        let output = PROGRAM.succeed(&[&["--input", &out], arguments].concat());
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [found, said] = told(&["--t-end", "1/8"]);
    assert!(found.contains("double precision"), "{found}");
    assert_eq!(said, "");
    let [found, said] = told(&["--precision", "mixed", "--t-end", "1/4"]);
    assert!(found.contains("mixed precision"), "{found}");
    let change = "the run goes on in mixed precision; so far it was double";
    assert!(said.contains(change), "{said}");
    let said = PROGRAM.fail(&["--input", &out, "--reverse", "--t-end", "1"]);
    assert!(said.contains("--reverse needs another --output"), "{said}");
}

/// The bodies of a snapshot keep the softening that they had, and the program says with what they go on.
#[test]
fn a_snapshot_tells_the_softening() {
    let folder = Folder::new("softening");
    let [out, next] = ["run.txt", "next.txt"].map(|name| folder.file(name));
    let run = ["--n", "64", "--eps", "0.07", "--t-end", "1/8"];
    PROGRAM.succeed(&[&run[..], &["--snapshot-every", "1/8", "--output", &out]].concat());
    let snapshot = folder.file("run.0001.txt");
    let said = |more: &[&str]| {
        let arguments = [
            "--input", &snapshot, "--t-end", "1/4", "--output", &next, "--force",
        ];
        let output = PROGRAM.succeed(&[&arguments[..], more].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let told = said(&[]);
    assert!(
        told.contains("softening 0.07, which is the input's, and step 1/"),
        "{told}"
    );
    let told = said(&["--eps", "0.2"]);
    assert!(told.contains("softening 0.2 and step 1/"), "{told}");
    assert_eq!(said(&["--eps", "0.2", "--dt", "1/64"]), "");
    // Also if they had none.
    let text = folder.text("run.0001.txt");
    std::fs::write(
        &snapshot,
        summed(&text.replace("run.eps 0.07", "run.eps 0.0")),
    )
    .unwrap();
    let told = said(&[]);
    assert!(told.contains("softening 0, which is the input's"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_is_an_error() {
    PROGRAM.assert_needs_stdout(&["--n", "32", "--t-end", "1/64"], 1);
}
