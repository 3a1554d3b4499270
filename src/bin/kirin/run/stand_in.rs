//! Empty libraries that have the names of the libraries that kirin replaces.
//!
//! If a library with the name (SONAME) that a program needs is already loaded, the loader uses it and opens no file.
//! So `kirin run` preloads an empty library of that name beside kirin. The loader then does not open the original
//! library, wherever it lies, and does not fail if it is missing.
//!
//! The files stay in a folder of the user, because the program replaces this process, which therefore cannot remove
//! them. Their names are made from their contents, so a file never changes. Each installed library has a folder of its own there, which
//! `kirin uninstall` removes with it.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use twox_hash::XxHash64;

use object::elf;

/// A path in `folder` to an empty library that answers to `name` and needs `library`.
///
/// # Errors
///
/// It cannot be written.
pub fn file(folder: &Path, name: &str, library: &str) -> io::Result<PathBuf> {
    let bytes = image(name, library);
    let stem: String = name
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    let path = folder.join(format!("{:016x}-{stem}", XxHash64::oneshot(0, &bytes)));
    if fs::read(&path).is_ok_and(|found| found == bytes) {
        return Ok(path);
    }
    // Another rank may do the same at this moment: whole files only, by renaming.
    let draft = folder.join(format!("{}.draft", std::process::id()));
    fs::File::create(&draft)?.write_all(&bytes)?;
    fs::rename(&draft, &path)?;
    Ok(path)
}

/// A link in `folder` to `library`, whose path `LD_PRELOAD` cannot hold.
///
/// # Errors
///
/// It cannot be made.
pub fn link(folder: &Path, library: &Path) -> io::Result<PathBuf> {
    let name = XxHash64::oneshot(0, library.as_os_str().as_encoded_bytes());
    let file = library.file_name().unwrap_or_default().to_string_lossy();
    let path = folder.join(format!("{name:016x}-{file}"));
    if fs::read_link(&path).is_ok_and(|found| found == library) {
        return Ok(path);
    }
    let draft = folder.join(format!("{}.link", std::process::id()));
    std::os::unix::fs::symlink(library, &draft)?;
    fs::rename(&draft, &path)?;
    Ok(path)
}

/// The folder for `library` in the first place that nobody else can write to and that `LD_PRELOAD` can name.
///
/// # Errors
///
/// There is none.
pub fn folder(library: &Path) -> Result<PathBuf, String> {
    let mut reasons = Vec::new();
    for place in places() {
        let prepared = prepare(&place, user());
        let place = place.join(name_of(library));
        match prepared.and_then(|()| prepare(&place, user())) {
            Ok(()) => return Ok(place),
            Err(e) => reasons.push(format!("{}: {e}", place.display())),
        }
    }
    Err(format!(
        "there is no folder for stand-in libraries: {}",
        reasons.join("; ")
    ))
}

/// The name of a library's folder.
fn name_of(library: &Path) -> String {
    let whole = fs::canonicalize(library).unwrap_or_else(|_| library.to_owned());
    format!(
        "{:016x}",
        XxHash64::oneshot(0, whole.as_os_str().as_encoded_bytes())
    )
}

/// The folders of a library, in all places. (They are known as long as the library is there.)
pub fn folders(library: &Path) -> Vec<PathBuf> {
    places().map(|place| place.join(name_of(library))).collect()
}

/// Removes the files of these folders, and the folders. Programs that run keep what they have loaded.
pub fn clear(folders: &[PathBuf]) {
    for folder in folders {
        let is_ours = |m: fs::Metadata| m.is_dir() && m.uid() == user();
        if !fs::symlink_metadata(folder).is_ok_and(is_ours) {
            continue;
        }
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            // Others who may have put something there keep it, and the folder with it.
            let name = entry.file_name();
            let sum = name.to_str().and_then(|n| n.get(..17));
            let is_sum =
                |s: &str| s.ends_with('-') && s[..16].bytes().all(|b| b.is_ascii_hexdigit());
            if sum.is_some_and(is_sum) {
                let _ = fs::remove_file(entry.path());
            }
        }
        let _ = fs::remove_dir(folder);
        // And the places around it that are empty then.
        if let Some(place) = folder.parent() {
            let _ = fs::remove_dir(place);
            if let Some(parent) = place.parent().filter(|p| p.ends_with("kirin")) {
                let _ = fs::remove_dir(parent);
            }
        }
    }
}

/// Where the folder may be, by preference.
fn places() -> impl Iterator<Item = PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let places = [
        variable("XDG_CACHE_HOME").map(|p| p.join("kirin/stand-ins")),
        variable("HOME").map(|p| p.join(".cache/kirin/stand-ins")),
        Some(std::env::temp_dir().join(format!("kirin-stand-ins-{}", user()))),
    ];
    places.into_iter().flatten().filter(|p| p.is_absolute())
}

fn user() -> u32 {
    // SAFETY: a plain question.
    unsafe { libc::geteuid() }
}

fn prepare(place: &Path, user: u32) -> io::Result<()> {
    if !can_be_preloaded(place) {
        return Err(io::Error::other("LD_PRELOAD cannot name it"));
    }
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(place) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let found = fs::symlink_metadata(place)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o022 != 0 {
        return Err(io::Error::other("others can write to it"));
    }
    let probe = place.join(format!("{}.probe", std::process::id()));
    fs::File::create(&probe)?;
    fs::remove_file(&probe)
}

/// Whether `LD_PRELOAD` can hold this path: the loader separates paths at colons and spaces, and expands `$`.
pub fn can_be_preloaded(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|p| !p.contains([':', ' ', '$', '\t', '\n']))
}

fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-+".contains(c)
}

/// The bytes of the library: three program headers, a dynamic section, a hash table, one null
/// symbol and the strings.
fn image(name: &str, library: &str) -> Vec<u8> {
    const HEADERS: u64 = 64 + 3 * 56;
    const DYNAMIC: u64 = 8 * 16;
    const HASH: u64 = HEADERS + DYNAMIC;
    const SYMBOL: u64 = HASH + 16;
    const STRINGS: u64 = SYMBOL + 24;
    let strings = format!("\0{name}\0{library}\0");
    let (soname, needed) = (1, 2 + name.len() as u64);
    let size = STRINGS + strings.len() as u64;
    let machine = if cfg!(target_arch = "aarch64") {
        elf::EM_AARCH64
    } else {
        elf::EM_X86_64
    };

    let mut bytes = Vec::new();
    bytes.extend(elf::ELFMAG);
    bytes.extend([elf::ELFCLASS64, elf::ELFDATA2LSB, elf::EV_CURRENT]);
    bytes.resize(16, 0);
    for half in [elf::ET_DYN, machine] {
        bytes.extend(half.to_le_bytes());
    }
    bytes.extend(u32::from(elf::EV_CURRENT).to_le_bytes());
    // No entry; program headers follow; no section headers.
    for word in [0_u64, 64, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(0_u32.to_le_bytes());
    // Sizes and numbers of headers: this one, programs', sections'.
    for half in [64_u16, 56, 3, 64, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
    // The largest page in use is 64 KiB. The loader may write to the dynamic section.
    let segments = [
        (elf::PT_LOAD, 0, size, 0x10000_u64),
        (elf::PT_DYNAMIC, HEADERS, DYNAMIC, 8),
        (elf::PT_GNU_STACK, 0, 0, 16),
    ];
    for (kind, offset, length, alignment) in segments {
        bytes.extend(kind.to_le_bytes());
        bytes.extend((elf::PF_R | elf::PF_W).to_le_bytes());
        for word in [offset, offset, offset, length, length, alignment] {
            bytes.extend(word.to_le_bytes());
        }
    }
    let entries = [
        (elf::DT_SONAME, soname),
        (elf::DT_NEEDED, needed),
        (elf::DT_HASH, HASH),
        (elf::DT_SYMTAB, SYMBOL),
        (elf::DT_SYMENT, 24),
        (elf::DT_STRTAB, STRINGS),
        (elf::DT_STRSZ, strings.len() as u64),
        (elf::DT_NULL, 0),
    ];
    for (tag, value) in entries {
        bytes.extend(u64::from(tag).to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    // One empty bucket, a chain for the null symbol.
    for word in [1_u32, 1, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(bytes.len() + 24, 0);
    bytes.extend(strings.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_another_library_stays() {
        let top = std::env::temp_dir().join(format!("kirin-stand-ins-test-{}", std::process::id()));
        let place = top.join("kirin/stand-ins");
        let [first, second] = ["/opt/a/libkirin.so.0", "/opt/b/libkirin.so.0"]
            .map(|library| place.join(name_of(Path::new(library))));
        assert_ne!(first, second);
        for folder in [&first, &second] {
            fs::create_dir_all(folder).expect("a folder");
            file(folder, "libg6.so", "libkirin.so.0").expect("a stand-in");
        }
        clear(std::slice::from_ref(&first));
        assert!(!first.exists());
        assert_eq!(second.read_dir().expect("it is there").count(), 1);
        clear(&[second]);
        assert!(!top.join("kirin").exists());
        fs::remove_dir(top).expect("it is empty");
    }
}
