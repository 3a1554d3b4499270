//! Definitions of the forces, independent of the backend: the traits of the backends, requests and results, and plain
//! implementations in double precision.
//!
//! | file | force |
//! |---|---|
//! | `backend`, `reference` | of a GRAPE: acceleration, jerk, potential, nearest neighbours |
//! | `regular` | NBODY6's regular force: as above without the neighbours, which are listed |
//! | `irregular` | NBODY6's irregular force: that of the neighbours |

mod backend;
pub mod irregular;
pub mod reference;
pub mod regular;
pub mod scaling;

pub use self::backend::{Arriving, Backend, Deliver, ForceRequest, Phases, Results};
