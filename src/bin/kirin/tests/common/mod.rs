//! What the tests of the command share: the command without the caller's settings, folders, and gcc.

#![allow(dead_code, reason = "each test program uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;

use kirin_testing::skipped;

/// A place for the files of one test.
pub fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&path).expect("a folder for the test");
    path
}

/// A command without any setting of the caller's.
pub fn without_settings(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("KIRIN_") {
            command.env_remove(name);
        }
    }
    command
}

/// What a program printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles C into the file `name`; `None`, and a line that says so, where there is no compiler.
pub fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&from, source).expect("the source is written");
    let mut gcc = Command::new("gcc");
    gcc.arg("-w").arg("-o").arg(&to).arg(&from).args(options);
    is_compiled(&mut gcc).then_some(to)
}

/// Runs a compiler, which must succeed; false, and a line that says so, where it is missing.
pub fn is_compiled(compiler: &mut Command) -> bool {
    match compiler.status() {
        Ok(status) => assert!(status.success(), "{compiler:?}"),
        Err(e) => {
            let name = compiler.get_program().to_string_lossy().into_owned();
            skipped(format!("no {name} ({e})"));
            return false;
        }
    }
    true
}
