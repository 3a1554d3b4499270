//! Compiles the clients under `clients/` and runs them.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use kirin_kit::trial::skipped;

use crate::generate::repository;
use crate::library;
use crate::target;

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

/// Whether `program` can be run; prints SKIPPED where it cannot.
pub fn available(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !found {
        skipped(format!("there is no {program} on this machine"));
    }
    found
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
                .arg(&library::fortran_names_only().archive)
                .arg("-lrt");
        }
        Link::None => {}
    }
    command.args(["-lpthread", "-ldl", "-lm"]);
}

/// How long a client may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command without the settings and search paths of the surrounding `cargo test`.
pub fn clean_command(program: impl AsRef<OsStr>, settings: &[(&str, &str)]) -> Command {
    clean(Command::new(program), settings)
}

fn clean(mut command: Command, settings: &[(&str, &str)]) -> Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("KIRIN_") || text.starts_with("FAKE_CUDA_") {
            command.env_remove(name);
        }
    }
    command.env_remove("LD_LIBRARY_PATH");
    // Where no GPU is, `auto` says so on stderr.
    command.env("KIRIN_BACKEND", "cpu");
    command.envs(settings.iter().copied());
    command
}

/// Runs a program to its end, which must come within two minutes: on a busy machine a sanitizer needs one.
pub fn run(command: &mut Command) -> Output {
    let folder = library::workspace();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    // Files and not pipes: nobody has to read them while the program runs.
    let paths = ["out", "err"].map(|e| folder.join(format!("run-{number}.{e}")));
    let file = |p: &Path| std::fs::File::create(p).expect("the target folder is writable");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file(&paths[0]))
        .stderr(file(&paths[1]))
        .process_group(0)
        .spawn()
        .expect("a compiled client runs");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            // The whole group: a client may have forked.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |p: &Path| std::fs::read(p).expect("the file was made above");
    let output = Output {
        status,
        stdout: read(&paths[0]),
        stderr: read(&paths[1]),
    };
    for path in &paths {
        let _ = std::fs::remove_file(path);
    }
    output
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

/// stdout and stderr of a run.
pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
