//! Makes the headers and Fortran modules in `include/`, and `docs/calls.md`, from the table of
//! exported symbols.

mod calls;
mod fortran;
mod header;
mod text;

pub use calls::calls;
pub use fortran::module as fortran_module;
pub use header::header as c_header;

use std::path::{Path, PathBuf};

use kirin::abi::{Group, Interface, table};

/// The calls of one library.
fn groups(interface: Interface) -> impl Iterator<Item = Group> {
    let of = move |group: &Group| group.interface == interface;
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
    vec![
        file("include/kirin.h", c_header(Interface::Grape6)),
        file("include/kirin.f90", fortran_module(Interface::Grape6)),
        file("include/kirin_nbody6.h", c_header(Interface::Nbody6)),
        file(
            "include/kirin_nbody6.f90",
            fortran_module(Interface::Nbody6),
        ),
        file("docs/calls.md", calls()),
    ]
}
