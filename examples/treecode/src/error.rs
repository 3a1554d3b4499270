//! The errors that can end an integration.

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
        }
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}
