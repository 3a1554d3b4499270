//! The parallel programs of Pacheco and Malensek, "An Introduction to Parallel Programming", second edition, chapter 7,
//! as lessons: two n-body solvers and sample sort, serial, with threads and with message passing. The basic solver and
//! the sort also run on a GPU. One more program solves the n-body problem through the GRAPE-6 interface.
//!
//! * [`physics`]: the force of a pair, and how a particle moves
//! * [`particles`]: the arrays, initial conditions, output
//! * [`distribution`]: block and cyclic distributions
//! * [`team`]: threads that begin together, and arrays that they share
//! * [`ranks`]: processes that exchange messages
//! * [`nbody`]: the n-body solvers, one a file
//! * [`sort`]: sample sort, one version a file
//! * [`tables`]: Tables 7.1, 7.2 and 7.4, made by the solvers themselves, and counts of storage and loads
//! * [`storage`]: the memory that solvers allocate, counted for the tables
//! * [`report`]: the chapter's run times beside this machine
//! * [`options`], [`run`]: the command line, and the functions that run the chosen program

pub mod distribution;
pub mod nbody;
pub mod options;
pub mod particles;
pub mod physics;
pub mod ranks;
pub mod report;
pub mod run;
pub mod sort;
pub mod storage;
pub mod tables;
pub mod team;
