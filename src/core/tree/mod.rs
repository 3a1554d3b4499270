//! The octree of a Barnes-Hut tree code, and its walk: for the calls `kirin_tree_*` and for the treecode of `examples`.
//!
//! * [`morton`]: places along the Morton curve
//! * [`octree`], [`moments`], [`symmetric`]: cells, their masses, centres and quadrupoles
//! * [`walk`]: the interaction list of a group
//! * [`workers`]: the threads that build a tree

pub mod moments;
pub mod morton;
pub mod octree;
pub mod symmetric;
pub mod walk;
pub mod workers;
