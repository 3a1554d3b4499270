//! The output files of a run. They are checked before the run begins, and locked while it lasts.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::command::{Files, named};
use crate::replace::{behind_links, folder_of};
use crate::run::Log;
use crate::snapshot::{SETTINGS, Snapshot, is_snapshot, parts};
use kirin_report::machine::command_line;

/// The lock on the files of a run. Beside each file there is a lock file, `run.txt.lock`, which names the process. It
/// is locked while the process lives and removed at its end. A lock file that a crash left behind is no hindrance.
#[derive(Debug, Default)]
pub struct Claim(Vec<(PathBuf, File)>);

impl Claim {
    /// Locks files.
    ///
    /// # Errors
    ///
    /// Another process has locked one of them; in words.
    pub(crate) fn of<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<Self, String> {
        let mut claim = Self::default();
        for path in paths.filter(|path| !is_device(path)) {
            claim.lock(path)?;
        }
        Ok(claim)
    }

    fn lock(&mut self, path: &Path) -> Result<(), String> {
        let written = behind_links(path);
        let mut name = written.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let lock = written.with_file_name(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        loop {
            let mut file = options.open(&lock).map_err(named(&lock))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut owner = String::new();
                    let _ = file.read_to_string(&mut owner);
                    return Err(format!(
                        "{}: {} writes this file",
                        path.display(),
                        owner.trim()
                    ));
                }
                // A file system without locks.
                Err(TryLockError::Error(_)) => return Ok(()),
            }
            // Its last owner may have removed it in the meantime.
            if !is_at(&file, &lock) {
                continue;
            }
            let mut found = String::new();
            let is_text = file.read_to_string(&mut found).is_ok();
            if !is_text || !(found.is_empty() || found.starts_with("process ")) {
                return Err(format!(
                    "{}: its lock would replace {}, which another program wrote",
                    path.display(),
                    lock.display()
                ));
            }
            let _ = file.rewind();
            let owner = format!(
                "process {} ({})\n",
                std::process::id(),
                command_line().join(" ")
            );
            let _ = file.set_len(0);
            let _ = file.write_all(owner.as_bytes());
            self.0.push((lock, file));
            return Ok(());
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        for (path, _) in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether `file` is the one at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |m: fs::Metadata| (m.dev(), m.ino());
    let found = fs::metadata(path).map(identity);
    file.metadata()
        .map(identity)
        .is_ok_and(|mine| found.is_ok_and(|found| found == mine))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Whether there is something at `path` that is neither a file nor a folder, such as `/dev/null`.
pub(crate) fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Whether both are one file.
pub(crate) fn is_same(path: &Path, other: Option<&Path>) -> bool {
    let whole = |path: &Path| {
        fs::canonicalize(path).unwrap_or_else(|_| in_whole_folder(&behind_links(path)))
    };
    other.is_some_and(|other| whole(path) == whole(other))
}

/// The path of a file that is not there yet, by its folder's whole path: `./run.txt` is `run.txt`.
fn in_whole_folder(path: &Path) -> PathBuf {
    match (fs::canonicalize(folder_of(path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Checks that everything that `files` name can be written, and what one program writes besides, and nothing twice.
pub(crate) fn check_paths(files: &Files, more: Option<&PathBuf>) -> Result<(), String> {
    let made = || {
        let tables = [&files.json, &files.plot, &files.csv].into_iter().flatten();
        tables.chain(more)
    };
    let given: Vec<&PathBuf> = files.output.iter().chain(made()).collect();
    for (k, path) in given.iter().enumerate() {
        if !is_device(path) && given[..k].iter().any(|other| is_same(path, Some(other))) {
            return Err(format!("{}: two options name this file", path.display()));
        }
        check_writable(path)?;
    }
    for path in made() {
        if !is_device(path) && is_same(path, files.input.as_deref()) {
            return Err(format!("{}: this is the --input", path.display()));
        }
    }
    if let Some(path) = files.output.as_ref().filter(|path| is_device(path)) {
        return Err(format!(
            "{}: an --output replaces its file, and this is none",
            path.display()
        ));
    }
    if let Some(path) = &files.output {
        // The new state is written beside the old one.
        probe(folder_of(&behind_links(path))).map_err(named(path))?;
    }
    match &files.frames {
        Some(folder) => check_folder(folder),
        None => Ok(()),
    }
}

/// Whether the file at `path` can be written: what is there stays as it is, and nothing appears under that name.
pub fn check_writable(path: &Path) -> Result<(), String> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(format!("{}: there is no such folder", path.display()));
    }
    match fs::metadata(path) {
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        Err(e) if e.kind() == ErrorKind::NotFound => probe(folder),
        Err(e) => Err(e),
    }
    .map_err(named(path))
}

/// Makes a file in a folder and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".kirin-{}.tmp", std::process::id()));
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(_) => {
            let _ = fs::remove_file(path);
            Ok(())
        }
        // Another rank of this process asks, too.
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(e),
    }
}

/// Whether files can be written in a folder, which may have to be made.
fn check_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder)
        .and_then(|()| probe(folder))
        .map_err(named(folder))
}

/// The message that the file at `path` is not replaced: the reason `what`, and the options that help.
pub fn kept(path: &Path, what: &str) -> String {
    let path = path.display();
    format!("{path}: {what}; --force replaces it, another --output keeps it")
}

/// The reason that the file at `path` is not replaced: it holds the run at the time `found`, and the run is at `time`.
pub fn later(path: &Path, found: f64, time: f64) -> String {
    let path = path.display();
    format!(
        "it holds this run at t = {found} already, and this one would begin again at t = {time}: --input {path} goes on"
    )
}

/// What the head of a state tells of its run.
struct Head {
    /// Number of bodies.
    n: usize,
    time: f64,
    log: Log,
    /// Whether a program goes on from it.
    is_state: bool,
}

/// Checks that the file at `path`, if there is one, holds an earlier state of the run of `n` bodies that `log` tells of
/// and that is at `time`.
pub(crate) fn check_replaced(path: &Path, n: usize, time: f64, log: &Log) -> Result<(), String> {
    let Ok(file) = File::open(path) else {
        return Ok(());
    };
    if file.metadata().is_ok_and(|m| m.len() == 0) {
        return Ok(());
    }
    let refuse = |what: String| Err(kept(path, &what));
    let Some(found) = told_by(path, file) else {
        return refuse("this file is no snapshot".to_owned());
    };
    let past = &found.log;
    let begins = |n: usize, model: &str, seed: Option<u64>| match seed {
        Some(seed) => format!("{model} of {n} bodies, seed {seed}"),
        None => format!("{model} of {n} bodies"),
    };
    if (found.n, &past.model, past.seed) != (n, &log.model, log.seed) {
        return refuse(format!(
            "it holds another run ({}, this one is {})",
            begins(found.n, &past.model, past.seed),
            begins(n, &log.model, log.seed)
        ));
    }
    match (past.start, log.start) {
        (None, _) => refuse("it holds bodies, and no state of a run".to_owned()),
        (Some((was, _, eps)), Some((is, _, new)))
            if eps == new && (was - is).abs() > 1e-6 * is.abs() =>
        {
            refuse(format!(
                "it holds another run, with the energy {was:.6e} at the start, this one has {is:.6e}"
            ))
        }
        _ if found.time > time => refuse(later(path, found.time, time)),
        _ => Ok(()),
    }
}

/// Checks that the file at `path`, an input that a run is to replace by its output, holds the state of a run.
pub(crate) fn check_in_place(path: &Path) -> Result<(), String> {
    let file = File::open(path).map_err(named(path))?;
    match told_by(path, file).is_some_and(|found| found.log.start.is_some()) {
        true => Ok(()),
        false => Err(kept(
            path,
            "it is the --input, which holds no state of a run",
        )),
    }
}

/// The time of the snapshot at `path`; `None` if it is none.
pub fn time_of(path: &Path) -> Option<f64> {
    Some(head_of(path)?.time)
}

/// Whether the file at `path` holds the state of a run, and not bodies only.
pub(crate) fn holds_state(path: &Path) -> bool {
    head_of(path).is_some_and(|head| head.is_state)
}

/// What the file at `path` tells of its run; `None` if it is no snapshot.
fn head_of(path: &Path) -> Option<Head> {
    // Who opens a pipe for reading waits for its writer.
    match is_device(path) {
        true => None,
        false => told_by(path, File::open(path).ok()?),
    }
}

/// What the file tells of its run. Its first bytes decide the format, as when it is read.
fn told_by(path: &Path, mut file: File) -> Option<Head> {
    let mut first = Vec::new();
    (&file).take(8).read_to_end(&mut first).ok()?;
    file.rewind().ok()?;
    match hdf5_pure::is_hdf5_bytes(&first) {
        true => whole(path),
        false => head(file),
    }
}

/// What a state in an HDF5 file tells of its run.
fn whole(path: &Path) -> Option<Head> {
    let snapshot = Snapshot::load(path).ok()?;
    Some(Head {
        n: snapshot.bodies.len(),
        time: snapshot.time,
        log: Log::of(&snapshot).ok()?,
        is_state: snapshot.owner().is_some(),
    })
}

/// What a state tells of its run in the lines before the bodies.
fn head(file: File) -> Option<Head> {
    let mut lines = BufReader::new(file.take(1 << 28))
        .lines()
        .map_while(Result::ok);
    let first = lines.next()?;
    if !is_snapshot(&first) {
        return None;
    }
    let (mut n, mut snapshot) = (None, Snapshot::default());
    // As in a snapshot without the line.
    let mut time = Some(0.0);
    for line in lines {
        let (key, value) = line.split_once(' ').unwrap_or((&line, ""));
        match key {
            "columns" => break,
            // A manifest has no bodies itself.
            "n" | parts::N => n = value.trim().parse().ok(),
            "time" => time = value.trim().parse().ok(),
            // What is compared.
            "run.model" | "run.seed" | "run.energy0" => {
                snapshot.run.push((key.to_owned(), value.trim().to_owned()));
            }
            _ if key.ends_with(SETTINGS) => snapshot.run.push((key.to_owned(), String::new())),
            _ => {}
        }
    }
    Some(Head {
        n: n?,
        time: time?,
        log: Log::of(&snapshot).ok()?,
        is_state: snapshot.owner().is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_testing::Folder;

    fn with_output(folder: &Folder, name: &str) -> Files {
        Files {
            output: Some(folder.file(name).into()),
            ..Files::default()
        }
    }

    #[test]
    fn a_claimed_file_is_refused_with_its_owner() {
        let folder = Folder::new("kit-claim");
        let files = with_output(&folder, "run.txt");
        let claim = files.claim().unwrap();
        let refusal = files.claim().unwrap_err();
        assert!(
            refusal.contains(&format!("process {}", std::process::id())),
            "{refusal}"
        );
        assert!(refusal.contains("run.txt"), "{refusal}");
        drop(claim);
        assert!(!Path::new(&folder.file("run.txt.lock")).exists());
        // What a crash has left is no hindrance.
        fs::write(folder.file("run.txt.lock"), "process 1 (hermite)").unwrap();
        drop(files.claim().unwrap());
        assert_eq!(fs::read_dir(folder.file("")).unwrap().count(), 0);
    }

    /// `Cargo.lock` beside an output `Cargo`.
    #[test]
    fn a_lock_of_another_program_is_kept() {
        let folder = Folder::new("kit-foreign-lock");
        let files = with_output(&folder, "Cargo");
        for text in [&b"version = 4\n"[..], b"\xff\xfe"] {
            fs::write(folder.file("Cargo.lock"), text).unwrap();
            let refusal = files.claim().unwrap_err();
            assert!(refusal.contains("Cargo.lock"), "{refusal}");
            assert_eq!(fs::read(folder.file("Cargo.lock")).unwrap(), text);
        }
        fs::write(folder.file("Cargo.lock"), "").unwrap();
        drop(files.claim().unwrap());
    }

    /// What one program writes besides may be neither the input nor a file that another option names.
    #[test]
    fn files_of_one_program_are_checked_like_those_of_all() {
        let folder = Folder::new("kit-more");
        let path = |name: &str| PathBuf::from(folder.file(name));
        fs::write(path("in.txt"), "bodies").unwrap();
        fs::create_dir(path("sub")).unwrap();
        let files = Files {
            input: Some(path("in.txt")),
            output: Some(path("run.txt")),
            csv: Some(path("run.csv")),
            ..Files::default()
        };
        for (more, words) in [
            ("in.txt", "this is the --input"),
            ("run.txt", "two options name this file"),
            ("run.csv", "two options name this file"),
            ("sub/../run.txt", "two options name this file"),
            ("none/b.txt", "no such folder"),
        ] {
            let refusal = files.claim_with(Some(&path(more))).unwrap_err();
            assert!(refusal.contains(words), "{refusal}");
        }
        drop(files.claim_with(Some(&path("b.txt"))).unwrap());
        assert_eq!(folder.text("in.txt"), "bodies");
    }

    #[test]
    fn a_report_or_table_replaces_no_snapshot() {
        let folder = Folder::new("kit-report");
        let files = with_output(&folder, "run.txt");
        assert_eq!(files.validate_report(), Ok(()));
        fs::write(folder.file("run.txt"), "# A report of last week\n").unwrap();
        assert_eq!(files.validate_report(), Ok(()));
        let state = "kirin-snapshot 1\nn 1\ntime 2\ncolumns index mass x y z vx vy vz\n0 1 0 0 0 0 0 0\nend\n";
        fs::write(folder.file("run.txt"), state).unwrap();
        let figures = Files {
            json: files.output.clone(),
            ..Files::default()
        };
        let table = Files {
            csv: files.output.clone(),
            ..Files::default()
        };
        for refused in [
            files.validate_report(),
            figures.validate_report(),
            figures.claim().map(drop),
            table.claim().map(drop),
            Files::default().claim_with(files.output.as_ref()).map(drop),
        ] {
            let refusal = refused.unwrap_err();
            assert!(refusal.contains("holds a snapshot"), "{refusal}");
        }
        // Bodies may be replaced by bodies, and a state may not.
        let claim_bodies = || Files::default().claim_with_bodies(files.output.as_ref());
        drop(claim_bodies().unwrap());
        let state = state.replace("columns", "monte-carlo.settings 1\ncolumns");
        fs::write(folder.file("run.txt"), &state).unwrap();
        let refusal = claim_bodies().unwrap_err();
        assert!(refusal.contains("the state of a run"), "{refusal}");
        assert_eq!(folder.text("run.txt"), state);
    }

    #[test]
    fn what_cannot_be_written_is_refused_before() {
        let folder = Folder::new("kit-paths");
        let kept = folder.file("kept.csv");
        fs::write(&kept, "what is there").unwrap();
        let with = |change: &dyn Fn(&mut Files)| {
            let mut files = Files::default();
            change(&mut files);
            files.validate()
        };
        let path = |name: &str| Some(PathBuf::from(folder.file(name)));
        assert_eq!(with(&|f| f.csv = path("kept.csv")), Ok(()));
        assert_eq!(with(&|f| f.frames = path("film")), Ok(()));
        assert_eq!(folder.text("kept.csv"), "what is there");
        for (change, words) in [
            (
                &(|f: &mut Files| f.json = path("")) as &dyn Fn(&mut Files),
                "directory",
            ),
            (&|f| f.csv = path("none/run.csv"), "no such folder"),
            (&|f| f.frames = path("kept.csv"), "kept.csv"),
            (
                &|f| f.output = Some("/dev/null".into()),
                "replaces its file",
            ),
            (
                &|f| {
                    f.csv = path("kept.csv");
                    f.json = path("kept.csv");
                },
                "two options",
            ),
        ] {
            let refusal = with(change).unwrap_err();
            assert!(refusal.contains(words), "{words}: {refusal}");
        }
        assert_eq!(with(&|f| f.csv = Some("/dev/null".into())), Ok(()));
        let refusal = with(&|f| (f.input, f.csv) = (path("kept.csv"), path("kept.csv")));
        assert!(refusal.unwrap_err().contains("the --input"));
    }

    /// The command of a long run, given again, does not begin it anew in the place of what it has come to.
    #[test]
    fn a_later_state_of_the_same_run_is_not_replaced_unasked() {
        let folder = Folder::new("kit-later");
        for name in ["run.txt", "run.hdf5"] {
            let path = PathBuf::from(folder.file(name));
            let log = Log {
                start: Some((-0.25, Some(0.25), 0.0)),
                ..Log::begin("Plummer sphere", 1)
            };
            let later = Snapshot {
                time: 2.5,
                bodies: crate::models::plummer(5, 1),
                run: log.lines(),
                ..Snapshot::default()
            };
            later.save_as(&path).unwrap();
            let refusal = check_replaced(&path, 5, 0.0, &log).unwrap_err();
            let help = format!(
                "t = 2.5 already, and this one would begin again at t = 0: --input {}",
                path.display()
            );
            assert!(refusal.contains(&help), "{refusal}");
            assert!(refusal.contains("--force"), "{refusal}");
            assert_eq!(check_replaced(&path, 5, 2.5, &log), Ok(()));
            // The content decides, not the name.
            let copy = PathBuf::from(folder.file("run.bak"));
            fs::copy(&path, &copy).unwrap();
            assert_eq!(time_of(&copy), Some(2.5));
        }
    }

    /// Bodies that a run began with are not replaced by its state; a state may be.
    #[test]
    fn an_input_without_a_state_is_not_replaced_unasked() {
        let folder = Folder::new("kit-in-place");
        let path = PathBuf::from(folder.file("run.txt"));
        let mut bodies = Snapshot {
            bodies: crate::models::plummer(5, 1),
            ..Snapshot::default()
        };
        bodies.save_as(&path).unwrap();
        let check = |force| {
            let files = Files {
                input: Some(path.clone()),
                output: Some(path.clone()),
                force,
                ..Files::default()
            };
            files.check_replaced(5, (0.0, 1.0), None, &Log::default())
        };
        assert!(check(false).unwrap_err().contains("no state of a run"));
        assert_eq!(check(true), Ok(()));
        let log = Log {
            start: Some((-0.25, Some(0.25), 0.0)),
            ..Log::default()
        };
        bodies.run = log.lines();
        bodies.save_as(&path).unwrap();
        assert_eq!(check(false), Ok(()));
    }

    #[test]
    fn another_run_is_not_replaced_unasked() {
        let folder = Folder::new("kit-replace");
        let path = folder.file("run.txt");
        let state = |model: &str, energy: f64| {
            let log = Log {
                start: Some((energy, Some(0.25), 0.0)),
                ..Log::begin(model, 1)
            };
            let snapshot = Snapshot {
                bodies: crate::models::plummer(5, 1),
                run: log.lines(),
                ..Snapshot::default()
            };
            (snapshot, log)
        };
        let (snapshot, log) = state("Plummer sphere", -0.25);
        assert_eq!(check_replaced(path.as_ref(), 5, 0.0, &log), Ok(()));
        snapshot.save_as(path.as_ref()).unwrap();
        assert_eq!(check_replaced(path.as_ref(), 5, 0.0, &log), Ok(()));
        let other = state("King model", -0.25).1;
        let hotter = state("Plummer sphere", -0.2).1;
        for (n, log) in [(6, &log), (5, &other), (5, &hotter)] {
            let refusal = check_replaced(path.as_ref(), n, 0.0, log).unwrap_err();
            assert!(refusal.contains("--force"), "{refusal}");
        }
        let files = Files {
            output: Some(path.clone().into()),
            force: true,
            ..Files::default()
        };
        assert_eq!(files.check_replaced(6, (0.0, 1.0), None, &log), Ok(()));
        // Bodies are no state of a run. A program may ask before it knows its own energy.
        let bodies = Snapshot {
            bodies: crate::models::plummer(5, 2),
            ..Snapshot::default()
        };
        bodies.save_as(path.as_ref()).unwrap();
        for start in [None, log.start] {
            let log = Log {
                start,
                ..Log::default()
            };
            let refusal = check_replaced(path.as_ref(), 5, 0.0, &log).unwrap_err();
            assert!(refusal.contains("no state of a run"), "{refusal}");
        }
        fs::write(&path, "my notes\n").unwrap();
        let refusal = check_replaced(path.as_ref(), 5, 0.0, &log).unwrap_err();
        assert!(refusal.contains("no snapshot"), "{refusal}");
    }
}
