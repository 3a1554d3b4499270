//! The errors that can end a run.

use kirin_kit::communicator::CommunicationError;

/// What can stop a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// An option or a file that makes no sense; in words. All ranks find the same.
    Refused(String),
    /// A rank is lost, or a message too long.
    Communication(CommunicationError),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Communication(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<CommunicationError> for Error {
    fn from(error: CommunicationError) -> Self {
        Self::Communication(error)
    }
}
