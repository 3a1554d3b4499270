//! How figures look: margins, colours, ticks, and where the words are.

use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::canvas::{At, Canvas, SIZE};
use super::{Curve, Data, Figure, Panel, Scale};

const PAPER: RGBColor = RGBColor(255, 255, 255);
const INK: RGBColor = RGBColor(34, 40, 49);
const SOFT_INK: RGBColor = RGBColor(104, 113, 125);
const GRID: RGBColor = RGBColor(228, 231, 235);
const BAR: RGBColor = RGBColor(58, 110, 165);
/// From inside to outside: dark to light, told apart without colour vision too.
const CURVES: [RGBColor; 6] = [
    RGBColor(23, 55, 94),
    RGBColor(31, 101, 138),
    RGBColor(33, 145, 140),
    RGBColor(84, 184, 106),
    RGBColor(214, 162, 28),
    RGBColor(205, 92, 69),
];

const TITLE: u32 = 26;
const HEADING: u32 = 18;
const SMALL: u32 = 15;

type Drawn = Result<(), String>;

/// A rectangle of the figure.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Frame {
    /// The point at these places (0 to 1) along the axes; the vertical one points up.
    fn at(&self, x: f64, y: f64) -> At {
        (
            self.left + x * (self.right - self.left),
            self.bottom + y * (self.top - self.bottom),
        )
    }
}

/// Draws all of `figure`.
pub(super) fn figure<B: DrawingBackend>(canvas: &Canvas<'_, B>, figure: &Figure) -> Drawn {
    let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
    let left_top = (HPos::Left, VPos::Top);
    canvas.fill(PAPER)?;
    canvas.text(&figure.title, (36.0, 24.0), left_top, TITLE, INK)?;
    canvas.text(&figure.subtitle, (36.0, 58.0), left_top, SMALL, SOFT_INK)?;
    let column_width = (width - 24.0) / figure.columns.len() as f64;
    for (c, panels) in figure.columns.iter().enumerate() {
        let panel_height = (height - 104.0) / panels.len() as f64;
        for (r, panel) in panels.iter().enumerate() {
            let left = 12.0 + c as f64 * column_width;
            let top = 92.0 + r as f64 * panel_height;
            draw_panel(
                canvas,
                panel,
                Frame {
                    left,
                    top,
                    right: left + column_width,
                    bottom: top + panel_height,
                },
            )?;
        }
    }
    Ok(())
}

fn draw_panel<B: DrawingBackend>(canvas: &Canvas<'_, B>, panel: &Panel, outer: Frame) -> Drawn {
    let inner = Frame {
        left: outer.left + 66.0,
        top: outer.top + 42.0,
        right: outer.right - 66.0,
        bottom: outer.bottom - 58.0,
    };
    let heading = (outer.left + 24.0, outer.top + 6.0);
    canvas.text(&panel.title, heading, (HPos::Left, VPos::Top), HEADING, INK)?;
    let below = ((inner.left + inner.right) / 2.0, inner.bottom + 34.0);
    canvas.text(
        &panel.x_label,
        below,
        (HPos::Center, VPos::Top),
        SMALL,
        SOFT_INK,
    )?;
    match &panel.data {
        Data::Curves(curves) => draw_curves(canvas, (panel.x_scale, panel.scale), curves, inner)?,
        Data::Bars(bars) => draw_bars(canvas, bars, inner)?,
    }
    canvas.line(&[inner.at(0.0, 0.0), inner.at(1.0, 0.0)], SOFT_INK, 1)
}

/// Horizontal lines with their numbers on the left.
fn draw_grid<B: DrawingBackend>(canvas: &Canvas<'_, B>, axis: &Axis, frame: Frame) -> Drawn {
    for (value, text) in axis.ticks() {
        let Some(y) = axis.place(value) else { continue };
        let (left, right) = (frame.at(0.0, y), frame.at(1.0, y));
        canvas.line(&[left, right], GRID, 1)?;
        let beside = (left.0 - 10.0, left.1);
        canvas.text(&text, beside, (HPos::Right, VPos::Center), SMALL, SOFT_INK)?;
    }
    Ok(())
}

fn draw_curves<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    (x_scale, y_scale): (Scale, Scale),
    curves: &[Curve],
    frame: Frame,
) -> Drawn {
    let points = || curves.iter().flat_map(|c| &c.points);
    let x_axis = Axis::around(x_scale, points().map(|p| p.0));
    let y_axis = Axis::around(y_scale, points().map(|p| p.1));
    draw_grid(canvas, &y_axis, frame)?;
    for (value, text) in x_axis.ticks() {
        let Some(x) = x_axis.place(value) else {
            continue;
        };
        let at = frame.at(x, 0.0);
        canvas.line(&[at, (at.0, at.1 + 5.0)], SOFT_INK, 1)?;
        let below = (at.0, at.1 + 10.0);
        canvas.text(&text, below, (HPos::Center, VPos::Top), SMALL, SOFT_INK)?;
    }
    let mut labels = Vec::new();
    for (k, curve) in curves.iter().enumerate() {
        let colour = CURVES[k % CURVES.len()];
        let path: Vec<At> = curve
            .points
            .iter()
            .filter_map(|p| Some(frame.at(x_axis.place(p.0)?, y_axis.place(p.1)?)))
            .collect();
        canvas.line(&path, colour, 2)?;
        if let Some(end) = path.last().filter(|_| !curve.label.is_empty()) {
            labels.push((end.1, curve.label.as_str(), colour));
        }
    }
    for (y, text, colour) in spread(labels) {
        let at = (frame.right + 8.0, y);
        canvas.text(text, at, (HPos::Left, VPos::Center), SMALL, colour)?;
    }
    Ok(())
}

/// Moves labels down until none covers the one above it.
fn spread<T>(mut labels: Vec<(f64, &str, T)>) -> Vec<(f64, &str, T)> {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::NEG_INFINITY;
    for label in &mut labels {
        label.0 = label.0.max(lowest + f64::from(SMALL) + 2.0);
        lowest = label.0;
    }
    labels
}

fn draw_bars<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    bars: &[(String, f64)],
    frame: Frame,
) -> Drawn {
    let axis = Axis::from_zero(bars.iter().map(|b| b.1).fold(0.0, f64::max));
    draw_grid(canvas, &axis, frame)?;
    let width = 1.0 / bars.len().max(1) as f64;
    for (k, (label, value)) in bars.iter().enumerate() {
        let left = k as f64 * width;
        let height = axis.place(*value).unwrap_or(0.0);
        let from = frame.at(left + 0.12 * width, height);
        let to = frame.at(left + 0.88 * width, 0.0);
        canvas.bar(from, to, BAR)?;
        let below = frame.at(left + 0.5 * width, 0.0);
        let below = (below.0, below.1 + 10.0);
        // Long axes name every other bar.
        if bars.len() <= 12 || k.is_multiple_of(2) {
            canvas.text(label, below, (HPos::Center, VPos::Top), SMALL, SOFT_INK)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_cover_one_another() {
        let spread = spread(vec![(50.0, "b", ()), (49.0, "a", ()), (200.0, "c", ())]);
        assert_eq!(spread.iter().map(|l| l.1).collect::<String>(), "abc");
        assert!(
            spread
                .windows(2)
                .all(|w| w[1].0 - w[0].0 >= f64::from(SMALL))
        );
        assert_eq!(spread[2].0, 200.0);
    }
}
