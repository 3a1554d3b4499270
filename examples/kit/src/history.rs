//! Diagnostics over time: the records of a run, and their form in figures, CSV and JSON.

use serde_json::{Value, json};

use crate::body::Body;
use crate::density::Core;
use crate::diagnostics::lagrangian_radii;
use crate::galaxy::Units;
use crate::models::light_and_heavy;
use crate::sight::{Sight, Start};
use kirin_report::plot::{Curve, Panel, Scale};

/// Floating-point operations that are counted for a pair, by Makino and Nitadori's convention.
pub const FLOPS_PER_PAIR: f64 = 60.0;

/// Fractions of the mass whose Lagrangian radii are recorded.
pub const FRACTIONS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// Names of a record's numbers, in the order of [`Record::numbers`].
pub const COLUMNS: [&str; 20] = [
    "time",
    "energy",
    "energy_error",
    "own_energy_error",
    "virial_ratio",
    "core_radius",
    "core_density",
    "bound",
    "bound_mass",
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

/// The names of records of which a snapshot does not tell the names.
const UNNAMED: [&str; 17] = [
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
pub const COMPONENT_FRACTIONS: [f64; 3] = [0.1, 0.5, 0.9];

/// What is known of the bodies at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Time.
    pub t: f64,
    /// Total energy.
    pub energy: f64,
    /// |E - E0| / |E0|.
    pub energy_error: f64,
    /// The change of the energy since the start, relative to the cluster's own energy at the start: see
    /// [`Energy::own_scale`](crate::diagnostics::Energy::own_scale).
    pub own_energy_error: f64,
    /// -T/W of the bound bodies: 1/2 in virial equilibrium.
    pub virial_ratio: f64,
    /// Core radius after Casertano and Hut.
    pub core_radius: f64,
    /// Core density after Casertano and Hut.
    pub core_density: f64,
    /// Number of bound bodies.
    pub bound: f64,
    /// Their mass.
    pub bound_mass: f64,
    /// Lagrangian radii: they hold the [`FRACTIONS`] of the mass of the bound bodies.
    pub radii: [f64; FRACTIONS.len()],
    /// If the bound bodies have exactly two different masses: the radii that hold 10, 50 and 90 % of the mass of the
    /// light ones, and of the heavy ones. Each component's radii are about its own centre of mass.
    pub components: Option<[[f64; COMPONENT_FRACTIONS.len()]; 2]>,
    /// What the application records besides: see [`Integration::own_columns`](crate::run::Integration::own_columns).
    pub own: Vec<f64>,
}

impl Record {
    /// The record of `bodies` at time `t`. `sight` has their energy and the bound part, `start` the energy at the
    /// start, and `own` the numbers that only this application records.
    pub fn of(t: f64, bodies: &[Body], sight: &Sight, start: &Start, own: Vec<f64>) -> Self {
        let core = Core::of(bodies);
        let Sight { energy, bound } = sight;
        let radii = bound.radii(&FRACTIONS);
        let components = light_and_heavy(&bound.members).map(|components| {
            components.map(|bodies| {
                let radii = lagrangian_radii(&bodies, &COMPONENT_FRACTIONS);
                radii.try_into().expect("one radius for each fraction")
            })
        });
        Self {
            t,
            energy: energy.total(),
            energy_error: energy.error(start.energy),
            own_energy_error: start.own_error(energy),
            virial_ratio: bound.virial_ratio,
            core_radius: core.radius,
            core_density: core.density,
            bound: bound.count() as f64,
            bound_mass: bound.mass,
            radii: radii.try_into().expect("one radius for each fraction"),
            components,
            own,
        }
    }

    /// All numbers, for a line of a file. Those that there are not are NaN.
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers = vec![
            self.t,
            self.energy,
            self.energy_error,
            self.own_energy_error,
            self.virial_ratio,
            self.core_radius,
            self.core_density,
            self.bound,
            self.bound_mass,
        ];
        numbers.extend(self.radii);
        let components = self.components.unwrap_or([[f64::NAN; 3]; 2]);
        numbers.extend(components.as_flattened());
        numbers.extend(&self.own);
        numbers
    }

    /// Reads a record from the [`numbers`](Self::numbers) in a file. `names` are the names of the shared numbers; a
    /// file of an earlier version has none. Numbers that the file lacks become NaN. `None` if there are too few.
    pub fn from_numbers(names: Option<&[&str]>, numbers: &[f64]) -> Option<Self> {
        let names = names.unwrap_or(&UNNAMED);
        let (shared, own) = numbers.split_at_checked(names.len())?;
        let number = |name: &str| {
            let place = names.iter().position(|n| *n == name);
            place.map_or(f64::NAN, |place| shared[place])
        };
        let of = |head: &str, parts: [u32; 3]| parts.map(|part| number(&format!("{head}_{part}")));
        let components = [of("light", [10, 50, 90]), of("heavy", [10, 50, 90])];
        Some(Self {
            t: number("time"),
            energy: number("energy"),
            energy_error: number("energy_error"),
            own_energy_error: number("own_energy_error"),
            virial_ratio: number("virial_ratio"),
            core_radius: number("core_radius"),
            core_density: number("core_density"),
            bound: number("bound"),
            bound_mass: number("bound_mass"),
            radii: FRACTIONS.map(|part| number(&format!("lagrangian_{:.0}", 100.0 * part))),
            // Zeros stood for nothing once.
            components: (components[1][2] > 0.0).then_some(components),
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
            "own_energy_error": r.own_energy_error,
            "virial_ratio": r.virial_ratio,
            "core_radius": r.core_radius,
            "core_density": r.core_density,
            "bound": r.bound,
            "bound_mass": r.bound_mass,
            "radii": r.radii,
            "light_radii": r.components.map(|c| c[0]),
            "heavy_radii": r.components.map(|c| c[1]),
        });
        for (name, value) in own_columns.iter().zip(&r.own) {
            all[name] = json!(value);
        }
        all
    };
    records.iter().map(record).collect()
}

/// The scale of an axis of times, and its name: Myr where the units are known.
pub fn time_axis(units: Option<&Units>) -> (f64, String) {
    match units {
        Some(units) => {
            let myr = units.time();
            (myr, format!("time in Myr (unit of time: {myr:.4} Myr)"))
        }
        None => (1.0, "time in N-body units".to_owned()),
    }
}

/// The scale of an axis of lengths, and its name: pc where the units are known.
pub fn length_axis(what: &str, units: Option<&Units>) -> (f64, String) {
    match units {
        Some(units) => (units.length, format!("{what} in pc")),
        None => (1.0, format!("{what} in N-body units")),
    }
}

/// Curves over time of these `records`: energy error, virial ratio and radii. For two components the core density takes
/// the place of the virial ratio, and each component has its radii. If the units are known, the error relative to the
/// cluster's own energy is drawn, too: in a galaxy most of the energy is that of the orbit.
pub fn panels(records: &[Record], units: Option<&Units>) -> [Panel; 3] {
    let (myr, time) = time_axis(units);
    let (parsecs, radius) = length_axis("radius", units);
    let scaled = |label: &str, factor: f64, value: &dyn Fn(&Record) -> f64| Curve {
        label: label.to_owned(),
        points: records
            .iter()
            .map(|r| (myr * r.t, factor * value(r)))
            .collect(),
        ..Curve::default()
    };
    let over_time = |label: &str, value: &dyn Fn(&Record) -> f64| scaled(label, 1.0, value);
    let length = |label: &str, value: &dyn Fn(&Record) -> f64| scaled(label, parsecs, value);
    let panel = |title: &str, y: &str, scale: Scale, curves: Vec<Curve>| Panel {
        x_label: time.clone(),
        ..Panel::over_time(title, scale, curves).with_y(y)
    };
    let errors = match units {
        None => vec![over_time("", &|r| r.energy_error)],
        Some(_) => vec![
            over_time("own", &|r| r.own_energy_error),
            over_time("all", &|r| r.energy_error),
        ],
    };
    let title = match units {
        None => "Energy error",
        Some(_) => "Energy error, in parts of the cluster's own T + W and of all",
    };
    let error = panel(title, "|ΔE / E₀|", Scale::Logarithmic, errors);
    let core = length("core", &|r| r.core_radius);
    if records.iter().any(|r| r.components.is_some()) {
        let mut radii = Vec::new();
        for (c, component) in ["light", "heavy"].into_iter().enumerate() {
            for (f, fraction) in COMPONENT_FRACTIONS.iter().enumerate().take(2) {
                let label = format!("{component} {:.0} %", 100.0 * fraction);
                radii.push(length(&label, &|r| {
                    r.components.map_or(f64::NAN, |of| of[c][f])
                }));
            }
        }
        radii.push(core);
        let density = over_time("", &|r| r.core_density);
        let title = "Radii of light and heavy bodies, and core radius";
        return [
            error,
            panel("Core density", "density", Scale::Logarithmic, vec![density]),
            panel(title, &radius, Scale::Logarithmic, radii),
        ];
    }
    let virial = over_time("", &|r| r.virial_ratio);
    let mut radii: Vec<Curve> = (0..FRACTIONS.len())
        .map(|f| length(&format!("{:.0} %", 100.0 * FRACTIONS[f]), &|r| r.radii[f]))
        .collect();
    radii.push(core);
    let title = "Virial ratio of the bound stars";
    [
        error,
        panel(title, "−T / W", Scale::Linear, vec![virial]),
        panel(
            "Lagrangian radii of the bound stars, core radius",
            &radius,
            Scale::Logarithmic,
            radii,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_report::plot::Data;

    const START: Start = Start {
        energy: -0.5,
        own: 0.25,
    };

    fn records() -> [Record; 2] {
        let bodies = crate::models::plummer(20, 1);
        let sight = Sight::summed(&bodies, 0.0, None);
        [0.0, 0.5].map(|t| Record::of(t, &bodies, &sight, &START, vec![t, 7.0]))
    }

    #[test]
    fn panels_hold_a_point_for_each_record() {
        let records = records();
        assert!((records[0].energy_error - 0.5).abs() < 1e-12);
        assert!((records[0].own_energy_error - 1.0).abs() < 1e-12);
        assert!((records[0].virial_ratio - 0.5).abs() < 1e-12);
        assert_eq!((records[0].bound, records[0].components), (20.0, None));
        let panels = panels(&records, None);
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
        assert_eq!(json[0]["light_radii"], Value::Null);
    }

    /// In a galaxy the error of the cluster's own energy is drawn, and axes are in Myr and pc.
    #[test]
    fn a_galaxy_has_units_and_the_own_error() {
        let units = Units::default();
        let [error, virial, radii] = panels(&records(), Some(&units));
        let Data::Curves(curves) = &error.data else {
            panic!("curves")
        };
        assert_eq!(
            (curves[0].label.as_str(), curves[1].label.as_str()),
            ("own", "all")
        );
        assert_eq!(curves[0].points[1].0, 0.5 * units.time());
        assert!(error.x_label.contains("Myr") && radii.y_name().contains("pc"));
        for panel in panels(&records(), None)
            .iter()
            .chain([&error, &virial, &radii])
        {
            assert!(!panel.y_name().is_empty() && !panel.x_label.is_empty());
        }
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
        let sight = Sight::summed(&bodies, 0.0, None);
        let record = Record::of(0.0, &bodies, &sight, &START, Vec::new());
        let [light, heavy] = record.components.unwrap();
        assert!(heavy[1] < 0.2 * light[1], "{record:?}");
        let panels = panels(&[record], None);
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
            // Of one kind of stars the radii of light and heavy ones are empty.
            assert_eq!(line.split(',').filter(|x| x.is_empty()).count(), 6);
            let number = |x: &str| x.parse().unwrap_or(f64::NAN);
            let numbers: Vec<f64> = line.split(',').map(number).collect();
            let again = Record::from_numbers(Some(&COLUMNS), &numbers);
            assert_eq!(again.as_ref(), Some(record));
        }
        // Records of the first version have no names, and zeros for nothing.
        let mut old = [0.0; 17];
        (old[0], old[8]) = (2.0, 0.7);
        let record = Record::from_numbers(None, &[&old[..], &[5.0]].concat()).unwrap();
        assert_eq!(
            (record.t, record.radii[2], record.own.as_slice()),
            (2.0, 0.7, &[5.0][..])
        );
        assert!(record.bound.is_nan() && record.components.is_none());
        let half = COLUMNS.iter().position(|c| *c == "lagrangian_50").unwrap();
        assert_eq!(records[0].numbers()[half], records[0].radii[2]);
    }
}
