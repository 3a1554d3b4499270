//! What can stop an integration.

/// Why an integration cannot start or go on.
#[derive(Debug, PartialEq)]
pub enum Error {
    /// A setting, or something to start from, that makes no sense; in words.
    Refused(String),
    /// The library returned this nonzero status.
    Library(i32),
    /// The force on the particle with this label is not a finite number.
    Force {
        /// Label.
        index: i32,
    },
    /// Stars fall into each other, or into the black hole, where nothing is softened.
    Encounter {
        /// Label of the first of them.
        index: i32,
        /// Whether the black hole is near.
        hole: bool,
    },
    /// A star has left the grid of a potential from a file.
    BeyondGrid {
        /// Label.
        index: i32,
        /// Where the grid ends, in words.
        edge: String,
    },
    /// A position or velocity left the range of fixed-point numbers.
    Range,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Library(status) => write!(f, "the library failed with status {status}"),
            Self::Force { index } => {
                write!(f, "the force on particle {index} is not a finite number")
            }
            Self::Encounter { index, hole } => {
                let other = if *hole {
                    "the black hole"
                } else {
                    "another star"
                };
                write!(
                    f,
                    "star {index} falls into {other}: no step is short enough where nothing is softened"
                )
            }
            Self::BeyondGrid { index, edge } => write!(
                f,
                "star {index} leaves the grid of the --potential, which ends at {edge}: a larger grid is needed"
            ),
            Self::Range => f.write_str(
                "a position or velocity left the range of fixed point, 1024 times the largest at the \
                 start: --bits double has no such limit",
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}
