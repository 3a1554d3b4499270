//! The i-particles of one force request, as a client holds them.

type Vec3 = [f64; 3];

/// The i-particles of one block, as arrays of one length.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Labels.
    pub index: Vec<i32>,
    /// Predicted positions.
    pub x: Vec<Vec3>,
    /// Predicted velocities.
    pub v: Vec<Vec3>,
    /// Accelerations: the last ones on entry (a hint to the original hardware), the new ones on return.
    pub acc: Vec<Vec3>,
    /// Jerks, likewise.
    pub jerk: Vec<Vec3>,
    /// Potentials, likewise.
    pub pot: Vec<f64>,
    /// Squares of the neighbour radii; 0 for no neighbours.
    pub h2: Vec<f64>,
    /// Labels of the nearest neighbours, where they were asked for.
    pub nearest: Vec<i32>,
}

impl Block {
    /// Number of i-particles.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether the block has no i-particle.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Removes every i-particle and keeps the memory.
    pub fn clear(&mut self) {
        self.resize(0);
    }

    /// Makes room for `ni` i-particles, new ones all zero.
    pub fn resize(&mut self, ni: usize) {
        self.index.resize(ni, 0);
        self.x.resize(ni, [0.0; 3]);
        self.v.resize(ni, [0.0; 3]);
        self.acc.resize(ni, [0.0; 3]);
        self.jerk.resize(ni, [0.0; 3]);
        self.pot.resize(ni, 0.0);
        self.h2.resize(ni, 0.0);
        self.nearest.resize(ni, -1);
    }

    pub(super) fn assert_consistent(&self) {
        let ni = self.len();
        let lengths = [
            self.x.len(),
            self.v.len(),
            self.acc.len(),
            self.jerk.len(),
            self.pot.len(),
            self.h2.len(),
            self.nearest.len(),
        ];
        assert!(
            lengths.iter().all(|&n| n == ni),
            "a block's arrays have one length"
        );
    }
}
