//! The costs of a machine's parts from measured times, none of them negative.

/// The unknowns x >= 0 for which the sums `terms[i][k] x[k]` come nearest to `seconds[i]`, in relative errors.
///
/// A plain fit may give a part a negative cost, if the part takes less time than the measurements scatter. Therefore
/// every subset of the parts is fitted, with the costs of the others set to 0. The best fit without a negative cost is
/// taken.
pub fn nonnegative<const K: usize>(terms: &[[f64; K]], seconds: &[f64]) -> [f64; K] {
    let rows: Vec<[f64; K]> = terms
        .iter()
        .zip(seconds)
        .map(|(row, seconds)| row.map(|term| term / seconds))
        .collect();
    let misfit = |x: &[f64; K]| -> f64 {
        let sum = |row: &[f64; K]| row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        rows.iter().map(|row| (sum(row) - 1.0).powi(2)).sum()
    };
    // The solution is the best of those without some of the unknowns.
    (1..1_usize << K)
        .filter_map(|chosen| least_squares(&rows, chosen))
        .filter(|x| x.iter().all(|x| *x >= 0.0))
        .min_by(|x, y| misfit(x).total_cmp(&misfit(y)))
        .unwrap_or([0.0; K])
}

/// The x for which all `rows` times x come nearest to 1, where only the `chosen` bits may be other than 0; `None` if more than one x does.
fn least_squares<const K: usize>(rows: &[[f64; K]], chosen: usize) -> Option<[f64; K]> {
    let is_chosen = |k: usize| chosen >> k & 1 == 1;
    // Columns of length 1 make the elimination indifferent to units.
    let length = |k: usize| rows.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt();
    let lengths: [f64; K] = std::array::from_fn(length);
    let mut matrix = [[0.0; K]; K];
    let mut right = [0.0; K];
    for i in 0..K {
        if !is_chosen(i) {
            matrix[i][i] = 1.0;
            continue;
        }
        right[i] = rows.iter().map(|row| row[i] / lengths[i]).sum();
        for j in (0..K).filter(|&j| is_chosen(j)) {
            let product = |row: &[f64; K]| row[i] * row[j] / (lengths[i] * lengths[j]);
            matrix[i][j] = rows.iter().map(product).sum();
        }
    }
    // Positive definite: no pivot is needed.
    for i in 0..K {
        if matrix[i][i].is_nan() || matrix[i][i] < 1e-14 {
            return None;
        }
        let (pivot, known) = (matrix[i], right[i]);
        for (row, right) in matrix.iter_mut().zip(&mut right).skip(i + 1) {
            let factor = row[i] / pivot[i];
            for (below, above) in row.iter_mut().zip(pivot) {
                *below -= factor * above;
            }
            *right -= factor * known;
        }
    }
    let mut x = [0.0; K];
    for i in (0..K).rev() {
        let known: f64 = (i + 1..K).map(|j| matrix[i][j] * x[j]).sum();
        x[i] = (right[i] - known) / matrix[i][i];
    }
    Some(std::array::from_fn(|k| match is_chosen(k) {
        true => x[k] / lengths[k],
        false => 0.0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs, j-particles and calls of the three measured requests.
    const REQUESTS: [[f64; 3]; 3] = [
        [2048.0, 2048.0, 1.0],
        [8192.0, 8192.0, 1.0],
        [2_097_152.0, 8192.0, 1.0],
    ];

    fn seconds(x: [f64; 3]) -> [f64; 3] {
        REQUESTS.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
    }

    #[test]
    fn exact_times_give_their_parts() {
        let parts = [1e-9, 3e-9, 2e-7];
        let found = nonnegative(&REQUESTS, &seconds(parts));
        for (found, expected) in found.into_iter().zip(parts) {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
    }

    /// A GPU's call takes 20 us, all else next to nothing; the larger request happened to be 1 % faster.
    #[test]
    fn what_would_be_negative_is_left_out_and_the_times_are_met() {
        let times = [20e-6, 19.8e-6, 24e-6];
        let found = nonnegative(&REQUESTS, &times);
        assert!(found.iter().all(|x| *x >= 0.0), "{found:?}");
        assert!(found[1] == 0.0, "{found:?}");
        for (found, expected) in seconds(found).into_iter().zip(times) {
            assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
        }
    }

    #[test]
    fn nothing_measured_gives_nothing() {
        assert_eq!(nonnegative::<2>(&[[0.0, 0.0]], &[1.0]), [0.0, 0.0]);
    }
}
