//! The appearance of figures: margins, colours, ticks, and the places of words.

use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::canvas::{At, Canvas};
use super::labels::spread;
use super::layout::{
    ABOVE, BELOW, BESIDE, EDGE, Frame, GUTTER, NAME, NUMBERS, close_width, layout,
};
use super::{Curve, Data, Figure, Form, Panel, View};

const PAPER: RGBColor = RGBColor(255, 255, 255);
const INK: RGBColor = RGBColor(34, 40, 49);
const SOFT_INK: RGBColor = RGBColor(104, 113, 125);
const GRID: RGBColor = RGBColor(228, 231, 235);
/// Lines that lead to names: lighter than any curve.
pub(super) const LEADER: RGBColor = RGBColor(160, 168, 178);
const BAR: RGBColor = RGBColor(58, 110, 165);
const STAR: RGBColor = RGBColor(31, 70, 120);
pub(super) const HEAVY_STAR: RGBColor = RGBColor(201, 42, 42);
/// An orbit below the bodies.
const ORBIT: RGBColor = RGBColor(196, 142, 18);
/// Half the length of the arms of a cross.
const CROSS: f64 = 6.0;
/// Length of an arrow at the edge of a view, of the strokes of its head, and its distance from the edge.
const ARROW: f64 = 18.0;
const ARROW_HEAD: f64 = 6.0;
const ARROW_ROOM: f64 = 5.0;
/// From inside to outside: dark to light, told apart without colour vision too.
const CURVES: [RGBColor; 6] = [
    RGBColor(23, 55, 94),
    RGBColor(31, 101, 138),
    RGBColor(33, 145, 140),
    RGBColor(84, 164, 86),
    RGBColor(196, 142, 18),
    RGBColor(205, 92, 69),
];

const TITLE: u32 = 26;
const HEADING: u32 = 18;
const SMALL: u32 = 15;

type Drawn = Result<(), String>;

/// The width of a page on which `figure` has no empty margins.
pub(super) fn width<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    figure: &Figure,
) -> Result<u32, String> {
    let numbers = numbers_of_views(canvas, &figure.columns)?;
    Ok(close_width(&figure.columns, numbers))
}

/// Draws all of `figure` on a page of this width.
pub(super) fn figure<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    figure: &Figure,
    width: u32,
) -> Drawn {
    let left_top = (HPos::Left, VPos::Top);
    let most = f64::from(width) - 2.0 * EDGE;
    canvas.fill(PAPER)?;
    let title = canvas.fitted(&figure.title, most, TITLE)?;
    canvas.text(&title, (EDGE, 24.0), left_top, TITLE, INK)?;
    let subtitle = canvas.fitted(&figure.subtitle, most, SMALL)?;
    canvas.text(&subtitle, (EDGE, 60.0), left_top, SMALL, SOFT_INK)?;
    let numbers = numbers_of_views(canvas, &figure.columns)?;
    let layout = layout(&figure.columns, numbers, width);
    for (panels, frames) in figure.columns.iter().zip(&layout) {
        for (panel, frame) in panels.iter().zip(frames) {
            draw_panel(canvas, panel, *frame)?;
        }
    }
    Ok(())
}

/// Room that the numbers beside the views take: the same for all, so that their squares are of one size.
fn numbers_of_views<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    columns: &[Vec<Panel>],
) -> Result<f64, String> {
    let mut widest = NUMBERS;
    for panel in columns.iter().flatten() {
        if let Data::View { view, half_width } = &panel.data {
            let ticks = view_axes(view, *half_width).1.ticks();
            widest = widest.max(canvas.widest(ticks.iter().map(|t| t.1.as_str()), SMALL)?);
        }
    }
    Ok(widest)
}

fn draw_panel<B: DrawingBackend>(canvas: &Canvas<'_, B>, panel: &Panel, outer: Frame) -> Drawn {
    let heading = (outer.left, outer.top + 6.0);
    let title = canvas.fitted(&panel.title, outer.width(), HEADING)?;
    canvas.text(&title, heading, (HPos::Left, VPos::Top), HEADING, INK)?;
    let inner = Frame {
        left: outer.left + NAME,
        top: outer.top + ABOVE,
        bottom: outer.bottom - BELOW,
        ..outer
    };
    let middle = (outer.left, inner.at(0.0, 0.5).1);
    let name = canvas.fitted(panel.y_name(), inner.height() + GUTTER, SMALL)?;
    canvas.upward(&name, middle, SMALL, SOFT_INK)?;
    let inner = match &panel.data {
        Data::Curves(curves) => draw_curves(canvas, panel, curves, inner)?,
        Data::Bars(bars) => draw_bars(canvas, bars, inner)?,
        Data::View { view, half_width } => draw_view(canvas, view, *half_width, inner)?,
    };
    let below = (inner.at(0.5, 0.0).0, inner.bottom + 34.0);
    let label = canvas.fitted(&panel.x_label, inner.width() + 2.0 * GUTTER, SMALL)?;
    canvas.text(&label, below, (HPos::Center, VPos::Top), SMALL, SOFT_INK)
}

/// `frame` without the room that the numbers of `axis` need on its left.
fn beside<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    axis: &Axis,
    frame: Frame,
) -> Result<Frame, String> {
    let ticks = axis.ticks();
    let width = canvas.widest(ticks.iter().map(|t| t.1.as_str()), SMALL)?;
    Ok(Frame {
        left: frame.left + width + BESIDE,
        ..frame
    })
}

/// Horizontal lines with their numbers on the left.
fn draw_grid<B: DrawingBackend>(canvas: &Canvas<'_, B>, axis: &Axis, frame: Frame) -> Drawn {
    for (value, text) in axis.ticks() {
        let Some(y) = axis.place(value) else { continue };
        let (left, right) = (frame.at(0.0, y), frame.at(1.0, y));
        canvas.line(&[left, right], GRID, 1)?;
        let at = (left.0 - BESIDE, left.1);
        canvas.text(&text, at, (HPos::Right, VPos::Center), SMALL, SOFT_INK)?;
    }
    Ok(())
}

/// The lower edge with its ticks and numbers; numbers that would touch the one before are left out.
fn draw_x_axis<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    axis: &Axis,
    ticks: &[(f64, String)],
    frame: Frame,
) -> Drawn {
    let mut free = f64::NEG_INFINITY;
    for (value, text) in ticks {
        let Some(x) = axis.place(*value) else {
            continue;
        };
        let at = frame.at(x, 0.0);
        canvas.line(&[at, (at.0, at.1 + 5.0)], SOFT_INK, 1)?;
        let half = canvas.width(text, SMALL)? / 2.0;
        if at.0 - half < free {
            continue;
        }
        free = at.0 + half + BESIDE;
        let below = (at.0, at.1 + 10.0);
        canvas.text(text, below, (HPos::Center, VPos::Top), SMALL, SOFT_INK)?;
    }
    canvas.line(&[frame.at(0.0, 0.0), frame.at(1.0, 0.0)], SOFT_INK, 1)
}

fn draw_curves<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    panel: &Panel,
    curves: &[Curve],
    frame: Frame,
) -> Result<Frame, String> {
    let points = || curves.iter().flat_map(|c| &c.points);
    let (x_axis, y_axis) = match panel.x_names.len() {
        0 => (
            Axis::close_around(panel.x_scale, points().map(|p| p.0)),
            Axis::around(panel.scale, points().map(|p| p.1)),
        ),
        n => (
            Axis::between(-0.5, n as f64 - 0.5),
            Axis::from_zero(points().map(|p| p.1).fold(0.0, f64::max)),
        ),
    };
    let names = canvas.widest(curves.iter().map(|c| c.label.as_str()), SMALL)?;
    let room = if names > 0.0 {
        names + 2.0 * BESIDE
    } else {
        BESIDE
    };
    let frame = Frame {
        right: frame.right - room,
        ..beside(canvas, &y_axis, frame)?
    };
    draw_grid(canvas, &y_axis, frame)?;
    let ticks = match panel.x_names.is_empty() {
        true => x_axis.ticks(),
        false => (0..).map(f64::from).zip(panel.x_names.clone()).collect(),
    };
    draw_x_axis(canvas, &x_axis, &ticks, frame)?;
    let mut labels: Vec<(At, &str, RGBColor)> = Vec::new();
    for (k, curve) in curves.iter().enumerate() {
        let colour = CURVES[k % CURVES.len()];
        let path: Vec<At> = curve
            .points
            .iter()
            .filter_map(|p| Some(frame.at(x_axis.place(p.0)?, y_axis.place(p.1)?)))
            .collect();
        draw_curve(canvas, curve.form, &path, colour, panel.x_names.is_empty())?;
        if let Some(end) = path.last().filter(|_| !curve.label.is_empty()) {
            labels.push((*end, &curve.label, colour));
        }
    }
    labels.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
    let wanted: Vec<f64> = labels.iter().map(|l| l.0.1).collect();
    let places = spread(&wanted, f64::from(SMALL) + 2.0, (frame.top, frame.bottom));
    for ((end, text, colour), y) in labels.into_iter().zip(places) {
        // A thin line leads from a curve to its name.
        let at = (frame.right + 2.0 * BESIDE, y);
        canvas.dashed(&[end, (at.0 - 3.0, y)], LEADER, 1, 3.0)?;
        canvas.text(text, at, (HPos::Left, VPos::Center), SMALL, colour)?;
    }
    Ok(frame)
}

/// A curve as what it is; the points of categories are not joined.
fn draw_curve<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    form: Form,
    path: &[At],
    colour: RGBColor,
    joined: bool,
) -> Drawn {
    match form {
        Form::Course | Form::Measured if joined => canvas.line(path, colour, 2)?,
        Form::Model if joined => canvas.dashed(path, colour, 2, 9.0)?,
        Form::Published if joined => canvas.line(path, colour, 1)?,
        _ => {}
    }
    for at in path {
        match form {
            Form::Course => {}
            Form::Measured => canvas.mark(*at, colour)?,
            // A stroke, which the dashes are already.
            Form::Model if joined => {}
            Form::Model => canvas.line(&[(at.0 - 14.0, at.1), (at.0 + 14.0, at.1)], colour, 2)?,
            Form::Published => canvas.open_mark(*at, colour, PAPER)?,
        }
    }
    Ok(())
}

fn draw_bars<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    bars: &[(String, f64)],
    frame: Frame,
) -> Result<Frame, String> {
    let axis = Axis::from_zero(bars.iter().map(|b| b.1).fold(0.0, f64::max));
    let frame = beside(canvas, &axis, frame)?;
    draw_grid(canvas, &axis, frame)?;
    let width = 1.0 / bars.len().max(1) as f64;
    let names = canvas.widest(bars.iter().map(|b| b.0.as_str()), SMALL)?;
    // Every bar is named where there is room, else every second, third, ...
    let stride = ((names + BESIDE) / (width * frame.width())).ceil().max(1.0) as usize;
    for (k, (label, value)) in bars.iter().enumerate() {
        let left = k as f64 * width;
        let height = axis.place(*value).unwrap_or(0.0);
        let from = frame.at(left + 0.12 * width, height);
        let to = frame.at(left + 0.88 * width, 0.0);
        canvas.bar(from, to, BAR)?;
        let below = frame.at(left + 0.5 * width, 0.0);
        let below = (below.0, below.1 + 10.0);
        if k.is_multiple_of(stride) {
            canvas.text(label, below, (HPos::Center, VPos::Top), SMALL, SOFT_INK)?;
        }
    }
    canvas.line(&[frame.at(0.0, 0.0), frame.at(1.0, 0.0)], SOFT_INK, 1)?;
    Ok(frame)
}

/// The axes of a view.
fn view_axes(view: &View, half_width: f64) -> (Axis, Axis) {
    let (x, y) = view.centre();
    let axis = |middle: f64| Axis::between(middle - half_width, middle + half_width);
    (axis(x), axis(y))
}

/// A square: lengths along both axes are the same.
fn draw_view<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    view: &View,
    half_width: f64,
    frame: Frame,
) -> Result<Frame, String> {
    let (x_axis, y_axis) = view_axes(view, half_width);
    // The numbers stand in the room that the layout left for those of every view.
    let side = frame.height();
    let square = Frame {
        left: frame.right - side,
        ..frame
    };
    draw_grid(canvas, &y_axis, square)?;
    let inside = |place: &f64| (0.0..=1.0).contains(place);
    let radius = if view.points.len() > 1500 { 0.9 } else { 1.3 };
    let place = |axis: &Axis, value| axis.place(value).filter(inside);
    let places = |p: &(f64, f64)| Some((x_axis.place(p.0)?, y_axis.place(p.1)?));
    for path in &view.paths {
        let path: Vec<At> = path.iter().filter_map(places).collect();
        for part in inside_of_square(&path) {
            let points: Vec<At> = part.into_iter().map(|(x, y)| square.at(x, y)).collect();
            canvas.line(&points, ORBIT, 1)?;
        }
    }
    for at in view.marks.iter().filter_map(places) {
        match inside(&at.0) && inside(&at.1) {
            true => draw_cross(canvas, square.at(at.0, at.1))?,
            false => draw_arrow(canvas, square, at)?,
        }
    }
    for (points, radius, colour) in [
        (&view.points, radius, STAR),
        (&view.heavy, 2.0 * radius, HEAVY_STAR),
    ] {
        for p in points {
            if let (Some(x), Some(y)) = (place(&x_axis, p.0), place(&y_axis, p.1)) {
                canvas.dot(square.at(x, y), radius, colour)?;
            }
        }
    }
    draw_x_axis(canvas, &x_axis, &x_axis.ticks(), square)?;
    let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)];
    canvas.line(&corners.map(|(x, y)| square.at(x, y)), SOFT_INK, 1)?;
    Ok(square)
}

/// The parts of a path that are inside of the square from 0 to 1. A path that leaves it goes on where it comes back, and one
/// that turns round begins a new part: it would be drawn as an area.
fn inside_of_square(path: &[At]) -> Vec<Vec<At>> {
    let mut parts: Vec<Vec<At>> = Vec::new();
    for pair in path.windows(2) {
        let Some([from, to]) = clipped(pair[0], pair[1]) else {
            continue;
        };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) && !turns_round(part, to) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// Whether a path that goes on to `to` turns by more than a right angle.
fn turns_round(part: &[At], to: At) -> bool {
    let [.., before, at] = *part else {
        return false;
    };
    (at.0 - before.0) * (to.0 - at.0) + (at.1 - before.1) * (to.1 - at.1) < 0.0
}

/// The part of a line that is inside of the square from 0 to 1 (Liang and Barsky 1984).
fn clipped(from: At, to: At) -> Option<[At; 2]> {
    let along = (to.0 - from.0, to.1 - from.1);
    let (mut begin, mut end) = (0.0_f64, 1.0_f64);
    for (at, step) in [(from.0, along.0), (from.1, along.1)] {
        if step == 0.0 {
            if !(0.0..=1.0).contains(&at) {
                return None;
            }
            continue;
        }
        let (low, high) = (-at / step, (1.0 - at) / step);
        begin = begin.max(low.min(high));
        end = end.min(low.max(high));
    }
    let at = |part: f64| match part {
        0.0 => from,
        1.0 => to,
        _ => (from.0 + part * along.0, from.1 + part * along.1),
    };
    (begin < end).then(|| [at(begin), at(end)])
}

fn draw_cross<B: DrawingBackend>(canvas: &Canvas<'_, B>, (x, y): At) -> Drawn {
    canvas.line(&[(x - CROSS, y), (x + CROSS, y)], INK, 1)?;
    canvas.line(&[(x, y - CROSS), (x, y + CROSS)], INK, 1)
}

/// An arrow at the edge of the square that points from its middle to what is outside of it.
fn draw_arrow<B: DrawingBackend>(canvas: &Canvas<'_, B>, square: Frame, at: At) -> Drawn {
    let (x, y) = (at.0 - 0.5, 0.5 - at.1);
    let length = x.hypot(y);
    let (x, y) = (x / length, y / length);
    let middle = square.at(0.5, 0.5);
    let to_tip = (0.5 * square.height() - ARROW_ROOM) / x.abs().max(y.abs());
    let tip = (middle.0 + to_tip * x, middle.1 + to_tip * y);
    let from_tip =
        |back: f64, aside: f64| (tip.0 - back * x - aside * y, tip.1 - back * y + aside * x);
    canvas.line(&[from_tip(ARROW, 0.0), tip], INK, 1)?;
    for side in [-0.6, 0.6] {
        canvas.line(&[from_tip(ARROW_HEAD, side * ARROW_HEAD), tip], INK, 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_at_the_edges() {
        let parts = inside_of_square(&[
            (-1.0, 0.5),
            (0.5, 0.5),
            (0.5, 2.0),
            (0.25, 2.0),
            (0.25, -1.0),
        ]);
        assert_eq!(
            parts,
            [
                vec![(0.0, 0.5), (0.5, 0.5), (0.5, 1.0)],
                vec![(0.25, 1.0), (0.25, 0.0)],
            ]
        );
        assert_eq!(
            clipped((0.25, 0.5), (0.75, 1.0)),
            Some([(0.25, 0.5), (0.75, 1.0)])
        );
        assert_eq!(clipped((-1.0, 0.5), (0.5, 2.5)), None);
        assert_eq!(clipped((2.0, 0.5), (2.0, 0.6)), None);
        // Back on itself.
        let back = inside_of_square(&[(0.1, 0.5), (0.9, 0.5), (0.2, 0.5)]);
        assert_eq!(back.len(), 2);
    }
}
