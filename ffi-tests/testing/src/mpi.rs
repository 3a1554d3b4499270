//! Builds the parallel programs with the feature `mpi`, in a folder of their own, and runs them under an MPI launcher
//! for their tests. This needs MPI and libclang.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Why no program can be built with MPI, or run, here.
fn lacking() -> Option<String> {
    let runs = |program: &str| {
        let found = Command::new(program).arg("--version").output();
        found.is_ok_and(|output| output.status.success())
    };
    for program in ["mpicc", "mpirun"] {
        if !runs(program) {
            return Some(format!("there is no {program}"));
        }
    }
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(Path::new);
    // `libclang.so`, `libclang-14.so.1` and the like. LLVM alone brings `libclang-cpp.so`, which is another library.
    let is_libclang = |name: &str| {
        let rest = name.strip_prefix("libclang");
        rest.is_some_and(|rest| rest.starts_with(".so"))
            || rest
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    let has_libclang = |folder: &Path| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files
            .map(|file| file.file_name())
            .any(|name| is_libclang(&name.to_string_lossy()))
    };
    let below = |folder: &Path| {
        let folders = std::fs::read_dir(folder).into_iter().flatten().flatten();
        folders
            .map(|f| f.path())
            .any(|f| has_libclang(&f) || has_libclang(&f.join("lib")))
    };
    let found = std::env::var_os("LIBCLANG_PATH").is_some()
        || folders.iter().any(|f| has_libclang(f) || below(f));
    (!found).then(|| "there is no libclang".to_owned())
}

/// What is compiled once more with the feature, and spends little time in forces of its own: quickly compiled is better than quick here.
const QUICKLY: [&str; 6] = [
    "hermite",
    "kirin-kit",
    "monte-carlo",
    "parallel",
    "textbook",
    "treecode",
];

/// Builds the program `package` with the feature `mpi`. `path` is the program without MPI; the build goes into the
/// folder `mpi` of the same target folder. `besides` are further arguments of cargo. Returns the program's folder. If
/// this machine lacks MPI or libclang, returns `None` and notes why.
///
/// # Panics
///
/// It does not build.
pub fn build(package: &str, path: &str, besides: &[&str]) -> Option<PathBuf> {
    if let Some(why) = lacking() {
        super::skipped(why);
        return None;
    }
    let targets = Path::new(path).parent().and_then(Path::parent);
    let targets = targets.expect("target/debug/program");
    let target = targets.join("mpi");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "-p", package, "--bin", package])
        .args(["--features", &format!("{package}/mpi")])
        .args(QUICKLY.iter().flat_map(|p| {
            [
                "--config".to_owned(),
                format!("profile.dev.package.{p}.opt-level=1"),
            ]
        }))
        .args(besides)
        .arg("--target-dir")
        .arg(&target)
        .env_remove("CARGO_TARGET_DIR")
        // What has been built without MPI serves here, too, where cargo knows a folder for that (1.91).
        .env("CARGO_BUILD_BUILD_DIR", targets)
        .status();
    assert!(status.is_ok_and(|s| s.success()), "it does not build");
    Some(target.join("debug"))
}

/// A run of `program` on so many ranks.
pub fn mpirun(ranks: usize, program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command
        .args(["-n", &ranks.to_string()])
        .arg(program)
        .args(arguments)
        // Open MPI as root, and with more ranks than cores.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1");
    command
}
