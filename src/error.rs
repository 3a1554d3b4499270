//! What can go wrong, with the code a client sees for it.

use std::fmt;

/// Result of a library call.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything the library refuses or fails at.
///
/// [`Error::code`] is what the exported functions return. All codes are
/// negative: the interface keeps positive values for the overflow of
/// neighbour lists, which is not an error.
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
        match self {
            Self::NullPointer { .. } | Self::OutOfRange { .. } => -1,
            Self::BlockTooSmall { .. } | Self::NotOpen { .. } => -2,
            Self::Unsupported { .. } => -3,
            Self::Internal { .. } | Self::ThreadsLost => -4,
            Self::OutOfMemory { .. } | Self::ListsTooLong { .. } => -5,
            Self::InsideAnother => -6,
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
                "refused: a signal handler calls what it has interrupted in another call",
            ),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}

impl std::error::Error for Error {}
