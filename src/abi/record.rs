//! What a trace keeps of the calls that have arrays.

use std::ffi::c_int;
use std::time::Instant;

use super::calls::Outputs;
use super::pointers::{Hints, IArrays, Softening};
use crate::grape::cluster::{Answer, Cluster};
use crate::grape::particle::Force;
use crate::observe::trace::{self, Event, HintedParticle, PURPOSE};
use crate::process::allocation;

/// Nanoseconds since `begin`.
fn since(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// A block was begun.
///
/// # Safety
///
/// The arrays are null or have `ni` entries, and `arrays.check(ni)` succeeded.
pub unsafe fn firsthalf(
    id: c_int,
    nj: usize,
    ni: usize,
    arrays: IArrays,
    hints: Hints,
    eps2: Softening,
    begin: Instant,
) {
    let nanoseconds = since(begin);
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

/// The block of a low-level force call.
pub fn low_level_block(id: c_int, answer: &Answer<'_>) {
    trace::try_record(|| {
        let particles = answer.particles.iter().map(|&particle| HintedParticle {
            particle,
            hint: Force::default(),
        });
        Ok(Event::FirstHalf {
            id,
            nj: answer.nj as i32,
            particles: allocation::collect(particles, PURPOSE)?,
            nanoseconds: 0,
        })
    });
}

/// Results were written.
///
/// # Safety
///
/// The answer was written to `outputs`.
pub unsafe fn lasthalf(id: c_int, answer: Answer<'_>, outputs: &Outputs, begin: Instant) {
    let nanoseconds = since(begin);
    trace::try_record(|| {
        let nearest = (!outputs.nearest.is_null()).then(|| {
            // SAFETY: as many labels were written a moment ago.
            let label = |i| unsafe { outputs.nearest.add(i).read_unaligned() };
            allocation::collect((0..answer.forces.len()).map(label), PURPOSE)
        });
        Ok(Event::LastHalf {
            id,
            forces: allocation::collect(answer.forces.iter().copied(), PURPOSE)?,
            nearest: nearest.transpose()?,
            nanoseconds,
        })
    });
}

/// Who computes, if that was not recorded yet.
pub fn describe(id: c_int, cluster: &mut Cluster) {
    trace::describe(id, || {
        (cluster.backend_name(), cluster.precision().to_string())
    });
}
