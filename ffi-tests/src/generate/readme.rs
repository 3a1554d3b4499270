//! The README's list of calls, between two markers.

use kirin::abi::{Support, table};

/// Where the list begins.
pub const BEGIN: &str = "<!-- calls -->";
/// Where the list ends.
pub const END: &str = "<!-- /calls -->";

/// `readme` with a fresh list between the markers; `None` if it does not have them.
pub fn with_calls(readme: &str) -> Option<String> {
    let begin = readme.find(BEGIN)? + BEGIN.len();
    let end = begin + readme[begin..].find(END)?;
    Some(format!(
        "{}\n{}{}",
        &readme[..begin],
        calls(),
        &readme[end..]
    ))
}

fn calls() -> String {
    let mut out = String::new();
    for group in table() {
        out += &format!(
            "\n**{}**\n\n| C | Fortran | support |\n|---|---|---|\n",
            group.title
        );
        for call in group.calls {
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
    out.push('\n');
    out
}
