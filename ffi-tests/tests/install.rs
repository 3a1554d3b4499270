//! `kirin install` and `kirin uninstall`: the installed files, programs that use them, and refusals.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ffi_tests::compiler::{Link, available, clean_command, compile, run, source, succeed, texts};
use ffi_tests::generate::repository;
use ffi_tests::installation::{fine, installed, kirin, prefix, text, uninstall};
use ffi_tests::library;

fn refused(output: &Output, why: &str) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(texts(output).1.contains(why), "{output:?}");
}

/// Everything below a folder: contents of files, targets of links.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() {
            found.extend(tree(&path));
            found.insert(path, Vec::new());
        } else if kind.is_symlink() {
            let to = path.read_link().expect("a link");
            found.insert(path, to.into_os_string().into_encoded_bytes());
        } else {
            let bytes = std::fs::read(&path).expect("a file");
            found.insert(path, bytes);
        }
    }
    found
}

fn pkg_config(prefix: &Path, words: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("pkg-config {words}")])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
        .output()
        .expect("pkg-config was there a moment ago");
    fine(&output);
    texts(&output).0.trim().to_owned()
}

#[test]
fn pkg_config_compiles_and_runs_the_lesson_by_every_name() {
    if !available("pkg-config") || !available("gcc") {
        return;
    }
    let prefix = prefix("lesson");
    installed(&prefix);
    let lesson = repository().join("examples/c/01_two_bodies.c");
    let mut answers = Vec::new();
    for module in ["kirin", "g6lib", "sapporo_light"] {
        let program = library::workspace().join(format!("lesson-{module}"));
        let options = pkg_config(&prefix, &format!("--cflags --libs {module}"));
        // A shell splits the options, as in a Makefile.
        let line = format!("gcc {} -o {} {options}", text(&lesson), text(&program));
        fine(&run(clean_command("sh", &[]).args(["-c", &line])));
        answers.push(succeed(&program, &[], &[]));
        let needed = Command::new("readelf").arg("-d").arg(&program).output();
        let needed = texts(&needed.expect("readelf comes with the compiler")).0;
        assert!(needed.contains("[libkirin.so.0]"), "{module}: {needed}");
    }
    assert!(answers[0].starts_with("   0 -0.5"), "{}", answers[0]);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    fine(&uninstall(&prefix));
}

#[test]
fn a_client_of_grape5_finds_header_and_library() {
    if !available("pkg-config") || !available("gcc") {
        return;
    }
    let prefix = prefix("grape5");
    installed(&prefix);
    let client = source("treecode5.c");
    let mut answers = Vec::new();
    let options = pkg_config(&prefix, "--cflags --libs g5");
    // Phantom-GRAPE's name, and that of the hardware's library, for makefiles.
    for options in [
        options.clone(),
        options.replace("-lg5", "-lpg5"),
        options.replace("-lg5", "-lg5a"),
        // GRAPE-7's package has two libraries.
        options.replace("-lg5", "-lg75 -lhib"),
    ] {
        let program = library::workspace().join(format!("treecode5-{}", answers.len()));
        let line = format!(
            "gcc {} -o {} {options} -lm -lpthread",
            text(&client),
            text(&program)
        );
        fine(&run(clean_command("sh", &[]).args(["-c", &line])));
        answers.push(succeed(&program, &[], &[]));
    }
    assert_eq!(answers[0].split_whitespace().count(), 4, "{}", answers[0]);
    assert!(answers.iter().all(|a| *a == answers[0]), "{answers:?}");
    fine(&uninstall(&prefix));
}

#[test]
fn a_client_of_nbody6_finds_header_and_library() {
    if !available("pkg-config") || !available("gcc") {
        return;
    }
    let prefix = prefix("nbody6");
    installed(&prefix);
    let program = library::workspace().join("installed-nbody6");
    let options = pkg_config(&prefix, "--cflags --libs kirin_nbody6");
    let source = source("nbody6.c");
    // The order in which linkers drop what a program does not need itself, and none.
    for (first, last) in [
        ("-Wl,--as-needed", options.as_str()),
        ("", options.as_str()),
    ] {
        let line = format!(
            "gcc {first} {} -o {} {last} -lm",
            text(&source),
            text(&program)
        );
        fine(&run(clean_command("sh", &[]).args(["-c", &line])));
        assert_eq!(succeed(&program, &["6++".as_ref()], &[]), "0 wrong\n");
    }
    fine(&uninstall(&prefix));
}

/// As AC_CHECK_LIB does it.
#[test]
fn configure_scripts_find_the_symbol_with_nothing_but_the_name() {
    if !available("gcc") {
        return;
    }
    let prefix = prefix("configure");
    installed(&prefix);
    let probe = library::workspace().join("conftest.c");
    let found = |symbol: &str, name: &str| {
        let source = format!("char {symbol}();\nint main() {{ return {symbol}(); }}\n");
        std::fs::write(&probe, source).expect("the target folder is writable");
        let mut gcc = clean_command("gcc", &[]);
        gcc.arg(&probe)
            .arg("-w")
            .arg("-o")
            .arg(probe.with_extension(""));
        gcc.arg("-L")
            .arg(prefix.join("lib"))
            .arg(format!("-l{name}"));
        run(&mut gcc).status.success()
    };
    for name in ["g6", "g6a", "g6lx", "g6lxsim2", "sapporo", "kirin"] {
        assert!(found("g6_open_", name), "{name}");
        assert!(!found("g6_no_such_call_", name), "the probe finds anything");
    }
    fine(&uninstall(&prefix));
}

#[test]
fn removal_leaves_nothing_and_the_installed_command_works() {
    let prefix = prefix("removal");
    let top = library::workspace().join("removal");
    std::fs::create_dir_all(&top).expect("the target folder is writable");
    installed(&prefix);
    let first = tree(&top);
    assert!(first.contains_key(&prefix.join("include/kirin.f90")));
    // Installing again, over the first installation and by the installed command, changes nothing.
    let command = prefix.join("bin/kirin");
    fine(&run(clean_command(&command, &[]).args([
        "install",
        "--prefix",
        text(&prefix),
    ])));
    assert!(first == tree(&top), "{:?}", tree(&top).keys());
    let cache = library::workspace().join("removal-cache");
    let home = [("XDG_CACHE_HOME", text(&cache))];
    if let Some(client) = compile("ownheader.c", Link::Shared) {
        let mut command = clean_command(&command, &home);
        let output = run(command.args(["run", "--replace", "libx.so"]).arg(client));
        assert_eq!(texts(&output).0, "-0.25 -0.5\n", "{output:?}");
        assert!(tree(&cache).len() >= 3, "two folders and a library");
    }
    fine(&run(clean_command(&command, &home).args([
        "uninstall",
        "--prefix",
        text(&prefix),
    ])));
    assert_eq!(
        tree(&cache).into_keys().collect::<Vec<_>>(),
        [] as [&Path; 0]
    );
    assert_eq!(tree(&top).into_keys().collect::<Vec<_>>(), [] as [&Path; 0]);
    refused(&uninstall(&prefix), "nothing of kirin is installed");
}

/// As makers of packages install: below DESTDIR, and with libraries elsewhere than in `lib`.
#[test]
fn destdir_and_libdir_are_honoured() {
    let prefix = prefix("staged");
    let stage = library::workspace().join("stage");
    let command = library::fresh().command.as_ref();
    let command = command.expect("these tests are for this machine");
    let below = stage.join(prefix.strip_prefix("/").expect("an absolute path"));
    let debian = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    for libdir in ["lib", "lib64", &debian] {
        let staging = [("DESTDIR", text(&stage))];
        let mut install = clean_command(command, &staging);
        fine(&run(install.args([
            "install",
            "--prefix",
            text(&prefix),
            "--libdir",
            libdir,
        ])));
        assert!(!prefix.exists(), "the prefix itself was touched");
        let module = std::fs::read_to_string(below.join(libdir).join("pkgconfig/kirin.pc"));
        let module = module.expect("it was installed");
        let of = format!("prefix={}\nlibdir=${{prefix}}/{libdir}\n", text(&prefix));
        assert!(module.starts_with(&of), "{module}");
        let config = below.join(libdir).join("cmake/kirin/kirin-config.cmake");
        let config = std::fs::read_to_string(config).expect("it was installed");
        let up = format!("DIR}}{}\"", "/..".repeat(libdir.split('/').count() + 2));
        assert!(config.contains(&up) && !config.contains('@'), "{config}");
        assert_eq!(below.join("lib").exists(), libdir != "lib64");
        // The command finds its library there.
        fine(&run(clean_command(below.join("bin/kirin"), &[]).arg("info")));
        let mut uninstall = clean_command(command, &staging);
        fine(&run(uninstall.args([
            "uninstall",
            "--prefix",
            text(&prefix),
        ])));
    }
    assert_eq!(
        tree(&stage).into_keys().collect::<Vec<_>>(),
        [] as [&Path; 0]
    );
    let refused = kirin(&["install", "--prefix", text(&prefix), "--libdir", "../lib"]);
    assert!(!refused.status.success() && !prefix.exists(), "{refused:?}");
}

/// Everybody can read what an administrator with a strict umask installs.
#[test]
fn the_umask_closes_nothing() {
    let prefix = prefix("umask");
    let command = library::fresh().command.as_ref();
    let command = command.expect("these tests are for this machine");
    let mut shell = clean_command("sh", &[]);
    shell
        .args(["-c", "umask 077; exec \"$@\"", "sh"])
        .arg(command);
    fine(&run(shell.args(["install", "--prefix", text(&prefix)])));
    for path in tree(&library::workspace().join("umask")).into_keys() {
        let wanted = if path.is_dir() { 0o755 } else { 0o644 };
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & wanted, wanted, "{}: {mode:o}", path.display());
    }
    fine(&uninstall(&prefix));
}

#[test]
fn files_of_others_are_left_alone() {
    let prefix = prefix("others");
    let theirs = prefix.join("lib/libsapporo.so");
    std::fs::create_dir_all(prefix.join("lib")).expect("the target folder is writable");
    std::fs::write(&theirs, "theirs").expect("the target folder is writable");
    let before = tree(&prefix);
    let install = || kirin(&["install", "--prefix", text(&prefix)]);
    refused(&install(), "libsapporo.so");
    assert!(before == tree(&prefix), "something was installed");
    std::fs::remove_file(&theirs).expect("it was there");

    fine(&install());
    let header = prefix.join("include/kirin.h");
    let original = std::fs::read(&header).expect("it was installed");
    std::fs::write(&header, "theirs").expect("it can be written");
    let other = prefix.join("lib/other.so");
    std::fs::write(&other, "theirs").expect("it can be written");
    let before = tree(&prefix);
    refused(&uninstall(&prefix), "kirin.h");
    refused(&install(), "kirin.h");
    assert!(before == tree(&prefix), "something was changed");
    // Whoever edited the header may give it up, and with it nothing of others.
    let forced = |word| kirin(&[word, "--force", "--prefix", text(&prefix)]);
    fine(&forced("install"));
    assert_eq!(std::fs::read(&header).expect("it is there"), original);
    std::fs::write(&header, "theirs").expect("it can be written");
    fine(&forced("uninstall"));
    let left: Vec<PathBuf> = tree(&prefix).into_keys().collect();
    assert_eq!(left, [prefix.join("lib"), other]);
    std::fs::write(&theirs, "theirs").expect("it can be written");
    refused(&forced("install"), "libsapporo.so");
}

/// What `install` prints works as it is, in a prefix with blanks, too.
#[test]
fn hints_of_install_can_be_pasted() {
    if !available("pkg-config") {
        return;
    }
    let prefix = prefix("it's a blank");
    let output = kirin(&["install", "--prefix", text(&prefix)]);
    fine(&output);
    let out = texts(&output).0;
    let hint = |name: &str| {
        let line = out.lines().find_map(|l| l.strip_prefix(name));
        line.expect("a hint").trim().to_owned()
    };
    let paste = |line: &str| run(clean_command("sh", &[]).args(["-c", line]));
    let compiling = paste(&hint("compile and link:"));
    fine(&compiling);
    assert!(texts(&compiling).0.contains("-lkirin"), "{compiling:?}");
    fine(&paste(&hint("remove:")));
    assert!(!prefix.exists());
}
