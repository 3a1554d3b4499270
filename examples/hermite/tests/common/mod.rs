//! What the tests share: the program in its own process, and one library in this one.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard};

use kirin::client::Grape;
use serde_json::Value;

/// The linked library, for one test at a time: all of them use its cluster 0.
pub fn grape() -> (MutexGuard<'static, ()>, Grape) {
    static TURN: Mutex<()> = Mutex::new(());
    // A failed test leaves nothing behind that the next could see.
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    (turn, Grape::linked())
}

/// A folder for one test's files, removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hermite-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The file of this name in the folder, as an argument.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The text of a file.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The program, computing its forces in double precision.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermite"));
    command
        .args(arguments)
        .env("KIRIN_BACKEND", "reference")
        .env("KIRIN_PRECISION", "double");
    command
}

/// Runs the program, which must succeed.
pub fn succeed(arguments: &[&str]) -> Output {
    let output = program(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    output
}

/// Runs the program, which must fail, and returns what it said on stderr.
pub fn fail(arguments: &[&str]) -> String {
    let output = program(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert!(output.stdout.is_empty(), "{arguments:?} reported success");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs the program and returns its JSON.
pub fn figures(test: &str, arguments: &[&str]) -> Value {
    let folder = Folder::new(test);
    let json = folder.file("figures.json");
    succeed(&[arguments, &["--json", &json]].concat());
    serde_json::from_str(&folder.text("figures.json")).unwrap()
}
