//! `kirin install` and `kirin uninstall`: put library, headers and command under a prefix and remove them again,
//! without touching files of others.

mod contents;
mod manifest;

use std::fmt::Display;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use self::contents::Item;
use self::manifest::Entry;
use crate::report::{self, quoted};

/// Options of `install`.
#[derive(Args)]
pub struct Options {
    /// Installs under this folder: bin, lib, include, share
    #[arg(long, value_name = "FOLDER")]
    prefix: PathBuf,
    /// Also installs this static library as libkirin_fortran.a: one built with
    /// `--features fortran-names-only`, for programs that define the C names themselves
    #[arg(long, value_name = "FILE")]
    fortran_archive: Option<PathBuf>,
    /// Replaces files of kirin's that were edited since it installed them; never files of others
    #[arg(long)]
    force: bool,
}

/// Options of `uninstall`.
#[derive(Args)]
pub struct Removal {
    /// The folder that was given to `install`
    #[arg(long, value_name = "FOLDER")]
    prefix: PathBuf,
    /// Removes files of kirin's that were edited since it installed them, too
    #[arg(long)]
    force: bool,
}

/// Runs `install`.
///
/// # Errors
///
/// Something of others is in the way, or cannot be written; nothing was changed in the first case.
pub fn install(options: &Options) -> Result<ExitCode, String> {
    let prefix = std::path::absolute(&options.prefix).map_err(|e| e.to_string())?;
    if prefix
        .to_str()
        .is_none_or(|p| p.contains(['"', '\n', '$', '\\']))
    {
        return Err(format!(
            "{}: pkg-config could not name this folder",
            prefix.display()
        ));
    }
    let before = manifest::read(&prefix)?;
    let items = contents::items(&prefix, options.fortran_archive.as_deref())?;
    let of_others = items.iter().map(|i| i.entry.path()).filter(|path| {
        let is_ours = before.iter().any(|e| e.path() == *path);
        !is_ours && manifest::exists(&prefix.join(path))
    });
    refuse(&prefix, "are in the way and not kirin's", of_others)?;
    refuse_edited(&prefix, &before, options.force, "nothing is installed")?;

    let folders = make_folders(&prefix, &items)?;
    let mut all: Vec<Entry> = before.iter().filter(|e| is_folder(e)).cloned().collect();
    all.extend(folders);
    all.extend(items.iter().map(|i| i.entry.clone()));
    // Until the end the list names the old files and the new: after an interruption everything can be
    // removed.
    let old = before.iter().filter(|e| !is_folder(e));
    let both: Vec<Entry> = all.iter().chain(old).cloned().collect();
    written(manifest::write(&prefix, &both), manifest::PLACE)?;
    for item in &items {
        let path = prefix.join(item.entry.path());
        written(
            manifest::replace(&path, |draft| put(item, draft)),
            path.display(),
        )?;
    }
    for entry in before
        .iter()
        .filter(|e| !all.iter().any(|a| a.path() == e.path()))
    {
        written(
            fs::remove_file(prefix.join(entry.path())),
            entry.path().display(),
        )?;
    }
    written(manifest::write(&prefix, &all), manifest::PLACE)?;

    report::print(&format!(
        "{} files and links installed under {}\n\
         compile and link:  export PKG_CONFIG_PATH={}; pkg-config --cflags --libs kirin\n\
         remove:            {} uninstall --prefix {}\n",
        items.len(),
        prefix.display(),
        quoted(&prefix.join("lib/pkgconfig")),
        quoted(&prefix.join("bin/kirin")),
        quoted(&prefix),
    ));
    Ok(ExitCode::SUCCESS)
}

/// Runs `uninstall`.
///
/// # Errors
///
/// Nothing is installed there, or something was changed since: then nothing is removed.
pub fn uninstall(options: &Removal) -> Result<ExitCode, String> {
    let prefix = std::path::absolute(&options.prefix).map_err(|e| e.to_string())?;
    let entries = manifest::read(&prefix)?;
    if entries.is_empty() {
        return Err(format!(
            "nothing of kirin is installed under {}",
            prefix.display()
        ));
    }
    refuse_edited(&prefix, &entries, options.force, "nothing is removed")?;

    let mut removed = 0;
    for entry in entries.iter().filter(|e| !is_folder(e)) {
        match fs::remove_file(prefix.join(entry.path())) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            done => {
                written(done, entry.path().display())?;
                removed += 1;
            }
        }
    }
    written(
        fs::remove_file(prefix.join(manifest::PLACE)),
        manifest::PLACE,
    )?;
    for entry in entries.iter().rev().filter(|e| is_folder(e)) {
        // Others may have put something there meanwhile.
        let _ = fs::remove_dir(plain(&prefix, entry.path()));
    }
    #[cfg(target_os = "linux")]
    crate::run::clear_stand_ins();
    report::print(&format!(
        "{removed} files and links removed from {}\n",
        prefix.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn is_folder(entry: &Entry) -> bool {
    matches!(entry, Entry::Folder(_))
}

fn written(done: io::Result<()>, what: impl Display) -> Result<(), String> {
    done.map_err(|e| format!("{what}: {e}"))
}

/// Fails where there are any paths, naming them.
fn refuse<'a>(
    prefix: &Path,
    why: &str,
    paths: impl Iterator<Item = &'a Path>,
) -> Result<(), String> {
    let mut paths: Vec<String> = paths
        .map(|p| prefix.join(p).display().to_string())
        .collect();
    paths.sort();
    paths.dedup();
    match paths.len() {
        0 => Ok(()),
        _ => Err(format!("these files {why}:\n  {}", paths.join("\n  "))),
    }
}

/// Fails where files of the list were edited, unless that is allowed; a folder in a file's place is always refused.
fn refuse_edited(prefix: &Path, entries: &[Entry], force: bool, so: &str) -> Result<(), String> {
    let edited = || {
        let paths = entries.iter().map(Entry::path).filter(|path| {
            let mut same = entries.iter().filter(|e| e.path() == *path);
            !same.any(|e| e.is_intact(prefix)) && manifest::exists(&prefix.join(path))
        });
        paths.collect::<Vec<_>>().into_iter()
    };
    let is_folder = |path: &&Path| prefix.join(path).is_dir() && !prefix.join(path).is_symlink();
    let why = format!("are folders now, so {so}");
    refuse(prefix, &why, edited().filter(is_folder))?;
    if force {
        return Ok(());
    }
    let why = format!("were changed since kirin installed them, so {so} without --force");
    refuse(prefix, &why, edited())
}

/// Makes the folders that are missing, outermost first; they are part of the installation.
fn make_folders(prefix: &Path, items: &[Item]) -> Result<Vec<Entry>, String> {
    let mut made = Vec::new();
    // A prefix below folders that are missing, too.
    let above = prefix.ancestors().take_while(|p| !p.exists()).count();
    let mut missing: Vec<PathBuf> = (0..above)
        .rev()
        .map(|depth| PathBuf::from(".").join("../".repeat(depth)))
        .collect();
    let files = items.iter().map(|i| i.entry.path());
    for path in files.chain([Path::new(manifest::PLACE)]) {
        let mut parents: Vec<&Path> = path.ancestors().skip(1).collect();
        parents.pop(); // the prefix
        missing.extend(parents.into_iter().rev().map(Path::to_owned));
    }
    for path in missing {
        match fs::create_dir(plain(prefix, &path)) {
            Ok(()) => made.push(Entry::Folder(path)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(format!("{}: {e}", prefix.join(path).display())),
        }
    }
    Ok(made)
}

/// A folder of the list without dots: the prefix may be the last part that is there.
fn plain(prefix: &Path, path: &Path) -> PathBuf {
    let mut plain = prefix.to_owned();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn put(item: &Item, path: &Path) -> io::Result<()> {
    match &item.entry {
        Entry::Link(_, to) => symlink(to, path),
        _ => {
            fs::write(path, &item.bytes)?;
            fs::set_permissions(path, fs::Permissions::from_mode(item.mode))
        }
    }
}
