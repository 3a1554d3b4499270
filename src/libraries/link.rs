//! Link settings of a library of forwarded names: its own name, and its dependency on `libkirin.so.0` in the same
//! folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The name under which clients remember kirin's library.
const KIRIN: &str = "libkirin.so.0";

fn main() {
    println!("cargo::rerun-if-changed=../link.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let name = variable("CARGO_PKG_NAME").replace('-', "_");
    let argument = |argument: &str| println!("cargo::rustc-cdylib-link-arg={argument}");
    match variable("CARGO_CFG_TARGET_OS").as_str() {
        "linux" => {
            let out = PathBuf::from(variable("OUT_DIR"));
            argument(&format!("-Wl,-soname,lib{name}.so.0"));
            argument("-Wl,-rpath,$ORIGIN");
            argument("-Wl,--no-as-needed");
            argument(&empty_library(&out).display().to_string());
            link_name(&out, &name);
        }
        "macos" => argument("-Wl,-undefined,dynamic_lookup"),
        _ => {}
    }
}

/// A library without contents that bears kirin's name: the real one may not be built yet, and only its name is needed.
fn empty_library(out: &Path) -> PathBuf {
    let linker = std::env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let (source, library) = (out.join("empty.c"), out.join("libkirin.so"));
    std::fs::write(&source, "").expect("the folder of a build script is writable");
    let status = Command::new(&linker)
        .args(["-shared", "-nostdlib", "-fPIC", "-o"])
        .arg(&library)
        .arg(format!("-Wl,-soname,{KIRIN}"))
        .arg(&source)
        .status();
    assert!(
        status.as_ref().is_ok_and(|s| s.success()),
        "{linker} makes no shared library: {status:?}"
    );
    library
}

/// Lets clients that were linked with the library in `target/PROFILE` find it there again.
#[cfg(unix)]
fn link_name(out: &Path, name: &str) {
    // target/PROFILE/build/PACKAGE-HASH/out
    if let Some(profile) = out.ancestors().nth(3) {
        let link = profile.join(format!("lib{name}.so.0"));
        let _ = std::os::unix::fs::symlink(format!("lib{name}.so"), link);
    }
}

#[cfg(not(unix))]
fn link_name(_: &Path, _: &str) {}
