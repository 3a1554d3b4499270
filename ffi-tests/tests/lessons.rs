//! The numbered lessons under `examples/`: each is built and run as its reader would.

use std::process::Command;

use ffi_tests::compiler::{Link, clean_command, compile_source, succeed, texts};
use ffi_tests::generate::repository;

/// Builds and runs a Rust lesson; returns what it prints.
fn lesson(name: &str) -> String {
    let mut command = clean_command(env!("CARGO"), &[]);
    command.current_dir(repository());
    command.args(["run", "--quiet", "--package", "kirin", "--example", name]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = Command::output(&mut command).expect("cargo runs this test, so it can run");
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{name}: {err}");
    assert!(!out.is_empty(), "{name} prints nothing");
    out
}

#[test]
fn the_first_lesson_prints_the_same_digits_in_every_language() {
    let expected = lesson("01_two_bodies");
    for path in ["c/01_two_bodies.c", "fortran/01_two_bodies.f90"] {
        let source = repository().join("examples").join(path);
        if let Some(program) = compile_source(&source, Link::Shared) {
            assert_eq!(succeed(&program, &[], &[]), expected, "{path}");
        }
    }
}

#[test]
fn the_other_lessons_run() {
    for name in ["02_cluster", "03_neighbours", "04_two_clusters"] {
        println!("{}", lesson(name));
    }
}
