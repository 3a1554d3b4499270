//! `kirin check`: the results of GRAPE-6 libraries, against a double-precision sum.

mod exact;
mod grape5;
mod limits;
mod measure;
mod nbody6;
mod run;
mod scene;

pub use self::grape5::forces as forces_of_grape5;
pub use self::measure::{ForceErrors, ListErrors, forces, lists};
pub use self::nbody6::{forces as forces_of_nbody6, lists as lists_of_nbody6};
pub use self::run::run;
pub use self::scene::SceneOf;

use clap::Args;

use crate::candidate::Common;

/// Compares the results of GRAPE-6 libraries with a double-precision sum of their own inputs,
/// full predictor included.
///
/// Every library runs in a process of its own. Errors are relative to the exact number, and those "of terms" to the sum
/// of the magnitudes of its terms. For an acceleration or jerk the length of the difference is divided by the length of
/// the vector. The rms falls somewhat as N grows. Each library is judged by the limits of its precision, which stand
/// beside the errors. The exit status is 1 if the first library misses one.
///
/// With `--interface grape5` the accelerations and potentials of GRAPE-5 libraries are compared. The potentials contain
/// the part m / eps that a particle has in its own potential, which the library adds.
///
/// With `--interface nbody6` regular and irregular forces and potentials of libraries of NBODY6++ are compared together,
/// without softening, and so are the lists that come with regular forces.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Number of particles in each scene
    #[arg(long, value_name = "N", default_value_t = 4096,
          value_parser = clap::value_parser!(u32).range(40..=100_000))]
    n: u32,
}
