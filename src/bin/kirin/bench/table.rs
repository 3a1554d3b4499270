//! The results of a run as a table.

use super::measure::Case;
use super::run::{Document, Reading, Row};
use crate::candidate::{MeasuredInterface, legend};
use kirin_report::text::si_unit;

use crate::report::Table;

/// All of it.
pub fn text(document: &Document) -> String {
    let names: Vec<&str> = document.libraries.iter().map(|c| &*c.name).collect();
    let mut table = Table::default();
    let mut last = None;
    for cell in &document.cells {
        if last != Some((cell.n, cell.case)) {
            if last.map(|(n, _)| n) != Some(cell.n) {
                table.row(vec![format!("\nN = {}", cell.n)]);
                table.row(heading(document, &names));
            }
            last = Some((cell.n, cell.case));
        }
        table.row(row(document, cell));
    }
    let mut text = format!("libraries\n{}", legend(&document.libraries));
    text.push_str(&table.to_string());
    if let Some(base) = document.base {
        text.push_str(&format!(
            "\nx: median ratio of the rates to those of {}.\n",
            names[base]
        ));
    }
    let pair = match document.interface {
        MeasuredInterface::Grape6 => "acceleration, jerk and potential",
        MeasuredInterface::Grape5 => "acceleration and potential",
        MeasuredInterface::Nbody6 => {
            "acceleration, jerk and potential, or what the call has of these,"
        }
    };
    text.push_str(&format!(
        "+-: half the distance between the quartiles. A pair is {pair} of one particle on another.\n{:.1} s.\n",
        document.seconds
    ));
    if document.processor_time {
        text.push_str("Times are processor time of all threads together.\n");
    }
    limit(document, &mut text);
    if let Some(company) = &document.company {
        text.push_str(&format!("Other load: {company}.\n"));
    }
    text
}

fn heading(document: &Document, names: &[&str]) -> Vec<String> {
    let mut cells = vec![String::new()];
    for (k, name) in names.iter().enumerate() {
        cells.extend([String::new(), (*name).to_owned(), "+-%".to_owned()]);
        if document.base.is_some_and(|base| base != k) {
            cells.push("x".to_owned());
        }
    }
    cells
}

fn row(document: &Document, cell: &Row) -> Vec<String> {
    let mut cells = vec![match cell.case {
        Case::Load if document.interface == MeasuredInterface::Grape5 => {
            "set_xmj of all, a particle".to_owned()
        }
        Case::Load if document.interface == MeasuredInterface::Nbody6 => {
            "send, a source".to_owned()
        }
        Case::Update if document.interface == MeasuredInterface::Nbody6 => {
            "set_jp, 32 scattered".to_owned()
        }
        Case::Load => "set_j_particle, in order".to_owned(),
        Case::Update => "set_j_particle, 32 scattered".to_owned(),
        case => format!("{} ni = {}", describe(case), cell.ni),
    }];
    for (k, figure) in cell.figures.iter().enumerate() {
        cells.extend(entry(figure, cell.case));
        if document.base.is_some_and(|base| base != k) {
            cells.push(
                figure
                    .ratio
                    .map_or_else(String::new, |r| format!("{:.2}", r.median)),
            );
        }
    }
    cells
}

fn describe(case: Case) -> &'static str {
    match case {
        Case::Force => "force",
        Case::Unsoftened => "force, no softening",
        Case::Close => "force, close pairs",
        Case::Nearest => "force, nearest neighbour",
        Case::Predict => "set_ti, force",
        Case::Step => "set_ti, force, update",
        Case::Load | Case::Update => "set_j_particle",
        Case::Potential => "potential",
        Case::Irregular => "irregular force",
    }
}

fn entry(figure: &Reading, case: Case) -> [String; 3] {
    let (Some(seconds), Some(rate)) = (figure.seconds, figure.rate) else {
        return ["-".to_owned(), String::new(), String::new()];
    };
    let rate_text = match case.is_force() {
        true => si_unit(rate.median, "pairs/s"),
        false => String::new(),
    };
    [si_unit(seconds.median, "s"), rate_text, seconds.percent()]
}

/// The fractions of what the arithmetic units could do.
fn limit(document: &Document, text: &mut String) {
    for (k, candidate) in document.libraries.iter().enumerate() {
        let best = document
            .cells
            .iter()
            .filter_map(|c| Some((c.figures[k].of_limit?, c)))
            .max_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        let (Some(([own_pipes, shared], cell)), Some(fma)) = (best, document.fma_per_second[k])
        else {
            continue;
        };
        text.push_str(&format!(
            "{}: {} a core; its best rate (N = {}, {} ni = {}) is {:.0} % of that limit if additions \
             have pipes of their own, {:.0} % if not.\n",
            candidate.name,
            si_unit(fma.median, "FMA/s"),
            cell.n,
            describe(cell.case),
            cell.ni,
            100.0 * own_pipes,
            100.0 * shared,
        ));
    }
}
