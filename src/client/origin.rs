//! The origin of a library's calls: the kirin linked into this program, or a file.

use std::error::Error;
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

use libloading::Library;

use super::ClientError;
use crate::symbols::{kirin_backend, kirin_precision};
use kirin_core::process::settings::{self, Precision, Settings};

/// The precision of a foreign library.
const UNKNOWN: &str = "unknown";

type TextFn = unsafe extern "C" fn(c_int) -> *const c_char;

/// A library, and what kirin says of itself where it is one.
pub struct Origin {
    name: String,
    kirin: Option<[TextFn; 2]>,
    library: Option<Library>,
}

impl Origin {
    /// The kirin that is linked into this program.
    pub fn linked() -> Self {
        Self {
            name: "kirin (linked)".to_owned(),
            kirin: Some([kirin_backend, kirin_precision]),
            library: None,
        }
    }

    /// The library at `path`, or where the system's loader finds it.
    ///
    /// # Errors
    ///
    /// The file cannot be loaded.
    pub fn open(path: &Path) -> Result<Self, ClientError> {
        let name = path.display().to_string();
        // SAFETY: loading a library runs its initialisers; the user named this one to be run.
        let library = unsafe { Library::new(path) }.map_err(|e| fail(&name, &e))?;
        let mut origin = Self {
            name,
            kirin: None,
            library: Some(library),
        };
        // SAFETY: kirin gives both names this signature, and nobody else has them.
        let texts = unsafe {
            (
                origin.symbol("kirin_backend"),
                origin.symbol("kirin_precision"),
            )
        };
        if let (Ok(backend), Ok(precision)) = texts {
            origin.kirin = Some([backend, precision]);
        }
        Ok(origin)
    }

    /// A function of a library that was opened.
    ///
    /// # Errors
    ///
    /// It lacks the symbol.
    ///
    /// # Safety
    ///
    /// `F` is the function's type; what it returns may be left out where nobody looks at it.
    pub unsafe fn symbol<F: Copy>(&self, name: &str) -> Result<F, ClientError> {
        let Some(library) = &self.library else {
            return Err(ClientError(format!("{}: no file was opened", self.name)));
        };
        // SAFETY: passed on.
        let symbol = unsafe { library.get::<F>(name) };
        // kirin's own library has the names of NBODY6 with a prefix.
        // SAFETY: passed on.
        let prefixed = || unsafe { library.get::<F>(format!("kirin_nbody6_{name}")) };
        let symbol = symbol.or_else(|e| prefixed().map_err(|_| e));
        symbol.map(|s| *s).map_err(|e| fail(&self.name, &e))
    }

    /// Whether it is a kirin, which follows the settings of this process.
    pub fn is_kirin(&self) -> bool {
        self.kirin.is_some()
    }

    /// The library's file, or that it is the linked one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What computes the forces of cluster `id`: kirin's backend, or the name of a foreign library.
    pub fn backend(&self, id: i32) -> String {
        self.text(0, id, &self.name)
    }

    /// The precision of cluster `id`, or "unknown" for a foreign library.
    pub fn precision(&self, id: i32) -> String {
        self.text(1, id, UNKNOWN)
    }

    /// The precision of an interface that has no clusters, or "unknown" for a foreign library: what `rule` takes under the
    /// settings of this process.
    pub fn precision_by(&self, rule: impl Fn(&Settings) -> Precision) -> String {
        match self.is_kirin() {
            true => rule(settings::settings()).to_string(),
            false => UNKNOWN.to_owned(),
        }
    }

    fn text(&self, which: usize, id: i32, foreign: &str) -> String {
        // SAFETY: kirin's own function returns a string that lives as long as the library.
        let text = self.kirin.map(|calls| unsafe { calls[which](id) });
        owned(text).unwrap_or_else(|| foreign.to_owned())
    }
}

/// What the loader says of a library.
fn fail(name: &str, error: &libloading::Error) -> ClientError {
    let cause = error.source().map(|c| format!(": {c}")).unwrap_or_default();
    ClientError(format!("{name}: {error}{cause}"))
}

/// A text that kirin returned.
fn owned(text: Option<*const c_char>) -> Option<String> {
    let text = text.filter(|p| !p.is_null())?;
    // SAFETY: a non-null pointer from kirin is a C string of static lifetime.
    Some(
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    )
}
