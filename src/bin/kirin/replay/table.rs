//! The table of a replay: a column for each library.

use kirin_report::text::si_unit;

use super::facts::TraceFacts;
use super::summary::{Compared, Forces, Nbody6, Summary};
use crate::candidate::{Candidate, MeasuredInterface};
use crate::report::Table;

/// The table under construction.
struct Rows<'a> {
    table: Table,
    figures: &'a [Option<Summary>],
}

/// A table with a column for the recorded run and one for each library.
pub fn of(
    interface: MeasuredInterface,
    facts: &TraceFacts,
    libraries: &[Candidate],
    figures: &[Option<Summary>],
) -> Table {
    let mut table = Table::default();
    let mut heading = vec![String::new(), "recorded".to_owned()];
    heading.extend(libraries.iter().map(|c| c.name.clone()));
    table.row(heading);
    if interface != MeasuredInterface::Nbody6 {
        let count = |n: Option<usize>| n.map_or("unknown".to_owned(), |n| n.to_string());
        let mut pipelines = vec!["pipelines".to_owned(), count(facts.pipelines)];
        let opened = libraries.iter().map(|c| c.opened.as_ref());
        pipelines.extend(opened.map(|o| o.map_or("-".to_owned(), |o| o.npipes.to_string())));
        table.row(pipelines);
    }
    let mut rows = Rows { table, figures };
    rows.row("blocks in several calls", "", |s| s.split.to_string());
    match interface {
        MeasuredInterface::Nbody6 => rows.of_nbody6(facts),
        MeasuredInterface::Grape6 | MeasuredInterface::Grape5 => rows.of_grape(facts),
    }
    rows.table
}

const ACC: Quantity = ("acc", |f| f.acc);
const JERK: Quantity = ("jerk", |f| f.jerk);
const POT: Quantity = ("pot", |f| f.pot);

type Quantity = (&'static str, fn(&Forces) -> super::summary::Errors);

impl Rows<'_> {
    fn row(&mut self, title: &str, recorded: &str, value: impl Fn(&Summary) -> String) {
        let mut cells = vec![title.to_owned(), recorded.to_owned()];
        let figures = self.figures.iter();
        cells.extend(figures.map(|f| f.as_ref().map_or("-".to_owned(), &value)));
        self.table.row(cells);
    }

    fn forces(
        &mut self,
        title: &str,
        quantities: &[Quantity],
        forces: impl Fn(&Summary) -> Forces,
    ) {
        self.row(title, "", |s| forces(s).forces.compared.to_string());
        self.row("  different bits", "", |s| {
            forces(s).forces.different.to_string()
        });
        self.row("  not finite", "", |s| forces(s).not_finite.to_string());
        for (name, errors) in quantities {
            self.row(&format!("  {name} rms"), "", |s| {
                format!("{:.1e}", errors(&forces(s)).rms)
            });
            self.row(&format!("  {name} max"), "", |s| {
                format!("{:.1e}", errors(&forces(s)).max)
            });
        }
    }

    fn others(&mut self, title: &str, compared: fn(&Summary) -> Compared) {
        self.row(title, "", |s| {
            let Compared {
                compared,
                different,
            } = compared(s);
            format!("{different} of {compared}")
        });
    }

    fn seconds(&mut self, title: &str, recorded: Option<f64>, value: impl Fn(&Summary) -> f64) {
        let shown = |seconds| si_unit(seconds, "s");
        let recorded = recorded.map_or(String::new(), shown);
        self.row(title, &recorded, |s| shown(value(s)));
    }

    fn of_grape(&mut self, facts: &TraceFacts) {
        self.forces("forces", &[ACC, JERK, POT], |s| s.all);
        self.others("other neighbours", |s| s.neighbours);
        self.others("other lists", |s| s.lists);
        self.others("other predictions", |s| s.predicted);
        self.seconds("firsthalf, lasthalf", Some(facts.force_seconds), |s| {
            s.force_seconds
        });
        self.seconds("set_j_particle", None, |s| s.write_seconds);
    }

    fn of_nbody6(&mut self, facts: &TraceFacts) {
        // Every player of these calls fills it in.
        let of = |s: &Summary| s.nbody6.as_deref().cloned().unwrap_or_default();
        self.forces("regular forces", &[ACC, JERK, POT], |s| s.all);
        self.others("other lists", |s| s.lists);
        self.forces("irregular forces", &[ACC, JERK], |s| of(s).irregular);
        self.others("other neighbours", |s| s.neighbours);
        self.forces("potentials", &[POT], |s| of(s).potentials);
        let recorded = facts.nbody6.as_ref();
        let time = |seconds: fn(&Nbody6) -> f64| move |s: &Summary| seconds(&of(s));
        self.seconds("gpunb_regf_", Some(facts.force_seconds), |s| {
            s.force_seconds
        });
        self.seconds(
            "irr_simd_firr_vec_",
            recorded.map(|r| r.irregular_seconds),
            time(|n| n.irregular_seconds),
        );
        self.seconds(
            "gpupot_",
            recorded.map(|r| r.potential_seconds),
            time(|n| n.potential_seconds),
        );
        self.seconds("gpunb_send_, set_jp_, set_list_", None, |s| s.write_seconds);
    }
}
