//! Regularized pairs inside clusters: they are compared with the few-body integrator, and give the same bits after a
//! checkpoint and on any number of threads.

mod common;

use common::systems::{binary, cluster, orbit, reach, settings, state_after};
use common::{BINARIES, PROGRAM, as_text, fail, grape, of_text, through_text_with};
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use hermite::sources::Library;
use kirin_kit::diagnostics::{Energy, angular_momentum};
use kirin_kit::few_body::kepler::drift;
use kirin_kit::few_body::{Alone, System};
use kirin_kit::run::{Log, Run, RunOutputs};
use kirin_kit::vector::{Vec3, norm, sub};
use kirin_kit::{Body, Snapshot};
use kirin_testing::{Folder, Program};

/// Two binaries pass each other at a few times their size; the passage turns both and shrinks one. The four stars end where
/// the few-body integrator puts them, and shorter steps bring them closer to it.
#[test]
fn two_binaries_pass_each_other() {
    let first = binary(1, [0.3, 0.2], 0.1, 0.3, ([0.0; 3], [0.0; 3]));
    let second = binary(
        3,
        [0.25, 0.25],
        0.08,
        0.1,
        ([1.0, 0.45, 0.2], [-1.5, -0.1, 0.0]),
    );
    let bodies = [first, second].concat();
    let mut system = System::new(&bodies).with_tolerance(1e-14);
    system.advance(1.5, &mut Alone).unwrap();
    let (_turn, grape) = grape();
    let energy = Energy::of(&bodies, 0.0).total();
    let momentum = angular_momentum(&bodies);
    let errors = [0.02, 0.005].map(|eta| {
        let mut run = Integrator::start(&grape, settings(eta), 0.0, bodies.clone()).unwrap();
        let end = reach(&mut run, 1.5);
        // Two pairs, one system of all four, and two pairs again.
        assert_eq!(run.regularized().formed, 5);
        let error = Energy::of(&end, 0.0).error(energy);
        assert!(error < 1e-6, "{eta}: {error:e}");
        let lost = norm(&sub(&angular_momentum(&end), &momentum)) / norm(&momentum);
        assert!(lost < 1e-6, "{eta}: {lost:e}");
        let missed =
            |i: usize, j: usize| norm(&sub(&sub(&end[j].x, &end[i].x), &system.relative(i, j).0));
        missed(0, 1) + missed(2, 3) + missed(0, 2)
    });
    let changed = system.orbit(0, 1).axis / 0.1 - 1.0;
    assert!(changed.abs() > 1e-3, "{changed}");
    assert!(errors[0] < 1e-5 && errors[1] < 1e-6, "{errors:?}");
    let order = (errors[0] / errors[1]).log2();
    assert!(order > 3.0, "{order}: {errors:?}");
}

/// A star on an orbit about a binary too wide for one system of the three: where it feels the two stars (15 semi-axes), and
/// where it feels the quadrupole of their mean orbit (80), a light star as well as a heavy one. It ends where the few-body
/// integrator puts it. An orbit about the centre of mass would end much further away.
#[test]
fn a_light_star_feels_a_binary() {
    let (_turn, grape) = grape();
    let narrow = Settings {
        regularize: 0.2,
        ..settings(0.0025)
    };
    let t = 5.0;
    for (axis, mass, wide, limit) in [
        (0.02, 1e-4, 15.0, 1e-6),
        (0.02, 0.0, 15.0, 1e-6),
        (0.004, 1e-4, 80.0, 2e-6),
        (0.004, 0.1, 80.0, 1e-5),
    ] {
        let outer = binary(2, [1.0, mass], wide * axis, 0.3, ([0.0; 3], [0.0; 3]));
        let inner = (outer[0].x, outer[0].v);
        let mut bodies = binary(1, [0.6, 0.4], axis, 0.2, inner).to_vec();
        // Out of the plane of the binary.
        let [x, y, z] = outer[1].v;
        bodies.push(Body {
            v: [x, -y, z],
            ..outer[1]
        });
        let mut system = System::new(&bodies).with_tolerance(1e-14);
        system.advance(t, &mut Alone).unwrap();
        let mut run = Integrator::start(&grape, narrow, 0.0, bodies.clone()).unwrap();
        let end = reach(&mut run, t);
        assert_eq!(run.regularized().formed, 1);
        let from_centre = |[a, b, star]: [Vec3; 3]| -> Vec3 {
            std::array::from_fn(|k| star[k] - 0.6 * a[k] - 0.4 * b[k])
        };
        let expected = from_centre([[0.0; 3], system.relative(0, 1).0, system.relative(0, 2).0]);
        let found = from_centre([end[0].x, end[1].x, end[2].x]);
        let missed = norm(&sub(&found, &expected));
        assert!(missed < limit, "{wide} {mass}: {missed:e}");

        let (x, v) = (sub(&bodies[2].x, &inner.0), sub(&bodies[2].v, &inner.1));
        let by_centre = drift(&x, &v, 1.0 + mass, t).0;
        let missed = norm(&sub(&by_centre, &expected));
        assert!(missed > 8.0 * limit, "{wide} {mass}: {missed:e}");
    }
}

/// A hard binary keeps its semi-major axis to 1e-9 over 23 million orbits; a wide one keeps it to 1e-4 over 700. The
/// energy of all stars without that within the binary is conserved. Each run takes fewer than 20000 blocks.
#[test]
fn a_hard_binary_keeps_its_axis_in_a_cluster() {
    let (_turn, grape) = grape();
    for (axis, kept) in [(1e-6, 1e-9), (1e-3, 1e-4)] {
        let bodies = cluster(axis, 0.5);
        let energy = Energy::of(&bodies, 0.0);
        let mut run = Integrator::start(&grape, settings(0.01), 0.0, bodies).unwrap();
        assert_eq!(run.regularized().at.len(), 1);
        let end = reach(&mut run, 1.0);
        let changed = orbit(&end[0], &end[1]).axis / axis - 1.0;
        assert!(changed.abs() < kept, "{axis:e}: {changed:e}");
        let inner = orbit(&end[0], &end[1]);
        let mass = inner.mass;
        let own = 0.24 * mass * mass * (0.5 / axis - 0.5 / inner.axis);
        let error = Energy::of(&end, 0.0).total() - energy.total() - own;
        // The energy of all is the difference of large numbers where the binary is hard.
        assert!(error.abs() < 1e-6 + 1e-13 / axis, "{axis:e}: {error:e}");
        assert!(run.counts().block_steps < 20_000, "{:?}", run.counts());
    }
}

/// A star that comes into a binary takes the place of a lighter one, and the energy is kept.
#[test]
fn a_heavy_star_takes_a_place_in_a_binary() {
    let mut bodies = binary(1, [0.3, 0.1], 0.1, 0.0, ([0.0; 3], [0.0; 3])).to_vec();
    bodies.push(Body {
        index: 3,
        mass: 0.6,
        x: [0.9, 0.05, 0.1],
        v: [-0.6, 0.0, 0.0],
    });
    let energy = Energy::of(&bodies, 0.0).total();
    let (_turn, grape) = grape();
    let mut run = Integrator::start(&grape, settings(0.0025), 0.0, bodies).unwrap();
    let end = reach(&mut run, 12.0);
    let seen = &run.regularized().seen;
    let labels: Vec<&[i32]> = seen.iter().map(|system| system.labels()).collect();
    assert!(labels.iter().any(|l| l.contains(&3)), "{labels:?}");
    assert!(run.regularized().formed > 1);
    let error = Energy::of(&end, 0.0).error(energy);
    assert!(error < 1e-5, "{error:e}");
}

/// Binaries, hard and soft, of which some are formed and dissolved during the run.
fn busy() -> Vec<Body> {
    let mut bodies = cluster(0.02, 0.3);
    // The last one is a pair only while its stars are near each other.
    let hard = [(1e-4, 0.6), (3e-3, 0.5), (4e-3, 0.3), (7e-3, 0.2)];
    let all = hard.into_iter().chain([(0.01, 0.6), (0.05, 0.9)]);
    for (k, (axis, e)) in all.enumerate() {
        let star = bodies.remove(2 + k);
        let halves = [0.5 * star.mass; 2];
        let both = binary(200 + 2 * k as i32, halves, axis, e, (star.x, star.v));
        bodies.extend(both);
    }
    bodies
}

#[test]
fn a_run_with_pairs_goes_on_with_the_same_bits() {
    let (_turn, grape) = grape();
    let (whole, formed) = state_after(&grape, busy(), &[]);
    let (parts, formed_in_parts) = state_after(&grape, busy(), &[1, 150, 300, 400]);
    assert!(formed > 4, "{formed}");
    assert_eq!(formed, formed_in_parts);
    assert_eq!(whole.time, parts.time);
    assert_eq!(whole.value("hermite.counts"), parts.value("hermite.counts"));
    assert!(whole.bodies == parts.bodies && whole.states == parts.states);
    let pairs =
        |s: &Snapshot| -> Vec<String> { s.values("hermite.pair").map(str::to_owned).collect() };
    // One of them is in a linear tide, which has 18 numbers.
    let is_linear = |line: &String| line.split(' ').count() == 2 + 18 + 1 + 18;
    assert!(pairs(&whole).iter().any(is_linear), "{:?}", pairs(&whole));
    assert_eq!(pairs(&whole), pairs(&parts));
}

/// A run without systems goes on with them from any block on, and keeps the energy of then.
#[test]
fn a_run_without_systems_goes_on_with_them() {
    let (_turn, grape) = grape();
    let usual = Settings {
        regularize: 0.0,
        eta: 0.05,
        ..settings(0.01)
    };
    let start = Integrator::start(&grape, usual, 0.0, busy()).unwrap();
    let mut run = Run::new(start, Log::default()).unwrap();
    let records = RunOutputs {
        records: Some(1.0 / 64.0),
        ..RunOutputs::default()
    };
    run.evolve(0.06, &records, &|| false, &|_| ()).unwrap();
    for _ in 0..3 {
        run.integration.step().unwrap();
    }
    let (t, count) = (run.integration.time(), run.records.len());
    assert!((64.0 * t).fract() != 0.0, "{t}");
    let energy = |run: &mut Run<Integrator<Library<'_>>>, t: f64| {
        let bodies = run.integration.synchronised(t).unwrap();
        let lost = run.integration.regularized().lost_digits(&bodies);
        Energy::of(&bodies, 0.0).total() + lost
    };
    let (start, before) = (run.start, energy(&mut run, t));
    let steps = run.integration.counts().steps;
    let mut run = through_text_with(&grape, run, |saved| Settings {
        regularize: 2.0,
        eta: 0.01,
        ..saved
    });
    assert_eq!(run.integration.time(), t);
    assert!(run.integration.regularized().at.len() >= 3);
    assert_eq!(run.integration.counts().steps, steps);
    // The scale of errors is the cluster's energy without that of its binaries.
    assert_eq!(run.start.energy, start.energy);
    assert!(
        (run.start.own - 0.25).abs() < 0.1 && start.own > 0.5,
        "{start:?} {:?}",
        run.start
    );
    assert!((energy(&mut run, t) / before - 1.0).abs() < 1e-12);
    run.evolve(0.25, &records, &|| false, &|_| ()).unwrap();
    let after = energy(&mut run, 0.25);
    assert!((after - before).abs() < 1e-6, "{before} {after}");
    // The table goes on; the records before have nothing in the columns of systems.
    assert!(run.records.len() > count);
    let pairs = run.records.iter().map(|r| r.own[r.own.len() - 3]);
    let pairs: Vec<f64> = pairs.collect();
    assert!(pairs[..count].iter().all(|x| x.is_nan()) && pairs[count..].iter().all(|x| *x >= 3.0));
    assert!(run.records[count - 1].own[0].is_finite());
    // What goes on once more has the same bits.
    let text = as_text(&run);
    run.evolve(0.3, &records, &|| false, &|_| ()).unwrap();
    assert!(run.integration.regularized().formed > 0);
    let end_of = |run: Run<Integrator<Library<'_>>>| {
        let end = run.save().unwrap();
        let is_of_system = |(key, _): &(String, String)| {
            ["hermite.pair", "hermite.multiple"].contains(&key.as_str())
        };
        let systems: Vec<_> = end.run.into_iter().filter(is_of_system).collect();
        assert!(!systems.is_empty());
        (end.bodies, end.states, systems)
    };
    let end = end_of(run);
    let mut again = of_text(&grape, &text, |settings| settings);
    again.evolve(0.3, &records, &|| false, &|_| ()).unwrap();
    assert!(end == end_of(again));
}

/// A softened run goes on without softening and with systems; energy errors are those since then.
#[test]
fn a_softened_run_goes_on_with_systems() {
    let folder = Folder::new("softened");
    let [out, csv] = ["run.txt", "run.csv"].map(|f| folder.file(f));
    let softened = ["--t-end", "1/64", "--output", &out, "--csv", &csv];
    common::succeed(&[&BINARIES[..4], &softened, &["--every", "1/128"]].concat());
    let goes_on = ["--input", &out, "--regularize", "--t-end", "1/32"];
    let said = fail(&goes_on);
    assert!(said.contains("--eps 0"), "{said}");
    common::succeed(&[&goes_on[..], &["--eps", "0"]].concat());
    let said = fail(&["--input", &out, "--regularize", "3", "--t-end", "1/16"]);
    assert!(said.contains("--regularize"), "{said}");
    common::succeed(&["--input", &out, "--t-end", "3/64"]);
    let table = folder.text("run.csv");
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    let place = |name: &str| lines[0].iter().position(|n| *n == name).unwrap();
    assert_eq!(lines.len(), 1 + 7, "{table}");
    let number = |line: usize, name: &str| lines[line][place(name)].parse::<f64>();
    assert!(number(3, "pairs").is_err() && number(4, "pairs").unwrap() >= 5.0);
    assert!(number(7, "own_energy_error").unwrap() < 1e-6, "{table}");
}

/// Binaries turn within a few steps of their centres, whose forces turn with them, and tides make steps short. The library does not
/// take this for noise of its forces.
#[test]
fn binaries_are_not_taken_for_noise() {
    let mixed = Program {
        environment: &[("KIRIN_BACKEND", "cpu"), ("KIRIN_PRECISION", "mixed")],
        ..PROGRAM
    };
    let mut arguments = BINARIES.to_vec();
    arguments[1] = "2500";
    arguments.extend(["--t-end", "1/8"]);
    let output = mixed.succeed(&arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn threads_change_no_bit_of_a_run_with_pairs() {
    let folder = Folder::new("threads");
    let run = [
        "--n",
        "96",
        "--binary-fraction",
        "0.5",
        "--eps",
        "0",
        "--regularize",
        "--t-end",
        "1/16",
    ];
    let ends = ["1", "2", "5"].map(|threads| {
        let out = folder.file(&format!("{threads}.txt"));
        let mut command = PROGRAM.command(&[&run[..], &["--output", &out]].concat());
        command
            .env("KIRIN_BACKEND", "cpu")
            .env("KIRIN_THREADS", threads);
        assert!(command.output().unwrap().status.success());
        let end = Snapshot::load(out.as_ref()).unwrap();
        assert!(end.values("hermite.pair").count() > 20);
        let pairs: Vec<String> = end.values("hermite.pair").map(str::to_owned).collect();
        (end.bodies, end.states, pairs)
    });
    assert!(ends[0] == ends[1] && ends[1] == ends[2]);
}

/// The table of a run has the number of pairs and their energy; snapshots of bodies have their orbits.
#[test]
fn pairs_are_in_tables_and_snapshots() {
    let folder = Folder::new("tables");
    let [csv, out] = ["run.csv", "run.txt"].map(|f| folder.file(f));
    let files = ["--csv", &csv, "--output", &out, "--snapshot-every", "1/64"];
    let end = ["--t-end", "1/64", "--every", "1/64"];
    let output = common::succeed(&[&BINARIES[..], &files, &end].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("regularized pairs") && text.contains("blocks of systems alone ("),
        "{text}"
    );
    let table = folder.text("run.csv");
    let mut lines = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let place = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let snapshot = Snapshot::load(folder.file("run.0001.txt").as_ref()).unwrap();
    let of = |label: i32| snapshot.bodies.iter().find(|b| b.index == label).unwrap();
    let mut energy = 0.0;
    let mut count = 0;
    for value in snapshot.values("hermite.binary") {
        let words: Vec<f64> = value.split(' ').map(|w| w.parse().unwrap()).collect();
        let (a, b) = (of(words[0] as i32), of(words[1] as i32));
        assert!((orbit(a, b).axis / words[2] - 1.0).abs() < 1e-6, "{value}");
        assert!((words[4] + 0.5 * a.mass * b.mass / words[2]).abs() < 1e-9 * words[4].abs());
        energy += words[4];
        count += 1;
    }
    for value in snapshot.values("hermite.orbit") {
        let last = value.rsplit(' ').next().unwrap();
        energy += last.parse::<f64>().unwrap();
    }
    assert!(count >= 14, "{count}");
    let last = lines.next_back().unwrap();
    let number = |name: &str| last[place(name)].parse::<f64>().unwrap();
    // The binaries of the snapshot may be parts of larger systems, of eight stars at most.
    assert!(number("pairs") + 4.0 * number("multiples") >= f64::from(count));
    assert!((number("pair_energy") / energy - 1.0).abs() < 1e-3);
    assert!(number("energy_error") < 1e-6);
    // That of stars and centres: the orbits within the binaries hold many times the cluster's energy.
    assert!((number("virial_ratio") - 0.5).abs() < 0.03, "{last:?}");
    assert!(number("pair_energy").abs() > 1.0);
    // Binaries of these widths are regularized from the start on.
    let first = table
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .nth(place("pairs"))
        .unwrap();
    assert!(first.parse::<f64>().unwrap() > 14.0, "{first}");
}

#[test]
fn what_cannot_be_regularized_is_refused() {
    let folder = Folder::new("refused");
    let [out, bad] = ["run.txt", "bad.txt"].map(|f| folder.file(f));
    for (wrong, words) in [
        (&["--regularize"][..], "--eps 0"),
        (&["--regularize", "--eps", "0.1"], "--eps 0"),
        (&["--regularize", "-1", "--eps", "0"], "from 0 on"),
        (
            &["--regularize", "--shared-step", "1/64", "--eps", "0"],
            "cannot be used",
        ),
    ] {
        let said = fail(&[&["--n", "8", "--t-end", "1/64"], wrong].concat());
        assert!(said.contains(words), "{wrong:?}: {said}");
    }
    common::succeed(&[&BINARIES[..], &["--t-end", "1/64", "--output", &out]].concat());
    let said = fail(&["--input", &out, "--t-end", "1/32", "--regularize", "3"]);
    assert!(said.contains("--regularize"), "{said}");
    let good = Snapshot::load(out.as_ref()).unwrap();
    let line = good.value("hermite.pair").unwrap().to_owned();
    let (labels, rest) = line.split_at(line.match_indices(' ').nth(1).unwrap().0);
    for wrong in [
        format!("900 901{rest}"),
        format!("{labels}{}", rest.replacen(' ', " nan ", 1)),
        labels.to_owned(),
        format!("{line} 1"),
    ] {
        let mut snapshot = good.clone();
        for (key, value) in &mut snapshot.run {
            if key == "hermite.pair" && *value == line {
                value.clone_from(&wrong);
            }
        }
        snapshot.save(bad.as_ref()).unwrap();
        let said = fail(&["--input", &bad, "--t-end", "1/32"]);
        assert!(
            said.contains("hermite.pair") || said.contains("of a system"),
            "{wrong}: {said}"
        );
    }
}

/// In other units of mass and length the same stars become systems: the distances within which they do follow the units.
#[test]
fn other_units_have_the_same_systems() {
    let (_turn, grape) = grape();
    // Powers of two, so that no digit is rounded otherwise: 1024 units of mass, a quarter of the length.
    let (mass, length, velocity, time) = (1024.0, 0.25, 64.0, 1.0 / 256.0);
    let bodies = cluster(1e-3, 0.5);
    let other = |body: &Body| Body {
        mass: mass * body.mass,
        x: body.x.map(|c| length * c),
        v: body.v.map(|c| velocity * c),
        ..*body
    };
    let others: Vec<Body> = bodies.iter().map(other).collect();
    let run = |bodies: &[Body], unit: f64| {
        let own = settings(0.01);
        let own = Settings {
            dt_max: own.dt_max * unit,
            ..own
        };
        let mut run = Integrator::start(&grape, own, 0.0, bodies.to_vec()).unwrap();
        let end = reach(&mut run, unit);
        (end, run.counts().steps, run.regularized().formed)
    };
    let ((end, steps, formed), found) = (run(&bodies, 1.0), run(&others, time));
    assert!(formed > 0);
    assert_eq!((steps, formed), (found.1, found.2));
    for (body, found) in end.iter().zip(&found.0) {
        assert_eq!(body.x.map(|c| length * c), found.x);
    }
}
