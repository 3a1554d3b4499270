//! Compiles the clients under `clients/` and runs them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use kirin_testing::{skipped, target};

use crate::generate::repository;
use crate::library;
pub use kirin_testing::process::{available, clean, clean_command, run, texts};

/// How a client is linked with kirin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// With the shared library.
    Shared,
    /// With the static library without C spellings.
    StaticFortranNames,
    /// Not at all: the client opens the library itself.
    None,
}

/// The path of a client's source.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(name)
}

/// The compiler and its options for a source, by its extension. Warnings are errors.
fn compiler(source: &Path) -> (&'static str, &'static [&'static str]) {
    let strict_c: &[&str] = &["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    let strict_cpp: &[&str] = &["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    match source.extension().and_then(OsStr::to_str) {
        Some("c") => ("gcc", strict_c),
        Some("cc") => ("g++", strict_cpp),
        Some("f") => ("gfortran", &["-std=legacy", "-Wall", "-Werror"]),
        Some("f90") => ("gfortran", &["-std=f2008", "-Wall", "-Werror"]),
        other => panic!("no compiler for {other:?}"),
    }
}

/// Compiles a client; `None` (and a line that says SKIPPED) where its compiler is missing.
pub fn compile(name: &str, link: Link) -> Option<PathBuf> {
    compile_source(&source(name), link)
}

/// As [`compile`], for a source anywhere.
pub fn compile_source(source: &Path, link: Link) -> Option<PathBuf> {
    let name = source.file_name()?.to_str()?;
    let (compiler, options) = compiler(source);
    let compiler = match target::foreign() {
        Some(target) if compiler == "gcc" => target.gcc.as_str(),
        Some(target) => {
            skipped(format!("{name}: clients for {} are in C", target.triple));
            return None;
        }
        None => compiler,
    };
    if !available(compiler) {
        return None;
    }
    // Tests of one process run side by side: no two compile into one file.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = library::workspace().join(format!("client-{number}"));
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let program = folder.join(name.replace('.', "-"));
    let include = repository().join("include");
    let mut command = Command::new(compiler);
    command
        .args(options)
        .args(["-O1", "-g", "-o"])
        .arg(&program);
    if name.ends_with(".f90") {
        command
            .arg("-J")
            .arg(&folder)
            .arg(include.join("kirin.f90"));
    }
    let text = std::fs::read_to_string(source).expect("clients are text");
    if text.contains("!$omp") {
        command.arg("-fopenmp");
    }
    command.arg("-I").arg(&include).arg(source);
    link_options(&mut command, link);
    let output = command
        .output()
        .expect("the compiler was there a moment ago");
    assert!(
        output.status.success(),
        "{name} does not compile:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(program)
}

fn link_options(command: &mut Command, link: Link) {
    match link {
        Link::Shared => {
            let folder = library::fresh().folder().display();
            command.arg(format!("-L{folder}"));
            // Those of forwarded names where they are needed.
            command.arg("-Wl,--as-needed");
            command.args(library::COMPANIONS.map(|name| format!("-l{name}")));
            command.args(["-Wl,--no-as-needed", "-lkirin"]);
            // Old dynamic tags: DT_RPATH goes before LD_LIBRARY_PATH, on which cargo puts stale copies.
            command.arg(format!("-Wl,--disable-new-dtags,-rpath,{folder}"));
        }
        Link::StaticFortranNames => {
            let archives = library::fresh().companions.iter();
            command
                .args(archives.map(|[_, archive]| archive))
                .arg(library::fortran_names_only())
                .arg("-lrt");
        }
        Link::None => {}
    }
    command.args(["-lpthread", "-ldl", "-lm"]);
}

/// Runs a client with `settings`, and returns its stdout; it must succeed.
pub fn succeed(program: &Path, arguments: &[&OsStr], settings: &[(&str, &str)]) -> String {
    let command = match target::foreign() {
        Some(target) => {
            let mut command = Command::new(&target.runner[0]);
            command.args(&target.runner[1..]).arg(program);
            command
        }
        None => Command::new(program),
    };
    let output = run(clean(command, settings).args(arguments));
    let (out, err) = texts(&output);
    assert!(
        output.status.success(),
        "{} with {settings:?}: {}\nstdout: {out}\nstderr: {err}",
        program.display(),
        output.status
    );
    out
}
