//! The units of single-precision numbers: powers of two that bring lengths and velocities of any
//! system of units into the range of the kernels, and a mass that makes equal masses exact.

/// Coordinates are not scaled while the largest of those that share units lies in this range. Outside it single
/// precision could overflow in r^-3 or lose small terms.
pub const LENGTHS: (f64, f64) = (1e-10, 16_777_216.0);
/// The same for velocities, which enter linearly.
pub const VELOCITIES: (f64, f64) = (1.0 / 16_777_216.0, 16_777_216.0);
/// Nine in ten coordinates must be in this range after scaling. Otherwise double precision takes over.
pub const NEIGHBOURHOOD: (f64, f64) = (1e-8, 1e8);
/// Beyond this distance from the origin products may underflow.
pub const FAR: f64 = 1e10;
/// So they may for masses below this multiple of the unit.
pub const LEAST_MASS: f64 = 1e-20;

/// Up to this, coordinates of i-particles and squared softening lengths cause neither overflow nor underflow.
pub const FARTHEST: f64 = 1e8;

/// Pairs closer than this fraction of the i-particle's distance from the origin need more digits than split
/// positions have: see [`cpu`](super::cpu)'s `reach.rs`.
pub const CLOSE: f64 = 1.0 / 16_777_216.0;
/// For pairs closer than this r^-3 may overflow single precision, or r^2 underflow.
pub const CLOSEST: f64 = 1e-12;

/// The powers of two by which lengths and velocities are multiplied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// For positions.
    pub length: f64,
    /// For velocities.
    pub velocity: f64,
}

impl Scaling {
    /// The client's units.
    pub const PLAIN: Self = Self {
        length: 1.0,
        velocity: 1.0,
    };

    /// Whether lengths and velocities are in the client's units.
    #[inline(always)]
    pub fn are_plain(&self) -> bool {
        *self == Self::PLAIN
    }
}

/// The unit for some masses, and whether single precision has the range for all of them. The unit is the first mass
/// by which one can divide, so that equal masses are exact.
pub fn of_masses(masses: &[f64]) -> (f64, bool) {
    let usable = |m: &&f64| m.is_normal() && (1.0 / **m).is_normal();
    let unit = masses.iter().find(usable).copied().unwrap_or(1.0);
    let inverse = 1.0 / unit;
    // An overflow shows in the sums; an underflow does not.
    let fits = |&m: &f64| (m == 0.0) | (f64::from((m * inverse) as f32).abs() >= LEAST_MASS);
    // No short-circuit, which would keep the compiler from using vectors.
    (unit, masses.iter().fold(true, |all, m| all & fits(m)))
}

/// Whether no mass is negative, nor anything but a number.
pub fn none_is_negative(masses: &[f64]) -> bool {
    masses.iter().fold(true, |all, &m| all & (m >= 0.0))
}

/// The smallest magnitude among the masses that are not zero; infinite if all are zero, -1 if there are both signs.
pub fn least_mass(masses: &[f64]) -> f64 {
    // In groups of this many, so that the compiler uses vectors.
    const LANES: usize = 8;
    let mut least = [[f64::INFINITY; LANES]; 2];
    for some in masses.chunks(LANES) {
        for (least, sign) in least.iter_mut().zip([1.0, -1.0]) {
            for (least, &m) in least.iter_mut().zip(some) {
                let m = m * sign;
                let m = if m > 0.0 { m } else { f64::INFINITY };
                *least = if m < *least { m } else { *least };
            }
        }
    }
    let [positive, negative] = least.map(|l| l.into_iter().fold(f64::INFINITY, f64::min));
    match positive.max(negative) {
        f64::INFINITY => positive.min(negative),
        _ => -1.0,
    }
}

/// Power-of-two units that bring the median of some predicted particles to order 1, and whether single precision
/// still covers the others. Infinite and NaN components are ignored: their pairs show in the sums.
pub fn suitable(particles: impl Iterator<Item = ([f64; 3], [f64; 3])>) -> (Scaling, bool) {
    let mut norms = [Vec::new(), Vec::new()];
    for (x, v) in particles {
        for (norms, vector) in norms.iter_mut().zip([x, v]) {
            norms.push(greatest_component(&vector));
        }
    }
    // The median and not the largest: one escaper must not cost the others their digits.
    let units = [0, 1].map(|k: usize| {
        if norms[k].is_empty() {
            return 1.0;
        }
        let middle = norms[k].len() / 2;
        let median = norms[k].select_nth_unstable_by(middle, f64::total_cmp).1;
        if outside(*median, [LENGTHS, VELOCITIES][k]) {
            inverse_power_of_two(*median)
        } else {
            1.0
        }
    });
    let suits = |&&norm: &&f64| !outside(norm * units[0], NEIGHBOURHOOD);
    let representable = norms[0].iter().filter(suits).count() * 10 >= norms[0].len() * 9;
    let [length, velocity] = units;
    (Scaling { length, velocity }, representable)
}

/// The largest magnitude among the finite components of a vector, 0 if there are none.
pub fn greatest_component(vector: &[f64; 3]) -> f64 {
    let finite = vector.iter().filter(|c| c.is_finite());
    finite.fold(0.0, |greatest, c| c.abs().max(greatest))
}

/// Whether a number that is not zero lies outside a range.
pub fn outside(value: f64, (least, most): (f64, f64)) -> bool {
    value != 0.0 && !(least..=most).contains(&value)
}

/// A power of two that brings `value` close to 1.
fn inverse_power_of_two(value: f64) -> f64 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    2.0_f64.powi(-exponent.clamp(-1000, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_infinite_does_not_choose_the_units() {
        let usual = ([1.0, 2.0, 0.5], [3.0, 0.0, -1.0]);
        for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let wild = ([odd, 1.0, odd], [0.0, odd, 1.0]);
            let (units, representable) = suitable([wild, usual, wild].into_iter());
            assert!(units.are_plain() && representable, "{odd}: {units:?}");
        }
    }

    #[test]
    fn the_typical_particle_chooses_the_units() {
        let of = |x: f64| ([x; 3], [1e-9 * x; 3]);
        let (units, representable) = suitable([of(3e18), of(2e18), of(1e18)].into_iter());
        let scaled = [2e18 * units.length, 2e9 * units.velocity];
        assert!(scaled.iter().all(|s| (1.0..2.0).contains(s)), "{units:?}");
        assert!(representable);
        let (_, representable) = suitable([of(1.0), of(1e10), of(1e-10)].into_iter());
        assert!(!representable);
    }
}
