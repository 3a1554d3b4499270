//! What the library's driver frees, it frees once.

use kirin_core::gpu::cuda::driver::{Event, Stream, devices};

/// Says that this process is the one with the driver that interprets PTX.
const INSIDE: &str = "FREE_TEST_INSIDE";

#[test]
fn a_second_free_does_nothing() {
    if std::env::var_os(INSIDE).is_some() {
        return free_twice();
    }
    // Nothing was freed before this call fails, or it was freed and the driver reports an error of the device's work.
    for failing in ["", "cuStreamDestroy_v2:700", "cuEventDestroy_v2:700"] {
        let settings = [(INSIDE, "1"), ("FAKE_CUDA_FAIL", failing)];
        let settings = &settings[..1 + usize::from(!failing.is_empty())];
        let Some(run) = fake_cuda::run_test("a_second_free_does_nothing", settings) else {
            return;
        };
        assert!(run.success, "{failing}: {run:?}");
        assert_eq!(run.log.complaints, [""; 0], "{failing}");
        assert_eq!(
            run.log.count("cuStreamDestroy_v2"),
            1,
            "{failing}: {}",
            run.log.text
        );
        assert_eq!(
            run.log.count("cuEventDestroy_v2"),
            1,
            "{failing}: {}",
            run.log.text
        );
    }
}

fn free_twice() {
    let device = &devices().expect("the driver is there")[0];
    let context = device.open().expect("it opens");
    let current = context.enter().expect("it is there");
    let mut stream = Stream::new(&current).expect("there is room");
    let mut event = Event::new(&current).expect("there is room");
    for _ in 0..2 {
        event.free(&current);
        stream.free(&current);
    }
}
