//! The figures of the paper: Table 1, and the efficiencies of section 5.4.

/// Table 1: 1046 < t <= 1047 of a two-component cluster on 800 processors.
pub struct Table1 {
    /// Processors.
    pub ranks: usize,
    /// Particles.
    pub n: usize,
    /// Flop/s. (Printed as Gflops, but steps, particles and time make 2.34e12.)
    pub flops: f64,
    /// Seconds.
    pub wall: f64,
    /// Steps of particles.
    pub steps: f64,
    /// Blocks.
    pub block_steps: f64,
    /// Seconds of calculation in a block.
    pub calculation: f64,
    /// Seconds of communication in a block.
    pub communication: f64,
    /// Mean number of particles in a block.
    pub block: f64,
}

/// Table 1.
pub const TABLE_1: Table1 = Table1 {
    ranks: 800,
    n: 65536,
    flops: 2.37e12,
    wall: 54.7,
    steps: 3.26e7,
    block_steps: 8.07e4,
    calculation: 490e-6,
    communication: 179e-6,
    block: 404.0,
};

/// Peak of one processor in flop/s (section 4.2): what its efficiencies refer to.
pub const PEAK: f64 = 4.4e9;

/// Section 5.4: particles, processors, and the least part of the peak.
pub const EFFICIENCIES: [(usize, usize, f64); 2] = [(65536, 512, 0.8), (16384, 256, 0.7)];

#[cfg(test)]
mod tests {
    use kirin_kit::history::FLOPS_PER_PAIR;

    use super::*;

    #[test]
    fn the_rows_of_the_table_agree() {
        let table = TABLE_1;
        let flops = table.steps * table.n as f64 * FLOPS_PER_PAIR / table.wall;
        assert!((flops / table.flops - 1.0).abs() < 0.02, "{flops}");
        assert!((table.steps / table.block_steps / table.block - 1.0).abs() < 0.01);
        let wall = (table.calculation + table.communication) * table.block_steps;
        assert!((wall / table.wall - 1.0).abs() < 0.02, "{wall}");
        assert!(table.flops < PEAK * table.ranks as f64);
    }
}
