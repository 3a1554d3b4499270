//! The stars in the plane: the end of a run, snapshots side by side, frames of a film.

use std::path::Path;

use kirin_kit::command::named;
use kirin_kit::density::Core;
use kirin_kit::diagnostics::centre_of_mass;
use kirin_kit::galaxy::flow::Phase;
use kirin_kit::galaxy::{Galaxy, Units};
use kirin_kit::number::fraction;
use kirin_kit::quantity::Quantity;
use kirin_kit::summary::view_panel;
use kirin_kit::vector::{norm, sub};
use kirin_kit::{Body, Snapshot};
use kirin_report::plot::{Data, Figure, Panel, View};
use kirin_report::text::grouped;

use crate::settings::Settings;
use crate::stream::Track;

/// Most pictures of one figure: two rows of three.
const MOST: usize = 6;

/// How much wider than the outermost star a picture of the whole orbit is.
const MARGIN: f64 = 1.08;

/// Whether the picture is of the whole orbit, or of the neighbourhood of the cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frame {
    /// About the galaxy's centre, wide enough for everybody but one in a hundred.
    Galaxy,
    /// About the densest place, with this half width.
    Cluster(f64),
}

/// Part of the stars about the densest place whose mean motion is that of the cluster.
const INNERMOST: usize = 10;

/// Position and velocity of the cluster among `bodies`: of those nearest to the densest place.
fn cluster(bodies: &[Body]) -> Option<Phase> {
    let centre = Core::of(bodies).centre;
    let mut near: Vec<(f64, &Body)> = bodies
        .iter()
        .map(|b| (norm(&sub(&b.x, &centre)), b))
        .collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    near.truncate(bodies.len().div_ceil(INNERMOST));
    let near: Vec<Body> = near.into_iter().map(|(_, b)| *b).collect();
    let (x, v) = centre_of_mass(&near);
    (centre.iter().chain(&x).chain(&v).all(|c| c.is_finite())).then_some((x, v))
}

/// `view` with the orbit of the cluster at the time of the view, and the centre of the galaxy.
fn with_orbit(view: View, bodies: &[Body], galaxy: &Galaxy) -> View {
    if galaxy.is_none() {
        return view;
    }
    let track = cluster(bodies).and_then(|phase| Track::of(galaxy, &phase, view.time).ok());
    let orbit = track.map(|track| track.positions().map(|x| (x[0], x[1])).collect());
    View {
        paths: orbit.into_iter().collect(),
        marks: vec![(0.0, 0.0)],
        ..view
    }
}

/// The stars in the plane, as seen from above it.
fn seen(time: f64, bodies: &[Body], frame: Frame) -> View {
    let points = bodies.iter().map(|b| (b.x[0], b.x[1])).collect();
    let middle = match frame {
        Frame::Galaxy => (0.0, 0.0),
        Frame::Cluster(_) => {
            let centre = Core::of(bodies).centre;
            match centre[0].is_finite() {
                true => (centre[0], centre[1]),
                false => (0.0, 0.0),
            }
        }
    };
    View::around(middle, time, points)
}

/// A half width that holds 99 of 100 stars of each view.
fn half_width<'a>(views: impl IntoIterator<Item = &'a View>) -> f64 {
    let of = |view: &View| {
        let (x, y) = view.centre();
        let distance = |p: &(f64, f64)| (p.0 - x).abs().max((p.1 - y).abs());
        let mut distances: Vec<f64> = view.points.iter().map(distance).collect();
        distances.sort_unstable_by(f64::total_cmp);
        let place = distances.len() * 99 / 100;
        let stars = distances.get(place).copied().unwrap_or(1.0);
        let orbit = view.paths.iter().flatten().map(distance);
        orbit.fold(stars, f64::max)
    };
    MARGIN * views.into_iter().map(of).fold(f64::MIN_POSITIVE, f64::max)
}

/// A time, with three decimals where it is no short number.
fn short(t: f64) -> String {
    match fraction(t) {
        text if text.len() > 8 => format!("{t:.3}"),
        text => text,
    }
}

/// A picture; where units are known, lengths are in pc and the time in Myr.
fn panel(view: View, half_width: f64, units: Option<&Units>) -> Panel {
    let time = match units {
        Some(units) => format!(
            "t = {} ({:.1} Myr)",
            short(view.time),
            view.time * units.time()
        ),
        None => format!("t = {}", short(view.time)),
    };
    view_panel(time, view, half_width, units)
}

/// Two panels. Without a galaxy they show the cluster at the start and at the end. In a galaxy they show the
/// `bodies` at the end, once with the whole orbit and once near the cluster.
pub fn at_end(views: &[View; 2], bodies: &[Body], settings: &Settings) -> Vec<Panel> {
    let known = settings.galaxy.known_units();
    let units = known.as_ref();
    if settings.galaxy.is_none() {
        let width = View::half_width(views);
        return views.clone().map(|view| panel(view, width, units)).into();
    }
    let time = views[1].time;
    let wide = with_orbit(seen(time, bodies, Frame::Galaxy), bodies, &settings.galaxy);
    let width = half_width([&wide]);
    let near = width.min(NEAR);
    let zoom = seen(time, bodies, Frame::Cluster(near));
    let [wide, zoom] = [panel(wide, width, units), panel(zoom, near, units)];
    vec![
        Panel {
            title: format!("The orbit, {}", wide.title),
            ..wide
        },
        Panel {
            title: format!("The cluster, {}", zoom.title),
            ..zoom
        },
    ]
}

/// The stars of a particle spray in the frame of `beside`, the picture of the run.
pub fn of_spray(beside: &Panel, stars: &[Phase], settings: &Settings) -> Panel {
    let Data::View { view, half_width } = &beside.data else {
        return beside.clone();
    };
    let units = &settings.galaxy.units;
    let factor = match beside.x_label.contains("kpc") {
        true => units.to_kpc(1.0),
        false => units.length,
    };
    let points = stars.iter().map(|(x, _)| (factor * x[0], factor * x[1]));
    let (view, half_width) = (
        View {
            points: points.collect(),
            ..view.clone()
        },
        *half_width,
    );
    Panel {
        title: "Particle spray on the same orbit".to_owned(),
        data: Data::View { view, half_width },
        ..beside.clone()
    }
}

/// One frame of a film, of which the first had this half width.
pub fn frame(time: f64, bodies: &[Body], settings: &Settings, first: f64) -> Figure {
    let galaxy = &settings.galaxy;
    let known = galaxy.known_units();
    let units = known.as_ref();
    let view = with_orbit(seen(time, bodies, Frame::Galaxy), bodies, galaxy);
    let wide = panel(view, first, units);
    let columns = match galaxy.is_none() {
        true => vec![vec![wide]],
        false => {
            let near = Frame::Cluster(first.min(NEAR));
            vec![
                vec![wide],
                vec![panel(seen(time, bodies, near), first.min(NEAR), units)],
            ]
        }
    };
    Figure {
        title: format!("{} stars at t = {time:.3}", grouped(bodies.len() as u64)),
        subtitle: format!("galaxy: {}", galaxy.title()),
        columns,
    }
}

/// Half width of the second picture of a frame.
const NEAR: f64 = 20.0;

/// Half width of a film's frames: that of the orbit.
pub fn film_half_width(bodies: &[Body], galaxy: &Galaxy, t: f64) -> f64 {
    half_width([&with_orbit(seen(t, bodies, Frame::Galaxy), bodies, galaxy)])
}

/// The figure of up to six snapshots.
///
/// # Errors
///
/// A file cannot be read, they are too many, or their galaxies or units differ; in words.
pub fn draw<P: AsRef<Path>>(paths: &[P], zoom: Option<Quantity>) -> Result<Figure, String> {
    if paths.len() > MOST {
        return Err(format!("--draw takes up to {MOST} snapshots"));
    }
    let (mut views, mut first, mut n) = (Vec::new(), None, 0);
    let mut frame = Frame::Galaxy;
    for path in paths {
        let path = path.as_ref();
        let snapshot = Snapshot::load(path).map_err(named(path))?;
        let galaxy = Galaxy::of(&snapshot).map_err(named(path))?;
        let shown = *first.get_or_insert(galaxy);
        // All views have one scale and one title. The day that is today's is in neither.
        if (Galaxy {
            today: shown.today,
            ..galaxy
        }) != shown
        {
            return Err(named(path)(
                "--draw: its galaxy or its units are not those of the first snapshot",
            ));
        }
        if let Some(zoom) = zoom {
            frame = Frame::Cluster(zoom.in_units(galaxy.known_units().as_ref())?);
        }
        n = n.max(snapshot.bodies.len());
        let view = seen(snapshot.time, &snapshot.bodies, frame);
        views.push(with_orbit(view, &snapshot.bodies, &galaxy));
    }
    let galaxy = first.unwrap_or_default();
    let known = galaxy.known_units();
    let units = known.as_ref();
    let width = match frame {
        Frame::Galaxy => half_width(&views),
        Frame::Cluster(width) => width,
    };
    let across = if views.len() > 3 { 3 } else { views.len() };
    let mut columns = vec![Vec::new(); across];
    for (k, view) in views.into_iter().enumerate() {
        columns[k % across].push(panel(view, width, units));
    }
    Ok(Figure {
        title: format!("{} stars in the plane of the galaxy", grouped(n as u64)),
        subtitle: match galaxy.is_none() {
            true => format!("galaxy: {}", galaxy.title()),
            false => format!(
                "galaxy: {}; its centre: + or an arrow to it; line: the cluster's orbit",
                galaxy.title()
            ),
        },
        columns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::galaxy::MilkyWay;
    use kirin_kit::models;
    use kirin_testing::Folder;

    #[test]
    fn snapshots_stand_in_rows_of_three() {
        let folder = Folder::new("draw");
        let paths: Vec<String> = (0..5)
            .map(|k| {
                let path = folder.file(&format!("{k}.txt"));
                let mut bodies = models::plummer(100, 1);
                bodies.iter_mut().for_each(|b| b.x[0] += 100.0);
                let snapshot = Snapshot {
                    time: f64::from(k),
                    bodies,
                    ..Snapshot::default()
                };
                snapshot.save_as(path.as_ref()).unwrap();
                path
            })
            .collect();
        let figure = draw(&paths, None).unwrap();
        let rows: Vec<usize> = figure.columns.iter().map(Vec::len).collect();
        assert_eq!(rows, [2, 2, 1]);
        let view = |figure: &Figure| match &figure.columns[0][0].data {
            Data::View { view, half_width } => (view.centre(), *half_width),
            _ => panic!("no view"),
        };
        let (centre, width) = view(&figure);
        assert_eq!(centre, (0.0, 0.0));
        assert!((101.0..125.0).contains(&width), "{width}");
        let (centre, width) = view(&draw(&paths[..1], Some(3.0.into())).unwrap());
        assert!((centre.0 - 100.0).abs() < 0.2 && width == 3.0);
        assert!(draw(&["nowhere.txt"], None).is_err());
        let many = vec![paths[0].clone(); 7];
        assert!(draw(&many, None).unwrap_err().contains("up to 6"));
    }

    /// One scale is for one system of units; the time of today does not matter.
    #[test]
    fn snapshots_of_different_units_are_in_no_figure() {
        let folder = Folder::new("draw-units");
        let saved = |name: &str, galaxy: Galaxy| {
            let path = folder.file(name);
            let snapshot = Snapshot {
                bodies: models::plummer(100, 1),
                run: galaxy.lines(),
                ..Snapshot::default()
            };
            snapshot.save_as(path.as_ref()).unwrap();
            path
        };
        let galaxy = Galaxy {
            model: MilkyWay::Irrgang,
            ..Galaxy::default()
        };
        let later = Galaxy {
            today: 5.0,
            ..galaxy
        };
        let mut other = galaxy;
        other.units.length *= 10.0;
        let paths = [
            saved("a.txt", galaxy),
            saved("later.txt", later),
            saved("other.txt", other),
            saved("none.txt", Galaxy::default()),
        ];
        assert!(draw(&paths[..2], None).is_ok());
        for k in [2, 3] {
            let why = draw(&[&paths[0], &paths[k]], None).unwrap_err();
            assert!(why.starts_with(&paths[k]) && why.contains("units"), "{why}");
        }
    }
}
