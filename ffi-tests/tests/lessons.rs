//! The numbered lessons under `examples/`: each is run as its reader would.

use ffi_tests::compiler::{Link, clean_command, compile_source, run, succeed, texts};
use ffi_tests::generate::repository;
use ffi_tests::library;

/// Runs a Rust lesson; returns what it prints.
fn lesson(name: &str) -> String {
    let out = succeed(&library::example(name), &[], &[]);
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

#[test]
fn the_lesson_on_refusals_shows_them() {
    let source = repository().join("examples/fortran/02_refusals.f90");
    let Some(program) = compile_source(&source, Link::Shared) else {
        return;
    };
    let output = run(&mut clean_command(&program, &[]));
    let (out, err) = texts(&output);
    let expected = "a star at address 0:   0\na star at address -1: -1\nforces of -1 stars:   -1\n\
                    forces of 1 star:      0, acceleration 0.25\n";
    assert_eq!(out, expected, "{err}");
    assert_eq!(err.lines().count(), 3, "{err}");
}
