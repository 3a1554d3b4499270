//! A Barnes-Hut treecode through the GRAPE-6 interface, the second application of the thesis that
//! kirin comes from.
//!
//! The program builds the tree and finds, for each group of neighbouring particles, the list of cells
//! and particles that act on it; the library behind the `g6_*` calls sums each list as if it were
//! a small cluster at rest.
//!
//! * [`morton`], [`tree`]: the library's octree (`kirin_core::tree`) over this program's particles
//! * [`ranks`]: the same tree on several ranks
//! * [`walk`]: groups and their interaction lists
//! * [`forces`]: the forces from these lists, summed by [`library`] or [`host`]
//! * [`division`]: the groups of a rank, divided among its threads
//! * [`settings`], [`integrator`]: shared leapfrog steps
//! * [`checkpoint`]: an integration as a snapshot, and back with the same bits
//! * [`output`]: summary, JSON and plot of a run
//! * [`thesis`], [`machines`]: the thesis' tables beside this machine's times
//! * [`options`], [`session`]: the command line, and a run by all ranks

pub mod checkpoint;
pub mod division;
pub mod error;
pub mod forces;
pub mod host;
pub mod integrator;
pub mod library;
pub mod machines;
pub mod morton;
pub mod options;
pub mod output;
pub mod particle;
pub mod ranks;
pub mod session;
pub mod settings;
pub mod thesis;
pub mod tree;
pub mod walk;
