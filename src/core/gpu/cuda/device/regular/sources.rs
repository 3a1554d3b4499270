//! The sources of the regular force on a device, in two forms: pages in double precision, and pages as the pair loop
//! reads them.

use super::layout::{RegularArgs, RegularPage};
use crate::force::regular::{SourcePage, Sources};
use crate::force::scaling;
use crate::gpu::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::gpu::cuda::driver::{Current, Result, Stream};
use crate::process::settings::Precision;
use crate::sources::jmemory::PAGE;

/// Bytes of a page: seven columns.
const PAGE_BYTES: usize = 7 * PAGE * 8;

/// Pages that are copied together.
const TOGETHER: usize = 128;

/// Pages that wait on the host at most, 60 MB.
pub const STAGED: usize = 2048;

/// Sources on a device.
#[derive(Default)]
pub struct DeviceSources {
    staged: PinnedBuffer,
    info: DeviceBuffer,
    columns: DeviceBuffer,
    tiles: DeviceBuffer,
    /// Number of sources.
    pub count: usize,
}

impl DeviceSources {
    /// Makes room for so many pages. Nothing queued may use what there is.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn reserve(
        &mut self,
        current: &Current<'_>,
        pages: usize,
        precision: Precision,
    ) -> Result<()> {
        let vectors = match precision {
            Precision::Mixed => 3 * 16,
            Precision::Single | Precision::Reduced => 2 * 16,
            Precision::Double | Precision::DoubleSingle => 2 * 32,
        };
        let staged = pages.min(STAGED) * (PAGE_BYTES + size_of::<RegularPage>());
        self.staged.reserve(current, staged)?;
        self.info
            .reserve(current, pages * size_of::<RegularPage>())?;
        self.columns.reserve(current, pages * PAGE_BYTES)?;
        self.tiles.reserve(current, pages * PAGE * vectors)
    }

    /// Queues the copies of at most [`STAGED`] pages, from page number `first` on. The caller must have waited for
    /// everything that was queued before.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn send(
        &mut self,
        stream: &Stream,
        sources: &Sources,
        first: usize,
        precision: Precision,
    ) -> Result<()> {
        let pages = &sources.pages()[first..];
        let pages = &pages[..pages.len().min(STAGED)];
        let start = self.staged.start();
        // SAFETY: `reserve` made room for so many pages, and then as many of their descriptions.
        let infos = unsafe { start.add(pages.len() * PAGE_BYTES) };
        for (run, pages) in pages.chunks(TOGETHER).enumerate() {
            let begin = run * TOGETHER;
            for (n, page) in (begin..).zip(pages) {
                let slots = (sources.len() - (first + n) * PAGE).min(PAGE);
                let info = describe(&page.m[..slots], precision);
                // SAFETY: as above; nothing queued uses the places, and both are aligned for numbers.
                unsafe {
                    write(page, start.add(n * PAGE_BYTES).cast());
                    infos.cast::<RegularPage>().add(n).write(info);
                }
            }
            let to = self.columns.address() + ((first + begin) * PAGE_BYTES) as u64;
            // SAFETY: both hold so many pages, and those of the host stay until the queue was waited for.
            unsafe {
                let from = start.add(begin * PAGE_BYTES);
                stream.upload(to, from, pages.len() * PAGE_BYTES)?;
            }
        }
        let to = self.info.address() + (first * size_of::<RegularPage>()) as u64;
        // SAFETY: as above.
        unsafe { stream.upload(to, infos, pages.len() * size_of::<RegularPage>()) }
    }

    /// The arguments that say where they are.
    pub fn arguments(&self) -> RegularArgs {
        RegularArgs {
            info: self.info.address(),
            columns: self.columns.address(),
            tiles: self.tiles.address(),
            sources: self.count as u64,
            pages: self.count.div_ceil(PAGE) as u32,
            ..RegularArgs::default()
        }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.staged.free(current);
        for buffer in [&mut self.info, &mut self.columns, &mut self.tiles] {
            buffer.free(current);
        }
        self.count = 0;
    }
}

/// The unit of some masses, and whether it suits them all.
fn describe(masses: &[f64], precision: Precision) -> RegularPage {
    let (mass_unit, fits) = match precision {
        Precision::Double | Precision::DoubleSingle => (1.0, true),
        Precision::Mixed | Precision::Single | Precision::Reduced => scaling::of_masses(masses),
    };
    RegularPage {
        mass_unit,
        mass_inverse: 1.0 / mass_unit,
        // A negative mass times h2 bounds nothing: the kernel would take the target itself for a source.
        is_told: (fits && scaling::none_is_negative(masses)).into(),
        ..RegularPage::default()
    }
}

/// Writes the columns one behind the other.
///
/// # Safety
///
/// There is room for seven.
unsafe fn write(page: &SourcePage, to: *mut [f64; PAGE]) {
    let columns = page.x.iter().chain(&page.v).chain([&page.m]);
    for (n, column) in columns.enumerate() {
        // SAFETY: passed on.
        unsafe { to.add(n).copy_from_nonoverlapping(&raw const **column, 1) };
    }
}
