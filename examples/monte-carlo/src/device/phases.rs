//! The phases of a step on a GPU, in the order of [`cluster`](crate::cluster).

use kirin_device::{Argument, Kernel, Result};

use super::orbits::NewOrbits;
use super::{Columns, LEAVES, Leaver, Shells, StarsOnDevice, TILE, TILE_THREADS, padded};
use crate::diagnostics::{Diagnostics, FRACTIONS, SUMMED};
use crate::partition::BIN;
use crate::potential::{RUN, RUNS};
use crate::renewal::Renewal;
use crate::tide::Boundary;

impl StarsOnDevice {
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
        unsafe { super::launch(&self.gpu, self.n, kernel, count, arguments) }
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

    /// Phase 2: the least relaxation times of all whole bins, with the term for friction and without it, and the largest mass in them. `angle` is the
    /// factor of equation 7 that has theta_max.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn least_relaxation(&self, angle: f64, coulomb: f64) -> Result<([f64; 2], f64)> {
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
        let mut bits = [[0; 3]];
        least.copy_to(&mut bits)?;
        let [with, without, heaviest] = bits[0].map(f64::from_bits);
        Ok(([with, without], heaviest))
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

    /// Keeps what [`relax`](Self::relax) changes, for [`restore`](Self::restore). To be called before it where
    /// [`strip`](Self::strip) is called after it.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn keep(&self) -> Result<()> {
        let Columns { vr, vt, .. } = &self.stars;
        let n = self.count();
        // Between two sorts these columns are free.
        let arguments: [&dyn Argument; 7] = [
            &self.kept_streams,
            &self.sorted.vr,
            &self.sorted.vt,
            &self.streams,
            vr,
            vt,
            &n,
        ];
        // SAFETY: these are the parameters of the kernel; there are as many kept streams as streams.
        unsafe { self.launch(&self.kernels.keep, self.n, &arguments) }
    }

    /// The streams and velocities that were kept.
    pub fn restore(&mut self) {
        let (stars, kept) = (&mut self.stars, &mut self.sorted);
        std::mem::swap(&mut stars.vr, &mut kept.vr);
        std::mem::swap(&mut stars.vt, &mut kept.vt);
        std::mem::swap(&mut self.streams, &mut self.kept_streams);
    }

    /// Takes out the stars beyond the tidal boundary. The answer is their mass, and the number of stars that stay.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn strip(&self, boundary: &Boundary) -> Result<(f64, usize)> {
        let (limit, by_energy) = match *boundary {
            Boundary::Radius(radius) => (radius, 0),
            Boundary::Energy(energy) => (energy, 1),
        };
        self.counted.copy_from(&[0])?;
        let Columns { m, r, vr, vt, .. } = &self.stars;
        let Shells { nodes, between, .. } = &self.shells;
        let n = self.count();
        let arguments: [&dyn Argument; 12] = [
            &self.bins,
            &self.counted,
            &self.orbits,
            m,
            r,
            vr,
            vt,
            nodes,
            between,
            &n,
            &limit,
            &by_energy,
        ];
        // SAFETY: these are the parameters of the kernel; `bins` has a number for each bin.
        unsafe { self.launch(&self.kernels.strip, self.n.div_ceil(BIN), &arguments)? };
        Ok((self.total_told()?, self.counted()?))
    }

    /// What the last kernel has counted.
    fn counted(&self) -> Result<usize> {
        let mut counted = [0];
        self.counted.copy_to(&mut counted)?;
        Ok(usize::try_from(counted[0]).unwrap_or_default())
    }

    /// The sum of one number of each bin.
    fn total_told(&self) -> Result<f64> {
        self.join(1)?;
        let mut total = [[0.0; SUMMED]];
        self.total.copy_to(&mut total)?;
        Ok(total[0][0])
    }

    /// Phase 5: new radii and velocities, not sorted yet.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn move_stars(&mut self, renewal: &Renewal) -> Result<()> {
        self.counted.copy_from(&[0])?;
        let Columns {
            id,
            m,
            r,
            vr,
            vt,
            climb,
            ..
        } = &self.stars;
        let Shells {
            nodes,
            coarse,
            between,
            ..
        } = &self.shells;
        let new = NewOrbits {
            nodes,
            coarse,
            between,
            radii: r,
            id,
            m,
            vr,
            vt,
            to: &self.to,
            climb,
            streams: &self.streams,
            orbits: &self.orbits,
            unbound: &self.counted,
        };
        // SAFETY: all columns have room for the stars, and each bin has a stream.
        unsafe { new.find(&self.gpu, &self.kernels, self.n, renewal)? };
        self.left = self.counted()?;
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
        self.total_told()
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
    pub fn diagnose(&mut self) -> Result<Diagnostics> {
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
        let (mut total, mut summary) = ([[0.0; SUMMED]], [[0.0; 3 + FRACTIONS.len()]]);
        self.total.copy_to(&mut total)?;
        self.summary.copy_to(&mut summary)?;
        let [kinetic, potential, densities, _, squares] = total[0];
        let [core_radius, core_stars, mass, radii @ ..] = summary[0];
        self.mass = mass;
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
