//! Stored particles, and functions that depend only on them: j-particles by address, the stars of NBODY6, the
//! predictor, the tree of sums over addresses, neighbours by distance.

pub mod jmemory;
pub mod label_sort;
pub mod neighbours;
pub mod particle;
pub mod predictor;
pub mod stars;
pub mod strided;
pub mod sum_tree;
