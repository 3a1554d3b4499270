//! The table of all calls, in groups by origin.

use super::table::{Call, CallGroup, Interface};
use super::{board, grape5, interface, nbody6, nbody6_irregular, original, own, sapporo};

/// Every exported call.
pub fn table() -> Vec<CallGroup> {
    let group = |interface, title, calls: &[Call]| CallGroup {
        interface,
        title,
        calls: calls.to_vec(),
    };
    let grape6 = |title, calls| group(Interface::Grape6, title, calls);
    vec![
        grape6("The GRAPE-6 interface", interface::CALLS),
        grape6("The low-level calls", board::CALLS),
        grape6("More of the original library's names", original::CALLS),
        grape6(
            "Calls for all boards at once",
            &[interface::ALL_BOARDS, board::ALL_BOARDS].concat().concat(),
        ),
        grape6(
            "Other names of these calls: those of the 2007 kirin, and of other libraries",
            &[interface::OTHER_NAMES, board::OTHER_NAMES]
                .concat()
                .concat(),
        ),
        grape6("kirin's own", own::CALLS),
        group(Interface::Grape5, "The GRAPE-5 interface", grape5::CALLS),
        group(
            Interface::Sapporo,
            "Names of sapporo that other programs may have, too",
            sapporo::CALLS,
        ),
        group(
            Interface::Nbody6,
            "The library of NBODY6++ and NBODY6",
            nbody6::CALLS,
        ),
        group(
            Interface::Nbody6,
            "Irregular forces of NBODY6 and NBODY7, and their helpers",
            nbody6_irregular::CALLS,
        ),
    ]
}
