//! Eigenvalues of symmetric matrices of three rows.

/// The upper triangle by rows: xx, xy, xz, yy, yz, zz.
pub type Matrix = [f64; 6];

/// Sweeps after which Jacobi's rotations have long converged.
const SWEEPS: usize = 12;

/// Eigenvalues from the largest down, with their unit vectors, by Jacobi's rotations.
pub fn eigen(matrix: &Matrix) -> ([f64; 3], [[f64; 3]; 3]) {
    let [xx, xy, xz, yy, yz, zz] = *matrix;
    let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    // Rows are the vectors.
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..SWEEPS {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off <= 1e-16 * (a[0][0].abs() + a[1][1].abs() + a[2][2].abs()) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            rotate(&mut a, &mut v, p, q);
        }
    }
    let mut order = [0, 1, 2];
    order.sort_unstable_by(|&j, &k| a[k][k].total_cmp(&a[j][j]));
    (order.map(|k| a[k][k]), order.map(|k| v[k]))
}

/// Makes `a[p][q]` zero by a rotation in that plane.
fn rotate(a: &mut [[f64; 3]; 3], v: &mut [[f64; 3]; 3], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for k in 0..3 {
        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
        (v[p][k], v[q][k]) = (c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_values_rebuild_the_matrix() {
        for matrix in [
            [1.0, 0.0, 0.0, 2.0, 0.0, 3.0],
            [4.0, 1.0, -2.0, 3.0, 0.5, 1.0],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            [0.0; 6],
            [1e-30, 2e-30, 0.0, 1e-30, 0.0, 0.0],
        ] {
            let (values, vectors) = eigen(&matrix);
            assert!(values[0] >= values[1] && values[1] >= values[2]);
            let scale = matrix.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
            let places = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
            for ((j, k), entry) in places.into_iter().zip(matrix) {
                let sum: f64 = (0..3)
                    .map(|e| values[e] * vectors[e][j] * vectors[e][k])
                    .sum();
                assert!((sum - entry).abs() <= 1e-14 * scale, "{matrix:?}");
            }
        }
    }
}
