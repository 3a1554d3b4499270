//! Keys to be sorted.

use kirin_kit::models::Random;

use super::Key;

/// In which order keys come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// At random, from all 32-bit integers
    #[default]
    Random,
    /// All the same
    Equal,
    /// Sorted
    Sorted,
    /// Sorted, the wrong way round
    Reversed,
}

impl Order {
    /// So many keys.
    pub fn make(self, n: usize, seed: u64) -> Vec<Key> {
        let mut random = Random::new(seed);
        let mut any = || (random.uniform() * 2.0_f64.powi(32)) as i64 + i64::from(Key::MIN);
        // In the range of a key, for `uniform` is less than 1.
        let mut keys: Vec<Key> = match self {
            Self::Equal => vec![42; n],
            _ => (0..n).map(|_| any() as Key).collect(),
        };
        match self {
            Self::Random | Self::Equal => {}
            Self::Sorted => keys.sort_unstable(),
            Self::Reversed => keys.sort_unstable_by(|a, b| b.cmp(a)),
        }
        keys
    }
}

/// The keys in a text, between blanks or lines.
///
/// # Errors
///
/// Something else is in the text; in words.
pub fn parse(text: &str) -> Result<Vec<Key>, String> {
    let key = |word: &str| word.parse().map_err(|e| format!("`{word}`: {e}"));
    text.split_whitespace().map(key).collect()
}
