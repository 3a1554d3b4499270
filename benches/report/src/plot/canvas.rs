//! Lines, bars, dots and words in a figure's own length unit, on any of plotters' backends.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height of every figure, in its own length unit (an SVG's pixel).
pub(super) const SIZE: (u32, u32) = (1440, 810);

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

    /// A line through `points` in strokes of this length, with gaps of two thirds of it.
    pub(super) fn dashed(
        &self,
        points: &[At],
        colour: RGBColor,
        width: u32,
        stroke: f64,
    ) -> Result<(), String> {
        let period = 5.0 / 3.0 * stroke;
        let mut gone = 0.0;
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            let at = |s: f64| {
                let part = (s / length).clamp(0.0, 1.0);
                (
                    from.0 + part * (to.0 - from.0),
                    from.1 + part * (to.1 - from.1),
                )
            };
            // Strokes begin at multiples of the period along the whole line.
            let mut begin = -(gone % period);
            while begin < length {
                if begin + stroke > 0.0 {
                    self.line(&[at(begin), at(begin + stroke)], colour, width)?;
                }
                begin += period;
            }
            gone += length;
        }
        Ok(())
    }

    /// A mark of a point: a full dot.
    pub(super) fn mark(&self, at: At, colour: RGBColor) -> Result<(), String> {
        let radius = (3.5 * f64::from(self.scale)).round() as i32;
        self.area
            .draw(&Circle::new(self.pixel(at), radius, colour.filled()))
            .map_err(|e| e.to_string())
    }

    /// A mark of a point: an open square on `paper`.
    pub(super) fn open_mark(
        &self,
        at: At,
        colour: RGBColor,
        paper: RGBColor,
    ) -> Result<(), String> {
        let corner = |x: f64, y: f64| (at.0 + 4.0 * x, at.1 + 4.0 * y);
        self.bar(corner(-1.0, -1.0), corner(1.0, 1.0), paper)?;
        // An SVG's rectangles have no width of their strokes.
        let corners = [
            (-1.0, -1.0),
            (1.0, -1.0),
            (1.0, 1.0),
            (-1.0, 1.0),
            (-1.0, -1.0),
        ];
        self.line(&corners.map(|(x, y)| corner(x, y)), colour, 2)
    }

    /// A filled rectangle with these two corners.
    pub(super) fn bar(&self, from: At, to: At, colour: RGBColor) -> Result<(), String> {
        let corners = [self.pixel(from), self.pixel(to)];
        self.area
            .draw(&Rectangle::new(corners, colour.filled()))
            .map_err(|e| e.to_string())
    }

    /// A translucent dot.
    pub(super) fn dot(&self, at: At, radius: f64, colour: RGBColor) -> Result<(), String> {
        let radius = (radius * f64::from(self.scale)).round() as i32;
        let style = colour.mix(0.55).filled();
        self.area
            .draw(&Circle::new(self.pixel(at), radius, style))
            .map_err(|e| e.to_string())
    }

    /// A word with its `h`/`v` side at `at`. What is behind a `^` is an exponent.
    pub(super) fn text(
        &self,
        text: &str,
        at: At,
        (h, v): (HPos, VPos),
        size: u32,
        colour: RGBColor,
    ) -> Result<(), String> {
        let Some((base, exponent)) = text.split_once('^') else {
            return self.level_text(text, at, (h, v), size, colour);
        };
        // The built-in font has no raised minus sign, so exponents are drawn, not written.
        let base_width = self.level_width(base, size)?;
        let before = match h {
            HPos::Left => 0.0,
            HPos::Center => self.width(text, size)? / 2.0,
            HPos::Right => self.width(text, size)?,
        };
        let left = at.0 - before;
        let raised = (left + base_width, at.1 - 0.35 * f64::from(size));
        self.level_text(base, (left, at.1), (HPos::Left, v), size, colour)?;
        self.level_text(
            exponent,
            raised,
            (HPos::Left, v),
            exponent_size(size),
            colour,
        )
    }

    /// A word that reads upwards, its top at `at.0`, its middle at `at.1`.
    pub(super) fn upward(
        &self,
        text: &str,
        at: At,
        size: u32,
        colour: RGBColor,
    ) -> Result<(), String> {
        let style = (FONT, size * self.scale)
            .into_font()
            .transform(FontTransform::Rotate270)
            .color(&colour)
            .pos(Pos::new(HPos::Center, VPos::Top));
        self.area
            .draw(&Text::new(text.to_owned(), self.pixel(at), style))
            .map_err(|e| e.to_string())
    }

    fn level_text(
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

    /// Width of a word.
    pub(super) fn width(&self, text: &str, size: u32) -> Result<f64, String> {
        match text.split_once('^') {
            None => self.level_width(text, size),
            Some((base, exponent)) => {
                let exponent = self.level_width(exponent, exponent_size(size))?;
                Ok(self.level_width(base, size)? + exponent)
            }
        }
    }

    fn level_width(&self, text: &str, size: u32) -> Result<f64, String> {
        let style = (FONT, size * self.scale).into_text_style(self.area);
        let (width, _) = self
            .area
            .estimate_text_size(text, &style)
            .map_err(|e| e.to_string())?;
        Ok(f64::from(width) / f64::from(self.scale))
    }

    /// Width of the widest of `texts`; 0 without any.
    pub(super) fn widest<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        size: u32,
    ) -> Result<f64, String> {
        let mut widths = texts.into_iter().map(|text| self.width(text, size));
        widths.try_fold(0.0, |widest, width| Ok(f64::max(widest, width?)))
    }

    /// `text`, cut to at most this width; what is cut off is shown by an ellipsis.
    pub(super) fn fitted(&self, text: &str, most: f64, size: u32) -> Result<String, String> {
        let mut fitted = text.to_owned();
        let mut kept = text.chars().count();
        while kept > 1 && self.width(&fitted, size)? > most {
            kept -= 1;
            fitted = text.chars().take(kept).chain(['…']).collect();
        }
        Ok(fitted)
    }
}

/// Size of the letters of an exponent.
fn exponent_size(size: u32) -> u32 {
    size * 3 / 4
}
