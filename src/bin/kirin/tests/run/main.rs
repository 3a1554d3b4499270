//! `kirin run`: programs are linked with a test library that returns recognisable wrong numbers. They must get
//! kirin's numbers, and nothing else may change.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod launchers;
mod libraries;
mod processes;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{is_compiled, text, without_settings};

const OURS: &str = "0.25 -0.5 48\n";

const THEIRS: &str = "42 -42 48\n";

/// A place of its own for each test, with a cache folder in it.
fn folder(test: &str) -> PathBuf {
    let path = common::folder(&format!("run-{test}"));
    std::fs::remove_dir_all(&path).expect("our folder");
    common::folder(&format!("run-{test}"))
}

/// A command in `folder` without the settings and search paths of `cargo test`.
fn command(folder: &Path, program: &str) -> Command {
    let mut command = without_settings(program);
    command.env_remove("LD_LIBRARY_PATH").current_dir(folder);
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    // Where no GPU is, `auto` says so on stderr.
    command.env("KIRIN_BACKEND", "cpu");
    command
}

fn kirin_run(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder, env!("CARGO_BIN_EXE_kirin"));
    command.arg("run").args(arguments);
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("it starts")
}

fn texts(output: &Output) -> (String, String) {
    (text(&output.stdout), text(&output.stderr))
}

/// What a command prints; it must succeed and say nothing on stderr.
fn printed(command: &mut Command) -> String {
    let output = output(command);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{command:?}: {err}");
    assert_eq!(err, "", "{command:?}");
    out
}

/// Compiles in `folder`; false, and a line that says so, where there is no compiler.
fn compile(folder: &Path, compiler: &str, arguments: &[&str]) -> bool {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-Wall", "-Werror"]);
    for argument in arguments {
        let source = [".c", ".f90"].iter().any(|e| argument.ends_with(e));
        if source {
            command.arg(sources.join(argument));
        } else {
            command.arg(argument);
        }
    }
    is_compiled(&mut command)
}

/// A stand-in library with the file name `name`, and the C client linked with it. The client finds it by DT_RPATH,
/// which the loader searches before LD_LIBRARY_PATH.
fn pair(folder: &Path, name: &str, options: &[&str]) -> bool {
    let library = [&["-shared", "-fPIC", "-o", name, "standin.c"], options].concat();
    let rpath = "-Wl,--disable-new-dtags,-rpath,$ORIGIN";
    let at = format!("-l:{name}");
    let client = ["client.c", "-o", "client", "-L.", &at, rpath];
    compile(folder, "gcc", &library) && compile(folder, "gcc", &[&client, options].concat())
}

fn script(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the script is written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("our file");
}

#[test]
fn c_and_fortran_programs_get_the_numbers_of_kirin() {
    let folder = folder("languages");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    assert_eq!(printed(&mut command(&folder, "./client")), THEIRS);
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
    assert_eq!(printed(&mut kirin_run(&folder, &["--", "./client"])), OURS);
    assert_eq!(printed(&mut command(&folder, "./client")), THEIRS);
    let fortran = [
        "client.f90",
        "-o",
        "fortran",
        "-L.",
        "-lg6",
        "-Wl,-rpath,$ORIGIN",
    ];
    if compile(&folder, "gfortran", &fortran) {
        assert_eq!(
            printed(&mut command(&folder, "./fortran")),
            "42.00 -42.00\n"
        );
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./fortran"])),
            ".25 -.50\n"
        );
    }
}
