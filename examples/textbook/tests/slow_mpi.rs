//! The programs with message passing under an MPI launcher: what they print as threads, to the byte.

mod common;

use std::process::Output;

use common::PROGRAM;
use kirin_testing::Folder;
use kirin_testing::mpi::{build, mpirun};

#[test]
fn processes_print_what_threads_print() {
    let Some(folder) = build("textbook", PROGRAM.path, &[]) else {
        return;
    };
    let program = folder.join("textbook");
    let run = |ranks: usize, arguments: &[&str]| -> Output {
        mpirun(ranks, &program, arguments)
            .output()
            .expect("there is mpirun")
    };
    // Some number of processes divides each n and another does not.
    for arguments in [
        &["basic-ranks", "50", "10", "2000", "--every", "5"][..],
        &["reduced-ranks", "50", "10", "2000", "--leapfrog"],
        &["basic-ranks", "1", "2", "2000"],
        &["reduced-ranks", "1", "2", "2000"],
        &["sort-ranks", "10001"],
        &["sort-ranks", "2", "--keys", "equal"],
    ] {
        for ranks in [1, 2, 3, 4] {
            let output = run(ranks, arguments);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{arguments:?}, {ranks}: {errors}");
            let ranks = ranks.to_string();
            let expected = PROGRAM.succeed(&[arguments, &["--ranks", &ranks]].concat());
            assert!(output.stdout == expected.stdout, "{arguments:?}, {ranks}");
        }
    }
    // Said once, by one of three.
    let files = Folder::new("textbook-mpi");
    let missing = files.file("missing");
    for (arguments, why) in [
        (
            &["basic-ranks", "9", "1", "1", "--input", &missing][..],
            "No such file",
        ),
        (&["sort-ranks", "9", "--input", &missing], "No such file"),
        (
            &["reduced-ranks", "9", "1", "1", "--ranks", "3"],
            "no --ranks",
        ),
    ] {
        let output = run(3, arguments);
        assert!(
            !output.status.success() && output.stdout.is_empty(),
            "{output:?}"
        );
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors.matches("textbook: ").count(), 1, "{errors}");
        assert!(errors.contains(why), "{errors}");
    }
}
