//! Random numbers for samples and for the scenes of tests. They are repeatable and cheap, but not good enough for
//! physics.

/// A linear congruential generator of 64 bits (the constants of Knuth's MMIX), of which the upper bits are used.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Random {
    /// The sequence of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        let product = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = product.wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// The next number, all 32 bits.
    pub fn bits(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// The next number, from 0 to `count` - 1.
    pub fn below(&mut self, count: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(count)) >> 32) as u32
    }

    /// The next number, from 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next number, from -1 to 1, without 1.
    pub fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Three of these times `scale`.
    pub fn vector(&mut self, scale: f64) -> [f64; 3] {
        [0; 3].map(|_| scale * self.signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_ranges_and_spread_over_them() {
        let mut random = Random::default();
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            counts[random.below(10) as usize] += 1;
            let (unit, signed) = (random.unit(), random.signed());
            assert!((0.0..1.0).contains(&unit) && (-1.0..1.0).contains(&signed));
        }
        // Of 1000 each, five standard deviations.
        assert!(counts.iter().all(|n| (850..1150).contains(n)), "{counts:?}");
    }
}
