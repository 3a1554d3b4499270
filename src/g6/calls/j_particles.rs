//! Writes of j-particles into a cluster, and the time to which they are predicted.

use std::ffi::c_int;

use crate::edge::pointers::{count, not_null, vector};
use crate::g6::CLUSTERS;
use kirin_core::cluster::Cluster;
use kirin_core::error::Result;
use kirin_core::process::{allocation, settings};
use kirin_core::sources::jmemory::ClientParticle;
use kirin_core::sources::particle::JParticle;
use kirin_core::trace::{self, Event};

/// The three-vectors of a j-particle.
#[derive(Clone, Copy)]
pub struct JVectors {
    pub a2by18: *const f64,
    pub a1by6: *const f64,
    pub aby2: *const f64,
    pub v: *const f64,
    pub x: *const f64,
}

/// # Safety
///
/// The vectors are null or have three numbers each.
// A part of every symbol of this call, which clients make as often as all others together.
#[inline(always)]
pub unsafe fn set_j_particle(
    id: c_int,
    address: c_int,
    index: c_int,
    [t, dt]: [f64; 2],
    mass: f64,
    vectors: JVectors,
) -> Result<c_int> {
    let JVectors {
        a2by18,
        a1by6,
        aby2,
        v,
        x,
    } = vectors;
    not_null(x, "x")?;
    not_null(v, "v")?;
    not_null(aby2, "aby2")?;
    not_null(a1by6, "a1by6")?;
    not_null(a2by18, "a2by18")?;
    // Made where it is used, so that a call of a run keeps its numbers in registers.
    let numbers = || ClientParticle {
        index,
        t,
        mass,
        vectors: [x, v, aby2, a1by6, a2by18],
    };
    if let Some(mut owned) = CLUSTERS.lock_as_owner(id)
        && let Some(cluster) = &mut *owned
    {
        // SAFETY: none is null, so each has three numbers.
        return unsafe {
            match cluster.set_in_run(address, numbers())
                || !trace::active() && cluster.set_in_log(address, numbers())
            {
                true => Ok(0),
                false => set_alone(cluster, address, dt, numbers),
            }
        };
    }
    // SAFETY: as above.
    unsafe { lock_and_set([id, address], dt, numbers()) }
}

/// The same where this thread does not own the cluster's lock.
///
/// # Safety
///
/// The vectors have three numbers each.
#[inline(never)]
unsafe fn lock_and_set(
    [id, address]: [c_int; 2],
    dt: f64,
    numbers: ClientParticle,
) -> Result<c_int> {
    let mut cluster = CLUSTERS.lock_as_left(id)?;
    // SAFETY: passed on.
    unsafe {
        match cluster.set_in_run(address, numbers) {
            true => Ok(0),
            false => set_alone(&mut cluster, address, dt, || numbers),
        }
    }
}

/// A write for which more is to be done than to store the numbers.
///
/// # Safety
///
/// The vectors have three numbers each.
#[inline(always)]
unsafe fn set_alone(
    cluster: &mut Cluster,
    address: c_int,
    dt: f64,
    numbers: impl Fn() -> ClientParticle,
) -> Result<c_int> {
    // SAFETY: passed on.
    unsafe { cluster.set_numbers(address, numbers())? };
    cluster.note_step(address, dt);
    if trace::active() {
        // SAFETY: passed on.
        unsafe { record(cluster.id(), address, dt, numbers()) };
    } else {
        cluster.follow(address);
    }
    Ok(0)
}

/// A function of its own, so that a call that is not recorded keeps its numbers in registers.
///
/// # Safety
///
/// The vectors have three numbers each.
#[cold]
#[inline(never)]
unsafe fn record(id: c_int, address: c_int, dt: f64, numbers: ClientParticle) {
    trace::record(|| {
        // SAFETY: passed on.
        let mut particle = unsafe { numbers.particle() };
        if !settings::settings().snap {
            // As the cluster stores it.
            particle.a2by18 = [0.0; 3];
        }
        Event::JParticle {
            id,
            address,
            dt,
            mass_position: false,
            particle,
        }
    });
}

/// # Safety
///
/// `x` is null or has three numbers.
#[inline(always)]
pub unsafe fn set_mass_position(
    id: c_int,
    address: c_int,
    index: c_int,
    mass: f64,
    x: *const f64,
) -> Result<c_int> {
    // SAFETY: passed on.
    let x = unsafe { vector(x, "x")? };
    let mut cluster = CLUSTERS.lock(id)?;
    cluster.set_mass_position(address, index, mass, &x)?;
    let id = cluster.id();
    trace::record(move || Event::JParticle {
        id,
        address,
        dt: 0.0,
        mass_position: true,
        particle: JParticle {
            index,
            mass,
            x,
            ..JParticle::default()
        },
    });
    Ok(0)
}

pub fn set_ti(id: c_int, ti: f64) -> Result<c_int> {
    CLUSTERS.with(id, |c| {
        c.set_ti(ti);
        let id = c.id();
        trace::record(|| Event::SetTi { id, ti });
        Ok(0)
    })
}

/// # Safety
///
/// `x` and `v` are null or have `nj` entries.
pub unsafe fn predicted(id: c_int, nj: c_int, x: *mut [f64; 3], v: *mut [f64; 3]) -> Result<c_int> {
    let nj = count(nj, "nj")?;
    if nj > 0 {
        not_null(x, "x")?;
        not_null(v, "v")?;
    }
    CLUSTERS.with(id, |c| {
        for (j, found) in c.predicted(nj)?.enumerate() {
            let (xj, vj) = found.unwrap_or_default();
            // SAFETY: j < nj, the length of the arrays.
            unsafe {
                x.add(j).write_unaligned(xj);
                v.add(j).write_unaligned(vj);
            }
        }
        trace::try_record(|| {
            let found = c.predicted(nj)?.map(Option::unwrap_or_default);
            Ok(Event::Predicted {
                id: c.id(),
                found: allocation::collect(found, trace::PURPOSE)?,
            })
        });
        Ok(0)
    })
}
