//! A star cluster in the Galaxy: symplectic integration through the GRAPE-6 interface, after NBSymple
//! (Capuzzo-Dolcetta, Mastrobuono-Battisti and Maschietti 2011, New Astronomy 16, 284).
//!
//! The host kicks and drifts, adds the galaxy's field and computes the diagnostics; the library behind the `g6_*`
//! calls sums the pairs.
//!
//! * [`scheme`]: tables of coefficients
//! * [`fixed`], [`phase_space`]: positions and velocities, and the numbers they are kept in
//! * [`forces`], [`torque`]: the forces of the pairs, and the torque of the galaxy
//! * [`device`]: the galaxy's field on a GPU
//! * [`resident`]: the forces of the pairs by the program itself, and whole steps on a GPU
//! * [`encounter`]: close encounters under the step
//! * [`settings`], [`integrator`]: the steps
//! * [`cluster`]: bound stars, tidal radius
//! * [`checkpoint`]: an integration as a snapshot, and back with the same bits
//! * [`stream`], [`stars`], [`spray`]: what an observer sees, and a stream without a run
//! * [`output`], [`picture`]: summary, JSON and figures
//! * [`paper`]: the tables of the paper beside this device
//! * [`options`]: the command line

pub mod checkpoint;
pub mod cluster;
pub mod device;
pub mod encounter;
pub mod error;
pub mod fixed;
pub mod forces;
pub mod integrator;
pub mod options;
pub mod output;
pub mod paper;
pub mod phase_space;
pub mod picture;
pub mod resident;
pub mod scheme;
pub mod settings;
pub mod spray;
pub mod stars;
pub mod stream;
pub mod torque;
