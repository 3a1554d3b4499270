//! The CUDA backend on the fake driver: tests that repeat much, try every kernel, or run under sanitizers.

#[path = "../cuda/accuracy.rs"]
mod accuracy;
#[path = "../cuda/bits.rs"]
mod bits;
#[path = "../cuda/close.rs"]
mod close;
#[path = "../cuda/fake.rs"]
mod fake;
#[path = "../cuda/faults.rs"]
mod faults;
#[path = "../cuda/inputs.rs"]
mod inputs;
#[path = "../cuda/modules.rs"]
mod modules;
#[path = "../cuda/regular_client.rs"]
mod regular_client;
#[path = "../cuda/regular_faults.rs"]
mod regular_faults;
#[path = "../cuda/sanitizers.rs"]
mod sanitizers;
mod slow;

use fake::{client, driver, forces, try_forces};
use inputs::{PRECISIONS, input, set, with_pipelines};
