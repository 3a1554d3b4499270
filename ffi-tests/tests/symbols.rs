//! The table of calls against the symbols that the shared library exports, the header,
//! the Fortran module and the clients.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use ffi_tests::{compiler, generate, library};
use kirin::symbols::{Call, INTERFACES, Interface, table};

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

/// The symbols that a shared library exports.
fn exported(library: &Path) -> BTreeSet<String> {
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(library)
        .output()
        .expect("nm was there a moment ago");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn same(what: &str, found: &BTreeSet<String>, expected: &BTreeSet<String>) {
    let missing: Vec<_> = expected.difference(found).collect();
    let extra: Vec<_> = found.difference(expected).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "{what}: missing: {missing:?}, not in the table: {extra:?}"
    );
}

/// A Rust cdylib exports what is marked so and nothing else: no runtime, no allocator.
#[test]
fn the_libraries_export_the_table_and_nothing_else() {
    if !compiler::available("nm") {
        return;
    }
    let of = |library: Option<&str>, name: &dyn Fn(Interface, &str) -> String| {
        let groups = table().into_iter();
        let groups = groups.filter(|g| library.is_none_or(|l| g.interface.library() == Some(l)));
        groups
            .flat_map(|g| g.calls.into_iter().map(move |c| (g.interface, c)))
            .flat_map(|(i, c)| c.symbols().map(move |s| (i, s)))
            .map(|(i, s)| name(i, s))
            .collect::<BTreeSet<String>>()
    };
    let built = library::fresh();
    let expected = of(None, &|interface, symbol| interface.exported(symbol));
    let found = exported(&built.shared);
    same("kirin", &found, &expected);
    // Names that are preloaded into programs of all kinds tell whose they are.
    let telling = ["g6", "g5_", "GPU_", "GPU2_", "kirin_"];
    let others = found
        .iter()
        .filter(|s| !telling.iter().any(|t| s.starts_with(t)));
    assert_eq!(others.collect::<Vec<_>>(), [] as [&String; 0]);
    for (name, [shared, _]) in library::COMPANIONS.into_iter().zip(&built.companions) {
        let expected = of(Some(name), &|_, symbol| symbol.to_owned());
        assert!(!expected.is_empty());
        same(name, &exported(shared), &expected);
    }
    assert_eq!(built.companions.len(), library::COMPANIONS.len());
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
