//! The guard of a run: it warns of an energy error, and ends the run if the error is too large.

use serde::{Deserialize, Serialize};

use crate::number::number;

/// Energy errors of which a run warns, and at which it ends, in parts of the cluster's own T + W.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Guard {
    /// Warn once where the energy error exceeds this part of the cluster's own energy T + W [default: 1e-3]
    #[arg(long, value_name = "PART", value_parser = number)]
    #[serde(default, with = "super::told::number")]
    pub energy_warning: Option<f64>,
    /// End the run, with its state saved, if the energy error exceeds this; none: never [default: 0.1]
    #[arg(long, value_name = "PART", value_parser = limit)]
    #[serde(default, with = "super::told::limit")]
    pub energy_limit: Option<f64>,
}

/// Looks in a run at most.
const LOOKS: f64 = 10_000.0;

const WARNING: f64 = 1e-3;
const LIMIT: f64 = 0.1;

/// A number, or `none`.
pub(super) fn limit(text: &str) -> Result<f64, String> {
    match text {
        "none" => Ok(f64::INFINITY),
        _ => number(text),
    }
}

/// What an energy error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Well,
    /// The user should know.
    Doubtful,
    /// What comes after it is worthless.
    Worthless,
}

impl Guard {
    /// What an error means.
    pub fn judge(&self, error: f64) -> Verdict {
        if error > self.limit() {
            Verdict::Worthless
        } else if error > self.energy_warning.unwrap_or(WARNING) {
            Verdict::Doubtful
        } else {
            Verdict::Well
        }
    }

    /// The error at which the run ends.
    pub fn limit(&self) -> f64 {
        self.energy_limit.unwrap_or(LIMIT)
    }

    /// Interval at which the guard checks the energy of `n` bodies in a run without diagnostics. The sum over all pairs
    /// then takes about a fiftieth of the time of the steps. There are at most 10,000 checks in the time `span`, which
    /// may be millions of units of time if the units are not N-body units.
    pub fn interval(n: usize, span: f64) -> f64 {
        let interval: f64 = match n {
            0..=1024 => 0.5,
            1025..=16384 => 1.0,
            _ => 4.0,
        };
        interval.max(span / LOOKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_few_in_any_unit_of_time() {
        assert_eq!(Guard::interval(1000, 200.0), 0.5);
        assert_eq!(Guard::interval(1000, 1e155), 1e151);
    }

    #[test]
    fn errors_are_judged_by_two_limits() {
        let guard = Guard::default();
        for (error, verdict) in [
            (1e-3, Verdict::Well),
            (f64::NAN, Verdict::Well),
            (1.1e-3, Verdict::Doubtful),
            (0.11, Verdict::Worthless),
            (f64::INFINITY, Verdict::Worthless),
        ] {
            assert_eq!(guard.judge(error), verdict, "{error}");
        }
        let careless = Guard {
            energy_warning: Some(0.5),
            energy_limit: Some(limit("none").unwrap()),
        };
        assert_eq!(careless.judge(0.4), Verdict::Well);
        assert_eq!(careless.judge(1e300), Verdict::Doubtful);
        assert!(limit("much").is_err());
    }
}
