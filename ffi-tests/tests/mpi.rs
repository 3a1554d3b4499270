//! A client whose ranks share the j-particles.

use std::process::Command;

use ffi_tests::compiler::{available, clean_command, run, source, texts};
use ffi_tests::generate::repository;
use ffi_tests::library;

#[test]
fn ranks_share_the_particles_and_one_has_none() {
    if !available("mpicc") || !available("mpirun") {
        return;
    }
    let program = library::workspace().join("mpi");
    let folder = library::fresh().folder();
    let compiled = Command::new("mpicc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-o"])
        .arg(&program)
        .arg(source("mpi.c"))
        .arg("-I")
        .arg(repository().join("include"))
        .arg("-L")
        .arg(folder)
        .arg(format!(
            "-Wl,--disable-new-dtags,-rpath,{}",
            folder.display()
        ))
        .args(["-lkirin", "-lm"])
        .status();
    assert!(
        compiled.is_ok_and(|s| s.success()),
        "mpi.c does not compile"
    );
    for (precision, bound) in [("double", 1e-12), ("mixed", 1e-5)] {
        for ranks in ["2", "3"] {
            let settings = [
                ("KIRIN_PRECISION", precision),
                // Open MPI as root, and with more ranks than cores.
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
                ("OMPI_MCA_mpi_yield_when_idle", "1"),
            ];
            let mut mpirun = clean_command("mpirun", &settings);
            let output = run(mpirun.args(["-n", ranks]).arg(&program));
            let (out, err) = texts(&output);
            let words: Vec<&str> = out.split_whitespace().collect();
            let [error, wrong] = words[..] else {
                panic!("{ranks} ranks: {out} {err}");
            };
            assert_eq!(
                wrong, "0",
                "a rank without particles answers other than zero"
            );
            let error: f64 = error.parse().expect("a number");
            assert!(error < bound, "{precision}, {ranks} ranks: {error}");
        }
    }
}
