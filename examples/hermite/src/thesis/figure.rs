//! The report as a figure: a panel for each table.

use kirin_kit::comparison::Circumstances;
use kirin_report::plot::{Curve, Figure, Panel};

use super::document::pair_rate;
use super::measure::{ForceTimes, Measured, Times};
use super::published::{FIGURE_4_2, TABLE_4_1, TABLE_4_2};

/// One panel for each table.
pub fn figure(circumstances: &Circumstances, measured: &Measured) -> Figure {
    Figure {
        title: "The tables of the thesis (2007) and this device".to_owned(),
        subtitle: circumstances.forces(),
        columns: vec![
            vec![
                Panel::logarithmic(
                    "All N in one block (thesis 2007, Table 4.1)",
                    "N",
                    table_4_1_curves(measured),
                )
                .with_y("pairs/s"),
                Panel::logarithmic(
                    "Whole runs (thesis 2007, Table 4.2)",
                    "N",
                    table_4_2_curves(measured),
                )
                .with_y("seconds"),
            ],
            vec![
                Panel::logarithmic(
                    "By block size (thesis 2007, Figure 4.2)",
                    "n",
                    figure_4_2_curves(measured),
                )
                .with_y("pairs/s"),
                Panel::logarithmic(
                    "Blocks of 128 (thesis 2007, Figure 4.3)",
                    "N",
                    here(&measured.figure_4_3, ["whole", "split"], |row| row.n),
                )
                .with_y("pairs/s"),
            ],
        ],
    }
}

/// Speeds without and with splitting over what `x` takes from a row.
fn here<'a>(
    rows: impl IntoIterator<Item = &'a ForceTimes> + Clone,
    names: [&str; 2],
    x: fn(&ForceTimes) -> usize,
) -> Vec<Curve> {
    let whole = rows.clone().into_iter().filter_map(|row| {
        let whole = row.times.whole?;
        Some((x(row), row.pairs() / whole.median))
    });
    let split = rows
        .into_iter()
        .map(|row| (x(row), row.pairs() / row.times.split.median));
    let curves = vec![
        Curve::over_n(names[0], whole),
        Curve::over_n(names[1], split),
    ];
    curves
        .into_iter()
        .filter(|c| !c.points.is_empty())
        .collect()
}

fn table_4_1_curves(measured: &Measured) -> Vec<Curve> {
    let published = |column: usize| {
        let speed = move |row: &(usize, [f64; 4])| (row.0, pair_rate(row.1[column]));
        TABLE_4_1.iter().map(speed)
    };
    let mut curves = vec![
        Curve::published("base", published(1)),
        Curve::published("improved", published(3)),
    ];
    curves.extend(here(&measured.table_4_1, ["whole", "split"], |row| row.n));
    curves
}

fn figure_4_2_curves(measured: &Measured) -> Vec<Curve> {
    let of = |n: usize| {
        let rows: Vec<&ForceTimes> = measured
            .figure_4_2
            .iter()
            .filter(|row| row.n == n)
            .collect();
        let names = ["whole", "split"].map(|name| format!("{}k {name}", n >> 10));
        here(rows, [&names[0], &names[1]], |row| row.ni)
    };
    FIGURE_4_2.into_iter().flat_map(of).collect()
}

fn table_4_2_curves(measured: &Measured) -> Vec<Curve> {
    let published = |column: usize| {
        let seconds = move |row: &(usize, [Option<f64>; 5])| Some((row.0, row.1[column]?));
        TABLE_4_2.iter().filter_map(seconds)
    };
    let times = |seconds: fn(&Times) -> Option<f64>| {
        let rows = measured.table_4_2.iter();
        rows.filter_map(move |row| Some((row.n, seconds(&row.times)?)))
    };
    vec![
        Curve::published("GRAPE", published(0)),
        Curve::published("improved", published(2)),
        Curve::published("Cg", published(3)),
        Curve::published("Xeon", published(4)),
        Curve::over_n("split", times(|times| Some(times.split.median))),
    ]
}
