//! Launches that the driver would refuse do not bar the device.

use std::ffi::CString;

use kirin_device::{Argument, Gpu, ptx};

/// Says that this process is the one with the driver that interprets PTX.
const INSIDE: &str = "LAUNCHES_TEST_INSIDE";
const TEST: &str = "the_device_is_used_after_a_refusal";

#[test]
fn the_device_is_used_after_a_refusal() {
    if std::env::var_os(INSIDE).is_some() {
        return launch();
    }
    let Some(run) = fake_cuda::run_test(TEST, &[(INSIDE, "1")]) else {
        return;
    };
    assert!(run.success, "{run:?}");
    assert_eq!(run.log.count("kernel:scale"), 2);
    assert_eq!(run.log.count("cuLaunchCooperativeKernel"), 1);
}

fn launch() {
    let gpu = Gpu::open().expect("the driver is there");
    let text = ptx!("scale").to_str().expect("ASCII");
    let limited = text.replace(")\n{", ")\n.maxntid 64, 1, 1\n{");
    let limited = CString::new(limited).expect("no zero bytes");
    let module = gpu.module(&limited).expect("it is PTX");
    let kernel = module.kernel("scale").expect("it is there");
    let mut here = gpu.pinned(3).expect("there is room");
    here.values_mut()
        .expect("nothing is queued")
        .copy_from_slice(&[1.0, 2.0, 3.0]);
    let there = gpu.zeros(3).expect("there is room");
    there.upload(&here).expect("it is queued");
    for (blocks, threads, is_taken) in [
        (1, 2048, false),
        (1, 65, false),
        (1, 0, false),
        (0, 64, true),
        (1, 64, true),
    ] {
        // SAFETY: the kernel takes an array of n numbers, a factor and n, and writes to the array alone.
        let launched = unsafe { gpu.launch(&kernel, blocks, threads, &[&there, &2.0, &3]) };
        assert_eq!(launched.is_ok(), is_taken, "{blocks}, {threads}");
    }
    // Thread blocks that could wait for each other: 16 on each of four multiprocessors.
    let resident = gpu.resident_blocks(&kernel, 64).expect("it has some");
    assert_eq!(resident, 64);
    for (blocks, threads, is_taken) in [
        (resident + 1, 64, false),
        (1, 65, false),
        (0, 64, true),
        (resident, 64, true),
    ] {
        let arguments: [&dyn Argument; 3] = [&there, &2.0, &3];
        // SAFETY: as above.
        let launched = unsafe { gpu.launch_cooperative(&kernel, blocks, threads, &arguments) };
        assert_eq!(launched.is_ok(), is_taken, "{blocks}, {threads}");
    }
    there.download(&mut here).expect("it is queued");
    assert_eq!(here.values().expect("it is done"), [4.0, 8.0, 12.0]);
    Gpu::open().expect("it did not fail before");
}
