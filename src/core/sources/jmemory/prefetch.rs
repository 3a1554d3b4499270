//! Rows that will be written or read are fetched into the cache in advance: the addresses of clients' writes follow no order.

use std::ops::Range;

use super::PAGE;
use super::log::Log;
use super::page::Page;

/// How many rows in advance.
const AHEAD: usize = 12;

/// Pages with more writes than this are read in order by then, which the processor notices itself.
const FEW: usize = 64;

/// So many rows that were fetched one after the other are still in a near cache. To fetch more of them in an order without
/// regard to pages takes longer than to sort them: most accesses then need another page of the processor's memory.
pub const CACHED_ROWS: usize = 1024;

/// Fetches the rows of pages that the log's rows behind a range of its order will replace.
pub fn rows(log: &Log, pages: &[Page], range: Range<usize>) {
    if range.len() > FEW {
        return;
    }
    for n in range {
        let Some(&ahead) = log.order().get(n + AHEAD) else {
            return;
        };
        let place = log.places()[ahead.row()];
        let page = &pages[place.position as usize];
        page.body.fetch_row(ahead.slot() % PAGE);
    }
}

/// Fetches the line at an address, which will be written.
#[inline(always)]
pub fn line<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: fetching is no access: any address will do. The instruction is part of x86-64.
        unsafe { _mm_prefetch(place.cast::<i8>(), _MM_HINT_ET0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Fetches the lines of a row.
#[inline(always)]
pub fn row<T>(row: *const T) {
    line(row);
    line(row.wrapping_byte_add(64));
    line(row.wrapping_byte_add(128));
}
