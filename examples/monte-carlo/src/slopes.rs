//! Logarithmic slopes near core collapse, beside those of the paper: of the core density against the core radius
//! (Figure 5), and of the density against the radius outside the core (Figure 4).

use kirin_report::plot::{Curve, Form};

use crate::history::{History, Record};

/// Published slope of log rho_c over log r_c.
pub const COLLAPSE: f64 = -2.24;
/// Published slope of log rho over log r outside the core, at collapse.
pub const TAIL: f64 = -2.3;

/// Records near collapse are those whose logarithm of the core density has passed this fraction of its rise.
const NEAR: f64 = 0.5;

/// Slope of log rho_c over log r_c near collapse. If the core density has risen by d decades, the records in the
/// upper d / 2 decades are used. `None` if d is less than 2.
pub fn collapse_slope(records: &[Record]) -> Option<f64> {
    let logarithms = |(x, y): (f64, f64)| (x.log10(), y.log10());
    let near = near_collapse(records)?.into_iter().map(logarithms);
    slope(&near.collect::<Vec<_>>())
}

/// Core radii and densities near collapse.
fn near_collapse(records: &[Record]) -> Option<Vec<(f64, f64)>> {
    let first = records.first()?.core_density.log10();
    let greatest = records
        .iter()
        .map(|r| r.core_density.log10())
        .fold(first, f64::max);
    if greatest - first < 2.0 {
        return None;
    }
    let limit = first + NEAR * (greatest - first);
    let near = records
        .iter()
        .skip_while(|r| r.core_density.log10() < limit)
        .map(|r| (r.core_radius, r.core_density));
    Some(near.collect())
}

/// Slope of a line through points with like errors in both coordinates: the geometric mean of the slopes dy/dx of the
/// two lines of least squares, y over x and x over y. `None` for fewer than three points.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in points {
        xx += (a - x) * (a - x);
        yy += (b - y) * (b - y);
        xy += (a - x) * (b - y);
    }
    (points.len() > 2 && xx > 0.0).then(|| f64::signum(xy) * (yy / xx).sqrt())
}

/// Radii between which the density is a power law at collapse, in core radii and in half-mass radii.
const FROM: f64 = 3.0;
const TO: f64 = 0.1;

/// The points of the last density profile outside the core and well inside the half-mass radius; nothing where that is less than a decade.
fn tail(history: &History) -> Option<Vec<(f64, f64)>> {
    let profile = history.profiles.last()?;
    let distance = |r: &&Record| (r.t - profile.t).abs();
    let record = history
        .records
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let (from, to) = (FROM * record.core_radius, TO * record.half_mass());
    let within = |(r, density): &&(f64, f64)| (from..to).contains(r) && *density > 0.0;
    (to > 10.0 * from).then(|| profile.points.iter().filter(within).copied().collect())
}

/// Slope of log rho over log r outside the core in the last density profile. `None` where the core is not small yet.
pub fn tail_slope(history: &History) -> Option<f64> {
    let logarithms = |(x, y): (f64, f64)| (x.log10(), y.log10());
    slope(
        &tail(history)?
            .into_iter()
            .map(logarithms)
            .collect::<Vec<_>>(),
    )
}

/// A line of the slope `slope` over the range of these points, through their middle in the logarithm.
fn line(points: &[(f64, f64)], slope: f64) -> Option<Curve> {
    let n = points.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(|p| part(p).ln()).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let least = points.iter().map(|p| p.0).reduce(f64::min)?;
    let most = points.iter().map(|p| p.0).reduce(f64::max)?;
    let at = |r: f64| (r, (y + slope * (r.ln() - x)).exp());
    Some(Curve {
        label: slope.to_string(),
        points: vec![at(least), at(most)],
        form: Form::Model,
    })
}

/// The published slope through the density outside the core.
pub fn tail_line(history: &History) -> Option<Curve> {
    line(&tail(history)?, TAIL)
}

/// The published slope through the core densities near collapse.
pub fn collapse_line(records: &[Record]) -> Option<Curve> {
    line(&near_collapse(records)?, COLLAPSE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::DensityProfile;

    /// A power law outside a core of constant density, and another one beyond the half-mass radius.
    #[test]
    fn a_power_law_has_its_slope() {
        let record = Record::from_columns(|name| match name {
            "core_radius" => Some(1e-3),
            "lagrangian_50" => Some(1.0),
            _ => Some(0.0),
        });
        let density = |r: f64| match r {
            r if r < 2e-3 => 2e-3_f64.powf(-2.2),
            r if r < 0.5 => r.powf(-2.2),
            r => 0.5_f64.powf(1.3) * r.powf(-3.5),
        };
        let points = (0..60).map(|k| 10.0_f64.powf(-4.0 + f64::from(k) / 12.0));
        let mut history = History {
            records: vec![record],
            profiles: vec![DensityProfile {
                t: 0.0,
                points: points.map(|r| (r, density(r))).collect(),
            }],
        };
        let slope = tail_slope(&history).unwrap();
        assert!((slope + 2.2).abs() < 1e-9, "{slope}");
        let published = tail_line(&history).unwrap();
        let [(r0, a), (r1, b)] = published.points[..] else {
            panic!()
        };
        assert!(((b / a).ln() / (r1 / r0).ln() - TAIL).abs() < 1e-9);
        // A core that is not small.
        history.records[0].core_radius = 0.05;
        assert_eq!(tail_slope(&history), None);
    }
}
