//! The program under an MPI launcher writes the same bytes as with threads.

mod common;

use std::fs;

use common::PROGRAM;
use kirin_testing::Folder;
use kirin_testing::mpi::{build, mpirun};

#[test]
fn ranks_of_mpi_give_the_file_of_threads() {
    let Some(folder) = build("monte-carlo", PROGRAM.path, &[]) else {
        return;
    };
    let program = folder.join("monte-carlo");
    let files = Folder::new("mc-mpi");
    let [out, expected] = ["out.txt", "expected.txt"].map(|f| files.file(f));
    let run = ["--n", "10000", "--steps", "50", "--threads", "1"];
    PROGRAM.succeed(&[&run[..], &["--output", &expected]].concat());
    let expected = fs::read(expected).unwrap();
    for ranks in [1, 2, 3, 4] {
        let mut command = mpirun(
            ranks,
            &program,
            &[&run[..], &["--output", &out, "--force"]].concat(),
        );
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        assert!(fs::read(&out).unwrap() == expected, "{ranks} ranks");
    }
    // Said once, by one of three.
    let refused = mpirun(3, &program, &["--input", "/no/such/file"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(errors.matches("monte-carlo: ").count(), 1, "{errors}");
}
