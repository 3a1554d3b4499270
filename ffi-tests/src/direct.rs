//! The plain double-precision sum with the full predictor, against which every
//! client's numbers are checked. Written from the formulas, without kirin's code.

/// A particle that attracts, as `g6_set_j_particle` takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Source {
    /// Label.
    pub index: i32,
    /// Time of the other fields.
    pub t: f64,
    /// Mass.
    pub mass: f64,
    /// An eighteenth of the second derivative of the acceleration.
    pub a2by18: [f64; 3],
    /// A sixth of the jerk.
    pub a1by6: [f64; 3],
    /// Half the acceleration.
    pub aby2: [f64; 3],
    /// Velocity.
    pub v: [f64; 3],
    /// Position.
    pub x: [f64; 3],
}

/// A point at which the force is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Probe {
    /// Label.
    pub index: i32,
    /// Position.
    pub x: [f64; 3],
    /// Velocity.
    pub v: [f64; 3],
    /// Squared neighbour radius.
    pub h2: f64,
}

/// A force, and the sums of the magnitudes of its terms, which scale the rounding errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Acceleration.
    pub acc: [f64; 3],
    /// Jerk.
    pub jerk: [f64; 3],
    /// Potential.
    pub pot: f64,
    /// Sum of the magnitudes of the potentials.
    pub pot_scale: f64,
    /// Sum of the magnitudes of the accelerations.
    pub acc_scale: f64,
    /// Sum of the magnitudes of the parts of the jerks.
    pub jerk_scale: f64,
    /// How much acceleration, jerk and potential change, to first order, for each unit of relative change of the
    /// positions and velocities: if all of them change by a part e of their size, the force changes by up to e times
    /// these numbers.
    pub shift: [f64; 3],
}

impl Source {
    /// Position and velocity at the time `ti`.
    pub fn predict(&self, ti: f64) -> ([f64; 3], [f64; 3]) {
        let s = ti - self.t;
        if s == 0.0 {
            return (self.x, self.v);
        }
        let position = |k: usize| {
            self.x[k]
                + self.v[k] * s
                + self.aby2[k] * s.powi(2)
                + self.a1by6[k] * s.powi(3)
                + 0.75 * self.a2by18[k] * s.powi(4)
        };
        let velocity = |k: usize| {
            self.v[k]
                + 2.0 * self.aby2[k] * s
                + 3.0 * self.a1by6[k] * s.powi(2)
                + 3.0 * self.a2by18[k] * s.powi(3)
        };
        ([0, 1, 2].map(position), [0, 1, 2].map(velocity))
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Squared distance of a source at `ti` from a probe, without softening.
pub fn distance2(probe: &Probe, source: &Source, ti: f64) -> f64 {
    let r = minus(source.predict(ti).0, probe.x);
    dot(r, r)
}

/// The force of `sources` at the time `ti` on `probe`.
pub fn force<'a>(
    probe: &Probe,
    sources: impl Iterator<Item = &'a Source>,
    ti: f64,
    eps2: f64,
) -> Sum {
    let mut sum = Sum::default();
    for source in sources.filter(|s| s.index != probe.index) {
        let (xj, vj) = source.predict(ti);
        let (r, v) = (minus(xj, probe.x), minus(vj, probe.v));
        let d2 = dot(r, r) + eps2;
        if d2 == 0.0 {
            continue;
        }
        let d = d2.sqrt();
        let m3 = source.mass / (d * d2);
        let along = 3.0 * dot(r, v) / d2;
        for k in 0..3 {
            sum.acc[k] += m3 * r[k];
            sum.jerk[k] += m3 * (v[k] - along * r[k]);
        }
        sum.pot -= source.mass / d;
        let size = |a: [f64; 3]| dot(a, a).sqrt();
        let m3 = m3.abs();
        let speeds = size(vj) + size(probe.v);
        let places = size(xj) + size(probe.x);
        sum.pot_scale += (source.mass / d).abs();
        sum.acc_scale += m3 * size(r);
        sum.jerk_scale += m3 * (speeds + along.abs() * size(r));
        sum.shift[0] += m3 * places;
        sum.shift[1] += m3 * (speeds + places * speeds / d);
        sum.shift[2] += m3 * places * size(r);
    }
    sum
}

/// Label of the nearest source, the first of equally near ones; none at an infinite distance.
pub fn nearest<'a>(
    probe: &Probe,
    sources: impl Iterator<Item = &'a Source>,
    ti: f64,
) -> Option<(i32, f64)> {
    let mut best: Option<(i32, f64)> = None;
    for source in sources.filter(|s| s.index != probe.index) {
        let r2 = distance2(probe, source, ti);
        if r2 < best.map_or(f64::INFINITY, |(_, least)| least) {
            best = Some((source.index, r2));
        }
    }
    best
}

/// Labels of the sources within the probe's radius, in ascending order; with the probe's own if `with_self`.
pub fn neighbours<'a>(
    probe: &Probe,
    sources: impl Iterator<Item = &'a Source>,
    ti: f64,
    with_self: bool,
) -> Vec<i32> {
    let mut found: Vec<i32> = sources
        .filter(|s| with_self || s.index != probe.index)
        .filter(|s| distance2(probe, s, ti) < probe.h2)
        .map(|s| s.index)
        .collect();
    found.sort_unstable();
    found
}
