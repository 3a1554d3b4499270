//! The cluster over time: the records of a run, and their form in CSV and JSON.

use kirin_kit::communicator::Communicator;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cluster::Cluster;
use crate::diagnostics::{FRACTIONS, INNERMOST, components};
use crate::potential::Potential;

kirin_kit::record! {
    /// What is known at one time.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Record {
        /// Time in initial half-mass relaxation times.
        t: f64 = Plain ["t"],
        /// Time in N-body units.
        time: f64 = Time ["time"],
        /// Number of steps.
        steps: u64 = Plain ["steps"],
        /// Number of stars.
        n: usize = Plain ["n"],
        /// Their mass.
        mass: f64 = Mass ["mass"],
        /// Kinetic and potential energy, that of escapers, and what collisions cost.
        energies: [f64; 4] = Plain ["kinetic", "potential", "escaped_energy", "collision_energy"],
        /// |E - E0| / |E0|.
        energy_error: f64 = Plain ["energy_error"],
        /// Half-mass relaxation time.
        relaxation_time: f64 = Time ["relaxation_time"],
        /// Core radius.
        core_radius: f64 = Length ["core_radius"],
        /// Core density.
        core_density: f64 = Density ["core_density"],
        /// Number of stars within the core radius.
        core_stars: usize = Plain ["core_stars"],
        /// Lagrangian radii of the [`FRACTIONS`].
        radii: [f64; FRACTIONS.len()] = Length [
            "lagrangian_01", "lagrangian_05", "lagrangian_10", "lagrangian_25", "lagrangian_50", "lagrangian_75",
            "lagrangian_90",
        ],
        /// Tidal radius; infinite where there is no tidal field.
        tidal_radius: f64 = Length ["tidal_radius"] or f64::INFINITY,
        /// Number of binaries.
        binaries: usize = Plain ["binaries"] or 0.0,
        /// Energy of all binaries, those among the escapers included, less that of the binaries at the start.
        binary_energy: f64 = Plain ["binary_energy"] or 0.0,
        /// Radii of light and of heavy stars: see [`components`]. `None` where not exactly two masses occur, and in runs
        /// with binaries.
        components: Option<[[f64; 3]; 2]> = Length [
            "light_10", "light_50", "light_90", "heavy_10", "heavy_50", "heavy_90",
        ],
        /// Energy that stars have taken with them by their evolution.
        evolution_energy: f64 = Plain ["evolution_energy"] or 0.0,
        /// Mass of the black hole; 0 without one.
        black_hole_mass: f64 = Mass ["black_hole_mass"] or 0.0,
        /// Radius within which the stars have the mass of the black hole; 0 without one.
        influence_radius: f64 = Length ["influence_radius"] or 0.0,
        /// Number of stars that the black hole has taken.
        taken: u64 = Plain ["stars_taken"] or 0.0,
        /// Energy that it has taken.
        taken_energy: f64 = Plain ["taken_energy"] or 0.0,
        /// Number of mergers.
        mergers: u64 = Plain ["mergers"] or 0.0,
        /// Mass, number of mergers and label of the heaviest star in the cluster that has grown by mergers; `None` where there is none.
        largest_mass: Option<f64> = Mass ["largest_merged_mass"],
        /// See [`largest_mass`](Self::largest_mass).
        largest_mergers: Option<u64> = Plain ["largest_merged_mergers"],
        /// See [`largest_mass`](Self::largest_mass).
        largest_label: Option<u64> = Plain ["largest_merged_label"],
        /// Lagrangian radii of the [`INNERMOST`] fractions; `None` in states of earlier versions.
        innermost: Option<[f64; INNERMOST.len()]> = Length ["lagrangian_0.1", "lagrangian_0.01"],
    }
}

/// Numbers of a record in states of earlier versions: before tidal fields and binaries, before the evolution of stars,
/// before black holes, before mergers were counted, and before the innermost radii.
const FORMER: [usize; 5] = [21, 30, 31, 35, 39];

impl Record {
    /// Of the cluster now.
    pub fn of<C: Communicator>(cluster: &Cluster<C>) -> Self {
        let (past, now) = (&cluster.past, &cluster.now);
        let largest = cluster.largest_merged();
        Self {
            t: cluster.scaled_time(),
            time: past.time,
            steps: past.steps,
            n: cluster.n(),
            mass: cluster.potential.mass(),
            energies: [
                now.kinetic,
                now.potential,
                past.ledger.escaped,
                past.ledger.collided,
            ],
            energy_error: cluster.energy_error(),
            relaxation_time: cluster.relaxation_time(),
            core_radius: now.core_radius,
            core_density: now.core_density,
            core_stars: now.core_stars,
            radii: now.radii,
            tidal_radius: cluster.tidal_radius().unwrap_or(f64::INFINITY),
            binaries: past.binaries.len(),
            // Without a binary it is 0, not -0.
            binary_energy: 0.0 - cluster.released(),
            components: match cluster.settings.has_binaries() {
                true => None,
                false => components(&cluster.masses, &cluster.radii),
            },
            evolution_energy: past.ledger.evolved,
            black_hole_mass: past.hole_mass,
            influence_radius: cluster.influence_radius(),
            taken: past.ledger.taken,
            taken_energy: past.ledger.taken_energy,
            mergers: cluster.mergers(),
            largest_mass: largest.map(|star| star.mass),
            largest_mergers: largest.map(|star| star.mergers),
            largest_label: largest.map(|star| star.id),
            innermost: Some(INNERMOST.map(|part| {
                let star = cluster.potential.enclosing(part);
                cluster.radii[star]
            })),
        }
    }

    /// Radius that holds half of the mass.
    pub fn half_mass(&self) -> f64 {
        self.radii[4]
    }

    /// The record that has these [`numbers`](Self::numbers), of this version or an earlier one; `None` where there are
    /// too many or too few.
    pub fn of_numbers(numbers: &[f64]) -> Option<Self> {
        let count = numbers.len();
        if count != Self::COLUMNS.len() && !FORMER.contains(&count) {
            return None;
        }
        let place = |name: &str| Self::COLUMNS.iter().position(|column| column.name == name);
        Some(Self::from_columns(|name| {
            numbers.get(place(name)?).copied()
        }))
    }

    /// The record as JSON.
    pub fn json(&self) -> Value {
        let object: Map<String, Value> = Self::COLUMNS
            .iter()
            .zip(self.numbers())
            .map(|(column, number)| (column.name.to_owned(), number.into()))
            .collect();
        object.into()
    }
}

/// The density of shells at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DensityProfile {
    /// Time in initial half-mass relaxation times.
    pub t: f64,
    /// Radius and density, from inside.
    pub points: Vec<(f64, f64)>,
}

/// Shells of a decade of radius, and stars of a shell at least.
const SHELLS: f64 = 12.0;
const FEWEST_IN_SHELL: usize = 20;

impl DensityProfile {
    /// Of stars with this potential at these radii.
    pub fn of(t: f64, potential: &Potential, radii: &[f64]) -> Self {
        let mut points = Vec::new();
        let mut begin = 0;
        while begin + FEWEST_IN_SHELL < radii.len() {
            let inner = if begin == 0 { 0.0 } else { radii[begin - 1] };
            let wanted = inner * 10.0_f64.powf(1.0 / SHELLS);
            let end = potential
                .star_inside(radii, wanted)
                .max(begin + FEWEST_IN_SHELL)
                .min(radii.len());
            let outer = radii[end - 1];
            let volume = 4.0 / 3.0 * std::f64::consts::PI * (outer.powi(3) - inner.powi(3));
            let mass = potential.between[end].inside - potential.between[begin].inside;
            // Half of the volume is on either side.
            let middle = (0.5 * (inner.powi(3) + outer.powi(3))).cbrt();
            points.push((middle, mass / volume));
            begin = end;
        }
        Self { t, points }
    }
}

/// The records of a run. They are made at intervals of time and, since the core collapses faster and faster,
/// whenever the core density has changed by a given factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Records in order of time.
    pub records: Vec<Record>,
    /// Density profiles at the start and at each decade of the core density.
    pub profiles: Vec<DensityProfile>,
}

/// Change of the core density after which a record is due.
const CHANGE: f64 = 1.1;
/// Steps between two such records at least.
const FEWEST_STEPS: u64 = 8;

impl History {
    /// Whether it is time for a record: `every` is the interval in initial relaxation times.
    pub fn is_due<C: Communicator>(
        &self,
        cluster: &Cluster<C>,
        every: f64,
        at_the_end: bool,
    ) -> bool {
        self.records.last().is_none_or(|last| {
            let change = cluster.now.core_density / last.core_density;
            let steps = cluster.past.steps - last.steps;
            cluster.scaled_time() >= last.t + every
                || steps >= FEWEST_STEPS && !(1.0 / CHANGE..CHANGE).contains(&change)
                || at_the_end && steps > 0
        })
    }

    /// Records the cluster now, if it is time: `every` is the interval in initial relaxation times.
    pub fn look<C: Communicator>(
        &mut self,
        cluster: &Cluster<C>,
        every: f64,
        at_the_end: bool,
    ) -> Option<&Record> {
        if !self.is_due(cluster, every, at_the_end) {
            return None;
        }
        let record = Record::of(cluster);
        let is_profile_due = self.is_profile_due(&record);
        self.records.push(record);
        if is_profile_due || at_the_end {
            let profile =
                DensityProfile::of(cluster.scaled_time(), &cluster.potential, &cluster.radii);
            self.profiles.push(profile);
        }
        self.records.last()
    }

    /// Whether the core density of `record`, which is to be the next one, is in a higher decade than in all profiles so far. One
    /// that was made at the end of a run, which now goes on, counts for the decade that it is in.
    fn is_profile_due(&self, record: &Record) -> bool {
        let (Some(first), false) = (self.records.first(), self.profiles.is_empty()) else {
            return true;
        };
        let decade = |record: &Record| (record.core_density / first.core_density).log10().floor();
        let of_profile = |profile: &DensityProfile| {
            let found = self.records.iter().find(|record| record.t == profile.t);
            found.map_or(0.0, decade)
        };
        let reached = self.profiles.iter().map(of_profile).fold(0.0, f64::max);
        decade(record) > reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile at the end of a run takes the place of no later one when the run goes on.
    #[test]
    fn profiles_are_made_at_each_decade_also_after_an_end() {
        let record = |t: f64, core_density: f64| {
            let mut numbers = vec![0.0; Record::COLUMNS.len()];
            numbers[0] = t;
            Record {
                core_density,
                ..Record::of_numbers(&numbers).unwrap()
            }
        };
        let mut history = History::default();
        let mut look = |t: f64, density: f64, at_the_end: bool| {
            let record = record(t, density);
            let is_due = history.is_profile_due(&record);
            history.records.push(record);
            if is_due || at_the_end {
                history.profiles.push(DensityProfile {
                    t,
                    points: Vec::new(),
                });
            }
            is_due
        };
        assert!(look(0.0, 2.0, false));
        assert!(!look(1.0, 19.0, true));
        assert!(!look(2.0, 1.0, false));
        assert!(look(3.0, 21.0, false));
        assert!(!look(4.0, 100.0, true));
        assert!(!look(5.0, 190.0, false));
        assert!(look(6.0, 201.0, false));
        assert!(!look(7.0, 1900.0, false));
    }

    #[test]
    fn records_of_earlier_versions_are_read_and_no_others() {
        let numbers: Vec<f64> = (1..=Record::COLUMNS.len()).map(|k| k as f64).collect();
        let now = Record::of_numbers(&numbers).unwrap();
        assert_eq!(now.numbers(), numbers);
        assert_eq!((now.radii[6], now.tidal_radius), (21.0, 22.0));
        let before = |count: usize| Record::of_numbers(&numbers[..count]).unwrap();
        let without_innermost = Record {
            innermost: None,
            ..now
        };
        assert_eq!(before(39), without_innermost);
        let unmerged = Record {
            mergers: 0,
            largest_mass: None,
            largest_mergers: None,
            largest_label: None,
            ..without_innermost
        };
        assert_eq!(before(35), unmerged);
        let expected = Record {
            evolution_energy: 0.0,
            black_hole_mass: 0.0,
            influence_radius: 0.0,
            taken: 0,
            taken_energy: 0.0,
            ..unmerged
        };
        assert_eq!(before(30), expected);
        let evolved = Record {
            evolution_energy: 31.0,
            ..expected.clone()
        };
        assert_eq!(before(31), evolved);
        let first = Record {
            tidal_radius: f64::INFINITY,
            binaries: 0,
            binary_energy: 0.0,
            components: None,
            ..expected
        };
        assert_eq!(before(21), first);
        for count in [0, 20, 22, 29, 32, 34, 36, 38, 40] {
            assert_eq!(Record::of_numbers(&numbers[..count]), None, "{count}");
        }
        assert_eq!(Record::of_numbers(&[numbers, vec![0.0]].concat()), None);
    }
}
