//! The few operations on three-vectors that the applications need.

/// Position, velocity, acceleration or jerk.
pub type Vec3 = [f64; 3];

/// Scalar product.
pub fn dot(a: &Vec3, b: &Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Length.
pub fn norm(a: &Vec3) -> f64 {
    dot(a, a).sqrt()
}

/// Length of a vector whose square may be beyond the range of numbers.
pub fn hypot(a: &Vec3) -> f64 {
    let largest = a.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * norm(&a.map(|c| c / largest))
}

/// `a - b`.
pub fn sub(a: &Vec3, b: &Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Vector product.
pub fn cross(a: &Vec3, b: &Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Adds `s * b` to `a`.
pub fn add_scaled(a: &mut Vec3, s: f64, b: &Vec3) {
    for k in 0..3 {
        a[k] += s * b[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_neither_overflow_nor_vanish() {
        for scale in [1e-300, 1.0, 1e300] {
            let length = hypot(&[3.0 * scale, 0.0, -4.0 * scale]);
            assert!((length / scale - 5.0).abs() < 1e-14);
        }
        assert_eq!(hypot(&[0.0; 3]), 0.0);
    }
}
