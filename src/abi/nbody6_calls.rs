//! What the symbols of NBODY6's library do: check, convert, call the core, write results.

use std::ffi::c_int;

use super::pointers::{count, not_null, scalar, vector};
use crate::backend::irregular::{Irregular, add_pair};
use crate::backend::regular::{Criterion, Incoming, Loose, PURPOSE, Target};
use crate::error::{Error, Result};
use crate::nbody6::stars::Star;
use crate::nbody6::{helpers, irregular, regular};
use crate::process::settings::{Nbody6, settings};
use crate::process::{allocation, floating};

pub fn gpunb_open(nbmax: c_int) -> Result<c_int> {
    helpers::running();
    count(nbmax, "nbmax")?;
    Ok(0)
}

pub fn gpunb_close() -> Result<c_int> {
    regular::LIBRARY.lock().close();
    Ok(0)
}

/// An array of the client's.
///
/// # Safety
///
/// It is null or has `count` entries, to which nobody writes as long as the result is used.
unsafe fn array<'a, T>(
    first: *const T,
    count: usize,
    name: &'static str,
) -> Result<&'a [Loose<T>]> {
    if count == 0 {
        return Ok(&[]);
    }
    not_null(first, name)?;
    // SAFETY: the caller vouches for the entries, and they may lie at any address.
    Ok(unsafe { std::slice::from_raw_parts(first.cast(), count) })
}

/// # Safety
///
/// The arrays are null or have `nj` entries.
pub unsafe fn gpunb_send(
    nj: c_int,
    mj: *const f64,
    xj: *const [f64; 3],
    vj: *const [f64; 3],
) -> Result<c_int> {
    let nj = count(nj, "nj")?;
    // SAFETY: passed on.
    let incoming = unsafe {
        Incoming {
            x: array(xj, nj, "xj")?,
            v: array(vj, nj, "vj")?,
            m: array(mj, nj, "mj")?,
        }
    };
    regular::LIBRARY.lock().send(&incoming)?;
    Ok(0)
}

/// The arrays that describe targets.
pub struct Targets {
    pub h2: *const f64,
    pub dtr: *const f64,
    pub x: *const [f64; 3],
    pub v: *const [f64; 3],
}

/// Where forces go.
pub struct Forces {
    pub acc: *mut [f64; 3],
    pub jrk: *mut [f64; 3],
    pub pot: *mut f64,
}

/// Where neighbour lists go.
pub struct Rows {
    pub list: *mut c_int,
    pub lmax: c_int,
    pub nbmax: c_int,
}

/// # Safety
///
/// The arrays are null or have `ni` entries or rows; `m_flag` is null or points to an integer for clients that pass it.
pub unsafe fn gpunb_regf(
    ni: c_int,
    targets: Targets,
    forces: Forces,
    rows: Rows,
    m_flag: *const c_int,
) -> Result<c_int> {
    let ni = count(ni, "ni")?;
    let criterion = match settings().nbody6 {
        // SAFETY: passed on.
        Nbody6::PlusPlus => match unsafe { scalar(m_flag, "m_flag")? } {
            0 => Criterion::Radius,
            _ => Criterion::MassAndRadius,
        },
        Nbody6::Amuse => Criterion::Radius,
        Nbody6::Six => Criterion::MassAndRadius,
    };
    let (lmax, nbmax) = (count(rows.lmax, "lmax")?, count(rows.nbmax, "nbmax")?);
    if ni == 0 {
        return Ok(0);
    }
    let Some(room) = lmax.checked_sub(1) else {
        return Err(Error::OutOfRange {
            argument: "lmax",
            value: 0,
            legal: "a row begins with the number of neighbours",
        });
    };
    not_null(targets.h2, "h2")?;
    not_null(targets.dtr, "dtr")?;
    not_null(targets.x, "xi")?;
    not_null(targets.v, "vi")?;
    not_null(forces.acc, "acc")?;
    not_null(forces.jrk, "jrk")?;
    not_null(forces.pot, "pot")?;
    not_null(rows.list, "list")?;
    let longest = nbmax.min(room);
    let mut library = regular::LIBRARY.lock();
    library.targets.clear();
    // SAFETY: i < ni, the length of the arrays.
    let target = |i| unsafe {
        Target {
            x: targets.x.add(i).read_unaligned(),
            v: targets.v.add(i).read_unaligned(),
            h2: targets.h2.add(i).read_unaligned(),
            dtr: targets.dtr.add(i).read_unaligned(),
        }
    };
    allocation::reserve(&mut library.targets, ni, PURPOSE)?;
    library.targets.extend((0..ni).map(target));
    let results = library.forces(criterion, longest)?;
    for (i, result) in results.iter().enumerate() {
        let [ax, ay, az, jx, jy, jz, pot] = result.sums;
        let found = i32::try_from(result.neighbours).unwrap_or(i32::MAX);
        // SAFETY: as above; a list of at most `longest` fits into its row.
        unsafe {
            forces.acc.add(i).write_unaligned([ax, ay, az]);
            forces.jrk.add(i).write_unaligned([jx, jy, jz]);
            forces.pot.add(i).write_unaligned(pot);
            let row = rows.list.add(i * lmax);
            if result.neighbours > longest {
                row.write_unaligned(-found);
                continue;
            }
            row.write_unaligned(found);
            let (from, to) = (result.list.as_ptr().cast::<u8>(), row.add(1).cast::<u8>());
            std::ptr::copy_nonoverlapping(from, to, size_of_val(&result.list[..]));
        }
    }
    Ok(0)
}

pub fn gpunb_profile(irank: c_int) -> Result<c_int> {
    regular::LIBRARY.lock().report(irank);
    Ok(0)
}

/// NBODY6 passes the number, masses, positions and the place for potentials as the first four.
///
/// # Safety
///
/// The arguments are those of the client that the settings name; arrays have the lengths that it says.
pub unsafe fn gpupot(
    irank: *const c_int,
    istart: *const c_int,
    ni: *const c_int,
    n: *const c_int,
    m: *const f64,
    x: *const [f64; 3],
    pot: *mut f64,
) -> Result<c_int> {
    // SAFETY: passed on.
    unsafe {
        if settings().nbody6 == Nbody6::Six {
            let n_of_6 = count(scalar(irank, "n")?, "n")?;
            return potentials(
                0,
                n_of_6,
                n_of_6,
                istart.cast(),
                ni.cast(),
                n.cast_mut().cast(),
            );
        }
        let (istart, ni) = (scalar(istart, "istart")?, count(scalar(ni, "ni")?, "ni")?);
        let n = count(scalar(n, "n")?, "n")?;
        let first = i64::from(istart) - 1;
        match usize::try_from(first) {
            Ok(first) if first + ni <= n => potentials(first, ni, n, m, x, pot),
            _ => Err(Error::OutOfRange {
                argument: "istart",
                value: istart.into(),
                legal: "particles have the numbers 1 to n",
            }),
        }
    }
}

/// # Safety
///
/// The arrays are null or have `n` entries, that of the potentials `ni`.
unsafe fn potentials(
    first: usize,
    ni: usize,
    n: usize,
    m: *const f64,
    x: *const [f64; 3],
    pot: *mut f64,
) -> Result<c_int> {
    if ni == 0 {
        return Ok(0);
    }
    not_null(pot, "pot")?;
    // SAFETY: passed on.
    let incoming = unsafe {
        Incoming {
            x: array(x, n, "x")?,
            v: &[],
            m: array(m, n, "m")?,
        }
    };
    let mut library = regular::LIBRARY.lock();
    let potentials = library.potentials(&incoming, first..first + ni)?;
    for (i, &potential) in potentials.iter().enumerate() {
        // SAFETY: i < ni, the length of the array.
        unsafe { pot.add(i).write_unaligned(potential) };
    }
    Ok(0)
}

/// # Safety
///
/// No other thread is in a call of the irregular force.
pub unsafe fn irregular_open(nmax: c_int) -> Result<c_int> {
    helpers::running();
    // SAFETY: passed on.
    unsafe { irregular::LIBRARY.open(count(nmax, "nmax")?)? };
    Ok(0)
}

/// # Safety
///
/// As [`irregular_open`].
pub unsafe fn irregular_close() -> Result<c_int> {
    // SAFETY: passed on.
    unsafe { irregular::LIBRARY.close() };
    Ok(0)
}

pub fn irregular_profile(rank: c_int) -> Result<c_int> {
    irregular::LIBRARY.report(rank);
    Ok(0)
}

/// # Safety
///
/// The vectors, position to sixth of the jerk, are null or have three numbers each; no other thread is in a call about
/// this address.
#[inline]
pub unsafe fn irregular_set_star(
    addr: c_int,
    [x, v, aby2, a1by6]: [*const f64; 4],
    mass: f64,
    time: f64,
) -> Result<c_int> {
    // SAFETY: passed on.
    unsafe {
        let star = Star {
            x: vector(x, "pos")?,
            mass,
            v: vector(v, "vel")?,
            time,
            aby2: vector(aby2, "acc2")?,
            present: 1.0,
            a1by6: vector(a1by6, "jrk6")?,
            unused: 0.0,
        };
        irregular::LIBRARY.set_star(addr, star)?;
    }
    Ok(0)
}

/// # Safety
///
/// `nblist` is null or has as many entries as its first says, and that; no other thread is in a call about this address.
pub unsafe fn irregular_set_list(addr: c_int, nblist: *const c_int) -> Result<c_int> {
    // SAFETY: passed on.
    unsafe {
        let length = count(scalar(nblist, "nblist")?, "nblist")?;
        let neighbour = |k| nblist.add(1 + k).read_unaligned();
        irregular::LIBRARY.set_list(addr, (0..length).map(neighbour))?;
    }
    Ok(0)
}

/// Arrays of the client's that several threads write to, each to other entries.
#[derive(Clone, Copy)]
struct Places {
    addr: *const c_int,
    acc: *mut [f64; 3],
    jrk: *mut [f64; 3],
    nnbid: *mut c_int,
}

// SAFETY: each entry is read or written by one thread.
unsafe impl Sync for Places {}

impl Places {
    /// # Safety
    ///
    /// The array has more than `k` entries.
    unsafe fn address(&self, k: usize) -> c_int {
        // SAFETY: passed on.
        unsafe { self.addr.add(k).read_unaligned() }
    }

    /// # Safety
    ///
    /// The arrays have more than `k` entries; that of the nearest neighbours may be null.
    unsafe fn write(&self, k: usize, answer: &irregular::Answer) {
        // SAFETY: passed on.
        unsafe {
            self.acc.add(k).write_unaligned(answer.force.acc);
            self.jrk.add(k).write_unaligned(answer.force.jerk);
            if !self.nnbid.is_null() {
                self.nnbid.add(k).write_unaligned(answer.nearest);
            }
        }
    }
}

/// # Safety
///
/// The arrays are null or have `ni` entries; no other thread writes stars or lists.
pub unsafe fn irregular_forces(
    ti: f64,
    ni: c_int,
    addr: *const c_int,
    acc: *mut [f64; 3],
    jrk: *mut [f64; 3],
    nnbid: *mut c_int,
) -> Result<c_int> {
    if ni > 0 {
        not_null(nnbid, "nnbid")?;
    }
    let places = Places {
        addr,
        acc,
        jrk,
        nnbid,
    };
    // SAFETY: passed on.
    unsafe { forces_at(ti, ni, places) }
}

pub fn irregular_predict(ti: f64) -> Result<c_int> {
    irregular::LIBRARY.predict(ti);
    Ok(0)
}

/// # Safety
///
/// As [`irregular_forces`].
pub unsafe fn irregular_forces_then(
    ni: c_int,
    addr: *const c_int,
    acc: *mut [f64; 3],
    jrk: *mut [f64; 3],
) -> Result<c_int> {
    let places = Places {
        addr,
        acc,
        jrk,
        nnbid: std::ptr::null_mut(),
    };
    // SAFETY: passed on.
    unsafe { forces_at(irregular::LIBRARY.predicted(), ni, places) }
}

/// # Safety
///
/// As [`irregular_forces`].
unsafe fn forces_at(ti: f64, ni: c_int, places: Places) -> Result<c_int> {
    let ni = count(ni, "ni")?;
    if ni == 0 {
        return Ok(0);
    }
    not_null(places.addr, "addr")?;
    not_null(places.acc, "acc")?;
    not_null(places.jrk, "jrk")?;
    // The whole of it: a closure would take the pointers out one by one.
    let places = &places;
    // SAFETY: k < ni, the length of the arrays.
    let address = |k| unsafe { places.address(k) };
    // SAFETY: as above.
    let answer = |k, answer: &_| unsafe { places.write(k, answer) };
    // SAFETY: passed on.
    unsafe { irregular::LIBRARY.forces(ti, ni, &address, &answer)? };
    Ok(0)
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
    floating::standard(|| {
        for j in first..je {
            // SAFETY: j < je, the length of the arrays.
            unsafe {
                if tpred.add(j).read_unaligned() == time {
                    continue;
                }
                let star = Star {
                    x: x0.add(j).read_unaligned(),
                    v: x0dot.add(j).read_unaligned(),
                    aby2: f.add(j).read_unaligned(),
                    a1by6: fdot.add(j).read_unaligned(),
                    time: t0.add(j).read_unaligned(),
                    ..Star::default()
                };
                let (position, velocity) = star.predicted(time);
                x.add(j).write_unaligned(position);
                xdot.add(j).write_unaligned(velocity);
                tpred.add(j).write_unaligned(time);
            }
        }
    });
    Ok(0)
}

/// # Safety
///
/// `nblist` is null or has `nnb - 1` entries; the arrays of particles are null or long enough for them and for `i`; `f` and
/// `fdot` are null or have three entries.
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
    let length = count(nnb, "nnb")?.saturating_sub(1);
    not_null(pos, "pos")?;
    not_null(vel, "vel")?;
    not_null(mass, "mass")?;
    not_null(f, "f")?;
    not_null(fdot, "fdot")?;
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
    let force = floating::standard(|| {
        let mut force = Irregular::default();
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
    })?;
    // SAFETY: they have three entries.
    unsafe {
        f.cast::<[f64; 3]>().write_unaligned(force.acc);
        fdot.cast::<[f64; 3]>().write_unaligned(force.jerk);
    }
    Ok(0)
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
