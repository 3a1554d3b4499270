//! The table of `--stars`: every star with its place in the Galaxy, on the sky and in the stream.

use std::collections::HashSet;
use std::path::Path;

use kirin_kit::Body;
use kirin_kit::bound::BoundPart;
use kirin_kit::csv::Csv;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::galaxy::flow::Phase;
use kirin_kit::galaxy::sky::{StreamAxes, Sun};

use crate::stream::Track;

/// Names of the columns.
const COLUMNS: [&str; 19] = [
    "index",
    "bound",
    "mass_solar",
    "x_kpc",
    "y_kpc",
    "z_kpc",
    "vx_km_s",
    "vy_km_s",
    "vz_km_s",
    "ra_deg",
    "dec_deg",
    "distance_kpc",
    "pm_ra_cosdec_mas_yr",
    "pm_dec_mas_yr",
    "radial_velocity_km_s",
    "phi1_deg",
    "phi2_deg",
    "along_kpc",
    "outward_kpc",
];

/// Writes the stars at the time `t` of a run in `galaxy`, as seen from the Sun. A column that does not apply is left empty,
/// such as the place along the stream of a cluster at rest.
///
/// # Errors
///
/// The file cannot be written; in words.
pub fn write(
    path: &Path,
    bodies: &[Body],
    bound: &BoundPart,
    galaxy: &Galaxy,
    t: f64,
    sun: &Sun,
) -> Result<(), String> {
    let units = &galaxy.units;
    // Labels may be given twice.
    let identity = |body: &Body| {
        (
            body.index,
            body.x.map(f64::to_bits),
            body.v.map(f64::to_bits),
        )
    };
    let members: HashSet<_> = bound.members.iter().map(identity).collect();
    let physical = |(x, v): &Phase| (x.map(|c| units.to_kpc(c)), v.map(|c| c * units.velocity()));
    let cluster = (bound.x, bound.v);
    let axes = physical(&cluster);
    let axes = StreamAxes::along(sun, &axes.0, &axes.1);
    let places = Track::of(galaxy, &cluster, t)
        .ok()
        .map(|track| track.places(bodies));
    let mut csv = Csv::create(path, &COLUMNS, [])?;
    for (i, body) in bodies.iter().enumerate() {
        let (x, v) = physical(&(body.x, body.v));
        let seen = sun.see(&x, &v);
        let (phi1, phi2) = axes.map_or((f64::NAN, f64::NAN), |axes| axes.of(&x));
        let mut numbers = vec![body.mass * units.mass];
        numbers.extend(x);
        numbers.extend(v);
        numbers.extend([
            seen.ra,
            seen.dec,
            seen.distance,
            seen.pm_ra,
            seen.pm_dec,
            seen.radial,
        ]);
        numbers.extend([phi1, phi2]);
        numbers.extend(match &places {
            Some(places) => [places[i].along, places[i].outward].map(|c| units.to_kpc(c)),
            None => [f64::NAN; 2],
        });
        let is_bound = i32::from(members.contains(&identity(body)));
        csv.write_after(&[body.index, is_bound], &numbers)?;
    }
    Ok(())
}
