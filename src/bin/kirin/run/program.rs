//! The program to run: its file, and whether the loader can preload kirin into it.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::elf::{self, FileKind};
use super::libraries::{self, Findings};

/// What kind of program it is.
pub enum Program {
    /// Linked dynamically, for this machine.
    Dynamic(Findings),
    /// Has kirin linked into it, so that settings are all it needs.
    Own,
    /// Not ELF: a script, which starts other programs.
    Script,
    /// Has another GRAPE-6 library linked into it, so that kirin cannot take part; why.
    Contains(String),
    /// One in whose place kirin cannot step, and why.
    OutOfReach(String),
}

/// The file that `name` stands for, as a shell would find it.
pub fn find(name: &OsStr) -> Option<PathBuf> {
    let is_file = |p: &Path| p.metadata().is_ok_and(|m| m.is_file());
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|p| is_file(p));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        // An empty entry is this folder.
        .map(|folder| match folder.as_os_str().is_empty() {
            true => Path::new(".").join(name),
            false => folder.join(name),
        })
        .find(|p| is_file(p) && p.metadata().is_ok_and(|m| m.mode() & 0o111 != 0))
}

/// Looks at the file; `None` where it cannot be read. kirin's name is `soname`.
pub fn examine(path: &Path, soname: &str) -> Option<Program> {
    if raises_privileges(path) {
        return Some(Program::OutOfReach(
            "it is setuid, setgid or has capabilities, so the loader takes no library from outside"
                .to_owned(),
        ));
    }
    let map = elf::map(path).ok()?;
    Some(match FileKind::of(&map) {
        FileKind::Other => Program::Script,
        FileKind::OtherMachine => {
            Program::OutOfReach("it is a program for another machine".to_owned())
        }
        FileKind::Damaged(why) => Program::OutOfReach(format!("its file is damaged: {why}")),
        FileKind::Elf(_) if elf::has_kirin(&map) => Program::Own,
        FileKind::Elf(object) => match object.interpreter {
            None => {
                let why = "it is linked statically; link it again, with kirin's library".to_owned();
                match libraries::contains(&object) {
                    true => Program::Contains(why),
                    false => Program::OutOfReach(why),
                }
            }
            Some(interpreter) => {
                let findings = libraries::examine(path, &object, interpreter, soname);
                if findings.contains {
                    Program::Contains(
                        "it has a GRAPE-6 library linked into it; link it again, with kirin's"
                            .to_owned(),
                    )
                } else {
                    Program::Dynamic(findings)
                }
            }
        },
    })
}

/// Whether the kernel would start this file with other rights than ours. The loader then ignores `LD_PRELOAD`.
fn raises_privileges(path: &Path) -> bool {
    let Ok(file) = path.metadata() else {
        return false;
    };
    // SAFETY: plain questions.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let setuid = file.mode() & libc::S_ISUID != 0 && file.uid() != user;
    // Without the group's right to execute, the bit means something else.
    let setgid = file.mode() & (libc::S_ISGID | libc::S_IXGRP) == libc::S_ISGID | libc::S_IXGRP
        && file.gid() != group;
    setuid || setgid || (user != 0 && has_capabilities(path))
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    let name = c"security.capability".as_ptr();
    // SAFETY: two C strings; a buffer of length 0 asks for the size.
    unsafe { libc::getxattr(path.as_ptr(), name, std::ptr::null_mut(), 0) > 0 }
}
