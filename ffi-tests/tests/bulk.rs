//! The bulk interface in C and Fortran: its results have the bits of the g6 calls. Sources with softening lengths of
//! their own, refusals and forks are tested, too.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, clean_command, compile, compile_source, run, succeed, texts};
use ffi_tests::library;
use kirin_core::cpu;

fn arguments(what: &str) -> [&OsStr; 1] {
    [OsStr::new(what)]
}

#[test]
fn the_bits_are_those_of_the_g6_calls() {
    let Some(client) = compile("bulk.c", Link::Shared) else {
        return;
    };
    for set in cpu::available() {
        let set = set.to_string();
        for threads in ["1", "3"] {
            let settings = [("KIRIN_SIMD", &*set), ("KIRIN_THREADS", threads)];
            let found = succeed(&client, &arguments("bits"), &settings);
            assert_eq!(found, "", "{set}, {threads} threads");
        }
    }
    let settings = [("KIRIN_BACKEND", "reference")];
    assert_eq!(succeed(&client, &arguments("bits"), &settings), "");
}

#[test]
fn own_softening_lengths_give_the_plain_sum() {
    let Some(client) = compile("bulk.c", Link::Shared) else {
        return;
    };
    for set in cpu::available() {
        let settings = [("KIRIN_SIMD", &*set.to_string())];
        assert_eq!(succeed(&client, &arguments("soft"), &settings), "", "{set}");
    }
    let settings = [("KIRIN_BACKEND", "reference")];
    assert_eq!(succeed(&client, &arguments("soft"), &settings), "");
}

/// The refusals are those of docs/bulk.md, and none of them writes to stderr.
#[test]
fn refusals_have_a_code_and_words_and_lose_nothing() {
    let Some(client) = compile("bulkrefused.c", Link::Shared) else {
        return;
    };
    let (found, err) = texts(&run(clean_command(&client, &[]).args(arguments("errors"))));
    assert_eq!(err, "");
    assert!(!found.contains("wrong"), "{found}");
    let page = include_str!("../../docs/bulk.md");
    let count = found
        .lines()
        .map(|line| {
            let parts: Vec<&str> = line.splitn(3, " | ").collect();
            let row = format!("| {} | {} | `{}` |", parts[0], parts[1], parts[2]);
            assert!(page.contains(&row), "docs/bulk.md has no row\n{row}");
        })
        .count();
    assert!(count > 25, "{found}");
}

#[test]
fn a_child_is_refused_its_parents_handle() {
    let Some(client) = compile("bulkrefused.c", Link::Shared) else {
        return;
    };
    for threads in ["1", "2"] {
        let found = succeed(&client, &arguments("fork"), &[("KIRIN_THREADS", threads)]);
        let refusals = found.lines().filter(|line| line.contains("| -7 |"));
        assert_eq!(refusals.count(), 2, "{found}");
        assert!(!found.contains("wrong"), "{found}");
    }
}

#[test]
fn fortran_has_the_same_numbers() {
    let Some(client) = compile("bulk.f90", Link::Shared) else {
        return;
    };
    for precision in ["mixed", "double"] {
        let found = succeed(&client, &[], &[("KIRIN_PRECISION", precision)]);
        assert_eq!(found.trim(), "right", "{precision}");
    }
}

/// The programs of docs/bulk.md and docs/tree.md, with two stars at a distance of 2.
#[test]
fn the_examples_of_the_pages_compute() {
    for (name, page) in [
        ("bulk-page.c", include_str!("../../docs/bulk.md")),
        ("tree-page.c", include_str!("../../docs/tree.md")),
    ] {
        let example = page
            .split("```c\n")
            .nth(1)
            .and_then(|after| after.split("```").next());
        let (head, body) = example
            .and_then(|e| e.split_once("\n\n"))
            .expect("an example in C");
        let source = library::workspace().join(name);
        let program = format!(
            "#include <stdio.h>\n{head}\nint main(void) {{\n\
             int n = 2; double eps2 = 0.0, m[2] = {{1.0, 3.0}}, x[2][3] = {{{{0.0}}}}, acc[2][3];\n\
             x[1][0] = 2.0;\n{{\n{body}}}\n\
             printf(\"%g %g %g\\n\", acc[0][0], acc[1][0], acc[1][2]);\nreturn 0;\n}}\n"
        );
        std::fs::write(&source, program).expect("the target folder is writable");
        if let Some(client) = compile_source(&source, Link::Shared) {
            assert_eq!(succeed(&client, &[], &[]), "0.75 -0.25 0\n", "{name}");
        }
    }
}
