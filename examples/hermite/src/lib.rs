//! A star cluster through the GRAPE-6 interface: the fourth-order Hermite
//! scheme with individual block time steps, as in the thesis that kirin comes from.
//!
//! The host predicts, corrects and chooses steps; the library behind the
//! `g6_*` calls holds the j-particles, predicts them and sums the forces.
//!
//! * [`scheme`]: predictor and corrector of one particle
//! * [`step`]: the length of its steps
//! * [`particle`]: the steps of one particle, from the two above
//! * [`schedule`]: which particles are due, and when
//! * [`settings`], [`counts`]: the settings of an integration, and the counts of its steps
//! * [`motion`]: angular momentum and centre of mass over time
//! * [`pairs`]: close pairs whose short steps take most of the time
//! * [`sources`]: where forces come from: a [`Grape`](kirin::client::Grape), or many
//! * [`integrator`]: the above, joined
//! * [`checkpoint`]: an integration as a snapshot, and back with the same bits
//! * [`output`]: summary, JSON and plot of a run
//! * [`thesis`]: the tables of the thesis beside this device
//! * [`options`]: the command line

pub mod checkpoint;
pub mod counts;
pub mod error;
pub mod integrator;
pub mod motion;
pub mod options;
pub mod output;
pub mod pairs;
pub mod particle;
pub mod schedule;
pub mod scheme;
pub mod settings;
pub mod sources;
pub mod step;
pub mod thesis;
