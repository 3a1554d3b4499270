//! Diagnostics over time: what a run records, and how figures, CSV and JSON show it.

use serde_json::{Value, json};

use crate::body::Body;
use crate::density::Core;
use crate::diagnostics::{Energy, lagrangian_radii};
use crate::models::light_and_heavy;
use crate::plot::{Curve, Panel, Scale};

/// Floating-point operations that are counted for a pair, by Makino and Nitadori's convention.
pub const FLOPS_PER_PAIR: f64 = 60.0;

/// Fractions of the mass whose Lagrangian radii are recorded.
pub const FRACTIONS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// Names of a record's numbers, in the order of [`Record::numbers`].
pub const COLUMNS: [&str; 17] = [
    "time",
    "energy",
    "energy_error",
    "virial_ratio",
    "core_radius",
    "core_density",
    "lagrangian_10",
    "lagrangian_25",
    "lagrangian_50",
    "lagrangian_75",
    "lagrangian_90",
    "light_10",
    "light_50",
    "light_90",
    "heavy_10",
    "heavy_50",
    "heavy_90",
];

/// Fractions of a component's mass whose Lagrangian radii are recorded.
const COMPONENT_FRACTIONS: [f64; 3] = [0.1, 0.5, 0.9];

/// What is known of the bodies at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Time.
    pub t: f64,
    /// Total energy.
    pub energy: f64,
    /// |E - E0| / |E0|.
    pub energy_error: f64,
    /// -T/W: 1/2 in virial equilibrium.
    pub virial_ratio: f64,
    /// Core radius after Casertano and Hut.
    pub core_radius: f64,
    /// Core density after Casertano and Hut.
    pub core_density: f64,
    /// Lagrangian radii: they hold the [`FRACTIONS`] of the mass.
    pub radii: [f64; FRACTIONS.len()],
    /// The radii that hold 10, 50 and 90 % of the mass of the light bodies and of the heavy ones, about
    /// the centre of each; 0 where not exactly two masses occur.
    pub components: [[f64; COMPONENT_FRACTIONS.len()]; 2],
    /// What the application records besides: see [`Integration::own_columns`](crate::run::Integration::own_columns).
    pub own: Vec<f64>,
}

impl Record {
    /// What is known of `bodies`, of which the energy is `energy` and once was `energy0`; besides it, the
    /// application's `own` numbers.
    pub fn of(t: f64, bodies: &[Body], energy: &Energy, energy0: f64, own: Vec<f64>) -> Self {
        let core = Core::of(bodies);
        let radii = lagrangian_radii(bodies, &FRACTIONS);
        Self {
            t,
            energy: energy.total(),
            energy_error: energy.error(energy0),
            virial_ratio: energy.virial_ratio(),
            core_radius: core.radius,
            core_density: core.density,
            radii: radii.try_into().expect("one radius for each fraction"),
            components: light_and_heavy(bodies).map_or([[0.0; 3]; 2], |components| {
                components.map(|bodies| {
                    let radii = lagrangian_radii(&bodies, &COMPONENT_FRACTIONS);
                    radii.try_into().expect("one radius for each fraction")
                })
            }),
            own,
        }
    }

    /// Whether there are light bodies and heavy ones.
    fn has_components(&self) -> bool {
        self.components[1][2] > 0.0
    }

    /// All numbers, for a line of a file.
    pub fn numbers(&self) -> Vec<f64> {
        let [r0, r1, r2, r3, r4] = self.radii;
        let [[l0, l1, l2], [h0, h1, h2]] = self.components;
        let shared: [f64; COLUMNS.len()] = [
            self.t,
            self.energy,
            self.energy_error,
            self.virial_ratio,
            self.core_radius,
            self.core_density,
            r0,
            r1,
            r2,
            r3,
            r4,
            l0,
            l1,
            l2,
            h0,
            h1,
            h2,
        ];
        [&shared[..], &self.own].concat()
    }

    /// The record that has these [`numbers`](Self::numbers); `None` where there are too few.
    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let (shared, own) = numbers.split_at_checked(COLUMNS.len())?;
        let [
            t,
            energy,
            energy_error,
            virial_ratio,
            core_radius,
            core_density,
            r0,
            r1,
            r2,
            r3,
            r4,
            l0,
            l1,
            l2,
            h0,
            h1,
            h2,
        ] = <[f64; COLUMNS.len()]>::try_from(shared).ok()?;
        Some(Self {
            t,
            energy,
            energy_error,
            virial_ratio,
            core_radius,
            core_density,
            radii: [r0, r1, r2, r3, r4],
            components: [[l0, l1, l2], [h0, h1, h2]],
            own: own.to_vec(),
        })
    }
}

/// The records for programs, with the names of the application's own numbers. Numbers that are not finite
/// become null.
pub fn json(records: &[Record], own_columns: &[&str]) -> Value {
    let record = |r: &Record| {
        let mut all = json!({
            "t": r.t,
            "energy": r.energy,
            "energy_error": r.energy_error,
            "virial_ratio": r.virial_ratio,
            "core_radius": r.core_radius,
            "core_density": r.core_density,
            "radii": r.radii,
            "light_radii": r.components[0],
            "heavy_radii": r.components[1],
        });
        for (name, value) in own_columns.iter().zip(&r.own) {
            all[name] = json!(value);
        }
        all
    };
    records.iter().map(record).collect()
}

/// Curves over time from these `records`: energy error, virial ratio, and the radii; of two components
/// the core density in the place of the virial ratio, and the radii of each.
pub fn panels(records: &[Record]) -> [Panel; 3] {
    let over_time = |label: &str, value: &dyn Fn(&Record) -> f64| Curve {
        label: label.to_owned(),
        points: records.iter().map(|r| (r.t, value(r))).collect(),
    };
    let error = over_time("", &|r| r.energy_error);
    let virial = over_time("", &|r| r.virial_ratio);
    let core = over_time("core", &|r| r.core_radius);
    let error = Panel::over_time("Energy error |ΔE / E₀|", Scale::Logarithmic, vec![error]);
    if records.iter().any(Record::has_components) {
        let mut radii = Vec::new();
        for (c, component) in ["light", "heavy"].into_iter().enumerate() {
            for (f, fraction) in COMPONENT_FRACTIONS.iter().enumerate().take(2) {
                let label = format!("{component} {:.0} %", 100.0 * fraction);
                radii.push(over_time(&label, &|r| r.components[c][f]));
            }
        }
        radii.push(core);
        let density = over_time("", &|r| r.core_density);
        return [
            error,
            Panel::over_time("Core density", Scale::Logarithmic, vec![density]),
            Panel::over_time(
                "Radii of light and heavy bodies, and core radius",
                Scale::Logarithmic,
                radii,
            ),
        ];
    }
    let mut radii: Vec<Curve> = (0..FRACTIONS.len())
        .map(|f| over_time(&format!("{:.0} %", 100.0 * FRACTIONS[f]), &|r| r.radii[f]))
        .collect();
    radii.push(core);
    [
        error,
        Panel::over_time("Virial ratio −T / W", Scale::Linear, vec![virial]),
        Panel::over_time(
            "Lagrangian radii and core radius",
            Scale::Logarithmic,
            radii,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Data;

    fn records() -> [Record; 2] {
        let bodies = crate::models::plummer(20, 1);
        let energy = Energy::of(&bodies, 0.0);
        [0.0, 0.5].map(|t| Record::of(t, &bodies, &energy, -0.5, vec![t, 7.0]))
    }

    #[test]
    fn panels_hold_a_point_for_each_record() {
        let records = records();
        assert!((records[0].energy_error - 0.5).abs() < 1e-12);
        assert!((records[0].virial_ratio - 0.5).abs() < 1e-12);
        let panels = panels(&records);
        let Data::Curves(curves) = &panels[2].data else {
            panic!("curves")
        };
        assert_eq!(curves.len(), FRACTIONS.len() + 1);
        assert!(curves.iter().all(|c| c.points.len() == 2));
        let json = json(&records, &["mine", "more"]);
        assert_eq!(
            (&json[1]["t"], &json[1]["mine"]),
            (&json!(0.5), &json!(0.5))
        );
    }

    #[test]
    fn two_components_have_radii_of_their_own() {
        let mut bodies = crate::models::plummer(500, 1);
        let halves = crate::models::Components {
            ratio: 2.0,
            fraction: 0.5,
        };
        halves.divide(&mut bodies);
        let heaviest = bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
        for body in bodies.iter_mut().filter(|b| b.mass == heaviest) {
            body.x = body.x.map(|x| 0.1 * x);
        }
        let record = Record::of(0.0, &bodies, &Energy::of(&bodies, 0.0), -0.25, Vec::new());
        let [light, heavy] = record.components;
        assert!(heavy[1] < 0.2 * light[1], "{record:?}");
        let panels = panels(&[record]);
        assert_eq!(panels[1].title, "Core density");
        let Data::Curves(curves) = &panels[2].data else {
            panic!("curves")
        };
        assert_eq!(curves[3].label, "heavy 50 %");
        assert_eq!(curves[3].points, [(0.0, heavy[1])]);
    }

    #[test]
    fn a_line_of_csv_has_a_number_for_each_column() {
        let records = records();
        let path = std::env::temp_dir().join(format!("kirin-kit-{}.csv", std::process::id()));
        let columns = [&COLUMNS[..], &["mine", "more"]].concat();
        let first = records[..1].iter().map(Record::numbers);
        let mut csv = crate::csv::Csv::create(&path, &columns, first).unwrap();
        csv.write(&records[1].numbers()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].split(',').count(), COLUMNS.len() + 2);
        assert!(lines[0].ends_with(",mine,more"));
        for (line, record) in lines[1..].iter().zip(&records) {
            let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            assert_eq!(Record::from_numbers(&numbers).as_ref(), Some(record));
        }
        let half = COLUMNS.iter().position(|c| *c == "lagrangian_50").unwrap();
        assert_eq!(records[0].numbers()[half], records[0].radii[2]);
    }
}
