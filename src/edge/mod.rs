//! The boundary of the library, through which every exported symbol goes. Here pointers become values and errors
//! become codes, and no panic leaves the library.

#[macro_use]
pub mod macros;
pub mod boundary;
pub mod call;
pub mod pointers;
