//! `kirin install` and `kirin uninstall`: put library, headers and command under a prefix and remove them again,
//! without touching files of others.

#[cfg(target_os = "linux")]
pub mod amuse;
mod contents;
mod manifest;

use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use self::contents::Item;
use self::manifest::ManifestEntry;
use crate::library;
use crate::report::{self, quoted};

/// Options of `install`.
#[derive(Args)]
pub struct Options {
    /// Installs under this folder: bin, lib, include, share. Where the environment variable DESTDIR is set, the files are
    /// put under that folder, as package builders expect, and name this one
    #[arg(long, value_name = "FOLDER")]
    prefix: PathBuf,
    /// Folder of the libraries under the prefix: lib, lib64, or the one of Debian's architecture
    #[arg(long, value_name = "NAME", default_value = "lib",
          value_parser = clap::builder::PossibleValuesParser::new(library::FOLDERS))]
    libdir: String,
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
    let prefix = named_by_pkg_config(&options.prefix)?;
    let place = staged(&prefix)?;
    let mut items = contents::items(&prefix, &options.libdir, options.fortran_archive.as_deref())?;
    items.retain(|item| !is_pythons(&place, item.entry.path()));
    put_under(&place, &mut items, Others::Refuse, options.force)?;
    if place != prefix {
        report::print(&format!(
            "{} files and links of {} put under {}\n",
            items.len(),
            prefix.display(),
            place.display()
        ))?;
        return Ok(ExitCode::SUCCESS);
    }

    report::print(&format!(
        "{} files and links installed under {}\n\
         compile and link:  export PKG_CONFIG_PATH={}; pkg-config --cflags --libs kirin\n\
         remove:            {} uninstall --prefix {}\n",
        items.len(),
        prefix.display(),
        quoted(&prefix.join(&options.libdir).join("pkgconfig")),
        quoted(&prefix.join("bin/kirin")),
        quoted(&prefix),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Where the files of a prefix lie until a package is made of them: below DESTDIR, if that is set.
fn staged(prefix: &Path) -> Result<PathBuf, String> {
    let Some(stage) = std::env::var_os("DESTDIR").filter(|stage| !stage.is_empty()) else {
        return Ok(prefix.to_owned());
    };
    let stage = std::path::absolute(stage).map_err(|e| format!("DESTDIR: {e}"))?;
    let below = prefix
        .components()
        .filter(|c| matches!(c, Component::Normal(_)));
    Ok(stage.join(below.collect::<PathBuf>()))
}

/// The folder as an absolute path without `..`, which has no meaning below DESTDIR.
fn absolute(folder: &Path) -> Result<PathBuf, String> {
    let path = std::path::absolute(folder).map_err(|e| e.to_string())?;
    match path.components().any(|c| c == Component::ParentDir) {
        true => Ok(fs::canonicalize(&path).unwrap_or_else(|_| plain(Path::new("/"), &path))),
        false => Ok(path),
    }
}

/// The folder as an absolute path, which pkg-config's files can hold.
fn named_by_pkg_config(folder: &Path) -> Result<PathBuf, String> {
    let prefix = absolute(folder)?;
    // In its files `#` begins a comment; the linker separates folders at commas and colons.
    let is_named = |p: &str| !p.contains(['"', '\n', '$', '\\', '#', ',', ':']);
    match prefix.to_str().is_some_and(is_named) {
        true => Ok(prefix),
        false => Err(format!(
            "{}: pkg-config could not name this folder",
            prefix.display()
        )),
    }
}

/// What happens to files of others that are in the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    /// Nothing is installed.
    Refuse,
    /// They are set aside, and `uninstall` puts them back.
    SetAside,
}

/// Installs `items`. Answers with the files of others that lie aside, from this installation or an earlier one.
fn put_under(
    prefix: &Path,
    items: &mut [Item],
    others: Others,
    force: bool,
) -> Result<Vec<PathBuf>, String> {
    let before = known(prefix)?;
    name_as_before(prefix, items, &before);
    let ours = |path: &Path| {
        before
            .iter()
            .any(|e| is_ours(prefix, &before, e) && e.path() == path)
    };
    let in_the_way: Vec<&Path> = items
        .iter()
        .map(|i| i.entry.path())
        .filter(|path| !ours(path) && manifest::exists(&prefix.join(path)))
        .collect();
    match others {
        Others::Refuse => {
            let why = "are in the way and not kirin's";
            refuse(prefix, why, in_the_way.iter().copied())?;
        }
        Others::SetAside => {
            let cannot = in_the_way.iter().copied().filter(|path| {
                let known = before.contains(&ManifestEntry::Aside(path.to_path_buf()));
                let path = prefix.join(path);
                let is_taken = manifest::exists(&manifest::aside(&path)) && !known;
                is_taken || path.is_dir() && !path.is_symlink()
            });
            let why = "are in the way and cannot be set aside: they are folders, or something lies there already";
            refuse(prefix, why, cannot)?;
        }
    }
    refuse_edited(prefix, &before, force, "nothing is installed")?;

    let folders = make_folders(prefix, items)?;
    let stay = |e: &&ManifestEntry| matches!(e, ManifestEntry::Folder(_) | ManifestEntry::Aside(_));
    let mut all: Vec<ManifestEntry> = before.iter().filter(stay).cloned().collect();
    all.extend(folders);
    for path in &in_the_way {
        let entry = ManifestEntry::Aside(path.to_path_buf());
        if !all.contains(&entry) {
            all.push(entry);
        }
    }
    all.extend(items.iter().map(|i| i.entry.clone()));
    // Until the end the list names the old files and the new: after an interruption everything can be
    // removed.
    let old = before.iter().filter(|e| !stay(e));
    let both: Vec<ManifestEntry> = all.iter().chain(old).cloned().collect();
    written(manifest::write(prefix, &both), manifest::PLACE)?;
    for path in in_the_way {
        let path = prefix.join(path);
        written(fs::rename(&path, manifest::aside(&path)), path.display())?;
    }
    for item in &*items {
        let path = prefix.join(item.entry.path());
        written(
            manifest::replace(&path, |draft| put(item, draft)),
            path.display(),
        )?;
    }
    let is_kept = |e: &ManifestEntry| items.iter().any(|i| i.entry.path() == e.path());
    for entry in before.iter().filter(|e| !stay(e) && !is_kept(e)) {
        if is_ours(prefix, &before, entry) {
            remove(prefix, entry)?;
        }
        // What lay there before kirin comes back.
        let path = prefix.join(entry.path());
        let aside = manifest::aside(&path);
        let set_aside = ManifestEntry::Aside(entry.path().to_owned());
        if all.contains(&set_aside) && !manifest::exists(&path) && manifest::exists(&aside) {
            written(fs::rename(&aside, &path), path.display())?;
            all.retain(|e| *e != set_aside);
        }
    }
    written(manifest::write(prefix, &all), manifest::PLACE)?;
    let aside = all.iter().filter(|e| matches!(e, ManifestEntry::Aside(_)));
    Ok(aside.map(|e| e.path().to_owned()).collect())
}

/// Gives each item the path by which the list names the same place: `lib64` may be a link to `lib`. Paths can then be
/// compared as text.
fn name_as_before(prefix: &Path, items: &mut [Item], before: &[ManifestEntry]) {
    let files = before.iter().filter(|e| !is_folder(e));
    let names: HashMap<PathBuf, &Path> = files
        .map(|e| (resolved(&prefix.join(e.path())), e.path()))
        .collect();
    for item in items {
        if let Some(name) = names.get(&resolved(&prefix.join(item.entry.path()))) {
            item.entry.rename(name);
        }
    }
}

/// The path of a file or a link, without links among the folders above it. Folders that are missing stay as they are.
fn resolved(path: &Path) -> PathBuf {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| resolved(folder));
    folder.join(name)
}

/// Runs `uninstall`.
///
/// # Errors
///
/// Nothing is installed there, or something was changed since: then nothing is removed.
pub fn uninstall(options: &Removal) -> Result<ExitCode, String> {
    let prefix = staged(&absolute(&options.prefix)?)?;
    let entries = known(&prefix)?;
    if entries.is_empty() {
        return Err(format!(
            "nothing of kirin is installed under {}",
            prefix.display()
        ));
    }
    refuse_edited(&prefix, &entries, options.force, "nothing is removed")?;

    #[cfg(target_os = "linux")]
    let stand_ins: Vec<PathBuf> = entries
        .iter()
        .filter(|e| {
            e.path()
                .file_name()
                .is_some_and(|name| name == library::SONAME)
        })
        .flat_map(|e| crate::run::folders_of_stand_ins(&prefix.join(e.path())))
        .collect();
    let mut removed = 0;
    for entry in entries.iter().filter(|e| is_ours(&prefix, &entries, e)) {
        removed += usize::from(remove(&prefix, entry)?);
    }
    let mut back = 0;
    for entry in entries
        .iter()
        .filter(|e| matches!(e, ManifestEntry::Aside(_)))
    {
        let path = prefix.join(entry.path());
        let aside = manifest::aside(&path);
        if !manifest::exists(&aside) {
            continue;
        }
        if manifest::exists(&path) {
            // A newer one came back meanwhile.
            written(fs::remove_file(&aside), aside.display())?;
        } else {
            written(fs::rename(&aside, &path), path.display())?;
            back += 1;
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
    crate::run::clear_stand_ins(&stand_ins);
    let back = match back {
        0 => String::new(),
        n => format!(", {n} that were there before put back"),
    };
    report::print(&format!(
        "{removed} files and links removed from {}{back}\n",
        prefix.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What kirin has installed under `prefix`, without a command that the Python package has replaced.
fn known(prefix: &Path) -> Result<Vec<ManifestEntry>, String> {
    let mut entries = manifest::read(prefix)?;
    entries.retain(|entry| {
        !(matches!(entry, ManifestEntry::File(..)) && is_pythons(prefix, entry.path()))
    });
    Ok(entries)
}

/// Whether the Python package's script, which starts the same command, lies at `path`. pip puts it into `bin` of an environment,
/// also over a command that is there: it is left to pip.
fn is_pythons(prefix: &Path, path: &Path) -> bool {
    const LONGEST: u64 = 4096;
    let file = prefix.join(path);
    let names_it = |text: Vec<u8>| text.windows(14).any(|part| part == b"kirin._command");
    path == Path::new(contents::COMMAND)
        && fs::symlink_metadata(&file).is_ok_and(|found| found.is_file() && found.len() <= LONGEST)
        && fs::read(&file).is_ok_and(names_it)
}

/// Whether an entry is a file or a link of kirin's, and nothing of others lies in its place.
fn is_ours(prefix: &Path, all: &[ManifestEntry], entry: &ManifestEntry) -> bool {
    matches!(entry, ManifestEntry::File(..) | ManifestEntry::Link(..))
        && !manifest::came_back(prefix, all, entry.path())
}

/// Removes a file or a link. Tells whether it was there.
fn remove(prefix: &Path, entry: &ManifestEntry) -> Result<bool, String> {
    match fs::remove_file(prefix.join(entry.path())) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        done => written(done, entry.path().display()).map(|()| true),
    }
}

fn is_folder(entry: &ManifestEntry) -> bool {
    matches!(entry, ManifestEntry::Folder(_))
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
fn refuse_edited(
    prefix: &Path,
    entries: &[ManifestEntry],
    force: bool,
    so: &str,
) -> Result<(), String> {
    let edited = || {
        let paths = entries.iter().map(ManifestEntry::path).filter(|path| {
            let mut same = entries.iter().filter(|e| e.path() == *path);
            !same.any(|e| e.is_intact(prefix))
                && manifest::exists(&prefix.join(path))
                && !manifest::came_back(prefix, entries, path)
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
fn make_folders(prefix: &Path, items: &[Item]) -> Result<Vec<ManifestEntry>, String> {
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
        match make_folder(&plain(prefix, &path)) {
            Ok(()) => made.push(ManifestEntry::Folder(path)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(format!("{}: {e}", prefix.join(path).display())),
        }
    }
    Ok(made)
}

/// Makes a folder that everybody can read, as the files in it, whatever the umask is.
fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    let mode = fs::metadata(path)?.permissions().mode() | 0o755;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
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
        ManifestEntry::Link(_, to) => symlink(to, path),
        _ => manifest::put_file(path, &item.bytes, item.mode),
    }
}
