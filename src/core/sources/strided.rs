//! One number of each particle, in the client's memory: a pointer to the first, and the distance in bytes from one to
//! the next.

/// The bits of the exponent, all of which are set in infinities and NaN.
const EXPONENT: u64 = 0x7ff << 52;

const SIGN: u64 = 1 << 63;

/// How many numbers are looked at together.
const TOGETHER: usize = 64;

/// One number of each of some particles. The numbers may lie at any address.
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    at: *const f64,
    step: isize,
}

impl Strided {
    /// The numbers of which the first lies at `at`, each `step` bytes after the one before.
    pub fn new(at: *const f64, step: isize) -> Self {
        Self { at, step }
    }

    /// Calls `act` with the same numbers. For numbers side by side and for those of vectors side by side this is a copy of
    /// `act` that knows it: its loops are faster.
    #[inline(always)]
    pub fn by_step<R>(self, mut act: impl FnMut(Self) -> R) -> R {
        match self.step {
            8 => act(Self::new(self.at, 8)),
            24 => act(Self::new(self.at, 24)),
            _ => act(self),
        }
    }

    /// The number of particle `k`, by its bits: the client's floating-point environment may be in force.
    ///
    /// # Safety
    ///
    /// There is one.
    #[inline(always)]
    pub unsafe fn bits(self, k: usize) -> u64 {
        let at = self
            .at
            .wrapping_byte_offset(self.step.wrapping_mul(k as isize));
        // SAFETY: the caller's promise.
        unsafe { at.cast::<u64>().read_unaligned() }
    }

    /// The number of particle `k`.
    ///
    /// # Safety
    ///
    /// There is one.
    #[inline(always)]
    pub unsafe fn get(self, k: usize) -> f64 {
        // SAFETY: passed on.
        f64::from_bits(unsafe { self.bits(k) })
    }
}

/// The first of `count` particles one of whose `numbers` is not finite.
///
/// # Safety
///
/// There are as many numbers.
#[inline]
pub unsafe fn not_finite<const N: usize>(numbers: [Strided; N], count: usize) -> Option<usize> {
    let first = numbers[0];
    let side_by_side = (0..)
        .zip(&numbers)
        .all(|(c, column)| column.step == 8 * N as isize && column.at == first.at.wrapping_add(c));
    // SAFETY: passed on.
    let bad = unsafe {
        match side_by_side {
            true => any_in_packed(first.at, N * count),
            false => (0..count).any(|k| is_bad_in(&numbers, k)),
        }
    };
    // SAFETY: passed on.
    bad.then(|| (0..count).find(|&k| unsafe { is_bad_in(&numbers, k) }))
        .flatten()
}

/// Whether a number of particle `k` is not finite.
///
/// # Safety
///
/// There are such numbers.
#[inline(always)]
unsafe fn is_bad_in(numbers: &[Strided], k: usize) -> bool {
    // SAFETY: passed on.
    numbers
        .iter()
        .any(|column| is_bad(unsafe { column.bits(k) }))
}

fn is_bad(bits: u64) -> bool {
    bits & EXPONENT == EXPONENT
}

/// Whether one of `count` numbers side by side is not finite. The loop over a few of them is one over vectors.
///
/// # Safety
///
/// There are as many numbers.
#[inline]
unsafe fn any_in_packed(at: *const f64, count: usize) -> bool {
    let at = at.cast::<u64>();
    let whole = count - count % TOGETHER;
    for first in (0..whole).step_by(TOGETHER) {
        let mut sums = 0;
        for k in first..first + TOGETHER {
            // SAFETY: passed on.
            let bits = unsafe { at.add(k).read_unaligned() };
            // One more in the exponent is carried into the sign just where all bits of the exponent are set.
            sums |= (bits & !SIGN) + (1 << 52);
        }
        if sums & SIGN != 0 {
            return true;
        }
    }
    // SAFETY: passed on.
    (whole..count).any(|k| is_bad(unsafe { at.add(k).read_unaligned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_step_is_read_and_what_is_not_finite_found() {
        let values: Vec<f64> = (0..600).map(f64::from).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
        let mut shifted = vec![0_u8];
        shifted.extend(&bytes);
        for (step, at) in [(8, 0), (24, 0), (16, 8), (0, 40), (-8, 8 * 599)] {
            let numbers = Strided::new(shifted[1 + at..].as_ptr().cast(), step);
            for k in [0, 1, 199] {
                // SAFETY: the last is number 599.
                let found = unsafe { numbers.get(k) };
                assert_eq!(found, (at as isize / 8 + k as isize * step / 8) as f64);
            }
            // SAFETY: as above.
            assert_eq!(unsafe { not_finite([numbers], 200) }, None);
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for place in [0, 63, 64, 130, 199] {
                let mut values = values.clone();
                values[3 * place + 1] = bad;
                let numbers = [0, 1, 2].map(|k| Strided::new(&raw const values[k], 24));
                // SAFETY: there are 200 vectors.
                assert_eq!(unsafe { not_finite(numbers, 200) }, Some(place));
                // SAFETY: as above.
                assert_eq!(unsafe { not_finite(numbers, place) }, None);
            }
        }
    }
}
