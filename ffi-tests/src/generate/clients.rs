//! `docs/clients-calls.md`: which client makes which call.
//!
//! `clients.json` has the facts of each client: its version, the source files with its calls, and the symbols that
//! these calls need. They were found by searching the sources. Calls in comments, under conditions that no build
//! sets, and in the client's own library are left out.

use kirin::symbols::{Call, Support, table};
use serde_json::Value;

/// One client and the exported symbols that it needs.
pub struct Client {
    /// Its name in the head of the table.
    pub name: String,
    /// The anchor of its chapter in `CLIENTS.md`.
    pub chapter: String,
    /// Repository and commit.
    pub version: String,
    /// Where in the repository the calls stand.
    pub sources: String,
    /// The symbols: C spellings, and Fortran ones with their underscore.
    pub calls: Vec<String>,
}

/// The clients of `clients.json`, in its order.
pub fn clients() -> Vec<Client> {
    let parsed: Value =
        serde_json::from_str(include_str!("clients.json")).expect("clients.json is JSON");
    let list = |value: &Value| value.as_array().cloned().expect("an array");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    list(&parsed)
        .iter()
        .map(|client| Client {
            name: text(&client["client"]),
            chapter: text(&client["chapter"]),
            version: text(&client["version"]),
            sources: text(&client["sources"]),
            calls: list(&client["calls"]).iter().map(text).collect(),
        })
        .collect()
}

/// The symbols of `clients` that are not in kirin's table, each with its client.
pub fn missing(clients: &[Client]) -> Vec<String> {
    let groups = table();
    let known = |symbol: &str| {
        let mut calls = groups.iter().flat_map(|group| &group.calls);
        calls.any(|call| spellings(call).any(|name| name == symbol))
    };
    clients
        .iter()
        .flat_map(|client| client.calls.iter().map(move |symbol| (client, symbol)))
        .filter(|(_, symbol)| !known(symbol))
        .map(|(client, symbol)| format!("{symbol} of {}", client.name))
        .collect()
}

fn spellings(call: &Call) -> impl Iterator<Item = &'static str> {
    call.c.into_iter().chain(call.fortran)
}

const HEAD: &str = "\
# Which client makes which call

Made from the table of calls and from `ffi-tests/src/generate/clients.json`
(`cargo run -p ffi-tests --bin generate`). The calls were found in the clients' sources. [CLIENTS.md](../CLIENTS.md) tells how each
client is run with kirin, and [calls.md](calls.md) lists all calls.

`C` is a call of the C spelling, `F` one of the Fortran spelling (with a trailing underscore). A call without a row is made by none
of these clients.

| client | version | where its calls stand |
|---|---|---|
";

/// The page.
pub fn page() -> String {
    let clients = clients();
    let mut out = HEAD.to_owned();
    for client in &clients {
        let Client {
            name,
            chapter,
            version,
            sources,
            ..
        } = client;
        out += &format!("| [{name}](../CLIENTS.md#{chapter}) | {version} | `{sources}` |\n");
    }
    for (title, prefixes) in [
        ("GRAPE-6", &["g6"][..]),
        ("GRAPE-5", &["g5_"]),
        (
            "NBODY6's library",
            &["gpu", "irr_", "cxvpred", "cnbint", "wtime"],
        ),
    ] {
        let of = |client: &&Client| {
            let first = client.calls.first().map_or("", |symbol| symbol);
            prefixes.iter().any(|prefix| first.starts_with(prefix))
        };
        out += &matrix(title, &clients.iter().filter(of).collect::<Vec<_>>());
    }
    out
}

/// The table of one interface: a row a call that is made, a column a client.
fn matrix(title: &str, clients: &[&Client]) -> String {
    let heads: Vec<&str> = clients.iter().map(|client| &*client.name).collect();
    let mut out = format!(
        "\n## {title}\n\n| call | {} | in kirin |\n|---|{}---|\n",
        heads.join(" | "),
        "---|".repeat(clients.len())
    );
    for call in table().iter().flat_map(|group| &group.calls) {
        let cells: Vec<String> = clients
            .iter()
            .map(|client| {
                let made = |name: Option<&str>| {
                    name.is_some_and(|name| client.calls.iter().any(|symbol| symbol == name))
                };
                match (made(call.c), made(call.fortran)) {
                    (true, true) => "C, F".to_owned(),
                    (true, false) => "C".to_owned(),
                    (false, true) => "F".to_owned(),
                    (false, false) => String::new(),
                }
            })
            .collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        let name = spellings(call).next().expect("a call has a name");
        let support = match call.support {
            Support::Implemented => "yes",
            Support::Accepted(_) => "accepted without effect",
            Support::Unsupported(_) => "not supported",
        };
        out += &format!("| `{name}` | {} | {support} |\n", cells.join(" | "));
    }
    out
}
