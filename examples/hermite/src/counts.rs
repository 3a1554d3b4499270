//! The counts of an integration: steps, blocks, pairs.

/// How much has been done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Steps of particles.
    pub steps: u64,
    /// Blocks, each of them the steps that end at one time.
    pub block_steps: u64,
    /// Pairs of an i- and a j-particle in the blocks.
    pub pairs: u64,
    /// Entry k: blocks of 2^k to 2^(k+1) - 1 particles.
    pub block_sizes: Vec<u64>,
}

impl Counts {
    /// Counts a block of `ni` steps among `n` particles.
    pub fn add(&mut self, ni: usize, n: usize) {
        self.steps += ni as u64;
        self.block_steps += 1;
        self.pairs += ni as u64 * n as u64;
        let k = ni.ilog2() as usize;
        if k >= self.block_sizes.len() {
            self.block_sizes.resize(k + 1, 0);
        }
        self.block_sizes[k] += 1;
    }

    /// Mean number of particles in a block; 0 before the first.
    pub fn mean_block_size(&self) -> f64 {
        self.steps as f64 / self.block_steps.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_sorted_by_powers_of_two() {
        let mut counts = Counts::default();
        assert_eq!(counts.mean_block_size(), 0.0);
        for ni in [1, 2, 3, 4, 7, 8] {
            counts.add(ni, 10);
        }
        assert_eq!(counts.block_sizes, [1, 2, 2, 1]);
        assert_eq!(
            (counts.steps, counts.block_steps, counts.pairs),
            (25, 6, 250)
        );
        assert_eq!(counts.mean_block_size(), 25.0 / 6.0);
    }
}
