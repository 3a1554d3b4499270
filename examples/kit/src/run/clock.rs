//! Multiples of an interval, in simulated or in wall-clock time.

use std::time::{Duration, Instant};

use crate::galaxy::Galaxy;
use crate::quantity::{self, Quantity};

/// How far, as a part of the interval, a time may be from a multiple and still count as one: times are sums
/// of steps, and multiples of 0.1 are rounded.
const SLACK: f64 = 1e-9;

/// The same for times of so many intervals that their last digits are worth more.
const DIGITS: f64 = 8.0 * f64::EPSILON;

/// The time `t` in intervals of `every`, and how far it may be from a whole number of them.
fn intervals(t: f64, every: f64) -> (f64, f64) {
    let count = t / every;
    (count, SLACK.max(DIGITS * count.abs()))
}

/// The multiples of an interval of the simulated time, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    every: f64,
    number: i64,
}

impl Clock {
    /// The multiples of `every` from `t` on.
    pub fn from(t: f64, every: f64) -> Self {
        let (count, slack) = intervals(t, every);
        let number = (count - slack).ceil() as i64;
        Self { every, number }
    }

    /// The multiples of `every` after `t`.
    pub fn after(t: f64, every: f64) -> Self {
        let number = Self::number_of(t, every).saturating_add(1);
        Self { every, number }
    }

    /// The number of the last multiple of `every` that `t` has come to.
    pub fn number_of(t: f64, every: f64) -> i64 {
        let (count, slack) = intervals(t, every);
        (count + slack).floor() as i64
    }

    /// The number of the next multiple.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// The next multiple.
    pub fn due(&self) -> f64 {
        self.number as f64 * self.every
    }

    /// Whether `t` has come to the next multiple, but for rounding.
    pub fn reached(&self, t: f64) -> bool {
        Self::number_of(t, self.every) >= self.number
    }

    /// Goes on to the first multiple after `t`. Returns the number of the last one that was reached.
    pub fn pass(&mut self, t: f64) -> i64 {
        *self = Self::after(t, self.every);
        self.number - 1
    }
}

/// How often something is to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// At multiples of this simulated time.
    Simulated(f64),
    /// When this time has passed on the wall.
    Wall(Duration),
}

/// An [`Interval`] as it is given on the command line: the simulated time may have a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cadence {
    /// At multiples of this simulated time.
    Simulated(Quantity),
    /// When this time has passed on the wall.
    Wall(Duration),
}

impl Cadence {
    /// `1/4` and `10Myr` are simulated time, `30min` or `2h` is the wall's.
    ///
    /// # Errors
    ///
    /// The text is neither; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(every) = quantity::interval(text) {
            return Ok(Self::Simulated(every));
        }
        match humantime::parse_duration(text) {
            Ok(every) if !every.is_zero() => Ok(Self::Wall(every)),
            _ => Err("neither a simulated time (1/4) nor one of the wall's (30min, 2h)".to_owned()),
        }
    }

    /// The interval, for bodies in this galaxy.
    ///
    /// # Errors
    ///
    /// Those of [`Quantity::of_bodies`].
    pub fn interval(self, galaxy: Option<&Galaxy>) -> Result<Interval, String> {
        Ok(match self {
            Self::Simulated(every) => Interval::Simulated(every.of_bodies(galaxy)?),
            Self::Wall(every) => Interval::Wall(every),
        })
    }
}

impl std::fmt::Display for Cadence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Simulated(every) => write!(f, "{every}"),
            Self::Wall(every) => write!(f, "{}", humantime::format_duration(*every)),
        }
    }
}

impl Interval {
    /// A timer from the simulated time `t` and from now on.
    pub fn begin(self, t: f64) -> Timer {
        match self {
            Self::Simulated(every) => Timer::Simulated(Clock::after(t, every)),
            Self::Wall(every) => Timer::Wall(every, Instant::now()),
        }
    }
}

/// An [`Interval`] that is running.
pub enum Timer {
    /// The next multiple.
    Simulated(Clock),
    /// The interval and when it began.
    Wall(Duration, Instant),
}

impl Timer {
    /// Whether the interval has passed at the simulated time `t`; then the next one begins.
    pub fn rings(&mut self, t: f64) -> bool {
        match self {
            Self::Simulated(clock) => {
                let rings = clock.reached(t);
                if rings {
                    clock.pass(t);
                }
                rings
            }
            Self::Wall(every, began) => {
                let rings = began.elapsed() >= *every;
                if rings {
                    *began = Instant::now();
                }
                rings
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_after_and_from_a_time() {
        assert_eq!(Clock::after(0.0, 0.25).due(), 0.25);
        assert_eq!(Clock::after(0.25, 0.25).due(), 0.5);
        assert_eq!(Clock::after(-0.1, 0.25).due(), 0.0);
        assert_eq!(Clock::from(0.0, 0.25).due(), 0.0);
        assert_eq!(Clock::from(0.25, 0.25).due(), 0.25);
        assert_eq!(Clock::from(0.26, 0.25).due(), 0.5);
    }

    /// 3 * 0.1 is above 0.3.
    #[test]
    fn rounding_loses_no_multiple() {
        let mut clock = Clock::after(0.2, 0.1);
        assert!(clock.due() > 0.3 && clock.reached(0.3));
        assert_eq!(clock.pass(0.3), 3);
        assert_eq!(clock.due(), 0.4);
        assert!(!clock.reached(0.39999));
        assert_eq!(clock.pass(0.75), 7);
    }

    /// After so many intervals the last digit of a time is worth more than a billionth of one.
    #[test]
    fn many_intervals_lose_none() {
        for number in 300_000_000..300_001_000_i64 {
            let t = number as f64 / 10.0;
            assert_eq!(Clock::from(t, 0.1).number, number);
            let mut clock = Clock::from(t, 0.1);
            assert!(clock.reached(t));
            assert_eq!((clock.pass(t), clock.number), (number, number + 1));
            assert!(!clock.reached(t));
        }
    }

    #[test]
    fn a_timer_rings_once_for_each_interval() {
        let mut timer = Interval::Simulated(0.5).begin(0.0);
        let times = [0.25, 0.5, 0.75, 2.25, 2.375, 2.5];
        assert_eq!(
            times.map(|t| timer.rings(t)),
            [false, true, false, true, false, true]
        );
        let mut wall = Interval::Wall(Duration::from_millis(20)).begin(0.0);
        assert!(!wall.rings(100.0));
        std::thread::sleep(Duration::from_millis(25));
        assert!(wall.rings(100.0) && !wall.rings(100.0));
    }

    #[test]
    fn intervals_have_two_kinds() {
        let plain = |text: &str| Cadence::parse(text).and_then(|c| c.interval(None));
        assert_eq!(plain("1/4"), Ok(Interval::Simulated(0.25)));
        let half_an_hour = Duration::from_secs(1800);
        assert_eq!(plain("30min"), Ok(Interval::Wall(half_an_hour)));
        for bad in ["0", "0s", "-1", "often", "1e-12", "10Myr"] {
            assert!(plain(bad).is_err(), "{bad}");
        }
        for text in ["10Myr", "1h 5m", "1/4"] {
            let cadence = Cadence::parse(text).unwrap();
            assert_eq!(Cadence::parse(&cadence.to_string()), Ok(cadence));
        }
    }
}
