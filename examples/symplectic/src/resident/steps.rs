//! Whole steps on a GPU, with the kernels of `kernels/steps.cu`. Stars come back when somebody looks at them.
//!
//! A force takes four kernels: `pairs`, `galaxy` of the kit, `join` and `total`. `advance` kicks and drifts; the last kick of
//! a step waits for the first one of the next, which uses the same forces.

use std::time::Duration;

use kirin_device::{Argument, Array, Failure, Gpu, Kernel, Pinned, Result};
use kirin_kit::galaxy::{Galaxy, Moment};
use kirin_kit::sum::Sum;
use kirin_kit::vector::Vec3;

use super::{STARS, mass, part};
use crate::device::GalaxyOnDevice;
use crate::torque::Balance;

/// Threads of a thread block of `pairs` and `advance`.
const THREADS: usize = 128;

/// Sums over all stars: mean acceleration, torque, change of the energy.
const TOTALS: usize = 7;

/// Time integrals of the torque and of the change of the energy, each a sum and what it has lost.
const BALANCE: usize = 8;

/// What a GPU sums at least, for the time after which it is given up.
const PAIRS_PER_SECOND: f64 = 2e10;

/// Threads of the thread block of `total`.
const WARP: usize = 32;

struct Kernels {
    pairs: Kernel,
    join: Kernel,
    total: Kernel,
    advance: Kernel,
}

/// What the stars look like when they come back.
pub struct Seen<'a> {
    /// Positions.
    pub x: &'a [Vec3],
    /// Velocities.
    pub v: &'a [Vec3],
    /// Potentials, by the other stars.
    pub pot: &'a [f64],
    /// Integral of the torque, in the order of [`Balance::impulse`].
    pub impulse: [Sum; 3],
    /// The energy by changes of the galaxy.
    pub gain: Sum,
}

/// Stars on a GPU.
pub struct Resident {
    gpu: Gpu,
    kernels: Kernels,
    /// The galaxy, if there is one, and whether it changes with time.
    galaxy: Option<GalaxyOnDevice>,
    changes: bool,
    eps2: f64,
    mass: f64,
    masses: Array<f64>,
    positions: Array<Vec3>,
    velocities: Array<Vec3>,
    balance: Array<f64>,
    /// The last forces: of the pairs, of the galaxy, and sums over all stars.
    acc: Array<Vec3>,
    pot: Array<f64>,
    external: Array<Vec3>,
    of_galaxy: Array<f64>,
    partial: Array<f64>,
    sums: Array<f64>,
    totals: Array<f64>,
    /// How many forces were no finite numbers.
    failed: Array<i32>,
    received: [Pinned<Vec3>; 2],
    received_pot: Pinned<f64>,
    received_balance: Pinned<f64>,
    received_failed: Pinned<i32>,
    /// The kick that the last forces still have to give.
    pending: Option<f64>,
}

impl Resident {
    /// Room on a GPU for stars of these masses in `galaxy`.
    ///
    /// # Errors
    ///
    /// There is no GPU that can be used or no room on it, or the galaxy has a potential from a file.
    pub fn new(
        masses: &[f64],
        eps: f64,
        galaxy: &Galaxy,
        moment: &Moment,
    ) -> std::result::Result<Self, String> {
        let gpu = Gpu::open()?;
        let on_device = match galaxy.is_none() {
            true => None,
            false => Some(GalaxyOnDevice::new(&gpu, galaxy, moment)?),
        };
        let module = gpu.module(kirin_device::ptx!("steps"))?;
        let n = masses.len();
        Ok(Self {
            kernels: Kernels {
                pairs: module.kernel("pairs")?,
                join: module.kernel("join")?,
                total: module.kernel("total")?,
                advance: module.kernel("advance")?,
            },
            galaxy: on_device,
            changes: galaxy.changes(),
            eps2: eps * eps,
            mass: mass(masses),
            masses: gpu.array(masses)?,
            positions: gpu.zeros(n)?,
            velocities: gpu.zeros(n)?,
            balance: gpu.zeros(BALANCE)?,
            acc: gpu.zeros(n)?,
            pot: gpu.zeros(n)?,
            external: gpu.zeros(n)?,
            of_galaxy: gpu.zeros(n)?,
            partial: gpu.zeros(n.div_ceil(part(n)) * 4 * n)?,
            sums: gpu.zeros(TOTALS * n.div_ceil(STARS))?,
            totals: gpu.zeros(TOTALS)?,
            failed: gpu.zeros(1)?,
            received: [gpu.pinned(n)?, gpu.pinned(n)?],
            received_pot: gpu.pinned(n)?,
            received_balance: gpu.pinned(BALANCE)?,
            received_failed: gpu.pinned(1)?,
            pending: None,
            gpu,
        })
    }

    /// The number of the device and its name.
    pub fn device(&self) -> (usize, &str) {
        self.gpu.device()
    }

    /// These are the stars, at a time at which the galaxy is that of `moment`. Computes their forces.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn send(
        &mut self,
        (x, v): (&[Vec3], &[Vec3]),
        balance: &Balance,
        moment: &Moment,
    ) -> Result<()> {
        self.positions.copy_from(x)?;
        self.velocities.copy_from(v)?;
        let sums = balance.impulse.iter().chain([&balance.gain]);
        let numbers: Vec<f64> = sums.flat_map(|sum| [sum.rounded, sum.lost]).collect();
        self.balance.copy_from(&numbers)?;
        self.failed.copy_from(&[0])?;
        self.pending = None;
        self.find_forces(moment)
    }

    /// Queues a kick by the last forces and a drift.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn drift(&mut self, kick: f64, drift: f64) -> Result<()> {
        match self.pending.take() {
            Some(before) => self.advance([before, kick], 2, Some(drift)),
            None => self.advance([kick, 0.0], 1, Some(drift)),
        }
    }

    /// A kick by the last forces, which waits for the next drift.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn kick(&mut self, kick: f64) -> Result<()> {
        match self.pending.replace(kick) {
            Some(before) => self.advance([before, 0.0], 1, None),
            None => Ok(()),
        }
    }

    fn advance(&self, kick: [f64; 2], kicks: i32, drift: Option<f64>) -> Result<()> {
        let [first, second] = kick;
        let (length, drifts) = (drift.unwrap_or(0.0), i32::from(drift.is_some()));
        let (fields, n) = (self.fields(), self.n()?);
        let arguments: [&dyn Argument; 13] = [
            &self.positions,
            &self.velocities,
            &self.balance,
            &self.acc,
            &self.external,
            &self.totals,
            &first,
            &second,
            &length,
            &kicks,
            &drifts,
            &fields,
            &n,
        ];
        // SAFETY: these are the parameters of the kernel, and the arrays have the lengths that it expects for n stars.
        unsafe {
            let blocks = self.masses.len().div_ceil(THREADS);
            self.gpu
                .launch(&self.kernels.advance, blocks, THREADS, &arguments)
        }
    }

    /// Queues the forces at the present positions, in a galaxy as it is at one time.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn find_forces(&mut self, moment: &Moment) -> Result<()> {
        let (n, length) = (self.n()?, self.masses.len());
        let of_part = part(length);
        let parts = length.div_ceil(of_part);
        let number = |n: usize| i32::try_from(n).map_err(|e| Failure::new(e.to_string()));
        let (chunk, count) = (number(of_part)?, number(parts)?);
        let arguments: [&dyn Argument; 6] = [
            &self.partial,
            &self.masses,
            &self.positions,
            &self.eps2,
            &chunk,
            &n,
        ];
        // SAFETY: these are the parameters of the kernel, and the arrays have the lengths that it expects for n stars.
        unsafe {
            let blocks = parts * length.div_ceil(THREADS);
            self.gpu
                .launch(&self.kernels.pairs, blocks, THREADS, &arguments)?;
        }
        let pairs = length as f64 * length as f64;
        (self.gpu).plan(Duration::from_secs_f64(pairs / PAIRS_PER_SECOND));
        if let Some(galaxy) = &mut self.galaxy {
            let arrays = (&self.positions, &self.external, &self.of_galaxy);
            galaxy.launch(&self.gpu, moment, self.changes, arrays)?;
        }
        let fields = self.fields();
        let arguments: [&dyn Argument; 12] = [
            &self.acc,
            &self.pot,
            &self.sums,
            &self.failed,
            &self.partial,
            &self.masses,
            &self.positions,
            &self.external,
            &self.of_galaxy,
            &fields,
            &count,
            &n,
        ];
        let blocks = length.div_ceil(STARS);
        // SAFETY: as above.
        unsafe {
            self.gpu
                .launch(&self.kernels.join, blocks, STARS, &arguments)?;
        }
        let sums = number(blocks)?;
        let arguments: [&dyn Argument; 4] = [&self.totals, &self.sums, &self.mass, &sums];
        // SAFETY: as above.
        unsafe { self.gpu.launch(&self.kernels.total, 1, WARP, &arguments) }
    }

    /// Waits for the stars. `None` if a force was no finite number since they were [sent](Self::send).
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn read(&mut self) -> Result<Option<Seen<'_>>> {
        if let Some(kick) = self.pending.take() {
            self.advance([kick, 0.0], 1, None)?;
        }
        let [x, v] = &mut self.received;
        self.positions.download(x)?;
        self.velocities.download(v)?;
        self.pot.download(&mut self.received_pot)?;
        self.balance.download(&mut self.received_balance)?;
        self.failed.download(&mut self.received_failed)?;
        if self.received_failed.values()? != [0] {
            return Ok(None);
        }
        let sums = self.received_balance.values()?;
        let sum = |k: usize| Sum {
            rounded: sums[2 * k],
            lost: sums[2 * k + 1],
        };
        Ok(Some(Seen {
            x: self.received[0].values()?,
            v: self.received[1].values()?,
            pot: self.received_pot.values()?,
            impulse: [0, 1, 2].map(sum),
            gain: sum(3),
        }))
    }

    /// What the kernels are told of the galaxy: 0 for none, 2 for one that changes.
    fn fields(&self) -> i32 {
        match (&self.galaxy, self.changes) {
            (None, _) => 0,
            (Some(_), false) => 1,
            (Some(_), true) => 2,
        }
    }

    fn n(&self) -> Result<i32> {
        i32::try_from(self.masses.len()).map_err(|e| Failure::new(e.to_string()))
    }
}
