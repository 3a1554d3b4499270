//! The program under an MPI launcher: the bits of one rank, and one message for an error of all ranks.
//!
//! The program is built with its feature `mpi`, in a folder of its own. Where MPI or libclang is missing, nothing is
//! tested.

mod common;

use std::path::PathBuf;

use common::PROGRAM;
use kirin_kit::Snapshot;
use kirin_testing::Folder;
use kirin_testing::mpi::{build, mpirun};

/// The program with MPI, or nothing where it cannot be had.
fn program() -> Option<PathBuf> {
    build("treecode", PROGRAM.path, &[]).map(|folder| folder.join("treecode"))
}

#[test]
fn any_number_of_processes_has_the_bits_of_one() {
    let Some(program) = program() else { return };
    let folder = Folder::new("tree-mpi");
    let [one, half, end] = ["one", "half", "end"].map(|name| folder.file(name));
    let model = "--model collision --n 700 --n-crit 32 --quadrupoles";
    let model: Vec<_> = model.split(' ').collect();
    PROGRAM.succeed(&[&model[..], &["--t-end", "0.25", "--output", &one]].concat());
    let whole = Snapshot::parse(folder.text("one").as_bytes()).unwrap();
    let run = |ranks: usize, more: &[&str]| {
        let output = mpirun(ranks, &program, more).output().expect("mpirun");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, said)
    };
    for ranks in [2, 3] {
        let first = [&model[..], &["--t-end", "0.125", "--output", &half]].concat();
        let (output, said) = run(ranks, &first);
        assert!(output.status.success(), "{said}");
        let text = String::from_utf8_lossy(&output.stdout);
        let names_ranks = |line: &str| line.trim_start().starts_with("ranks  ");
        assert_eq!(text.lines().filter(|l| names_ranks(l)).count(), 1, "{text}");
        let rest = ["--input", &half, "--t-end", "0.25", "--output", &end];
        let (output, said) = run(5 - ranks, &rest);
        assert!(output.status.success(), "{said}");
        let again = Snapshot::parse(folder.text("end").as_bytes()).unwrap();
        assert!(again.bodies == whole.bodies, "{ranks} ranks");
        for name in ["half", "end"] {
            std::fs::remove_file(folder.file(name)).unwrap();
        }
    }
    let (output, said) = run(2, &["--n", "100", "--theta", "2"]);
    assert!(!output.status.success());
    assert_eq!(said.matches("opening angle").count(), 1, "{said}");
}
