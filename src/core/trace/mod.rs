//! Recording: every call with its inputs and outputs, in a file (`KIRIN_TRACE`).
//!
//! # What is recorded
//!
//! The calls are recorded in the order in which they took effect. Spellings are not distinguished: `g6_open_all` is
//! recorded as an open of cluster 0, a force call of the low-level interface as a block, a `lasthalf` without a
//! `firsthalf` as both. Where several ids stand for one cluster, all its calls are recorded with its own id. A first use
//! that opens a cluster is recorded as an open and that use. Not recorded are
//!
//! * calls without effect and calls that are refused, which change nothing;
//! * the labels, positions, velocities, softening and radii of a `lasthalf` after a `firsthalf`: they repeat the
//!   arguments of the `firsthalf`, and kirin does not read them;
//! * the distances of `g6calc_lasthalf2p`;
//! * `cxvpred_`, `cnbint_` and `wtime_` of NBODY6, which work on its own arrays;
//! * the calls `kirin_tree_*`;
//! * GRAPE-5 memories and bulk handles whose j-particles have softening lengths, for which the format has no place.
//!
//! The calls of NBODY6's library are recorded by their meaning ([`nbody6`]), whichever variant of the
//! arguments they had.
//!
//! # The file
//!
//! The head is text. Its first line is `kirin trace 3`; 3 is the version of this format. Version 2 lacks
//! `kirin_set_precision`. Version 1 also lacks the calls of NBODY6's library. Each further line has a name, a space and
//! a value; an empty line ends the head. The rest are chunks:
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
//! A chunk holds whole events. An event is written as its kind (one integer, `Event::kind`), followed by
//! what `Event::code` writes. In the control column
//!
//! * an unsigned integer takes seven bits a byte, the lowest first; the highest bit is set in all bytes but
//!   the last. A signed one is folded first: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...;
//! * a text is its length and its bytes, a list its length and its items, a Boolean 0 or 1.
//!
//! A number is stored as a difference. `Forecast` foretells the number from earlier events. The bits of the forecast (0
//! where it is NaN) are subtracted from those of the number, both as 64-bit integers, and the difference is folded as
//! above. The shape tells which bytes of the folded difference follow; all others are zero. A shape from 0 to 8 means
//! so many of the lowest bytes; 9 means the two highest. The lowest byte comes first.
//!
//! The last event is `End`. A file without it is incomplete, for instance because the program was killed;
//! all of its whole chunks can be read.

mod block;
mod chunk;
pub(crate) mod code;
pub(crate) mod event;
mod forecast;
pub mod nbody6;
mod read;
mod recorder;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use block::{record_block, record_results, since};
pub use event::{Event, HintedParticle};
pub use read::{Trace, TraceError};
pub use recorder::{active, clock, describe, record, try_record};

/// Version of the format that is written. All versions from 1 on are read.
pub const VERSION: u32 = 3;

/// What the memory is for, in messages.
pub const PURPOSE: &str = "the recording";

/// The name of the number of pipelines in the head.
pub const PIPELINES: &str = "pipelines";

/// The name of the machine's name in the head.
pub const HOST: &str = "host";

/// The cluster ids of GRAPE-5's devices, device 0 first: far from those that clients use.
pub const GRAPE5: Range<i32> = 0x4735_0000..FIRST_OF_BULK;

/// The cluster id of the first bulk handle, far from those that clients use, too.
pub const FIRST_OF_BULK: i32 = 0x4b42_0000;

/// The beginning of every trace, before the version.
pub const MAGIC: &str = "kirin trace ";
