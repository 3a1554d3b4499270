//! Potentials of bodies by others, and their energy, in double precision on the host. Each pair is computed once, for both
//! of its bodies.
//!
//! The roots and quotients of a pair are rounded correctly, and no operation is fused. Sums have a fixed number of
//! lanes and a fixed order. So neither threads nor the instruction set change a bit.

use crate::body::Body;
use crate::rows::{rows, tasks};
use crate::vector::Vec3;
use crate::widest::{Work, widest};

/// Terms that are added side by side.
const LANES: usize = 8;

/// Bodies that a row goes through at a time: one simple loop for each operation becomes vectors.
const BLOCK: usize = 256;

/// The same where terms are added one after the other: the processor adds those of a block while it computes the next.
const ENERGY_BLOCK: usize = 64;

/// Parts of the pairs, each with sums of its own: as many threads can share the work.
const PARTS: usize = 32;

/// Up to so many bodies there is one part: more would take longer to add up.
const ONE_PART: usize = 256;

/// Bodies by coordinate.
struct Columns {
    x: [Vec<f64>; 3],
    masses: Vec<f64>,
    eps2: f64,
}

impl Columns {
    fn of(bodies: &[Body], eps2: f64) -> Self {
        let column = |k: usize| bodies.iter().map(|b| b.x[k]).collect();
        Self {
            x: [column(0), column(1), column(2)],
            masses: bodies.iter().map(|b| b.mass).collect(),
            eps2,
        }
    }

    /// Adds the pairs of rows `part`, `part + parts`, ... to the sums of `m / sqrt(r^2 + eps2)`, and returns the
    /// sum of each body. Row i has the pairs of body i with all bodies after it.
    #[inline(always)]
    fn add_rows(&self, part: usize, parts: usize) -> Vec<f64> {
        let n = self.masses.len();
        let mut sums = vec![0.0; n];
        for i in (part..n).step_by(parts) {
            let (before, after) = sums.split_at_mut(i + 1);
            before[i] += self.row(i, after);
        }
        sums
    }

    /// The sum of body i by all after it, whose own sums are `after`.
    #[inline(always)]
    fn row(&self, i: usize, after: &mut [f64]) -> f64 {
        let (own, x) = (self.masses[i], [0, 1, 2].map(|k| self.x[k][i]));
        let mut sum = 0.0;
        for (block, to) in after.chunks_mut(BLOCK).enumerate() {
            let first = i + 1 + block * BLOCK;
            let mut inverse = [0.0; BLOCK];
            let inverse = &mut inverse[..to.len()];
            self.inverses(first, &x, inverse);
            for (to, inverse) in to.iter_mut().zip(&*inverse) {
                *to += own * inverse;
            }
            sum += product(&self.masses[first..first + to.len()], inverse);
        }
        sum
    }

    /// Sum of `m / sqrt(r^2 + eps2)` over everybody, r being their distances from `x`.
    #[inline(always)]
    fn attraction(&self, x: &Vec3) -> f64 {
        let mut sum = 0.0;
        for (block, masses) in self.masses.chunks(BLOCK).enumerate() {
            let mut inverse = [0.0; BLOCK];
            let inverse = &mut inverse[..masses.len()];
            self.inverses(block * BLOCK, x, inverse);
            sum += product(masses, inverse);
        }
        sum
    }

    /// 1 / sqrt(r^2 + eps2) for the bodies from `first` on, at distances r from `x`; 0 where that is no number.
    #[inline(always)]
    fn inverses(&self, first: usize, x: &Vec3, inverse: &mut [f64]) {
        self.each(first, x, inverse, |_, s| 1.0 / s);
    }

    /// What `of` makes of j and s = sqrt(r^2 + eps2), for the bodies number `first` + j at distances r from `x`; 0 where s is 0.
    #[inline(always)]
    fn each(&self, first: usize, x: &Vec3, found: &mut [f64], of: impl Fn(usize, f64) -> f64) {
        let n = found.len();
        let [xs, ys, zs] = [0, 1, 2].map(|k| &self.x[k][first..][..n]);
        for j in 0..n {
            let d = [xs[j] - x[0], ys[j] - x[1], zs[j] - x[2]];
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + self.eps2;
            // As bits: a choice between numbers may become a branch, and then there are no vectors.
            let is_apart = u64::from(r2 > 0.0).wrapping_neg();
            found[j] = f64::from_bits(of(j, r2.sqrt()).to_bits() & is_apart);
        }
    }

    /// Energy of the pairs of body i with all after it: one sum, in the order of the bodies.
    #[inline(always)]
    fn energy_of_row(&self, i: usize) -> f64 {
        let (own, x) = (self.masses[i], [0, 1, 2].map(|k| self.x[k][i]));
        let mut sum = -0.0;
        for (block, masses) in self.masses[i + 1..].chunks(ENERGY_BLOCK).enumerate() {
            let mut terms = [0.0; ENERGY_BLOCK];
            let terms = &mut terms[..masses.len()];
            self.each(i + 1 + block * ENERGY_BLOCK, &x, terms, |j, s| {
                masses[j] / s
            });
            terms.iter().for_each(|term| sum += term);
        }
        -own * sum
    }

    /// [`add_rows`](Self::add_rows), by the widest vectors of this processor.
    fn part(&self, part: usize, parts: usize) -> Vec<f64> {
        widest(Part(self, part, parts))
    }
}

/// [`Columns::add_rows`]
struct Part<'a>(&'a Columns, usize, usize);

impl Work for Part<'_> {
    type Output = Vec<f64>;
    #[inline(always)]
    fn run(self) -> Vec<f64> {
        self.0.add_rows(self.1, self.2)
    }
}

/// [`Columns::energy_of_row`]
struct EnergyOfRow<'a>(&'a Columns, usize);

impl Work for EnergyOfRow<'_> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        self.0.energy_of_row(self.1)
    }
}

/// Sum of the products, in lanes.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    rest + lanes.iter().sum::<f64>()
}

/// Potential energy of `bodies`: the sum of `-m_i m_j / sqrt(r_ij^2 + eps2)` over the pairs. Coincident unsoftened bodies
/// add nothing, as in the library.
///
/// O(N^2) on all processors; the result does not depend on their number.
pub fn energy(bodies: &[Body], eps2: f64) -> f64 {
    let columns = Columns::of(bodies, eps2);
    // Each row is one sum of its own and rows are added in order: threads cannot change a bit.
    let row = |i| widest(EnergyOfRow(&columns, i));
    rows(bodies.len(), row).iter().sum()
}

/// Potential of each of `bodies` by all others, with the softening `eps2` = eps squared; coincident unsoftened
/// bodies add nothing.
///
/// O(N^2) on all processors; the result does not depend on their number.
pub fn potentials(bodies: &[Body], eps2: f64) -> Vec<f64> {
    let sums = portion(bodies, eps2, 0, 1);
    joined(sums.iter().map(Vec::as_slice), bodies.len())
}

/// Number of parts of the pairs of `n` bodies. Each part has a sum for each body.
pub fn parts(n: usize) -> usize {
    if n <= ONE_PART { 1 } else { PARTS }
}

/// The parts that sharer `own` of so many `sharers` computes: `own`, `own + sharers`, and so on.
pub fn portion(bodies: &[Body], eps2: f64, own: usize, sharers: usize) -> Vec<Vec<f64>> {
    let columns = Columns::of(bodies, eps2);
    let parts = parts(bodies.len());
    let own: Vec<usize> = (own..parts).step_by(sharers).collect();
    tasks(own.len(), 1, |k| columns.part(own[k], parts))
}

/// The potentials of `n` bodies, from the sums of all parts in their order. Whoever has computed them, the bits are the
/// same.
pub fn joined<'a>(parts: impl Iterator<Item = &'a [f64]>, n: usize) -> Vec<f64> {
    let mut all = vec![0.0; n];
    for part in parts {
        all.iter_mut().zip(part).for_each(|(all, sum)| *all += sum);
    }
    all.iter_mut().for_each(|sum| *sum = -*sum);
    all
}

/// Potential of each of `bodies` by the `others`, none of which is among them.
pub fn potentials_by(others: &[Body], bodies: &[Body], eps2: f64) -> Vec<f64> {
    let columns = Columns::of(others, eps2);
    rows(bodies.len(), |i| -columns.attraction(&bodies[i].x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Energy;
    use crate::models::plummer;
    use crate::sum::Sum;
    use crate::vector::{dot, sub};

    /// Sums that lose nothing, of the terms as they are.
    fn exactly(bodies: &[Body], eps2: f64) -> Vec<f64> {
        let of = |b: &Body| {
            let term = |c: &Body| {
                let d = sub(&c.x, &b.x);
                match dot(&d, &d) + eps2 {
                    r2 if r2 > 0.0 && !std::ptr::eq(b, c) => -c.mass / r2.sqrt(),
                    _ => 0.0,
                }
            };
            bodies.iter().map(term).collect::<Sum>().value()
        };
        bodies.iter().map(of).collect()
    }

    #[test]
    fn potentials_are_exact_to_rounding() {
        for (n, eps2) in [(1, 0.0), (2, 0.0), (7, 0.0), (256, 0.0), (1001, 1e-4)] {
            let mut bodies = plummer(n, 3);
            if n == 7 {
                bodies[3].x = bodies[5].x;
            }
            let expected = exactly(&bodies, eps2);
            for (found, expected) in potentials(&bodies, eps2).iter().zip(&expected) {
                let error = (found - expected).abs();
                assert!(error <= 4e-15 * expected.abs(), "{n}: {found} {expected}");
            }
            let half = bodies.iter().zip(potentials(&bodies, eps2));
            let half: f64 = half.map(|(b, p)| 0.5 * b.mass * p).sum();
            let energy = Energy::of(&bodies, eps2).potential;
            assert!((half - energy).abs() < 1e-14, "{n}: {half} {energy}");
        }
    }

    #[test]
    fn potentials_by_others_are_the_rest_of_all() {
        let bodies = plummer(603, 4);
        let (some, others) = bodies.split_at(500);
        let all = potentials(&bodies, 1e-4);
        let own = potentials(some, 1e-4);
        for (i, by) in potentials_by(others, some, 1e-4).iter().enumerate() {
            assert!((all[i] - by - own[i]).abs() < 1e-14);
        }
    }

    /// Also if there are more sharers than parts.
    #[test]
    fn any_number_of_sharers_finds_the_same_bits() {
        for n in [1, 200, 1501] {
            let bodies = plummer(n, 7);
            let alone = potentials(&bodies, 1e-4);
            for sharers in [2, 3, 7, 40] {
                let mut all = vec![Vec::new(); parts(n)];
                for own in 0..sharers {
                    let portion = portion(&bodies, 1e-4, own, sharers);
                    let places = (own..parts(n)).step_by(sharers);
                    places.zip(portion).for_each(|(k, sums)| all[k] = sums);
                }
                let together = joined(all.iter().map(Vec::as_slice), n);
                assert!(together == alone, "{n} {sharers}");
            }
        }
    }

    /// As the plainest loop over the pairs has it.
    #[test]
    fn the_energy_is_one_sum_a_row() {
        for (n, eps2) in [(1, 0.0), (2, 0.0), (7, 0.0), (700, 0.0), (1500, 1e-4)] {
            let mut bodies = plummer(n, 3);
            if n == 7 {
                bodies[3].x = bodies[5].x;
            }
            let row = |i: usize| {
                let term = |c: &Body| {
                    let d = sub(&c.x, &bodies[i].x);
                    match dot(&d, &d) + eps2 {
                        r2 if r2 > 0.0 => c.mass / r2.sqrt(),
                        _ => 0.0,
                    }
                };
                -bodies[i].mass * bodies[i + 1..].iter().map(term).sum::<f64>()
            };
            let expected: f64 = (0..n).map(row).sum();
            let found = energy(&bodies, eps2);
            assert_eq!(
                found.to_bits(),
                expected.to_bits(),
                "{n}: {found} {expected}"
            );
        }
    }

    /// Neither the instruction set nor the number of threads does.
    #[test]
    fn nothing_changes_a_bit() {
        let bodies = plummer(1501, 7);
        let columns = Columns::of(&bodies, 1e-4);
        let mut plain = vec![0.0; bodies.len()];
        for part in 0..PARTS {
            let rows = columns.add_rows(part, PARTS);
            assert!(rows == columns.part(part, PARTS), "part {part}");
            plain
                .iter_mut()
                .zip(&rows)
                .for_each(|(all, sum)| *all += sum);
        }
        let negative: Vec<f64> = plain.iter().map(|sum| -sum).collect();
        assert!(negative == potentials(&bodies, 1e-4));
    }
}
