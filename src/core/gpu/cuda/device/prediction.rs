//! Brings a device's j-particles to the time of a block: sends those that changed, and predicts.

use super::store::{Prediction, Todo, Ways};
use super::upload::bytes_of;
use super::{Current, DeviceJob, DeviceQueue, Result};
use crate::force::scaling::Scaling;
use crate::gpu::layout::{AdvanceArgs, PageWork};
use crate::gpu::plan::Module;
use crate::process::settings::HostOrDevice;
use crate::sources::jmemory::{CACHED_PAGES, PAGE, Row, Slots};

/// Bytes of changes that are sent in one copy.
const BATCH: usize = 16 << 20;

/// Threads of the kernel `advance`, as in the sources.
const ADVANCE_THREADS: u32 = 512;

/// What is left to do when a block is launched, so that the pages are up to date.
pub enum Advance {
    /// Nothing.
    Nothing,
    /// A launch of the kernel `advance`.
    Launch(AdvanceArgs),
    /// The kernel of the forces does it, with the arguments in [`DeviceQueue::step`].
    InForces,
}

impl DeviceQueue {
    /// Sends changed j-particles and predicts, in batches. The last batch is not sent yet: it stays in the upload, with
    /// `room` bytes left behind it. It is launched together with the block. `may_step` tells whether the kernel of the
    /// forces may predict.
    pub(super) fn advance(
        &mut self,
        current: &Current<'_>,
        job: &DeviceJob<'_>,
        room: usize,
        may_step: bool,
    ) -> Result<Advance> {
        let Scaling { length, velocity } = job.units;
        let stamp = [job.ti.to_bits(), length.to_bits(), velocity.to_bits()];
        let on_host = job.predictor == HostOrDevice::Host;
        let ways = Ways {
            standing: !on_host && self.most_predicted(job.pages) >= job.pages,
            step: may_step,
        };
        let queue = (current, &self.stream);
        let prediction = (self.store).plan(queue, job, stamp, self.precision, ways)?;
        if may_step && self.take_few(job, stamp, &prediction) {
            self.upload.begin(current, room, true)?;
            return Ok(Advance::InForces);
        }
        let Prediction { standing, todo, .. } = prediction;
        if let Some((work, pages)) = standing {
            let args = AdvanceArgs {
                j: self.store.sources(job.units),
                work,
                ti: job.ti,
                pages: pages as u32,
                ..AdvanceArgs::default()
            };
            if todo.is_empty() {
                self.upload.begin(current, room, true)?;
                self.upload.behind();
                return Ok(Advance::Launch(args));
            }
            self.run_advance(current, args)?;
        }
        let most = self.most_predicted(todo.len());
        let mut rest = &todo[..];
        loop {
            let (batch, after, bytes) = split_batch(rest, most, on_host);
            let is_last = after.is_empty();
            let bytes = bytes + if is_last { room } else { 0 };
            self.upload.begin(current, bytes, !batch.is_empty())?;
            let launch = (!batch.is_empty()).then(|| self.gather(job, batch, stamp));
            self.upload.behind();
            if is_last {
                return Ok(launch.map_or(Advance::Nothing, Advance::Launch));
            }
            self.upload.send(&self.stream)?;
            if let Some(args) = launch {
                self.launch_advance(current, args)?;
            }
            self.wait(current)?; // before the upload is written to again
            rest = after;
        }
    }

    /// Adds the changed j-particles of some pages to the upload.
    fn gather(&mut self, job: &DeviceJob<'_>, batch: &[Todo], stamp: [u64; 3]) -> AdvanceArgs {
        let Self { store, upload, .. } = self;
        let mut begin = 0;
        let mut records = None;
        let mut work = upload.reserve::<PageWork>(batch.len());
        for (n, todo) in batch.iter().enumerate() {
            if let Some(next) = batch.get(n + 1)
                && batch.len() > CACHED_PAGES
                && next.records > 0
                && !next.fresh
            {
                job.memory.fetch_changed(next.position);
            }
            let page = job.memory.header(todo.position);
            if todo.is_current {
                upload.write(&mut work, store.note_prediction(page, todo, stamp));
                continue;
            }
            let particles = job.memory.particles(todo.position);
            let noted = store.note((page, &particles), todo, begin, stamp, self.precision);
            upload.write(&mut work, noted);
            if todo.records == 0 {
                continue;
            }
            begin += todo.words();
            let present;
            let bits = match todo.fresh {
                true => {
                    present = Slots::from(page.present());
                    &present
                }
                false => page.changed(),
            };
            let at = match particles.rows() {
                _ if todo.is_short => {
                    let rows = bits.iter().map(|slot| particles.short_row(slot));
                    upload.put_each(todo.records, rows)
                }
                Some(rows) => upload.put_with(todo.records, |to: &mut [Row]| {
                    let rows = bits.iter().map(|slot| &rows[slot]);
                    to.iter_mut().zip(rows).for_each(|(to, row)| to.copy(row));
                }),
                None => {
                    let rows = bits.iter().map(|slot| particles.row(slot, true));
                    upload.put_each(todo.records, rows)
                }
            };
            records.get_or_insert(at);
        }
        let mut predictions = None;
        if job.predictor == HostOrDevice::Host {
            let mut x = Box::new([[0.0; PAGE]; 3]);
            for todo in batch {
                let page = job.memory.page(todo.position);
                page.predict_positions(job.ti, &mut x);
                let at = upload.put(&x[..]);
                predictions.get_or_insert(at);
                page.predict_velocities(job.ti, &mut x);
                upload.put(&x[..]);
            }
        }
        AdvanceArgs {
            j: store.sources(job.units),
            work: work.address(),
            records: records.unwrap_or_default(),
            predictions: predictions.unwrap_or_default(),
            ti: job.ti,
            pages: batch.len() as u32,
            ..AdvanceArgs::default()
        }
    }

    pub(super) fn launch_advance(
        &mut self,
        current: &Current<'_>,
        mut args: AdvanceArgs,
    ) -> Result<()> {
        (args.from, args.to, args.fetch) = self.upload.fetch();
        self.run_advance(current, args)
    }

    fn run_advance(&mut self, current: &Current<'_>, args: AdvanceArgs) -> Result<()> {
        let name = format!("advance_{}", self.precision.in_kernels());
        let kernel = self.kernel(current, Module::Forces(self.precision), name)?;
        self.expect(self.conditions().prediction_clocks(args.pages as usize));
        let blocks = args.pages + args.fetch.div_ceil(ADVANCE_THREADS);
        // SAFETY: these are the kernel's arguments, and they point into buffers of this queue, which are neither
        // freed nor written to before the queue was waited for.
        unsafe {
            self.stream
                .launch(kernel, (blocks, 1), (ADVANCE_THREADS, 1), &args)
        }
    }
}

/// Takes as many pages as fit into one copy and one launch. Returns them, the rest, and the bytes of the copy.
fn split_batch(todo: &[Todo], most: usize, on_host: bool) -> (&[Todo], &[Todo], usize) {
    let prediction = if on_host {
        2 * bytes_of::<[[f64; PAGE]; 3]>(1)
    } else {
        0
    };
    let mut bytes = bytes_of::<PageWork>(0);
    let mut count = 0;
    for page in todo {
        let more = size_of::<PageWork>() + bytes_of::<f64>(page.words()) + prediction;
        if count > 0 && (bytes + more > BATCH || count == most) {
            break;
        }
        bytes += more;
        count += 1;
    }
    let (batch, after) = todo.split_at(count);
    (batch, after, bytes)
}
