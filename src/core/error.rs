//! All errors, and the code that a client gets for each of them.

use std::fmt;

/// Result of a library call.
pub type Result<T> = std::result::Result<T, Error>;

/// The integers that exported functions return for errors.
///
/// All are negative: the interface keeps positive values for the overflow of neighbour lists, which
/// is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// A bad argument.
    Argument = -1,
    /// Calls in the wrong order.
    Order = -2,
    /// A call without an implementation.
    Unsupported = -3,
    /// A failure of kirin's own.
    Internal = -4,
    /// No memory.
    Memory = -5,
    /// A call inside another one.
    Inside = -6,
    /// A handle that is not one.
    Handle = -7,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 7] = [
        Self::Argument,
        Self::Order,
        Self::Unsupported,
        Self::Internal,
        Self::Memory,
        Self::Inside,
        Self::Handle,
    ];

    /// What it means to a client, for headers and documentation.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Argument => {
                "an argument is a null pointer or outside its range: nothing was computed. No output is written, except by \
                 NBODY6's library (NaN for forces and potentials, lists of at most two stars by `gpunb_regf_`, 0 for the nearest \
                 neighbours by `irr_simd_firr_vec_`; but nothing by `gpunb_regf_` if `nbmax` or `m_flag` is impossible, nor by \
                 `gpupot_` and `gpupot_range_` if the range is) and by `g6_get_neighbour_list` (the length)"
            }
            Self::Order => {
                "another call must come first, or `lasthalf` asks for more i-particles than `firsthalf` brought: \
                 nothing was done"
            }
            Self::Unsupported => {
                "the call exists only so that programs link, or the bulk interface or a tree does not support what was \
                 asked: nothing was done"
            }
            Self::Internal => {
                "an internal error of kirin, or a signal handler forked during the call and the call's threads \
                 stayed in the parent: there are no results"
            }
            Self::Memory => {
                "there is no memory for what the call needs: a particle is not stored, a block is given up; the \
                 cluster and its other particles can be used as before"
            }
            Self::Inside => {
                "a signal handler called while its thread was inside another call, or had left one by \
                 `siglongjmp`: nothing was done"
            }
            Self::Handle => {
                "a handle was never opened, is closed, is of the other kind (bulk, tree), or belongs to the process that this \
                 one was forked from: nothing was done"
            }
        }
    }
}

/// Everything the library refuses or fails at.
///
/// [`Error::code`] is what the exported functions return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A required pointer argument is null.
    NullPointer {
        /// Name of the argument.
        argument: &'static str,
    },
    /// An argument is outside its legal range.
    OutOfRange {
        /// Name of the argument.
        argument: &'static str,
        /// Its value.
        value: i64,
        /// What is legal, in words.
        legal: &'static str,
    },
    /// `lasthalf` asks for more i-particles than `firsthalf` brought.
    BlockTooSmall {
        /// Number of i-particles asked for.
        asked: usize,
        /// Number of i-particles in the pending block.
        present: usize,
    },
    /// `g6_get_force` asks for more i-particle registers than were loaded.
    TooFewRegisters {
        /// What `g6_set_nip` announced.
        announced: usize,
        /// Number of registers that were loaded.
        loaded: usize,
    },
    /// The `firsthalf` of this block was refused.
    FirstHalfRefused {
        /// Why.
        why: Box<Self>,
    },
    /// A number of the client's is NaN or infinite.
    NotFinite {
        /// Name of the array.
        array: &'static str,
        /// Of which particle, from 0; none where it is one number of all.
        particle: Option<usize>,
    },
    /// A number of the client's is less than zero.
    Negative {
        /// Name of the array.
        array: &'static str,
        /// Of which particle, from 0; none where it is one number of all.
        particle: Option<usize>,
    },
    /// A handle stands for nothing.
    BadHandle {
        /// Why, in words.
        reason: &'static str,
    },
    /// The call needs what another call makes.
    NotOpen {
        /// The other call.
        by: &'static str,
    },
    /// There is no memory.
    OutOfMemory {
        /// What the memory was for.
        purpose: &'static str,
    },
    /// The neighbour lists of a block have too many entries together.
    ListsTooLong {
        /// The most that they may have.
        at_most: usize,
    },
    /// The call exists only so that clients link.
    Unsupported {
        /// Why, in words.
        reason: &'static str,
    },
    /// A signal handler forked during the call, and the threads at work on it stayed with the parent.
    ThreadsLost,
    /// A signal handler called while its thread was inside another call.
    InsideAnother,
    /// A defect of kirin itself: a panic, caught before it reached the client.
    Internal {
        /// The message of the panic.
        message: String,
    },
}

impl Error {
    /// The integer that the exported functions return for this error.
    pub fn code(&self) -> i32 {
        self.kind() as i32
    }

    fn kind(&self) -> Code {
        match self {
            Self::NullPointer { .. }
            | Self::OutOfRange { .. }
            | Self::NotFinite { .. }
            | Self::Negative { .. } => Code::Argument,
            Self::BadHandle { .. } => Code::Handle,
            Self::BlockTooSmall { .. } | Self::TooFewRegisters { .. } | Self::NotOpen { .. } => {
                Code::Order
            }
            Self::FirstHalfRefused { why } => why.kind(),
            Self::Unsupported { .. } => Code::Unsupported,
            Self::Internal { .. } | Self::ThreadsLost => Code::Internal,
            Self::OutOfMemory { .. } | Self::ListsTooLong { .. } => Code::Memory,
            Self::InsideAnother => Code::Inside,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NullPointer { argument } => write!(f, "{argument} is a null pointer"),
            Self::OutOfRange {
                argument,
                value,
                legal,
            } => write!(f, "{argument} = {value}, but {legal}"),
            Self::BlockTooSmall { asked, present } => write!(
                f,
                "ni = {asked}, but the block of the last firsthalf has {present} i-particles"
            ),
            Self::TooFewRegisters { announced, loaded } => write!(
                f,
                "g6_set_nip announced {announced} i-particles, but {loaded} were loaded"
            ),
            Self::FirstHalfRefused { why } => write!(f, "the last firsthalf was refused: {why}"),
            Self::NotFinite { array, particle } => match particle {
                Some(k) => write!(f, "{array} of particle {k} is NaN or infinite"),
                None => write!(f, "{array} is NaN or infinite"),
            },
            Self::Negative { array, particle } => match particle {
                Some(k) => write!(f, "{array} of particle {k} is negative"),
                None => write!(f, "{array} is negative"),
            },
            Self::BadHandle { reason } => write!(f, "the handle {reason}"),
            Self::NotOpen { by } => write!(f, "{by} was not called before"),
            Self::OutOfMemory { purpose } => write!(f, "no memory for {purpose}"),
            Self::ListsTooLong { at_most } => write!(
                f,
                "the neighbour lists of this block have more than {at_most} entries together"
            ),
            Self::Unsupported { reason } => write!(f, "not supported: {reason}"),
            Self::ThreadsLost => {
                f.write_str("a signal handler forked, and left the threads of this call behind")
            }
            Self::InsideAnother => f.write_str(
                "refused: a signal handler calls while its thread is inside another call, or has left one by siglongjmp",
            ),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}

impl std::error::Error for Error {}
