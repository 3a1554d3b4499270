//! A run: writes to consecutive addresses of one page, one call after the other.
//!
//! Most clients write in the order of the addresses. A call of a run checks that its address is the next one, and stores the
//! numbers. Everything else that a write changes (the page's version, its changed slots, the number of writes) is changed once
//! for the whole run, when the run ends. It ends before anything but its next write uses the memory.

use std::ptr;
use std::sync::atomic::AtomicPtr;

use super::body::{Columns, LINE, fetch};
use super::log::{AHEAD, HAS_MOTION, HAS_SNAP, HAS_TIME};
use super::row::{A1BY6, A2BY18, ABY2, ClientParticle, MASS, Row, TIME, V, X};
use super::{JMemory, PAGE, PageArray, prefetch};

/// Words of which each write fetches the next line: two, so that all are fetched once in a line's time.
const FETCHED: [usize; 2] = [0, LINE];

/// The run of a memory. Without one, `end` is below all addresses.
pub struct Run {
    /// The address after that of the last write.
    next: i32,
    /// Where the run ends at the latest.
    end: i32,
    first: i32,
    /// The position of its page.
    position: usize,
    /// The page's rows, or its columns and labels, which stay where they are while the run lasts; null for those that it has not.
    rows: AtomicPtr<Row>,
    columns: AtomicPtr<PageArray<f64>>,
    labels: AtomicPtr<PageArray<i32>>,
    /// Whether the page has fourth derivatives.
    has_snap: bool,
    /// How many writes have changed a mass, and how many a label.
    new_masses: u64,
    new_labels: u64,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            next: i32::MIN,
            end: i32::MIN,
            first: i32::MIN,
            position: 0,
            rows: AtomicPtr::default(),
            columns: AtomicPtr::default(),
            labels: AtomicPtr::default(),
            has_snap: false,
            new_masses: 0,
            new_labels: 0,
        }
    }
}

impl Run {
    /// Whether there is one.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.end != i32::MIN
    }

    /// Notes a write that is not of the run. Returns whether its address was the next one.
    #[inline(always)]
    pub fn follow(&mut self, address: i32) -> bool {
        let follows = self.next == address;
        self.next = address.wrapping_add(1);
        follows
    }

    /// Writes a particle, if it is the next one of the run. Returns whether it was.
    ///
    /// # Safety
    ///
    /// The pointers among the numbers point to three numbers each.
    #[inline(always)]
    pub unsafe fn write(&mut self, address: i32, p: &ClientParticle) -> bool {
        if address != self.next || address >= self.end {
            return false;
        }
        let slot = address as usize % PAGE;
        let rows = *self.rows.get_mut();
        // SAFETY: the run is open: the particles are there, and nobody else uses them. The rest is passed on.
        unsafe {
            if !self.has_snap && p.has_snap() {
                return false;
            }
            match rows.is_null() {
                true => self.write_columns(slot, p),
                false => self.write_row(rows.add(slot), slot, p),
            }
        }
        self.next = address + 1;
        true
    }

    /// Writes a particle to columns.
    ///
    /// # Safety
    ///
    /// There are columns, which nobody else uses. The pointers among the numbers point to three numbers each.
    #[inline(always)]
    unsafe fn write_columns(&mut self, slot: usize, p: &ClientParticle) {
        let columns = *self.columns.get_mut();
        let [x, v, aby2, a1by6, a2by18] = p.vectors;
        // SAFETY: passed on.
        unsafe {
            if self.has_snap {
                put(columns, A2BY18, slot, a2by18);
            }
            for word in FETCHED {
                fetch(columns, word + slot % LINE, slot + LINE);
            }
            let mass = at(columns, MASS, slot);
            if (*mass).to_bits() != p.mass.to_bits() {
                *mass = p.mass;
                self.new_masses += 1;
            }
            let label = (*self.labels.get_mut()).cast::<i32>().add(slot);
            if *label != p.index {
                *label = p.index;
                self.new_labels += 1;
            }
            *at(columns, TIME, slot) = p.t;
            put(columns, X, slot, x);
            put(columns, V, slot, v);
            put(columns, ABY2, slot, aby2);
            put(columns, A1BY6, slot, a1by6);
        }
    }

    /// Writes a particle to a row.
    ///
    /// # Safety
    ///
    /// There is this row, which nobody else uses. The pointers among the numbers point to three numbers each.
    #[inline(always)]
    unsafe fn write_row(&mut self, row: *mut Row, slot: usize, p: &ClientParticle) {
        prefetch::row(row.wrapping_add(AHEAD));
        // SAFETY: passed on.
        unsafe {
            self.new_masses += u64::from((*row).0[MASS].to_bits() != p.mass.to_bits());
            self.new_labels += u64::from((*row).index() != p.index);
            Row::write(row, slot, p);
        }
    }
}

/// Where the number of a slot is in the column of a word.
///
/// # Safety
///
/// The columns of a page lie side by side from `columns` on.
#[inline(always)]
unsafe fn at(columns: *mut PageArray<f64>, word: usize, slot: usize) -> *mut f64 {
    // SAFETY: passed on.
    unsafe { columns.add(word).cast::<f64>().add(slot) }
}

/// Writes three numbers to the columns from that of a word on.
///
/// # Safety
///
/// Those of [`at`], and `from` points to three numbers.
#[inline(always)]
unsafe fn put(columns: *mut PageArray<f64>, word: usize, slot: usize, from: *const f64) {
    // SAFETY: passed on.
    unsafe {
        let three = from.cast::<[f64; 3]>().read_unaligned();
        for (k, number) in three.into_iter().enumerate() {
            *at(columns, word + k, slot) = number;
        }
    }
}

impl JMemory {
    /// Begins a run with the address after that of the last write, which was written at once. It lasts until `end` at most, and is
    /// in the page of the last write. Nothing begins where a write of the run would have to look at more than its numbers.
    pub fn begin_run(&mut self, end: i32) {
        let Self {
            run, pages, last, ..
        } = self;
        let page = &mut pages[*last];
        let page_end = (page.first_address() + PAGE).min(i32::MAX as usize) as i32;
        let end = end.min(page_end);
        // No address follows the greatest one.
        if run.next < 0
            || run.next >= end
            || page.header.flags & (HAS_TIME | HAS_MOTION) != HAS_TIME | HAS_MOTION
        {
            return;
        }
        run.has_snap = page.header.flags & HAS_SNAP != 0;
        let (rows, columns) = page.body.change(false).forms();
        if rows.is_none() && columns.is_none() {
            return;
        }
        *run.rows.get_mut() = rows.map_or(ptr::null_mut(), |rows| rows.as_mut_ptr());
        if let Some(columns) = columns {
            let Columns { index, .. } = columns;
            *run.labels.get_mut() = index;
            *run.columns.get_mut() = columns.all().as_mut_ptr();
        }
        (run.first, run.end, run.position) = (run.next, end, *last);
    }

    /// Ends the run, if there is one: all its writes are part of the state. Returns how many they were.
    pub fn end_run(&mut self) -> u32 {
        let Self {
            run, pages, next, ..
        } = self;
        if !run.is_open() {
            return 0;
        }
        run.end = i32::MIN;
        let page = &mut pages[run.position];
        let first = run.first as usize % PAGE;
        let count = (run.next - run.first) as usize;
        page.header.fill(first..first + count);
        let particles = page.body.change(false);
        particles.mass_version += std::mem::take(&mut run.new_masses);
        particles.index_version += std::mem::take(&mut run.new_labels);
        if next.is_some() {
            *next = Some(run.next);
        }
        self.written += count as u64;
        count as u32
    }
}
