//! Recording: every call with its inputs and outputs, in a file (`KIRIN_TRACE`).
//!
//! # What is recorded
//!
//! The calls in the order in which they took effect, whatever their spelling: `g6_open_all` is an
//! open of cluster 0, a force call of the low-level interface is the block that it amounts to, and
//! a `lasthalf` without a `firsthalf` before it is both. Not recorded are
//!
//! * calls that are accepted without effect, and calls that are refused: they change nothing;
//! * labels, positions, velocities, softening and radii given to a `lasthalf` whose block
//!   waits: they repeat those of the `firsthalf`, and kirin does not look at them;
//! * the distances of `g6calc_lasthalf2p`.
//!
//! # The file
//!
//! Text lines `kirin trace 1` (the version of this format), then a name, a space and a value
//! in each, then an empty line. The rest are chunks:
//!
//! ```text
//! u32 p, u32 a, u32 b, u32 c   lengths, little endian as everything here
//! u64                          XXH64 with seed 0 of the 16 bytes before, and what follows
//! p bytes                      one LZ4 block of a + b bytes:
//!                                a  control: kinds of events, integers, texts
//!                                b  shapes of numbers, half a byte each, the low half first
//! c bytes                      bytes of numbers, which are noise to a compressor
//! ```
//!
//! A chunk holds whole events. An event is its kind (one integer, `Event::kind`) and what
//! `Event::code` writes, in that order. In the control column
//!
//! * an integer without sign is seven bits a byte, the lowest first, the highest bit set in all
//!   but the last byte; one with a sign is folded first: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...;
//! * a text is its length and its bytes; a list is its length and its items; a truth is 0 or 1.
//!
//! A number is the folded difference, as 64-bit integers, between its bits and those of a
//! number foretold from the events before (`Forecast`; where that is no number, from 0). Its shape n
//! is 0 to 8 if the n lowest bytes of the difference are stored, lowest first, and the others are zero; 9 if
//! the two highest are stored and the others are zero.
//!
//! The last event is `End`. A file without it was cut, or its program was killed; all
//! chunks before the cut can be read.

mod block;
mod chunk;
mod code;
mod event;
mod forecast;
mod read;
mod recorder;
#[cfg(test)]
mod tests;

pub use block::{record_block, record_results, since};
pub use event::{Event, HintedParticle};
pub use read::{Trace, TraceError};
pub use recorder::{active, clock, describe, leave_to_parent, record, try_record};

/// Version of the format.
pub const VERSION: u32 = 1;

/// What its memory is for, in messages.
pub const PURPOSE: &str = "the recording";

/// The name in the head under which the number of pipelines stands.
pub const PIPELINES: &str = "pipelines";

/// The name in the head under which the machine's name stands.
pub const HOST: &str = "host";

/// How every trace begins, before the version.
pub const MAGIC: &str = "kirin trace ";
