//! `kirin install` and `kirin uninstall` as the tests call them.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::compiler::{clean_command, run};
use crate::library;

/// What the command answers to these words.
pub fn kirin(words: &[&str]) -> Output {
    let command = library::fresh().command.as_ref();
    let command = command.expect("these tests are for this machine");
    run(clean_command(command, &[]).args(words))
}

/// The command succeeded.
pub fn fine(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

/// A prefix that is not there, below a folder that is not there.
pub fn prefix(name: &str) -> PathBuf {
    library::workspace().join(name).join("below/pre fix")
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Installs at a prefix.
pub fn installed(prefix: &Path) {
    fine(&kirin(&["install", "--prefix", text(prefix)]));
}

/// Uninstalls from a prefix.
pub fn uninstall(prefix: &Path) -> Output {
    kirin(&["uninstall", "--prefix", text(prefix)])
}
