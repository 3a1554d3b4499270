//! The numbered lessons under `examples/`: each is run as its reader would.

use ffi_tests::compiler::{Link, compile_source, succeed};
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
