//! Forces by a tree in C and Fortran: errors against direct sums, bits, targets of all kinds, refusals, forks.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, clean_command, compile, run, succeed, texts};
use kirin_core::cpu;

fn part(what: &str, settings: &[(&str, &str)]) -> Option<String> {
    let client = compile("tree.c", Link::Shared)?;
    Some(succeed(&client, &[OsStr::new(what)], settings))
}

#[test]
fn theta_zero_is_the_direct_sum() {
    if let Some(found) = part("direct", &[]) {
        assert_eq!(found, "");
    }
}

/// Errors of some tenths of a per cent with monopoles, which fall with theta; with quadrupoles faster.
#[test]
fn errors_fall_with_theta() {
    let Some(found) = part("errors", &[]) else {
        return;
    };
    let rows: Vec<Vec<f64>> = found
        .lines()
        .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
        .collect();
    let [mono, quad] = [&rows[..3], &rows[3..]];
    for [small, middle, large] in [mono, quad].map(|r| [&r[0], &r[1], &r[2]]) {
        for k in 2..5 {
            assert!(small[k] < middle[k] && middle[k] < large[k], "{found}");
        }
        // Twice the angle, at least 2^1.2 times the error; the worst per cent is not far from the median.
        assert!(middle[2] > 2.3 * small[2], "{found}");
        assert!(middle[3] < 12.0 * middle[2], "{found}");
    }
    assert!((1e-4..1e-3).contains(&mono[1][2]), "{found}");
    assert!(
        quad[0][2] < 0.4 * mono[0][2] && quad[0][2] < 3e-5,
        "{found}"
    );
    assert!(quad[1][4] < 3e-4, "{found}");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let Some(client) = compile("tree.c", Link::Shared) else {
        return;
    };
    for set in cpu::available() {
        let set = set.to_string();
        let bits = ["1", "2", "3"].map(|threads| {
            let settings = [("KIRIN_SIMD", &*set), ("KIRIN_THREADS", threads)];
            succeed(&client, &[OsStr::new("bits")], &settings)
        });
        assert!(
            bits[0].lines().count() == 2 && !bits[0].contains("wrong"),
            "{bits:?}"
        );
        assert!(bits[1] == bits[0] && bits[2] == bits[0], "{set}: {bits:?}");
    }
}

#[test]
fn targets_of_all_kinds() {
    for threads in ["1", "2"] {
        if let Some(found) = part("targets", &[("KIRIN_THREADS", threads)]) {
            assert_eq!(found, "", "{threads} threads");
        }
    }
}

/// The refusals are those of docs/tree.md, and none of them writes to stderr.
#[test]
fn refusals_have_a_code_and_words_and_lose_nothing() {
    let Some(client) = compile("tree.c", Link::Shared) else {
        return;
    };
    let (found, err) = texts(&run(clean_command(&client, &[]).arg("refused")));
    assert_eq!(err, "");
    assert!(!found.contains("wrong"), "{found}");
    let page = include_str!("../../docs/tree.md");
    for line in found.lines() {
        let parts: Vec<&str> = line.splitn(3, " | ").collect();
        let row = format!("| {} | {} | `{}` |", parts[0], parts[1], parts[2]);
        assert!(page.contains(&row), "docs/tree.md has no row\n{row}");
    }
    assert!(found.lines().count() > 20, "{found}");
}

#[test]
fn a_child_is_refused_its_parents_tree() {
    for threads in ["1", "2"] {
        if let Some(found) = part("fork", &[("KIRIN_THREADS", threads)]) {
            assert!(found.starts_with("use after a fork | -7 | "), "{found}");
            assert_eq!(found.lines().count(), 1, "{found}");
        }
    }
}

#[test]
fn fortran_has_the_same_calls() {
    if let Some(client) = compile("tree.f90", Link::Shared) {
        assert_eq!(succeed(&client, &[], &[]).trim(), "right");
    }
}
