//! Measurements that are repeated as often as the time allows, and their medians.

use serde::Serialize;

/// Median and quartiles of repeated trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Quarter of the values are below.
    pub lower: f64,
    /// Half of the values are below.
    pub median: f64,
    /// Three quarters of the values are below.
    pub upper: f64,
    /// Number of values.
    pub trials: usize,
}

impl Spread {
    /// Of these values; quantiles between two are interpolated. `None` without any.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let quantile = |q: f64| {
            let at = q * last as f64;
            let (below, above) = (values[at.floor() as usize], values[at.ceil() as usize]);
            // Not by the difference alone: that of two infinities is no number.
            if below == above {
                below
            } else {
                below + (above - below) * at.fract()
            }
        };
        Some(Self {
            lower: quantile(0.25),
            median: quantile(0.5),
            upper: quantile(0.75),
            trials: values.len(),
        })
    }

    /// Half the distance between the quartiles in percent of the median, such as `3.1`; `-` for a single trial.
    pub fn percent(&self) -> String {
        match self.trials {
            0 | 1 => "-".to_owned(),
            _ => format!("{:.1}", 50.0 * (self.upper - self.lower) / self.median),
        }
    }
}

/// How often a measurement is repeated.
#[derive(Clone, Copy, Debug)]
pub struct Repetitions {
    /// So often in any case.
    pub least: usize,
    /// Not more often; once in any case.
    pub most: usize,
    /// More often than `least` only until the values add up to this.
    pub seconds: f64,
}

/// Repeats a measurement of all `subjects`, one after the other in every round, so that what
/// disturbs the machine disturbs them alike. `trial` returns how many seconds one took.
///
/// # Errors
///
/// The first of a trial.
pub fn repeat<T, E>(
    patience: Repetitions,
    subjects: impl IntoIterator<Item = T>,
    mut trial: impl FnMut(&mut T) -> Result<f64, E>,
) -> Result<Vec<Spread>, E> {
    let mut subjects: Vec<(T, Vec<f64>)> = subjects.into_iter().map(|s| (s, Vec::new())).collect();
    let mut spent = 0.0;
    for round in 0..patience.most.max(1) {
        if round > 0 && round >= patience.least && spent >= patience.seconds {
            break;
        }
        for (subject, values) in &mut subjects {
            let seconds = trial(subject)?;
            spent += seconds;
            values.push(seconds);
        }
    }
    let spreads = subjects.into_iter().map(|s| Spread::of(s.1));
    Ok(spreads.map(|s| s.expect("there was a round")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(
            (spread.lower, spread.median, spread.upper),
            (1.75, 2.5, 3.25)
        );
        assert_eq!((spread.percent().as_str(), spread.trials), ("30.0", 4));
        assert_eq!(Spread::of(vec![7.0]).unwrap().percent(), "-");
        assert_eq!(Spread::of(Vec::new()), None);
        let endless = Spread::of(vec![f64::INFINITY; 2]).unwrap();
        assert_eq!(endless.median, f64::INFINITY);
    }

    fn trials(patience: Repetitions) -> usize {
        let spreads = repeat(patience, [1.0, 0.5], |s| Ok::<f64, ()>(*s)).unwrap();
        assert_eq!((spreads[0].median, spreads[1].median), (1.0, 0.5));
        assert_eq!(spreads[0].trials, spreads[1].trials);
        spreads[0].trials
    }

    #[test]
    fn patience_ends() {
        let patience = Repetitions {
            least: 3,
            most: 11,
            seconds: 6.0,
        };
        assert_eq!(trials(patience), 4);
        assert_eq!(
            trials(Repetitions {
                seconds: 0.0,
                ..patience
            }),
            3
        );
        assert_eq!(
            trials(Repetitions {
                seconds: 1e9,
                ..patience
            }),
            11
        );
        let once = Repetitions {
            least: 0,
            most: 0,
            seconds: 0.0,
        };
        assert_eq!(trials(once), 1);
    }

    #[test]
    fn an_error_ends_everything() {
        let patience = Repetitions {
            least: 3,
            most: 3,
            seconds: 0.0,
        };
        let mut rounds = 0;
        let result = repeat(patience, [()], |()| {
            rounds += 1;
            if rounds == 2 { Err("no") } else { Ok(1.0) }
        });
        assert_eq!((result, rounds), (Err("no"), 2));
    }
}
