//! The trace events of the calls, made from the library's state at the end of each call.

use std::ops::Range;
use std::time::Instant;

use super::{Call, IrregularForce, RegularForce, Source};
use crate::error::Result;
use crate::force::regular::{Criterion, Incoming, RegularResult, Target, Unaligned};
use crate::process::allocation;
use crate::sources::particle::Force;
use crate::trace::{Event, PURPOSE, since, try_record};

#[inline(always)]
fn record(call: impl FnOnce() -> Result<Call>) {
    try_record(|| call().map(Event::Nbody6));
}

fn sources(incoming: &Incoming<'_>) -> Result<Vec<Source>> {
    let v = incoming.v;
    let sources = incoming.m.iter().zip(incoming.x).enumerate();
    let sources = sources.map(|(k, (m, x))| Source {
        mass: m.0,
        x: x.0,
        v: v.get(k).map_or([0.0; 3], |&Unaligned(v)| v),
    });
    allocation::collect(sources, PURPOSE)
}

/// All sources were replaced.
pub fn send(incoming: &Incoming<'_>, begin: Instant) {
    record(|| {
        Ok(Call::Send {
            nanoseconds: since(begin),
            sources: sources(incoming)?,
        })
    });
}

/// Regular forces were computed.
pub fn regular(
    criterion: Criterion,
    longest: usize,
    (targets, results): (&[Target], &[RegularResult]),
    begin: Instant,
) {
    record(|| {
        let nanoseconds = since(begin);
        let mut forces = Vec::new();
        allocation::reserve(&mut forces, targets.len(), PURPOSE)?;
        for (&target, result) in targets.iter().zip(results) {
            let [ax, ay, az, jx, jy, jz, pot] = result.sums;
            let list: &[i32] = match result.neighbours > longest {
                true => &[],
                false => &result.list,
            };
            forces.push(RegularForce {
                target,
                force: Force {
                    acc: [ax, ay, az],
                    jerk: [jx, jy, jz],
                    pot,
                },
                neighbours: result.neighbours as u64,
                list: allocation::collect(list.iter().copied(), PURPOSE)?,
            });
        }
        Ok(Call::Regular {
            by_mass: criterion == Criterion::MassAndRadius,
            longest: longest as u64,
            forces,
            nanoseconds,
        })
    });
}

/// Potentials of the particles in a range were computed.
pub fn potentials(
    incoming: &Incoming<'_>,
    range: &Range<usize>,
    potentials: &[f64],
    begin: Instant,
) {
    record(|| {
        Ok(Call::Potentials {
            nanoseconds: since(begin),
            sources: sources(incoming)?,
            first: range.start as u64,
            potentials: allocation::collect(potentials.iter().copied(), PURPOSE)?,
        })
    });
}

/// A list was written.
pub fn list(address: i32, neighbours: impl ExactSizeIterator<Item = i32>) {
    record(|| {
        Ok(Call::List {
            address,
            neighbours: allocation::collect(neighbours, PURPOSE)?,
        })
    });
}

/// Irregular forces were computed, with nearest neighbours if they were asked for.
pub fn irregular(
    ti: f64,
    with_nearest: bool,
    forces: impl ExactSizeIterator<Item = IrregularForce>,
    begin: Instant,
) {
    record(|| {
        Ok(Call::Irregular {
            nanoseconds: since(begin),
            ti,
            with_nearest,
            forces: allocation::collect(forces, PURPOSE)?,
        })
    });
}

/// A call without arrays took effect.
#[inline(always)]
pub fn call(call: impl FnOnce() -> Call) {
    record(|| Ok(call()));
}
