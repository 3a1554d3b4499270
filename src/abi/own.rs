//! kirin's own calls: what a program may want to say of the library it runs on.

use std::collections::HashSet;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use once_cell::sync::Lazy;
use parking_lot::Mutex;

use super::table::{Argument, Call, Kind, Returns, Support};
use crate::grape::registry::REGISTRY;

/// The calls of this group.
pub(super) const CALLS: &[Call] = &[
    Call {
        c: Some("kirin_version"),
        fortran: None,
        docs: "Returns the version of the library, a string that lives as long as the process.\n",
        support: Support::Implemented,
        returns: Returns::Text,
        arguments: &[],
    },
    Call {
        c: Some("kirin_backend"),
        fortran: None,
        docs: "Returns what computes the forces of cluster `cluster_id`, a string that lives as long as the process.\n",
        support: Support::Implemented,
        returns: Returns::Text,
        arguments: ONE_ID,
    },
    Call {
        c: Some("kirin_precision"),
        fortran: None,
        docs: "Returns the precision of cluster `cluster_id`: `mixed`, `double` or `single`.\n",
        support: Support::Implemented,
        returns: Returns::Text,
        arguments: ONE_ID,
    },
];

const ONE_ID: &[Argument] = &[Argument {
    name: "cluster_id",
    kind: Kind::Id,
}];

/// Version of the library, a string that lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn kirin_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// What computes the forces of cluster `cluster_id`, a string that lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn kirin_backend(cluster_id: c_int) -> *const c_char {
    text(|| REGISTRY.with(cluster_id, |c| c.backend_name()))
}

/// Precision of cluster `cluster_id`: `mixed`, `double` or `single`.
#[unsafe(no_mangle)]
pub extern "C" fn kirin_precision(cluster_id: c_int) -> *const c_char {
    text(|| REGISTRY.with(cluster_id, |c| c.precision().to_string()))
}

/// Keeps one copy of each string ever returned; there are a handful.
fn text(make: impl FnOnce() -> String) -> *const c_char {
    static TEXTS: Lazy<Mutex<HashSet<&'static std::ffi::CStr>>> = Lazy::new(Mutex::default);
    let made = catch_unwind(AssertUnwindSafe(|| {
        let text = CString::new(make()).unwrap_or_default();
        let mut texts = TEXTS.lock();
        match texts.get(&*text) {
            Some(known) => known.as_ptr(),
            None => {
                let kept: &'static std::ffi::CStr = Box::leak(text.into_boxed_c_str());
                texts.insert(kept);
                kept.as_ptr()
            }
        }
    }));
    made.unwrap_or(c"".as_ptr())
}
