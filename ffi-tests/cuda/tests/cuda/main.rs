//! The CUDA backend through the C interface, on a fake driver that interprets the PTX that is shipped.

mod agreement;
mod bulk;
mod chunks;
mod clients;
mod fake;
mod few;
mod inputs;
mod launches;
mod libraries;
mod narrow;
mod opening;
mod pages;
mod patience;
mod pipelines;
mod precision;
mod regular;
mod regular_client;
mod rest;
mod scales;
mod small_blocks;
mod steps;
mod times;
mod tiny;
mod traffic;
mod tree;
mod turns;
mod variants;

use std::ffi::OsStr;
use std::path::Path;

use ffi_tests::fake_cuda::{self, Run};

use fake::{driver, forces, succeed, try_forces};
use inputs::{PRECISIONS, input, set};

/// Runs a client on the device, in mixed precision unless the settings have another.
fn run(client: &Path, arguments: &[&OsStr], settings: &[(&str, &str)]) -> Option<Run> {
    let settings = [&[("KIRIN_PRECISION", "mixed")], settings].concat();
    Some(fake_cuda::run(driver()?, client, arguments, &settings))
}
