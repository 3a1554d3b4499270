//! The table of all calls, in groups by origin.

use crate::bulk::{symbols as bulk, texts};
use crate::edge::call::{Call, CallGroup, Interface};
use crate::g5::symbols as grape5;
use crate::g6::symbols::{low_level, original, own, precision, sapporo, usual};
use crate::nbody6::symbols::{gpuirr, plus_plus};
use crate::tree::symbols as tree;

/// Every exported call.
pub fn table() -> Vec<CallGroup> {
    let group = |interface, title, calls: &[Call]| CallGroup {
        interface,
        title,
        calls: calls.to_vec(),
    };
    let grape6 = |title, calls| group(Interface::Grape6, title, calls);
    vec![
        grape6("The GRAPE-6 interface", usual::CALLS),
        grape6("The low-level calls", low_level::CALLS),
        grape6("More of the original library's names", original::CALLS),
        grape6(
            "Calls for all boards at once",
            &[usual::ALL_BOARDS, low_level::ALL_BOARDS].concat().concat(),
        ),
        grape6(
            "Other names of these calls: those of the 2007 kirin, and of other libraries",
            &[usual::OTHER_NAMES, low_level::OTHER_NAMES]
                .concat()
                .concat(),
        ),
        grape6("kirin's own", &[own::CALLS, precision::CALLS].concat()),
        grape6(
            "kirin's own: the bulk interface (docs/bulk.md)",
            &[bulk::CALLS, texts::CALLS].concat(),
        ),
        grape6("kirin's own: forces by a tree (docs/tree.md)", tree::CALLS),
        group(Interface::Grape5, "The GRAPE-5 interface", grape5::CALLS),
        group(
            Interface::Sapporo,
            "Names of sapporo that other programs may have, too",
            sapporo::CALLS,
        ),
        group(
            Interface::Nbody6,
            "The library of NBODY6++ and NBODY6",
            plus_plus::CALLS,
        ),
        group(
            Interface::Nbody6,
            "Irregular forces of NBODY6 and NBODY7, and their helpers",
            gpuirr::CALLS,
        ),
    ]
}
