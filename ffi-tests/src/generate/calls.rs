//! `docs/calls.md`: every call in a table.

use kirin::error::Code;
use kirin::symbols::{Call, Returns, Support, table};

/// The page.
pub fn calls() -> String {
    let mut out =
        "# Every call\n\nThis page is made from the table of calls (`cargo run -p ffi-tests --bin generate`). \
        The headers in\n[`include`](../include) document each call. In C every call \
        returns an `int`, unless its documentation says\notherwise. With `use kirin` in Fortran the fourth column \
        says whether a call is a function or a subroutine;\nwithout `use kirin` a program may use it as either. \
        Names with capital letters, such as\n`g5_set_xmjMC`, need the module: without it Fortran compilers write them in lower case. \
        [clients-calls.md](clients-calls.md) shows\nwhich client makes which call.\n"
            .to_owned();
    out += &codes();
    for group in table() {
        out += &format!(
            "\n## {}\n\nIn `{}.h`.\n\n| C | Fortran | support | in the Fortran module |\n|---|---|---|---|\n",
            group.title,
            group.interface.name()
        );
        for call in &group.calls {
            let name = |n: Option<&str>| n.map_or("-".to_owned(), |n| format!("`{n}`"));
            let support = match call.support {
                Support::Implemented => "yes".to_owned(),
                Support::Accepted(reason) => format!("accepted without effect: {reason}"),
                Support::Unsupported(reason) => format!("not supported: {reason}"),
            };
            out += &format!(
                "| {} | {} | {support} | {} |\n",
                name(call.c),
                name(call.fortran),
                procedure(call)
            );
        }
    }
    out
}

/// What a program that uses the module writes.
fn procedure(call: &Call) -> &'static str {
    match call.returns {
        Returns::Nothing => "subroutine",
        Returns::Status | Returns::Count => "integer function",
        Returns::Text => "function, `type(c_ptr)`",
    }
}

/// The table of return codes.
fn codes() -> String {
    let mut out = "\n## Return codes\n\n0 is success, a negative number is a failure. A line on stderr says more, for the first ten failures of a call. Calls of \
        the [bulk interface](bulk.md) and of trees leave a message instead. A call in a [signal handler](process.md#signal-handlers) that \
        has interrupted another call returns -6.\n\n| code | meaning |\n|---|---|\n"
        .to_owned();
    for code in Code::ALL {
        out += &format!("| {} | {} |\n", code as i32, code.meaning());
    }
    out
}
