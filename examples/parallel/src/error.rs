//! The errors that end a parallel run.

use kirin_kit::communicator::CommunicationError;

/// Why a run cannot start or go on.
#[derive(Debug, PartialEq)]
pub enum Error {
    /// What stops the integration of one rank too.
    Integration(hermite::error::Error),
    /// The same, where all ranks have been told. Everybody is where they were before the block.
    Agreed(hermite::error::Error),
    /// The ranks cannot reach each other.
    Communication(CommunicationError),
    /// An option or a file that makes no sense; in words.
    Refused(String),
}

impl Error {
    /// An error of an integration that all ranks make as a whole: what does not come from one rank, comes to all of them.
    pub fn of_all(error: hermite::error::Error) -> Self {
        match error {
            hermite::error::Error::Communication(e) => Self::Communication(e),
            hermite::error::Error::Library(_) => Self::Integration(error),
            _ => Self::Agreed(error),
        }
    }

    /// What stops the integration of one rank.
    pub fn into_integration(self) -> hermite::error::Error {
        match self {
            Self::Integration(e) | Self::Agreed(e) => e,
            Self::Communication(e) => e.into(),
            Self::Refused(why) => why.into(),
        }
    }

    /// Whether all ranks have been told.
    pub fn is_agreed(&self) -> bool {
        matches!(self, Self::Agreed(_))
    }

    /// The same, with where the grid of a potential ends.
    pub fn with_edge(mut self, find: impl Fn() -> Option<String>) -> Self {
        if let Self::Agreed(hermite::error::Error::BeyondGrid { edge, .. }) = &mut self {
            *edge = find().unwrap_or_default();
        }
        self
    }

    /// Whether every rank finds this error by itself, or has been told.
    pub fn is_common(&self) -> bool {
        self.is_agreed() || matches!(self, Self::Refused(_))
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integration(e) | Self::Agreed(e) => e.fmt(f),
            Self::Communication(e) => e.fmt(f),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

impl From<hermite::error::Error> for Error {
    fn from(e: hermite::error::Error) -> Self {
        Self::Integration(e)
    }
}

impl From<CommunicationError> for Error {
    fn from(e: CommunicationError) -> Self {
        Self::Communication(e)
    }
}

impl From<String> for Error {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}
