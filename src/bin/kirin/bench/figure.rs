//! The figures of a run as a picture: pairs per second over the size of a block.

use kirin_report::plot::{Curve, Figure, Panel};
use kirin_report::text::grouped;

use super::measure::{Case, Size};
use super::run::{Document, Row};
use crate::candidate::MeasuredInterface;

/// A panel for each number of j-particles, a curve for each library. The whole system is drawn as a block of all.
pub fn figure(document: &Document) -> Figure {
    let forces = || document.cells.iter().filter(|c| c.case == Case::Force);
    let mut sizes: Vec<usize> = forces().map(|c| c.n).collect();
    sizes.dedup();
    let panel = |&n: &usize| {
        let curve = |k: usize| {
            let cells = forces().filter(|c| c.n == n);
            let point = |c: &Row| {
                let ni = match c.ni {
                    Size::Block(ni) => ni,
                    Size::Full => n,
                };
                Some((ni, c.figures[k].rate?.median))
            };
            Curve::over_n(&document.libraries[k].name, cells.filter_map(point))
        };
        Panel::logarithmic(
            &format!("Pairs per second, N = {}", grouped(n as u64)),
            "i-particles in a block",
            (0..document.libraries.len()).map(curve).collect(),
        )
    };
    let panels: Vec<Panel> = sizes.iter().map(panel).collect();
    let name = match document.interface {
        MeasuredInterface::Grape6 => "GRAPE-6",
        MeasuredInterface::Grape5 => "GRAPE-5",
        MeasuredInterface::Nbody6 => "NBODY6++",
    };
    Figure {
        title: format!("Speed of {name} libraries"),
        subtitle: document.machine.to_string(),
        columns: panels.chunks(2).map(<[Panel]>::to_vec).collect(),
    }
}
