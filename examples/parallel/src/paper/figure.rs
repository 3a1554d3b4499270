//! The report as a figure: Figure 4, and the model beside the measured blocks.

use kirin_kit::comparison::Circumstances;
use kirin_report::plot::{Curve, Figure, Form, Panel, Scale};

use super::document::far;
use super::measured::{Measured, Row, speed};
use super::published::TABLE_1;
use crate::cost::{Costs, Workload, best, predict};
use crate::machine::{Algorithm, Joining};

/// Speed over ranks, measured and by the model, and the time of a block on every grid.
pub fn figure(circumstances: &Circumstances, measured: &Measured) -> Figure {
    let curve = |label: &str, form: Form, points: Vec<(f64, f64)>| Curve {
        label: label.to_owned(),
        points,
        form,
    };
    let fastest = |ranks: usize| {
        let rows = measured.rows.iter();
        rows.filter(|r| r.plan.grid.ranks() == ranks)
            .map(Row::flops)
            .reduce(f64::max)
    };
    let here = (1..=measured.costs.len()).filter_map(|p| Some((p as f64, fastest(p)?)));
    let mut speeds = vec![curve("here", Form::Measured, here.collect())];
    if let Some(costs) = far(&measured.costs) {
        for n in [16384, 65536] {
            let label = format!("model, {}k", n / 1024);
            speeds.push(curve(&label, Form::Model, model(&costs, n)));
        }
    }
    let paper = vec![(TABLE_1.ranks as f64, TABLE_1.flops)];
    speeds.push(curve("paper", Form::Published, paper));
    let numbered = |value: &dyn Fn(&Row) -> f64| {
        let rows = (0..).zip(&measured.rows);
        rows.map(|(k, row): (u32, _)| (f64::from(k), 1e6 * value(row)))
            .collect()
    };
    let predicted = numbered(&|r| measured.predicted(r).total());
    let blocks = vec![
        curve(
            "measured",
            Form::Measured,
            numbered(&|r| r.measured.total()),
        ),
        curve("model", Form::Model, predicted),
    ];
    let grids: Vec<String> = measured
        .rows
        .iter()
        .map(|r| r.plan.grid.to_string())
        .collect();
    Figure {
        title: "Speed over ranks, and the cost model".to_owned(),
        subtitle: circumstances.forces(),
        columns: vec![
            vec![
                Panel::logarithmic(
                    "Speed (Nitadori, Makino and Abe 2006, Figure 4)",
                    "ranks",
                    speeds,
                )
                .with_y("flop/s"),
            ],
            vec![
                Panel {
                    x_label: "grid of ranks".to_owned(),
                    x_names: grids,
                    ..Panel::over_time("Time of a block on every grid", Scale::Linear, blocks)
                }
                .with_y("microseconds"),
            ],
        ],
    }
}

/// Speed of the best grids of 1, 2, 4, ... ranks.
fn model(costs: &Costs, n: usize) -> Vec<(f64, f64)> {
    let load = Workload::typical(n);
    let point = |power: u32| {
        let ranks = 1_usize << power;
        let plan = best(ranks, Algorithm::TwoD, Joining::Mpi, load, costs);
        (
            ranks as f64,
            speed(load, predict(plan, load, costs).total()),
        )
    };
    (0..=10).map(point).collect()
}
