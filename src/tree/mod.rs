//! Gravity by a tree: sources, targets and an opening angle instead of all pairs (J. Barnes and P. Hut, 1986).
//!
//! | file | what is in it |
//! |---|---|
//! | `symbols` | the calls with their names |
//! | `calls` | what they do: check, convert, call the state |
//! | `gravity` | what a handle stands for: the tree of its sources |
//! | `targets` | targets in Morton order, and their groups |
//! | `engine` | the sums over the lists of groups, by clusters |
//! | `octree`, `morton`, `moments`, `symmetric`, `walk`, `workers` | the tree and its walk, which the treecode of `examples` shares |

mod calls;
mod engine;
pub mod gravity;
pub mod moments;
pub mod morton;
pub mod octree;
pub mod symbols;
pub mod symmetric;
mod targets;
pub mod walk;
pub mod workers;
