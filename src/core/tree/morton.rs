//! Morton order: particles sorted along a curve on which every cell of an octree is one run.

/// Levels below the root, each of them three bits of a key.
pub const LEVELS: usize = 21;

/// The cube that holds everybody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cube {
    /// Its corner with the smallest coordinates.
    pub corner: [f64; 3],
    /// Length of its edges.
    pub size: f64,
}

/// The box around particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Least coordinates; infinite without particles.
    pub least: [f64; 3],
    /// Greatest coordinates; minus infinity without particles.
    pub most: [f64; 3],
    /// Whether all coordinates are finite.
    pub is_finite: bool,
}

impl Extent {
    /// The box around nothing.
    pub const NOTHING: Self = Self {
        least: [f64::INFINITY; 3],
        most: [f64::NEG_INFINITY; 3],
        is_finite: true,
    };

    /// The box around particles at these positions.
    pub fn of(positions: impl Iterator<Item = [f64; 3]>) -> Self {
        positions.fold(Self::NOTHING, |extent, x| {
            extent.join(Self {
                least: x,
                most: x,
                // A NaN gets lost in the extremes, so every number is asked too.
                is_finite: x.iter().all(|c| c.is_finite()),
            })
        })
    }

    /// The box around both.
    pub fn join(self, other: Self) -> Self {
        let pick =
            |f: fn(f64, f64) -> f64, a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|k| f(a[k], b[k]));
        Self {
            least: pick(f64::min, self.least, other.least),
            most: pick(f64::max, self.most, other.most),
            is_finite: self.is_finite && other.is_finite,
        }
    }
}

impl Cube {
    /// The smallest cube around particles with this extent; `None` if a position or the edge of the cube is not finite.
    pub fn of(extent: Extent) -> Option<Self> {
        let edges = [0, 1, 2].map(|k| extent.most[k] - extent.least[k]);
        let size = edges.iter().copied().fold(0.0, f64::max);
        (extent.is_finite && size.is_finite()).then_some(Self {
            corner: extent.least,
            size: if size > 0.0 { size } else { 1.0 },
        })
    }

    /// Place of `x` on the curve.
    pub fn key(&self, x: &[f64; 3]) -> u64 {
        const CELLS: f64 = (1_u64 << LEVELS) as f64;
        (0..3).fold(0, |key, k| {
            let along = (x[k] - self.corner[k]) / self.size * CELLS;
            // The far faces belong to the last cells.
            let cell = (along as u64).min((1 << LEVELS) - 1);
            key | spread(cell) << (2 - k)
        })
    }

    /// Length of the edges of a cell of this level.
    pub fn edge(&self, level: u8) -> f64 {
        self.size / (1_u64 << level) as f64
    }

    /// The centre of the cell of this level in which particles with this key are.
    pub fn centre(&self, key: u64, level: u8) -> [f64; 3] {
        let edge = self.edge(level);
        let below = LEVELS - usize::from(level);
        [0, 1, 2].map(|k| {
            let cell = gather(key >> (2 - k)) >> below;
            self.corner[k] + (cell as f64 + 0.5) * edge
        })
    }
}

/// Undoes [`spread`].
fn gather(key: u64) -> u64 {
    let mut x = key & 0x1249_2492_4924_9249;
    for (shift, mask) in [
        (2, 0x10c3_0c30_c30c_30c3),
        (4, 0x100f_00f0_0f00_f00f),
        (8, 0x001f_0000_ff00_00ff),
        (16, 0x001f_0000_0000_ffff),
        (32, 0x0000_0000_001f_ffff),
    ] {
        x = (x | x >> shift) & mask;
    }
    x
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

#[cfg(test)]
mod tests {
    use super::*;

    fn around(positions: &[[f64; 3]]) -> Option<Cube> {
        Cube::of(Extent::of(positions.iter().copied()))
    }

    #[test]
    fn bits_are_spread_three_apart() {
        assert_eq!(spread(0b1011), 0b001_000_001_001);
        assert_eq!(spread((1 << LEVELS) - 1).count_ones(), LEVELS as u32);
        assert_eq!(spread(1 << (LEVELS - 1)), 1 << (3 * (LEVELS - 1)));
    }

    #[test]
    fn octants_come_in_order() {
        let corners: Vec<[f64; 3]> = (0..8)
            .map(|o| [o >> 2, o >> 1 & 1, o & 1].map(f64::from))
            .collect();
        let cube = around(&corners).unwrap();
        let octants: Vec<u64> = corners.iter().map(|x| cube.key(x) >> 60).collect();
        assert_eq!(octants, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn a_cell_lies_where_its_keys_say() {
        let cube = Cube {
            corner: [-1.0, 2.0, 0.5],
            size: 4.0,
        };
        for x in [[-0.9, 2.1, 3.5], [2.9, 5.9, 0.6], [0.0, 3.0, 1.0]] {
            let key = cube.key(&x);
            for level in [0, 1, 5, LEVELS] {
                let half = 0.5 * cube.edge(level as u8);
                let centre = cube.centre(key, level as u8);
                assert!((0..3).all(|k| (x[k] - centre[k]).abs() <= half * (1.0 + 1e-9)));
            }
        }
    }

    #[test]
    fn what_is_not_finite_has_no_cube() {
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(around(&[[0.0; 3], [1.0, bad, 0.0]]), None);
        }
        assert_eq!(around(&[[-1e308; 3], [1e308; 3]]), None);
        let one = around(&[[3.0; 3]]).unwrap();
        assert_eq!((one.corner, one.size), ([3.0; 3], 1.0));
    }
}
