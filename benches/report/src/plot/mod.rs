//! Figures of several panels, as SVG or PNG by the file's extension.
//!
//! A figure is data. One place decides colours, ticks and margins, so the figures of all applications look alike.
//! The PNG's font is part of the program, so no font need be installed.

mod axis;
mod canvas;
mod draw;
mod file;
mod labels;
mod layout;
mod view;

use std::path::Path;

use serde::Deserialize;

pub use axis::Scale;
pub use file::check_path;
pub use view::View;

/// One figure: a title above columns of panels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What the reader looks at.
    pub title: String,
    /// With which settings it was made.
    pub subtitle: String,
    /// Columns from left to right; each divides the height among its panels.
    pub columns: Vec<Vec<Panel>>,
}

/// One set of axes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Panel {
    /// What the panel shows.
    pub title: String,
    /// What the horizontal axis shows.
    pub x_label: String,
    /// What the vertical axis shows; where nothing is said, what the title says up to a comma or colon.
    pub y_label: String,
    /// Scale of the horizontal axis under curves.
    pub x_scale: Scale,
    /// Names of categories: then points at x = 0, 1, ... stand above them, on their own, and the other axis begins at 0.
    pub x_names: Vec<String>,
    /// Scale of the vertical axis.
    pub scale: Scale,
    /// What is drawn.
    pub data: Data,
}

/// What a panel shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Curves over a common axis. Points that a logarithmic scale cannot show are left out.
    Curves(Vec<Curve>),
    /// Bars: a label below each, and its height.
    Bars(Vec<(String, f64)>),
    /// Dots on a plane, with one scale for both axes.
    #[serde(skip)]
    View {
        /// The dots.
        view: View,
        /// Half the width of what is shown of the plane.
        half_width: f64,
    },
}

impl Default for Data {
    fn default() -> Self {
        Self::Curves(Vec::new())
    }
}

/// What the points of a curve are, which is seen from how they are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// One of so many that only their course is seen: a line.
    #[default]
    Course,
    /// Measured here: dots on a line.
    Measured,
    /// Followed from a model: a dashed line.
    Model,
    /// Published by others: open squares on a thin line.
    Published,
}

/// One curve.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Curve {
    /// Name, written at the end of the curve; may be empty.
    pub label: String,
    /// Its points, in order.
    pub points: Vec<(f64, f64)>,
    /// What they are.
    pub form: Form,
}

impl Panel {
    /// The name of the vertical axis.
    pub fn y_name(&self) -> &str {
        let head = self.title.split([',', ':']).next().unwrap_or_default();
        match (&self.data, self.y_label.as_str()) {
            (Data::View { .. }, "") => "y",
            (_, "") => head,
            (_, name) => name,
        }
    }

    /// The same panel with a name for its vertical axis.
    pub fn with_y(self, y_label: &str) -> Self {
        let y_label = y_label.to_owned();
        Self { y_label, ..self }
    }

    /// Curves over the simulated time.
    pub fn over_time(title: &str, scale: Scale, curves: Vec<Curve>) -> Self {
        Self {
            title: title.to_owned(),
            x_label: "time".to_owned(),
            scale,
            data: Data::Curves(curves),
            ..Self::default()
        }
    }

    /// Curves with both scales logarithmic.
    pub fn logarithmic(title: &str, x_label: &str, curves: Vec<Curve>) -> Self {
        Self {
            title: title.to_owned(),
            x_label: x_label.to_owned(),
            x_scale: Scale::Logarithmic,
            scale: Scale::Logarithmic,
            data: Data::Curves(curves),
            ..Self::default()
        }
    }
}

impl Curve {
    /// Published numbers over numbers of particles.
    pub fn published(label: &str, points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let form = Form::Published;
        Self {
            form,
            ..Self::over_n(label, points)
        }
    }

    /// What was measured, over numbers of particles.
    pub fn over_n(label: &str, points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        Self {
            label: label.to_owned(),
            points: points.into_iter().map(|(n, y)| (n as f64, y)).collect(),
            form: Form::Measured,
        }
    }
}

impl Figure {
    /// Draws the figure into the file at `path`: `.svg` or `.png`.
    ///
    /// # Errors
    ///
    /// Another extension, or the file cannot be written; in words.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        file::save(self, path, false)
    }

    /// The same on a page that is no wider than the panels need. Only a figure of views alone needs less than the whole width.
    ///
    /// # Errors
    ///
    /// Those of [`Figure::save`].
    pub fn save_close(&self, path: &Path) -> Result<(), String> {
        file::save(self, path, true)
    }
}

#[cfg(test)]
mod tests;
