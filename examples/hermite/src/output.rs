//! The reports of a run: a table, a JSON object, a figure.

use kirin_kit::number::fraction;
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_report::plot::{Data, Figure, Panel};
use kirin_report::text::{Table, grouped};
use serde_json::{Value, json};

use crate::counts::Counts;
use crate::integrator::Integrator;
use crate::settings::Settings;
use crate::sources::Library;

/// The scheme's own figures, for people.
pub fn rows(counts: &Counts) -> Vec<(&'static str, String)> {
    vec![
        ("steps", grouped(counts.steps)),
        ("block steps", grouped(counts.block_steps)),
        (
            "mean block size",
            format!("{:.1}", counts.mean_block_size()),
        ),
        ("pairs", grouped(counts.pairs)),
    ]
}

/// The scheme's own figures, for programs.
pub fn figures(settings: &Settings, counts: &Counts) -> Value {
    json!({
        "regularize": settings.regularize,
        "shared_step": settings.shared.then_some(settings.dt_max),
        "steps": counts.steps,
        "block_steps": counts.block_steps,
        "mean_block_size": counts.mean_block_size(),
        "block_sizes": counts.block_sizes,
        "pairs": counts.pairs,
    })
}

/// The end of a run.
pub struct Report<'a, 'g> {
    summary: &'a Summary,
    integrator: &'a Integrator<Library<'g>>,
    forces: ForceFacts,
}

impl<'a, 'g> Report<'a, 'g> {
    /// The end of a run whose forces came from `library`.
    pub fn new(
        summary: &'a Summary,
        integrator: &'a Integrator<Library<'g>>,
        library: &str,
    ) -> Self {
        let sources = integrator.sources();
        Self {
            summary,
            integrator,
            forces: ForceFacts {
                library: library.to_owned(),
                backend: sources.backend(),
                precision: sources.precision(),
                pairs: integrator.counts().pairs as f64,
            },
        }
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let mut rows = [
            vec![self.summary.softening()],
            rows(self.integrator.counts()),
        ]
        .concat();
        rows.extend(self.integrator.regularized().rows(self.summary.log.seconds));
        self.summary.table(&self.forces, rows)
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let settings = self.integrator.settings();
        let own = figures(settings, self.integrator.counts());
        self.summary.json(&self.forces, settings, own)
    }

    /// Diagnostics over time, the histogram of block sizes, and the stars from above.
    pub fn figure(&self) -> Figure {
        let settings = self.integrator.settings();
        let steps = if settings.shared {
            format!("one step of {}", fraction(settings.dt_max))
        } else {
            format!("η = {}", settings.eta)
        };
        let sizes = self.integrator.counts().block_sizes.iter().enumerate();
        let bars = sizes.map(|(k, count)| ((1_u64 << k).to_string(), *count as f64));
        let blocks = Panel {
            title: "Number of blocks by their size".to_owned(),
            y_label: "blocks".to_owned(),
            x_label: "particles in a block, up to the next bar's".to_owned(),
            data: Data::Bars(bars.collect()),
            ..Panel::default()
        };
        self.summary.figure(&self.forces, &steps, blocks)
    }
}
