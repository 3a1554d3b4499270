//! The freshly built `libkirin`, in a folder of this process' own.
//!
//! `cargo test` does not promise that `target/debug/libkirin.so` is up to date. And it puts that folder on
//! `LD_LIBRARY_PATH`, before a client's own search path. So each test process builds the library once and copies the
//! file that cargo names to a folder of its own, where clients find it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::generate::repository;
use kirin_testing::process::profile_folder;
pub use kirin_testing::process::{target, workspace};
use kirin_testing::target as platform;

/// The library in its two forms.
pub struct Built {
    /// `libkirin.so`
    pub shared: PathBuf,
    /// `libkirin.a`
    pub archive: PathBuf,
    /// The libraries of forwarded names in their two forms, where they were built.
    pub companions: Vec<[PathBuf; 2]>,
    /// The command, beside the library as `cargo build` leaves it; only with the usual library of this machine.
    pub command: Option<PathBuf>,
}

impl Built {
    /// The folder that holds both.
    pub fn folder(&self) -> &Path {
        self.shared.parent().expect("a file is in a folder")
    }
}

/// The library as clients usually have it.
pub fn fresh() -> &'static Built {
    // The packages of README's second command and the library's, so that their dependencies are there already, built with the same
    // features: in a build of the whole workspace, too, as long as Cargo.toml asks for serde's `alloc` as criterion does.
    const ALL: &str = "-p kirin -p kirin-core -p kirin-command -p ffi-tests -p hermite -p kirin-nbody6 -p kirin-sapporo \
        --lib --examples --bin kirin --bin hermite";
    static BUILT: LazyLock<Built> = LazyLock::new(|| match platform::foreign() {
        Some(foreign) => {
            let packages = "-p kirin -p kirin-nbody6 -p kirin-sapporo --target";
            build(
                "shared",
                &target(),
                &format!("{packages} {}", foreign.triple),
            )
        }
        None => build("shared", &target(), ALL),
    });
    &BUILT
}

/// The program of a lesson, one of the library's examples.
pub fn example(name: &str) -> PathBuf {
    fresh();
    profile_folder().join("examples").join(name)
}

/// The program `hermite`.
pub fn hermite() -> PathBuf {
    fresh();
    profile_folder().join("hermite")
}

/// The static library without the C spellings. It is built in another target folder, because other tests may be using
/// the usual library. Cargo 1.91 and later keep the intermediate files of both builds in the usual folder
/// (`CARGO_BUILD_BUILD_DIR`).
pub fn fortran_names_only() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let options = "-p kirin --lib --crate-type staticlib --features fortran-names-only";
        let files = cargo("rustc", &target().join("fortran-names-only"), options);
        let has_it = |f: &&PathBuf| f.extension().is_some_and(|e| e == "a");
        let from = files.of("kirin").into_iter().find(|f| has_it(&f));
        let to = workspace().join("fortran").join("libkirin.a");
        std::fs::create_dir_all(to.with_file_name("")).expect("the target folder is writable");
        std::fs::copy(from.expect("cargo names it"), &to).expect("what cargo built can be copied");
        to
    });
    &BUILT
}

/// What cargo has said of the files that it made.
struct Files(Vec<serde_json::Value>);

impl Files {
    /// The files of a target.
    fn of(&self, name: &str) -> Vec<PathBuf> {
        self.0
            .iter()
            .filter(|m| m["reason"] == "compiler-artifact" && m["target"]["name"] == name)
            .flat_map(|m| m["filenames"].as_array().cloned().unwrap_or_default())
            .filter_map(|f| f.as_str().map(PathBuf::from))
            .collect()
    }
}

/// Runs `cargo build` or `cargo rustc` in the profile of this program.
fn cargo(command: &str, into: &Path, options: &str) -> Files {
    let profile_folder = profile_folder();
    let profile = match profile_folder.file_name().and_then(|n| n.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let output = Command::new(env!("CARGO"))
        .args([command, "--profile", profile])
        .args(["--message-format=json-render-diagnostics", "--target-dir"])
        .arg(into)
        .args(options.split_whitespace())
        .env("CARGO_BUILD_BUILD_DIR", target())
        .current_dir(repository())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "libkirin does not build");
    let lines = String::from_utf8_lossy(&output.stdout);
    let messages = lines.lines().map(serde_json::from_str);
    Files(messages.filter_map(Result::ok).collect())
}

fn build(name: &str, target: &Path, options: &str) -> Built {
    let files = cargo("build", target, options);
    let folder = workspace().join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let copy = |name: &str, extension: &str| {
        let has_it = |f: &&PathBuf| f.extension().unwrap_or_default() == extension;
        let files = files.of(name);
        let from = files.iter().find(has_it)?;
        let to = folder.join(from.file_name().expect("a file has a name"));
        std::fs::copy(from, &to).expect("what cargo built can be copied");
        Some(to)
    };
    // The loader looks for the name that clients remember.
    let shared = |name: &str| {
        let shared = copy(name, "so")?;
        let remembered = folder.join(format!("lib{name}.so.0"));
        let _ = std::fs::remove_file(&remembered);
        let file = shared.file_name().expect("a file has a name");
        std::os::unix::fs::symlink(file, &remembered).expect("a folder of our own");
        Some(shared)
    };
    let companion = |name| Some([shared(name)?, copy(name, "a")?]);
    Built {
        shared: shared("kirin").expect("cargo names the shared library"),
        archive: copy("kirin", "a").expect("cargo names the static library"),
        companions: COMPANIONS.into_iter().filter_map(companion).collect(),
        command: copy("kirin", ""),
    }
}

/// The libraries of forwarded names, as the linker knows them.
pub const COMPANIONS: [&str; 2] = ["kirin_nbody6", "kirin_sapporo"];
