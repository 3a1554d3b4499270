//! The tests of the CUDA backend on the GPUs of this machine; SKIPPED where there is none.
//!
//! A real driver ignores the settings `FAKE_CUDA_*`.

#[path = "../../cuda/tests/cuda/agreement.rs"]
mod agreement;
#[path = "../../cuda/tests/cuda/bits.rs"]
mod bits;
#[path = "../../cuda/tests/cuda/clients.rs"]
mod clients;
#[path = "../../cuda/tests/cuda/inputs.rs"]
mod inputs;
#[path = "../../cuda/tests/cuda/regular.rs"]
mod regular;
#[path = "../../cuda/tests/cuda/regular_client.rs"]
mod regular_client;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ffi_tests::compiler::{self, Link, clean_command, compile, texts};
use ffi_tests::fake_cuda::{Log, Run};
use kirin_testing::skipped;

use inputs::{PRECISIONS, input, set, with_pipelines};

/// No folder is searched before the system's: the driver is that of this machine. `None` where it has no GPU.
fn driver() -> Option<&'static Path> {
    match kirin_core::gpu::cuda::devices() {
        Ok(_) => Some(Path::new("")),
        Err(reason) => {
            skipped(reason.to_string());
            None
        }
    }
}

/// Runs a client on the GPU.
fn run(client: &Path, arguments: &[&OsStr], settings: &[(&str, &str)]) -> Option<Run> {
    driver()?;
    let mut command = clean_command(client, &[("KIRIN_BACKEND", "cuda")]);
    command.args(arguments).envs(settings.iter().copied());
    let output = compiler::run(&mut command);
    let (out, err) = texts(&output);
    Some(Run {
        success: output.status.success(),
        out,
        err,
        log: Log::default(),
    })
}

/// Runs a client and returns what it prints. The client must succeed and write nothing to stderr, where a line would
/// say that the CPU computed.
fn succeed(client: &Path, arguments: &[&OsStr], settings: &[(&str, &str)]) -> Option<String> {
    let run = run(client, arguments, settings)?;
    assert!(run.success && run.err.is_empty(), "{settings:?}: {run:?}");
    Some(run.out)
}

/// What the client prints about a file.
fn forces(input: &Path, settings: &[(&str, &str)]) -> Option<String> {
    static CLIENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| compile("forces.c", Link::Shared));
    let settings = with_pipelines(settings);
    succeed(CLIENT.as_deref()?, &[input.as_os_str()], &settings)
}
