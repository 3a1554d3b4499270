//! What a GRAPE is, whatever computes its forces: clusters by id, the j-particle memory,
//! the predictor, neighbour lists and the tree of sums.

pub mod cluster;
pub mod grape5;
pub mod jmemory;
pub mod label_sort;
pub mod lock;
pub mod neighbours;
pub mod particle;
pub mod predictor;
pub mod registry;
pub mod sum_tree;
pub mod work;
