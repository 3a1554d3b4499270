//! Large blocks, which the host gives a device in chunks.

use std::path::{Path, PathBuf};

use ffi_tests::fake_cuda::Run;
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::Set;

use crate::{driver, input, set, try_forces};

const WHOLE: (&str, &str) = ("KIRIN_NPIPES", "16384");
const IN_PARTS: (&str, &str) = ("KIRIN_NPIPES", "1024");
const WITHOUT_NEAREST: (&str, &str) = ("WITHOUT_NEAREST", "1");
const TWO: [(&str, &str); 2] = [("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")];

/// Two chunks, the second of which fills no thread block.
fn block(nj: usize) -> (Set, PathBuf) {
    let set = set(nj, 4133, 1e-4);
    let input = input(&set);
    (set, input)
}

fn compute(input: &Path, settings: &[&[(&str, &str)]]) -> Option<Run> {
    let run = try_forces(driver()?, input, &settings.concat())?;
    assert!(run.success, "{settings:?}: {run:?}");
    assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
    Some(run)
}

/// The number of chunks changes no digit. A block of one chunk needs no event.
#[test]
fn a_block_in_chunks_has_the_digits_of_small_blocks() {
    // In the last row both devices have pages.
    for (nj, settings, events) in [
        (70, &[][..], 2),
        (70, &[WITHOUT_NEAREST], 1),
        (70, &[("FAKE_CUDA_MAPS", "0")], 2),
        (70, &[("FAKE_CUDA_EXECUTION", "immediate")], 2),
        (520, &[TWO[0], TWO[1], WITHOUT_NEAREST], 2),
    ] {
        let (set, input) = block(nj);
        let Some(whole) = compute(&input, &[&[WHOLE], settings]) else {
            return;
        };
        let Some(parts) = compute(&input, &[&[IN_PARTS], settings]) else {
            return;
        };
        assert!(whole.err.is_empty() && parts.err.is_empty(), "{whole:?}");
        // The first block is queued anew where it asks for nearest neighbours, which nobody has expected.
        let recorded = |run: &Run| run.log.count("cuEventRecord");
        assert_eq!((recorded(&whole), recorded(&parts)), (events, 0));
        assert_eq!(whole.log.left(), [""; 0], "{settings:?}");
        assert!(whole.out == parts.out, "{settings:?}: other digits");
        if !settings.contains(&WITHOUT_NEAREST) {
            report::check(&whole.out, &set, Tolerance::of("mixed"), true);
        }
    }
}

/// A device that fails between two chunks, when a part of the results is with the client already.
#[test]
fn a_device_may_be_lost_between_two_chunks() {
    let (set, input) = block(70);
    let Some(whole) = compute(&input, &[&[WHOLE]]) else {
        return;
    };
    for call in ["cuEventRecord#1", "cuEventQuery#1", "cuStreamQuery#2"] {
        let fail = format!("{call}:700:device");
        let fail = [("FAKE_CUDA_FAIL", &fail[..])];
        for (devices, heir) in [
            (&[][..], "the CPU computes"),
            (&TWO, "the other devices compute"),
        ] {
            let Some(run) = compute(&input, &[&[WHOLE], devices, &fail]) else {
                return;
            };
            assert!(run.err.contains(heir), "{call}: {}", run.err);
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
            report::check(&run.out, &set, Tolerance::of("mixed"), true);
            if !devices.is_empty() {
                assert!(run.out == whole.out, "{call}: other digits");
            }
        }
    }
}

/// A device whose event of the first chunk never comes.
#[test]
fn a_device_that_hangs_in_a_chunk_is_given_up_if_asked_for() {
    let (_, input) = block(70);
    let Some(whole) = compute(&input, &[&[WHOLE, WITHOUT_NEAREST]]) else {
        return;
    };
    // With nearest neighbours, which nobody has expected, the block would be queued anew before anybody waits for an event.
    let hangs = [
        ("FAKE_CUDA_HANG", "3"),
        ("KIRIN_GPU_TIMEOUT", "1"),
        WITHOUT_NEAREST,
    ];
    for (devices, heir) in [
        (&[][..], "the CPU computes"),
        (&TWO, "the other devices compute"),
    ] {
        let Some(run) = compute(&input, &[&[WHOLE], devices, &hangs]) else {
            return;
        };
        for words in ["cuEventQuery", "no answer for 1.", heir] {
            assert!(run.err.contains(words), "{words}: {}", run.err);
        }
        // The last bits of the CPU are others.
        let lines = |run: &Run| run.out.lines().count();
        assert_eq!(lines(&run), lines(&whole));
        assert!(devices.is_empty() || run.out == whole.out, "other digits");
    }
}
