//! Particle sets for the clients.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use ffi_tests::library;
use ffi_tests::sets::{Set, cloud};

/// Every arithmetic that `KIRIN_PRECISION` names.
pub const PRECISIONS: [&str; 4] = ["double", "mixed", "single", "double-single"];

/// A file with a set, for a client.
pub fn input(set: &Set) -> PathBuf {
    write(std::slice::from_ref(set))
}

/// A file of several sets, one after the other.
pub fn write(sets: &[Set]) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = library::workspace().join(format!("set-{number}"));
    std::fs::write(&path, sets.iter().map(Set::to_text).collect::<String>())
        .expect("the target folder is writable");
    path
}

/// `nj` sources and `ni` probes, most of which are sources too.
pub fn set(nj: usize, ni: usize, eps2: f64) -> Set {
    let mut set = cloud(nj, 5, eps2);
    let more = cloud(ni.max(1), 6, eps2);
    set.probes.extend(more.probes.into_iter().skip(nj));
    set.probes.truncate(ni);
    set
}

/// The same particles at rest.
pub fn still(mut set: Set) -> Set {
    for source in &mut set.sources {
        (source.v, source.aby2) = ([0.0; 3], [0.0; 3]);
        (source.a1by6, source.a2by18) = ([0.0; 3], [0.0; 3]);
    }
    for probe in &mut set.probes {
        probe.v = [0.0; 3];
    }
    set
}

/// Settings for tests with blocks of several thread blocks: 256 pipelines in place of 48, unless a test asks for
/// another number. The precision is `mixed`, which `auto` would take for larger sets only.
pub fn with_pipelines<'a>(settings: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let common = [("KIRIN_NPIPES", "256"), ("KIRIN_PRECISION", "mixed")];
    [&common, settings].concat()
}
