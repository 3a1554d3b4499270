//! NBODY6's forces on the CPU: tiles of sources for the regular force and the potential, rows of predicted
//! stars for the irregular one.

mod irregular;
mod kernel;
mod regular;
mod target;
mod tasks;
#[cfg(test)]
mod tests;
mod tile;

pub use self::irregular::Irregular;
pub use self::regular::Regular;
pub use self::target::Doubt;
