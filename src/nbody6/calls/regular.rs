//! Regular forces and potentials.

use std::ffi::c_int;

use crate::edge::pointers::{count, not_null, scalar};
use crate::nbody6::program::client;
use crate::nbody6::statistics::COUNTS;
use crate::nbody6::{helpers, regular_library as regular};
use kirin_core::error::{Error, Result};
use kirin_core::force::regular::{Criterion, Incoming, PURPOSE, Target, Unaligned};
use kirin_core::process::allocation;
use kirin_core::process::log;
use kirin_core::process::settings::{self, Nbody6};
use kirin_core::trace::nbody6::{Call, record};

pub fn gpunb_open(nbmax: c_int) -> Result<c_int> {
    client()?;
    helpers::running();
    COUNTS.begin();
    count(nbmax, "nbmax")?;
    record::call(|| Call::Open { room: nbmax });
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
) -> Result<&'a [Unaligned<T>]> {
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
    let checked = || {
        let nj = count(nj, "nj")?;
        // SAFETY: passed on.
        unsafe {
            Ok(Incoming {
                x: array(xj, nj, "xj")?,
                v: array(vj, nj, "vj")?,
                m: array(mj, nj, "mj")?,
            })
        }
    };
    let mut library = regular::LIBRARY.lock();
    let incoming = checked().inspect_err(|error| library.note_refusal(error))?;
    library.send(&incoming)?;
    Ok(0)
}

/// The arrays that describe targets.
pub struct Targets {
    pub h2: *const f64,
    /// Null for programs that do not pass it: neighbours are then found from positions alone.
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

/// Where neighbour lists go, and the numbers that tell how long they may be.
pub struct Rows {
    pub list: *mut c_int,
    pub lmax: *const c_int,
    pub nbmax: *const c_int,
}

/// NBODY6 of 2009 passes no `dtr`, and so all after `h2` one place earlier.
fn without_steps(targets: &Targets, forces: &Forces, rows: &Rows) -> (Targets, Forces, Rows) {
    let targets_of_2009 = Targets {
        h2: targets.h2,
        dtr: std::ptr::null(),
        x: targets.dtr.cast(),
        v: targets.x,
    };
    let forces_of_2009 = Forces {
        acc: targets.v.cast_mut(),
        jrk: forces.acc,
        pot: forces.jrk.cast(),
    };
    let rows_of_2009 = Rows {
        lmax: forces.pot.cast_const().cast(),
        nbmax: rows.lmax,
        list: rows.nbmax.cast_mut(),
    };
    (targets_of_2009, forces_of_2009, rows_of_2009)
}

/// If it is refused, forces and potentials are NaN, since the client calls a subroutine and would go on with old numbers. Each list
/// then has the first two stars: where a list overflows or is shorter, clients ask again, for ever. Nothing is written if the
/// number of arguments is wrong, since the arrays are not where they are looked for.
///
/// # Safety
///
/// In the order of the client that the settings name, the arrays are null or have `ni` entries or rows, and the numbers are null or
/// point to integers, `m_flag` for clients that pass it.
pub unsafe fn gpunb_regf(
    ni: c_int,
    targets: Targets,
    forces: Forces,
    rows: Rows,
    m_flag: *const c_int,
) -> Result<c_int> {
    let client = client()?;
    let (targets, forces, rows) = match client {
        Nbody6::SixOf2009 => without_steps(&targets, &forces, &rows),
        _ => (targets, forces, rows),
    };
    // SAFETY: passed on.
    unsafe {
        let criterion = criterion(client, &rows, m_flag)?;
        regular_forces(client, criterion, ni, &targets, &forces, &rows)
            .inspect_err(|_| refuse(ni, &forces, &rows))
    }
}

/// What the client takes for a neighbour.
///
/// # Errors
///
/// The number of arguments is wrong.
///
/// # Safety
///
/// The numbers are null or point to integers.
unsafe fn criterion(client: Nbody6, rows: &Rows, m_flag: *const c_int) -> Result<Criterion> {
    // SAFETY: passed on.
    if let Ok(nbmax @ ..=0) = unsafe { scalar(rows.nbmax, "nbmax") } {
        // An entry of the lists of a program that passes one argument less.
        return Err(Error::OutOfRange {
            argument: "nbmax",
            value: nbmax.into(),
            legal: "it is positive; programs that pass no regular step (10 arguments: NBODY6, NBODY6++ of 2009 to 2011) need KIRIN_NBODY6=6-2009, versions of NBODY6 that pass it 6 or 6-radius",
        });
    }
    match client {
        // SAFETY: passed on.
        Nbody6::PlusPlus => match unsafe { scalar(m_flag, "m_flag")? } {
            0 => Ok(Criterion::Radius),
            1 => Ok(Criterion::MassAndRadius),
            // What stands behind the arguments of a program that passes one or two less.
            other => Err(Error::OutOfRange {
                argument: "m_flag",
                value: other.into(),
                legal: "it is 0 or 1; programs that pass none need KIRIN_NBODY6: amuse for AMUSE's nbody6xx and NBODY6++ of 2012, 6-2009 for NBODY6++ of 2009 to 2011, 6, 6-radius or 6-2009 for NBODY6",
            }),
        },
        Nbody6::Amuse | Nbody6::SixRadius | Nbody6::SixOf2009 => Ok(Criterion::Radius),
        Nbody6::Six => Ok(Criterion::MassAndRadius),
    }
}

/// # Safety
///
/// The arrays are null or have `ni` entries or rows, and the numbers are null or point to integers.
unsafe fn refuse(ni: c_int, forces: &Forces, rows: &Rows) {
    let ni = usize::try_from(ni).unwrap_or(0);
    // SAFETY: passed on.
    let (lmax, nbmax) = unsafe {
        let number = |from, name| scalar(from, name).unwrap_or(0);
        (number(rows.lmax, "lmax"), number(rows.nbmax, "nbmax"))
    };
    let stars = nbmax.min(lmax.saturating_sub(1)).clamp(0, 2);
    let lmax = usize::try_from(lmax).unwrap_or(0);
    for i in 0..ni {
        // SAFETY: i < ni, the length of the arrays that are not null.
        unsafe {
            for vectors in [forces.acc, forces.jrk] {
                if !vectors.is_null() {
                    vectors.add(i).write_unaligned([f64::NAN; 3]);
                }
            }
            if !forces.pot.is_null() {
                forces.pot.add(i).write_unaligned(f64::NAN);
            }
            if !rows.list.is_null() && lmax > 0 {
                let row = rows.list.add(i * lmax);
                row.write_unaligned(stars);
                (0..stars).for_each(|star| row.add(1 + star as usize).write_unaligned(star));
            }
        }
    }
}

/// # Safety
///
/// As [`gpunb_regf`].
unsafe fn regular_forces(
    client: Nbody6,
    criterion: Criterion,
    ni: c_int,
    targets: &Targets,
    forces: &Forces,
    rows: &Rows,
) -> Result<c_int> {
    let ni = count(ni, "ni")?;
    // SAFETY: passed on.
    let (lmax, nbmax) = unsafe { (scalar(rows.lmax, "lmax")?, scalar(rows.nbmax, "nbmax")?) };
    let (lmax, nbmax) = (count(lmax, "lmax")?, count(nbmax, "nbmax")?);
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
    let steps = client != Nbody6::SixOf2009;
    if steps {
        not_null(targets.dtr, "dtr")?;
    }
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
            dtr: if steps {
                targets.dtr.add(i).read_unaligned()
            } else {
                0.0
            },
        }
    };
    allocation::reserve(&mut library.targets, ni, PURPOSE)?;
    library.targets.extend((0..ni).map(target));
    library.forces(criterion, longest)?;
    if client == Nbody6::Six && library.misses_neighbours(longest) {
        log::once(
            "neighbour radii",
            "gpunb_regf_",
            "most stars of a block have no neighbour within m_j h2, but a few within h2: versions of NBODY6 whose h2 is RS**2 need KIRIN_NBODY6=6-radius, or the neighbour radii (RS0) are too small",
        );
    }
    let results = library.results();
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
    COUNTS.tell_regular(irank);
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
        if client()?.is_six() {
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
        let istart = scalar(istart, "istart")?;
        match among(istart, scalar(ni, "ni")?, scalar(n, "n")?) {
            Some([first, ni, n]) => potentials(first, ni, n, m, x, pot),
            // What NBODY6 passes in these places are masses and positions, so nothing is written.
            None => Err(Error::OutOfRange {
                argument: "istart",
                value: istart.into(),
                legal: "istart to istart + ni - 1 are among the particles 1 to n; NBODY6, which passes four arguments, needs KIRIN_NBODY6=6, 6-radius or 6-2009",
            }),
        }
    }
}

/// The number of the first particle, from 0, then `ni` and `n`, if the particles `istart` to `istart + ni - 1` are among those
/// from 1 to `n`.
fn among(istart: c_int, ni: c_int, n: c_int) -> Option<[usize; 3]> {
    match [i64::from(istart) - 1, ni.into(), n.into()].map(usize::try_from) {
        [Ok(first), Ok(ni), Ok(n)] if first + ni <= n => Some([first, ni, n]),
        _ => None,
    }
}

/// Nothing is written if the numbers contradict each other.
///
/// # Safety
///
/// The arrays are null or have `n` entries.
pub unsafe fn gpupot_range(
    istart: c_int,
    ni: c_int,
    n: c_int,
    m: *const f64,
    x: *const [f64; 3],
    pot: *mut f64,
) -> Result<c_int> {
    settings::with_memory()?;
    let Some([first, ni, n]) = among(istart, ni, n) else {
        return Err(Error::OutOfRange {
            argument: "istart",
            value: istart.into(),
            legal: "istart to istart + ni - 1 are among the particles 1 to n",
        });
    };
    not_null(pot, "pot")?;
    // SAFETY: `first` is at most n, the length of the array; the rest is passed on.
    unsafe { potentials(first, ni, n, m, x, pot.add(first)) }
}

/// If it fails, the potentials are NaN.
///
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
    // SAFETY: i < ni, the length of the array.
    let write = |i, potential| unsafe { pot.add(i).write_unaligned(potential) };
    let mut library = regular::LIBRARY.lock();
    let incoming = || {
        // SAFETY: passed on.
        unsafe {
            Ok(Incoming {
                x: array(x, n, "x")?,
                v: &[],
                m: array(m, n, "m")?,
            })
        }
    };
    let found = match incoming() {
        Ok(incoming) => library.potentials(&incoming, first..first + ni),
        Err(error) => Err(error),
    };
    match found {
        Ok(potentials) => (potentials.iter().enumerate()).for_each(|(i, &p)| write(i, p)),
        Err(error) => {
            (0..ni).for_each(|i| write(i, f64::NAN));
            return Err(error);
        }
    }
    Ok(0)
}
