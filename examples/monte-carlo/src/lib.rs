//! Star clusters of up to ten million stars by Henon's Monte Carlo method, as in CMC (Pattabiraman et al. 2013, ApJS
//! 204, 15). The results have the same bits on any number of ranks and threads.
//!
//! The phases of a step in the order of the paper's Figure 1, one file each:
//!
//! * [`potential`]: 1, potential of concentric shells (equations 1 to 6)
//! * [`time_step`]: 2, one time step for all (equations 7 and 8)
//! * [`relaxation`]: 3, encounters of neighbouring pairs; [`collision`]: pairs that touch
//! * [`evolution`]: 4, stellar evolution
//! * [`tide`]: stars beyond the tidal radius leave
//! * [`black_hole`]: a black hole at the centre; [`loss_cone`]: the stars that come so near to it that it takes them;
//!   [`growth`]: its growth before the run
//! * [`orbit`]: 5, new orbits (equation 12); [`position`]: a place on them (equations 13 to 15)
//! * [`sort`]: 6, sort; [`sample_sort`]: on several ranks (sections 3.4, 3.5)
//! * [`binaries`]: the formation of binaries, and their encounters with stars and with each other; [`encounter`]: one
//!   such encounter
//! * [`diagnostics`]: 7, core, Lagrangian radii (equations 19, 20); [`correction`], [`ledger`]: energy
//!
//! The data and functions that the phases use:
//!
//! * [`stars`]: the stars of a rank; [`partition`]: the division of the stars among the ranks (equation 17)
//! * [`random`]: random numbers with jumps, one stream for each bin of stars (section 3.6)
//! * [`bisection`], [`radial_index`]: searches
//! * [`sums`]: sums in one order on any number of ranks
//! * [`device`]: the stars and the phases of a step on a GPU
//! * [`cluster`]: a step, phase after phase; [`profile`]: the time of each phase
//! * [`model`], [`space`]: conversion of models and bodies to shells, and of shells to bodies
//! * [`settings`], [`options`], [`session`], [`checkpoint`], [`history`], [`output`], [`slopes`]: a run
//! * [`paper`]: the figures of the paper beside this machine
//! * [`cross_check`]: the same bodies by direct summation

pub mod binaries;
pub mod bisection;
pub mod black_hole;
pub mod checkpoint;
pub mod cluster;
pub mod collision;
pub mod correction;
pub mod cross_check;
pub mod device;
pub mod diagnostics;
pub mod encounter;
pub mod error;
pub mod evolution;
pub mod growth;
pub mod history;
pub mod ledger;
pub mod loss_cone;
pub mod model;
pub mod options;
pub mod orbit;
pub mod output;
pub mod paper;
pub mod partition;
pub mod position;
pub mod potential;
pub mod profile;
pub mod radial_index;
pub mod random;
pub mod relaxation;
pub mod renewal;
pub mod sample_sort;
pub mod session;
pub mod settings;
pub mod slopes;
pub mod sort;
pub mod space;
pub mod stars;
pub mod sums;
pub mod tide;
pub mod time_step;
