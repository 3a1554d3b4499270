//! The results of a replay.

use kirin_core::sources::particle::Force;
use serde::{Deserialize, Serialize};

/// Errors beyond are all alike.
const HOPELESS: f64 = 1e30;

/// Relative errors of one quantity.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Errors {
    /// Root mean square.
    pub rms: f64,
    /// Largest.
    pub max: f64,
    count: u64,
}

impl Errors {
    fn add(&mut self, found: &[f64], recorded: &[f64]) {
        let norm =
            |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|n| n * n).sum::<f64>().sqrt();
        let difference = norm(&mut found.iter().zip(recorded).map(|(a, b)| a - b));
        let error = match difference == 0.0 {
            true => 0.0,
            false => (difference / norm(&mut recorded.iter().copied())).min(HOPELESS),
        };
        self.max = self.max.max(error);
        self.count += 1;
        let n = self.count as f64;
        self.rms = (self.rms * self.rms * ((n - 1.0) / n) + error * error / n).sqrt();
    }
}

/// Things that are alike or not.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Compared {
    /// How many there were.
    pub compared: u64,
    /// How many were not what was recorded.
    pub different: u64,
}

impl Compared {
    /// Takes note of one.
    pub fn add(&mut self, alike: bool) {
        self.compared += 1;
        self.different += u64::from(!alike);
    }
}

/// Forces and their errors.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Forces {
    /// Forces; different are those that differ in any bit.
    pub forces: Compared,
    /// Forces of which only the library's is no finite number.
    pub not_finite: u64,
    /// Forces of which the recorded one is no finite number.
    pub recorded_not_finite: u64,
    /// Of the acceleration.
    pub acc: Errors,
    /// Of the jerk.
    pub jerk: Errors,
    /// Of the potential.
    pub pot: Errors,
}

impl Forces {
    /// Compares a force.
    pub fn add(&mut self, found: &Force, recorded: &Force) {
        let all = |f: &Force| {
            [
                f.acc[0], f.acc[1], f.acc[2], f.jerk[0], f.jerk[1], f.jerk[2], f.pot,
            ]
        };
        let (a, b) = (all(found), all(recorded));
        self.forces.add(a.map(f64::to_bits) == b.map(f64::to_bits));
        if !recorded.is_finite() {
            self.recorded_not_finite += 1;
            return;
        }
        if !found.is_finite() {
            self.not_finite += 1;
            return;
        }
        self.acc.add(&a[..3], &b[..3]);
        self.jerk.add(&a[3..6], &b[3..6]);
        self.pot.add(&a[6..], &b[6..]);
    }
}

/// What a library did with the calls of NBODY6 beside regular forces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Nbody6 {
    /// Irregular forces, which have no potential.
    pub irregular: Forces,
    /// Potentials of `gpupot_`, as forces that are nothing else.
    pub potentials: Forces,
    /// Seconds of irregular forces.
    pub irregular_seconds: f64,
    /// Seconds of potentials.
    pub potential_seconds: f64,
}

/// What one library did with a trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Whether the trace was played to where it can be read.
    pub finished: bool,
    /// Events played.
    pub events: u64,
    /// Blocks that took several calls, because the library has too few pipelines.
    pub split: u64,
    /// Forces; the regular ones of NBODY6.
    #[serde(flatten)]
    pub all: Forces,
    /// Nearest neighbours, where the library knows any.
    pub neighbours: Compared,
    /// Neighbour lists, where the library has any.
    pub lists: Compared,
    /// Predicted particles, where the library tells them.
    pub predicted: Compared,
    /// Seconds in `firsthalf` and `lasthalf`, or in `gpunb_regf_`.
    pub force_seconds: f64,
    /// Seconds in `set_j_particle`, or in the calls that write sources, stars and lists.
    pub write_seconds: f64,
    /// What NBODY6 has besides; none of another interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbody6: Option<Box<Nbody6>>,
}

impl Summary {
    /// Whether any result was compared.
    pub fn has_compared(&self) -> bool {
        self.counts().any(|c| c.compared > 0)
    }

    /// Whether forces differ in any bit.
    pub fn has_other_forces(&self) -> bool {
        self.forces().any(|f| f.forces.different > 0)
    }

    /// Forces of which the recorded ones are no finite numbers.
    pub fn recorded_not_finite(&self) -> u64 {
        self.forces().map(|f| f.recorded_not_finite).sum()
    }

    /// Whether there are results, and every one is the recorded one, bit for bit.
    pub fn is_exact(&self) -> bool {
        self.finished && self.has_compared() && self.counts().all(|c| c.different == 0)
    }

    fn forces(&self) -> impl Iterator<Item = &Forces> {
        let nbody6 = self.nbody6.iter();
        let nbody6 = nbody6.flat_map(|n| [&n.irregular, &n.potentials]);
        std::iter::once(&self.all).chain(nbody6)
    }

    fn counts(&self) -> impl Iterator<Item = Compared> {
        let others = [self.neighbours, self.lists, self.predicted];
        self.forces().map(|f| f.forces).chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_and_bits_are_compared() {
        let recorded = Force {
            acc: [3.0, 4.0, 0.0],
            jerk: [0.0; 3],
            pot: -2.0,
        };
        let mut summary = Summary {
            finished: true,
            ..Summary::default()
        };
        assert!(!summary.is_exact(), "nothing was compared");
        summary.all.add(&recorded, &recorded);
        assert!(summary.is_exact());
        let found = Force {
            acc: [3.0, 4.0, 0.5],
            jerk: [-0.0, 0.0, 0.0],
            pot: -2.0,
        };
        summary.all.add(&found, &recorded);
        assert_eq!(
            (summary.all.forces.compared, summary.all.forces.different),
            (2, 1)
        );
        assert!((summary.all.acc.max - 0.1).abs() < 1e-15);
        assert!((summary.all.acc.rms - 0.1 / 2.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!((summary.all.jerk.max, summary.all.pot.max), (0.0, 0.0));
        let lost = Force {
            pot: f64::NAN,
            ..recorded
        };
        summary.all.add(&lost, &recorded);
        assert_eq!((summary.all.not_finite, summary.all.acc.count), (1, 2));
        summary.all.add(&lost, &lost);
        assert_eq!(
            (summary.all.recorded_not_finite, summary.all.acc.count),
            (1, 2)
        );
        assert!(!summary.is_exact());
    }

    #[test]
    fn another_bit_of_any_kind_is_not_exact() {
        let spoil: [fn(&mut Nbody6); 2] = [
            |n| n.irregular.forces.add(false),
            |n| n.potentials.forces.add(false),
        ];
        for spoil in spoil {
            let mut summary = Summary {
                finished: true,
                nbody6: Some(Box::default()),
                ..Summary::default()
            };
            summary.all.forces.add(true);
            assert!(summary.is_exact());
            spoil(summary.nbody6.as_mut().expect("it was made"));
            assert!(!summary.is_exact());
        }
    }
}
