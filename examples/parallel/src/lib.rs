//! A star cluster on many machines: the block-step Hermite code of [`hermite`] on a two-dimensional grid of
//! ranks, as Nitadori, Makino and Abe (2006) describe it, with kirin on every rank and the same bits on
//! any grid.
//!
//! * [`grid`]: the grid, and how a list is divided over its rows
//! * [`columns`]: the j-particles of a column, as whole subtrees of kirin's tree of sums
//! * [`j_particles`]: the j-particles of a rank in the library
//! * [`mod@column`]: the particles of a column
//! * [`machine`]: the data of one rank
//! * [`two_d`]: the algorithm, in its eight steps
//! * [`ring`]: the ring, for comparison
//! * [`integrator`]: the integration by all of these
//! * [`replicated`], [`shared_sources`]: the integration with regularized systems, which every rank makes as a whole, by
//!   forces that all ranks share
//! * [`agreement`], [`potentials`]: what the ranks agree on between blocks, and the energies that they sum together
//! * [`cost`], [`division`]: the cost of a block on any grid, and how long it takes on the slowest rank
//! * [`measure`], [`fit`]: the measured costs of the machine's parts
//! * [`recording`], [`replay`]: the blocks of a run, and how long they would take on many ranks
//! * [`options`], [`session`], [`output`]: a run, from the command line to the summary
//! * [`paper`]: the figures of the paper beside this machine
//! * [`picture`]: the algorithm in one picture

pub mod agreement;
pub mod column;
pub mod columns;
pub mod cost;
pub mod division;
pub mod error;
pub mod fit;
pub mod grid;
pub mod integrator;
pub mod j_particles;
pub mod machine;
pub mod measure;
pub mod options;
pub mod output;
pub mod paper;
pub mod picture;
pub mod potentials;
pub mod recording;
pub mod replay;
pub mod replicated;
pub mod ring;
pub mod session;
pub mod shared_sources;
pub mod two_d;
