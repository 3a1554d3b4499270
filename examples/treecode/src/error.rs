//! The errors that can end an integration.

use kirin_kit::communicator::CommunicationError;

/// Why an integration cannot start or go on.
#[derive(Debug, PartialEq)]
pub enum Error {
    /// A setting, or something to start from, that makes no sense; in words.
    Refused(String),
    /// The library returned this nonzero status.
    Library(i32),
    /// The position of the particle with this label is not a finite number.
    Position {
        /// Label.
        index: i32,
    },
    /// The force on the particle with this label is not a finite number.
    Force {
        /// Label.
        index: i32,
    },
    /// No cube of finite size holds all particles.
    TooFarApart,
    /// There is no memory for the tree of this rank.
    Memory,
    /// The ranks cannot reach each other.
    Communication(CommunicationError),
}

impl Error {
    /// Whether an error of one rank ends the step of all, which agree on it: see `Ranks::agree`.
    pub fn is_agreed(&self) -> bool {
        match self {
            Self::Library(_) | Self::Position { .. } | Self::Force { .. } | Self::TooFarApart => {
                true
            }
            Self::Refused(_) | Self::Memory | Self::Communication(_) => false,
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Library(status) => write!(f, "the library failed with status {status}"),
            Self::Position { index } => {
                write!(f, "the position of particle {index} is not a finite number")
            }
            Self::Force { index } => {
                write!(f, "the force on particle {index} is not a finite number")
            }
            Self::TooFarApart => {
                f.write_str("the particles are too far apart for double precision")
            }
            Self::Memory => f.write_str("there is no memory for the tree"),
            Self::Communication(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}

impl From<CommunicationError> for Error {
    fn from(e: CommunicationError) -> Self {
        Self::Communication(e)
    }
}
