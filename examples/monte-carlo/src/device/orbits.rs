//! New orbits on a GPU, for runs whose other phases only the processor has. The potential and the stars go there in every step, and
//! the new places come back.

use kirin_device::{Argument, Array, Gpu, Pinned, Plain, Result};

use super::{Kernels, launch};
use crate::partition::BIN;
use crate::potential::{COARSE, Potential};
use crate::random::Stream;
use crate::renewal::Renewal;
use crate::stars::Stars;

/// A transverse velocity that no star has, and with which none is bound. So stars that have left get no place.
const UNBOUND: f64 = 1e150;

/// A column on the device, and what was last sent there or has come back.
struct Column<T> {
    here: Pinned<T>,
    there: Array<T>,
}

impl<T: Plain> Column<T> {
    fn new(gpu: &Gpu, length: usize) -> Result<Self> {
        Ok(Self {
            here: gpu.pinned(length)?,
            there: gpu.zeros(length)?,
        })
    }

    /// Queues a copy of the values to the device; there may be fewer of them than the column has room for.
    fn send(&mut self, values: impl Iterator<Item = T>) -> Result<()> {
        let places = self.here.values_mut()?;
        for (place, value) in places.iter_mut().zip(values) {
            *place = value;
        }
        self.there.upload(&self.here)
    }

    /// Queues a copy back.
    fn fetch(&mut self) -> Result<()> {
        self.there.download(&mut self.here)
    }
}

/// The columns, with room for so many stars.
struct Columns {
    room: usize,
    nodes: Column<[f64; 2]>,
    coarse: Column<[f64; 2]>,
    between: Column<[f64; 2]>,
    radii: Column<f64>,
    id: Column<u64>,
    m: Column<f64>,
    vr: Column<f64>,
    vt: Column<f64>,
    to: Column<f64>,
    climb: Column<f64>,
    streams: Column<[u32; 4]>,
    orbits: Array<[u64; 4]>,
    unbound: Array<i32>,
}

impl Columns {
    fn new(gpu: &Gpu, room: usize) -> Result<Self> {
        Ok(Self {
            room,
            nodes: Column::new(gpu, room + 1)?,
            coarse: Column::new(gpu, room / COARSE + 1)?,
            between: Column::new(gpu, room + 1)?,
            radii: Column::new(gpu, room)?,
            id: Column::new(gpu, room)?,
            m: Column::new(gpu, room)?,
            vr: Column::new(gpu, room)?,
            vt: Column::new(gpu, room)?,
            to: Column::new(gpu, room)?,
            climb: Column::new(gpu, room)?,
            streams: Column::new(gpu, room.div_ceil(BIN))?,
            orbits: gpu.zeros(room)?,
            unbound: gpu.zeros(1)?,
        })
    }
}

/// A GPU that finds orbits.
pub struct OrbitsOnDevice {
    columns: Columns,
    kernels: Kernels,
    gpu: Gpu,
}

impl OrbitsOnDevice {
    /// With room for so many stars at first.
    ///
    /// # Errors
    ///
    /// The GPU has no room, or fails.
    pub fn new(gpu: Gpu, room: usize) -> Result<Self> {
        Ok(Self {
            columns: Columns::new(&gpu, room)?,
            kernels: Kernels::load(&gpu)?,
            gpu,
        })
    }

    /// The number of the device and its name.
    pub fn device(&self) -> (usize, &str) {
        self.gpu.device()
    }

    /// Phase 5 for all stars of the cluster, as [`orbit::of_group`](crate::orbit::of_group) has it, with the same bits.
    ///
    /// # Errors
    ///
    /// The device failed; then nothing has changed.
    pub fn move_stars(
        &mut self,
        potential: &Potential,
        radii: &[f64],
        renewal: &Renewal,
        stars: &mut Stars,
        streams: &mut [Stream],
    ) -> Result<()> {
        let n = stars.len();
        if n > self.columns.room {
            // Binaries that are dissolved make more stars.
            self.columns = Columns::new(&self.gpu, n + n / 16)?;
        }
        self.send(potential, radii, stars, streams)?;
        self.launch(n, renewal)?;
        let Columns {
            vr,
            vt,
            to,
            climb,
            streams: drawn,
            ..
        } = &mut self.columns;
        for column in [&mut *vr, &mut *vt, &mut *to, &mut *climb] {
            column.fetch()?;
        }
        drawn.fetch()?;
        let (vr, vt, to, climb) = (
            vr.here.values()?,
            vt.here.values()?,
            to.here.values()?,
            climb.here.values()?,
        );
        for (stream, registers) in streams.iter_mut().zip(drawn.here.values()?) {
            *stream = Stream::of_registers(*registers);
        }
        for k in 0..n {
            if stars.r[k].is_infinite() {
                continue;
            }
            stars.start[k] = stars.r[k];
            if stars.m[k] == 0.0 {
                (stars.r[k], stars.climb[k]) = (f64::INFINITY, 0.0);
                continue;
            }
            (stars.r[k], stars.climb[k]) = (to[k], climb[k]);
            (stars.vr[k], stars.vt[k]) = (vr[k], vt[k]);
        }
        Ok(())
    }

    fn send(
        &mut self,
        potential: &Potential,
        radii: &[f64],
        stars: &Stars,
        streams: &[Stream],
    ) -> Result<()> {
        let Potential {
            nodes,
            coarse,
            between,
            ..
        } = potential;
        let columns = &mut self.columns;
        columns
            .nodes
            .send(nodes.iter().map(|node| [node.u, node.phi]))?;
        columns
            .coarse
            .send(coarse.iter().map(|node| [node.u, node.phi]))?;
        columns
            .between
            .send(between.iter().map(|b| [b.inside, b.outside]))?;
        columns.radii.send(radii.iter().copied())?;
        columns.id.send(stars.id.iter().copied())?;
        columns.m.send(stars.m.iter().copied())?;
        columns.vr.send(stars.vr.iter().copied())?;
        let Stars { m, r, vt, .. } = stars;
        let rows = m.iter().zip(r).zip(vt);
        columns
            .vt
            .send(rows.map(|((m, r), vt)| match *m == 0.0 || r.is_infinite() {
                true => UNBOUND,
                false => *vt,
            }))?;
        columns.streams.send(streams.iter().map(Stream::registers))
    }

    fn launch(&self, n: usize, renewal: &Renewal) -> Result<()> {
        let columns = &self.columns;
        let new = NewOrbits {
            nodes: &columns.nodes.there,
            coarse: &columns.coarse.there,
            between: &columns.between.there,
            radii: &columns.radii.there,
            id: &columns.id.there,
            m: &columns.m.there,
            vr: &columns.vr.there,
            vt: &columns.vt.there,
            to: &columns.to.there,
            climb: &columns.climb.there,
            streams: &columns.streams.there,
            orbits: &columns.orbits,
            unbound: &columns.unbound,
        };
        // SAFETY: the columns have room for n stars, and each bin has a stream.
        unsafe { new.find(&self.gpu, &self.kernels, n, renewal) }
    }
}

/// What the kernels of phase 5 read and write.
pub(super) struct NewOrbits<'a> {
    pub nodes: &'a Array<[f64; 2]>,
    pub coarse: &'a Array<[f64; 2]>,
    pub between: &'a Array<[f64; 2]>,
    /// Radii of the shells, which are those of the stars.
    pub radii: &'a Array<f64>,
    /// Labels.
    pub id: &'a Array<u64>,
    pub m: &'a Array<f64>,
    pub vr: &'a Array<f64>,
    pub vt: &'a Array<f64>,
    /// New radii.
    pub to: &'a Array<f64>,
    pub climb: &'a Array<f64>,
    pub streams: &'a Array<[u32; 4]>,
    pub orbits: &'a Array<[u64; 4]>,
    /// Counts the stars that are not bound.
    pub unbound: &'a Array<i32>,
}

impl NewOrbits<'_> {
    /// Queues the search for the orbits of `n` stars and for places on them.
    ///
    /// # Safety
    ///
    /// The columns have room for n stars (`nodes` and `between` for one more), and each bin has a stream.
    pub unsafe fn find(
        &self,
        gpu: &Gpu,
        kernels: &Kernels,
        n: usize,
        renewal: &Renewal,
    ) -> Result<()> {
        let Self {
            nodes,
            coarse,
            between,
            radii,
            id,
            m,
            vr,
            vt,
            to,
            climb,
            streams,
            orbits,
            unbound,
        } = *self;
        let Renewal {
            part,
            heaviest,
            step,
        } = renewal;
        let count = n as i32;
        // SAFETY: these are the parameters of the kernels, and the caller's promise.
        unsafe {
            let arguments: [&dyn Argument; 16] = [
                orbits, to, climb, unbound, id, m, radii, vr, vt, nodes, coarse, between, &count,
                part, heaviest, step,
            ];
            launch(gpu, n, &kernels.find_orbits, n, &arguments)?;
            let arguments: [&dyn Argument; 11] = [
                streams, orbits, to, climb, vr, vt, m, radii, nodes, between, &count,
            ];
            launch(gpu, n, &kernels.find_places, n.div_ceil(BIN), &arguments)
        }
    }
}
