//! The messages between parent and worker.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bench::{Measurement, Peak, Sample};
use crate::candidate::MeasuredInterface;
use crate::check::{ForceErrors, ListErrors, SceneOf};
use crate::replay::Summary;

/// What the parent asks.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Opens the library at `path`, or the linked kirin.
    Open {
        /// Where the system's loader finds it.
        path: Option<String>,
        /// Whose calls it is asked for.
        interface: MeasuredInterface,
    },
    /// Loads the cluster that `Sample` works on.
    Load {
        /// Number of stars.
        n: usize,
        /// Names the cluster.
        seed: u64,
    },
    /// Measures a speed.
    Sample(Measurement),
    /// Measures the fused multiply-adds of the instruction set that kirin uses here.
    Peak {
        /// About how long.
        seconds: f64,
    },
    /// Compares forces and nearest neighbours.
    Forces(SceneOf),
    /// Compares neighbour lists.
    Lists(SceneOf),
    /// Repeats the calls of a trace from its beginning.
    Replay {
        /// The trace.
        trace: String,
        /// Pipelines of the recorded run, where they are known.
        pipelines: Option<usize>,
    },
    /// Goes on with the trace.
    Continue {
        /// For about so long.
        seconds: f64,
    },
}

impl Request {
    /// How long the answer to a healthy request takes at least: measurements last as long as they were asked to.
    pub fn duration(&self) -> Duration {
        let seconds = match self {
            Self::Sample(what) => what.seconds,
            Self::Peak { seconds } | Self::Continue { seconds } => *seconds,
            _ => 0.0,
        };
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

/// What the worker answers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// To `Open`.
    Opened(Opened),
    /// To `Load`.
    Loaded,
    /// To `Sample`.
    Sample(Sample),
    /// To `Peak`.
    Peak(Peak),
    /// To `Forces`.
    Forces(ForceErrors),
    /// To `Lists`.
    Lists(ListErrors),
    /// To `Replay`.
    Opening,
    /// To `Continue`.
    Replayed(Summary),
    /// The library cannot do what was asked; it may still do other things.
    Refused(String),
}

/// What an open library says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opened {
    /// kirin's backend, or the name of a foreign library.
    pub backend: String,
    /// kirin's precision, or "unknown".
    pub precision: String,
    /// Whether it is a kirin, linked or not.
    pub is_kirin: bool,
    /// Number of pipelines.
    pub npipes: usize,
    /// Threads, where they are known.
    pub threads: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_take_the_time_that_was_asked_for() {
        let peak = |seconds| Request::Peak { seconds }.duration();
        assert_eq!(peak(120.0), Duration::from_secs(120));
        assert_eq!(peak(f64::NAN), Duration::ZERO);
        assert_eq!(Request::Load { n: 1, seed: 1 }.duration(), Duration::ZERO);
    }
}
