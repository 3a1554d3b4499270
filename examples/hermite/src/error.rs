//! The errors that can end an integration.

use kirin_kit::communicator::CommunicationError;

/// Why an integration cannot start or go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A setting, or a snapshot to start from, that makes no sense; in words.
    Refused(String),
    /// The library returned this nonzero status.
    Library(i32),
    /// The ranks that compute the forces cannot reach each other.
    Communication(CommunicationError),
    /// The force on the particle with this label is not a finite number.
    NotFinite {
        /// Label.
        index: i32,
        /// Time at which the force was asked for.
        t: f64,
    },
    /// A star has left the grid of a potential from a file.
    BeyondGrid {
        /// Label.
        index: i32,
        /// Time at which the force was asked for.
        t: f64,
        /// Where the grid ends, in words.
        edge: String,
    },
    /// The step of the particle with this label fell below the limit.
    StepTooSmall {
        /// Label.
        index: i32,
        /// Time of the particle.
        t: f64,
        /// The limit: a setting, or what the digits of the time allow.
        limit: f64,
    },
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Communication(e) => e.fmt(f),
            Self::Library(status) => write!(f, "the library failed with status {status}"),
            Self::NotFinite { index, t } => write!(
                f,
                "the force on particle {index} at t = {t} is not a finite number"
            ),
            Self::BeyondGrid { index, t, edge } => write!(
                f,
                "star {index} leaves the grid of the --potential, which ends at {edge}, at t = {t}: a larger grid is needed"
            ),
            Self::StepTooSmall { index, t, limit } => write!(
                f,
                "the step of particle {index} at t = {t} fell below 2^{}, the limit by --dt-min or by \
                 the digits of the time: two particles are too close for this softening (--eps)",
                limit.log2()
            ),
        }
    }
}

impl std::error::Error for Error {}

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

impl From<kirin_kit::few_body::Error> for Error {
    fn from(error: kirin_kit::few_body::Error) -> Self {
        Self::Refused(format!("--regularize: {error}"))
    }
}
