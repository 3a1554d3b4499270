//! The edge of the library: what every exported symbol goes through. Here pointers become values and errors become
//! codes; no panic passes.

#[macro_use]
pub mod macros;
pub mod boundary;
pub mod call;
pub mod pointers;
