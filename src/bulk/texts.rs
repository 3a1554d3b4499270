//! The calls of the bulk interface that return a text.

use std::ffi::c_char;

use super::handles::{self, Held};
use crate::edge::call::{Argument, Call, Kind, Returns, Support};
use crate::g6::symbols::own::text;

const HANDLE: &[Argument] = &[Argument {
    name: "handle",
    kind: Kind::Handle,
}];

/// The calls of this group.
pub(crate) const CALLS: &[Call] = &[
    Call {
        c: Some("kirin_bulk_message"),
        fortran: None,
        docs: "Returns what the bulk interface refused last in this thread, a string that lives until its next refusal. \
            Empty before the first one.\n",
        support: Support::Implemented,
        returns: Returns::Text,
        arguments: &[],
    },
    Call {
        c: Some("kirin_bulk_backend"),
        fortran: None,
        docs: "Returns what computes the forces of a handle, a string that lives as long as the process. Empty if the handle \
            stands for nothing.\n",
        support: Support::Implemented,
        returns: Returns::Text,
        arguments: HANDLE,
    },
    Call {
        c: Some("kirin_bulk_precision"),
        fortran: None,
        docs: "Returns the precision of the last forces of a handle: `mixed`, `double`, `single`, `double-single` or `reduced`. Before \
            the first ones it may be `auto` or `adaptive`. Empty if the handle stands for nothing.\n",
        support: Support::Implemented,
        returns: Returns::Text,
        arguments: HANDLE,
    },
];

/// What computes the forces of a handle, a string that lives as long as the process.
#[cfg_attr(feature = "export-symbols", unsafe(no_mangle))]
pub extern "C" fn kirin_bulk_backend(handle: i64) -> *const c_char {
    text(|| handles::with_held(handle, Held::backend_name))
}

/// Precision of the last forces of a handle; before, what is in force.
#[cfg_attr(feature = "export-symbols", unsafe(no_mangle))]
pub extern "C" fn kirin_bulk_precision(handle: i64) -> *const c_char {
    text(|| handles::with_held(handle, Held::precision))
}
