//! CMC's own input, through the converter: a file with the layout that COSMIC writes, made by h5py.

mod common;

use std::process::{Command, Output};

use common::PROGRAM;
use kirin_kit::Snapshot;
use kirin_kit::vector::{dot, norm};
use kirin_testing::{Folder, skipped};

/// A file at argv[1] with 200 stars and argv[2] as mass of the black hole; star k is at the radius k/100.
const MAKE: &str = "
import sys, h5py
names = ['id', 'k', 'm', 'Reff', 'r', 'vr', 'vt', 'binind']
star = lambda k: [k, 0, 0.005, 0, k / 100, 0.001 * k - 0.1, 0.5, 0]
rows = [[0, 0, float(sys.argv[2]), 0, 2.2250738585072014e-308, 0, 0, 0]]
rows += [star(k) for k in range(1, 201)] + [[0, 0, 0, 0, 1e40, 0, 0, 0]]
with h5py.File(sys.argv[1], 'w') as file:
    table = file.create_group('CLUS_OBJ_DATA')
    table['block0_items'] = [name.encode() for name in names]
    table['block0_values'] = rows
";

fn python(arguments: &[&str]) -> Option<Output> {
    let output = Command::new("python3").args(arguments).output();
    output.ok()
}

#[test]
fn cmc_s_input_is_an_input() {
    if !python(&["-c", "import h5py"]).is_some_and(|output| output.status.success()) {
        return skipped("there is no Python with h5py");
    }
    let folder = Folder::new("cmc-input");
    let [hdf5, hole, out] = ["king.hdf5", "hole.hdf5", "king.txt"].map(|f| folder.file(f));
    let converter = concat!(env!("CARGO_MANIFEST_DIR"), "/cmc_input.py");
    let run = |arguments: &[&str]| python(arguments).expect("there is Python");
    for (path, mass) in [(&hdf5, "0"), (&hole, "0.1")] {
        assert!(run(&["-c", MAKE, path, mass]).status.success());
    }
    assert!(run(&[converter, &hdf5, &out]).status.success());
    let snapshot = Snapshot::parse(folder.text("king.txt").as_bytes()).unwrap();
    assert_eq!(snapshot.bodies.len(), 200);
    for (k, body) in (1..).zip(&snapshot.bodies) {
        let r = norm(&body.x);
        let vr = dot(&body.x, &body.v) / r;
        let vt = (dot(&body.v, &body.v) - vr * vr).sqrt();
        let expected = [f64::from(k) / 100.0, 0.001 * f64::from(k) - 0.1, 0.5];
        for (found, expected) in [r, vr, vt].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{k}: {found} {expected}");
        }
        assert_eq!(body.mass, 0.005);
    }
    PROGRAM.succeed(&["--input", &out, "--steps", "2"]);
    for (path, why) in [(&hole, "black hole"), (&out, "open file")] {
        let refused = run(&[converter, path, &folder.file("none")]);
        let told = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && told.contains(why), "{told}");
    }
}
