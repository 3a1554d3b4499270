//! The parts that kirin's example applications share, so that each application contains its method and nothing
//! else.
//!
//! * [`models`]: initial conditions in standard N-body units (G = M = 1, E = -1/4)
//! * [`snapshot`]: files of bodies and integrator states, as text or HDF5
//! * [`command`]: options that the commands share, and how a command ends
//! * [`number`]: numbers on the command line
//! * [`quantity`]: numbers with units, read and written
//! * [`columns`]: a record of diagnostics and its columns, declared once
//! * [`library`]: the GRAPE-6 library of a run
//! * [`interrupt`]: Ctrl-C, SIGTERM and SIGHUP
//! * [`settings`]: the settings of a method, declared once: options, lines of the state, JSON
//! * [`claim`]: the output files of a run, checked and locked before it begins
//! * [`communicator`]: ranks that compute together, over MPI or as threads
//! * [`diagnostics`]: energy, virial ratio, momentum, Lagrangian radii
//! * [`elementary`]: logarithm, exponential and power with the same bits on every machine and on a GPU
//! * [`few_body`]: binaries, triples and close passages of few bodies, regularized
//! * [`files`]: the files that a run reads and writes
//! * [`bound`], [`sight`]: which stars are bound, and the energy of the bodies at one time
//! * [`galaxy`]: the field around a cluster, its units, and the orbit in it
//! * [`density`]: density around each body, core radius and core density
//! * [`sum`]: sums without the rounding errors of their terms
//! * [`run`]: the loop of a run: diagnostics, snapshots, checkpoints, signals
//! * [`summary`]: how a run ended: table, JSON, figure
//! * [`widest`]: loops by the widest vectors of the processor
//! * [`pairs`]: the potential of each body in the field of all others
//! * [`parts`]: systems of close stars as one body each
//! * [`history`]: diagnostics over time, as curves, CSV and JSON
//! * [`progress`]: a bar on a terminal's stderr, silence elsewhere
//! * [`comparison`]: reports that put this machine beside published figures
//!
//! Nothing here depends on kirin: the applications compute the forces. Tables, figures and measurements are in
//! `kirin-report`.

pub mod body;
pub mod bound;
pub mod claim;
pub mod columns;
pub mod command;
pub mod communicator;
pub mod comparison;
pub mod csv;
pub mod density;
pub mod diagnostics;
pub mod elementary;
pub mod few_body;
pub mod files;
pub mod galaxy;
pub mod history;
pub mod interrupt;
pub mod library;
pub mod models;
pub mod number;
pub mod pairs;
pub mod parts;
pub mod progress;
pub mod quantity;
mod replace;
mod rows;
pub mod run;
pub mod settings;
pub mod sight;
pub mod snapshot;
pub mod sum;
pub mod summary;
pub mod vector;
pub mod widest;

pub use body::Body;
pub use snapshot::Snapshot;
