//! `kirin amuse` puts kirin in the place of the GRAPE-6 library of AMUSE's framework, and after `kirin uninstall`
//! everything is as before. The tests make an environment that resembles AMUSE's: a framework's library, its pkg-config
//! files, and workers that are linked as AMUSE's makefiles do it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ffi_tests::compiler::{available, clean_command, run, succeed, texts};
use ffi_tests::installation::{fine, kirin, text, uninstall};
use ffi_tests::library;

/// The framework's library: no kirin has 7 pipelines unless it is told.
const FRAMEWORK: &str = "int g6_npipes_(void) { return 7; }\n";
const WORKER: &str = "#include <stdio.h>\nint g6_npipes_(void);\nint main(void) { printf(\"%d\\n\", g6_npipes_()); return 0; }\n";

/// An environment with AMUSE's framework and phigrape's worker; `None` without a compiler.
fn environment(name: &str) -> Option<(PathBuf, PathBuf)> {
    if !available("gcc") {
        return None;
    }
    let environment = library::workspace().join(name).join("environment");
    let package = environment.join("lib/python3.11/site-packages/amuse_phigrape");
    fs::create_dir_all(environment.join("lib/pkgconfig")).expect("the target folder is writable");
    fs::create_dir_all(&package).expect("the target folder is writable");
    let lib = environment.join("lib");
    for module in ["stopcond", "g6lib"] {
        let path = lib.join(format!("pkgconfig/{module}.pc"));
        fs::write(path, format!("Name: {module}\n")).expect("it is writable");
    }
    compile(&lib.join("libg6.so"), FRAMEWORK, &["-shared", "-fPIC"]);
    let rpath = format!("-Wl,-rpath,{}", text(&lib));
    let worker = package.join("phigrape_worker");
    compile(&worker, WORKER, &["-L", text(&lib), &rpath, "-lg6"]);
    Some((environment, worker))
}

fn compile(to: &Path, program: &str, options: &[&str]) {
    let from = to.with_extension("c");
    fs::write(&from, program).expect("it is writable");
    let mut gcc = Command::new("gcc");
    fine(&run(gcc.arg("-o").arg(to).arg(&from).args(options)));
    fs::remove_file(from).expect("it was there");
}

/// The files below a folder with their contents, and the links as files.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        match entry.file_type().expect("a kind").is_dir() {
            true => found.extend(files(&entry.path())),
            false => {
                found.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    found
}

/// Checks that the folder has these files and no others.
fn as_before(environment: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let now = files(environment);
    assert!(*before == now, "{:?}", now.keys());
}

/// `kirin amuse` with this environment active.
fn amuse(environment: &Path) -> Output {
    let command = library::fresh().command.as_ref();
    let settings = [("VIRTUAL_ENV", text(environment))];
    let mut command = clean_command(command.expect("tests are for this machine"), &settings);
    run(command.env_remove("CONDA_PREFIX").arg("amuse"))
}

#[test]
fn workers_use_kirin_until_it_is_uninstalled() {
    let Some((environment, worker)) = environment("amuse") else {
        return;
    };
    let before = files(&environment);
    assert_eq!(succeed(&worker, &[], &[]), "7\n");

    for _ in 0..2 {
        let output = amuse(&environment);
        fine(&output);
        let out = texts(&output).0;
        for line in [
            "set aside:     lib/libg6.so, until `uninstall` puts it back",
            "set aside:     lib/pkgconfig/g6lib.pc, until `uninstall` puts it back",
            "uses kirin:    amuse_phigrape/phigrape_worker, as libg6.so",
        ] {
            assert!(out.lines().any(|l| l == line), "{line}:\n{out}");
        }
        assert_eq!(succeed(&worker, &[], &[]), "48\n");
        let module = environment.join("lib/pkgconfig/g6lib.pc");
        let module = fs::read_to_string(module).expect("it is there");
        assert!(module.contains("from kirin"), "{module}");
    }
    let output = uninstall(&environment);
    fine(&output);
    let out = texts(&output).0;
    assert!(out.contains(", 2 that were there before put back"), "{out}");
    as_before(&environment, &before);
    assert_eq!(succeed(&worker, &[], &[]), "7\n");
}

/// AMUSE's setup installed its framework once more: its newer files take the places of the older ones. The path of the
/// environment, which they hold, has kirin's name in it.
#[test]
fn a_framework_that_came_back_is_not_lost() {
    let Some((environment, worker)) = environment("amuse-kirin-again") else {
        return;
    };
    fine(&amuse(&environment));
    let library = environment.join("lib/libg6.so");
    let newer = |words: &str| {
        let _ = fs::remove_file(&library);
        fs::write(&library, words).expect("it is writable");
    };
    newer("second");
    let module = format!("prefix={}\nName: g6lib\n", text(&environment));
    let place = environment.join("lib/pkgconfig/g6lib.pc");
    fs::write(place, &module).expect("it is writable");
    let before = fs::read(&library).expect("it is there");
    let install = kirin(&["install", "--prefix", text(&environment)]);
    assert_eq!(install.status.code(), Some(2), "{install:?}");
    assert!(texts(&install).1.contains("libg6.so"), "{install:?}");
    assert_eq!(fs::read(&library).expect("it is there"), before);

    fine(&amuse(&environment));
    assert_eq!(succeed(&worker, &[], &[]), "48\n");
    newer("third");
    fine(&uninstall(&environment));
    let left = files(&environment);
    let kept = |name: &str| left.get(&environment.join(name)).map(Vec::as_slice);
    assert_eq!(kept("lib/libg6.so"), Some(&b"third"[..]));
    assert_eq!(kept("lib/pkgconfig/g6lib.pc"), Some(module.as_bytes()));
    assert_eq!(left.len(), 4, "{:?}", left.keys());
}

/// kirin's link leaves its place, since the libraries move to another folder: what lay there comes back.
#[test]
fn what_lay_in_a_place_that_kirin_leaves_comes_back() {
    let Some((environment, _)) = environment("amuse-libdir") else {
        return;
    };
    let before = files(&environment);
    fine(&amuse(&environment));
    let install = [
        "install",
        "--prefix",
        text(&environment),
        "--libdir",
        "lib64",
    ];
    fine(&kirin(&install));
    let library = environment.join("lib/libg6.so");
    assert_eq!(files(&environment).get(&library), before.get(&library));
    fine(&uninstall(&environment));
    as_before(&environment, &before);
}

/// In a virtual environment `lib64` is a link to `lib`: one file has two names.
#[test]
fn a_link_between_the_folders_of_libraries_is_followed() {
    let Some((environment, worker)) = environment("amuse-link") else {
        return;
    };
    symlink("lib", environment.join("lib64")).expect("it is writable");
    let before = files(&environment);
    let install = |libdir| {
        let prefix = ["install", "--prefix", text(&environment)];
        fine(&kirin(&[&prefix[..], &["--libdir", libdir]].concat()));
    };
    fine(&amuse(&environment));
    install("lib64");
    install("lib");
    fine(&amuse(&environment));
    assert_eq!(succeed(&worker, &[], &[]), "48\n");
    fine(&uninstall(&environment));
    as_before(&environment, &before);

    for name in ["libg6.so", "pkgconfig/g6lib.pc"] {
        fs::remove_file(environment.join("lib").join(name)).expect("it was there");
    }
    install("lib64");
    fine(&amuse(&environment));
    assert_eq!(succeed(&worker, &[], &[]), "48\n");
}

/// kirin came as a package: no list says that its files are kirin's, and the package manager has changed some of them.
#[test]
fn a_packages_files_are_set_aside_and_come_back() {
    let Some((environment, worker)) = environment("amuse-package") else {
        return;
    };
    for name in ["libg6.so", "pkgconfig/g6lib.pc"] {
        fs::remove_file(environment.join("lib").join(name)).expect("it was there");
    }
    fine(&kirin(&["install", "--prefix", text(&environment)]));
    fs::remove_file(environment.join("share/kirin/manifest")).expect("it was there");
    let module = environment.join("lib/pkgconfig/kirin.pc");
    let edited = fs::read_to_string(&module).expect("it was installed") + "# relocated\n";
    fs::write(&module, edited).expect("it is writable");
    let before = files(&environment);

    let own = environment.join("bin/kirin");
    fine(&run(clean_command(&own, &[]).args([
        "amuse",
        "--prefix",
        text(&environment),
    ])));
    assert_eq!(succeed(&worker, &[], &[]), "48\n");
    fine(&uninstall(&environment));
    as_before(&environment, &before);
}

/// A file of kirin's that was edited is not taken for the one that was there before kirin.
#[test]
fn an_edited_file_costs_nobody_the_original() {
    let Some((environment, _)) = environment("amuse-edited") else {
        return;
    };
    let before = files(&environment);
    fine(&amuse(&environment));
    let edited = environment.join("lib/pkgconfig/g6lib.pc");
    let own = fs::read_to_string(&edited).expect("kirin wrote it");
    fs::write(&edited, own + "# mine\n").expect("it is writable");
    let there = files(&environment);
    for refused in [uninstall(&environment), amuse(&environment)] {
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(texts(&refused).1.contains("g6lib.pc"), "{refused:?}");
        assert!(there == files(&environment), "something has changed");
    }
    fine(&kirin(&[
        "uninstall",
        "--force",
        "--prefix",
        text(&environment),
    ]));
    as_before(&environment, &before);
}

/// pip installs the Python package in the same environment, before or after kirin: its script of the name `kirin` is left to it.
#[test]
fn the_python_packages_command_stays() {
    let Some((environment, worker)) = environment("amuse-python") else {
        return;
    };
    let script = environment.join("bin/kirin");
    let words = "#!/usr/bin/python3\nfrom kirin._command import main\nmain()\n";
    let with_script = |mut files: BTreeMap<PathBuf, Vec<u8>>| {
        files.insert(script.clone(), words.into());
        files
    };
    let pip = || {
        fs::create_dir_all(environment.join("bin")).expect("it is writable");
        let _ = fs::remove_file(&script);
        fs::write(&script, words).expect("it is writable");
    };
    let before = with_script(files(&environment));
    let stays = || fs::read(&script).is_ok_and(|found| found == words.as_bytes());

    fine(&amuse(&environment));
    pip();
    fine(&amuse(&environment)); // after AMUSE's setup has installed its framework again
    assert!(stays(), "the script was replaced");
    assert_eq!(succeed(&worker, &[], &[]), "48\n");
    fine(&uninstall(&environment));
    as_before(&environment, &before);

    for arguments in [
        &["amuse", "--prefix", text(&environment)][..],
        &["install", "--prefix", text(&environment.join(".."))][..],
    ] {
        let prefix = Path::new(arguments[2]);
        fs::create_dir_all(prefix.join("bin")).expect("it is writable");
        fs::write(prefix.join("bin/kirin"), words).expect("it is writable");
        let before = files(prefix);
        fine(&kirin(arguments));
        assert!(stays(), "the script was replaced");
        fine(&uninstall(prefix));
        assert!(before == files(prefix), "{:?}", files(prefix).keys());
    }
}

/// An installation that ended between the list of what it would do and the first move.
#[test]
fn an_interrupted_beginning_loses_nothing() {
    let Some((environment, worker)) = environment("amuse-interrupted") else {
        return;
    };
    let before = files(&environment);
    fine(&amuse(&environment));
    let list = environment.join("share/kirin/manifest");
    let words = fs::read(&list).expect("the list");
    fine(&uninstall(&environment));
    fs::create_dir_all(list.parent().expect("a folder")).expect("it is writable");
    fs::write(&list, &words).expect("it is writable");

    fine(&uninstall(&environment));
    as_before(&environment, &before);
    fs::create_dir_all(list.parent().expect("a folder")).expect("it is writable");
    fs::write(&list, words).expect("it is writable");
    fine(&amuse(&environment));
    assert_eq!(succeed(&worker, &[], &[]), "48\n");
    fine(&uninstall(&environment));
    as_before(&environment, &before);
}

#[test]
fn what_is_missing_is_named() {
    let nowhere = library::workspace().join("amuse-nowhere");
    let command = library::fresh().command.as_ref();
    let command = command.expect("tests are for this machine");
    let mut inactive = clean_command(command, &[]);
    inactive
        .env_remove("CONDA_PREFIX")
        .env_remove("VIRTUAL_ENV");
    for (output, why) in [
        (run(inactive.arg("amuse")), "no environment is active"),
        (
            kirin(&["amuse", "--prefix", text(&nowhere)]),
            "./setup install amuse-framework",
        ),
    ] {
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(texts(&output).1.contains(why), "{output:?}");
    }
    assert!(!nowhere.exists(), "something was installed");
}
