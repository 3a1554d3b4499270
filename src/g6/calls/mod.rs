//! The functions behind the exported symbols: check, convert, call the core, write results. One file for each
//! object of the interface.

mod blocks;
mod clusters;
mod j_particles;
mod low_level;
mod neighbour_lists;
mod results;

pub use blocks::*;
pub use clusters::*;
pub use j_particles::*;
pub use low_level::*;
pub use neighbour_lists::*;
pub use results::*;
