//! The variants of the pair loop (`kernels/variants`): all give the same sums. On a GPU `benches/variants.py` times them.

use std::ffi::OsStr;
use std::path::Path;

use ffi_tests::fake_cuda;
use ffi_tests::generate::repository;
use kirin_testing::process::available;

use crate::driver;

#[test]
fn all_variants_of_the_pair_loop_give_the_same_sums() {
    let Some(driver) = driver() else {
        return;
    };
    if !available("python3") {
        return;
    }
    let script = repository().join("benches/variants.py");
    let arguments = [script.as_os_str(), OsStr::new("--check")];
    let run = fake_cuda::run(driver, Path::new("python3"), &arguments, &[]);
    assert!(run.success && run.err.is_empty(), "{run:?}");
    assert_eq!(run.log.complaints, [""; 0]);
    let launched = run.log.kernels().count();
    assert!(
        run.out
            .contains(&format!("{launched} variants give the same sums")),
        "{run:?}"
    );
}
