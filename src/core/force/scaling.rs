//! The units of single-precision numbers. Powers of two bring lengths and velocities of any system of units into the
//! range of the kernels; the unit of mass makes equal masses exact.

/// The coordinates of particles that share units are not scaled while the largest of them lies in this range. Outside
/// it single precision could overflow in r^-3 or lose small terms.
pub const LENGTHS: (f64, f64) = (1e-10, 16_777_216.0);
/// The same for velocities, which enter linearly.
pub const VELOCITIES: (f64, f64) = (1.0 / 16_777_216.0, 16_777_216.0);
/// Nine in ten coordinates must be in this range after scaling. Otherwise double precision takes over.
pub const NEIGHBOURHOOD: (f64, f64) = (1e-8, 1e8);
/// Masses below this multiple of the unit may underflow in products, for NBODY6's regular force.
pub const LEAST_MASS: f64 = 1e-20;

/// Up to this, coordinates of i-particles and softening lengths cause neither overflow nor underflow.
pub const FARTHEST: f64 = 1e8;

/// Pairs closer than this fraction of the i-particle's distance from the origin need more digits than split
/// positions have: see [`crate::cpu`]'s `resolution.rs`.
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

/// The unit of mass for `masses`, and whether no mass becomes too small for single precision in this unit. (An overflow
/// is not looked for: it shows in the sums.) The unit is the first mass by which one can divide, so that equal masses
/// are exact.
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

/// What the masses of a page tell about pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassRange {
    /// The smallest magnitude that is not zero; infinite if all are zero.
    pub least: f64,
    /// Whether no two have different signs.
    pub one_sign: bool,
}

/// The range of some masses.
pub fn mass_range(masses: &[f64]) -> MassRange {
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
    MassRange {
        least: positive.min(negative),
        one_sign: positive.max(negative) == f64::INFINITY,
    }
}

/// Units of length and velocity for some particles, and whether single precision then covers the coordinates of nine in
/// ten. A particle is given by its greatest coordinate and its greatest velocity component. A unit is 1 while the
/// median lies in [`LENGTHS`] or [`VELOCITIES`], else the power of two that brings the median to order 1. Zeros do not
/// count in a median.
pub fn suitable(lengths: &mut [f64], velocities: &mut [f64]) -> (Scaling, bool) {
    // The median and not the largest: one escaper must not cost the others their digits.
    let unit = |norms: &mut [f64], range| {
        norms.sort_unstable_by(f64::total_cmp);
        let some = &norms[norms.partition_point(|&norm| norm == 0.0)..];
        match some.get(some.len() / 2) {
            Some(&median) if outside(median, range) => inverse_power_of_two(median),
            _ => 1.0,
        }
    };
    let length = unit(lengths, LENGTHS);
    let velocity = unit(velocities, VELOCITIES);
    let suits = |&&norm: &&f64| !outside(norm * length, NEIGHBOURHOOD);
    let representable = lengths.iter().filter(suits).count() * 10 >= lengths.len() * 9;
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
    fn what_is_infinite_or_zero_does_not_choose_the_units() {
        let usual = greatest_component(&[1.0, 2.0, 0.5]);
        for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let wild = greatest_component(&[odd, 1.0, odd]);
            let (units, representable) = suitable(&mut [wild, usual, wild], &mut [1.0; 3]);
            assert!(units.are_plain() && representable, "{odd}: {units:?}");
        }
        let (units, representable) = suitable(&mut [0.0, 0.0, 4e20], &mut [0.0; 3]);
        assert!((1.0..2.0).contains(&(4e20 * units.length)) && representable);
    }

    #[test]
    fn the_typical_particle_chooses_the_units() {
        let of = |x: &mut [f64]| {
            let mut v: Vec<_> = x.iter().map(|x| 1e-9 * x).collect();
            suitable(x, &mut v)
        };
        let (units, representable) = of(&mut [3e18, 2e18, 1e18]);
        let scaled = [2e18 * units.length, 2e9 * units.velocity];
        assert!(scaled.iter().all(|s| (1.0..2.0).contains(s)), "{units:?}");
        assert!(representable);
        let (_, representable) = of(&mut [1.0, 1e10, 1e-10]);
        assert!(!representable);
    }

    #[test]
    fn masses_that_are_zero_have_neither_size_nor_sign() {
        let of = |masses: &[f64]| {
            let range = mass_range(masses);
            (range.least, range.one_sign)
        };
        assert_eq!(of(&[0.0, -0.0, 3.0, 1.0]), (1.0, true));
        assert_eq!(of(&[0.0, -3.0, -1.0]), (1.0, true));
        assert_eq!(of(&[0.0, -3.0, 2.0]), (2.0, false));
        assert_eq!(of(&[0.0; 20]), (f64::INFINITY, true));
    }
}
