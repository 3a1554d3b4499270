//! The PTX in every folder `kernels` is up to date with the sources. The test compares hashes and needs no compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ffi_tests::generate;
use sha2::{Digest, Sha256};

const REBUILD: &str = "run kernels/build.py";

fn kernels() -> PathBuf {
    generate::repository().join("kernels")
}

/// All folders with kernels: the library's and those of the examples.
fn folders() -> Vec<PathBuf> {
    let examples = fs::read_dir(generate::repository().join("examples")).expect("examples");
    let kernels_of =
        |entry: std::io::Result<fs::DirEntry>| entry.expect("readable").path().join("kernels");
    let mut folders = vec![
        kernels(),
        kernels().join("variants"),
        generate::repository().join("src/device/kernels"),
    ];
    folders.extend(examples.map(kernels_of).filter(|folder| folder.is_dir()));
    assert!(folders.len() >= 4, "{folders:?}");
    folders
}

fn sha256(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Names of the files of a folder that end in one of `ends`.
fn files(folder: &Path, ends: &[&str]) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            entry
                .expect("a readable entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| ends.iter().any(|end| name.ends_with(end)))
        .collect()
}

/// What the `prebuilt/MANIFEST` of a folder records.
struct Manifest {
    /// Values of the lines of one word and one value: compiler, versions.
    values: BTreeMap<String, String>,
    /// Hashes by file name.
    sources: BTreeMap<String, String>,
    modules: BTreeMap<String, String>,
}

impl Manifest {
    fn read(folder: &Path) -> Self {
        let path = folder.join("prebuilt/MANIFEST");
        let text = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; {REBUILD}", path.display()));
        let mut manifest = Self {
            values: BTreeMap::new(),
            sources: BTreeMap::new(),
            modules: BTreeMap::new(),
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').expect("a word and what belongs to it");
            let hashes = match word {
                "source" => &mut manifest.sources,
                "module" => &mut manifest.modules,
                _ => {
                    manifest.values.insert(word.into(), rest.into());
                    continue;
                }
            };
            let (hash, name) = rest.split_once(' ').expect("a hash and a name");
            hashes.insert(name.into(), hash.into());
        }
        manifest
    }

    fn value(&self, word: &str) -> &str {
        self.values
            .get(word)
            .unwrap_or_else(|| panic!("MANIFEST has no line `{word}`; {REBUILD}"))
    }
}

#[test]
fn sources_are_those_that_were_compiled() {
    for folder in folders() {
        let recorded = Manifest::read(&folder).sources;
        let mut present = files(&folder, &[".cu", ".cuh"]);
        assert!(!present.is_empty());
        // The variants are made of the library's headers.
        let shared = files(&folder.join(".."), &[".cuh"]);
        present.extend(shared.iter().map(|name| format!("../{name}")));
        assert_eq!(
            recorded.keys().cloned().collect::<BTreeSet<_>>(),
            present,
            "{}: sources came or went; {REBUILD}",
            folder.display()
        );
        for (name, hash) in &recorded {
            let path = folder.join(name);
            let what = path.display();
            assert_eq!(
                *hash,
                sha256(&path),
                "{what} changed, the PTX did not; {REBUILD}"
            );
        }
    }
}

#[test]
fn each_module_has_its_ptx_as_it_was_built() {
    for folder in folders() {
        let recorded = Manifest::read(&folder).modules;
        let prebuilt = folder.join("prebuilt");
        let expected: BTreeSet<String> = files(&folder, &[".cu"])
            .iter()
            .map(|name| name.replace(".cu", ".ptx"))
            .collect();
        assert_eq!(
            files(&prebuilt, &[".ptx"]),
            expected,
            "one PTX a module; {REBUILD}"
        );
        assert_eq!(
            recorded.keys().cloned().collect::<BTreeSet<_>>(),
            expected,
            "one PTX a module; {REBUILD}"
        );
        for (name, hash) in &recorded {
            let path = prebuilt.join(name);
            let what = path.display();
            assert_eq!(
                *hash,
                sha256(&path),
                "{what} is not as it was built; {REBUILD}"
            );
        }
    }
}

#[test]
fn the_ptx_is_for_the_devices_and_drivers_that_the_readme_names() {
    let manifest = Manifest::read(&kernels());
    let (version, target) = (manifest.value("ptx"), manifest.value("target"));
    for folder in folders() {
        for name in Manifest::read(&folder).modules.keys() {
            let ptx = fs::read_to_string(folder.join("prebuilt").join(name)).expect("PTX is text");
            let directives: Vec<&str> = ptx
                .lines()
                .filter(|line| line.starts_with(".version ") || line.starts_with(".target "))
                .collect();
            assert_eq!(
                directives,
                [format!(".version {version}"), format!(".target {target}")],
                "{name}"
            );
        }
    }
    let readme = fs::read_to_string(kernels().join("README.md")).expect("kernels/README.md");
    for promise in [
        format!("NVRTC {}", manifest.value("nvrtc")),
        format!("PTX {version} for {target}"),
        format!("driver {}", manifest.value("driver")),
    ] {
        assert!(
            readme.contains(&promise),
            "kernels/README.md does not say \"{promise}\""
        );
    }
}
