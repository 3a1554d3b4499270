//! Makes the headers and Fortran modules in `include/`, `docs/calls.md` and `docs/clients-calls.md` from the
//! table of exported symbols.

mod calls;
mod clients;
mod fortran;
mod header;
mod text;

pub use calls::calls;
pub use clients::{Client, clients, missing, page as clients_page};
pub use fortran::module as fortran_module;
pub use header::header as c_header;

use std::path::{Path, PathBuf};

use kirin::symbols::{CallGroup, INTERFACES, Interface, table};

/// The calls of one library.
fn groups(interface: Interface) -> impl Iterator<Item = CallGroup> {
    let of = move |group: &CallGroup| group.interface == interface;
    table().into_iter().filter(of)
}

/// The root of kirin's repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("ffi-tests is a folder of the repository")
        .to_owned()
}

/// A generated file: where it is and what it should hold.
pub struct Generated {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl Generated {
    /// Whether the file on disk holds this text.
    pub fn is_fresh(&self) -> bool {
        std::fs::read_to_string(&self.path).is_ok_and(|found| found == self.text)
    }
}

/// Every generated file.
pub fn all() -> Vec<Generated> {
    let root = repository();
    let file = |path: &str, text| Generated {
        path: root.join(path),
        text,
    };
    let mut files = vec![
        file("docs/calls.md", calls()),
        file("docs/clients-calls.md", clients_page()),
    ];
    for interface in INTERFACES {
        let path = |extension| format!("include/{}.{extension}", interface.name());
        files.push(file(&path("h"), c_header(interface)));
        files.push(file(&path("f90"), fortran_module(interface)));
    }
    files
}
