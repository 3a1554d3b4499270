//! Parts of the tests of kirin's C and Fortran interface: the generator of the headers, the freshly built library, the
//! compilers, and a plain oracle of the GRAPE-6 interface that shares no code with kirin.

pub mod compiler;
pub mod direct;
pub mod expected;
pub mod fake_cuda;
pub mod generate;
pub mod installation;
pub mod library;
pub mod oracle;
pub mod report;
pub mod script;
pub mod sets;
pub mod trial;
#[cfg(test)]
mod unseen;
