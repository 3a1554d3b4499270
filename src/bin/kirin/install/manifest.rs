//! The list of the installed files under a prefix, from which `kirin uninstall` removes them.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use twox_hash::XxHash64;

/// Where the list lies under the prefix.
pub const PLACE: &str = "share/kirin/manifest";

const HEADING: &str = "kirin installed what follows; `kirin uninstall` removes it.";

/// One thing that was installed. Paths are relative to the prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestEntry {
    /// A folder that was not there before.
    Folder(PathBuf),
    /// A file: checksum and length of its contents.
    File(PathBuf, u64, u64),
    /// A symbolic link and what it holds.
    Link(PathBuf, PathBuf),
    /// A file of others that was there before: it lies at [`aside`] until what was installed in its place is removed.
    Aside(PathBuf),
}

/// Whether a file of others lies at `path` again, in the place of one that was set aside; or still, if an installation was interrupted.
pub fn came_back(prefix: &Path, entries: &[ManifestEntry], path: &Path) -> bool {
    let of_path = || entries.iter().filter(|e| e.path() == path);
    of_path().any(|e| matches!(e, ManifestEntry::Aside(_)))
        && !of_path().any(|e| e.is_intact(prefix))
        && exists(&prefix.join(path))
        // A file that still speaks of kirin is kirin's own, edited.
        && !(of_path().any(|e| matches!(e, ManifestEntry::File(..)))
            && fs::read(prefix.join(path)).is_ok_and(|text| speaks_of_kirin(&text)))
}

/// Whether a line without a slash has the word: in other lines it may be part of the path of a folder.
fn speaks_of_kirin(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n')
        .any(|line| !line.contains(&b'/') && line.windows(5).any(|word| word == b"kirin"))
}

/// Where a file of others lies meanwhile.
pub fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".before-kirin");
    name.into()
}

impl ManifestEntry {
    /// A file of these contents.
    pub fn file(path: &str, bytes: &[u8]) -> Self {
        Self::File(path.into(), XxHash64::oneshot(0, bytes), bytes.len() as u64)
    }

    /// Its path under the prefix.
    pub fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::File(path, ..) | Self::Link(path, _) | Self::Aside(path) => {
                path
            }
        }
    }

    /// Gives it another path under the prefix.
    pub fn rename(&mut self, to: &Path) {
        match self {
            Self::Folder(path) | Self::File(path, ..) | Self::Link(path, _) | Self::Aside(path) => {
                to.clone_into(path);
            }
        }
    }

    /// Whether it lies under `prefix` as it was installed.
    pub fn is_intact(&self, prefix: &Path) -> bool {
        let path = prefix.join(self.path());
        match self {
            Self::Folder(_) => path.is_dir(),
            Self::File(_, sum, length) => {
                fs::symlink_metadata(&path).is_ok_and(|m| m.is_file() && m.len() == *length)
                    && fs::read(&path).is_ok_and(|bytes| XxHash64::oneshot(0, &bytes) == *sum)
            }
            Self::Link(_, to) => fs::read_link(&path).is_ok_and(|found| found == *to),
            Self::Aside(_) => false,
        }
    }

    fn to_line(&self) -> String {
        match self {
            Self::Folder(path) => format!("folder {}", path.display()),
            Self::File(path, sum, length) => format!("file {sum:016x} {length} {}", path.display()),
            Self::Link(path, to) => format!("link {} {}", to.display(), path.display()),
            Self::Aside(path) => format!("aside {}", path.display()),
        }
    }

    /// None of the paths holds a space: they are all ours.
    fn from_line(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["folder", path] => Some(Self::Folder(path.into())),
            ["file", sum, length, path] => Some(Self::File(
                path.into(),
                u64::from_str_radix(sum, 16).ok()?,
                length.parse().ok()?,
            )),
            ["aside", path] => Some(Self::Aside(path.into())),
            ["link", to, path] => Some(Self::Link(path.into(), to.into())),
            _ => None,
        }
    }
}

/// Whether something lies at `path`, be it a link to nowhere.
pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// What is installed under `prefix`; nothing where there is no list.
///
/// # Errors
///
/// The list cannot be read or understood.
pub fn read(prefix: &Path) -> Result<Vec<ManifestEntry>, String> {
    let path = prefix.join(PLACE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("{}: {e}", path.display())),
    };
    let damaged = || format!("{}: this is no list of kirin's", path.display());
    let mut lines = text.lines();
    if lines.next() != Some(HEADING) {
        return Err(damaged());
    }
    lines
        .map(ManifestEntry::from_line)
        .collect::<Option<_>>()
        .ok_or_else(damaged)
}

/// Writes the list.
///
/// # Errors
///
/// It cannot be written.
pub fn write(prefix: &Path, entries: &[ManifestEntry]) -> io::Result<()> {
    let lines: Vec<String> = entries.iter().map(ManifestEntry::to_line).collect();
    let text = format!("{HEADING}\n{}\n", lines.join("\n"));
    replace(&prefix.join(PLACE), |draft| {
        put_file(draft, text.as_bytes(), 0o644)
    })
}

/// Writes a file with these permissions, whatever the umask is.
///
/// # Errors
///
/// It cannot be written.
pub fn put_file(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    fs::write(path, bytes)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Makes a new file beside `path` and puts it there as a whole.
///
/// # Errors
///
/// It cannot be made or put there.
pub fn replace(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    let draft = PathBuf::from(draft);
    let made = make(&draft).and_then(|()| fs::rename(&draft, path));
    if made.is_err() {
        let _ = fs::remove_file(&draft);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_called_kirin_makes_no_file_kirins() {
        assert!(!speaks_of_kirin(b"prefix=/opt/kirin-env\nName: g6lib\n"));
        assert!(speaks_of_kirin(
            b"prefix=/opt/env\nDescription: GRAPE-6, from kirin\n"
        ));
    }

    #[test]
    fn lines_can_be_read_back() {
        let entries = [
            ManifestEntry::Folder("lib/pkgconfig".into()),
            ManifestEntry::file("include/kirin.h", b"text"),
            ManifestEntry::Link("lib/libg6.so".into(), "libkirin.so.0".into()),
            ManifestEntry::Aside("lib/libg6.so".into()),
        ];
        for entry in entries {
            assert_eq!(ManifestEntry::from_line(&entry.to_line()), Some(entry));
        }
        for bad in ["", "file x 1 p", "file 00 p", "link a", "folder"] {
            assert_eq!(ManifestEntry::from_line(bad), None, "{bad}");
        }
    }
}
