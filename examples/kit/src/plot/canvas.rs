//! Lines, bars and words in a figure's own length unit, on any of plotters' backends.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height of every figure, in its own length unit (an SVG's pixel).
pub(super) const SIZE: (u32, u32) = (1280, 720);

/// Family under which the built-in font is known, and which a reader of the SVG replaces by theirs.
pub(super) const FONT: &str = "sans-serif";

/// A point in the figure, from its upper left corner.
pub(super) type At = (f64, f64);

/// Where figures are drawn.
pub(super) struct Canvas<'a, B: DrawingBackend> {
    area: &'a DrawingArea<B, Shift>,
    /// Pixels to the length unit.
    scale: u32,
}

impl<'a, B: DrawingBackend> Canvas<'a, B> {
    /// A canvas on the whole of `area`, which has `scale` pixels to the length unit.
    pub(super) fn new(area: &'a DrawingArea<B, Shift>, scale: u32) -> Self {
        Self { area, scale }
    }

    fn pixel(&self, at: At) -> (i32, i32) {
        let scale = f64::from(self.scale);
        ((at.0 * scale).round() as i32, (at.1 * scale).round() as i32)
    }

    /// Fills everything.
    pub(super) fn fill(&self, colour: RGBColor) -> Result<(), String> {
        self.area.fill(&colour).map_err(|e| e.to_string())
    }

    /// A line through `points`.
    pub(super) fn line(&self, points: &[At], colour: RGBColor, width: u32) -> Result<(), String> {
        let pixels: Vec<_> = points.iter().map(|p| self.pixel(*p)).collect();
        let style = colour.stroke_width(width * self.scale);
        self.area
            .draw(&PathElement::new(pixels, style))
            .map_err(|e| e.to_string())
    }

    /// A filled rectangle with these two corners.
    pub(super) fn bar(&self, from: At, to: At, colour: RGBColor) -> Result<(), String> {
        let corners = [self.pixel(from), self.pixel(to)];
        self.area
            .draw(&Rectangle::new(corners, colour.filled()))
            .map_err(|e| e.to_string())
    }

    /// A word with its `h`/`v` side at `at`.
    pub(super) fn text(
        &self,
        text: &str,
        at: At,
        (h, v): (HPos, VPos),
        size: u32,
        colour: RGBColor,
    ) -> Result<(), String> {
        let style = (FONT, size * self.scale)
            .into_font()
            .color(&colour)
            .pos(Pos::new(h, v));
        self.area
            .draw(&Text::new(text.to_owned(), self.pixel(at), style))
            .map_err(|e| e.to_string())
    }
}
