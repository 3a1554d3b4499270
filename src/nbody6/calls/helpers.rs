//! Helpers that work on NBODY6's own arrays, and its clock.

use std::ffi::c_int;
use std::ops::Range;

use crate::edge::pointers::{count, not_null};
use crate::nbody6::helpers;
use crate::nbody6::irregular_library::{Answer, share_out};
use kirin_core::error::{Error, Result};
use kirin_core::force::irregular::{NeighbourForce, add_pair};
use kirin_core::process::{self, floating};
use kirin_core::sources::stars::Star;

/// Rough nanoseconds in which one core predicts a particle.
const PREDICTION: f64 = 10.0;

/// NBODY6's own particles. Several threads may predict them, each thread others.
struct Particles {
    t0: *const f64,
    /// Positions, velocities, forces by 2 and their derivatives by 6 at `t0`.
    at_t0: [*const [f64; 3]; 4],
    /// Predicted positions and velocities.
    predicted: [*mut [f64; 3]; 2],
    tpred: *mut f64,
}

// SAFETY: the entries of a particle are read and written by one thread.
unsafe impl Sync for Particles {}

impl Particles {
    /// Predicts particles to `time`, unless they were before.
    ///
    /// # Safety
    ///
    /// The arrays have more entries than each of `numbers`.
    unsafe fn predict(&self, numbers: Range<usize>, time: f64) {
        let [x0, x0dot, f, fdot] = self.at_t0;
        let [x, xdot] = self.predicted;
        for j in numbers {
            // SAFETY: passed on.
            unsafe {
                if self.tpred.add(j).read_unaligned() == time {
                    continue;
                }
                let star = Star {
                    x: x0.add(j).read_unaligned(),
                    v: x0dot.add(j).read_unaligned(),
                    aby2: f.add(j).read_unaligned(),
                    a1by6: fdot.add(j).read_unaligned(),
                    time: self.t0.add(j).read_unaligned(),
                    ..Star::default()
                };
                let (position, velocity) = star.predicted(time);
                x.add(j).write_unaligned(position);
                xdot.add(j).write_unaligned(velocity);
                self.tpred.add(j).write_unaligned(time);
            }
        }
    }
}

/// # Safety
///
/// The arrays are null or have `je` entries.
pub unsafe fn cxvpred(
    [js, je]: [c_int; 2],
    time: f64,
    t0: *const f64,
    [x0, x0dot, f, fdot]: [*const [f64; 3]; 4],
    [x, xdot]: [*mut [f64; 3]; 2],
    tpred: *mut f64,
) -> Result<c_int> {
    let (js, je) = (count(js, "js")?, count(je, "je")?);
    let Some(first) = js.checked_sub(1) else {
        return Err(Error::OutOfRange {
            argument: "js",
            value: 0,
            legal: "particles have numbers from 1",
        });
    };
    if first >= je {
        return Ok(0);
    }
    not_null(t0, "t0")?;
    not_null(x0, "x0")?;
    not_null(x0dot, "x0dot")?;
    not_null(f, "f")?;
    not_null(fdot, "fdot")?;
    not_null(x, "x")?;
    not_null(xdot, "xdot")?;
    not_null(tpred, "tpred")?;
    let particles = Particles {
        t0,
        at_t0: [x0, x0dot, f, fdot],
        predicted: [x, xdot],
        tpred,
    };
    let count = je - first;
    // SAFETY: je is the length of the arrays.
    let predict = |part: Range<usize>| unsafe {
        particles.predict(first + part.start..first + part.end, time);
    };
    process::protected(|| {
        if share_out(count, count as f64 * PREDICTION, &predict).is_err() {
            // There is no memory for threads.
            predict(0..count);
        }
    });
    Ok(0)
}

/// If it is refused, force and derivative are NaN, as those of [`gpunb_regf`](super::gpunb_regf).
///
/// # Safety
///
/// `nblist` is null or has `nnb - 1` entries. Each array of particles is null or has entries for `i` and for all
/// particles in `nblist`. `f` and `fdot` are null or have three entries.
#[allow(clippy::too_many_arguments)]
pub unsafe fn cnbint(
    i: c_int,
    pos: *const [f64; 3],
    vel: *const [f64; 3],
    mass: *const f64,
    nnb: c_int,
    nblist: *const c_int,
    f: *mut f64,
    fdot: *mut f64,
) -> Result<c_int> {
    // SAFETY: passed on.
    let force = not_null(f, "f")
        .and(not_null(fdot, "fdot"))
        .and_then(|()| unsafe { force_of_list(i, pos, vel, mass, nnb, nblist) });
    let NeighbourForce { acc, jerk, .. } = force.clone().unwrap_or(Answer::REFUSED.force);
    for (to, vector) in [(f, acc), (fdot, jerk)] {
        if !to.is_null() {
            // SAFETY: it has three entries.
            unsafe { to.cast::<[f64; 3]>().write_unaligned(vector) };
        }
    }
    force.map(|_| 0)
}

/// # Safety
///
/// As [`cnbint`].
unsafe fn force_of_list(
    i: c_int,
    pos: *const [f64; 3],
    vel: *const [f64; 3],
    mass: *const f64,
    nnb: c_int,
    nblist: *const c_int,
) -> Result<NeighbourForce> {
    let length = count(nnb, "nnb")?.saturating_sub(1);
    not_null(pos, "pos")?;
    not_null(vel, "vel")?;
    not_null(mass, "mass")?;
    if length > 0 {
        not_null(nblist, "nblist")?;
    }
    let number = |n: c_int, argument| match usize::try_from(i64::from(n) - 1) {
        Ok(place) => Ok(place),
        Err(_) => Err(Error::OutOfRange {
            argument,
            value: n.into(),
            legal: "particles have numbers from 1",
        }),
    };
    floating::standard(|| {
        let mut force = NeighbourForce::default();
        // SAFETY: the caller vouches for the particles that it names.
        unsafe {
            let i = number(i, "i")?;
            let (xi, vi) = (pos.add(i).read_unaligned(), vel.add(i).read_unaligned());
            for k in 0..length {
                let j = number(nblist.add(k).read_unaligned(), "nblist")?;
                let (xj, vj) = (pos.add(j).read_unaligned(), vel.add(j).read_unaligned());
                let r = [0, 1, 2].map(|k| xj[k] - xi[k]);
                let v = [0, 1, 2].map(|k| vj[k] - vi[k]);
                add_pair(&mut force, mass.add(j).read_unaligned(), r, v);
            }
        }
        Ok(force)
    })
}

/// # Safety
///
/// The pointers are null or point to integers.
pub unsafe fn wtime(to: [*mut c_int; 3]) -> Result<c_int> {
    for (p, number) in to.into_iter().zip(helpers::clock(helpers::running())) {
        not_null(p, "ihour, imin or isec")?;
        // SAFETY: not null, so it points to an integer.
        unsafe { p.write_unaligned(number) };
    }
    Ok(0)
}
