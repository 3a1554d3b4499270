//! The libraries of a program, and which of them kirin replaces.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use super::elf::{self, FileKind, Object};

/// Calls that show that a library has the GRAPE-6 or the GRAPE-5 interface. Only names that ph4 does not define
/// itself are used: ph4 defines some of the C names.
const TELLING: [&str; 3] = [
    "g6calc_firsthalf_",
    "g6calc_firsthalf",
    "g5_calculate_force_on_x",
];

/// How the names of GRAPE-5 calls begin that kirin lacks, of forces with a cutoff and of quadrupoles. Other calls of a program
/// that makes them would get wrong forces.
const LACKING: [&str; 3] = ["pg5_", "g5_set_cutoff_table", "g5c_"];

/// Parts of the names under which such libraries are known.
const KNOWN: [&str; 4] = ["g6", "g5", "sapporo", "grape"];

/// What was found out about a program with all its libraries.
pub struct Findings {
    /// Whether it or one of its libraries makes calls of the interface.
    pub calls: bool,
    /// Whether it has a library of the interface linked into it.
    pub contains: bool,
    /// A call that it or one of its libraries makes besides, and that kirin lacks.
    pub lacking: Option<String>,
    /// Names of libraries to keep out or to fill in for.
    pub replaced: BTreeSet<String>,
    /// Libraries of forwarded names that it needs.
    pub companions: BTreeSet<&'static str>,
}

/// Looks at `program`, which asks for the loader `interpreter`; kirin's name is `soname`.
pub fn examine(program: &Path, object: &Object, interpreter: &str, soname: &str) -> Findings {
    let places = listed(interpreter, program);
    let maps: Vec<(&String, memmap2::Mmap)> = places
        .iter()
        .filter_map(|(name, path)| Some((name, elf::map(path.as_ref()?).ok()?)))
        .collect();
    let libraries: BTreeMap<&str, Object> = maps
        .iter()
        .filter_map(|(name, map)| match FileKind::of(map) {
            FileKind::Elf(object) => Some((name.as_str(), object)),
            _ => None,
        })
        .collect();

    let present: Vec<(&str, &Object)> = libraries
        .iter()
        .filter(|(_, library)| library.exports().any(is_telling))
        .map(|(&name, library)| (name, library))
        .collect();
    let mut replaced: BTreeSet<String> = present
        .iter()
        .filter(|&&(name, library)| {
            name != soname && !is_needed_otherwise(name, library, object, &libraries)
        })
        .map(|&(name, _)| name.to_owned())
        .collect();

    let rest = || libraries_but(&libraries, &replaced).chain([object]);
    let calls = rest().any(|o| o.imports().any(is_call));
    let is_lacking = |name: &&str| LACKING.iter().any(|begin| name.starts_with(begin));
    let lacking = rest().flat_map(Object::imports).find(is_lacking);
    let lacking = lacking.filter(|_| calls).map(str::to_owned);
    // What another of its libraries has is that library's.
    let is_theirs =
        |name| libraries_but(&libraries, &replaced).any(|o| o.exports().any(|s| s == name));
    let mut companions = BTreeSet::new();
    for name in rest().flat_map(Object::imports) {
        let tells_itself = is_call(name);
        if let Some(library) = FORWARDED.get(name)
            && calls
            && (tells_itself || (*library == SAPPORO && !is_theirs(name)))
        {
            companions.insert(*library);
        }
    }
    let absent: BTreeSet<&str> = rest()
        .flat_map(|o| o.needed.iter().copied())
        .filter(|&name| name != soname && matches!(places.get(name), Some(None)))
        .collect();
    let contains = !calls && contains(object);
    if calls {
        // A missing library of an unknown name is replaced only where it is the only one that can be meant.
        let sole = absent.len() == 1 && present.is_empty();
        let absent = absent.into_iter().filter(|name| sole || is_known(name));
        let absent: Vec<String> = absent.map(str::to_owned).collect();
        replaced.extend(absent);
    }
    Findings {
        calls,
        contains,
        lacking,
        replaced,
        companions,
    }
}

/// Whether a library of the interface is linked into a program. A file without a loader that exports the interface is no
/// program: it is the library itself.
pub fn contains(object: &Object) -> bool {
    let is_library = object.interpreter.is_none() && object.exports().any(is_telling);
    object.definitions().any(is_telling) && !is_library
}

fn is_telling(symbol: &str) -> bool {
    TELLING.contains(&symbol)
}

/// The libraries that are not replaced.
fn libraries_but<'a>(
    libraries: &'a BTreeMap<&str, Object>,
    replaced: &'a BTreeSet<String>,
) -> impl Iterator<Item = &'a Object<'a>> {
    let others = libraries
        .iter()
        .filter(|(name, _)| !replaced.contains(**name));
    others.map(|(_, library)| library)
}

/// A library that a program asks for.
pub struct Linked {
    /// The name.
    pub name: String,
    /// The file that the loader finds, if it finds one.
    pub file: Option<PathBuf>,
}

/// The libraries that a program itself asks for; none if it is not linked dynamically, or not for this machine.
pub fn linked(program: &Path) -> Vec<Linked> {
    let Ok(map) = elf::map(program) else {
        return Vec::new();
    };
    let FileKind::Elf(object) = FileKind::of(&map) else {
        return Vec::new();
    };
    let Some(interpreter) = object.interpreter else {
        return Vec::new();
    };
    let mut files = listed(interpreter, program);
    let with_file = |name: &&str| Linked {
        name: (*name).to_owned(),
        file: files.remove(*name).flatten(),
    };
    object.needed.iter().map(with_file).collect()
}

/// What the loader itself finds: the file of each library by the name that is asked for.
fn listed(interpreter: &str, program: &Path) -> BTreeMap<String, Option<PathBuf>> {
    // Another loader than glibc's might not know the variable, and start the program.
    if !interpreter.contains("/ld-linux") {
        return BTreeMap::new();
    }
    let output = Command::new(interpreter)
        .arg(program)
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = output.map(|o| o.stdout).unwrap_or_default();
    parse(&String::from_utf8_lossy(&text))
}

fn parse(listing: &str) -> BTreeMap<String, Option<PathBuf>> {
    listing
        .lines()
        .filter_map(|line| {
            let line = line.trim();
            if let Some(name) = line.strip_suffix(" => not found") {
                return Some((name.to_owned(), None));
            }
            // "NAME => PATH (ADDRESS)", or "PATH (ADDRESS)" where the name is a path.
            let (line, _) = line.rsplit_once(" (")?;
            let (name, path) = line.split_once(" => ").unwrap_or((line, line));
            path.contains('/')
                .then(|| (name.to_owned(), Some(PathBuf::from(path))))
        })
        .collect()
}

/// Whether another part of the program needs a symbol of `library` that neither kirin nor any other library
/// has.
fn is_needed_otherwise(
    name: &str,
    library: &Object,
    program: &Object,
    libraries: &BTreeMap<&str, Object>,
) -> bool {
    let others = || {
        let others = libraries.iter().filter(|(other, _)| **other != name);
        others.map(|(_, object)| object).chain([program])
    };
    let mut own: HashSet<&str> = library.exports().filter(|s| !NAMES.contains(s)).collect();
    let wanted: HashSet<&str> = others().flat_map(Object::imports).collect();
    own.retain(|s| wanted.contains(s));
    for other in others() {
        if own.is_empty() {
            return false;
        }
        for symbol in other.exports() {
            own.remove(symbol);
        }
    }
    !own.is_empty()
}

/// Every name that kirin and the libraries beside it have.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let calls = kirin::symbols::table().into_iter().flat_map(|g| g.calls);
    calls.flat_map(|c| c.symbols()).collect()
});

/// The library of sapporo's names that say nothing of it.
const SAPPORO: &str = "kirin_sapporo";

/// The names that libraries beside kirin's forward, with that library.
static FORWARDED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let groups = kirin::symbols::table().into_iter();
    let forwarded = groups.filter_map(|g| Some((g.interface.library()?, g.calls)));
    forwarded
        .flat_map(|(library, calls)| {
            let names = calls.into_iter().flat_map(|c| c.symbols());
            names.map(move |name| (name, library))
        })
        .collect()
});

/// Whether it is a call of the interface: names such as `get_j_part_data` may be anybody's.
fn is_call(symbol: &str) -> bool {
    ["g6", "g5_", "GPU", "gpu", "irr_simd_"]
        .iter()
        .any(|p| symbol.starts_with(p))
        && NAMES.contains(symbol)
}

fn is_known(library: &str) -> bool {
    let name = library.rsplit('/').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    KNOWN.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listing_of_the_loader_is_understood() {
        let found = parse(
            "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibg6.so => not found\n\
             \tlibc.so.6 => /lib/with (brackets)/libc.so.6 (0x7f01)\n\t./own/libx.so (0x7f02)\n\
             \t/lib64/ld-linux-x86-64.so.2 (0x7f03)\n",
        );
        let path = |p: &str| Some(PathBuf::from(p));
        assert_eq!(found.len(), 4);
        assert_eq!(found["libg6.so"], None);
        assert_eq!(found["libc.so.6"], path("/lib/with (brackets)/libc.so.6"));
        assert_eq!(found["./own/libx.so"], path("./own/libx.so"));
    }

    #[test]
    fn libraries_are_known_by_their_file_names() {
        for name in [
            "libg6a.so.1",
            "libsapporo_light.so",
            "/opt/g6/libpg6.so",
            "libGRAPE.so",
        ] {
            assert!(is_known(name), "{name}");
        }
        for name in ["/opt/sapporo/libcudart.so.6", "libm.so.6"] {
            assert!(!is_known(name), "{name}");
        }
    }
}
