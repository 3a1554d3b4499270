//! Whether the calls of this program bring softening lengths of j-particles under the usual names.
//!
//! Phantom-GRAPE has `g5_set_xmj` with and without such an argument, as it was built, and programs import the same names
//! for both. So the user has to say it. Where the program may be one that brings them, a line on stderr says how.

use std::sync::atomic::{AtomicU8, Ordering};

use super::devices::{Memory, Place};
use kirin_core::error::Result;
use kirin_core::process::log;
use kirin_core::process::settings::{self, Grape5};

/// Whether `g5_set_xmj` brings the squares of softening lengths, and the usual calls act with them.
pub fn brings_softening() -> bool {
    settings::settings().grape5 == Grape5::Symmetric
}

/// The memory of a device that a call means: with [`brings_softening`] the usual calls mean the one with softening.
///
/// # Errors
///
/// There is no such device, or the settings were not read yet, and there is no memory.
pub fn place(device: i32, memory: Memory) -> Result<Place> {
    let symmetric = settings::with_memory()?.grape5 == Grape5::Symmetric;
    let memory = if symmetric { Memory::Softened } else { memory };
    Place::new(device, memory)
}

/// What was seen of the program, if nobody said what it is.
static SEEN: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
/// It called `g5_set_xmj`, perhaps with an argument that was not read.
const SENT: u8 = 1;
/// The line was written.
const TOLD: u8 = 2;

/// Notes a call of `g5_set_xmj`.
pub fn sent_by_xmj() {
    if SEEN.load(Ordering::Relaxed) == NOTHING && settings::settings().grape5 == Grape5::Auto {
        SEEN.store(SENT, Ordering::Relaxed);
    }
}

/// Tells the user, once, if j-particles of `g5_set_xmj` acted on i-particles that have softening lengths of their own. All
/// programs for a `SYMMETRIC` Phantom-GRAPE that were found do this.
pub fn acted_with_own_softening(call: &'static str, memory: Memory) {
    if memory == Memory::Plain && SEEN.load(Ordering::Relaxed) == SENT {
        SEEN.store(TOLD, Ordering::Relaxed);
        log::once(
            "softening of j-particles",
            call,
            "j-particles of g5_set_xmj have no softening. If this program was compiled for Phantom-GRAPE with SYMMETRIC, it passes such lengths, and needs KIRIN_GRAPE5=symmetric. If not, KIRIN_GRAPE5=plain keeps this line away",
        );
    }
}
