//! The devices of the GRAPE-5 interface. Each device has its own i-particle registers and results. Its j-particles
//! are its own or those of device 0.
//!
//! Each device has two memories, which are clusters without velocities, labels and neighbours. One is plain; in the
//! other each j-particle has a softening length. A device to whose memory nothing was ever sent uses the memory of
//! device 0. This serves boards that share one set of j-particles, and threads that have a device each.
//!
//! The interface has no labels, and a particle acts on itself: its potential contains m / eps. Without softening the
//! particle and itself are a coincident pair, which adds nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::registry::{Member, Registry};
use kirin_core::cluster::Cluster;
use kirin_core::error::{Error, Result};
use kirin_core::process::allocation;
use kirin_core::process::long_work::LongWork;
use kirin_core::process::settings::{Devices, Settings};
use kirin_core::sources::jmemory::{Given, SourceKind};
use kirin_core::sources::particle::{Force, IParticle, JParticle};
use kirin_core::trace::{self, Event};

/// The label of i-particles. That of the j-particles is zero, so that all of them act.
const NOBODY: i32 = 1;

/// How many i-particles of one call are computed at a time.
const AT_A_TIME: usize = 1 << 14;

/// Pipelines of a GRAPE-5 board: 16, each of which takes turns on six i-particles.
const PIPELINES: i32 = 96;

/// Pipelines of a GRAPE-6 board, and the default of `KIRIN_NPIPES`.
const GRAPE6_PIPELINES: i32 = 48;

/// What memory is for, in messages.
const PURPOSE: &str = "i-particles";

/// Which of a device's memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Of particles with a mass and a position.
    Plain,
    /// Of those that have a softening length besides.
    Softened,
}

/// One memory of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    device: i32,
    memory: Memory,
}

impl Place {
    /// A memory of a device.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn new(device: i32, memory: Memory) -> Result<Self> {
        if !(0..1 << 29).contains(&device) {
            return Err(Error::OutOfRange {
                argument: "devid",
                value: device.into(),
                legal: "device ids are 0 to 536870911",
            });
        }
        Ok(Self { device, memory })
    }

    /// Its id among the memories of GRAPE-5.
    fn id(self) -> i32 {
        2 * self.device + i32::from(self.memory == Memory::Softened)
    }

    fn of(id: i32) -> Self {
        Self {
            device: id / 2,
            memory: match id % 2 {
                0 => Memory::Plain,
                _ => Memory::Softened,
            },
        }
    }
}

/// The memories of the process.
static MEMORIES: Registry<DeviceMemory> = Registry::new();

/// One memory of a device, with what the device keeps beside it.
struct DeviceMemory {
    cluster: Cluster,
    /// That of the plain memory serves both memories of a device.
    board: Board,
}

impl Member for DeviceMemory {
    /// GRAPE-5 knows what its ids mean.
    const SOLE_STANDS_FOR_ALL: bool = false;

    fn registry() -> &'static Registry<Self> {
        &MEMORIES
    }

    fn new(id: i32, mut settings: Settings, work: &'static LongWork) -> Self {
        settings.npipes = pipelines_with(settings.npipes);
        let sources = match Place::of(id).memory {
            Memory::Plain => SourceKind::AtRest,
            Memory::Softened => SourceKind::Softened,
        };
        Self {
            cluster: Cluster::of(sources, settings).watched(work),
            board: Board::default(),
        }
    }

    fn name(id: i32) -> String {
        let Place { device, memory } = Place::of(id);
        match memory {
            Memory::Plain => format!("GRAPE-5 device {device}"),
            Memory::Softened => format!("GRAPE-5 device {device}, j-particles with softening"),
        }
    }

    fn opened(id: i32) {
        if let Some(id) = traced(id) {
            trace::record(|| Event::Open { id });
        }
    }

    fn closed(id: i32) {
        if let Some(id) = traced(id) {
            trace::record(|| Event::Close { id });
        }
    }

    fn report(&mut self, id: i32) {
        self.cluster.report(&Self::name(id));
    }

    fn inherit(&mut self) {
        self.cluster.inherit();
    }
}

/// The id by which traces know a memory. They have no word for softening lengths of j-particles.
fn traced(id: i32) -> Option<i32> {
    let Place { device, memory } = Place::of(id);
    (memory == Memory::Plain).then(|| trace::GRAPE5.start + device)
}

/// What a device keeps beside its j-particles.
#[derive(Default)]
struct Board {
    /// Whether j-particles were sent to this memory.
    has_own: bool,
    /// Number of leading addresses that act, if it was told one.
    nj: Option<usize>,
    /// The squared softening length of its i-particles that come without one, if the device has one of its own.
    eps2: Option<OwnEps2>,
    /// The i-particle registers. A run shares them, so that a child that is forked meanwhile has them.
    particles: Arc<Vec<IParticle>>,
    /// Whether the softening lengths in the registers came with the particles.
    own_softening: bool,
    /// What the last run computed.
    forces: Vec<Force>,
}

impl Board {
    /// The i-particle registers, to change them. If a run of another thread, or of the parent of a fork, shares them, this
    /// is a copy.
    ///
    /// # Errors
    ///
    /// There is no memory for the copy.
    fn registers(&mut self) -> Result<&mut Vec<IParticle>> {
        if Arc::get_mut(&mut self.particles).is_none() {
            let copies = allocation::collect(self.particles.iter().copied(), PURPOSE)?;
            self.particles = Arc::new(copies);
        }
        Ok(Arc::make_mut(&mut self.particles))
    }
}

/// The squared softening length of one device, and after how many calls for all devices it came: the next of these
/// calls overrides it.
#[derive(Clone, Copy)]
struct OwnEps2 {
    eps2: f64,
    calls_before: u64,
}

/// The squared softening length of i-particles that come without one, by its bits.
static EPS2: AtomicU64 = AtomicU64::new(0);

/// How often [`set_eps2`] was called.
static EPS2_CALLS: AtomicU64 = AtomicU64::new(0);

/// Whether some device was ever given one of its own.
static OWN_EPS2: AtomicBool = AtomicBool::new(false);

/// Sets the squared softening length of i-particles that come without one, for all devices.
pub fn set_eps2(eps2: f64) {
    EPS2.store(eps2.to_bits(), Ordering::Relaxed);
    EPS2_CALLS.fetch_add(1, Ordering::Relaxed);
}

/// As [`set_eps2`], for one device.
///
/// # Errors
///
/// There is no memory.
pub fn set_eps2_of(place: Place, eps2: f64) -> Result<()> {
    with_board(place, |board| {
        board.eps2 = Some(OwnEps2 {
            eps2,
            calls_before: EPS2_CALLS.load(Ordering::Relaxed),
        });
        OWN_EPS2.store(true, Ordering::Relaxed);
        Ok(())
    })
}

/// What [`set_eps2`] or [`set_eps2_of`] set for the i-particles of a device.
///
/// # Errors
///
/// There is no memory.
pub fn eps2(place: Place) -> Result<f64> {
    if OWN_EPS2.load(Ordering::Relaxed)
        && let Some(own) = with_board(place, |board| Ok(board.eps2))?
        && own.calls_before == EPS2_CALLS.load(Ordering::Relaxed)
    {
        return Ok(own.eps2);
    }
    Ok(f64::from_bits(EPS2.load(Ordering::Relaxed)))
}

/// An i-particle.
pub fn particle(x: [f64; 3], eps2: f64) -> IParticle {
    IParticle {
        index: NOBODY,
        x,
        eps2,
        ..IParticle::default()
    }
}

/// The number of pipelines for a `KIRIN_NPIPES`. GRAPE-6's 48 and somewhat more stand for GRAPE-5's. Fewer are asked for
/// by users whose programs fill the last pipelines with copies.
pub fn pipelines_with(npipes: i32) -> i32 {
    if npipes < GRAPE6_PIPELINES {
        npipes
    } else {
        npipes.max(PIPELINES)
    }
}

/// Makes device 0 ready.
///
/// # Errors
///
/// There is no memory.
pub fn open() -> Result<()> {
    MEMORIES.open(0)
}

/// Names the GPUs for device 0 to use, unless the user did or it has computed already.
///
/// # Errors
///
/// There is no memory.
pub fn prefer_devices(devices: Devices) -> Result<()> {
    MEMORIES.with(0, |memory| {
        memory.cluster.prefer_devices(devices);
        Ok(())
    })
}

/// Forgets the j-particles and registers of all devices.
pub fn close() {
    for id in MEMORIES.open_ids() {
        MEMORIES.close(id);
    }
}

/// Stores j-particles as [`JMemory::fill`](kirin_core::sources::jmemory::JMemory::fill) does.
///
/// # Errors
///
/// There are no such addresses, or there is no memory for them. Nothing changes then.
///
/// # Safety
///
/// The client has numbers for these addresses.
pub unsafe fn store(place: Place, address: i32, count: usize, given: &Given) -> Result<()> {
    MEMORIES.with(place.id(), |DeviceMemory { cluster, board }| {
        // SAFETY: passed on.
        unsafe { cluster.fill(address, count, given)? };
        board.has_own = true;
        if let Some(id) = traced(place.id()).filter(|_| trace::active()) {
            (address..)
                .take(count)
                .for_each(|at| record(id, at, cluster));
        }
        Ok(())
    })
}

/// Records the particle that was stored at an address.
fn record(id: i32, address: i32, cluster: &Cluster) {
    let stored = cluster.stored(address as usize);
    if let Some((JParticle { mass, x, .. }, _)) = stored {
        trace::record(|| Event::JParticle {
            id,
            address,
            dt: 0.0,
            mass_position: true,
            particle: JParticle {
                mass,
                x,
                ..JParticle::default()
            },
        });
    }
}

/// What the memories of a device share.
fn with_board<R>(place: Place, act: impl FnOnce(&mut Board) -> Result<R>) -> Result<R> {
    let plain = Place {
        memory: Memory::Plain,
        ..place
    };
    MEMORIES.with(plain.id(), |memory| act(&mut memory.board))
}

/// Sets how many leading addresses of the device's memories act.
///
/// # Errors
///
/// There is no memory.
pub fn set_n(place: Place, nj: usize) -> Result<()> {
    with_board(place, |board| {
        board.nj = Some(nj);
        Ok(())
    })
}

/// Loads the i-particle registers of a device. `own_softening`: their softening lengths came with them.
///
/// # Errors
///
/// There is no memory.
pub fn set_particles(
    place: Place,
    particles: impl ExactSizeIterator<Item = IParticle>,
    own_softening: bool,
) -> Result<()> {
    with_board(place, |board| {
        board.own_softening = own_softening;
        let registers = board.registers()?;
        registers.clear();
        allocation::reserve(registers, particles.len(), PURPOSE)?;
        registers.extend(particles);
        Ok(())
    })
}

/// Gives the first i-particles in the registers softening lengths of their own, of which these are the squares.
///
/// # Errors
///
/// There is no memory.
pub fn set_softening(place: Place, eps2: impl Iterator<Item = f64>) -> Result<()> {
    with_board(place, |board| {
        board.own_softening = true;
        for (particle, eps2) in board.registers()?.iter_mut().zip(eps2) {
            particle.eps2 = eps2;
        }
        Ok(())
    })
}

/// Computes the forces on the i-particles in the registers, for [`results`]. Whether their softening lengths came with
/// them.
///
/// # Errors
///
/// They cannot be computed; there are no results then.
pub fn run(place: Place) -> Result<bool> {
    // The board is not locked meanwhile, since the j-particles may be another device's: nobody locks two clusters at a time.
    let (particles, own_softening, mut forces) = with_board(place, |board| {
        let forces = std::mem::take(&mut board.forces);
        Ok((Arc::clone(&board.particles), board.own_softening, forces))
    })?;
    forces.clear();
    let computed = forces_on(place, particles.iter().copied(), |some| {
        allocation::reserve(&mut forces, some.len(), PURPOSE)?;
        forces.extend_from_slice(some);
        Ok(())
    });
    if computed.is_err() {
        forces.clear();
    }
    with_board(place, |board| {
        board.forces = forces;
        Ok(())
    })?;
    computed.map(|()| own_softening)
}

/// Has `take` see the first `ni` results of the last run.
///
/// # Errors
///
/// There are not so many.
pub fn results(place: Place, ni: usize, take: impl FnOnce(&[Force])) -> Result<()> {
    with_board(place, |board| {
        let found = board.forces.get(..ni).ok_or(Error::OutOfRange {
            argument: "ni",
            value: ni as i64,
            legal: "the last g5_run of this device had fewer i-particles",
        })?;
        take(found);
        Ok(())
    })
}

/// Computes the forces on `particles`; `take` sees those on some of them after the other.
///
/// # Errors
///
/// Those of the backend or of `take`.
pub fn forces_on(
    place: Place,
    mut particles: impl ExactSizeIterator<Item = IParticle>,
    mut take: impl FnMut(&[Force]) -> Result<()>,
) -> Result<()> {
    let (acting, nj) = acting_on(place)?;
    MEMORIES.with(acting.id(), |DeviceMemory { cluster, .. }| {
        while particles.len() > 0 {
            let traced = traced(acting.id()).zip(trace::clock());
            if let Some((id, _)) = traced {
                let precision = cluster.precision();
                trace::describe(id, precision, || cluster.backend_name());
            }
            let answer = cluster.forces_on(nj, particles.by_ref().take(AT_A_TIME))?;
            if let Some((id, begin)) = traced {
                trace::record_block(id, &answer);
                trace::record_results(id, answer.forces, None, begin);
            }
            take(answer.forces)?;
        }
        Ok(())
    })
}

/// The memory that acts on the i-particles of a device, and how many of its leading addresses do.
fn acting_on(place: Place) -> Result<(Place, usize)> {
    let first = Place { device: 0, ..place };
    let has_own =
        place.device == 0 || MEMORIES.with(place.id(), |memory| Ok(memory.board.has_own))?;
    let nj = match with_board(place, |board| Ok(board.nj))? {
        None => with_board(first, |board| Ok(board.nj))?,
        told => told,
    };
    Ok((if has_own { place } else { first }, nj.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_pipelines_can_be_asked_for() {
        let found = [2, 4, 47, 48, 96, 97, 16384].map(pipelines_with);
        assert_eq!(found, [2, 4, 47, 96, 96, 97, 16384]);
    }

    #[test]
    fn every_memory_has_an_id_of_its_own() {
        for device in [0, 1, 7, (1 << 29) - 1] {
            for memory in [Memory::Plain, Memory::Softened] {
                let place = Place::new(device, memory).unwrap();
                assert_eq!(Place::of(place.id()), place);
            }
        }
        for device in [-1, i32::MIN, 1 << 29, i32::MAX] {
            assert!(Place::new(device, Memory::Plain).is_err());
        }
    }
}
