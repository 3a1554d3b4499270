//! Expected values: what a call should return or write, with a tolerance.

use self::Expected::{Anything, Exactly, Near};
use crate::direct::{self, Probe, Source};
use crate::report::Tolerance;

/// What the client prefills outputs with.
pub const UNTOUCHED: f64 = -77.25;

/// One expected number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// This number.
    Exactly(f64),
    /// This number, with an error of at most the second.
    Near(f64, f64),
    /// Any negative number: a refusal.
    Refusal,
    /// The input was not finite: whatever the arithmetic makes of it.
    Anything,
}

impl Expected {
    /// Whether a client's number is as expected.
    pub fn allows(self, found: f64) -> bool {
        match self {
            // 0 and -0 are both no force.
            Self::Exactly(value) => found == value,
            Self::Near(value, error) => (found - value).abs() <= error,
            Self::Refusal => found < 0.0,
            Self::Anything => true,
        }
    }
}

/// The settings that change what calls answer.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// `KIRIN_NPIPES`
    pub npipes: i32,
    /// Tolerance of forces.
    pub tolerance: Tolerance,
    /// `KIRIN_NO_NEIGHBOUR` where it is not `auto`.
    pub no_neighbour: Option<i32>,
    /// `KIRIN_SNAP`
    pub snap: bool,
}

/// The seven numbers of a force, and the nearest neighbour.
pub fn force(
    rules: Rules,
    sources: &[Source],
    ti: f64,
    (probe, eps2): &(Probe, f64),
) -> ([Expected; 7], Option<(i32, f64)>) {
    let nearest = direct::nearest(probe, sources.iter(), ti);
    let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
    let spoilt = |s: &Source| {
        let (x, v) = s.predict(ti);
        s.index != probe.index && !(finite(&x) && finite(&v) && s.mass.is_finite())
    };
    let alone = sources.iter().all(|s| s.index == probe.index);
    if alone {
        return ([Exactly(0.0); 7], nearest);
    }
    let legal = finite(&probe.x) && finite(&probe.v) && eps2.is_finite() && *eps2 >= 0.0;
    if !legal || sources.iter().any(spoilt) {
        return ([Anything; 7], nearest);
    }
    let sum = direct::force(probe, sources.iter(), ti, *eps2);
    let (acc, jerk, pot) = rules.tolerance.errors(&sum);
    let near = |value: f64, error: f64| match value.is_finite() {
        true => Near(value, error),
        false => Anything,
    };
    let [a, j] = [
        sum.acc.map(|a| near(a, acc)),
        sum.jerk.map(|j| near(j, jerk)),
    ];
    (
        [a[0], a[1], a[2], j[0], j[1], j[2], near(sum.pot, pot)],
        nearest,
    )
}
