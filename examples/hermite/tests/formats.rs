//! Runs with HDF5 files, or from a table, have the same bits as runs with text files.

mod common;

use std::path::Path;

use common::{fail, succeed};
use kirin_kit::Snapshot;
use kirin_kit::galaxy::Galaxy;
use kirin_testing::Folder;

/// What a run has computed: everything but the wall times and the names of files.
fn computed(path: &str) -> Snapshot {
    let mut snapshot = Snapshot::load(path.as_ref()).unwrap_or_else(|e| panic!("{path}: {e}"));
    let is_computed = |key: &str| !["run.seconds", "run.wall", "run.told"].contains(&key);
    snapshot.run.retain(|(key, _)| is_computed(key));
    snapshot
}

#[test]
fn the_format_changes_no_bit_of_a_run() {
    let folder = Folder::new("hermite-formats");
    let model = [
        "--n",
        "64",
        "--units",
        "1e4,3",
        "--snapshot-every",
        "1/8",
        "--every",
        "1/8",
    ];
    for name in ["run.txt", "run.hdf5", "run.amuse"] {
        let output = folder.file(name);
        succeed(&[&model[..], &["--t-end", "1/4", "--output", &output]].concat());
        succeed(&["--input", &output, "--t-end", "1/2"]);
        let stem = name.replace("run.", "run.0003.");
        for (file, text) in [(name, "run.txt"), (&*stem, "run.0003.txt")] {
            let [found, expected] = [file, text].map(|name| computed(&folder.file(name)));
            assert_eq!(found, expected, "{file}");
        }
    }
    // A file of another run is kept, whatever its format.
    for name in ["run.hdf5", "run.amuse"] {
        let output = folder.file(name);
        let refusal = fail(&["--n", "32", "--output", &output]);
        assert!(
            refusal.contains("it holds another run") && refusal.contains("--force"),
            "{refusal}"
        );
    }
    // Bodies in the layout of another program go on with what they tell of their units.
    let [input, output] = ["run.0002.hdf5", "again.txt"].map(|name| folder.file(name));
    succeed(&["--input", &input, "--t-end", "3/8", "--output", &output]);
    let again = computed(&output);
    let units = Galaxy::of(&again).unwrap().known_units().unwrap();
    assert_eq!((units.mass, units.length, again.time), (1e4, 3.0, 0.375));
}

/// A circle of two stars of 500 solar masses, 1 pc apart: G is 4.30091e-3 pc (km/s)^2 per solar mass, and a parsec at 1 km/s takes 0.977792 Myr.
/// After half a period they have changed places.
#[test]
fn a_table_may_be_in_solar_masses_parsecs_and_km_s() {
    let folder = Folder::new("hermite-physical");
    let [table, output] = ["pair.csv", "run.txt"].map(|name| folder.file(name));
    let speed = (4.300_917e-3_f64 * 1000.0).sqrt();
    let half = 0.5 * speed;
    let text = format!("m,x,y,z,vx,vy,vz\n500,-0.5,0,0,0,-{half},0\n500,0.5,0,0,0,{half},0\n");
    std::fs::write(&table, text).unwrap();
    let end = format!("{}Myr", std::f64::consts::PI / speed * 0.977_792_2);
    let given = ["--input", &table, "--output", &output, "--physical"];
    for more in [&[][..], &["--units", "100Msun,2pc"]] {
        let run = [
            "--eps", "0", "--dt-max", "1/4096", "--t-end", &end, "--force",
        ];
        succeed(&[&given[..], &run, more].concat());
        let run = computed(&output);
        let units = Galaxy::of(&run).unwrap().known_units().unwrap();
        let expected = if more.is_empty() { 1000.0 } else { 100.0 };
        assert_eq!(units.mass, expected);
        let x = run.bodies[0].x.map(|c| c * units.length);
        assert!((x[0] - 0.5).abs() < 1e-5 && x[1].abs() < 1e-2, "{x:?}");
    }
    let refusal = fail(&["--input", &output, "--physical", "--t-end", "9"]);
    assert!(refusal.contains("the input is a run"), "{refusal}");
}

#[test]
fn a_table_is_a_model() {
    let folder = Folder::new("hermite-table");
    let [table, output] = ["pair.csv", "run.txt"].map(|name| folder.file(name));
    let text = "id,m,x,y,z,vx,vy,vz\n7,0.5,-0.5,0,0,0,-0.5,0\n9,0.5,0.5,0,0,0,0.5,0\n";
    std::fs::write(&table, text).unwrap();
    // Half the period of a circle with the distance 1 and the masses 1/2: they change places.
    let options = ["--eps", "0", "--dt-max", "1/64", "--t-end", "3.1416015625"];
    succeed(&[&["--input", &table, "--output", &output], &options[..]].concat());
    let bodies = computed(&output).bodies;
    // Excel begins a file with a byte-order mark.
    std::fs::write(&table, format!("\u{feff}{text}")).unwrap();
    assert_eq!(Snapshot::load(table.as_ref()).unwrap().bodies[1].index, 9);
    assert_eq!([bodies[0].index, bodies[1].index], [7, 9]);
    assert!((bodies[0].x[0] - 0.5).abs() < 1e-3, "{bodies:?}");
    std::fs::write(&table, text.replace("0.5,0,0,0,0.5,0", "0.5,0,0,0,0.5")).unwrap();
    let refusal = fail(&["--input", &table]);
    assert!(refusal.contains("pair.csv: line 3: 7 numbers"), "{refusal}");
    assert!(!Path::new(&folder.file("pair.csv.lock")).exists());
}
