//! The report as Markdown and for programs.

use kirin_kit::comparison::Circumstances;
use kirin_kit::vector::{norm, sub};
use kirin_report::plot::{Curve, Figure, Panel};
use kirin_report::text::{MarkdownTable, digits, si};
use serde_json::{Value, json};

use super::measure::{COLUMNS, HOLES, Measured, Timing, Trial, Variant, number};
use super::published::{FLOPS, HARDWARE, SHARES, SIZES, TABLE_2, TABLE_3, TABLE_7, TABLE_8};

/// Everything that the report tells.
pub struct Document<'a> {
    /// Device, library, date and so on.
    pub circumstances: Circumstances,
    /// Seed of the models.
    pub seed: u64,
    /// Why the measurement did not come to its end, if it did not.
    pub cut: Option<&'a str>,
    /// What was measured.
    pub measured: &'a Measured,
}

const NONE: &str = "-";

const TABLE_7_WORDS: &str = "\
|dE/E| after 1000 steps of 0.0005 with the paper's softening, 0.005 N^(-1/3). E is the energy of the orbit and of the cluster together;
the orbit's part is 10^4 times the cluster's. Two stars of mass 1/N on a parabolic orbit cross the softening length in 0.005^(3/2) / 2 = 1.8e-4, whatever N is. A step of 0.0005
passes over such an encounter, and about 0.01 N^(2/3) of them occur in a unit of time. Therefore stars near each other move together under
the step (`--changeover`). In the columns `no changeover` they do not: the number of such encounters, which differs from seed to seed,
determines the error.
";

const TABLE_8_WORDS: &str = "\
A fall from (10, 0, 0) with a thousandth of the circular speed, to t = 4 by 40 000 leapfrog steps. The black hole is a bare point, or softened by a
tenth of the cluster's radius. Stars near the hole follow it under the step (`--changeover`). Without this a star that passes a mass M at the distance r
needs steps of about 0.2 r^(3/2) M^(-1/2): 6e-7 for the largest mass at r = 0.01. The paper has 15 360 stars and does not name the scheme, the cluster's
mass or its radius. dL/L is the change of the angular momentum. The next column is the part of this change that the torque does not explain. Both are
relative to L at the start, which is nearly 0.
";

const TABLE_2_WORDS: &str = "\
Changes of energy and angular momentum per step, in per cent, over the 2500 steps before the time in the first column. `left` is the part of |L - L0| up
to that time that the torque does not explain, per step and relative to |L0|. N is not in the paper.
";

impl Document<'_> {
    /// The report as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# The tables and figures of NBSymple and this device\n\n{}* clusters: uniform spheres, \
             2 T / |W| = 0.3, seed {}, circular orbit at 8 kpc in the galaxy of Allen and Santillan; units {}\n{}\n{HARDWARE}",
            self.circumstances.markdown(),
            self.seed,
            kirin_kit::galaxy::Units::default(),
            self.cut
                .map_or(String::new(), |why| format!("* not finished: {why}\n")),
        );
        let mut section = |title: &str, words: &str, table: MarkdownTable| {
            text += &format!("\n## {title}\n\n{words}\n{table}");
        };
        section(
            "Table 2: energy and angular momentum, sixth order, double precision",
            TABLE_2_WORDS,
            self.table_2(),
        );
        section(
            "Table 3: speed",
            &format!(
                "GFLOP/s with {FLOPS} operations a pair, the middle of the paper's \"20 to 30\"; acceleration and potential, \
                 leapfrog. Tables 3 to 6 and the figures are steps without a changeover radius, as the paper has them. Rows that are missing \
                 would take longer than the time allowed.\n"
            ),
            self.table_3(),
        );
        section(
            "Tables 4 to 6: shares of the time",
            "The shares of force, galaxy (`field`), prediction and transfer are in per cent. The published ones are those of version C. \
             Version E is left out, because it has one figure for galaxy and force. The paper does not print the precision of its Table 4; \
             this report compares it with single.\n",
            self.shares(),
        );
        section("Table 7: energy", TABLE_7_WORDS, self.table_7());
        section(
            "Table 8: through a black hole",
            TABLE_8_WORDS,
            self.table_8(),
        );
        section(
            "Figures 2 to 5: seconds per step",
            "Published as pictures without numbers.\n",
            self.timings(),
        );
        text
    }

    fn timing(&self, n: usize, column: Variant) -> Option<&Timing> {
        let mut all = self.measured.timings.iter();
        all.find(|t| t.n == n && t.column == column)
    }

    fn table_2(&self) -> MarkdownTable {
        let mut table = MarkdownTable::new([
            "t",
            "dE/E %",
            "dLx %",
            "dLy %",
            "dLz %",
            "dE/E % here",
            "dLx %",
            "dLy %",
            "dLz %",
            "left",
        ]);
        for row in TABLE_2 {
            let mut line: Vec<String> = vec![row[0].to_string()];
            line.extend(row[1..].iter().map(|v| format!("{v:.2e}")));
            line.extend(self.table_2_row(row[0]));
            table.row(line);
        }
        table
    }

    /// Changes per step of this device over the 2500 steps before `t`.
    fn table_2_row(&self, t: f64) -> [String; 5] {
        let missing = [NONE; 5].map(str::to_owned);
        let Some(trial) = &self.measured.table_2 else {
            return missing;
        };
        let records = trial.figures["records"].as_array();
        let at = |t: f64| {
            let near = |r: &&Value| (number(r, "t") - t).abs() < 1e-6;
            records.and_then(|all| all.iter().find(near))
        };
        let (Some(before), Some(now), Some(start)) = (at(t - 1.25), at(t), at(0.0)) else {
            return missing;
        };
        let steps = 2500.0;
        let change = |key: &str, of: f64| {
            let difference = number(now, key) - number(before, key);
            format!("{:.2e}", 100.0 * (difference / of).abs() / steps)
        };
        let keys = ["lx", "ly", "lz"];
        let whole = keys
            .map(|k| number(start, k))
            .iter()
            .map(|l| l * l)
            .sum::<f64>();
        let left: f64 = ["x", "y", "z"]
            .iter()
            .map(|k| {
                let momentum = number(now, &format!("l{k}")) - number(start, &format!("l{k}"));
                let torque = format!("torque_{k}");
                (momentum - number(now, &torque)).powi(2)
            })
            .sum();
        let [x, y, z] = keys.map(|key| change(key, number(start, key)));
        let left = (left / whole).sqrt() / (t / 1.25 * steps);
        [
            change("energy", number(start, "energy")),
            x,
            y,
            z,
            format!("{left:.1e}"),
        ]
    }

    fn table_3(&self) -> MarkdownTable {
        let mut table = MarkdownTable::new([
            "N",
            "C single",
            "C double",
            "E2 single",
            "E2 double",
            "single",
            "mixed",
            "double",
            "mixed pairs/s",
        ]);
        for n in self.sizes() {
            let published = SIZES.iter().position(|size| *size == n);
            let mut line = vec![n.to_string()];
            line.extend(
                (0..4).map(|k| published.map_or(NONE.to_owned(), |p| TABLE_3[p][k].to_string())),
            );
            let rate = |precision| {
                let timing = self.timing(n, ("leapfrog", precision))?;
                Some((n as f64).powi(2) / timing.seconds())
            };
            for precision in ["single", "mixed", "double"] {
                line.push(optional(rate(precision), |r| digits(1e-9 * FLOPS * r)));
            }
            line.push(optional(rate("mixed"), si));
            table.row(line);
        }
        table
    }

    /// Numbers of particles that were timed.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.measured.timings.iter().map(|t| t.n).collect();
        sizes.extend(SIZES);
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn shares(&self) -> MarkdownTable {
        let parts = ["force", "field", "predict", "transfer"];
        let columns: [Variant; 3] = [
            ("leapfrog", "single"),
            ("leapfrog", "double"),
            ("si6a", "double"),
        ];
        let mut table = MarkdownTable::new(["table", "N"].into_iter().chain(parts).chain([
            "force here",
            "field",
            "predict",
            "transfer",
        ]));
        for (k, column) in columns.into_iter().enumerate() {
            for n in self.sizes() {
                let size = SIZES.iter().position(|size| *size == n);
                let timing = self.timing(n, column);
                if size.is_none() && timing.is_none() {
                    continue;
                }
                let mut line = vec![
                    format!("{} ({} {})", k + 4, column.0, column.1),
                    n.to_string(),
                ];
                line.extend(
                    (0..4).map(|p| size.map_or(NONE.to_owned(), |s| SHARES[k][s][p].to_string())),
                );
                let split =
                    timing.map(|t| parts.map(|part| number(&t.figures["time_split"], part)));
                let shown =
                    |p: usize| optional(split, |s| digits(100.0 * s[p] / s.iter().sum::<f64>()));
                line.extend((0..4).map(shown));
                table.row(line);
            }
        }
        table
    }

    fn table_7(&self) -> MarkdownTable {
        let columns: [Variant; 4] = [
            ("leapfrog", "double"),
            ("leapfrog", "mixed"),
            ("si6a", "double"),
            ("si6a", "mixed"),
        ];
        let mut table = MarkdownTable::new([
            "N",
            "leapfrog DP",
            "DSP",
            "sixth DP",
            "DSP",
            "leapfrog double here",
            "mixed",
            "si6a double",
            "mixed",
            "no changeover: leapfrog double",
            "mixed",
            "si6a double",
            "mixed",
        ]);
        for (n, published) in TABLE_7 {
            let mut line = vec![n.to_string()];
            line.extend(published.map(|v| format!("{v:.2e}")));
            for changeover in [true, false] {
                for column in columns {
                    let same =
                        |t: &&Trial| (t.n, t.changeover, t.column) == (n, changeover, column);
                    let trial = self.measured.table_7.iter().find(same);
                    line.push(optional(trial, |t| {
                        format!("{:.2e}", number(&t.figures, "energy_error"))
                    }));
                }
            }
            table.row(line);
        }
        table
    }

    fn table_8(&self) -> MarkdownTable {
        let here = ["N here", "bare: dE/E", "dL/L", "not explained"];
        let softened = ["softened by 0.1: dE/E", "dL/L", "not explained"];
        let published = ["black hole", "dE/E", "dL/L"];
        let mut table = MarkdownTable::new(published.into_iter().chain(here).chain(softened));
        for [mass, energy, momentum] in TABLE_8 {
            let mut line = vec![
                mass.to_string(),
                format!("{energy:.2e}"),
                format!("{momentum:.2e}"),
            ];
            let run = |eps: f64| {
                let mut rows = self.measured.table_8.iter();
                rows.find(|row| (row.0, row.1) == (mass, eps))
                    .map(|row| &row.2)
            };
            line.push(optional(run(0.0), |f| f["n"].to_string()));
            for eps in HOLES {
                line.extend(errors(run(eps)));
            }
            table.row(line);
        }
        table
    }

    fn timings(&self) -> MarkdownTable {
        let names = COLUMNS.map(|(scheme, precision)| format!("{scheme} {precision}"));
        let mut table = MarkdownTable::new(["N".to_owned()].into_iter().chain(names));
        for n in self.sizes() {
            let cells = COLUMNS.map(|c| optional(self.timing(n, c), |t| digits(t.seconds())));
            if cells.iter().any(|cell| cell != NONE) {
                table.row([&[n.to_string()][..], &cells].concat());
            }
        }
        table
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let trial = |t: &Trial| json!({"n": t.n, "changeover": t.changeover, "figures": t.figures});
        let timing = |t: &Timing| {
            json!({
                "n": t.n, "scheme": t.column.0, "precision": t.column.1, "seconds_per_step": t.seconds(),
                "time_split": t.figures["time_split"],
            })
        };
        json!({
            "circumstances": self.circumstances.json(),
            "seed": self.seed,
            "not_finished": self.cut,
            "timings": self.measured.timings.iter().map(timing).collect::<Value>(),
            "table_7": self.measured.table_7.iter().map(trial).collect::<Value>(),
            "table_2": self.measured.table_2.as_ref().map(trial),
            "table_8": self.measured.table_8.iter().map(|row| row.2.clone()).collect::<Value>(),
        })
    }

    /// Seconds per step over N, in single and in double precision, and of both schemes.
    pub fn figure(&self) -> Figure {
        let curve = |column: Variant| {
            let timings = self.measured.timings.iter().filter(|t| t.column == column);
            Curve::over_n(
                &format!("{} {}", column.0, column.1),
                timings.map(|t| (t.n, t.seconds())),
            )
        };
        let panel = |title: &str, columns: &[Variant]| {
            Panel::logarithmic(title, "N", columns.iter().map(|c| curve(*c)).collect())
                .with_y("seconds per step")
        };
        Figure {
            title: "Figures 2 to 5 of the paper of NBSymple (Capuzzo-Dolcetta et al. 2011), on this device".to_owned(),
            subtitle: self.circumstances.forces(),
            columns: vec![
                vec![panel("Seconds per step, leapfrog", &COLUMNS[..3])],
                vec![panel("Seconds per step, sixth order", &COLUMNS[3..])],
            ],
        }
    }
}

/// Energy error, change of the angular momentum in parts of it, and what of that the torque does not explain.
fn errors(figures: Option<&Value>) -> [String; 3] {
    let Some(figures) = figures else {
        return [NONE; 3].map(str::to_owned);
    };
    let [before, after] = ["angular_momentum0", "angular_momentum"]
        .map(|key| [0, 1, 2].map(|k| figures[key][k].as_f64().unwrap_or(f64::NAN)));
    let change = norm(&sub(&after, &before)) / norm(&before);
    let numbers = [
        number(figures, "energy_error"),
        change,
        number(figures, "unexplained_part"),
    ];
    numbers.map(|v| format!("{v:.2e}"))
}

fn optional<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or(NONE.to_owned(), show)
}
