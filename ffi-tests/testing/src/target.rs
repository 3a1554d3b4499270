//! Tests for another target than this machine: with `FFI_TESTS_TARGET=aarch64-unknown-linux-gnu` the library and the
//! C clients are built for that target, and the clients run under an emulator.
//!
//! Cargo's settings name the tools: a C compiler and an emulator. Only `--test semantics` and `--test random` can run
//! this way, since their clients are in C:
//!
//! ```text
//! export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
//! export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
//! FFI_TESTS_TARGET=aarch64-unknown-linux-gnu cargo test -p ffi-tests --test semantics
//! ```

use std::sync::LazyLock;

/// The target and its tools.
#[derive(Debug)]
pub struct Platform {
    /// Its name to cargo.
    pub triple: String,
    /// Its C compiler.
    pub gcc: String,
    /// What runs its programs, with options.
    pub runner: Vec<String>,
}

/// The target of the clients; `None` where it is this machine.
///
/// # Panics
///
/// The target has no tools.
pub fn foreign() -> Option<&'static Platform> {
    static TARGET: LazyLock<Option<Platform>> = LazyLock::new(|| {
        let triple = std::env::var("FFI_TESTS_TARGET").ok()?;
        let prefix = triple.to_uppercase().replace('-', "_");
        let tool = |kind: &str| {
            let name = format!("CARGO_TARGET_{prefix}_{kind}");
            std::env::var(&name).unwrap_or_else(|_| panic!("{triple} needs {name}"))
        };
        let runner = tool("RUNNER")
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        Some(Platform {
            gcc: tool("LINKER"),
            runner,
            triple,
        })
    });
    TARGET.as_ref()
}
