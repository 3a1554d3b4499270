//! An ELF file as the dynamic loader sees it: what it needs, what it imports, what it defines.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;
use object::LittleEndian as Little;
use object::elf::{self, FileHeader64};
use object::read::StringTable;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Sym, SymbolTable};

type Header = FileHeader64<Little>;

/// The machine that this command was built for, and kirin with it.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") {
    elf::EM_AARCH64
} else {
    elf::EM_X86_64
};

/// Maps a file into memory.
///
/// # Errors
///
/// It cannot be read, or is empty.
pub fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: the map is read only. A file that shrinks meanwhile ends this process with a
    // signal, before anything was started.
    unsafe { Mmap::map(&file) }
}

/// Whether kirin is linked into the program or library with these bytes: no other holds the names of its settings.
pub fn has_kirin(data: &[u8]) -> bool {
    let holds = |name: &str| data.windows(name.len()).any(|w| w == name.as_bytes());
    holds("KIRIN_NO_NEIGHBOUR") && holds("KIRIN_GPU_TIMEOUT")
}

/// What a file is.
pub enum FileKind<'d> {
    /// A program or library for this machine.
    Elf(Object<'d>),
    /// ELF for another machine.
    OtherMachine,
    /// ELF by its first bytes, and not to be understood.
    Damaged(String),
    /// Anything else: a script, or what a compiler made of one source.
    Other,
}

/// A program or a library.
pub struct Object<'d> {
    /// The dynamic loader that a program asks for; none where it is linked statically.
    pub interpreter: Option<&'d str>,
    /// Names of the libraries that it needs, in its own order.
    pub needed: Vec<&'d str>,
    dynamic: SymbolTable<'d, Header>,
    all: SymbolTable<'d, Header>,
}

impl<'d> FileKind<'d> {
    /// Looks at the bytes of a file.
    pub fn of(data: &'d [u8]) -> Self {
        if !data.starts_with(&elf::ELFMAG) {
            return Self::Other;
        }
        let Ok(header) = Header::parse(data) else {
            return Self::OtherMachine; // 32 bits
        };
        if !header.is_little_endian() || header.e_machine(Little) != MACHINE {
            return Self::OtherMachine;
        }
        if header.e_type(Little) == elf::ET_REL {
            return Self::Other;
        }
        match Object::read(header, data) {
            Ok(object) => Self::Elf(object),
            Err(e) => Self::Damaged(e.to_string()),
        }
    }
}

impl<'d> Object<'d> {
    fn read(header: &'d Header, data: &'d [u8]) -> object::Result<Self> {
        let segments = header.program_headers(Little, data)?;
        let mut interpreter = None;
        let mut needed = Vec::new();
        for segment in segments {
            if let Some(path) = segment.interpreter(Little, data)? {
                interpreter = std::str::from_utf8(path).ok();
            }
            if let Some(entries) = segment.dynamic(Little, data)? {
                let strings = strings(segments, entries, data);
                needed.extend(
                    entries
                        .iter()
                        .take_while(|e| e.d_tag(Little) != u64::from(elf::DT_NULL))
                        .filter(|e| e.d_tag(Little) == u64::from(elf::DT_NEEDED))
                        .filter_map(|e| e.string(Little, strings).ok())
                        .filter_map(|name| std::str::from_utf8(name).ok()),
                );
            }
        }
        let sections = header.sections(Little, data)?;
        Ok(Self {
            interpreter,
            needed,
            dynamic: sections.symbols(Little, data, elf::SHT_DYNSYM)?,
            all: sections.symbols(Little, data, elf::SHT_SYMTAB)?,
        })
    }

    /// Names that it takes from elsewhere.
    pub fn imports(&self) -> impl Iterator<Item = &'d str> {
        names(&self.dynamic, |s| s.is_undefined(Little))
    }

    /// Names that others can take from it.
    pub fn exports(&self) -> impl Iterator<Item = &'d str> {
        names(&self.dynamic, |s| !s.is_undefined(Little))
    }

    /// Names that it defines at all, unless they were stripped.
    pub fn definitions(&self) -> impl Iterator<Item = &'d str> {
        names(&self.all, |s| !s.is_undefined(Little))
    }
}

/// The string table of a dynamic section, whose address is one in memory.
fn strings<'d>(
    segments: &[elf::ProgramHeader64<Little>],
    entries: &[elf::Dyn64<Little>],
    data: &'d [u8],
) -> StringTable<'d> {
    let value = |tag: u32| {
        let entry = entries.iter().find(|e| e.d_tag(Little) == u64::from(tag));
        entry.map(|e| e.d_val(Little))
    };
    let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
        return StringTable::default();
    };
    let bytes = segments
        .iter()
        .filter(|s| s.p_type(Little) == elf::PT_LOAD)
        .find_map(|s| s.data_range(Little, data, address, size).ok().flatten());
    bytes.map_or_else(StringTable::default, |b| {
        StringTable::new(b, 0, b.len() as u64)
    })
}

fn names<'d>(
    table: &SymbolTable<'d, Header>,
    wanted: impl Fn(&elf::Sym64<Little>) -> bool,
) -> impl Iterator<Item = &'d str> {
    let strings = table.strings();
    table
        .symbols()
        .iter()
        .filter(move |s| s.st_name(Little) != 0 && wanted(s))
        .filter_map(move |s| std::str::from_utf8(s.name(Little, strings).ok()?).ok())
}
