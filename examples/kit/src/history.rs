//! Diagnostics over time: the records of a run, and their form in figures, CSV and JSON.

use serde::Serialize;
use serde_json::{Value, json};

use crate::body::Body;
use crate::columns::Column;
use crate::diagnostics::lagrangian_radii;
use crate::galaxy::Units;
use crate::models::light_and_heavy;
use crate::sight::{Sight, Start};
use kirin_report::plot::{Curve, Panel, Scale};

/// Floating-point operations that are counted for a pair, by Makino and Nitadori's convention.
pub const FLOPS_PER_PAIR: f64 = 60.0;

/// Fractions of the mass whose Lagrangian radii are recorded.
pub const FRACTIONS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

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

/// The Lagrangian radii of one component.
pub type ComponentRadii = [f64; COMPONENT_FRACTIONS.len()];

crate::record! {
    /// What is known of the bodies at one time.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Record {
        /// Time.
        t: f64 = Time ["time"],
        /// Total energy.
        energy: f64 = Plain ["energy"],
        /// |E - E0| / |E0|.
        energy_error: f64 = Plain ["energy_error"],
        /// The change of the energy since the start, relative to the cluster's own energy at the start: see
        /// [`Energy::own_scale`](crate::diagnostics::Energy::own_scale).
        own_energy_error: f64 = Plain ["own_energy_error"],
        /// -T/W of the bound bodies, each system as one body: 1/2 in virial equilibrium.
        virial_ratio: f64 = Plain ["virial_ratio"],
        /// Core radius after Casertano and Hut.
        core_radius: f64 = Length ["core_radius"],
        /// Core density after Casertano and Hut.
        core_density: f64 = Density ["core_density"],
        /// Number of bound bodies.
        bound: f64 = Plain ["bound"],
        /// Their mass.
        bound_mass: f64 = Mass ["bound_mass"],
        /// Lagrangian radii: they hold the [`FRACTIONS`] of the mass of the bound bodies.
        radii: [f64; FRACTIONS.len()] = Length [
            "lagrangian_10", "lagrangian_25", "lagrangian_50", "lagrangian_75", "lagrangian_90",
        ],
        /// If the bound bodies have exactly two different masses: the radii that hold the [`COMPONENT_FRACTIONS`] of the
        /// mass of the light ones, about their own centre of mass.
        light_radii: Option<ComponentRadii> = Length ["light_10", "light_50", "light_90"],
        /// The same of the heavy ones.
        heavy_radii: Option<ComponentRadii> = Length ["heavy_10", "heavy_50", "heavy_90"],
        ;
        /// What the application records besides: see [`Integration::own_columns`](crate::run::Integration::own_columns).
        #[serde(skip)]
        own: Vec<f64>,
    }
}

impl Record {
    /// The record at time `t` of the bodies that `sight` is of. `start` has the energy at the start, and `own` the
    /// numbers that only this application records.
    pub fn of(t: f64, sight: &Sight, start: &Start, own: Vec<f64>) -> Self {
        let Sight {
            energy,
            bound,
            core,
        } = sight;
        let radii = bound.radii(&FRACTIONS);
        let of_component = |bodies: Vec<Body>| -> ComponentRadii {
            let radii = lagrangian_radii(&bodies, &COMPONENT_FRACTIONS);
            radii.try_into().expect("one radius for each fraction")
        };
        let components = light_and_heavy(&bound.members);
        let [light_radii, heavy_radii] = match components {
            Some(components) => components.map(|bodies| Some(of_component(bodies))),
            None => [None; 2],
        };
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
            light_radii,
            heavy_radii,
            own,
        }
    }

    /// Whether the error in parts of the cluster's own energy is another than that of all energy, by more than 1 %. A single body has no energy of
    /// its own.
    fn has_two_errors(&self) -> bool {
        let (own, all) = (self.own_energy_error, self.energy_error);
        (own - all).abs() > 0.01 * all
    }

    /// The [`numbers`](Self::numbers), and behind them the application's own, for a line of a file.
    pub fn all_numbers(&self) -> Vec<f64> {
        [&self.numbers(), &self.own[..]].concat()
    }

    /// Reads a record from [`all_numbers`](Self::all_numbers) in a file. `names` are the names of the shared numbers; a
    /// file of an earlier version has none. Numbers that the file lacks become NaN. `None` if there are too few.
    pub fn from_numbers(names: Option<&[&str]>, numbers: &[f64]) -> Option<Self> {
        let (known, is_old) = (names.unwrap_or(&UNNAMED), names.is_none());
        let (shared, own) = numbers.split_at_checked(known.len())?;
        let number = |name: &str| {
            let place = known.iter().position(|n| *n == name)?;
            // Zeros stood for nothing once.
            let is_nothing = is_old && is_of_component(name) && shared[place] == 0.0;
            (!is_nothing).then_some(shared[place])
        };
        Some(Self::from_columns(number, own.to_vec()))
    }
}

/// Whether a column has radii of the light or of the heavy bodies.
pub(crate) fn is_of_component(name: &str) -> bool {
    name.starts_with("light_") || name.starts_with("heavy_")
}

/// The records for programs, with the application's own numbers by the names of their columns. Numbers that are not
/// finite become null.
pub fn json(records: &[Record], own_columns: &[Column]) -> Value {
    let record = |r: &Record| {
        let mut all = json!(r);
        for (column, value) in own_columns.iter().zip(&r.own) {
            all[column.name] = json!(value);
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
/// the place of the virial ratio, and each component has its radii. The errors relative to the cluster's own energy and to
/// all energy are two curves where they differ: in a galaxy most of the energy is that of the orbit.
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
    let (title, errors) = if records.iter().any(Record::has_two_errors) {
        let own = over_time("own", &|r| r.own_energy_error);
        let all = over_time("all", &|r| r.energy_error);
        let title = "Energy error, in parts of the cluster's own T + W and of all";
        (title, vec![own, all])
    } else {
        let error = over_time("", &|r| r.energy_error);
        ("Energy error", vec![error])
    };
    let error = panel(title, "|ΔE / E₀|", Scale::Logarithmic, errors);
    let core = length("core", &|r| r.core_radius);
    if records.iter().any(|r| r.heavy_radii.is_some()) {
        let mut radii = Vec::new();
        let light: fn(&Record) -> _ = |r| r.light_radii;
        let heavy: fn(&Record) -> _ = |r| r.heavy_radii;
        for (component, of) in [("light", light), ("heavy", heavy)] {
            for (f, fraction) in COMPONENT_FRACTIONS.iter().enumerate().take(2) {
                let label = format!("{component} {:.0} %", 100.0 * fraction);
                radii.push(length(&label, &|r| {
                    of(r).map_or(f64::NAN, |radii: ComponentRadii| radii[f])
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
    use crate::columns::{Columns, Dimension};
    use kirin_report::plot::Data;

    const START: Start = Start {
        energy: -0.5,
        own: 0.25,
    };

    const OWN: [Column; 2] = [own("mine"), own("more")];

    const fn own(name: &'static str) -> Column {
        Column {
            name,
            dimension: Dimension::Plain,
        }
    }

    fn records() -> [Record; 2] {
        let bodies = crate::models::plummer(20, 1);
        let sight = Sight::summed(&bodies, 0.0, None);
        [0.0, 0.5].map(|t| Record::of(t, &sight, &START, vec![t, 7.0]))
    }

    #[test]
    fn panels_hold_a_point_for_each_record() {
        let records = records();
        assert!((records[0].energy_error - 0.5).abs() < 1e-12);
        assert!((records[0].own_energy_error - 1.0).abs() < 1e-12);
        assert!((records[0].virial_ratio - 0.5).abs() < 1e-12);
        assert_eq!((records[0].bound, records[0].light_radii), (20.0, None));
        let panels = panels(&records, None);
        let Data::Curves(curves) = &panels[2].data else {
            panic!("curves")
        };
        assert_eq!(curves.len(), FRACTIONS.len() + 1);
        assert!(curves.iter().all(|c| c.points.len() == 2));
        let json = json(&records, &OWN);
        assert_eq!(
            (&json[1]["t"], &json[1]["mine"]),
            (&json!(0.5), &json!(0.5))
        );
        assert_eq!(json[0]["light_radii"], Value::Null);
    }

    /// With units or without, both errors are drawn where they differ.
    #[test]
    fn two_errors_are_two_curves() {
        let labels = |records: &[Record], units: Option<&Units>| {
            let Data::Curves(curves) = &panels(records, units)[0].data else {
                panic!("curves")
            };
            let labels = curves.iter().map(|c| c.label.clone());
            labels.collect::<Vec<String>>()
        };
        let (two, mut same, mut alone) = (records(), records(), records());
        same.iter_mut()
            .for_each(|r| r.own_energy_error = r.energy_error);
        alone.iter_mut().for_each(|r| r.own_energy_error = f64::NAN);
        for units in [None, Some(&Units::default())] {
            assert_eq!(labels(&two, units), ["own", "all"]);
            assert_eq!(labels(&same, units), [""]);
            assert_eq!(labels(&alone, units), [""]);
        }
    }

    /// In a galaxy axes are in Myr and pc.
    #[test]
    fn a_galaxy_has_units() {
        let units = Units::default();
        let [error, virial, radii] = panels(&records(), Some(&units));
        let Data::Curves(curves) = &error.data else {
            panic!("curves")
        };
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
        let record = Record::of(0.0, &sight, &START, Vec::new());
        let [light, heavy] = [record.light_radii, record.heavy_radii].map(Option::unwrap);
        assert!(heavy[1] < 0.2 * light[1], "{record:?}");
        let panels = panels(&[record], None);
        assert_eq!(panels[1].title, "Core density");
        let Data::Curves(curves) = &panels[2].data else {
            panic!("curves")
        };
        assert_eq!(curves[3].label, "heavy 50 %");
        assert_eq!(curves[3].points, [(0.0, heavy[1])]);
    }

    /// The radii of a single heavy body about itself are zeros.
    #[test]
    fn one_heavy_body_is_read_as_it_was_written() {
        let mut bodies = crate::models::plummer(20, 1);
        bodies[3].mass *= 8.0;
        let sight = Sight::summed(&bodies, 0.0, None);
        let record = Record::of(0.0, &sight, &START, Vec::new());
        let record = Record {
            heavy_radii: record.heavy_radii.map(|_| [0.0; 3]),
            ..record
        };
        assert!(record.light_radii.is_some() && record.heavy_radii.is_some());
        let names = Record::COLUMNS.iter().map(|c| c.name).collect::<Vec<_>>();
        let again = Record::from_numbers(Some(&names), &record.all_numbers());
        assert_eq!(again, Some(record));
    }

    #[test]
    fn a_line_of_csv_has_a_number_for_each_column() {
        let records = records();
        let path = std::env::temp_dir().join(format!("kirin-kit-{}.csv", std::process::id()));
        let columns = Columns::new(&[Record::COLUMNS, &OWN].concat(), None);
        let first = records[..1].iter().map(Record::all_numbers);
        let mut csv = crate::csv::Csv::create(&path, &columns.names(), first).unwrap();
        csv.write(&records[1].all_numbers()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].split(',').count(), Record::COLUMNS.len() + 2);
        assert!(lines[0].ends_with(",mine,more"));
        let names = Record::COLUMNS.iter().map(|c| c.name).collect::<Vec<_>>();
        for (line, record) in lines[1..].iter().zip(&records) {
            // Of one kind of stars the radii of light and heavy ones are empty.
            assert_eq!(line.split(',').filter(|x| x.is_empty()).count(), 6);
            let number = |x: &str| x.parse().unwrap_or(f64::NAN);
            let numbers: Vec<f64> = line.split(',').map(number).collect();
            let again = Record::from_numbers(Some(&names), &numbers);
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
        assert!(record.bound.is_nan() && record.heavy_radii.is_none());
        let half = names.iter().position(|c| *c == "lagrangian_50").unwrap();
        assert_eq!(records[0].numbers()[half], records[0].radii[2]);
    }
}
