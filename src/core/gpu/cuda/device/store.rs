//! The j-particles of one device: the place of each page in the device's memory, and the changes that are still to be
//! sent.

use crate::force::scaling::{self, Scaling};
use crate::gpu::cuda::device::DeviceJob;
use crate::gpu::cuda::device::plans::RunKey;
use crate::gpu::cuda::device::standing::Standing;
use crate::gpu::cuda::driver::memory::DeviceBuffer;
use crate::gpu::cuda::driver::{Current, Result, Stream};
use crate::gpu::layout::{
    FEW, HAS_BOTH_SIGNS, HAS_SNAP, PageInfo, PageWork, Pointer, RECORD, SHORT_RECORD, Sources,
    WORK_FRESH, WORK_SHORT,
};
use crate::process::settings::Precision;
use crate::sources::jmemory::{Header, JMemory, PAGE, Particles, Slots};

/// The time and the units to which a page was predicted, as bits.
type Stamp = [u64; 3];

/// A page in device memory.
struct Resident {
    /// Its position in the host's j-memory.
    position: usize,
    version: u64,
    mass_version: u64,
    index_version: u64,
    info: PageInfo,
    /// To what, in which epoch.
    predicted: (u64, Stamp),
    /// Whether nothing but masses, positions and labels was ever sent: all other columns are zero.
    is_short: bool,
}

impl Resident {
    /// Whether what the device knows of the page holds for these particles, too.
    fn has_summary_of(&self, page: &Header, particles: &Particles) -> bool {
        self.mass_version == particles.mass_version
            && self.index_version == particles.index_version
            && (self.info.flags & HAS_SNAP != 0) == page.has_snap()
    }
}

/// A page to bring up to date.
pub struct Todo {
    /// Its position in the host's j-memory.
    pub position: usize,
    /// Its place on the device.
    pub place: u32,
    /// Whether the page was not on the device before.
    pub fresh: bool,
    /// Whether the device has all of its particles.
    pub is_current: bool,
    /// Number of particles to send.
    pub records: usize,
    /// Whether their records are short, as the page is at rest.
    pub is_short: bool,
}

impl Todo {
    /// 64-bit words of a record.
    pub fn width(&self) -> usize {
        if self.is_short { SHORT_RECORD } else { RECORD }
    }

    /// What the kernel `advance` has to do for it. Its records begin at word `begin`.
    #[inline(always)]
    fn work(&self, info: PageInfo, begin: usize) -> PageWork {
        let fresh = if self.fresh { WORK_FRESH } else { 0 };
        let short = if self.is_short { WORK_SHORT } else { 0 };
        PageWork {
            info,
            place: self.place,
            begin: begin as u32,
            records: self.records as u32,
            flags: fresh | short,
        }
    }

    /// 64-bit words of all records. The next page's begin where any array may begin.
    pub fn words(&self) -> usize {
        (self.records * self.width()).next_multiple_of(2)
    }
}

/// What a block's prediction has to do.
pub struct Prediction {
    /// A list of all pages on the device, to be predicted first, and their number.
    pub standing: Option<(Pointer, usize)>,
    /// The pages to bring up to date, one by one.
    pub todo: Vec<Todo>,
    /// Whether these are no more than the pages that have changed.
    pub only_changed: bool,
}

/// How the pages of a block may be predicted.
#[derive(Clone, Copy)]
pub struct Ways {
    /// By the list that stays on the device.
    pub standing: bool,
    /// In the kernel that computes the forces, with the changed particles in its arguments.
    pub step: bool,
}

/// If some pages have changed, and the kernel that computes the forces does not predict them, the list on the device is
/// used only from this many pages on. The changed pages then need a kernel of their own, which costs 4 microseconds on an H100. With fewer pages the host lists all of them in less
/// time.
const STANDING: usize = 256;

/// The j-memory of one device.
#[derive(Default)]
pub struct Store {
    capacity: usize,
    residents: Vec<Option<Resident>>,
    /// By position: the page's place plus one; 0 for pages that are not on this device.
    places: Vec<u32>,
    free: Vec<u32>,
    /// Changes when pages get other places.
    generation: u64,
    /// Grows when all pages are predicted at once: what was noted for each page before does not hold then.
    epoch: u64,
    pub(super) standing: Standing,
    /// Which run of pages is here and up to date, but for pages that have changed since; and to what it is predicted.
    up_to_date: Option<(RunKey, Stamp)>,
    pages: DeviceBuffer,
    raw: DeviceBuffer,
    predicted: DeviceBuffer,
    exact: DeviceBuffer,
    far: DeviceBuffer,
}

impl Store {
    /// Makes room for the job's run of pages, drops all others, and returns the pages to bring up to date. These are
    /// the pages that have changed, and the pages with addresses below `nj` that are not yet predicted to `stamp`. If
    /// the run and the stamp are those of the last call, only changed pages are looked at. If only the time differs, the
    /// list that stays on the device is used where possible, and again only changed pages are looked at.
    ///
    /// # Errors
    ///
    /// The device has too little memory.
    pub fn plan(
        &mut self,
        (current, stream): (&Current<'_>, &Stream),
        job: &DeviceJob<'_>,
        stamp: Stamp,
        precision: Precision,
        ways: Ways,
    ) -> Result<Prediction> {
        let now = Some((job.run_key(), stamp));
        let before = self.up_to_date;
        if before == now {
            let todo = self.changed(job.memory);
            return Ok(Prediction {
                standing: None,
                todo,
                only_changed: true,
            });
        }
        let only_time = before.is_some_and(|(run, [_, length, velocity])| {
            run == job.run_key() && [length, velocity] == stamp[1..]
        });
        let fits = || {
            let most = if ways.step { FEW } else { 0 };
            has_changes_up_to(job.memory, most) || job.pages >= STANDING
        };
        if only_time && ways.standing && fits() {
            let standing = self.standing((current, stream), job)?;
            if standing.is_some() {
                self.up_to_date = now;
                self.epoch += 1;
                let todo = self.changed(job.memory);
                return Ok(Prediction {
                    standing,
                    todo,
                    only_changed: true,
                });
            }
        }
        let todo = self.look_through(current, job, stamp, precision)?;
        self.up_to_date = now;
        Ok(Prediction {
            standing: None,
            todo,
            only_changed: false,
        })
    }

    /// The pages here that have changed.
    fn changed(&self, memory: &JMemory) -> Vec<Todo> {
        let changed = memory.changed().iter().map(|&p| p as usize);
        let here = changed.filter(|&p| self.places[p] > 0);
        let todo = here.map(|position| Todo {
            position,
            place: self.place(position),
            fresh: false,
            is_current: false,
            records: memory.header(position).changed().count(),
            is_short: self.takes_short(self.place(position), memory.header(position)),
        });
        todo.collect()
    }

    /// The work of predicting a page that is here.
    pub(super) fn prediction(&self, position: usize) -> PageWork {
        let place = self.place(position);
        let resident = self.residents[place as usize].as_ref();
        PageWork {
            info: resident.map(|r| r.info).unwrap_or_default(),
            place,
            ..PageWork::default()
        }
    }

    /// Whether the changed particles of a page that is here may be sent in short.
    fn takes_short(&self, place: u32, page: &Header) -> bool {
        let resident = self.residents[place as usize].as_ref();
        page.is_at_rest() && resident.is_some_and(|resident| resident.is_short)
    }

    /// What the device knows of a page that is here.
    pub fn info(&self, todo: &Todo) -> Option<PageInfo> {
        let resident = self.residents[todo.place as usize].as_ref();
        resident.map(|resident| resident.info)
    }

    /// The same as [`Store::changed`], with a look at every page.
    fn look_through(
        &mut self,
        current: &Current<'_>,
        job: &DeviceJob<'_>,
        stamp: Stamp,
        precision: Precision,
    ) -> Result<Vec<Todo>> {
        let &DeviceJob {
            memory,
            run,
            pages: predicted,
            ..
        } = job;
        self.reserve(current, run.len(), precision)?;
        self.places.resize(memory.page_count(), 0);
        self.evict(run);
        let mut todo = Vec::new();
        for (n, &position) in run.iter().enumerate() {
            let page = memory.header(position);
            let resident = self.places[position].checked_sub(1);
            let resident = resident.and_then(|place| self.residents[place as usize].as_ref());
            let is_current = resident.is_some_and(|r| r.version == page.version());
            let stamp = own_stamp(page, stamp);
            let stamp = (self.epoch, stamp);
            let ready = resident.is_some_and(|r| n >= predicted || r.predicted == stamp);
            if is_current && ready {
                continue;
            }
            let (place, fresh) = match self.places[position].checked_sub(1) {
                Some(place) => (place, false),
                None => (self.take_place(position), true),
            };
            let records = match (fresh, is_current) {
                (true, _) => Slots::from(page.present()).count(),
                (false, true) => 0,
                (false, false) => page.changed().count(),
            };
            todo.push(Todo {
                position,
                place,
                fresh,
                is_current,
                records,
                is_short: match fresh {
                    true => page.is_at_rest(),
                    false => self.takes_short(place, page),
                },
            });
        }
        Ok(todo)
    }

    /// Notes that a page will be predicted, and returns what the kernel `advance` has to do for that. The device
    /// has all particles of the page.
    pub fn note_prediction(&mut self, page: &Header, todo: &Todo, stamp: Stamp) -> PageWork {
        let resident = self.residents[todo.place as usize].as_mut();
        let info = resident.map(|resident| {
            resident.predicted = (self.epoch, own_stamp(page, stamp));
            resident.info
        });
        todo.work(info.unwrap_or_default(), 0)
    }

    /// Notes that a page will be up to date, and returns what the kernel `advance` has to do for that. The page's
    /// records begin at word `begin`.
    // A part of the loop over the pages, so that the work is written to its place and nowhere else before.
    #[inline(always)]
    pub fn note(
        &mut self,
        (page, particles): (&Header, &Particles),
        todo: &Todo,
        begin: usize,
        stamp: Stamp,
        precision: Precision,
    ) -> PageWork {
        let slot = &mut self.residents[todo.place as usize];
        let stamp = (self.epoch, own_stamp(page, stamp));
        match slot {
            Some(resident) if !todo.fresh && resident.has_summary_of(page, particles) => {
                resident.version = page.version();
                resident.predicted = stamp;
                resident.is_short = todo.is_short;
                todo.work(resident.info, begin)
            }
            _ => {
                let info = self.summarize((page, particles), todo, stamp, precision);
                todo.work(info, begin)
            }
        }
    }

    /// Finds out what the device is to know of a page.
    #[inline(never)]
    fn summarize(
        &mut self,
        (page, particles): (&Header, &Particles),
        todo: &Todo,
        predicted: (u64, Stamp),
        precision: Precision,
    ) -> PageInfo {
        let slot = &mut self.residents[todo.place as usize];
        let before = slot
            .as_ref()
            .filter(|r| r.mass_version == particles.mass_version && !todo.fresh);
        let (mass_unit, least_mass, signs) = match before {
            Some(r) => (
                r.info.mass_unit,
                r.info.least_mass,
                r.info.flags & HAS_BOTH_SIGNS,
            ),
            // The kernels in double precision use neither.
            None if precision == Precision::Double => (1.0, 0.0, 0),
            None => {
                let masses = particles.masses();
                let (unit, _) = scaling::of_masses(&masses);
                let range = scaling::mass_range(&masses);
                let signs = if range.one_sign { 0 } else { HAS_BOTH_SIGNS };
                (unit, range.least / unit.abs(), signs)
            }
        };
        let before = slot
            .as_ref()
            .filter(|r| r.index_version == particles.index_version && !todo.fresh);
        let (least_label, greatest_label) = match before {
            Some(r) => (r.info.least_label, r.info.greatest_label),
            None => particles.index_range(),
        };
        let info = PageInfo {
            mass_unit,
            mass_inverse: 1.0 / mass_unit,
            least_mass,
            number: page.number(),
            least_label,
            greatest_label,
            flags: signs | if page.has_snap() { HAS_SNAP } else { 0 },
        };
        if slot.as_ref().is_none_or(|before| before.info != info) {
            self.standing.forget();
        }
        *slot = Some(Resident {
            position: todo.position,
            version: page.version(),
            mass_version: particles.mass_version,
            index_version: particles.index_version,
            info,
            predicted,
            is_short: todo.is_short,
        });
        info
    }

    /// Changes when pages get other places.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The place of a page that is on this device.
    pub fn place(&self, position: usize) -> u32 {
        self.places[position] - 1
    }

    /// The arguments that all kernels share.
    pub fn sources(&self, units: Scaling) -> Sources {
        Sources {
            pages: self.pages.address(),
            raw: self.raw.address(),
            predicted: self.predicted.address(),
            exact: self.exact.address(),
            far: self.far.address(),
            length: units.length,
            velocity: units.velocity,
        }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        for buffer in [
            &mut self.pages,
            &mut self.raw,
            &mut self.predicted,
            &mut self.exact,
            &mut self.far,
        ] {
            buffer.free(current);
        }
        self.standing.free(current);
        *self = Self {
            generation: self.generation + 1,
            epoch: self.epoch,
            ..Self::default()
        };
    }

    fn reserve(&mut self, current: &Current<'_>, pages: usize, precision: Precision) -> Result<()> {
        if pages <= self.capacity {
            return Ok(());
        }
        // The next power of two, or just what is needed. The pages are sent again from the host's copy.
        self.allocate(current, pages.next_power_of_two(), precision)
            .or_else(|_| self.allocate(current, pages, precision))
    }

    fn allocate(
        &mut self,
        current: &Current<'_>,
        pages: usize,
        precision: Precision,
    ) -> Result<()> {
        self.free(current);
        let vectors = match precision {
            Precision::Mixed | Precision::DoubleSingle => 3 * 16,
            Precision::Single | Precision::Reduced => 2 * 16,
            Precision::Double => 2 * 32,
        };
        self.pages.reserve(current, pages * size_of::<PageInfo>())?;
        self.raw.reserve(current, pages * PAGE * RECORD * 8)?;
        self.predicted.reserve(current, pages * PAGE * vectors)?;
        self.exact.reserve(current, pages * PAGE * 3 * 8)?;
        self.far.reserve(current, pages * 4)?;
        self.capacity = pages;
        self.residents.resize_with(pages, || None);
        self.free = (0..pages as u32).rev().collect();
        Ok(())
    }

    /// Frees the places of pages that are not in the run.
    fn evict(&mut self, run: &[usize]) {
        if run.len() == self.places.len() {
            return; // the run has every page
        }
        let mut wanted = vec![false; self.places.len()];
        run.iter().for_each(|&position| wanted[position] = true);
        for (place, slot) in (0..).zip(&mut self.residents) {
            if let Some(resident) = slot
                && !wanted[resident.position]
            {
                self.places[resident.position] = 0;
                self.free.push(place);
                *slot = None;
            }
        }
    }

    fn take_place(&mut self, position: usize) -> u32 {
        let place = self
            .free
            .pop()
            .expect("there is a place for every page of the run");
        self.places[position] = place + 1;
        self.generation += 1;
        place
    }
}

/// Whether no more than `most` particles have changed.
fn has_changes_up_to(memory: &JMemory, most: usize) -> bool {
    let pages = memory.changed();
    let changed = |&p: &u32| memory.header(p as usize).changed().count();
    pages.len() <= most && pages.iter().map(changed).sum::<usize>() <= most
}

/// The stamp of a page's prediction. It has no time if none of the page's particles moves.
fn own_stamp(page: &Header, [ti, length, velocity]: Stamp) -> Stamp {
    let everywhen = page.is_at_rest() && f64::from_bits(ti).is_finite();
    [if everywhen { 0 } else { ti }, length, velocity]
}
