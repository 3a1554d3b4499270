//! The static library without C spellings, for clients that define these names themselves. The test builds the library
//! once more for it.

#[path = "processes/ph4.rs"]
mod ph4;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::process::Command;

use ffi_tests::compiler::{Link, available, clean_command, compile, run, succeed};
use ffi_tests::generate::repository;
use ffi_tests::installation::{fine, installed, kirin, prefix, text, uninstall};
use ffi_tests::library;
use kirin::symbols::table;

#[test]
fn the_archive_for_own_c_names_has_the_fortran_names_only() {
    if !available("nm") {
        return;
    }
    let output = Command::new("nm")
        .args(["--defined-only", "--extern-only", "--format=posix"])
        .arg(library::fortran_names_only())
        .output()
        .expect("nm was there a moment ago");
    let text = String::from_utf8_lossy(&output.stdout);
    let found: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let calls = table().into_iter().flat_map(|group| {
        let interface = group.interface;
        group.calls.into_iter().map(move |call| (interface, call))
    });
    for (interface, call) in calls {
        if let Some(name) = call.fortran {
            let name = interface.exported(name);
            assert!(found.contains(name.as_str()), "{name} is missing");
        }
        // A C name without a Fortran twin is nobody's wrapper, and is needed everywhere; kirin's own names are no
        // client's.
        if let Some(name) = call.c {
            let is_expected = call.fortran.is_none() || name.starts_with("kirin_");
            let name = interface.exported(name);
            assert_eq!(
                found.contains(name.as_str()),
                is_expected,
                "{name} would be missing, or collide with a client's"
            );
        }
    }
}

#[test]
fn the_archive_for_own_c_names_is_installed_on_request() {
    if !available("gcc") {
        return;
    }
    let prefix = prefix("archive");
    let archive = library::fortran_names_only();
    let words = [
        "install",
        "--prefix",
        text(&prefix),
        "--fortran-archive",
        text(archive),
    ];
    fine(&kirin(&words));
    let names: [&OsStr; 3] = ["-Wno-error".as_ref(), "-o".as_ref(), "ph4".as_ref()];
    let mut gcc = clean_command("gcc", &[]);
    gcc.current_dir(library::workspace()).args(names);
    gcc.arg(repository().join("ffi-tests/clients/ph4.c"));
    gcc.arg("-I")
        .arg(prefix.join("include"))
        .arg("-L")
        .arg(prefix.join("lib"));
    gcc.args(["-lkirin_fortran", "-lpthread", "-ldl", "-lrt", "-lm"]);
    fine(&run(&mut gcc));
    // Without the request it goes again.
    installed(&prefix);
    assert!(!prefix.join("lib/libkirin_fortran.a").exists());
    fine(&uninstall(&prefix));
    assert!(!prefix.exists());
}

/// NBODY6's names have no C spelling that could be left out.
#[test]
fn nbody6_links_the_archive_without_c_names() {
    let Some(client) = compile("nbody6fork.c", Link::StaticFortranNames) else {
        return;
    };
    let nothing: [&OsStr; 0] = [];
    let output = succeed(&client, &nothing, &[("KIRIN_THREADS", "3")]);
    assert_eq!(output, "0 wrong\n");
}

#[test]
fn ph4_links_the_archive_without_c_names() {
    ph4::check(Link::StaticFortranNames, "ph4-static");
}
