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
