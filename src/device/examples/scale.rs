//! Multiplies numbers on a GPU: `cargo run -p kirin-device`.

use std::process::ExitCode;

use kirin_device::{Failure, Gpu, ptx};

fn main() -> ExitCode {
    match scaled(&[1.0, 2.5, -4.0], 2.0) {
        Ok(numbers) => {
            println!("{numbers:?}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("scale: {why}");
            ExitCode::FAILURE
        }
    }
}

fn scaled(numbers: &[f64], factor: f64) -> Result<Vec<f64>, Failure> {
    // The device that KIRIN_DEVICES names, or the first.
    let gpu = Gpu::open()?;
    let kernel = gpu.module(ptx!("scale"))?.kernel("scale")?;
    // Pinned memory of the host: copies of it are queued, and the host goes on.
    let mut here = gpu.pinned(numbers.len())?;
    here.values_mut()?.copy_from_slice(numbers);
    let there = gpu.zeros(numbers.len())?;
    there.upload(&here)?;
    let n = numbers.len() as i32;
    let blocks = numbers.len().div_ceil(64);
    // SAFETY: the kernel takes an array of n numbers, a factor and n, and writes to the array alone.
    unsafe { gpu.launch(&kernel, blocks, 64, &[&there, &factor, &n])? };
    there.download(&mut here)?;
    // This waits for all of it.
    Ok(here.values()?.to_vec())
}
