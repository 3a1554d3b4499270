//! kirin's own calls: version, backend and other facts about the library, for programs that ask.

use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::g6::CLUSTERS;
use kirin_core::error::Result;
use kirin_core::process::entry;

/// The calls of this group.
pub(crate) const CALLS: &[Call] = &[
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
        docs: "Returns the precision of the last block of cluster `cluster_id`: `mixed`, `double`, `single`, `double-single` or `reduced`. \
            Before the first block it may be `auto` or `adaptive`.\n",
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
#[cfg_attr(feature = "export-symbols", unsafe(no_mangle))]
pub extern "C" fn kirin_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// What computes the forces of cluster `cluster_id`, a string that lives as long as the process.
#[cfg_attr(feature = "export-symbols", unsafe(no_mangle))]
pub extern "C" fn kirin_backend(cluster_id: c_int) -> *const c_char {
    text(|| CLUSTERS.with(cluster_id, |c| Ok(c.backend_name())))
}

/// Precision of the last block of cluster `cluster_id`: `mixed`, `double`, `single`, `double-single` or `reduced`; before, what is in force.
#[cfg_attr(feature = "export-symbols", unsafe(no_mangle))]
pub extern "C" fn kirin_precision(cluster_id: c_int) -> *const c_char {
    text(|| CLUSTERS.with(cluster_id, |c| Ok(c.precision())))
}

/// A string that was returned once.
struct Text {
    text: CString,
    before: *const Text,
}

/// Keeps one copy of each string ever returned; there are a handful. Takes no lock, which a fork might
/// leave held.
pub fn text(make: impl FnOnce() -> Result<String>) -> *const c_char {
    static TEXTS: AtomicPtr<Text> = AtomicPtr::new(ptr::null_mut());
    let made = entry::once(|| catch_unwind(AssertUnwindSafe(make)));
    let Some(Ok(Ok(made))) = made else {
        return c"".as_ptr();
    };
    let text = CString::new(made).unwrap_or_default();
    let newest = TEXTS.load(Ordering::Acquire);
    let mut next = newest.cast_const();
    // SAFETY: texts are never freed, and are complete before they can be reached.
    while let Some(known) = unsafe { next.as_ref() } {
        if known.text == text {
            return known.text.as_ptr();
        }
        next = known.before;
    }
    let kept = Box::leak(Box::new(Text {
        text,
        before: newest,
    }));
    // Should another thread be faster, its text is forgotten, and one copy more made the next time.
    TEXTS.store(kept, Ordering::Release);
    kept.text.as_ptr()
}
