//! The galaxy's field on a GPU: the same bits as on the processor.
//!
//! The stars' positions go to the GPU before the library sums over the pairs, and the field comes back while it does.
//! What the kernel computes is told by [`kirin_kit::galaxy::words`].

use std::ffi::CStr;

use kirin_device::{Argument, Array, Failure, Gpu, Kernel, Pinned, Result};
use kirin_kit::galaxy::words::{ABOUT, PART, PTX, Part, Words};
use kirin_kit::galaxy::{Galaxy, Moment};
use kirin_kit::vector::Vec3;

use crate::phase_space::PhaseSpace;

/// Threads of a thread block.
const THREADS: usize = 128;

/// A galaxy in the memory of a GPU, with the kernel that computes its field.
pub struct GalaxyOnDevice {
    kernel: Kernel,
    /// The galaxy as it was sent last.
    known: Words,
    sent_about: Pinned<[u64; ABOUT]>,
    about: Array<[u64; ABOUT]>,
    sent_parts: Pinned<Part>,
    parts: Array<[u64; PART]>,
    table: Array<f64>,
}

impl GalaxyOnDevice {
    /// Room for `galaxy`, which has the parts of `moment`, on `gpu`.
    ///
    /// # Errors
    ///
    /// There is no room, or the galaxy has a potential from a file.
    pub fn new(gpu: &Gpu, galaxy: &Galaxy, moment: &Moment) -> std::result::Result<Self, String> {
        let words = moment.words().ok_or(
            "the potential of a file is computed on the processor: there is no formula for a GPU",
        )?;
        let ptx = CStr::from_bytes_with_nul(PTX.as_bytes()).map_err(|e| e.to_string())?;
        let parts = words.parts.len();
        Ok(Self {
            kernel: gpu.module(ptx)?.kernel("galaxy")?,
            known: Words::default(),
            sent_about: gpu.pinned(1)?,
            about: gpu.zeros(1)?,
            sent_parts: gpu.pinned(parts)?,
            parts: gpu.zeros(parts)?,
            table: gpu.array(&galaxy.model.table())?,
        })
    }

    /// Queues the field of the galaxy at one time: the accelerations of stars at these `positions`, and with `changes` the
    /// changes of their potentials.
    ///
    /// # Errors
    ///
    /// The device fails, or the arrays have different lengths.
    pub fn launch(
        &mut self,
        gpu: &Gpu,
        galaxy: &Moment,
        changes: bool,
        (positions, accelerations, potentials): (&Array<Vec3>, &Array<Vec3>, &Array<f64>),
    ) -> Result<()> {
        let length = positions.len();
        if accelerations.len() != length || potentials.len() != length {
            return Err(Failure::new("arrays of different lengths"));
        }
        let n = i32::try_from(length).map_err(|e| Failure::new(e.to_string()))?;
        let words = galaxy.words().unwrap_or_default();
        if words != self.known {
            self.send(&words)?;
            self.known = words;
        }
        let flag = i32::from(changes);
        let arguments: [&dyn Argument; 8] = [
            accelerations,
            potentials,
            positions,
            &self.about,
            &self.parts,
            &self.table,
            &flag,
            &n,
        ];
        // SAFETY: these are the parameters of the kernel. The arrays of stars have n elements; the table is that of the model, and
        // the galaxy has no more parts than it had when the arrays were made.
        unsafe { gpu.launch(&self.kernel, length.div_ceil(THREADS), THREADS, &arguments) }
    }

    /// Sends the galaxy as it is at one time.
    fn send(&mut self, words: &Words) -> Result<()> {
        if words.parts.len() != self.parts.len() {
            return Err(Failure::new("the galaxy has other parts than at the start"));
        }
        self.sent_about.values_mut()?[0] = words.about;
        self.about.upload(&self.sent_about)?;
        self.sent_parts.values_mut()?.copy_from_slice(&words.parts);
        self.parts.upload(&self.sent_parts)
    }
}

/// The field of a galaxy on a GPU, for stars that are on the host.
pub struct FieldOnDevice {
    gpu: Gpu,
    galaxy: GalaxyOnDevice,
    /// Positions, on the way and there.
    sent: Pinned<Vec3>,
    positions: Array<Vec3>,
    /// Accelerations and changes of the potential, there and on the way.
    accelerations: Array<Vec3>,
    changes: Array<f64>,
    received: Pinned<Vec3>,
    received_changes: Pinned<f64>,
}

impl FieldOnDevice {
    /// Room for `n` stars in `galaxy`.
    ///
    /// # Errors
    ///
    /// There is no GPU that can be used or no room on it, or the galaxy has a potential from a file.
    pub fn new(galaxy: &Galaxy, moment: &Moment, n: usize) -> std::result::Result<Self, String> {
        let gpu = Gpu::open()?;
        Ok(Self {
            galaxy: GalaxyOnDevice::new(&gpu, galaxy, moment)?,
            sent: gpu.pinned(n)?,
            positions: gpu.zeros(n)?,
            accelerations: gpu.zeros(n)?,
            changes: gpu.zeros(n)?,
            received: gpu.pinned(n)?,
            received_changes: gpu.pinned(n)?,
            gpu,
        })
    }

    /// The number of the device and its name.
    pub fn device(&self) -> (usize, &str) {
        self.gpu.device()
    }

    /// Begins to compute the field of the galaxy at one time.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn start(&mut self, galaxy: &Moment, changes: bool, state: &PhaseSpace) -> Result<()> {
        for (i, x) in self.sent.values_mut()?.iter_mut().enumerate() {
            *x = state.position(i);
        }
        self.positions.upload(&self.sent)?;
        let arrays = (&self.positions, &self.accelerations, &self.changes);
        self.galaxy.launch(&self.gpu, galaxy, changes, arrays)?;
        if changes {
            self.changes.download(&mut self.received_changes)?;
        }
        self.accelerations.download(&mut self.received)
    }

    /// Waits for the field: the accelerations, and the changes of the potential where the galaxy changes.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn finish(&self) -> Result<(&[Vec3], &[f64])> {
        Ok((self.received.values()?, self.received_changes.values()?))
    }
}
