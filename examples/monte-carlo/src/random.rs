//! Random numbers: L'Ecuyer's generator LFSR113 (1999, Math. Comp. 68, 261), with jumps along its sequence after
//! Collins (2008). By these jumps every bin of stars has a stream of its own.

/// Distance of two streams in the sequence, as a power of two: 2^33 streams of 2^80 numbers each.
pub const JUMP: u32 = 80;

/// One of the four shift registers: shifts q, s and the first shift to the right, and the bits that count.
struct Register {
    first: u32,
    right: u32,
    left: u32,
    mask: u32,
}

/// L'Ecuyer's Figure 1.
const REGISTERS: [Register; 4] = [
    Register {
        first: 6,
        right: 13,
        left: 18,
        mask: 0xffff_fffe,
    },
    Register {
        first: 2,
        right: 27,
        left: 2,
        mask: 0xffff_fff8,
    },
    Register {
        first: 13,
        right: 21,
        left: 7,
        mask: 0xffff_fff0,
    },
    Register {
        first: 3,
        right: 12,
        left: 13,
        mask: 0xffff_ff80,
    },
];

impl Register {
    #[inline(always)]
    fn step(&self, z: u32) -> u32 {
        let b = ((z << self.first) ^ z) >> self.right;
        ((z & self.mask) << self.left) ^ b
    }
}

/// A state of the generator, from which its numbers follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream([u32; 4]);

impl Stream {
    /// The beginning of the sequence of `seed`. For a seed below 2^32 the sequence is that of `taus113` in the GNU
    /// Scientific Library: the state is four numbers of the congruential generator 69069, and the first ten numbers are
    /// skipped.
    pub fn of_seed(seed: u64) -> Self {
        let folded = (seed as u32) ^ ((seed >> 32) as u32).wrapping_mul(2_654_435_761);
        let mut number = folded.max(1);
        let mut state = [0; 4];
        for (z, register) in state.iter_mut().zip(&REGISTERS) {
            number = number.wrapping_mul(69069);
            // Of a register in whose counting bits all are zero nothing would ever come.
            let least = register.mask.wrapping_neg();
            if number < least {
                number += least;
            }
            *z = number;
        }
        let mut stream = Self(state);
        for _ in 0..10 {
            stream.next();
        }
        stream
    }

    /// The next number.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "the sequence has no end")]
    pub fn next(&mut self) -> u32 {
        let mut number = 0;
        for (z, register) in self.0.iter_mut().zip(&REGISTERS) {
            *z = register.step(*z);
            number ^= *z;
        }
        number
    }

    /// Uniform between 0 and 1, which it never is: the middle of one of 2^32 intervals.
    #[inline(always)]
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.next()) + 0.5) * 2.0_f64.powi(-32)
    }

    /// Cosine and sine of a random angle from 0 to 2 pi, by von Neumann's rejection from a square. This needs no
    /// function whose last bit differs between mathematical libraries.
    #[inline]
    pub fn angle(&mut self) -> (f64, f64) {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square <= 1.0 {
                return ((x * x - y * y) / square, 2.0 * x * y / square);
            }
        }
    }

    /// A stream that begins at a random place of the sequence, which numbers of this one choose.
    pub fn branch(&mut self) -> Self {
        loop {
            let mut word = || u64::from(self.next()) << 32 | u64::from(self.next());
            if let Some(stream) = Self::of_words([word(), word()]) {
                return stream;
            }
        }
    }

    /// The state, for a GPU.
    pub fn registers(&self) -> [u32; 4] {
        self.0
    }

    /// The stream that has these [`registers`](Self::registers).
    pub fn of_registers(registers: [u32; 4]) -> Self {
        Self(registers)
    }

    /// The state as two numbers, for messages and files.
    pub fn words(&self) -> [u64; 2] {
        let [a, b, c, d] = self.0.map(u64::from);
        [a << 32 | b, c << 32 | d]
    }

    /// The state of these [`words`](Self::words); `None` where it would stand still.
    pub fn of_words([ab, cd]: [u64; 2]) -> Option<Self> {
        let state = [(ab >> 32) as u32, ab as u32, (cd >> 32) as u32, cd as u32];
        let lives = |(z, register): (&u32, &Register)| z & register.mask != 0;
        let all = state.iter().zip(&REGISTERS).all(lives);
        all.then_some(Self(state))
    }
}

/// A jump along the sequence: what so many steps make of each bit of each register.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump([[u32; 32]; 4]);

impl Jump {
    /// A jump by 2^`power` steps: the matrix of one step, squared so often.
    pub fn by_power_of_two(power: u32) -> Self {
        let column = |r: usize| std::array::from_fn(|bit| REGISTERS[r].step(1 << bit));
        let mut jump = Self(std::array::from_fn(column));
        for _ in 0..power {
            let twice = |matrix: &[u32; 32]| matrix.map(|column| times(matrix, column));
            jump = Self(std::array::from_fn(|r| twice(&jump.0[r])));
        }
        jump
    }

    /// The state after the jump.
    pub fn from(&self, stream: Stream) -> Stream {
        Stream(std::array::from_fn(|r| times(&self.0[r], stream.0[r])))
    }
}

/// A matrix over the field of two elements, by columns, times a vector.
fn times(matrix: &[u32; 32], vector: u32) -> u32 {
    let mut product = 0;
    let mut rest = vector;
    while rest != 0 {
        product ^= matrix[rest.trailing_zeros() as usize];
        rest &= rest - 1;
    }
    product
}

/// The first `count` streams of `seed`, one after the other.
pub fn streams(seed: u64, count: usize) -> Vec<Stream> {
    let jump = Jump::by_power_of_two(JUMP);
    let after = |stream: &Stream| Some(jump.from(*stream));
    std::iter::successors(Some(Stream::of_seed(seed)), after)
        .take(count)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `taus113` of the GNU Scientific Library 2.7 gives as its 10 000th number.
    #[test]
    fn numbers_are_those_of_the_gnu_scientific_library() {
        for (seed, number) in [
            (1, 513_757_578),
            (12_345, 1_376_563_477),
            (4_294_967_295, 2_234_914_167),
        ] {
            let mut stream = Stream::of_seed(seed);
            let last = (0..10_000).map(|_| stream.next()).last();
            assert_eq!(last, Some(number), "{seed}");
        }
    }

    #[test]
    fn a_jump_is_so_many_steps() {
        for power in 0..=14 {
            let (mut stepped, start) = (Stream::of_seed(7), Stream::of_seed(7));
            for _ in 0..1 << power {
                stepped.next();
            }
            let jumped = Jump::by_power_of_two(power).from(start);
            // A register's lowest bits do not count and are shifted out by the first step.
            let (mut a, mut b) = (jumped, stepped);
            assert_eq!(a.next(), b.next(), "2^{power}");
            assert_eq!(a, b, "2^{power}");
        }
    }

    /// The registers have the periods 2^31 - 1, 2^29 - 1, 2^28 - 1 and 2^25 - 1. So in each register a long jump of
    /// 2^80 steps equals a short one: of 2^18, 2^22, 2^24 and 2^5 steps.
    #[test]
    fn a_long_jump_is_the_rest_of_the_periods() {
        let start = Stream::of_seed(3);
        let mut expected = start;
        for (r, (period, rest)) in [(31, 18), (29, 22), (28, 24), (25, 5)]
            .into_iter()
            .enumerate()
        {
            assert_eq!(JUMP % period, rest);
            let mut z = start.0[r];
            for _ in 0..1_u64 << rest {
                z = REGISTERS[r].step(z);
            }
            expected.0[r] = z;
        }
        assert_eq!(Jump::by_power_of_two(JUMP).from(start), expected);
        assert_eq!(streams(3, 2), [start, expected]);
    }

    #[test]
    fn numbers_are_uniform_and_angles_have_no_preference() {
        let mut stream = Stream::of_seed(5);
        let n = 100_000;
        let mean = (0..n).map(|_| stream.uniform()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
        let mut moments = [0.0; 4];
        for _ in 0..n {
            let (c, s) = stream.angle();
            assert!((c * c + s * s - 1.0).abs() < 1e-14);
            for (sum, term) in moments.iter_mut().zip([c, s, c * c - s * s, c * s]) {
                *sum += term / f64::from(n);
            }
        }
        assert!(moments.iter().all(|m| m.abs() < 0.01), "{moments:?}");
    }

    #[test]
    fn words_give_the_state_again() {
        let stream = Stream::of_seed(11);
        assert_eq!(Stream::of_words(stream.words()), Some(stream));
        assert_eq!(Stream::of_words([1 << 32 | 8, 16 << 32 | 128]), None);
    }
}
