//! Replacing a file by a new one as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the file at `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|p| *p != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// The path of the file that the symbolic links at `path` lead to; `path` itself where there is no file.
pub(crate) fn behind_links(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Makes a file by `write`, and puts it in the place of the one at `path` when it is whole. If `path` is a symbolic link,
/// the file that it leads to is replaced. `write` gets the path of the new file, which is beside the old one.
///
/// # Errors
///
/// Those of `write`, or that of the operating system as `refused` puts it. The old file is as it was, and the new one is
/// removed: on a full disk it would take what room is left.
pub(crate) fn replace<T, E>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<T, E>,
    refused: impl FnOnce(io::Error) -> E,
) -> Result<T, E> {
    let path = behind_links(path);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let replaced = write(&partial).and_then(|written| {
        fs::rename(&partial, &path).map_err(refused)?;
        Ok(written)
    });
    if replaced.is_err() {
        let _ = fs::remove_file(&partial);
    }
    replaced
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::Snapshot;
    use kirin_testing::Folder;

    /// A state that lies on another disk is replaced there.
    #[test]
    fn a_link_stays_a_link() {
        let folder = Folder::new("kit-link");
        let [state, link] = ["state.txt", "run.txt"].map(|name| PathBuf::from(folder.file(name)));
        Snapshot::default().save_as(&state).unwrap();
        std::os::unix::fs::symlink("state.txt", &link).unwrap();
        let later = Snapshot {
            time: 2.0,
            ..Snapshot::default()
        };
        later.save_as(&link).unwrap();
        assert_eq!(Snapshot::load(&state).unwrap().time, 2.0);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.file("")).unwrap().count(), 2);
    }
}
