//! The inside of kirin: one GRAPE without an interface. The crate `kirin` adds the interfaces: GRAPE-6, GRAPE-5,
//! NBODY6's library, bulk forces and trees. Programs should use that crate.
//!
//! This crate is public for the command `kirin`, the applications and the tests of kirin's repository. It may change in
//! any version. These are its modules, from the outside inwards. None uses one above it, except that [`gpu`] has its
//! [`choice::Rule`] from [`choice`]:
//!
//! | module | what is in it |
//! |---|---|
//! | [`trace`] | recording: events, the file |
//! | [`cluster`] | one GRAPE: the order of calls, the pending block |
//! | [`choice`] | which backend computes |
//! | [`observe`] | statistics, checks of results |
//! | [`cpu`], [`gpu`] | what computes forces |
//! | [`force`] | what a force is: the traits of the backends, their plain forms |
//! | [`sources`] | what is stored: j-particles, stars; the predictor, the tree of sums, neighbours |
//! | [`tree`] | the octree of tree codes: cells, quadrupoles, interaction lists |
//! | [`process`] | what there is once per process: settings, messages, forks, ranks |
//! | [`mod@error`] | what can go wrong, and its code |
//! | [`random`] | random numbers for samples, and for tests |

pub mod choice;
pub mod cluster;
pub mod cpu;
pub mod error;
pub mod force;
pub mod gpu;
pub mod observe;
pub mod process;
pub mod random;
pub mod sources;
pub mod trace;
pub mod tree;
