//! Initial models, each in its own file, all in standard N-body units:
//! G = 1, total mass 1, total energy -1/4, centre of mass at rest in the origin.
//!
//! A model is a function of its parameters and a seed; the random numbers are
//! PCG64's, whose stream is fixed by its specification, so a seed means the
//! same cluster for ever.

mod plummer;
mod random;
mod units;

pub use plummer::plummer;
pub use units::{EXACT_SCALING_LIMIT, to_centre_of_mass, to_standard_units};
