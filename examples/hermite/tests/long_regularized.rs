//! Clusters without softening to t = 60, and one in which half of the stars are binaries: minutes.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;

/// Greatest `own_energy_error` in a run with these further arguments: the change of the energy, relative to the
/// cluster's energy without that within systems. The run writes to the folder `name`.
fn greatest_error(name: &str, arguments: &[&str]) -> f64 {
    let folder = Folder::new(name);
    let csv = folder.file("run.csv");
    let all = ["--eps", "0", "--regularize", "--csv", &csv];
    let mut command = PROGRAM.command(&[&all[..], arguments].concat());
    command.env("KIRIN_BACKEND", "cpu");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let table = folder.text("run.csv");
    let mut lines = table.lines().map(|line| line.split(','));
    let mut names = lines.next().unwrap();
    let place = names.position(|name| name == "own_energy_error").unwrap();
    let errors = lines.map(|mut line| line.nth(place).unwrap().parse::<f64>().unwrap());
    // NaN is the greatest.
    errors.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap()
}

#[test]
fn kroupas_clusters_keep_their_energy() {
    for seed in ["1", "2", "3"] {
        let cluster = ["--n", "200", "--seed", seed, "--mass-function", "kroupa"];
        let error = greatest_error(
            "kroupa",
            &[&cluster[..], &["--t-end", "60", "--every", "1"]].concat(),
        );
        assert!(error < 1e-5, "{seed}: {error:e}");
    }
}

/// The energy within the binaries is 16 times that of the cluster.
#[test]
fn a_cluster_of_binaries_keeps_its_energy() {
    let binaries = ["--n", "1024", "--binary-fraction", "0.5"];
    let error = greatest_error(
        "binaries",
        &[&binaries[..], &["--t-end", "4", "--every", "1/16"]].concat(),
    );
    assert!(error < 1e-6, "{error:e}");
}
