//! Finds kirin's shared library, starting from the place of this command.

use std::path::{Path, PathBuf};

use kirin::symbols::INTERFACES;

/// The name under which the loader knows it.
pub const SONAME: &str = "libkirin.so.0";

/// The folders of libraries under a prefix in which the command, in `bin` there, looks for its own. The last is that of
/// Debian.
pub const FOLDERS: [&str; 3] = [
    "lib",
    "lib64",
    match cfg!(target_arch = "aarch64") {
        true => "lib/aarch64-linux-gnu",
        false => "lib/x86_64-linux-gnu",
    },
];

/// The shared library that belongs to this command.
///
/// # Errors
///
/// There is none beside it.
pub fn shared() -> Result<PathBuf, String> {
    let command = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .map_err(|e| format!("this command's own file: {e}"))?;
    let folder = command.parent().unwrap_or(Path::new("/"));
    // Installed: bin/kirin and lib/libkirin.so.0. Built: cargo brings `deps` up to date whenever
    // it builds the command, and the folder above it only when asked for the library.
    let installed = FOLDERS.map(|place| format!("../{place}"));
    let built = ["deps", "."].map(str::to_owned);
    let places = installed.iter().chain(&built);
    places
        .flat_map(|place| [SONAME, "libkirin.so"].map(|name| folder.join(place).join(name)))
        .find_map(|path| std::fs::canonicalize(path).ok())
        .ok_or_else(|| {
            format!(
                "there is no {SONAME} beside {} nor in ../{} from there",
                command.display(),
                FOLDERS.join(", ../")
            )
        })
}

/// The shared library of forwarded names called `name`, beside `shared`.
///
/// # Errors
///
/// There is none.
pub fn companion(shared: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = shared.parent().unwrap_or(Path::new("/"));
    [format!("lib{name}.so.0"), format!("lib{name}.so")]
        .iter()
        .find_map(|file| std::fs::canonicalize(folder.join(file)).ok())
        .ok_or_else(|| format!("there is no lib{name}.so beside {}", shared.display()))
}

/// A library in both its forms.
pub struct Files {
    /// As the linker knows it, without `lib`.
    pub name: &'static str,
    /// The shared library.
    pub shared: PathBuf,
    /// The static library; Python's wheel has none.
    pub archive: Option<PathBuf>,
}

/// kirin's library and those of forwarded names, all of this command's build.
///
/// # Errors
///
/// One of them is missing, or older than the command.
pub fn all() -> Result<Vec<Files>, String> {
    let shared = shared()?;
    let mut folder = shared.parent().unwrap_or(Path::new("/")).to_owned();
    let is_cargos = folder.ends_with("deps");
    if is_cargos {
        // Cargo's own folder, whose archive has a name that changes: the one above must be of
        // the same build.
        folder.pop();
        let above = std::fs::read(folder.join("libkirin.so"));
        if !above.is_ok_and(|a| std::fs::read(&shared).is_ok_and(|b| a == b)) {
            let folder = folder.display();
            return Err(format!(
                "the libraries in {folder} are older than this command: run `cargo build`, with \
                 `--release` if the command was built so"
            ));
        }
    }
    let companions = INTERFACES.iter().filter_map(|i| i.library());
    let mut files = vec![("kirin", Ok(shared.clone()))];
    files.extend(companions.map(|name| (name, companion(&shared, name))));
    let files = files.into_iter().map(|(name, shared)| {
        let archive = folder.join(format!("lib{name}.a"));
        let is_there = archive.is_file();
        if is_cargos && !is_there {
            return Err(format!("there is no {}", archive.display()));
        }
        Ok(Files {
            name,
            shared: shared?,
            archive: is_there.then_some(archive),
        })
    });
    files.collect()
}
