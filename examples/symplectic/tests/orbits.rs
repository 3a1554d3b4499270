//! Clusters on orbits: bodies of other programs, the way back from today, galaxies that change with time, and what is
//! seen of the cluster and its stream from the Sun.

mod common;

use common::{PROGRAM, end_of};
use kirin_kit::diagnostics::centre_of_mass;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::models::{king, plummer};
use kirin_kit::vector::{Vec3, norm, sub};
use kirin_kit::{Body, Snapshot};
use kirin_testing::{Folder, skipped};

fn saved(folder: &Folder, name: &str, bodies: Vec<Body>, run: Vec<(String, String)>) -> String {
    let path = folder.file(name);
    let snapshot = Snapshot {
        bodies,
        run,
        ..Snapshot::default()
    };
    snapshot.save_as(path.as_ref()).unwrap();
    path
}

/// Position of the centre in kpc and its velocity in km/s.
fn centre(snapshot: &Snapshot) -> (Vec3, Vec3) {
    let units = Galaxy::of(snapshot).unwrap().units;
    let (x, v) = centre_of_mass(&snapshot.bodies);
    (x.map(|c| units.to_kpc(c)), v.map(|c| c * units.velocity()))
}

/// A moment of a run: the bodies stand where they were placed.
const MOMENT: [&str; 6] = ["--t-end", "1e-9", "--eps", "0.05", "--dt", "1/1024"];

#[test]
fn bodies_of_an_input_are_placed() {
    let folder = Folder::new("place");
    let input = saved(&folder, "king.txt", king(64, 5.0, 1), Vec::new());
    let place = |name: &str, options: &[&str]| {
        let galaxy = ["--input", &input, "--galaxy", "irrgang"];
        centre(&end_of(
            &folder,
            name,
            &[&galaxy[..], options, &MOMENT].concat(),
        ))
    };
    let (x, v) = place(
        "given",
        &["--position", "8,1,-3", "--velocity", "10,-200,30"],
    );
    assert!(norm(&sub(&x, &[8.0, 1.0, -3.0])) < 1e-3, "{x:?}");
    assert!(norm(&sub(&v, &[10.0, -200.0, 30.0])) < 1e-2, "{v:?}");
    let (x, v) = place("circle", &["--radius", "8.4"]);
    assert!(
        (x[0] - 8.4).abs() < 1e-3 && (v[1] - 242.0).abs() < 0.2,
        "{x:?} {v:?}"
    );
    let (x, v) = place("disc", &["--orbit", "prograde", "--radius", "8.4"]);
    assert!(
        (x[0] + 8.4).abs() < 1e-3 && (v[1] - 242.0).abs() < 0.2,
        "{x:?} {v:?}"
    );
    let (x, _) = place("rest", &["--orbit", "rest"]);
    assert!(norm(&x) < 1e-3, "{x:?}");
    // Without a word they would fall into the centre of the galaxy.
    let said = PROGRAM.fail(&["--input", &input, "--galaxy", "irrgang"]);
    assert!(said.contains("--orbit rest"), "{said}");
    // Bodies of a run in one galaxy go to an orbit in another.
    let model = [
        "--n",
        "64",
        "--galaxy",
        "irrgang",
        "--snapshot-every",
        "1/1024",
    ];
    end_of(
        &folder,
        "run.txt",
        &[&model[..], &["--t-end", "1/1024"]].concat(),
    );
    let bodies = folder.file("run.0001.txt");
    let other = [
        "--input",
        &bodies,
        "--galaxy",
        "mcmillan2017",
        "--radius",
        "10",
    ];
    let end = end_of(&folder, "other", &[&other[..], &MOMENT].concat());
    assert!(
        (centre(&end).0[0] - 10.0).abs() < 0.02,
        "{:?}",
        centre(&end)
    );
    assert_eq!(
        end.value("galaxy.field").unwrap().split(' ').next(),
        Some("mcmillan2017")
    );
}

#[test]
fn solar_masses_parsecs_and_km_s_are_read() {
    let folder = Folder::new("physical");
    let mut bodies = plummer(64, 3);
    // 2e4 solar masses and 5 pc: sqrt(G M / R) is 4.148 km/s.
    for body in &mut bodies {
        body.mass *= 2e4;
        body.x = body.x.map(|c| 5.0 * c);
        body.v = body.v.map(|c| 4.148 * c);
    }
    let input = saved(&folder, "users.txt", bodies, Vec::new());
    let options = [
        "--input",
        &input,
        "--physical",
        "--galaxy",
        "irrgang",
        "--radius",
        "8",
    ];
    let figures = PROGRAM.figures("physical", &[&options[..], &MOMENT].concat());
    let units = &figures["units"];
    assert!((units["solar_masses"].as_f64().unwrap() / 2e4 - 1.0).abs() < 1e-12);
    let virial = figures["virial_ratio"].as_f64().unwrap();
    assert!((virial - 0.5).abs() < 0.03, "{virial}");
}

/// The state of a run of another program is refused: monte-carlo's has shells in place of bodies, and in hermite's each body
/// has a time of its own.
#[test]
fn the_states_of_other_programs_are_refused() {
    let folder = Folder::new("foreign");
    for owner in ["monte-carlo", "hermite", "treecode"] {
        let key = format!("{owner}.settings");
        let input = saved(
            &folder,
            owner,
            plummer(8, 1),
            vec![(key, "1 2 3".to_owned())],
        );
        let said = PROGRAM.fail(&["--input", &input]);
        assert!(
            said.contains(&format!("a run of another program, {owner}")),
            "{said}"
        );
    }
}

/// Without galpy, gala and astropy the comparison with them says which is missing, and that it was skipped.
#[test]
fn a_comparison_without_the_others_is_skipped() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/galaxies.py");
    // Python alone: no packages of users or of the machine.
    let output = std::process::Command::new("python3")
        .args(["-I", "-S", script, "--program", PROGRAM.path])
        .output();
    let Ok(output) = output else {
        return skipped("there is no Python");
    };
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(77), "{told}");
    assert!(
        told.starts_with("SKIPPED: ") && told.contains("astropy"),
        "{told}"
    );
}

/// Today's place is where the run ends: a star cluster moves as a single body does, but for what its tides do.
#[test]
fn the_way_back_leads_to_today() {
    let folder = Folder::new("back");
    let today = [
        "--galaxy",
        "mwpotential2014",
        "--position",
        "8,1,6",
        "--velocity",
        "60,150,-40",
    ];
    let more = [
        "--satellite",
        "plummer:1e10:2:30,0,20:0,120,30",
        "--growth",
        "0.03",
    ];
    let run = [
        "--n",
        "16",
        "--eps",
        "1",
        "--dt",
        "1/32",
        "--scheme",
        "blanes-moan",
        "--back",
        "300Myr",
    ];
    let end = end_of(&folder, "end", &[&today[..], &more, &run].concat());
    let units = Galaxy::of(&end).unwrap().units;
    assert!((end.time * units.time() - 300.0).abs() < 1e-9);
    let (x, v) = centre(&end);
    assert!(norm(&sub(&x, &[8.0, 1.0, 6.0])) < 1e-3, "{x:?}");
    assert!(norm(&sub(&v, &[60.0, 150.0, -40.0])) < 0.05, "{v:?}");
}

/// A galaxy that changes does work on the stars. What it does is summed, so that an error of the integration is seen.
#[test]
fn energy_is_accounted_for_in_a_galaxy_that_changes() {
    let start = [
        "--n",
        "64",
        "--galaxy",
        "mwpotential2014",
        "--position",
        "-5,1,3",
        "--velocity",
        "60,150,-40",
    ];
    let bar = [
        "--bar",
        "1e10,4,1,0.5,-39,28",
        "--satellite",
        "lmc:friction",
        "--growth",
        "0.05",
    ];
    let run = [
        "--virial",
        "1",
        "--t-end",
        "16",
        "--scheme",
        "blanes-moan",
        "--dt",
        "1/128",
        "--eps",
        "0.2",
    ];
    let figures = PROGRAM.figures("work", &[&start[..], &bar, &run].concat());
    let error = figures["own_energy_error"].as_f64().unwrap();
    assert!(error < 1e-6, "{error:e}");
    // Of second order in the step: not exact by construction.
    let coarse = |dt: &str| {
        let run = ["--virial", "1", "--t-end", "4", "--dt", dt, "--eps", "0.5"];
        let more = ["--precision", "double", "--energy-warning", "1"];
        let figures = PROGRAM.figures("work", &[&start[..], &bar, &run, &more].concat());
        figures["own_energy_error"].as_f64().unwrap()
    };
    let (whole, half) = (coarse("1/256"), coarse("1/512"));
    let slope = (whole / half).log2();
    assert!((1.5..2.5).contains(&slope), "{whole:e} {half:e}");
}

#[test]
fn a_changing_galaxy_goes_on_with_the_same_bits() {
    // Drifts of Forest and Ruth's scheme do not add up to the step, to the bit.
    goes_on_with_the_same_bits(&["--satellite", "lmc"], ["1/8", "1/4"]);
    goes_on_with_the_same_bits(&["--scheme", "forest-ruth", "--dt", "1/128"], ["4", "8"]);
}

fn goes_on_with_the_same_bits(more: &[&str], [middle, end]: [&str; 2]) {
    let folder = Folder::new(&format!("changing-{end}").replace('/', "-"));
    let galaxy = [
        &[
            "--n",
            "32",
            "--galaxy",
            "irrgang",
            "--bar",
            "1e10,4,1,0.5,-39,28",
        ],
        more,
    ]
    .concat();
    let whole = end_of(&folder, "whole", &[&galaxy[..], &["--t-end", end]].concat());
    end_of(
        &folder,
        "half",
        &[&galaxy[..], &["--t-end", middle]].concat(),
    );
    let half = folder.file("half");
    let resumed = end_of(&folder, "resumed", &["--input", &half, "--t-end", end]);
    assert!(whole.bodies == resumed.bodies, "{more:?}");
    assert!(whole.value("symplectic.gain").is_some());
    assert_eq!(
        whole.value("symplectic.gain"),
        resumed.value("symplectic.gain")
    );
    let back = [
        "--output",
        &folder.file("back"),
        "--reverse",
        "--t-end",
        end,
    ];
    let said = PROGRAM.fail(&[&["--input", &half][..], &back].concat());
    assert!(said.contains("changes with time"), "{said}");
}

/// A file of potentials stays the same file.
#[test]
fn a_potential_from_a_file_is_kept() {
    let folder = Folder::new("table");
    let path = folder.file("halo.txt");
    let mut text = "r_kpc mass_solar\n".to_owned();
    for k in 0..120 {
        let r = 0.01 * (0.1 * f64::from(k)).exp();
        text.push_str(&format!("{r:?} {:?}\n", 1e10 * r));
    }
    std::fs::write(&path, text).unwrap();
    let run = [
        "--n",
        "16",
        "--eps",
        "1",
        "--potential",
        &path,
        "--radius",
        "8",
        "--t-end",
        "1",
    ];
    let end = end_of(&folder, "end", &run);
    // 1e10 solar masses a kpc: 207.39 km/s at any radius.
    let (_, v) = centre(&end);
    assert!((norm(&v) - 207.39).abs() < 0.02, "{v:?}");
    let input = folder.file("end");
    PROGRAM.succeed(&["--input", &input, "--t-end", "2"]);
    std::fs::write(&path, "r_kpc mass_solar\n1 1\n2 2\n3 3\n4 4\n").unwrap();
    let said = PROGRAM.fail(&["--input", &input, "--t-end", "3"]);
    assert!(said.contains("has changed"), "{said}");
}

#[test]
fn stars_are_seen_on_the_sky_and_along_the_stream() {
    let folder = Folder::new("stars");
    let [stars, plot] = ["stars.csv", "plot.svg"].map(|name| folder.file(name));
    let run = [
        "--n",
        "128",
        "--model",
        "king",
        "--galaxy",
        "mwpotential2014",
        "--position",
        "6.2,0.2,16.4",
        "--velocity",
        "-47.6,-119.7,-11.4",
        "--back",
        "100Myr",
        "--cluster-mass",
        "1e4",
        "--cluster-radius",
        "20",
        "--every",
        "5Myr",
    ];
    PROGRAM.succeed(&[&run[..], &["--stars", &stars, "--plot", &plot, "--spray"]].concat());
    let text = folder.text("stars.csv");
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|word| word.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), 128);
    // Labels are whole numbers.
    let is_whole = |line: &str| {
        line.split(',')
            .take(2)
            .all(|word| word.parse::<i32>().is_ok())
    };
    assert!(text.lines().skip(1).all(is_whole), "{text}");
    let mean = |name: &str| {
        let place = names.iter().position(|n| *n == name).unwrap();
        rows.iter().map(|row| row[place]).sum::<f64>() / 128.0
    };
    // The centre of the cluster as astropy sees it (kit: sky_reference.txt).
    for (name, expected, off) in [
        ("ra_deg", 226.649, 0.1),
        ("dec_deg", 1.911, 0.1),
        ("distance_kpc", 21.759, 0.05),
        ("pm_ra_cosdec_mas_yr", -2.589, 0.02),
        ("pm_dec_mas_yr", -2.430, 0.02),
        ("radial_velocity_km_s", -57.6, 1.0),
        ("phi1_deg", 0.0, 0.1),
        ("along_kpc", 0.0, 0.05),
    ] {
        assert!(
            (mean(name) - expected).abs() < off,
            "{name}: {}",
            mean(name)
        );
    }
    assert!(mean("bound") > 0.3);
    let figure = folder.text("plot.svg");
    for words in [
        "Stars along the orbit",
        "Particle spray",
        "stars per kpc",
        "x in kpc",
    ] {
        assert!(figure.contains(words), "{words}");
    }
}
