//! The stars on a GPU, with the phases of a step there (`kernels/`). All sums have the order of the processor's, and the
//! phases need no function but the square root, which both round correctly: so the bits are the same.

mod orbits;
mod phases;

pub use orbits::OrbitsOnDevice;

use std::time::Duration;

use kirin_device::{Argument, Array, Failure, Gpu, Kernel, Result, ptx};

use crate::diagnostics::{FRACTIONS, SUMMED};
use crate::partition::BIN;
use crate::potential::{COARSE, RUN, RUNS};
use crate::random::Stream;
use crate::stars::Stars;

/// Threads of a thread block, where a kernel has no number of its own.
const THREADS: usize = 128;

/// Keys that a thread block sorts in shared memory, and its threads: TILE and THREADS in `sort.cu`.
const TILE: usize = 2048;
const TILE_THREADS: usize = 512;

/// Nanoseconds a star in which a kernel should be over, many times what it takes.
const PATIENCE: u64 = 20;

/// Sums that a thread block joins: LEAVES in `step.cu`.
const LEAVES: usize = 512;

macro_rules! kernels {
    ($($module:literal: $($name:ident)*;)*) => {
        /// The kernels, as their sources name them.
        struct Kernels {
            $($($name: Kernel,)*)*
        }

        impl Kernels {
            fn load(gpu: &Gpu) -> Result<Self> {
                $(
                    let module = gpu.module(ptx!($module))?;
                    $(let $name = module.kernel(stringify!($name))?;)*
                )*
                Ok(Self { $($($name,)*)* })
            }
        }
    };
}

kernels! {
    "step": sum_runs sum_blocks add_blocks fill_potential bin_moments least_relaxation relax find_orbits find_places
        keep strip correct pay scale_velocities diagnose join summarize list_leaving;
    "sort": make_keys sort_tiles merge_far take;
}

/// Starts a kernel of a cluster of `n` stars, with a thread for each of `count` things.
///
/// # Safety
///
/// That of [`Gpu::launch`].
unsafe fn launch(
    gpu: &Gpu,
    n: usize,
    kernel: &Kernel,
    count: usize,
    arguments: &[&dyn Argument],
) -> Result<()> {
    gpu.plan(Duration::from_nanos(PATIENCE * n as u64));
    // SAFETY: the caller's promise.
    unsafe { gpu.launch(kernel, count.div_ceil(THREADS), THREADS, arguments) }
}

/// The columns of [`Stars`].
struct Columns {
    id: Array<u64>,
    m: Array<f64>,
    r: Array<f64>,
    vr: Array<f64>,
    vt: Array<f64>,
    start: Array<f64>,
    climb: Array<f64>,
}

impl Columns {
    fn new(gpu: &Gpu, n: usize) -> Result<Self> {
        Ok(Self {
            id: gpu.zeros(n)?,
            m: gpu.zeros(n)?,
            r: gpu.zeros(n)?,
            vr: gpu.zeros(n)?,
            vt: gpu.zeros(n)?,
            start: gpu.zeros(n)?,
            climb: gpu.zeros(n)?,
        })
    }

    /// In the order of [`Stars::columns`].
    fn numbers(&self) -> [&Array<f64>; 6] {
        [
            &self.m,
            &self.r,
            &self.vr,
            &self.vt,
            &self.start,
            &self.climb,
        ]
    }
}

/// The potential: see [`Potential`](crate::potential::Potential).
struct Shells {
    nodes: Array<[f64; 2]>,
    coarse: Array<[f64; 2]>,
    between: Array<[f64; 2]>,
    runs: Array<[f64; 2]>,
    blocks: Array<[f64; 2]>,
}

/// A star that has left in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaver {
    /// Label.
    pub id: u64,
    /// Mass.
    pub m: f64,
    /// Radius from which it left.
    pub start: f64,
    /// v^2 there.
    pub v2: f64,
    /// Potential of the others there, before anybody left.
    pub phi: f64,
    /// Potential of the others there, after all have left.
    pub there: f64,
}

/// Stars on a GPU.
pub struct StarsOnDevice {
    gpu: Gpu,
    kernels: Kernels,
    /// Number of stars, and of those that left in the last step, which stand behind them.
    n: usize,
    left: usize,
    stars: Columns,
    /// Where a sort writes.
    sorted: Columns,
    /// New radii, not sorted yet.
    to: Array<f64>,
    streams: Array<[u32; 4]>,
    kept_streams: Array<[u32; 4]>,
    shells: Shells,
    orbits: Array<[u64; 4]>,
    keys: Array<u64>,
    places: Array<i32>,
    /// Numbers of each bin, and their sums on the way to the total.
    bins: Array<[f64; SUMMED]>,
    joined: [Array<[f64; SUMMED]>; 2],
    total: Array<[f64; SUMMED]>,
    least: Array<[u64; 3]>,
    counted: Array<i32>,
    fractions: Array<f64>,
    summary: Array<[f64; 3 + FRACTIONS.len()]>,
    mass: f64,
}

impl StarsOnDevice {
    /// Brings sorted stars and the random numbers of their bins to a GPU.
    ///
    /// # Errors
    ///
    /// The GPU has no room, or fails.
    pub fn new(gpu: Gpu, stars: &Stars, streams: &[Stream]) -> Result<Self> {
        let n = stars.len();
        i32::try_from(padded(n)).map_err(|_| Failure::new(format!("{n} stars are too many")))?;
        let (bins, runs) = (n.div_ceil(BIN), n.div_ceil(RUN));
        let registers: Vec<[u32; 4]> = streams.iter().map(Stream::registers).collect();
        let mut device = Self {
            kernels: Kernels::load(&gpu)?,
            n,
            left: 0,
            stars: Columns::new(&gpu, n)?,
            sorted: Columns::new(&gpu, n)?,
            to: gpu.zeros(n)?,
            kept_streams: gpu.zeros(registers.len())?,
            streams: gpu.array(&registers)?,
            shells: Shells {
                nodes: gpu.zeros(n + 1)?,
                coarse: gpu.zeros(n / COARSE + 1)?,
                between: gpu.zeros(n + 1)?,
                runs: gpu.zeros(runs)?,
                blocks: gpu.zeros(runs.div_ceil(RUNS))?,
            },
            orbits: gpu.zeros(n)?,
            keys: gpu.zeros(padded(n))?,
            places: gpu.zeros(padded(n))?,
            bins: gpu.zeros(bins)?,
            joined: [
                gpu.zeros(bins.div_ceil(LEAVES))?,
                gpu.zeros(bins.div_ceil(LEAVES * LEAVES))?,
            ],
            total: gpu.zeros(1)?,
            least: gpu.zeros(1)?,
            counted: gpu.zeros(1)?,
            fractions: gpu.array(&FRACTIONS)?,
            summary: gpu.zeros(1)?,
            mass: 0.0,
            gpu,
        };
        let Stars {
            id,
            m,
            r,
            vr,
            vt,
            start,
            climb,
        } = stars;
        device.stars.id.copy_from(id)?;
        let columns = [m, r, vr, vt, start, climb];
        for (array, column) in device.stars.numbers().into_iter().zip(columns) {
            array.copy_from(column)?;
        }
        device.update_potential()?;
        device.diagnose()?;
        Ok(device)
    }

    /// The number of the device and its name.
    pub fn device(&self) -> (usize, &str) {
        self.gpu.device()
    }

    /// Number of stars.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Mass of the stars, when they were [diagnosed](Self::diagnose).
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Waits until all phases so far are done.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn wait(&self) -> Result<()> {
        self.gpu.wait()
    }

    /// Brings back the stars and the random numbers.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn fetch(&self, stars: &mut Stars, streams: &mut Vec<Stream>) -> Result<()> {
        stars.id.resize(self.stars.id.len(), 0);
        self.stars.id.copy_to(&mut stars.id)?;
        stars.id.truncate(self.n);
        for (array, column) in self.stars.numbers().into_iter().zip(stars.columns()) {
            column.resize(array.len(), 0.0);
            array.copy_to(column)?;
            column.truncate(self.n);
        }
        let mut registers = vec![[0; 4]; self.streams.len()];
        self.streams.copy_to(&mut registers)?;
        streams.clear();
        let of_bins = &registers[..self.n.div_ceil(BIN)];
        streams.extend(of_bins.iter().copied().map(Stream::of_registers));
        Ok(())
    }
}

/// Keys of a sort of so many stars: a power of two, and whole tiles.
fn padded(n: usize) -> usize {
    n.next_power_of_two().max(TILE)
}
