//! The trace events of calls that have arrays.

use std::ffi::c_int;
use std::time::Instant;

use super::calls::Outputs;
use crate::edge::pointers::{Hints, IArrays, Softening};
use kirin_core::cluster::{BlockResults, Cluster};
use kirin_core::process::allocation;
use kirin_core::trace::{self, Event, HintedParticle, PURPOSE};

/// A block was begun.
///
/// # Safety
///
/// The arrays are null or have `ni` entries, and `arrays.validate(ni)` succeeded.
pub unsafe fn firsthalf(
    id: c_int,
    nj: usize,
    ni: usize,
    arrays: IArrays,
    hints: Hints,
    eps2: Softening,
    begin: Instant,
) {
    let nanoseconds = trace::since(begin);
    trace::try_record(|| {
        // SAFETY: passed on.
        let particles = unsafe {
            let particles = arrays.particles(ni, eps2).enumerate();
            particles.map(|(i, particle)| HintedParticle {
                particle,
                hint: hints.of(i),
            })
        };
        Ok(Event::FirstHalf {
            id,
            nj: nj as i32,
            particles: allocation::collect(particles, PURPOSE)?,
            nanoseconds,
        })
    });
}

/// Results were written.
///
/// # Safety
///
/// The answer was written to `outputs`.
pub unsafe fn lasthalf(id: c_int, answer: BlockResults<'_>, outputs: &Outputs, begin: Instant) {
    let mut labels = (0..answer.forces.len()).map(|i| {
        // SAFETY: as many labels were written a moment ago; nobody asks where they were not.
        unsafe { outputs.nearest.add(i).read_unaligned() }
    });
    let nearest = (!outputs.nearest.is_null()).then_some(&mut labels as _);
    trace::record_results(id, answer.forces, nearest, begin);
}

/// Who computes, if that was not recorded yet.
pub fn describe(cluster: &mut Cluster) {
    let precision = cluster.precision();
    trace::describe(cluster.id(), precision, || cluster.backend_name());
}
