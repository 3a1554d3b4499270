//! The cluster over time: the records of a run, and their form in CSV and JSON.

use kirin_kit::communicator::Communicator;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cluster::Cluster;
use crate::diagnostics::{FRACTIONS, components};
use crate::potential::Potential;

/// Numbers of a record.
pub const COLUMNS: [&str; 35] = [
    "t",
    "time",
    "steps",
    "n",
    "mass",
    "kinetic",
    "potential",
    "escaped_energy",
    "collision_energy",
    "energy_error",
    "relaxation_time",
    "core_radius",
    "core_density",
    "core_stars",
    "lagrangian_01",
    "lagrangian_05",
    "lagrangian_10",
    "lagrangian_25",
    "lagrangian_50",
    "lagrangian_75",
    "lagrangian_90",
    "tidal_radius",
    "binaries",
    "binary_energy",
    "light_10",
    "light_50",
    "light_90",
    "heavy_10",
    "heavy_50",
    "heavy_90",
    "evolution_energy",
    "black_hole_mass",
    "influence_radius",
    "stars_taken",
    "taken_energy",
];

/// What is known at one time; the numbers of [`COLUMNS`].
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Time in initial half-mass relaxation times.
    pub t: f64,
    /// Time in N-body units.
    pub time: f64,
    /// Number of steps.
    pub steps: u64,
    /// Number of stars.
    pub n: usize,
    /// Their mass.
    pub mass: f64,
    /// Kinetic and potential energy, that of escapers, and what collisions cost.
    pub energies: [f64; 4],
    /// |E - E0| / |E0|.
    pub energy_error: f64,
    /// Half-mass relaxation time.
    pub relaxation_time: f64,
    /// Core radius.
    pub core_radius: f64,
    /// Core density.
    pub core_density: f64,
    /// Number of stars within the core radius.
    pub core_stars: usize,
    /// Lagrangian radii of the [`FRACTIONS`].
    pub radii: [f64; FRACTIONS.len()],
    /// Tidal radius; infinite where there is no tidal field.
    pub tidal_radius: f64,
    /// Number of binaries.
    pub binaries: usize,
    /// Energy of all binaries, those among the escapers included, less that of the binaries at the start.
    pub binary_energy: f64,
    /// Radii of light and of heavy stars: see [`components`]. `None` where not exactly two masses occur, and in runs with binaries.
    pub components: Option<[[f64; 3]; 2]>,
    /// Energy that stars have taken with them by their evolution.
    pub evolution_energy: f64,
    /// Mass of the black hole, and radius within which the stars have this mass; 0 without one.
    pub black_hole: [f64; 2],
    /// Number of stars that it has taken.
    pub taken: u64,
    /// Energy that it has taken.
    pub taken_energy: f64,
}

impl Record {
    /// Of the cluster now.
    pub fn of<C: Communicator>(cluster: &Cluster<C>) -> Self {
        let (past, now) = (&cluster.past, &cluster.now);
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
            black_hole: [past.hole_mass, cluster.influence_radius()],
            taken: past.ledger.taken,
            taken_energy: past.ledger.taken_energy,
        }
    }

    /// Radius that holds half of the mass.
    pub fn half_mass(&self) -> f64 {
        self.radii[4]
    }

    /// All numbers, for a line of a file.
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers = vec![
            self.t,
            self.time,
            self.steps as f64,
            self.n as f64,
            self.mass,
        ];
        numbers.extend(self.energies);
        numbers.extend([self.energy_error, self.relaxation_time]);
        numbers.extend([self.core_radius, self.core_density, self.core_stars as f64]);
        numbers.extend(self.radii);
        numbers.extend([self.tidal_radius, self.binaries as f64, self.binary_energy]);
        let components = self.components.unwrap_or([[f64::NAN; 3]; 2]);
        numbers.extend(components.as_flattened());
        numbers.push(self.evolution_energy);
        numbers.extend(self.black_hole);
        numbers.extend([self.taken as f64, self.taken_energy]);
        numbers
    }

    /// The record that has these [`numbers`](Self::numbers); `None` where there are too many or too few.
    pub fn of_numbers(numbers: &[f64]) -> Option<Self> {
        let &[
            t,
            time,
            steps,
            n,
            mass,
            kinetic,
            potential,
            escaped,
            collided,
            ref rest @ ..,
        ] = numbers
        else {
            return None;
        };
        let &[
            energy_error,
            relaxation_time,
            core_radius,
            core_density,
            core_stars,
            ref rest @ ..,
        ] = rest
        else {
            return None;
        };
        let (radii, rest) = rest.split_first_chunk()?;
        // A run that began before there were tidal fields and binaries has no more.
        let none = [
            f64::INFINITY,
            0.0,
            0.0,
            f64::NAN,
            f64::NAN,
            f64::NAN,
            f64::NAN,
            f64::NAN,
            f64::NAN,
        ];
        let rest = if rest.is_empty() { &none } else { rest };
        let &[tidal_radius, binaries, binary_energy, ref parts @ ..] = rest else {
            return None;
        };
        let (&[a, b, c, d, e, f], rest) = parts.split_first_chunk()?;
        // The same of a run that began before stars evolved, and before there were black holes.
        let [evolution_energy, hole_mass, influence, taken, taken_energy] = match *rest {
            [] => [0.0; 5],
            [energy] => [energy, 0.0, 0.0, 0.0, 0.0],
            _ => rest.try_into().ok()?,
        };
        Some(Self {
            t,
            time,
            steps: steps as u64,
            n: n as usize,
            mass,
            energies: [kinetic, potential, escaped, collided],
            energy_error,
            relaxation_time,
            core_radius,
            core_density,
            core_stars: core_stars as usize,
            radii: *radii,
            tidal_radius,
            binaries: binaries as usize,
            binary_energy,
            components: (!f.is_nan()).then_some([[a, b, c], [d, e, f]]),
            evolution_energy,
            black_hole: [hole_mass, influence],
            taken: taken as u64,
            taken_energy,
        })
    }

    /// The record as JSON.
    pub fn json(&self) -> Value {
        let object: Map<String, Value> = COLUMNS
            .into_iter()
            .zip(self.numbers())
            .map(|(name, number)| (name.to_owned(), number.into()))
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
    /// Records the cluster now, if it is time: `every` is the interval in initial relaxation times.
    pub fn look<C: Communicator>(
        &mut self,
        cluster: &Cluster<C>,
        every: f64,
        at_the_end: bool,
    ) -> Option<&Record> {
        let due = self.records.last().is_none_or(|last| {
            let change = cluster.now.core_density / last.core_density;
            let steps = cluster.past.steps - last.steps;
            cluster.scaled_time() >= last.t + every
                || steps >= FEWEST_STEPS && !(1.0 / CHANGE..CHANGE).contains(&change)
                || at_the_end && steps > 0
        });
        if !due {
            return None;
        }
        self.records.push(Record::of(cluster));
        let decades = (cluster.now.core_density / self.records[0].core_density).log10();
        if self.profiles.is_empty() || decades >= self.profiles.len() as f64 || at_the_end {
            let profile =
                DensityProfile::of(cluster.scaled_time(), &cluster.potential, &cluster.radii);
            self.profiles.push(profile);
        }
        self.records.last()
    }
}
