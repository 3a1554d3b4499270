//! `docs/calls.md`: every call in a table.

use kirin::symbols::{Support, table};

/// The page.
pub fn calls() -> String {
    let mut out =
        "# Every call\n\nMade from the table of calls (`cargo run -p ffi-tests --bin generate`); \
        the headers in\n[`include`](../include) tell what each does.\n"
            .to_owned();
    for group in table() {
        out += &format!(
            "\n## {}\n\nIn `{}.h`.\n\n| C | Fortran | support |\n|---|---|---|\n",
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
                "| {} | {} | {support} |\n",
                name(call.c),
                name(call.fortran)
            );
        }
    }
    out
}
