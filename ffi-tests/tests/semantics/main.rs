//! The decisions of the specification (sections 3 and 7), each as a sequence of calls
//! from a C client's own process, compared with the oracle and with explicit values.

mod blocks;
mod clusters;
mod forces;
mod neighbours;
mod prediction;
mod spellings;

use ffi_tests::direct::{Probe, Source};

/// A particle at rest on the x axis.
fn at(index: i32, x: f64) -> Source {
    Source {
        index,
        mass: 1.0,
        x: [x, 0.0, 0.0],
        ..Default::default()
    }
}

/// An i-particle at rest on the x axis.
fn probe(index: i32, x: f64, h2: f64) -> Probe {
    Probe {
        index,
        x: [x, 0.0, 0.0],
        h2,
        ..Default::default()
    }
}
