//! The i-particle registers and `g6_get_force`. The original library made `firsthalf` and `lasthalf` from these
//! calls.

use std::ffi::c_int;

use super::blocks::tell_gap;
use super::results::Outputs;
use crate::edge::pointers::{IArrays, Softening, count, not_null, vector};
use crate::g6::CLUSTERS;
use crate::g6::record;
use kirin_core::error::Result;
use kirin_core::sources::particle::IParticle;
use kirin_core::trace;

pub fn set_nip(id: c_int, nip: c_int) -> Result<c_int> {
    let nip = count(nip, "nip")?;
    CLUSTERS.with(id, |c| {
        c.set_nip(nip);
        Ok(0)
    })
}

pub fn set_njp(id: c_int, njp: c_int) -> Result<c_int> {
    let njp = count(njp, "njp")?;
    CLUSTERS.with(id, |c| {
        c.set_njp(njp);
        Ok(0)
    })
}

/// # Safety
///
/// `x` and `v` are null or have three numbers.
pub unsafe fn set_i_particle(
    id: c_int,
    address: c_int,
    index: c_int,
    x: *const f64,
    v: *const f64,
    eps2: f64,
    h2: f64,
) -> Result<c_int> {
    let particle = IParticle {
        index,
        // SAFETY: passed on.
        x: unsafe { vector(x, "x")? },
        // SAFETY: passed on.
        v: unsafe { vector(v, "v")? },
        eps2,
        h2,
    };
    CLUSTERS.with(id, |c| c.set_i_particle(address, particle))?;
    Ok(0)
}

/// # Safety
///
/// The arrays are null or have `nip` entries.
pub unsafe fn set_i_particles(
    id: c_int,
    address: c_int,
    nip: c_int,
    arrays: IArrays,
    eps2: *const f64,
) -> Result<c_int> {
    let nip = count(nip, "nip")?;
    arrays.validate(nip)?;
    if nip > 0 {
        not_null(eps2, "eps2")?;
    }
    CLUSTERS.with(id, |c| {
        // SAFETY: passed on; the core copies.
        let particles = unsafe { arrays.particles(nip, Softening::Each(eps2)) };
        for (address, particle) in (address..).zip(particles) {
            c.set_i_particle(address, particle)?;
        }
        Ok(0)
    })
}

/// # Safety
///
/// The outputs and `flag` are null or have as many entries as `set_nip` announced.
pub unsafe fn get_force(id: c_int, outputs: Outputs, flag: *mut c_int) -> Result<c_int> {
    CLUSTERS.with(id, |c| {
        let begin = trace::clock();
        let nj = c.njp();
        let ni = c.low_level_firsthalf()?;
        if begin.is_some() {
            record::describe(c);
        }
        let own_id = c.id();
        let answer = c.lasthalf(ni, !outputs.nearest.is_null())?;
        outputs.validate(answer.forces.len())?;
        // SAFETY: the caller vouches for the lengths.
        unsafe { outputs.write(0, answer) };
        if let Some(begin) = begin {
            trace::record_block(own_id, &answer);
            // SAFETY: the answer was written.
            unsafe { record::lasthalf(own_id, answer, &outputs, begin) };
        }
        if !flag.is_null() {
            for i in 0..answer.forces.len() {
                // SAFETY: i is below the length of the array.
                unsafe { flag.add(i).write_unaligned(0) };
            }
        }
        tell_gap(id, c, nj, "g6_get_force");
        Ok(0)
    })
}
