//! Bodies seen from one side: which bodies are drawn, and the region of space.

/// Most points that are drawn: more would blacken the panel and swell an SVG.
const MOST_POINTS: usize = 4096;

/// Part of the bodies that a view shows at least; the others are far out.
const SHOWN: f64 = 0.95;

/// Bodies projected onto a plane at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The time.
    pub time: f64,
    /// Up to 4096 of the bodies, evenly chosen.
    pub points: Vec<(f64, f64)>,
    /// Up to 4096 of the heavier bodies, where there are two components: drawn over the others, in another colour.
    pub heavy: Vec<(f64, f64)>,
    /// What is shown in the middle; where nothing is given, the middle of most of the points.
    pub middle: Option<(f64, f64)>,
    /// Lines below the bodies, such as an orbit.
    pub paths: Vec<Vec<(f64, f64)>>,
    /// Places that are marked by a cross, such as the centre of a galaxy.
    pub marks: Vec<(f64, f64)>,
}

impl View {
    /// The bodies at `points` in the plane.
    pub fn new(time: f64, points: impl ExactSizeIterator<Item = (f64, f64)>) -> Self {
        Self {
            time,
            points: sample(points),
            ..Self::default()
        }
    }

    /// The same view with the heavier bodies at `heavy`.
    pub fn with_heavy(self, heavy: impl ExactSizeIterator<Item = (f64, f64)>) -> Self {
        Self {
            heavy: sample(heavy),
            ..self
        }
    }

    /// All of the bodies at `points`, with `middle` in the middle.
    pub fn around(middle: (f64, f64), time: f64, points: Vec<(f64, f64)>) -> Self {
        Self {
            time,
            points,
            middle: Some(middle),
            ..Self::default()
        }
    }

    /// The same view with all lengths `factor` times as large.
    pub fn scaled(self, factor: f64) -> Self {
        let scale = |points: Vec<(f64, f64)>| {
            points
                .into_iter()
                .map(|(x, y)| (factor * x, factor * y))
                .collect()
        };
        Self {
            time: self.time,
            points: scale(self.points),
            heavy: scale(self.heavy),
            middle: self.middle.map(|(x, y)| (factor * x, factor * y)),
            paths: self.paths.into_iter().map(scale).collect(),
            marks: scale(self.marks),
        }
    }

    /// The middle that was given, or that of most of the points along both axes; the origin without points.
    pub fn centre(&self) -> (f64, f64) {
        if let Some(middle) = self.middle {
            return middle;
        }
        // Not the median: of two clusters that is a point in one of them.
        let middle = |of: fn(&(f64, f64)) -> f64| {
            let at = |part| quantile(self.points.iter().map(of), part);
            0.5 * (at(0.5 * (1.0 - SHOWN)) + at(0.5 * (1.0 + SHOWN)))
        };
        (middle(|p| p.0), middle(|p| p.1))
    }

    /// Half the width of a square that holds most of the points of each of `views`.
    pub fn half_width<'a>(views: impl IntoIterator<Item = &'a Self>) -> f64 {
        let of = |view: &Self| {
            let (x, y) = view.centre();
            let distance = |p: &(f64, f64)| (p.0 - x).abs().max((p.1 - y).abs());
            quantile(view.points.iter().map(distance), SHOWN)
        };
        let widest = views.into_iter().map(of).fold(0.0, f64::max);
        if widest > 0.0 { 1.05 * widest } else { 1.0 }
    }
}

/// So many of `points` as are drawn.
fn sample(points: impl ExactSizeIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let stride = points.len().div_ceil(MOST_POINTS).max(1);
    points.step_by(stride).collect()
}

/// The value below which this part (0 to 1) of the finite `values` lies; 0 where there are none.
fn quantile(values: impl Iterator<Item = f64>, part: f64) -> f64 {
    let mut sorted: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let place = (part * last as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_centred_and_holds_most_points() {
        let line = (0..201).map(|k| (10.0 + f64::from(k), -3.0));
        let view = View::new(0.0, line.collect::<Vec<_>>().into_iter());
        assert_eq!(view.centre(), (110.0, -3.0));
        // Of distances 0, 1, 1, ... 100, 100 the one at 95 parts of a hundred is 95.
        assert!((View::half_width([&view]) - 1.05 * 95.0).abs() < 1e-12);
    }

    #[test]
    fn a_middle_may_be_given() {
        let view = View::around((7.0, -1.0), 0.0, vec![(1.0, 2.0); 5000]);
        assert_eq!((view.centre(), view.points.len()), ((7.0, -1.0), 5000));
    }

    /// Two clusters, one of which has a body more: both are seen.
    #[test]
    fn a_view_holds_two_clusters() {
        let points = (0..101).map(|k| (if k < 50 { -2.0 } else { 2.0 }, 0.0));
        let view = View::new(0.0, points.collect::<Vec<_>>().into_iter());
        assert_eq!(view.centre(), (0.0, 0.0));
        assert!(View::half_width([&view]) > 2.0);
    }

    #[test]
    fn a_far_body_changes_no_view() {
        let mut points: Vec<_> = (0..100).map(|k| (f64::from(k), 0.0)).collect();
        points[0].0 = 1e9;
        let view = View::new(0.0, points.into_iter());
        assert!(View::half_width([&view]) < 60.0);
    }

    #[test]
    fn many_bodies_are_sampled() {
        let view = View::new(0.0, vec![(1.0, 2.0); 100_000].into_iter());
        assert!((2000..=MOST_POINTS).contains(&view.points.len()));
        assert_eq!(View::half_width([&view]), 1.0);
        assert_eq!(View::default().centre(), (0.0, 0.0));
    }

    #[test]
    fn an_orbit_is_scaled_with_the_bodies() {
        let view = View {
            paths: vec![vec![(1.0, 2.0), (3.0, 4.0)]],
            marks: vec![(0.0, 1.0)],
            ..View::around((1.0, 1.0), 0.0, vec![(1.0, 2.0)])
        };
        let scaled = view.scaled(2.0);
        assert_eq!(scaled.paths, [[(2.0, 4.0), (6.0, 8.0)]]);
        assert_eq!(scaled.marks, [(0.0, 2.0)]);
    }
}
