//! What the exported symbols do: check, convert, call the core, write results.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use super::pointers::{self, Hints, IArrays, Softening, count, not_null, vector};
use super::record;
use crate::backend::cuda;
use crate::error::{Error, Result};
use crate::grape::cluster::Answer;
use crate::grape::neighbours;
use crate::grape::particle::{IParticle, JParticle};
use crate::grape::registry::REGISTRY;
use crate::observe::trace::{self, Event};
use crate::process::allocation;
use crate::process::settings::{self, BackendChoice, Devices, NoNeighbour};

/// The cluster that the `_all` calls address: a cluster of kirin has every device already.
pub const ALL: c_int = 0;

pub fn open(id: c_int) -> Result<c_int> {
    REGISTRY.open(id)?;
    Ok(0)
}

/// The numbers of GPUs in a list.
///
/// # Safety
///
/// `list` is null or has `ngpu` entries.
pub unsafe fn devices(ngpu: c_int, list: *const c_int) -> Result<Vec<usize>> {
    let ngpu = count(ngpu, "ngpu")?;
    let mut devices = Vec::new();
    for k in 0..if list.is_null() { 0 } else { ngpu } {
        // SAFETY: the caller vouches for the length.
        let device = count(unsafe { list.add(k).read_unaligned() }, "list")?;
        allocation::push(&mut devices, device, "a list of devices")?;
    }
    Ok(devices)
}

/// # Safety
///
/// `list` is null or has `ngpu` entries.
pub unsafe fn open_on(ngpu: c_int, list: *const c_int) -> Result<c_int> {
    // SAFETY: passed on.
    let devices = unsafe { devices(ngpu, list)? };
    open(ALL)?;
    if !devices.is_empty() {
        REGISTRY.with(ALL, |c| {
            c.prefer_devices(Devices::These(devices));
            Ok(())
        })?;
    }
    Ok(0)
}

pub fn close(id: c_int) -> Result<c_int> {
    REGISTRY.close(id);
    Ok(0)
}

pub fn npipes() -> Result<c_int> {
    let count = settings::settings().npipes;
    trace::record(|| Event::Pipelines { count });
    Ok(count)
}

pub fn nothing() -> Result<c_int> {
    Ok(0)
}

pub fn unsupported(reason: &'static str) -> Result<c_int> {
    Err(Error::Unsupported { reason })
}

pub fn set_ti(id: c_int, ti: f64) -> Result<c_int> {
    REGISTRY.with(id, |c| {
        c.set_ti(ti);
        trace::record(|| Event::SetTi { id, ti });
        Ok(0)
    })
}

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
#[inline]
pub unsafe fn set_j_particle(
    id: c_int,
    address: c_int,
    index: c_int,
    [t, dt]: [f64; 2],
    mass: f64,
    vectors: JVectors,
) -> Result<c_int> {
    // SAFETY: passed on.
    let particle = unsafe {
        JParticle {
            index,
            t,
            mass,
            x: vector(vectors.x, "x")?,
            v: vector(vectors.v, "v")?,
            aby2: vector(vectors.aby2, "aby2")?,
            a1by6: vector(vectors.a1by6, "a1by6")?,
            a2by18: vector(vectors.a2by18, "a2by18")?,
        }
    };
    let mut cluster = REGISTRY.lock(id)?;
    cluster.set_j_particle(address, &particle)?;
    trace::record(|| Event::JParticle {
        id,
        address,
        dt,
        mass_position: false,
        particle,
    });
    Ok(0)
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
    let mut cluster = REGISTRY.lock(id)?;
    cluster.set_mass_position(address, index, mass, &x)?;
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

/// Makes a call for cluster `id`, and for each of the `nclusters - 1` that follow it and are open.
#[inline]
pub fn to_clusters(
    id: c_int,
    nclusters: c_int,
    call: impl Fn(c_int) -> Result<c_int>,
) -> Result<c_int> {
    let nclusters = count(nclusters, "nclusters")?;
    call(id)?;
    if nclusters > 1 {
        REGISTRY
            .open_after(id, nclusters)
            .into_iter()
            .try_for_each(|other| call(other).map(drop))?;
    }
    Ok(0)
}

/// # Safety
///
/// The arrays are null or have `ni` entries.
pub unsafe fn firsthalf(
    id: c_int,
    nj: c_int,
    ni: c_int,
    (arrays, hints): (IArrays, Hints),
    eps2: impl Into<Softening>,
) -> Result<c_int> {
    let (nj, ni) = (count(nj, "nj")?, count(ni, "ni")?);
    let eps2 = eps2.into();
    arrays.check(ni)?;
    // SAFETY: the caller vouches for the lengths; the core copies before it returns.
    let particles = unsafe { arrays.particles(ni, eps2) };
    REGISTRY.with(id, |c| {
        let begin = trace::clock();
        c.firsthalf(nj, particles)?;
        if let Some(begin) = begin {
            // SAFETY: the caller vouches for the lengths, and they were checked.
            unsafe { record::firsthalf(id, nj, ni, arrays, hints, eps2, begin) };
        }
        Ok(0)
    })
}

/// Where results go; the last two may be null, and are then not wanted.
pub struct Outputs {
    pub acc: *mut [f64; 3],
    pub jerk: *mut [f64; 3],
    pub pot: *mut f64,
    pub nearest: *mut c_int,
    pub nearest_distance: *mut f32,
}

impl Outputs {
    fn check(&self, ni: usize) -> Result<()> {
        if ni > 0 {
            not_null(self.acc, "acc")?;
            not_null(self.jerk, "jerk")?;
            not_null(self.pot, "pot")?;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// `check` succeeded, and arrays that are not null have as many entries as the answer.
    unsafe fn write(&self, answer: Answer<'_>) {
        for (i, f) in answer.forces.iter().enumerate() {
            // SAFETY: i is below the length of the arrays. An array may be both acc and jerk
            // (ph4): the later write wins, as it does in C.
            unsafe {
                self.acc.add(i).write_unaligned(f.acc);
                self.jerk.add(i).write_unaligned(f.jerk);
                self.pot.add(i).write_unaligned(f.pot);
            }
        }
        for (i, n) in answer.nearest.iter().enumerate() {
            // SAFETY: as above, for the arrays that are not null.
            unsafe {
                if !self.nearest.is_null() {
                    let p = self.nearest.add(i);
                    p.write_unaligned(match n {
                        Some(n) => n.index,
                        None => no_neighbour(p),
                    });
                }
                if !self.nearest_distance.is_null() {
                    let distance =
                        n.map_or(f64::INFINITY, |n| (n.r2 + answer.particles[i].eps2).sqrt());
                    self.nearest_distance
                        .add(i)
                        .write_unaligned(distance as f32);
                }
            }
        }
    }
}

/// What stands for "no neighbour" at `p`.
///
/// # Safety
///
/// `p` points to an integer.
unsafe fn no_neighbour(p: *const c_int) -> c_int {
    match settings::settings().no_neighbour {
        NoNeighbour::Zero => 0,
        NoNeighbour::MinusOne => -1,
        // SAFETY: passed on.
        NoNeighbour::Auto if unsafe { p.read_unaligned() } == -1 => -1,
        NoNeighbour::Auto => 0,
    }
}

/// # Safety
///
/// The arrays are null or have `ni` entries.
pub unsafe fn lasthalf(
    id: c_int,
    nj: c_int,
    ni: c_int,
    arrays: IArrays,
    eps2: impl Into<Softening>,
    outputs: Outputs,
) -> Result<c_int> {
    let (nj, ni) = (count(nj, "nj")?, count(ni, "ni")?);
    let eps2 = eps2.into();
    outputs.check(ni)?;
    let wants_nearest = !outputs.nearest.is_null() || !outputs.nearest_distance.is_null();
    REGISTRY.with(id, |c| {
        let begin = trace::clock();
        if !c.owes_results() {
            arrays.check(ni)?;
            // SAFETY: the caller vouches for the lengths; the core copies before it returns.
            c.firsthalf(nj, unsafe { arrays.particles(ni, eps2) })?;
            if let Some(begin) = begin {
                // SAFETY: the caller vouches for the lengths, and they were checked.
                unsafe { record::firsthalf(id, nj, ni, arrays, NO_HINTS, eps2, begin) };
            }
        }
        let begin = trace::clock();
        if begin.is_some() {
            record::describe(id, c);
        }
        let answer = c.lasthalf(ni, wants_nearest)?;
        // SAFETY: there are ni results, and the caller vouches for as many entries.
        unsafe { outputs.write(answer) };
        if let Some(begin) = begin {
            // SAFETY: the answer was written.
            unsafe { record::lasthalf(id, answer, &outputs, begin) };
        }
        Ok(0)
    })
}

/// # Safety
///
/// `nearest` is not null and has `ni` entries; the other arrays are null or have `ni` entries.
pub unsafe fn lasthalf2(
    id: c_int,
    nj: c_int,
    ni: c_int,
    arrays: IArrays,
    eps2: impl Into<Softening>,
    outputs: Outputs,
) -> Result<c_int> {
    if ni > 0 {
        not_null(outputs.nearest, "nnbindex")?;
    }
    // SAFETY: passed on.
    unsafe { lasthalf(id, nj, ni, arrays, eps2, outputs) }
}

/// 0, or 1 where the lists are too long or do not fit into memory: the client then shrinks its radii.
pub fn read_neighbour_list(id: c_int) -> Result<c_int> {
    REGISTRY.with(id, |c| {
        let status = match c.neighbour_lists() {
            Ok(_) => 0,
            Err(Error::OutOfMemory { .. } | Error::ListsTooLong { .. }) => 1,
            Err(error) => return Err(error),
        };
        trace::record(|| Event::ReadList { id, status });
        Ok(status)
    })
}

/// # Safety
///
/// `list` is null or has `maxlength` entries, `length` is null or points to an integer.
pub unsafe fn get_neighbour_list(
    id: c_int,
    ipipe: c_int,
    maxlength: c_int,
    length: *mut c_int,
    list: *mut c_int,
) -> Result<c_int> {
    not_null(length, "nblen")?;
    // A client may go on shrinking its radius until the list fits: what is not a success must
    // look like a list that is too long (kira loops for ever otherwise).
    // SAFETY: not null, so it points to an integer.
    unsafe { length.write_unaligned(maxlength.max(0)) };
    let ipipe = count(ipipe, "ipipe")?;
    let room = count(maxlength, "maxlength")?;
    if room > 0 {
        not_null(list, "nbl")?;
    }
    REGISTRY.with(id, |c| {
        let found = match c.neighbour_lists() {
            Ok(lists) => lists.list(ipipe),
            Err(Error::OutOfMemory { .. } | Error::ListsTooLong { .. }) => return Ok(1),
            Err(error) => return Err(error),
        };
        let copied = found.len().min(room);
        if copied > 0 {
            let (from, to) = (found.as_ptr().cast::<u8>(), list.cast::<u8>());
            // SAFETY: copied is at most maxlength, the length of the client's array, which may lie at
            // any address and is none of ours.
            unsafe { std::ptr::copy_nonoverlapping(from, to, copied * size_of::<c_int>()) };
        }
        // SAFETY: as above; copied is at most maxlength, which is a C integer.
        unsafe { length.write_unaligned(copied as c_int) };
        let status = c_int::from(found.len() > room);
        trace::try_record(|| {
            Ok(Event::GetList {
                id,
                ipipe: ipipe as c_int,
                room: maxlength,
                status,
                labels: allocation::collect(found[..copied].iter().copied(), trace::PURPOSE)?,
            })
        });
        Ok(status)
    })
}

pub fn set_sort_mode(mode: c_int) -> Result<c_int> {
    neighbours::set_sort_mode(mode);
    trace::record(|| Event::SortMode { mode });
    Ok(0)
}

pub fn sort_mode() -> Result<c_int> {
    Ok(neighbours::sort_mode())
}

pub fn set_nip(id: c_int, nip: c_int) -> Result<c_int> {
    let nip = count(nip, "nip")?;
    REGISTRY.with(id, |c| {
        c.set_nip(nip);
        Ok(0)
    })
}

pub fn set_njp(id: c_int, njp: c_int) -> Result<c_int> {
    let njp = count(njp, "njp")?;
    REGISTRY.with(id, |c| {
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
    REGISTRY.with(id, |c| c.set_i_particle(address, particle))?;
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
    arrays.check(nip)?;
    if nip > 0 {
        not_null(eps2, "eps2")?;
    }
    REGISTRY.with(id, |c| {
        // SAFETY: passed on; the core copies.
        let particles = unsafe { arrays.particles(nip, Softening::Each(eps2)) };
        for (address, particle) in (address..).zip(particles) {
            c.set_i_particle(address, particle)?;
        }
        Ok(0)
    })
}

/// What `g6_setmccount` set.
static MCCOUNT: AtomicI32 = AtomicI32::new(1);

pub fn set_mccount(value: c_int) -> Result<c_int> {
    MCCOUNT.store(value, Ordering::Relaxed);
    Ok(0)
}

pub fn mccount() -> Result<c_int> {
    Ok(MCCOUNT.load(Ordering::Relaxed))
}

/// Clients stop where there is no device; the CPU counts as one where there is no GPU.
pub fn device_count() -> Result<c_int> {
    let gpus = match settings::settings().backend {
        BackendChoice::Auto | BackendChoice::Cuda => cuda::devices().map_or(0, <[_]>::len),
        BackendChoice::Cpu | BackendChoice::Reference => 0,
    };
    Ok(c_int::try_from(gpus.max(1)).unwrap_or(c_int::MAX))
}

/// # Safety
///
/// The outputs and `flag` are null or have as many entries as `set_nip` announced.
pub unsafe fn get_force(id: c_int, outputs: Outputs, flag: *mut c_int) -> Result<c_int> {
    REGISTRY.with(id, |c| {
        let begin = trace::clock();
        let answer = c.low_level_forces(!outputs.nearest.is_null())?;
        outputs.check(answer.forces.len())?;
        // SAFETY: the caller vouches for the lengths.
        unsafe { outputs.write(answer) };
        if let Some(begin) = begin {
            trace::record_block(id, &answer);
            // SAFETY: the answer was written.
            unsafe { record::lasthalf(id, answer, &outputs, begin) };
        }
        if !flag.is_null() {
            for i in 0..answer.forces.len() {
                // SAFETY: i is below the length of the array.
                unsafe { flag.add(i).write_unaligned(0) };
            }
        }
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
    REGISTRY.with(id, |c| {
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
                id,
                found: allocation::collect(found, trace::PURPOSE)?,
            })
        });
        Ok(0)
    })
}

/// The i-particle arrays of a block.
pub fn arrays(
    index: *const c_int,
    x: *const [f64; 3],
    v: *const [f64; 3],
    h2: *const f64,
) -> IArrays {
    IArrays { index, x, v, h2 }
}

/// The arrays of a `lasthalf`, which has no hints.
const NO_HINTS: Hints = Hints {
    acc: std::ptr::null(),
    jerk: std::ptr::null(),
    pot: std::ptr::null(),
};

/// The arrays with the hints of a `firsthalf`.
pub fn hinted(
    arrays: IArrays,
    acc: *const [f64; 3],
    jerk: *const [f64; 3],
    pot: *const f64,
) -> (IArrays, Hints) {
    (arrays, Hints { acc, jerk, pot })
}

/// Outputs without nearest neighbours.
pub fn forces_to(acc: *mut [f64; 3], jerk: *mut [f64; 3], pot: *mut f64) -> Outputs {
    Outputs {
        acc,
        jerk,
        pot,
        nearest: std::ptr::null_mut(),
        nearest_distance: std::ptr::null_mut(),
    }
}

impl Outputs {
    /// With the labels of the nearest neighbours.
    pub fn nearest_to(self, nearest: *mut c_int) -> Self {
        Self { nearest, ..self }
    }

    /// With the softened distances of the nearest neighbours.
    pub fn distance_to(self, nearest_distance: *mut f32) -> Self {
        Self {
            nearest_distance,
            ..self
        }
    }
}

/// The softening of the calls with a `mode`: bit 0 of it says that `eps2` points to one number for
/// all i-particles, and not to an array of them.
///
/// # Safety
///
/// `eps2` is null or points to as many numbers, for as long as the result is used.
pub unsafe fn by_mode(eps2: *const f64, mode: c_int) -> Result<Softening> {
    if mode & 1 == 0 {
        not_null(eps2, "eps2")?;
        return Ok(Softening::Each(eps2));
    }
    // SAFETY: passed on.
    unsafe { pointers::scalar(eps2, "eps2") }.map(Softening::All)
}
