//! Runs programs for tests: in a clean environment, with a time limit, with files in a folder of the test process.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::skipped;

/// Whether `program` can be run; prints SKIPPED where it cannot.
pub fn available(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !found {
        skipped(format!("there is no {program} on this machine"));
    }
    found
}

/// How long a client may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command without the settings and search paths of the surrounding `cargo test`.
pub fn clean_command(program: impl AsRef<OsStr>, settings: &[(&str, &str)]) -> Command {
    clean(Command::new(program), settings)
}

/// `command` as [`clean_command`] makes one.
pub fn clean(mut command: Command, settings: &[(&str, &str)]) -> Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("KIRIN_") || text.starts_with("FAKE_CUDA_") {
            command.env_remove(name);
        }
    }
    command.env_remove("LD_LIBRARY_PATH");
    // Where no GPU is, `auto` says so on stderr.
    command.env("KIRIN_BACKEND", "cpu");
    command.envs(settings.iter().copied());
    command
}

/// Runs a program to its end, which must come within two minutes: on a busy machine a sanitizer needs one.
pub fn run(command: &mut Command) -> Output {
    let folder = workspace();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    // Files and not pipes: nobody has to read them while the program runs.
    let paths = ["out", "err"].map(|e| folder.join(format!("run-{number}.{e}")));
    let file = |p: &Path| std::fs::File::create(p).expect("the target folder is writable");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file(&paths[0]))
        .stderr(file(&paths[1]))
        .process_group(0)
        .spawn()
        .expect("a compiled client runs");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            // The whole group: a client may have forked.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |p: &Path| std::fs::read(p).expect("the file was made above");
    let output = Output {
        status,
        stdout: read(&paths[0]),
        stderr: read(&paths[1]),
    };
    for path in &paths {
        let _ = std::fs::remove_file(path);
    }
    output
}

/// stdout and stderr of a run.
pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// A folder for the files of this process; folders of processes that ended are removed.
pub fn workspace() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let all = target().join("tmp").join("testing");
        let own = all.join(std::process::id().to_string());
        std::fs::create_dir_all(&own).expect("the target folder is writable");
        for entry in all.read_dir().into_iter().flatten().flatten() {
            let process = Path::new("/proc").join(entry.file_name());
            if Path::new("/proc/self").exists() && !process.exists() {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        own
    });
    &FOLDER
}

/// The folder of build products that this test program came from: `target/PROFILE/deps/PROGRAM`.
pub fn target() -> PathBuf {
    profile_folder()
        .parent()
        .expect("profiles are folders of the target folder")
        .to_owned()
}

/// The folder of the profile: `target/PROFILE`.
///
/// # Panics
///
/// The test program lies in no folder.
pub fn profile_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a process has a program");
    program
        .ancestors()
        .skip(1)
        .find(|p| !p.ends_with("deps"))
        .expect("a program is in a folder")
        .to_owned()
}
