//! The stars on a GPU, with the phases of a step there (`kernels/`). All sums have the order of the processor's, and the
//! phases need no function but the square root, which both round correctly: so the bits are the same.

use kirin_device::{Argument, Array, Failure, Gpu, Kernel, Result, ptx};

use crate::diagnostics::{Diagnostics, FRACTIONS, SUMMED};
use crate::partition::BIN;
use crate::potential::{COARSE, RUN, RUNS};
use crate::random::Stream;
use crate::stars::Stars;

/// Threads of a thread block, where a kernel has no number of its own.
const THREADS: usize = 128;

/// Keys that a thread block sorts in shared memory, and its threads: TILE and THREADS in `sort.cu`.
const TILE: usize = 2048;
const TILE_THREADS: usize = 512;

/// Sums that a thread block joins: LEAVES in `step.cu`.
const LEAVES: usize = 512;

/// Nanoseconds a star in which a step should be over, many times what it takes.
const PATIENCE: u64 = 100;

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
        correct pay scale_velocities diagnose join summarize list_leaving;
    "sort": make_keys sort_tiles merge_far take;
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
    shells: Shells,
    orbits: Array<[u64; 4]>,
    keys: Array<u64>,
    places: Array<i32>,
    /// Numbers of each bin, and their sums on the way to the total.
    bins: Array<[f64; SUMMED]>,
    joined: [Array<[f64; SUMMED]>; 2],
    total: Array<[f64; SUMMED]>,
    least: Array<u64>,
    leaving: Array<i32>,
    fractions: Array<f64>,
    summary: Array<[f64; 2 + FRACTIONS.len()]>,
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
        let device = Self {
            kernels: Kernels::load(&gpu)?,
            n,
            left: 0,
            stars: Columns::new(&gpu, n)?,
            sorted: Columns::new(&gpu, n)?,
            to: gpu.zeros(n)?,
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
            leaving: gpu.zeros(1)?,
            fractions: gpu.array(&FRACTIONS)?,
            summary: gpu.zeros(1)?,
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
        device.gpu.wait()?;
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

    /// A kernel with a thread for each of so many things.
    ///
    /// # Safety
    ///
    /// That of [`Gpu::launch`].
    unsafe fn launch(
        &self,
        kernel: &Kernel,
        count: usize,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            self.gpu
                .launch(kernel, count.div_ceil(THREADS), THREADS, arguments)
        }
    }

    /// The number of stars as kernels take it; [`new`](Self::new) has seen that it fits.
    fn count(&self) -> i32 {
        self.n as i32
    }

    /// Phase 1.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn update_potential(&self) -> Result<()> {
        let Self {
            kernels,
            stars,
            shells,
            ..
        } = self;
        let Shells {
            nodes,
            coarse,
            between,
            runs,
            blocks,
        } = shells;
        let n = self.count();
        let of_runs = self.n.div_ceil(RUN);
        let of_blocks = of_runs.div_ceil(RUNS);
        let [run_count, block_count] = [of_runs, of_blocks].map(|count| count as i32);
        // SAFETY: these are the parameters of the kernels; the arrays have room for the stars at the start, of which there are
        // no more now.
        unsafe {
            let arguments: [&dyn Argument; 4] = [runs, &stars.m, &stars.r, &n];
            self.launch(&kernels.sum_runs, of_runs, &arguments)?;
            let arguments: [&dyn Argument; 3] = [blocks, runs, &run_count];
            self.launch(&kernels.sum_blocks, of_blocks, &arguments)?;
            let arguments: [&dyn Argument; 5] = [blocks, nodes, coarse, between, &block_count];
            self.gpu.launch(&kernels.add_blocks, 1, 64, &arguments)?;
            let arguments: [&dyn Argument; 8] =
                [nodes, coarse, between, blocks, runs, &stars.m, &stars.r, &n];
            self.launch(&kernels.fill_potential, of_runs, &arguments)
        }
    }

    /// Phase 2: the least relaxation time of all whole bins. `angle` is the factor of equation 7 that has theta_max.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn least_relaxation(&self, angle: f64, coulomb: f64) -> Result<f64> {
        self.gpu
            .plan(std::time::Duration::from_nanos(PATIENCE * self.n as u64));
        let Columns { m, r, vr, vt, .. } = &self.stars;
        let (moments, least, bins) = (&self.bins, &self.least, self.n / BIN);
        let (count, root_pi) = (bins as i32, std::f64::consts::PI.sqrt());
        // SAFETY: these are the parameters of the kernels; `bins` has five numbers for each bin.
        unsafe {
            let arguments: [&dyn Argument; 6] = [moments, least, m, vr, vt, &count];
            self.launch(&self.kernels.bin_moments, bins, &arguments)?;
            let arguments: [&dyn Argument; 7] =
                [least, moments, r, &count, &angle, &coulomb, &root_pi];
            self.launch(&self.kernels.least_relaxation, bins, &arguments)?;
        }
        let mut bits = [0];
        least.copy_to(&mut bits)?;
        Ok(f64::from_bits(bits[0]))
    }

    /// Phase 3.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn relax(&self, coulomb: f64, dt: f64, encounters: u32) -> Result<()> {
        let Columns { m, r, vr, vt, .. } = &self.stars;
        let (n, encounters) = (self.count(), encounters as i32);
        let arguments: [&dyn Argument; 9] =
            [&self.streams, vr, vt, m, r, &n, &coulomb, &dt, &encounters];
        // SAFETY: these are the parameters of the kernel; each bin has a stream.
        unsafe { self.launch(&self.kernels.relax, self.n.div_ceil(BIN), &arguments) }
    }

    /// Phase 5: new radii and velocities, not sorted yet.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn move_stars(&mut self) -> Result<()> {
        self.leaving.copy_from(&[0])?;
        let Self {
            kernels,
            stars,
            streams,
            orbits,
            to,
            leaving,
            ..
        } = &*self;
        let Columns {
            m,
            r,
            vr,
            vt,
            climb,
            ..
        } = stars;
        let Shells {
            nodes,
            coarse,
            between,
            ..
        } = &self.shells;
        let n = self.count();
        // SAFETY: these are the parameters of the kernels; each bin has a stream.
        unsafe {
            let arguments: [&dyn Argument; 12] = [
                orbits, to, climb, leaving, m, r, vr, vt, nodes, coarse, between, &n,
            ];
            self.launch(&kernels.find_orbits, self.n, &arguments)?;
            let arguments: [&dyn Argument; 11] =
                [streams, orbits, to, climb, vr, vt, m, r, nodes, between, &n];
            self.launch(&kernels.find_places, self.n.div_ceil(BIN), &arguments)?;
        }
        let mut left = [0];
        leaving.copy_to(&mut left)?;
        self.left = usize::try_from(left[0]).unwrap_or_default();
        Ok(())
    }

    /// Phase 6: the order of the new radii. Stars that have left stand behind the others.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn sort(&mut self) -> Result<()> {
        let Self {
            kernels,
            keys,
            places,
            stars,
            sorted,
            ..
        } = &*self;
        let (n, all) = (self.count(), padded(self.n));
        // SAFETY: these are the parameters of the kernels. The arrays of keys and places have room for `all`, a power of two
        // that is a multiple of the tile and of the threads.
        unsafe {
            let arguments: [&dyn Argument; 4] = [keys, places, &self.to, &n];
            self.launch(&kernels.make_keys, all, &arguments)?;
            let (tiles, mut size) = (all / TILE, 0_i32);
            let whole: [&dyn Argument; 4] = [keys, places, &stars.id, &size];
            self.gpu
                .launch(&kernels.sort_tiles, tiles, TILE_THREADS, &whole)?;
            size = TILE as i32;
            while (size as usize) < all {
                size *= 2;
                let mut stride = size / 2;
                while stride as usize >= TILE {
                    let arguments: [&dyn Argument; 5] = [keys, places, &stars.id, &size, &stride];
                    self.launch(&kernels.merge_far, all / 2, &arguments)?;
                    stride /= 2;
                }
                let rest: [&dyn Argument; 4] = [keys, places, &stars.id, &size];
                self.gpu
                    .launch(&kernels.sort_tiles, tiles, TILE_THREADS, &rest)?;
            }
            // The old radius is where the star starts.
            let arguments: [&dyn Argument; 16] = [
                &sorted.id,
                &sorted.m,
                &sorted.r,
                &sorted.vr,
                &sorted.vt,
                &sorted.start,
                &sorted.climb,
                &stars.id,
                &stars.m,
                &self.to,
                &stars.vr,
                &stars.vt,
                &stars.r,
                &stars.climb,
                places,
                &n,
            ];
            self.launch(&kernels.take, self.n, &arguments)?;
        }
        std::mem::swap(&mut self.stars, &mut self.sorted);
        self.n -= self.left;
        Ok(())
    }

    /// The stars that have left in this step, by label. To be called when the potential is that of the others.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn leavers(&self) -> Result<Vec<Leaver>> {
        let mut rows = vec![[0; 6]; self.left];
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let list = self.gpu.zeros::<[u64; 6]>(self.left)?;
        let Columns {
            id,
            m,
            r,
            vr,
            vt,
            start,
            climb,
        } = &self.stars;
        let (n, count) = (self.count(), self.left as i32);
        let arguments: [&dyn Argument; 11] = [
            &list,
            id,
            m,
            vr,
            vt,
            start,
            climb,
            r,
            &self.shells.between,
            &n,
            &count,
        ];
        // SAFETY: these are the parameters of the kernel; so many stars stand behind the n.
        unsafe { self.launch(&self.kernels.list_leaving, self.left, &arguments)? };
        list.copy_to(&mut rows)?;
        let leaver = |[id, numbers @ ..]: [u64; 6]| {
            let [m, start, v2, phi, there] = numbers.map(f64::from_bits);
            Leaver {
                id,
                m,
                start,
                v2,
                phi,
                there,
            }
        };
        Ok(rows.into_iter().map(leaver).collect())
    }

    /// Energy correction (phase 7). The answer is what no bin could pay.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn correct(&self) -> Result<f64> {
        let Columns {
            m,
            r,
            vr,
            vt,
            start,
            climb,
            ..
        } = &self.stars;
        let Shells { nodes, between, .. } = &self.shells;
        // Between two sorts this column is free.
        let (squares, n) = (&self.sorted.r, self.count());
        let arguments: [&dyn Argument; 10] =
            [squares, m, r, vr, vt, start, climb, nodes, between, &n];
        // SAFETY: these are the parameters of the kernels; `bins` has a number for each bin.
        unsafe {
            self.launch(&self.kernels.correct, self.n, &arguments)?;
            let arguments: [&dyn Argument; 6] = [&self.bins, vr, vt, m, squares, &n];
            self.launch(&self.kernels.pay, self.n.div_ceil(BIN), &arguments)?;
        }
        self.join(1)?;
        let mut total = [[0.0; SUMMED]];
        self.total.copy_to(&mut total)?;
        Ok(total[0][0])
    }

    /// Joins the sums of the bins, each of so many numbers, to the total.
    fn join(&self, width: i32) -> Result<()> {
        let mut count = self.n.div_ceil(BIN);
        let mut from = &self.bins;
        for to in self.joined.iter().chain([&self.total]) {
            let blocks = count.div_ceil(LEAVES);
            let to = if blocks == 1 { &self.total } else { to };
            let of = count as i32;
            let arguments: [&dyn Argument; 4] = [to, from, &of, &width];
            // SAFETY: these are the parameters of the kernel; the arrays have as many sums as are left at each level.
            unsafe {
                self.gpu
                    .launch(&self.kernels.join, blocks, LEAVES / 2, &arguments)?;
            }
            if blocks == 1 {
                break;
            }
            (from, count) = (to, blocks);
        }
        Ok(())
    }

    /// Multiplies all velocities.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn scale_velocities(&self, factor: f64) -> Result<()> {
        let Columns { vr, vt, .. } = &self.stars;
        let n = self.count();
        let arguments: [&dyn Argument; 4] = [vr, vt, &factor, &n];
        // SAFETY: these are the parameters of the kernel.
        unsafe { self.launch(&self.kernels.scale_velocities, self.n, &arguments) }
    }

    /// Diagnostics (phase 7).
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn diagnose(&self) -> Result<Diagnostics> {
        let Columns { m, r, vr, vt, .. } = &self.stars;
        let Shells { nodes, between, .. } = &self.shells;
        let n = self.count();
        let arguments: [&dyn Argument; 8] = [&self.bins, m, r, vr, vt, nodes, between, &n];
        // SAFETY: these are the parameters of the kernels; `bins` has five numbers for each bin.
        unsafe { self.launch(&self.kernels.diagnose, self.n.div_ceil(BIN), &arguments)? };
        self.join(SUMMED as i32)?;
        let arguments: [&dyn Argument; 6] =
            [&self.summary, &self.total, &self.fractions, r, between, &n];
        // SAFETY: as above; a thread for each of the fractions, and one more.
        unsafe {
            self.gpu
                .launch(&self.kernels.summarize, 1, 32, &arguments)?;
        }
        let (mut total, mut summary) = ([[0.0; SUMMED]], [[0.0; 2 + FRACTIONS.len()]]);
        self.total.copy_to(&mut total)?;
        self.summary.copy_to(&mut summary)?;
        let [kinetic, potential, densities, _, squares] = total[0];
        let [core_radius, core_stars, radii @ ..] = summary[0];
        Ok(Diagnostics {
            kinetic,
            potential,
            core_radius,
            core_density: squares / densities,
            core_stars: core_stars as usize,
            radii,
        })
    }
}

/// Keys of a sort of so many stars: a power of two, and whole tiles.
fn padded(n: usize) -> usize {
    n.next_power_of_two().max(TILE)
}
