//! Helpers for tests of programs: they start and end programs, read the commands of a README, make folders, and list
//! skipped parts.

pub mod mpi;
pub mod process;
pub mod readme;
pub mod target;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;

/// How often each reason kept a test, or a part of one, from running.
static SKIPPED: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// Notes that something cannot be tested here, and why. The notes are written to stderr when the test program ends,
/// because the test harness hides what a passing test prints.
pub fn skipped(why: impl Into<String>) {
    let mut reasons = SKIPPED.lock().unwrap_or_else(|e| e.into_inner());
    if reasons.is_empty() {
        // SAFETY: the function stays, takes no argument and does not unwind.
        unsafe { libc::atexit(tell_skipped) };
    }
    *reasons.entry(why.into()).or_default() += 1;
}

extern "C" fn tell_skipped() {
    let reasons = SKIPPED.lock().unwrap_or_else(|e| e.into_inner());
    for (why, times) in reasons.iter() {
        let times = match times {
            1 => String::new(),
            _ => format!(" ({times} times)"),
        };
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}{times}");
    }
}

/// A snapshot that was changed, with the checksum of what it is now.
///
/// # Panics
///
/// It has no last line `end`.
pub fn summed(snapshot: &str) -> String {
    let at = snapshot.rfind("\nend").expect("a snapshot ends so") + 1;
    let rest = &snapshot[..at];
    format!("{rest}end {:08x}\n", crc32fast::hash(rest.as_bytes()))
}

/// A folder for one test's files, removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// A folder of this process and `test`.
    ///
    /// # Panics
    ///
    /// It cannot be made.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kirin-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// The file of this name in the folder, as an argument.
    ///
    /// # Panics
    ///
    /// The path is not UTF-8.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// The text of a file.
    ///
    /// # Panics
    ///
    /// It cannot be read.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("the file was written")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One of the programs.
pub struct Program {
    /// Its file.
    pub path: &'static str,
    /// What is set in its environment.
    pub environment: &'static [(&'static str, &'static str)],
}

impl Program {
    /// A run with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path);
        // Where no GPU is, `auto` says so on stderr.
        command.env("KIRIN_BACKEND", "cpu");
        command
            .args(arguments)
            .envs(self.environment.iter().copied());
        command
    }

    /// Runs the program.
    ///
    /// # Panics
    ///
    /// It fails.
    pub fn succeed(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        output
    }

    /// Runs the program and returns what it said on stderr.
    ///
    /// # Panics
    ///
    /// It succeeds, or says something on stdout.
    pub fn fail(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("it starts");
        assert!(!output.status.success(), "{arguments:?} succeeded");
        assert!(output.stdout.is_empty(), "{arguments:?} reported success");
        String::from_utf8(output.stderr).expect("UTF-8")
    }

    /// Checks that stdout is needed: on a full disk the program says so and ends with `status`. A reader that has gone
    /// away is no error.
    ///
    /// # Panics
    ///
    /// It is not so.
    #[cfg(target_os = "linux")]
    pub fn assert_needs_stdout(&self, arguments: &[&str], status: i32) {
        let run = |out: std::process::Stdio| {
            let mut command = self.command(arguments);
            command.stdout(out).output().expect("it starts")
        };
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = run(full.expect("Linux has it").into());
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {told}");
        assert!(told.contains(": stdout: "), "{arguments:?}: {told}");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert!(run(writer.into()).status.success(), "{arguments:?}");
    }

    /// Runs the program and returns its JSON.
    ///
    /// # Panics
    ///
    /// It fails.
    pub fn figures(&self, test: &str, arguments: &[&str]) -> Value {
        let folder = Folder::new(test);
        let json = folder.file("figures.json");
        self.succeed(&[arguments, &["--json", &json]].concat());
        serde_json::from_str(&folder.text("figures.json")).expect("it is JSON")
    }
}

/// A `--potential` file: a grid up to R = 4 kpc and |z| = 2 kpc, in which the potential grows as the square of the distance.
pub fn small_grid() -> String {
    let mut text = "R_kpc z_kpc potential_km2_s2\n".to_owned();
    for (i, j) in (0..9).flat_map(|i| (0..5).map(move |j| (i, j))) {
        let (r, z) = (f64::from(i) * 0.5, f64::from(j) * 0.5);
        text.push_str(&format!("{r} {z} {:?}\n", 100.0 * (r * r + z * z)));
    }
    text
}
