//! Morton order: particles sorted along a curve on which every cell of an octree is one run.

use kirin_kit::vector::Vec3;
use rayon::prelude::*;

use crate::particle::Particle;

/// Levels below the root, each of them three bits of a key.
pub const LEVELS: usize = 21;

/// Particles that one task takes at least.
const GRAIN: usize = 1024;

/// The cube that holds everybody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cube {
    /// Its corner with the smallest coordinates.
    pub corner: Vec3,
    /// Length of its edges.
    pub size: f64,
}

/// The box around particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Least coordinates; infinite without particles.
    pub least: Vec3,
    /// Greatest coordinates; minus infinity without particles.
    pub most: Vec3,
    /// Whether all coordinates are finite.
    pub is_finite: bool,
}

impl Extent {
    /// The box around `particles`.
    pub fn of(particles: &[Particle]) -> Self {
        let (least, most) = particles
            .par_iter()
            .with_min_len(GRAIN)
            .map(|p| (p.x, p.x))
            .reduce(|| ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]), join);
        // A NaN gets lost in the extremes, so every number is asked too.
        let is_finite = particles.par_iter().with_min_len(GRAIN).all(is_finite);
        Self {
            least,
            most,
            is_finite,
        }
    }
}

impl Cube {
    /// The smallest cube around particles with this extent; `None` where a position is not finite, or the cube
    /// would not be.
    pub fn of(extent: Extent) -> Option<Self> {
        let edges = [0, 1, 2].map(|k| extent.most[k] - extent.least[k]);
        let size = edges.iter().copied().fold(0.0, f64::max);
        (extent.is_finite && size.is_finite()).then_some(Self {
            corner: extent.least,
            size: if size > 0.0 { size } else { 1.0 },
        })
    }

    /// Place of `x` on the curve.
    pub fn key(&self, x: &Vec3) -> u64 {
        const CELLS: f64 = (1_u64 << LEVELS) as f64;
        (0..3).fold(0, |key, k| {
            let along = (x[k] - self.corner[k]) / self.size * CELLS;
            // The far faces belong to the last cells.
            let cell = (along as u64).min((1 << LEVELS) - 1);
            key | spread(cell) << (2 - k)
        })
    }
}

fn is_finite(p: &Particle) -> bool {
    p.x.iter().all(|c| c.is_finite())
}

fn join(a: (Vec3, Vec3), b: (Vec3, Vec3)) -> (Vec3, Vec3) {
    let pick = |f: fn(f64, f64) -> f64, a: Vec3, b: Vec3| [0, 1, 2].map(|k| f(a[k], b[k]));
    (pick(f64::min, a.0, b.0), pick(f64::max, a.1, b.1))
}

/// Moves the bits of a number of [`LEVELS`] bits three places apart.
fn spread(cell: u64) -> u64 {
    let mut x = cell;
    for (shift, mask) in [
        (32, 0x001f_0000_0000_ffff),
        (16, 0x001f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

/// A key, and whose it is.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u64,
    order: u32,
    at: u32,
}

/// The memory in which particles are sorted, kept from step to step.
#[derive(Debug, Default)]
pub struct Sorter {
    entries: Vec<Entry>,
    sorted: Vec<Particle>,
}

impl Sorter {
    /// Sorts `particles` along the curve through `cube` and writes their keys.
    ///
    /// Particles with one key keep the order in which they were given, so the result depends on
    /// nothing but their positions.
    pub fn sort(&mut self, cube: &Cube, particles: &mut Vec<Particle>, keys: &mut Vec<u64>) {
        particles
            .par_iter()
            .with_min_len(GRAIN)
            .enumerate()
            .map(|(at, p)| Entry {
                key: cube.key(&p.x),
                order: p.order,
                at: at as u32,
            })
            .collect_into_vec(&mut self.entries);
        self.entries.par_sort_unstable_by_key(|e| (e.key, e.order));
        self.entries
            .par_iter()
            .with_min_len(GRAIN)
            .map(|e| particles[e.at as usize])
            .collect_into_vec(&mut self.sorted);
        std::mem::swap(particles, &mut self.sorted);
        self.entries
            .par_iter()
            .with_min_len(GRAIN)
            .map(|e| e.key)
            .collect_into_vec(keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn particles(positions: &[Vec3]) -> Vec<Particle> {
        let new = |(order, x): (u32, &Vec3)| Particle {
            x: *x,
            order,
            ..Particle::default()
        };
        (0..).zip(positions).map(new).collect()
    }

    fn around(particles: &[Particle]) -> Option<Cube> {
        Cube::of(Extent::of(particles))
    }

    #[test]
    fn bits_are_spread_three_apart() {
        assert_eq!(spread(0b1011), 0b001_000_001_001);
        assert_eq!(spread((1 << LEVELS) - 1).count_ones(), LEVELS as u32);
        assert_eq!(spread(1 << (LEVELS - 1)), 1 << (3 * (LEVELS - 1)));
    }

    #[test]
    fn octants_come_in_order() {
        let corners: Vec<Vec3> = (0..8)
            .rev()
            .map(|o| [o >> 2, o >> 1 & 1, o & 1].map(f64::from))
            .collect();
        let mut particles = particles(&corners);
        let cube = around(&particles).unwrap();
        let mut keys = Vec::new();
        Sorter::default().sort(&cube, &mut particles, &mut keys);
        let octants: Vec<u64> = keys.iter().map(|k| k >> 60).collect();
        assert_eq!(octants, (0..8).collect::<Vec<_>>());
        let order: Vec<u32> = particles.iter().map(|p| p.order).collect();
        assert_eq!(order, (0..8).rev().collect::<Vec<_>>());
    }

    #[test]
    fn what_is_not_finite_has_no_cube() {
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(around(&particles(&[[0.0; 3], [1.0, bad, 0.0]])), None);
        }
        assert_eq!(around(&particles(&[[-1e308; 3], [1e308; 3]])), None);
        let one = around(&particles(&[[3.0; 3]])).unwrap();
        assert_eq!((one.corner, one.size), ([3.0; 3], 1.0));
    }
}
