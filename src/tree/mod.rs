//! Gravity by a tree: sources, targets and an opening angle in place of all pairs (J. Barnes and P. Hut, 1986).
//!
//! | file | what is in it |
//! |---|---|
//! | `symbols` | the calls with their names |
//! | `calls` | what they do: check, convert, call the state |
//! | `gravity` | what a handle stands for: the tree of its sources |
//! | `targets` | targets in Morton order, and their groups |
//! | `engine` | the sums over the lists of groups, by clusters |
//!
//! The octree and its walk are in `kirin-core`.

mod calls;
mod engine;
pub mod gravity;
pub mod symbols;
mod targets;
