//! The table of calls against the symbols that the shared library exports, the header,
//! the Fortran module and the clients.

use std::collections::BTreeSet;
use std::process::Command;

use ffi_tests::{compiler, generate, library};
use kirin::symbols::{Call, INTERFACES, table};

fn calls() -> impl Iterator<Item = Call> {
    table().into_iter().flat_map(|group| group.calls)
}

fn symbols() -> BTreeSet<String> {
    calls().flat_map(Call::symbols).map(str::to_owned).collect()
}

/// The words in `text` that could be names of calls.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect()
}

#[test]
fn no_symbol_is_declared_twice() {
    assert_eq!(calls().flat_map(Call::symbols).count(), symbols().len());
}

/// A Rust cdylib exports what is `no_mangle` and nothing else: no runtime, no allocator.
#[test]
fn the_library_exports_the_table_and_nothing_else() {
    if !compiler::available("nm") {
        return;
    }
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(&library::fresh().shared)
        .output()
        .expect("nm was there a moment ago");
    let text = String::from_utf8_lossy(&output.stdout);
    let found: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    let missing: Vec<_> = symbols().difference(&found).cloned().collect();
    let extra: Vec<_> = found.difference(&symbols()).cloned().collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "missing: {missing:?}, not in the table: {extra:?}"
    );
}

#[test]
fn the_header_declares_every_symbol() {
    let text = INTERFACES.map(generate::c_header).concat();
    let found = words(&text);
    for symbol in symbols() {
        assert!(found.contains(&*symbol), "{symbol}");
    }
}

#[test]
fn the_module_has_an_interface_for_every_call() {
    let text = INTERFACES.map(generate::fortran_module).concat();
    for call in calls() {
        let symbol = call.fortran.or(call.c).expect("a call has a spelling");
        assert_eq!(
            text.matches(&format!("bind(C, name=\"{symbol}\")")).count()
                + text
                    .matches(&format!("bind(C, &\n        name=\"{symbol}\")"))
                    .count(),
            1,
            "{symbol}"
        );
    }
}

/// A name in the table is not enough: programs link each call and make it.
#[test]
fn a_client_calls_every_symbol() {
    let folder = generate::repository().join("ffi-tests/clients");
    let mut called = BTreeSet::new();
    for file in folder.read_dir().expect("there are clients").flatten() {
        if file
            .path()
            .extension()
            .is_some_and(|e| e == "c" || e == "h")
        {
            let text = std::fs::read_to_string(file.path()).expect("clients are text");
            called.extend(words(&text).into_iter().map(str::to_owned));
        }
    }
    let missing: Vec<_> = symbols().difference(&called).cloned().collect();
    assert!(missing.is_empty(), "no C client calls {missing:?}");
}
