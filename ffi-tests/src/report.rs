//! The lines that the clients print, and their comparison with the plain sum.

use crate::direct::{self, Sum};
use crate::sets::Set;

/// What a client printed for one i-particle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Label.
    pub index: i32,
    /// Acceleration.
    pub acc: [f64; 3],
    /// Jerk.
    pub jerk: [f64; 3],
    /// Potential.
    pub pot: f64,
    /// Label of the nearest neighbour.
    pub nearest: i32,
    /// Neighbour list.
    pub list: Vec<i32>,
}

/// A number as `%25.16E` and `ES25.16E2` print it.
pub fn exponential(value: f64) -> String {
    let text = format!("{value:.16E}");
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let text = format!("{mantissa}E{sign}{:02}", exponent.abs());
    format!("{text:>25}")
}

/// Reads the output of a client.
///
/// # Panics
///
/// If a line is not what clients print.
pub fn parse(output: &str) -> Vec<Line> {
    output.lines().map(parse_line).collect()
}

fn parse_line(line: &str) -> Line {
    let words: Vec<&str> = line.split_whitespace().collect();
    let real = |i: usize| -> f64 { words[i].parse().expect("a real number") };
    let integer = |i: usize| -> i32 { words[i].parse().expect("an integer") };
    let length = integer(9) as usize;
    assert_eq!(words.len(), 10 + length, "{line}");
    Line {
        index: integer(0),
        acc: [1, 2, 3].map(real),
        jerk: [4, 5, 6].map(real),
        pot: real(7),
        nearest: integer(8),
        list: (10..10 + length).map(integer).collect(),
    }
}

/// How far results may be from the plain sum.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// In units of the sum of the magnitudes of the terms: rounding of the pair arithmetic.
    arithmetic: f64,
    /// The same for jerks.
    jerk: f64,
    /// In units of positions and velocities: rounding of the prediction and of the differences.
    places: f64,
}

impl Tolerance {
    /// Double precision: rounding in another order.
    pub const DOUBLE: Self = Self {
        arithmetic: 1e-13,
        jerk: 1e-13,
        places: 4e-15,
    };
    /// Mixed precision: pairs in single precision, a few roundings of 6e-8 each; differences of 48 bits.
    pub const MIXED: Self = Self {
        arithmetic: 6e-7,
        jerk: 6e-7,
        places: 3e-14,
    };

    /// Single precision: positions and velocities are rounded before they are subtracted.
    pub const SINGLE: Self = Self {
        arithmetic: 6e-7,
        jerk: 6e-7,
        places: 2.4e-7,
    };

    /// Pairs of singles, and jerks in single precision; differences of 48 bits.
    pub const DOUBLE_SINGLE: Self = Self {
        arithmetic: 2e-12,
        jerk: 6e-7,
        places: 3e-14,
    };

    /// The tolerance for a value of `KIRIN_PRECISION`.
    pub fn of(precision: &str) -> Self {
        match precision {
            "double" => Self::DOUBLE,
            // Forces with jerks are `single` in both.
            "single" | "reduced" => Self::SINGLE,
            "double-single" => Self::DOUBLE_SINGLE,
            _ => Self::MIXED,
        }
    }

    /// Allowed errors of acceleration, jerk and potential.
    pub fn errors(self, sum: &Sum) -> (f64, f64, f64) {
        let error = |part: f64, scale: f64, shift: f64| part * scale + self.places * shift;
        (
            error(self.arithmetic, sum.acc_scale, sum.shift[0]),
            error(self.jerk, sum.jerk_scale, sum.shift[1]),
            error(self.arithmetic, sum.pot_scale, sum.shift[2]),
        )
    }

    /// Whether a force agrees with a sum.
    pub fn allows(self, acc: [f64; 3], jerk: [f64; 3], pot: f64, sum: &Sum) -> bool {
        let errors = self.errors(sum);
        let near = |a: f64, b: f64, error: f64| (a - b).abs() <= error;
        (0..3).all(|k| near(acc[k], sum.acc[k], errors.0) && near(jerk[k], sum.jerk[k], errors.1))
            && near(pot, sum.pot, errors.2)
    }
}

/// Compares everything a client printed about a set with the plain sum.
///
/// # Panics
///
/// At the first difference beyond the tolerance.
pub fn check(output: &str, set: &Set, tolerance: Tolerance, with_self: bool) {
    let lines = parse(output);
    assert_eq!(lines.len(), set.probes.len());
    for (line, probe) in lines.iter().zip(&set.probes) {
        let sum = direct::force(probe, set.sources.iter(), set.ti, set.eps2);
        assert!(
            tolerance.allows(line.acc, line.jerk, line.pot, &sum),
            "{tolerance:?}\nprinted: {line:?}\nplain sum: {sum:?}"
        );
        let nearest = direct::nearest(probe, set.sources.iter(), set.ti);
        assert_eq!(line.index, probe.index);
        assert_eq!(line.nearest, nearest.map_or(0, |n| n.0), "{line:?}");
        let list = direct::neighbours(probe, set.sources.iter(), set.ti, with_self);
        assert_eq!(line.list, list);
    }
}
