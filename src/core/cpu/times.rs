//! Tells whether a block is the only one at its time.

/// A block of fewer i-particles than this is whole: only a client whose own block exceeds the pipelines, of which a
/// GRAPE-6 has 48, divides it into several.
const WHOLE: usize = 48;

/// The times of the blocks so far.
#[derive(Debug)]
pub struct Times {
    last: Option<u64>,
    /// Whether the last block was the first at its time, and large enough to be followed by others.
    may_go_on: bool,
    /// Whether another one followed the last such block.
    goes_on: bool,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            last: None,
            may_go_on: false,
            goes_on: true,
        }
    }
}

impl Times {
    /// Whether the next block, of `ni` particles at the time `ti`, is the only one at this time, as far as one can tell.
    pub fn is_only(&mut self, ti: f64, ni: usize) -> bool {
        let is_first = self.last.replace(ti.to_bits()) != Some(ti.to_bits());
        if self.may_go_on {
            self.goes_on = !is_first;
        }
        self.may_go_on = is_first && ni >= WHOLE;
        is_first && !(self.may_go_on && self.goes_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether each of these blocks is taken for the only one at its time.
    fn taken(blocks: &[(f64, usize)]) -> Vec<bool> {
        let mut times = Times::default();
        let only = |&(ti, ni): &(f64, usize)| times.is_only(ti, ni);
        blocks.iter().map(only).collect()
    }

    #[test]
    fn small_blocks_are_whole_unless_their_time_was_there_before() {
        assert_eq!(
            taken(&[(0.0, 47), (1.0, 1), (1.0, 1), (0.0, 1)]),
            [true, true, false, true]
        );
    }

    #[test]
    fn a_large_block_goes_on_if_the_large_one_before_did() {
        // A client that sends whole blocks, whatever their size.
        assert_eq!(
            taken(&[(1.0, 300), (2.0, 8), (3.0, 48), (4.0, 100)]),
            [false, true, true, true]
        );
        // One that sends 48 particles at a time, with whole blocks between.
        let divided = [
            (1.0, 48),
            (1.0, 48),
            (1.0, 4),
            (2.0, 3),
            (3.0, 48),
            (3.0, 1),
        ];
        assert_eq!(taken(&divided), [false, false, false, true, false, false]);
        // One that changes.
        let changes = [(1.0, 48), (2.0, 48), (2.0, 48), (3.0, 48), (3.0, 5)];
        assert_eq!(taken(&changes), [false, true, false, false, false]);
    }
}
