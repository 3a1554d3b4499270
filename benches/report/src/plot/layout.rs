//! The positions of the panels of a figure.

use super::canvas::{At, SIZE};
use super::{Data, Panel};

/// Room between a figure's edge and its words.
pub(super) const EDGE: f64 = 36.0;
/// Room between panels.
pub(super) const GUTTER: f64 = 30.0;
/// Room between an axis and its numbers, or a curve and its name.
pub(super) const BESIDE: f64 = 9.0;
/// Room above and below a panel's axes, for its title, numbers and label.
pub(super) const ABOVE: f64 = 42.0;
pub(super) const BELOW: f64 = 62.0;
/// Usual room for the numbers beside an axis.
pub(super) const NUMBERS: f64 = 40.0;
/// Room for the name of the vertical axis.
pub(super) const NAME: f64 = 24.0;
/// Room for the title and the subtitle of a figure.
const HEAD: f64 = 98.0;
/// Room below the panels.
const FOOT: f64 = 14.0;
/// Least width of a column of curves or bars beside views.
const LEAST: f64 = 300.0;

/// A rectangle of the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// The point at these places (0 to 1) along the axes; the vertical one points up.
    pub(super) fn at(&self, x: f64, y: f64) -> At {
        (
            self.left + x * (self.right - self.left),
            self.bottom + y * (self.top - self.bottom),
        )
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// Whether a column has views only.
fn of_views(panels: &[Panel]) -> bool {
    let is_view = |p: &Panel| matches!(p.data, Data::View { .. });
    !panels.is_empty() && panels.iter().all(is_view)
}

/// The width of a page without empty margins: less than that of other pages only for a figure that has only views.
pub(super) fn close_width(columns: &[Vec<Panel>], numbers: f64) -> u32 {
    if columns.is_empty() || !columns.iter().all(|c| of_views(c)) {
        return SIZE.0;
    }
    let frames = layout(columns, numbers, SIZE.0);
    let of_column = |column: &[Frame]| column.first().map_or(0.0, Frame::width);
    let widths: f64 = frames.iter().map(|c| of_column(c)).sum();
    let whole = widths + GUTTER * (columns.len() - 1) as f64 + 2.0 * EDGE;
    // Even numbers of pixels, for films.
    (2 * (0.5 * whole).ceil() as u32).min(SIZE.0)
}

/// The frame of each panel, with its words. Views are squares of one size: the largest at which all panels fit on
/// a page of this `width`. `numbers` is the room for the numbers beside a view. The other columns share the rest of the
/// width. A figure that has only views stands in the middle of the page.
pub(super) fn layout(columns: &[Vec<Panel>], numbers: f64, width: u32) -> Vec<Vec<Frame>> {
    let height = f64::from(SIZE.1) - HEAD - FOOT;
    let most = f64::from(width) - 2.0 * EDGE;
    let panel_height = |panels: &[Panel]| height / panels.len() as f64;
    let squares = columns.iter().filter(|c| of_views(c)).count();
    let others = columns.len() - squares;
    let room = most - GUTTER * columns.len().saturating_sub(1) as f64;
    // Beside a view stand its name and its numbers.
    let beside = NAME + numbers + BESIDE;
    let by_width = (room - LEAST * others as f64) / squares.max(1) as f64 - beside;
    let rows = columns.iter().filter(|c| of_views(c)).map(Vec::len).max();
    let by_height = height / rows.unwrap_or(1) as f64 - ABOVE - BELOW;
    let side = by_width.min(by_height);
    let share = (room - (side + beside) * squares as f64) / others.max(1) as f64;
    let (mut left, top) = match others {
        0 => {
            let all = rows.unwrap_or(1) as f64 * (side + ABOVE + BELOW);
            (EDGE + 0.5 * share, HEAD + 0.5 * (height - all))
        }
        _ => (EDGE, HEAD),
    };
    let mut frames = Vec::new();
    for panels in columns {
        let (width, tall) = match of_views(panels) {
            true => (side + beside, side + ABOVE + BELOW),
            false => (share, panel_height(panels)),
        };
        let frame = |k: usize| Frame {
            left,
            top: top + k as f64 * tall,
            right: left + width,
            bottom: top + (k + 1) as f64 * tall,
        };
        frames.push((0..panels.len()).map(frame).collect());
        left += width + GUTTER;
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::super::View;
    use super::*;

    fn view() -> Panel {
        let data = Data::View {
            view: View::default(),
            half_width: 1.0,
        };
        Panel {
            data,
            ..Panel::default()
        }
    }

    /// Every figure that the programs draw: snapshots side by side in one or two rows, two views beside curves,
    /// frames of a film, curves alone.
    #[test]
    fn panels_are_inside_the_page_and_views_of_one_size() {
        let curves = Panel::default;
        let rows = |lengths: &[usize]| -> Vec<Vec<Panel>> {
            lengths
                .iter()
                .map(|n| (0..*n).map(|_| view()).collect())
                .collect()
        };
        let beside = vec![
            vec![curves(), curves()],
            vec![curves(), curves()],
            vec![view(), view()],
        ];
        for columns in [
            rows(&[1]),
            rows(&[1, 1]),
            rows(&[1, 1, 1]),
            rows(&[2, 2, 1]),
            rows(&[2, 1, 1]),
            rows(&[2, 2, 2]),
            beside,
            vec![vec![curves()], vec![view()]],
            vec![vec![curves(), curves()], vec![curves()]],
        ] {
            let frames = layout(&columns, 80.0, SIZE.0);
            let mut sides = Vec::new();
            for (panel, frame) in columns.iter().flatten().zip(frames.iter().flatten()) {
                assert!(frame.left >= EDGE && frame.top >= HEAD, "{frames:?}");
                assert!(frame.right <= f64::from(SIZE.0) - EDGE + 1e-9, "{frames:?}");
                assert!(frame.bottom <= f64::from(SIZE.1), "{frames:?}");
                assert!(frame.width() > 250.0, "{frames:?}");
                if matches!(panel.data, Data::View { .. }) {
                    sides.push((frame.width(), frame.height()));
                }
            }
            assert!(
                sides
                    .windows(2)
                    .all(|s| { (s[0].0 - s[1].0).abs() < 1e-9 && (s[0].1 - s[1].1).abs() < 1e-9 })
            );
            for pair in frames.windows(2) {
                assert!(pair[0][0].right < pair[1][0].left);
            }
            // On a close page views have the same size, and no margin is wider than the edge.
            let width = close_width(&columns, 80.0);
            let close = layout(&columns, 80.0, width);
            if width < SIZE.0 {
                let last = close.last().expect("there is a column")[0];
                assert!((close[0][0].left - EDGE).abs() <= 1.0, "{close:?}");
                assert!(
                    (f64::from(width) - last.right - EDGE).abs() <= 2.0,
                    "{close:?}"
                );
                assert!((close[0][0].width() - frames[0][0].width()).abs() <= 1.0);
            }
        }
        assert!(close_width(&rows(&[2, 2, 2]), 40.0) < 1200);
        assert_eq!(close_width(&[vec![curves()], vec![view()]], 40.0), SIZE.0);
    }
}
