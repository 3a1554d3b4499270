//! Particles at rest, of which only mass, position and label are sent.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::Run;

use crate::run;

/// Bytes of the copies to the device.
fn sent(run: &Run) -> u64 {
    let copies = run.log.text.lines().filter_map(|line| {
        let mut words = line.split(' ').skip_while(|w| *w != "cuMemcpyHtoDAsync_v2");
        words.nth(3)?.parse::<u64>().ok()
    });
    copies.sum()
}

/// The same bits as of particles that have a time, and less than half the bytes.
#[test]
fn particles_at_rest_are_sent_in_short() {
    let Some(client) = compile("rest.c", Link::Shared) else {
        return;
    };
    for precision in ["mixed", "double"] {
        for (maps, devices) in [("1", "1"), ("0", "1"), ("0", "2")] {
            let settings = [
                ("KIRIN_PRECISION", precision),
                ("FAKE_CUDA_MAPS", maps),
                ("FAKE_CUDA_DEVICES", devices),
                ("KIRIN_DEVICES", "all"),
                ("FAKE_CUDA_TRACE", "1"),
            ];
            let of = |time: &str| {
                let run = run(&client, &[OsStr::new(time)], &settings)?;
                assert!(run.success && run.err.is_empty(), "{settings:?}: {run:?}");
                assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
                Some(run)
            };
            let (Some(at_rest), Some(with_time)) = (of("0"), of("0.25")) else {
                return;
            };
            assert_eq!(at_rest.out.lines().count(), 100);
            for (line, expected) in at_rest.out.lines().zip(with_time.out.lines()) {
                assert_eq!(line, expected, "{settings:?}");
            }
            let (short, whole) = (sent(&at_rest), sent(&with_time));
            println!("{settings:?}: {short} and {whole} bytes");
            assert!(maps == "1" || 2 * short < whole, "{short} of {whole} bytes");
        }
    }
}
