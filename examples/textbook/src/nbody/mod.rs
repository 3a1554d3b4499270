//! The n-body solvers, in the order of the chapter.
//!
//! The *basic* solvers compute every force twice, once for each particle of a pair. The *reduced* solvers compute it
//! once, add it to the sum of one particle and subtract it from the sum of the other (Newton's third law). All solvers
//! on the CPU except [`library`] take the force of a pair from [`Law`]. The basic ones among them add in the same
//! order, so they agree in every bit.

pub mod basic;
pub mod basic_ranks;
pub mod basic_threads;
pub mod cooperative_gpu;
pub mod gpu;
pub mod library;
pub mod locked_threads;
pub mod messages;
pub mod on_device;
pub mod reduced;
pub mod reduced_ranks;
pub mod reduced_threads;
pub mod ring;
mod shared;
mod single;

use crate::physics::{Law, Vect, add};

/// The force of all others on particle `q`, in the order of their numbers.
#[inline(always)]
pub fn total_force<const D: usize>(
    law: &impl Law<D>,
    q: usize,
    n: usize,
    pos: impl Fn(usize) -> Vect,
) -> [f64; D] {
    let s_q = pos(q);
    let mut total = [0.0; D];
    for k in (0..n).filter(|&k| k != q) {
        add(&mut total, &law.force(q, k, &s_q, &pos(k)));
    }
    total
}
