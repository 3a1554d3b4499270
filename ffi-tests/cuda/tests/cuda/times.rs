//! Steps at changing times. At each new time the device predicts every page, from a list of all pages that stays on the
//! device.

use ffi_tests::compiler::{Link, compile};

use crate::run;

/// The same bits as with the host's predictions, which are sent page by page.
#[test]
fn a_new_time_predicts_every_page() {
    let Some(client) = compile("times.c", Link::Shared) else {
        return;
    };
    let of = |settings: &[(&str, &str)]| {
        let run = run(&client, &[], settings)?;
        assert!(run.success && run.err.is_empty(), "{run:?}");
        assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
        Some(run)
    };
    for precision in ["mixed", "double"] {
        let precision = ("KIRIN_PRECISION", precision);
        let Some(by_host) = of(&[precision, ("KIRIN_PREDICTOR", "host")]) else {
            return;
        };
        for settings in [
            &[][..],
            &[("FAKE_CUDA_MAPS", "0")],
            &[("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")],
        ] {
            let Some(run) = of(&[&[precision], settings].concat()) else {
                return;
            };
            assert_eq!(run.out.lines().count(), 28);
            assert!(
                run.out == by_host.out,
                "{settings:?}:\n{}\nby the host:\n{}",
                run.out,
                by_host.out
            );
        }
    }
}
