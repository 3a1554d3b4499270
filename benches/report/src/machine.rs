//! The machine and the command line of a run, which every report names beside its results.

use std::fmt;
use std::path::Path;
use std::process::Command;

/// The machine of a run.
#[derive(Debug, serde::Serialize)]
pub struct Machine {
    /// Model name of the processor.
    pub processor: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Architecture and operating system.
    pub system: String,
    /// Processes that wanted a core in the last minute, when the run began.
    pub load: Option<f64>,
}

impl Machine {
    /// This one, now.
    pub fn here() -> Self {
        Self {
            processor: processor().unwrap_or_else(|| "unknown".to_owned()),
            cores: cores(),
            system: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            load: load(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, {} cores allowed",
            self.processor, self.system, self.cores
        )
    }
}

/// Cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// Seconds that this thread has computed.
pub fn processor_seconds() -> f64 {
    seconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Seconds that all threads of this process have computed, together.
pub fn process_seconds() -> f64 {
    seconds(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn seconds(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Linux only; x86-64 has a model name there, most others a part number.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|l| l.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    if let Some(model) = field("model name") {
        return Some(match (field("cpu family"), field("model\t")) {
            (Some(family), Some(number)) => format!("{model}, family {family} model {number}"),
            _ => model,
        });
    }
    Some(format!(
        "implementer {} part {}",
        field("CPU implementer")?,
        field("CPU part")?
    ))
}

fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Bytes of memory that this process may use: those of the machine, or of its control group. Linux only.
fn memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let text = read("/proc/meminfo")?;
    let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
    let total = 1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    let group = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok());
    Some(group.map_or(total, |group: u64| total.min(group)))
}

/// Checks before anything is made that `n` bodies of so many bytes each have room in this machine.
///
/// # Errors
///
/// They have none; in words.
pub fn check_memory(n: u64, bytes: u64) -> Result<(), String> {
    memory().map_or(Ok(()), |memory| has_room(n, bytes, memory))
}

fn has_room(n: u64, bytes: u64, memory: u64) -> Result<(), String> {
    let gigabytes = |bytes: f64| match bytes / 1e9 {
        gb if gb < 10.0 => format!("{gb:.1}"),
        gb => format!("{gb:.0}"),
    };
    let needed = n as f64 * bytes as f64;
    if needed <= memory as f64 {
        return Ok(());
    }
    Err(format!(
        "{:e} bodies need about {} GB; this machine has {}",
        n as f64,
        gigabytes(needed),
        gigabytes(memory as f64)
    ))
}

/// The command line of this process.
pub fn command_line() -> Vec<String> {
    std::env::args_os()
        .map(|a| a.to_string_lossy().into_owned())
        .collect()
}

/// The commit of the program, in words; `None` where it does not lie in kirin's source tree. If the program is older than
/// the tree's last commit or checkout (or the last time that git rewrote its list of them), or if sources were changed since, the
/// words say so. A program that was carried to
/// another machine has a file `commit` beside it.
pub fn commit() -> Option<String> {
    commit_of(&std::env::current_exe().ok()?)
}

/// Git in a folder, whatever repository the environment names. It takes no lock that is not needed.
fn git_in(folder: &Path) -> Command {
    let mut git = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(name);
    }
    git.arg("--no-optional-locks").arg("-C").arg(folder);
    git
}

fn commit_of(program: &Path) -> Option<String> {
    let folder = program.parent()?;
    if let Ok(carried) = std::fs::read_to_string(folder.join("commit")) {
        return Some(carried.trim().to_owned());
    }
    let git = |arguments: &[&str]| {
        let mut git = git_in(folder);
        let output = git.args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let tree = git(&["rev-parse", "--show-toplevel"])?;
    if !Path::new(&tree).join("benches/report/Cargo.toml").exists() {
        return None;
    }
    let commit = git(&["rev-parse", "--short=8", "HEAD"])?;
    // The reports themselves are no sources.
    let sources = [":/", ":(top,exclude)benches/results"];
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changed = git(&[&status[..], &sources].concat())?;
    let time = |path: &Path| std::fs::metadata(path).ok()?.modified().ok();
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    let moved = time(&folder.join(log))?;
    Some(match (changed.is_empty(), time(program)? < moved) {
        (false, false) => format!("{commit} and changes that were not committed"),
        (false, true) => format!(
            "{commit} or an older one: the program was built before it, and sources were changed"
        ),
        (true, true) => format!("{commit} or an older one: the program was built before it"),
        (true, false) => commit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_testing::Folder;

    /// A program in a tree with one commit, with another one, and with a change; and one that was carried away.
    #[test]
    fn the_commit_is_that_of_the_program() {
        let folder = Folder::new("commit");
        let git = |arguments: &str| {
            let mut git = git_in(folder.file("").as_ref());
            git.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
            git.args(["-c", "commit.gpgsign=false"]);
            let output = git.args(arguments.split(' ')).output();
            output.is_ok_and(|output| output.status.success())
        };
        let write = |name: &str| {
            let path = folder.file(name);
            std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
            std::fs::write(&path, name).unwrap();
        };
        let program = folder.file("target/release/program");
        let found = || commit_of(program.as_ref());
        write("benches/report/Cargo.toml");
        write("benches/results/report.md");
        if git("init") && git("add benches") && git("commit -m one") {
            write("target/release/program");
            let clean = found().unwrap();
            assert!(clean.len() == 8 && u32::from_str_radix(&clean, 16).is_ok());
            std::fs::write(folder.file("benches/results/report.md"), "2").unwrap();
            assert_eq!(found().unwrap(), clean);
            std::fs::write(folder.file("benches/report/Cargo.toml"), "2").unwrap();
            assert!(found().unwrap().ends_with("not committed"));
            assert!(git("commit -a -m two"));
            let older = found().unwrap();
            assert!(!older.starts_with(&clean) && older.ends_with("built before it"));
            std::fs::write(folder.file("benches/report/Cargo.toml"), "3").unwrap();
            assert!(found().unwrap().ends_with("and sources were changed"));
            std::fs::remove_dir_all(folder.file("benches")).unwrap();
            assert_eq!(found(), None, "another tree");
        } else {
            kirin_testing::skipped("no git");
            write("target/release/program");
        }
        std::fs::write(folder.file("target/release/commit"), "12345678\n").unwrap();
        assert_eq!(found().unwrap(), "12345678");
    }

    #[test]
    fn bodies_without_room_are_refused_with_both_figures() {
        let refusal = has_room(1_000_000_000, 64, 23_400_000_000).unwrap_err();
        assert_eq!(refusal, "1e9 bodies need about 64 GB; this machine has 23");
        assert_eq!(has_room(300_000_000, 64, 23_400_000_000), Ok(()));
        #[cfg(target_os = "linux")]
        assert!(memory().is_some_and(|bytes| bytes > 1 << 26));
    }
}
