//! The places of the labels of curves: beside the ends of the curves, without overlap, inside the figure.

/// Places for labels that want to be at `wanted` (ascending), at least `gap` apart and within
/// `range`, moved as little as possible.
///
/// If `k` gaps are subtracted from the place of label `k`, the places only have to ascend. This is isotonic regression:
/// neighbours that are out of order get their common mean, until all ascend. At the end the gaps are added again.
pub(super) fn spread(wanted: &[f64], gap: f64, range: (f64, f64)) -> Vec<f64> {
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (k, y) in wanted.iter().enumerate() {
        let mut group = (y - k as f64 * gap, 1);
        while let Some((mean, count)) = groups.pop_if(|last| last.0 > group.0) {
            let total = count + group.1;
            let sum = mean * count as f64 + group.0 * group.1 as f64;
            group = (sum / total as f64, total);
        }
        groups.push(group);
    }
    let gaps = wanted.len().saturating_sub(1) as f64 * gap;
    let (low, high) = (range.0, (range.1 - gaps).max(range.0));
    let places = groups
        .into_iter()
        .flat_map(|(mean, count)| std::iter::repeat_n(mean.clamp(low, high), count));
    (0..)
        .zip(places)
        .map(|(k, y)| y + f64::from(k) * gap)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_have_room_stay() {
        assert_eq!(spread(&[10.0, 50.0], 15.0, (0.0, 100.0)), [10.0, 50.0]);
        assert!(spread(&[], 15.0, (0.0, 100.0)).is_empty());
    }

    #[test]
    fn labels_in_one_place_are_spread_about_it() {
        assert_eq!(spread(&[50.0; 3], 10.0, (0.0, 100.0)), [40.0, 50.0, 60.0]);
        assert_eq!(
            spread(&[20.0, 48.0, 52.0, 90.0], 10.0, (0.0, 100.0)),
            [20.0, 45.0, 55.0, 90.0]
        );
    }

    #[test]
    fn no_label_leaves_the_frame() {
        assert_eq!(spread(&[99.0, 100.0], 10.0, (0.0, 100.0)), [90.0, 100.0]);
        assert_eq!(spread(&[0.0, 1.0], 10.0, (0.0, 100.0)), [0.0, 10.0]);
    }
}
