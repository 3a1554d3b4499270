//! Replacing a file by a new one as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the file at `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|p| *p != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Links that are followed one after the other: as many as Linux follows.
const LINKS: usize = 40;

/// The path of the file that the symbolic link at `path` leads to, whether there is a file or not. `path` itself if it is
/// no link, or if it leads to something without a path, such as a pipe.
pub(crate) fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        match fs::canonicalize(&path) {
            Ok(whole) => return whole,
            Err(_) if path.exists() => break,
            Err(_) => path = folder_of(&path).join(target),
        }
    }
    path
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

    /// A state that lies on another disk is replaced there. The first one is written there, too.
    #[test]
    fn a_link_stays_a_link() {
        let folder = Folder::new("kit-link");
        let path = |name: &str| PathBuf::from(folder.file(name));
        let (disk, link) = (path("disk"), path("run.txt"));
        fs::create_dir(&disk).unwrap();
        std::os::unix::fs::symlink("hop.txt", &link).unwrap();
        std::os::unix::fs::symlink("disk/state.txt", path("hop.txt")).unwrap();
        for time in [1.0, 2.0] {
            let state = Snapshot {
                time,
                ..Snapshot::default()
            };
            state.save_as(&link).unwrap();
            assert_eq!(Snapshot::load(&disk.join("state.txt")).unwrap().time, time);
            assert!(link.is_symlink() && path("hop.txt").is_symlink());
            assert_eq!(fs::read_dir(&disk).unwrap().count(), 1);
            assert_eq!(fs::read_dir(folder.file("")).unwrap().count(), 3);
        }
    }

    /// Links in a circle lead nowhere, and a file without a link is where its path says.
    #[test]
    fn links_come_to_an_end() {
        let folder = Folder::new("kit-links");
        let [circle, file] = ["circle", "file"].map(|name| PathBuf::from(folder.file(name)));
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        assert!(behind_links(&circle).is_symlink());
        assert_eq!(behind_links(&file), file);
        assert_eq!(behind_links("run.txt".as_ref()), Path::new("run.txt"));
    }
}
