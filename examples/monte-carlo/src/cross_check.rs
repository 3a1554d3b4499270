//! `--cross-check`: evolves the same bodies by direct summation (the code of `hermite`, with kirin's forces) and by
//! this method, and compares Lagrangian radii over time.

use std::error::Error as AnyError;
use std::fmt::Write as _;

use hermite::integrator::Integrator;
use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::command::{Ended, print};
use kirin_kit::communicator::{Communicator, Counted};
use kirin_kit::density::Core;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::interrupt::interrupted;
use kirin_kit::progress::Progress;
use kirin_kit::vector::{norm, sub};
use kirin_report::plot::{Curve, Figure, Panel, Scale};
use kirin_report::text::MarkdownTable;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::error::Error;
use crate::model;
use crate::options::Options;
use crate::partition::BIN;
use crate::random::streams;
use crate::session::use_threads;

/// Fractions of the initial mass whose radii are compared. Who has escaped is outside of all of them.
pub const FRACTIONS: [f64; 3] = [0.1, 0.5, 0.9];

/// Defaults: number of bodies, end in initial half-mass relaxation times, and softening of the direct code. The
/// softening is so small that it changes no important encounter: a deflection by 90 degrees needs a distance of
/// about 2/N.
const DEFAULT_N: u64 = 2048;
const DEFAULT_T_END: f64 = 3.0;
const EPS: f64 = 1.0 / 8192.0;

/// Samples of the radii in one relaxation time, and samples in the window over which they are averaged. A single
/// sample of the 10 % radius of 2048 stars scatters by some per cent.
const LOOKS: usize = 32;
const WINDOW: usize = 16;
/// End before which no window is complete.
const LEAST_T_END: f64 = WINDOW as f64 / LOOKS as f64;

/// Radii at one time.
type Radii = [f64; FRACTIONS.len()];

/// Radii of the same cluster by both methods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Number of bodies.
    pub n: usize,
    /// Times in initial half-mass relaxation times.
    pub times: Vec<f64>,
    /// By direct summation.
    pub direct: Vec<Radii>,
    /// By this method.
    pub monte_carlo: Vec<Radii>,
    /// Energy errors at the end: of direct summation, and of this method.
    pub energy_errors: [f64; 2],
    /// When this method's cluster fell below its fewest stars, where it did: the comparison ends there.
    pub dissolved: Option<f64>,
}

impl Comparison {
    /// Means over windows of time: the middle, and both methods' radii.
    pub fn windows(&self) -> Vec<(f64, Radii, Radii)> {
        let mean = |values: &[Radii]| -> Radii {
            std::array::from_fn(|f| values.iter().map(|r| r[f]).sum::<f64>() / values.len() as f64)
        };
        let both = self
            .direct
            .chunks_exact(WINDOW)
            .zip(self.monte_carlo.chunks_exact(WINDOW));
        self.times
            .chunks_exact(WINDOW)
            .zip(both)
            .map(|(t, (a, b))| (t.iter().sum::<f64>() / t.len() as f64, mean(a), mean(b)))
            .collect()
    }

    /// The greatest difference between both methods' radii of each fraction, in parts.
    pub fn worst(&self) -> Radii {
        let windows = self.windows();
        std::array::from_fn(|f| {
            let differences = windows.iter().map(|(_, a, b)| (b[f] / a[f] - 1.0).abs());
            differences.fold(0.0, f64::max)
        })
    }

    fn text(&self) -> String {
        let mut table = MarkdownTable::new([
            "t / t_rh",
            "10 % direct",
            "Monte Carlo",
            "50 % direct",
            "Monte Carlo",
            "90 % direct",
            "Monte Carlo",
        ]);
        for (t, direct, monte_carlo) in self.windows() {
            let mut row = vec![format!("{t:.2}")];
            for f in 0..FRACTIONS.len() {
                row.extend([direct[f], monte_carlo[f]].map(|r| format!("{r:.4}")));
            }
            table.row(row);
        }
        let mut text = format!("{} stars, radii averaged over windows\n\n{table}\n", self.n);
        let [a, b, c] = self.worst().map(|part| 100.0 * part);
        writeln!(text, "greatest difference: {a:.1} %, {b:.1} %, {c:.1} %")
            .expect("a string takes everything");
        if let Some(t) = self.dissolved {
            writeln!(
                text,
                "the Monte Carlo cluster has dissolved at t = {t:.2}: nothing later is compared"
            )
            .expect("a string takes everything");
        }
        let [direct, monte_carlo] = self.energy_errors;
        writeln!(
            text,
            "energy errors: direct {direct:.1e}, Monte Carlo {monte_carlo:.1e}"
        )
        .expect("a string takes everything");
        text
    }

    fn json(&self) -> Value {
        json!({
            "n": self.n,
            "fractions": FRACTIONS,
            "times": self.times,
            "direct": self.direct,
            "monte_carlo": self.monte_carlo,
            "worst": self.worst(),
            "energy_errors": self.energy_errors,
            "dissolved": self.dissolved,
        })
    }

    fn figure(&self) -> Figure {
        let curves = |radii: &[Radii], name: &str| -> Vec<Curve> {
            let curve = |f: usize| Curve {
                label: format!("{name} {:.0} %", 100.0 * FRACTIONS[f]),
                points: self
                    .times
                    .iter()
                    .zip(radii)
                    .map(|(t, r)| (*t, r[f]))
                    .collect(),
                ..Curve::default()
            };
            (0..FRACTIONS.len()).map(curve).collect()
        };
        let both = [
            curves(&self.direct, "direct"),
            curves(&self.monte_carlo, "MC"),
        ]
        .concat();
        Figure {
            title: format!("{} stars by direct summation and by Henon's method", self.n),
            subtitle: "Lagrangian radii of the same bodies".to_owned(),
            columns: vec![vec![Panel {
                x_label: "time in initial half-mass relaxation times".to_owned(),
                ..Panel::over_time("Lagrangian radii", Scale::Logarithmic, both).with_y("radius")
            }]],
        }
    }
}

/// Radii about the density centre that hold the fractions of a mass of 1.
fn radii_of(bodies: &[Body]) -> Radii {
    let centre = Core::of(bodies).centre;
    let mut shells: Vec<(f64, f64)> = bodies
        .iter()
        .map(|b| (norm(&sub(&b.x, &centre)), b.mass))
        .collect();
    shells.sort_by(|a, b| a.0.total_cmp(&b.0));
    FRACTIONS.map(|fraction| {
        let mut inside = 0.0;
        let reached = shells.iter().find(|(_, m)| {
            inside += m;
            inside >= fraction
        });
        reached.map_or(f64::NAN, |shell| shell.0)
    })
}

/// Follows `bodies`, which are in standard units, by both methods, up to `t_end` initial half-mass relaxation times.
/// `None` where a signal came.
///
/// # Errors
///
/// The library or the direct code fails, or a rank is lost.
pub fn compare<C: Communicator>(
    world: Counted<C>,
    options: &Options,
    bodies: Vec<Body>,
    t_end: f64,
) -> Result<Option<Comparison>, Box<dyn AnyError>> {
    let settings = options.settings(None, &Galaxy::default())?;
    let n = bodies.len();
    let stars = model::of_bodies(&bodies)?;
    let mut cluster = Cluster::new(
        world,
        settings,
        stars,
        &streams(settings.seed, n.div_ceil(BIN)),
        None,
    )?;
    let unit = cluster.past.relaxation_time0;
    let direct_settings = hermite::settings::Settings {
        eps: EPS,
        eta: 0.02,
        ..Default::default()
    };
    let grape = Grape::linked();
    let energy0 = kirin_kit::diagnostics::Energy::of(&bodies, EPS * EPS).total();
    let mut direct = Integrator::start(&grape, direct_settings, 0.0, bodies)?;
    let mut comparison = Comparison {
        n,
        ..Comparison::default()
    };
    let progress = Progress::new("cross-check", 0.0, t_end);
    for look in 0..=(t_end * LOOKS as f64).round() as usize {
        let t = look as f64 / LOOKS as f64;
        while cluster.past.time < t * unit * (1.0 - 1e-12) && !cluster.dissolved {
            cluster.step(t * unit)?;
            if interrupted() {
                return Ok(None);
            }
        }
        if cluster.dissolved {
            comparison.dissolved = Some(cluster.scaled_time());
            break;
        }
        while direct.next_time().is_some_and(|next| next <= t * unit) {
            direct.step()?;
            if interrupted() {
                return Ok(None);
            }
        }
        let bodies = direct.synchronised(t * unit)?;
        comparison.times.push(t);
        comparison.direct.push(radii_of(&bodies));
        let mass = cluster.potential.mass();
        comparison
            .monte_carlo
            .push(FRACTIONS.map(|f| cluster.radii[cluster.potential.enclosing(f / mass)]));
        comparison.energy_errors = [
            kirin_kit::diagnostics::Energy::of(&bodies, EPS * EPS).error(energy0),
            cluster.energy_error(),
        ];
        progress.advance(t);
    }
    progress.finish();
    Ok(Some(comparison))
}

/// Makes the cross-check, on one rank, and writes it.
///
/// # Errors
///
/// Those of [`compare`]; more ranks than one; a file cannot be written.
pub fn run<C: Communicator>(world: C, options: &Options) -> Result<Ended, Box<dyn AnyError>> {
    if world.size() > 1 {
        return Err(Error::Refused(
            "--cross-check runs on one rank: the direct code has no more".to_owned(),
        )
        .into());
    }
    let t_end = options.control.t_end(DEFAULT_T_END, None);
    let t_end = t_end.map_err(Error::Refused)?;
    if t_end < LEAST_T_END {
        return Err(Error::Refused(format!(
            "--cross-check compares means over {LEAST_T_END} relaxation times: --t-end {t_end} leaves nothing to check"
        ))
        .into());
    }
    use_threads(options, 1)?;
    options.control.files.validate().map_err(Error::Refused)?;
    let mut start = options.start.clone();
    start.n.get_or_insert(DEFAULT_N);
    start.validate()?;
    model::check_equilibrium(&start)?;
    let bodies = start.bodies()?;
    let Some(comparison) = compare(Counted::new(world), options, bodies, t_end)? else {
        return Ok(Ended::Interrupted);
    };
    if let (Some(t), true) = (comparison.dissolved, comparison.windows().is_empty()) {
        return Err(Error::Refused(format!(
            "the Monte Carlo cluster has dissolved at t = {t:.2}, before there is a mean over {LEAST_T_END} relaxation times: take more stars"
        ))
        .into());
    }
    let printed = print(&comparison.text());
    let files = &options.control.files;
    files.report(|| comparison.json(), || comparison.figure())?;
    printed?;
    Ok(Ended::Complete)
}
