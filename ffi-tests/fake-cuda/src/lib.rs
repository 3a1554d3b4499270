//! Builds the fake CUDA driver: a `libcuda` that interprets the PTX which a client hands over, or runs
//! kernels compiled for the host. README.md beside `src` says what it checks and which settings it has.
//!
//! A build is kept in the target folder under a name that is a hash of its inputs. So the programs of one test run,
//! and later runs, share it.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use kirin_testing::process::{self, available, clean_command, target, texts, workspace};
use kirin_testing::{skipped, target as platform};

/// What is checked while the kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Nothing.
    None,
    /// Accesses out of bounds and undefined behaviour; threads are fibers.
    Address,
    /// Races; each thread of a block is a thread of the system.
    Thread,
}

impl Sanitizer {
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::None => &["-O2"],
            Self::Address => &[
                "-O1",
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-fno-omit-frame-pointer",
            ],
            Self::Thread => &["-O1", "-g", "-fsanitize=thread", "-DKIRIN_SHIM_THREADS"],
        }
    }
}

/// What is made of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// `libcuda.so` and `libcuda.so.1`.
    Driver,
    /// `library.so`.
    Library,
    /// `program`.
    Program,
}

/// The folder with the fake driver that interprets PTX; `None` (and a line that says SKIPPED) where there
/// is no g++.
pub fn driver() -> Option<&'static Path> {
    static DRIVER: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| build(Product::Driver, Sanitizer::None, &with_interpreter(), &[]));
    DRIVER.as_deref()
}

/// The folder with a `libcuda` that has none of the driver's functions.
pub fn empty_driver() -> Option<&'static Path> {
    static EMPTY: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| build(Product::Driver, Sanitizer::None, &[other("empty.cc")], &[]));
    EMPTY.as_deref()
}

/// The folder with the `libcuda` of a toolkit, which has all of the functions and refuses.
pub fn stub() -> Option<&'static Path> {
    static STUB: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| build(Product::Driver, Sanitizer::None, &[other("stub.cc")], &[]));
    STUB.as_deref()
}

/// The folder with a library that makes a client look for WSL's driver in the folder `WSL_FOLDER`; it is loaded
/// before the client.
pub fn wsl() -> Option<&'static Path> {
    static WSL: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| build(Product::Library, Sanitizer::None, &[other("wsl.cc")], &[]));
    WSL.as_deref()
}

fn other(name: &str) -> PathBuf {
    folder().join("others").join(name)
}

/// The sources of the fake driver that runs `kernels`.
pub fn with_driver(kernels: &[PathBuf]) -> Vec<PathBuf> {
    let mut sources = files(&folder(), &["cc"]);
    sources.retain(|s| !s.ends_with("from_ptx.cc"));
    sources.extend(with_shim(kernels));
    sources
}

/// The sources of the fake driver that interprets PTX.
pub fn with_interpreter() -> Vec<PathBuf> {
    let mut sources = files(&folder().join("ptx"), &["cc"]); // the longest first
    sources.extend(files(&folder(), &["cc"]));
    sources.retain(|s| !s.ends_with("from_source.cc"));
    sources
}

/// The sources of the shim, with `others`.
pub fn with_shim(others: &[PathBuf]) -> Vec<PathBuf> {
    let mut sources = files(&folder().join("shim"), &["cc"]);
    sources.extend_from_slice(others);
    sources
}

/// The folder with the sources.
fn folder() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

/// The files of `folder` with one of these extensions, in order.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let wanted = |p: &PathBuf| {
        let extension = p.extension().and_then(OsStr::to_str).unwrap_or("");
        extensions.contains(&extension)
    };
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(wanted).collect();
    found.sort();
    found
}

/// Builds `sources`, with `headers` as further folders for their headers. Returns the folder of the product, or
/// `None` if this machine has no g++.
///
/// # Panics
///
/// If a source does not compile.
pub fn build(
    product: Product,
    sanitizer: Sanitizer,
    sources: &[PathBuf],
    headers: &[&Path],
) -> Option<PathBuf> {
    if let Some(target) = platform::foreign() {
        skipped(format!("the fake driver is not for {}", target.triple));
        return None;
    }
    if !available("g++") {
        return None;
    }
    let mut folders = vec![folder(), folder().join("shim")];
    folders.extend(headers.iter().map(|folder| folder.to_path_buf()));
    let options = options(sanitizer, &folders);
    let all = target().join("tmp").join("fake-cuda");
    let finished = all.join(key(product, &options, sources, &folders));
    if finished.exists() {
        return Some(finished);
    }
    let place = tempfile::tempdir_in({
        std::fs::create_dir_all(&all).expect("the target folder is writable");
        &all
    })
    .expect("the target folder is writable");
    let objects = compile(&options, sources, place.path());
    link(product, &options, &objects, place.path());
    // Somebody else may have been faster; the products are the same.
    if std::fs::rename(place.path(), &finished).is_ok() {
        let _ = place.keep();
    }
    assert!(finished.exists(), "{} was not made", finished.display());
    Some(finished)
}

fn options(sanitizer: Sanitizer, headers: &[PathBuf]) -> Vec<String> {
    let mut options: Vec<String> = [
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unknown-pragmas",
        // Parts of headers that a module does not use.
        "-Wno-unused-function",
        "-ffp-contract=off",
        // g++ 12 turns (float)(x - (double)(float)x) of neighbours into zero when it joins them in a vector.
        "-fno-tree-vectorize",
        "-fPIC",
        "-fvisibility=hidden",
        "-pthread",
    ]
    .map(str::to_owned)
    .to_vec();
    options.extend(sanitizer.options().iter().map(|o| (*o).to_owned()));
    options.extend(
        headers
            .iter()
            .map(|folder| format!("-I{}", folder.display())),
    );
    // The same results either way; without it each fused operation is a call.
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        options.push("-mfma".to_owned());
    }
    options
}

/// Further options for the interpreter, whose loops over threads should become vector instructions.
fn interpreter_options() -> Vec<&'static str> {
    let mut options = vec!["-O3", "-ftree-vectorize", "-fwrapv"];
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        options.push("-mavx2");
    }
    options
}

/// A hash of everything that the product depends on, as its name.
fn key(product: Product, options: &[String], sources: &[PathBuf], headers: &[PathBuf]) -> String {
    let mut hasher = DefaultHasher::new();
    let version = Command::new("g++").arg("--version").output();
    version
        .map(|o| o.stdout)
        .unwrap_or_default()
        .hash(&mut hasher);
    product.hash(&mut hasher);
    (options, interpreter_options()).hash(&mut hasher);
    let mut inputs = sources.to_vec();
    for folder in headers.iter().chain([&folder().join("ptx")]) {
        inputs.extend(files(folder, &["h", "cuh"]));
    }
    for input in inputs {
        input.hash(&mut hasher);
        std::fs::read(&input).unwrap_or_default().hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Compiles each source, as many at a time as there are processors.
fn compile(options: &[String], sources: &[PathBuf], to: &Path) -> Vec<PathBuf> {
    let objects: Vec<PathBuf> = (0..sources.len())
        .map(|i| to.join(format!("{i}.o")))
        .collect();
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let (Some(source), Some(object)) = (sources.get(i), objects.get(i)) else {
                break;
            };
            let mut command = Command::new("g++");
            command.args(options);
            if source.parent().is_some_and(|p| p.ends_with("ptx")) {
                command.args(interpreter_options());
            }
            command.args(["-x", "c++", "-c", "-o"]);
            let output = command.arg(object).arg(source).output();
            let output = output.expect("g++ was there a moment ago");
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                complaints.lock().expect("nobody panics").push(text);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let complaints = complaints.into_inner().expect("nobody panicked");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    objects
}

fn link(product: Product, options: &[String], objects: &[PathBuf], to: &Path) {
    let mut command = Command::new("g++");
    command.args(options).args(objects).arg("-o");
    match product {
        Product::Program => command.arg(to.join("program")),
        Product::Library => command.arg(to.join("library.so")).arg("-shared"),
        Product::Driver => command
            .arg(to.join("libcuda.so.1"))
            .args(["-shared", "-Wl,-soname,libcuda.so.1"]),
    };
    let output = command.output().expect("g++ was there a moment ago");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    if product == Product::Driver {
        // cudarc's own search, which the textbook's lessons use, begins with this name.
        std::fs::copy(to.join("libcuda.so.1"), to.join("libcuda.so")).expect("it was just made");
    }
}

/// A run of a client with the fake driver.
#[derive(Debug)]
pub struct Run {
    /// Whether the client succeeded.
    pub success: bool,
    /// stdout
    pub out: String,
    /// stderr
    pub err: String,
    /// The driver's log.
    pub log: Log,
}

/// Runs a client that finds its CUDA driver in the folder `driver`, with `KIRIN_BACKEND=cuda`.
pub fn run(driver: &Path, program: &Path, arguments: &[&OsStr], settings: &[(&str, &str)]) -> Run {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let log = workspace().join(format!("fake-cuda-{number}.log"));
    let mut command = clean_command(program, &[("KIRIN_BACKEND", "cuda")]);
    command
        .args(arguments)
        .env("LD_LIBRARY_PATH", driver)
        .env("FAKE_CUDA_LOG", &log)
        .envs(settings.iter().copied());
    let output = process::run(&mut command);
    let (out, err) = texts(&output);
    let run = Run {
        success: output.status.success(),
        out,
        err,
        log: Log::read(&log),
    };
    let _ = std::fs::remove_file(&log);
    run
}

/// [`run`] with the driver of [`driver`]; nothing where there is no compiler for it.
pub fn run_program(program: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Option<Run> {
    let arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    Some(run(driver()?, program, &arguments, settings))
}

/// Runs one test of the program that calls this, with the driver; nothing where there is no compiler for it.
pub fn run_test(name: &str, settings: &[(&str, &str)]) -> Option<Run> {
    let program = std::env::current_exe().expect("it has a path");
    run_program(&program, &["--exact", name], settings)
}

/// Runs a client, which must succeed, write nothing on stderr and make no error with the device. Returns what it prints.
///
/// # Panics
///
/// If it does not.
pub fn succeed(
    driver: &Path,
    program: &Path,
    arguments: &[&OsStr],
    settings: &[(&str, &str)],
) -> String {
    let run = run(driver, program, arguments, settings);
    assert!(run.success && run.err.is_empty(), "{settings:?}: {run:?}");
    assert!(
        run.log.count("cuLaunchKernel") > 0,
        "{settings:?}: no kernel ran"
    );
    assert!(
        run.log.complaints.is_empty(),
        "{settings:?}: {:?}",
        run.log.complaints
    );
    run.out
}

/// What a run of the fake driver left in its log (`FAKE_CUDA_LOG`).
#[derive(Debug, Default)]
pub struct Log {
    /// Number of calls.
    pub total: u64,
    /// What a correct client does not do.
    pub complaints: Vec<String>,
    /// All lines.
    pub text: String,
}

impl Log {
    /// Reads the log; empty where the driver was never loaded.
    ///
    /// # Panics
    ///
    /// If a line is not what the driver writes.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut log = Self::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("total", n)) => log.total = n.parse().expect("a number"),
                Some(("complaint", what)) => log.complaints.push(what.to_owned()),
                _ => {}
            }
        }
        log.text = text;
        log
    }

    /// The lines of the log that tell of something that the client did not free, or freed only by destroying the
    /// context. There should be none.
    pub fn left(&self) -> Vec<&str> {
        let is_left = |line: &&str| {
            let mut numbers = line.split(' ').skip(4).step_by(2);
            line.starts_with("left ") && numbers.any(|n| n != "0")
        };
        self.text.lines().filter(is_left).collect()
    }

    /// The kernels that were launched.
    pub fn kernels(&self) -> impl Iterator<Item = String> {
        let lines = self.text.lines();
        let names = lines.filter_map(|l| l.strip_prefix("count kernel:")?.split(' ').next());
        names.map(str::to_owned).collect::<Vec<_>>().into_iter()
    }

    /// How often a function was called; `blocks`: how many thread blocks were launched.
    pub fn count(&self, call: &str) -> u64 {
        let begin = format!("count {call} ");
        let line = self.text.lines().find_map(|l| l.strip_prefix(&begin));
        line.map_or(0, |n| n.parse().expect("a number"))
    }
}
