//! The number of thread blocks that are launched for a block of i-particles.

use crate::{driver, input, set, try_forces};

#[test]
fn blocks_that_are_not_split_have_fewer_thread_blocks() {
    let Some(driver) = driver() else {
        return;
    };
    let input = input(&set(4500, 30, 1e-4));
    let launched = |split| {
        // On a device that the i-particles alone do not fill.
        let settings = [("KIRIN_SPLIT", split), ("FAKE_CUDA_MULTIPROCESSORS", "132")];
        let run = try_forces(driver, &input, &settings)?;
        assert!(run.success && run.err.is_empty(), "{run:?}");
        Some(run.log.count("blocks"))
    };
    let (Some(split), Some(whole)) = (launched("auto"), launched("off")) else {
        return;
    };
    assert!(0 < whole && whole < split, "{whole}, {split} when split");
}
