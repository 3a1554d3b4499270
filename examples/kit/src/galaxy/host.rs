//! A galaxy as the cluster's integrator uses it: a model of the galaxy and a black hole at its centre, in the
//! cluster's units.

use super::additions::{AdditionOptions, Additions};
use super::component::Plummer;
use super::{Field, MilkyWay, Moment, Units};
use serde::{Deserialize, Serialize};

use crate::settings::choice;
use crate::snapshot::Snapshot;
use crate::snapshot::line::words;
use crate::vector::Vec3;

/// Key of the time that is today's.
const TODAY: &str = "galaxy.today";

/// A galaxy around a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Galaxy {
    /// The model of the galaxy.
    pub model: MilkyWay,
    /// The cluster's units.
    pub units: Units,
    /// Whether the units are told where there is no galaxy to which they matter.
    pub told_units: bool,
    /// Mass of the black hole at the centre, in cluster masses.
    pub black_hole: f64,
    /// Its softening, in the cluster's unit of length.
    pub black_hole_eps: f64,
    /// What options add to the model.
    pub more: Option<&'static Additions>,
    /// The time in the run that is the present day. The options give the places of satellites, the angle of the bar
    /// and, with `--back`, the cluster's orbit for this day.
    pub today: f64,
}

/// The line of a galaxy in a snapshot.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(with = "choice")]
    model: MilkyWay,
    units: Units,
    black_hole: f64,
    black_hole_eps: f64,
}

impl Galaxy {
    /// Key of the galaxy and the units in a snapshot.
    pub const KEY: &str = "galaxy.field";

    /// Nothing around the bodies, whose units these are, if they are known.
    pub fn of_units(units: Option<Units>) -> Self {
        Self {
            units: units.unwrap_or_default(),
            told_units: units.is_some(),
            ..Self::default()
        }
    }

    /// Whether there is nothing around the cluster.
    pub fn is_none(&self) -> bool {
        self.model == MilkyWay::None && self.black_hole == 0.0 && self.more.is_none()
    }

    /// The units of the bodies, where they have a meaning: in a galaxy, or where they are told.
    pub fn known_units(&self) -> Option<Units> {
        (self.told_units || !self.is_none()).then_some(self.units)
    }

    /// The field, if there is one, as it is today.
    pub fn field(&self) -> Option<&dyn Field> {
        (!self.is_none()).then_some(self)
    }

    /// The galaxy at the time `t`.
    pub fn at(&self, t: f64) -> Moment {
        Moment::of(self, t)
    }

    /// Where the grid of a potential from a file ends, in words: beyond it nothing is known of the field.
    pub fn edge(&self) -> Option<String> {
        self.more?.told.table.as_ref()?.edge()
    }

    /// Whether its field depends on time.
    pub fn changes(&self) -> bool {
        self.more.is_some_and(Additions::changes)
    }

    /// Checks that the field does not depend on time, for a program that knows no others.
    ///
    /// # Errors
    ///
    /// It does; in words.
    pub fn check_constant(&self) -> Result<(), String> {
        match self.changes() {
            true => Err(
                "this program's galaxy does not change with time: symplectic has moving satellites (here they are \
                 `:fixed`), rotating bars and growing masses"
                    .to_owned(),
            ),
            false => Ok(()),
        }
    }

    /// The unit of length in kpc, and the factor from the model's potentials to the cluster's.
    pub(super) fn scale(&self) -> (f64, f64) {
        let velocity = self.units.velocity() / 10.0;
        (self.units.length / 1000.0, 1.0 / (velocity * velocity))
    }

    pub(super) fn hole(&self) -> Plummer {
        Plummer {
            m: self.black_hole,
            b: self.black_hole_eps,
        }
    }

    /// The lines of a snapshot; none where there is nothing around the cluster, and nothing known of its units.
    pub fn lines(&self) -> Vec<(String, String)> {
        if self.known_units().is_none() {
            return Vec::new();
        }
        let line = Line {
            model: self.model,
            units: self.units,
            black_hole: self.black_hole,
            black_hole_eps: self.black_hole_eps,
        };
        let mut lines = vec![(Self::KEY.to_owned(), words(&line))];
        if self.today != 0.0 {
            lines.push((TODAY.to_owned(), words(&self.today)));
        }
        lines.extend(self.more.iter().flat_map(|more| more.told.lines()));
        lines
    }

    /// The galaxy of a run that `snapshot` was saved from.
    ///
    /// # Errors
    ///
    /// Its line makes no sense; in words.
    pub fn of(snapshot: &Snapshot) -> Result<Self, String> {
        let Some(line) = snapshot.line::<Line>(Self::KEY)? else {
            return Ok(Self::default());
        };
        let mut galaxy = Self {
            model: line.model,
            told_units: false,
            units: line.units,
            black_hole: line.black_hole,
            black_hole_eps: line.black_hole_eps,
            more: None,
            today: snapshot.line(TODAY)?.unwrap_or_default(),
        };
        let told = AdditionOptions::of(snapshot)?;
        if !told.is_empty() {
            galaxy.more = Some(Additions::of(told, line.model));
        }
        galaxy.told_units = galaxy.is_none();
        Ok(galaxy)
    }

    /// Whether the bodies of `snapshot` come from a galaxy. Units alone are none.
    ///
    /// # Errors
    ///
    /// Its line makes no sense; in words.
    pub fn is_in(snapshot: &Snapshot) -> Result<bool, String> {
        let line: Option<Line> = snapshot.line(Self::KEY)?;
        let attracts = line.is_some_and(|l| l.model != MilkyWay::None || l.black_hole != 0.0);
        Ok(attracts || AdditionOptions::are_in(snapshot))
    }

    /// What there is around the cluster, in words.
    pub fn title(&self) -> String {
        let model = (self.model != MilkyWay::None).then(|| self.model.title().to_owned());
        let hole = (self.black_hole > 0.0).then(|| match self.black_hole_eps {
            0.0 => format!("a black hole of {} cluster masses", self.black_hole),
            eps => format!(
                "a black hole of {} cluster masses, softened by {eps}",
                self.black_hole
            ),
        });
        let more = self.more.map_or_else(Vec::new, |more| more.told.titles());
        let parts: Vec<String> = model.into_iter().chain(hole).chain(more).collect();
        match parts.is_empty() {
            true => "none".to_owned(),
            false => parts.join(", "),
        }
    }
}

impl Units {
    /// The units of the bodies of `snapshot`, where it tells them.
    ///
    /// # Errors
    ///
    /// Its line makes no sense; in words.
    pub fn of(snapshot: &Snapshot) -> Result<Option<Self>, String> {
        let line: Option<Line> = snapshot.line(Galaxy::KEY)?;
        Ok(line.map(|line| line.units))
    }
}

/// The galaxy of today.
impl Field for Galaxy {
    fn potential(&self, x: &Vec3) -> f64 {
        self.at(self.today).potential(x)
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        self.at(self.today).acceleration(x)
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        self.at(self.today).jerk(x, v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Galaxy = Galaxy {
        model: MilkyWay::AllenSantillan,
        units: Units {
            mass: 16000.0,
            length: 10.0,
        },
        told_units: false,
        black_hole: 50.0,
        black_hole_eps: 0.01,
        more: None,
        today: 0.0,
    };

    /// The circular speed is the model's whatever the units, but for the black hole of 8e5 solar masses.
    #[test]
    fn a_circle_in_the_clusters_units() {
        let x = [HOST.units.from_kpc(8.5), 0.0, 0.0];
        let speed = HOST.circular_speed(&x) * HOST.units.velocity();
        assert!((speed - 220.0).abs() < 0.05, "{speed}");
        let period = std::f64::consts::TAU * HOST.units.from_kpc(8.0)
            / HOST.circular_speed(&[HOST.units.from_kpc(8.0), 0.0, 0.0]);
        assert!((period - 60.0).abs() < 0.5, "{period}");
    }

    #[test]
    fn units_change_no_derivative() {
        let (x, v) = ([9.0, -4.0, 2.0], [0.5, 1.0, -2.0]);
        let h = 1e-3;
        let along = |h: f64| std::array::from_fn(|k| x[k] + h * v[k]);
        let slope = (HOST.potential(&along(h)) - HOST.potential(&along(-h))) / (2.0 * h);
        let power = -crate::vector::dot(&HOST.acceleration(&x), &v);
        assert!((slope / power - 1.0).abs() < 1e-6);
        let jerk = HOST.jerk(&x, &v);
        let [before, after] = [-h, h].map(|h| HOST.acceleration(&along(h)));
        for k in 0..3 {
            let change = (after[k] - before[k]) / (2.0 * h);
            assert!((jerk[k] - change).abs() < 1e-5 * crate::vector::norm(&jerk));
        }
    }

    #[test]
    fn a_snapshot_keeps_the_galaxy() {
        let mut snapshot = Snapshot::default();
        assert_eq!(Galaxy::of(&snapshot), Ok(Galaxy::default()));
        snapshot.run.extend(HOST.lines());
        assert_eq!(Galaxy::of(&snapshot), Ok(HOST));
        assert_eq!(Galaxy::default().lines(), Vec::new());
        let alone = Galaxy {
            told_units: true,
            ..Galaxy::default()
        };
        let mut told = Snapshot::default();
        told.run.extend(alone.lines());
        assert_eq!(Galaxy::of(&told), Ok(alone));
        snapshot.run[0].1 = "andromeda 1 2 3 4".to_owned();
        assert!(Galaxy::of(&snapshot).is_err());
    }
}
