//! Link settings of the shared library.

use std::path::Path;

/// The name (SONAME) that programs linked with the library record. Its number counts versions of the C interface,
/// which has not changed since 2003, and not versions of the package.
const SONAME: &str = "libkirin.so.0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") == "linux" {
        // Worker threads may be running when a client calls dlclose: the library stays mapped.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
        link_name(Path::new(&variable("OUT_DIR")));
    }
}

/// Makes a link beside the library under its SONAME, so that clients linked with `target/PROFILE/libkirin.so` find
/// it when they start. If cargo's folders are arranged otherwise there is no link, and clients need an installed
/// library.
#[cfg(unix)]
fn link_name(out: &Path) {
    // target/PROFILE/build/kirin-HASH/out
    if let Some(profile) = out.ancestors().nth(3) {
        let _ = std::os::unix::fs::symlink("libkirin.so", profile.join(SONAME));
    }
}

#[cfg(not(unix))]
fn link_name(_: &Path) {}
