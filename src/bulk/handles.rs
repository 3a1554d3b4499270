//! Handles, and what they stand for.
//!
//! A handle consists of a serial number and a place. A serial number is never used twice in a process; a place is used
//! again after its handle was closed. So a closed handle never stands for something else. A handle belongs to the
//! process that opened it: in the child of a fork it is refused.

use std::sync::atomic::{AtomicU64, Ordering};

use super::gravity::Gravity;
use crate::registry::{Member, Registry};
use crate::tree::gravity::TreeGravity;
use kirin_core::error::{Error, Result};
use kirin_core::process;
use kirin_core::process::allocation;
use kirin_core::process::long_work::LongWork;
use kirin_core::process::settings::Settings;

/// Bits of a place.
const PLACE: u32 = 16;

/// How many handles can be open at a time.
const PLACES: usize = 1 << PLACE;

/// What memory is for, in messages.
const PURPOSE: &str = "a handle";

static REGISTRY: Registry<HandleSlot> = Registry::new();

/// The places in use, a bit each. Not behind a lock, which a thread of the parent might hold in the child of a fork.
static TAKEN: [AtomicU64; PLACES / 64] = [const { AtomicU64::new(0) }; PLACES / 64];

/// The serial number of the next handle.
static SERIAL: AtomicU64 = AtomicU64::new(1);

/// A place, and what stands there while a handle for it is open.
struct HandleSlot {
    settings: Settings,
    work: &'static LongWork,
    open: Option<Open>,
}

struct Open {
    serial: u64,
    /// The process that opened it.
    generation: u32,
    held: Box<Held>,
}

/// What a handle stands for.
#[expect(clippy::large_enum_variant, reason = "each is in a box of its own")]
pub enum Held {
    /// Sources whose forces are summed directly.
    Direct(Gravity),
    /// Sources in a tree.
    Tree(TreeGravity),
}

impl Held {
    /// Writes its statistics, if the user wants them.
    fn report(&mut self) {
        match self {
            Self::Direct(gravity) => gravity.report(),
            Self::Tree(tree) => tree.report(),
        }
    }

    /// Is about to be dropped.
    fn close(&mut self) {
        if let Self::Direct(gravity) = self {
            gravity.close();
        }
    }

    /// Name of the backend.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn backend_name(&mut self) -> Result<String> {
        match self {
            Self::Direct(gravity) => Ok(gravity.backend_name()),
            Self::Tree(tree) => tree.backend_name(),
        }
    }

    /// The precision of the last forces, or else what is in force, in words.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn precision(&mut self) -> Result<String> {
        match self {
            Self::Direct(gravity) => Ok(gravity.precision()),
            Self::Tree(tree) => tree.precision(),
        }
    }
}

impl Member for HandleSlot {
    const SOLE_STANDS_FOR_ALL: bool = false;

    fn registry() -> &'static Registry<Self> {
        &REGISTRY
    }

    fn new(_id: i32, settings: Settings, work: &'static LongWork) -> Self {
        Self {
            settings,
            work,
            open: None,
        }
    }

    fn name(id: i32) -> String {
        format!("bulk handle at place {id}")
    }

    fn opened(_id: i32) {}

    fn closed(_id: i32) {}

    fn report(&mut self, _id: i32) {
        if let Some(open) = self.own() {
            open.held.report();
        }
    }

    /// A handle of the parent is refused here: nothing need be usable.
    fn inherit(&mut self) {}
}

impl HandleSlot {
    /// What stands here, if this process opened it.
    fn own(&mut self) -> Option<&mut Open> {
        let generation = process::known_generation();
        self.open
            .as_mut()
            .filter(|open| open.generation == generation)
    }
}

const CLOSED: Error = Error::BadHandle {
    reason: "is closed, or was never opened",
};

const FORKED: Error = Error::BadHandle {
    reason: "belongs to the process that this one was forked from: open another one here",
};

fn split(handle: i64) -> (u64, i32) {
    let place = handle as usize % PLACES;
    (handle as u64 >> PLACE, place as i32)
}

fn bit(place: i32) -> (&'static AtomicU64, u64) {
    (&TAKEN[place as usize / 64], 1 << (place % 64))
}

/// Takes a free place.
fn take() -> Result<i32> {
    for (number, word) in TAKEN.iter().enumerate() {
        loop {
            let bit = (!word.load(Ordering::Relaxed)).trailing_zeros();
            if bit == u64::BITS {
                break;
            }
            if word.fetch_or(1 << bit, Ordering::AcqRel) >> bit & 1 == 0 {
                return Ok((64 * number) as i32 + bit as i32);
            }
        }
    }
    Err(Error::OutOfMemory {
        purpose: "another handle: 65536 are open",
    })
}

fn give_back(place: i32) {
    let (word, bit) = bit(place);
    word.fetch_and(!bit, Ordering::AcqRel);
}

/// A new handle for what `make` makes of a place and its name in messages.
///
/// # Errors
///
/// There is no memory.
pub fn open(
    make: impl FnOnce((i32, String), Settings, &'static LongWork) -> Result<Held>,
) -> Result<i64> {
    let generation = process::generation();
    let place = take()?;
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let opened = REGISTRY.with(place, |at| {
        allocation::spare(0, PURPOSE)?;
        let held = make(
            (place, HandleSlot::name(place)),
            at.settings.clone(),
            at.work,
        )?;
        at.open = Some(Open {
            serial,
            generation,
            held: Box::new(held),
        });
        Ok(((serial << PLACE) | place as u64) as i64)
    });
    if opened.is_err() {
        give_back(place);
    }
    opened
}

/// Runs `call` on what a handle stands for.
///
/// # Errors
///
/// Those of the call, or the handle stands for nothing.
pub fn with_held<R>(handle: i64, call: impl FnOnce(&mut Held) -> Result<R>) -> Result<R> {
    on(handle, |open| match open {
        Some(open) => call(&mut open.held),
        None => Err(CLOSED),
    })
}

/// Runs `call` on a handle of `kirin_bulk_open`.
///
/// # Errors
///
/// Those of the call, or the handle stands for nothing, or for a tree.
pub fn with<R>(handle: i64, call: impl FnOnce(&mut Gravity) -> Result<R>) -> Result<R> {
    with_held(handle, |held| match held {
        Held::Direct(gravity) => call(gravity),
        Held::Tree(_) => Err(Error::BadHandle {
            reason: "is that of a tree, and not of kirin_bulk_open",
        }),
    })
}

/// Runs `call` on a handle of `kirin_tree_open`.
///
/// # Errors
///
/// Those of the call, or the handle stands for nothing, or for no tree.
pub fn with_tree<R>(handle: i64, call: impl FnOnce(&mut TreeGravity) -> Result<R>) -> Result<R> {
    with_held(handle, |held| match held {
        Held::Tree(tree) => call(tree),
        Held::Direct(_) => Err(Error::BadHandle {
            reason: "is that of kirin_bulk_open, and not of a tree",
        }),
    })
}

/// Runs `call` where a handle of this process stands.
fn on<R>(handle: i64, call: impl FnOnce(&mut Option<Open>) -> Result<R>) -> Result<R> {
    let (serial, place) = split(handle);
    let (word, bit) = bit(place);
    if word.load(Ordering::Acquire) & bit == 0 {
        return Err(CLOSED);
    }
    REGISTRY.with(place, |at| match &at.open {
        Some(open) if open.serial != serial => Err(CLOSED),
        Some(open) if open.generation != process::known_generation() => Err(FORKED),
        None => Err(CLOSED),
        _ => call(&mut at.open),
    })
}

/// Closes a handle, and frees its memory.
///
/// # Errors
///
/// It stands for nothing.
pub fn close(handle: i64) -> Result<()> {
    let (_, place) = split(handle);
    let closed = on(handle, |open| {
        let mut closed = open.take().ok_or(CLOSED)?;
        closed.held.report();
        closed.held.close();
        Ok(())
    });
    if closed.is_ok() {
        give_back(place);
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Result<i64> {
        super::open(|place, settings, work| Gravity::new(place, settings, work).map(Held::Direct))
    }

    #[test]
    fn a_handle_is_used_once() {
        let handle = open().unwrap();
        assert!(handle > 0);
        assert_eq!(with(handle, |g| Ok(g.count())), Ok(0));
        close(handle).unwrap();
        assert_eq!(close(handle), Err(CLOSED));
        let other = open().unwrap();
        assert_ne!(other, handle);
        for bad in [
            handle,
            0,
            -1,
            i64::MAX,
            i64::MIN,
            1,
            other + 1,
            other + PLACES as i64,
        ] {
            assert_eq!(with(bad, |_| Ok(())), Err(CLOSED), "{bad}");
            assert_eq!(close(bad), Err(CLOSED), "{bad}");
        }
        close(other).unwrap();
    }

    #[test]
    fn threads_open_and_close_at_once() {
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..200 {
                        let handle = open().unwrap();
                        assert_eq!(with(handle, |g| Ok(g.count())), Ok(0));
                        close(handle).unwrap();
                        assert_eq!(with(handle, |_| Ok(())), Err(CLOSED));
                    }
                });
            }
        });
    }
}
