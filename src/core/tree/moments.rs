//! Mass, centre and second moments of cells, and the points that stand for a cell.
//!
//! A quadrupole is sent as three pseudo-particles (A. Kawai and J. Makino, 2001). The loop that sums m r / r^3 takes
//! them like any other particles, so quadrupoles need no pair loop of their own.

use super::octree::Cell;
use super::symmetric::{Matrix, eigen};

/// Means of `d d` about the centre of mass, weighted by mass: xx, xy, xz, yy, yz, zz. Sums of `m d d` could overflow.
pub type Moments = Matrix;

/// Three points of equal mass with the mass, centre and quadrupole of a cell.
pub type Pseudo = [[f64; 4]; 3];

/// The moments of a leaf.
pub fn of_points(cell: &mut Cell, second: &mut Moments, points: &[[f64; 4]]) {
    let parts = points.iter().map(|p| (p[3], [p[0], p[1], p[2]]));
    let share = centre(cell, parts.clone());
    for (m, x) in parts {
        add_square(second, share(m), &offset(&x, &cell.x));
    }
}

/// The moments of a cell with the given children.
pub fn of_cells(cell: &mut Cell, second: &mut Moments, children: &[Cell], theirs: &[Moments]) {
    let share = centre(cell, children.iter().map(|c| (c.mass, c.x)));
    for (child, moments) in children.iter().zip(theirs) {
        let share = share(child.mass);
        for (sum, moment) in second.iter_mut().zip(moments) {
            *sum += share * moment;
        }
        add_square(second, share, &offset(&child.x, &cell.x));
    }
}

/// Mass and centre; the plain mean where nothing has mass. Returns the share of a part of this mass.
fn centre<I: Iterator<Item = (f64, [f64; 3])> + Clone>(
    cell: &mut Cell,
    parts: I,
) -> impl Fn(f64) -> f64 + use<I> {
    let mass: f64 = parts.clone().map(|(m, _)| m).sum();
    let weight = move |m: f64| if mass > 0.0 { m } else { 1.0 };
    let total: f64 = parts.clone().map(|(m, _)| weight(m)).sum();
    let share = move |m: f64| weight(m) / total;
    let mut x = [0.0; 3];
    for (m, part) in parts {
        for k in 0..3 {
            x[k] += share(m) * part[k];
        }
    }
    (cell.mass, cell.x) = (mass, x);
    share
}

fn offset(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn add_square(second: &mut Moments, share: f64, d: &[f64; 3]) {
    let products = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    for (sum, (j, k)) in second.iter_mut().zip(products) {
        *sum += share * d[j] * d[k];
    }
}

/// The points that stand for a cell.
///
/// Without softening a part of the second moments that is equal in all directions exerts no force. So the smallest eigenvalue L is
/// subtracted from all three. (With softening that part has the potential 3/2 L eps^2 / (r^2 + eps^2)^(5/2), which is left out: the
/// force of a cell that is not much larger than the softening length, from nearby, is too strong.) The points then lie in the plane of the other two eigenvectors, on a triangle around
/// the centre of mass.
pub fn pseudo_particles(cell: &Cell, second: &Moments) -> Pseudo {
    let third = cell.mass / 3.0;
    let (values, vectors) = eigen(second);
    let spread = |k: usize, square: f64| {
        let excess = (values[k] - values[2]).max(0.0);
        let length = if cell.mass > 0.0 {
            (excess / square).sqrt()
        } else {
            0.0
        };
        vectors[k].map(|c| c * length)
    };
    // Along the first axis 2, -1, -1 (mean square: 2), along the second 0, 1, -1 (mean square: 2/3).
    let (a, b) = (spread(0, 2.0), spread(1, 2.0 / 3.0));
    let point = |p: f64, q: f64| {
        let x = [0, 1, 2].map(|k| cell.x[k] + p * a[k] + q * b[k]);
        [x[0], x[1], x[2], third]
    };
    [point(2.0, 0.0), point(-1.0, 1.0), point(-1.0, -1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudo_particles_have_the_moments_of_their_cell() {
        let points = [
            [0.1, 0.2, 0.3, 1.0],
            [0.9, 0.1, 0.4, 2.0],
            [0.4, 0.8, 0.7, 0.5],
            [0.2, 0.7, 0.1, 3.0],
        ];
        let (mut cell, mut second) = (Cell::default(), Moments::default());
        of_points(&mut cell, &mut second, &points);
        let three = pseudo_particles(&cell, &second);
        let (mut again, mut theirs) = (Cell::default(), Moments::default());
        of_points(&mut again, &mut theirs, &three);
        assert!((again.mass - cell.mass).abs() < 1e-14);
        assert!((0..3).all(|k| (again.x[k] - cell.x[k]).abs() < 1e-14));
        let traceless = |s: &Moments| {
            let third = (s[0] + s[3] + s[5]) / 3.0;
            [s[0] - third, s[1], s[2], s[3] - third, s[4], s[5] - third]
        };
        for (a, b) in traceless(&second).iter().zip(traceless(&theirs)) {
            assert!((a - b).abs() < 1e-13, "{second:?} {theirs:?}");
        }
    }

    #[test]
    fn moments_of_large_masses_far_apart_do_not_overflow() {
        let (mass, length) = (2.0_f64.powi(60), 2.0_f64.powi(500));
        let points = [
            [0.1, 0.2, 0.3, 1.0],
            [0.9, 0.1, 0.4, 2.0],
            [0.4, 0.8, 0.7, 0.5],
            [0.2, 0.7, 0.1, 3.0],
        ];
        let scaled = |[x, y, z, m]: [f64; 4]| [x * length, y * length, z * length, m * mass];
        let three = |points: [[f64; 4]; 4]| {
            let mut parts = [Cell::default(); 2];
            let mut theirs = [Moments::default(); 2];
            for (k, half) in points.chunks(2).enumerate() {
                of_points(&mut parts[k], &mut theirs[k], half);
            }
            let (mut cell, mut second) = (Cell::default(), Moments::default());
            of_cells(&mut cell, &mut second, &parts, &theirs);
            pseudo_particles(&cell, &second)
        };
        assert_eq!(three(points.map(scaled)), three(points).map(scaled));
    }

    #[test]
    fn cells_have_the_moments_of_all_their_points() {
        let points: Vec<[f64; 4]> = (0..12)
            .map(|k| f64::from(k) + 1.0)
            .map(|f| [f.sin(), f.cos(), (2.0 * f).sin(), f])
            .collect();
        let (mut whole, mut second) = (Cell::default(), Moments::default());
        of_points(&mut whole, &mut second, &points);
        let mut parts = [Cell::default(); 3];
        let mut theirs = [Moments::default(); 3];
        for (k, chunk) in points.chunks(4).enumerate() {
            of_points(&mut parts[k], &mut theirs[k], chunk);
        }
        let (mut joined, mut joined_second) = (Cell::default(), Moments::default());
        of_cells(&mut joined, &mut joined_second, &parts, &theirs);
        assert!((0..3).all(|k| (joined.x[k] - whole.x[k]).abs() < 1e-13));
        for (a, b) in joined_second.iter().zip(second) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cell_without_mass_has_a_centre() {
        let (mut cell, mut second) = (Cell::default(), Moments::default());
        of_points(
            &mut cell,
            &mut second,
            &[[1.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]],
        );
        assert_eq!((cell.mass, cell.x), (0.0, [2.0, 0.0, 0.0]));
        let three = pseudo_particles(&cell, &second);
        assert!(three.iter().all(|p| p[3] == 0.0 && p[0] == 2.0));
    }
}
