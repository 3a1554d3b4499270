//! Diagnostics over time: what a run records, and how figures and JSON show it.

use serde_json::{Value, json};

use crate::body::Body;
use crate::diagnostics::{Energy, lagrangian_radii};
use crate::plot::{Curve, Data, Panel, Scale};

/// Floating-point operations that a pair is said to cost, by Makino and Nitadori's convention.
pub const FLOPS_PER_PAIR: f64 = 60.0;

/// Fractions of the mass whose radii are recorded.
pub const FRACTIONS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// What is known of the bodies at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Time.
    pub t: f64,
    /// |E - E0| / |E0|.
    pub energy_error: f64,
    /// Radii that hold the [`FRACTIONS`] of the mass.
    pub radii: [f64; FRACTIONS.len()],
}

impl Record {
    /// What is known of `bodies`, of which the energy is `energy` and once was `energy0`.
    pub fn of(t: f64, bodies: &[Body], energy: &Energy, energy0: f64) -> Self {
        let radii = lagrangian_radii(bodies, &FRACTIONS);
        Self {
            t,
            energy_error: energy.error(energy0),
            radii: radii.try_into().expect("one radius for each fraction"),
        }
    }
}

/// The first multiple of `every` after `t`.
pub fn next_record(t: f64, every: f64) -> f64 {
    ((t / every).floor() + 1.0) * every
}

/// The records for programs.
pub fn json(records: &[Record]) -> Value {
    let record = |r: &Record| json!({"t": r.t, "energy_error": r.energy_error, "radii": r.radii});
    records.iter().map(record).collect()
}

/// Energy error and Lagrangian radii over time, one panel each.
pub fn panels(records: &[Record]) -> Vec<Panel> {
    let over_time = |value: &dyn Fn(&Record) -> f64| -> Vec<(f64, f64)> {
        records.iter().map(|r| (r.t, value(r))).collect()
    };
    let panel = |title: &str, curves| Panel {
        title: title.to_owned(),
        x_label: "time".to_owned(),
        x_scale: Scale::Linear,
        scale: Scale::Logarithmic,
        data: Data::Curves(curves),
    };
    let error = Curve {
        label: String::new(),
        points: over_time(&|r| r.energy_error),
    };
    let radii = (0..FRACTIONS.len()).map(|f| Curve {
        label: format!("{:.0} %", 100.0 * FRACTIONS[f]),
        points: over_time(&|r| r.radii[f]),
    });
    vec![
        panel("Energy error |ΔE / E₀|", vec![error]),
        panel("Radii that hold a part of the mass", radii.collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_fall_on_multiples() {
        assert_eq!(next_record(0.0, 0.25), 0.25);
        assert_eq!(next_record(0.25, 0.25), 0.5);
        assert_eq!(next_record(-0.1, 0.25), 0.0);
    }

    #[test]
    fn panels_hold_a_point_for_each_record() {
        let bodies = crate::models::plummer(20, 1);
        let energy = Energy::of(&bodies, 0.0);
        let records = [0.0, 0.5].map(|t| Record::of(t, &bodies, &energy, -0.5));
        assert!((records[0].energy_error - 0.5).abs() < 1e-12);
        let panels = panels(&records);
        let Data::Curves(curves) = &panels[1].data else {
            panic!("curves")
        };
        assert_eq!(curves.len(), FRACTIONS.len());
        assert!(curves.iter().all(|c| c.points.len() == 2));
        assert_eq!(json(&records)[1]["t"], 0.5);
    }
}
