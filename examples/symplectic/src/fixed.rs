//! Fixed-point numbers: integers that count a power of two.
//!
//! Sums of integers are exact, so every addition can be undone; REBOUND's JANUS (Rein and Tamayo 2018, MNRAS 473,
//! 3351) is the model. Conversions round to nearest and treat both signs alike.

/// Powers of two between the largest number at the start and the largest that there can be.
const ROOM: i32 = 10;

/// Bits of an integer besides its sign.
const BITS: i32 = 62;

/// What one unit of the integers is: 2 to this power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resolution(pub i32);

impl Resolution {
    /// A scale that has room for 1024 times `largest`, which is not below 1.
    pub fn for_numbers_up_to(largest: f64) -> Self {
        let power = largest.max(1.0).log2().ceil() as i32;
        Self(power + ROOM - BITS)
    }

    /// The number that `value` units are, rounded to 53 bits.
    pub fn number(self, value: i64) -> f64 {
        value as f64 * self.unit()
    }

    /// The units nearest to `number`; `None` beyond the range.
    pub fn units(self, number: f64) -> Option<i64> {
        let units = (number / self.unit()).round();
        // Also false for what is not a number.
        (units.abs() <= 2.0_f64.powi(BITS)).then_some(units as i64)
    }

    /// `value` with the units nearest to `number` added; `None` beyond the range.
    pub fn add(self, value: i64, number: f64) -> Option<i64> {
        let sum = value.checked_add(self.units(number)?)?;
        (sum.unsigned_abs() <= 1 << BITS).then_some(sum)
    }

    fn unit(self) -> f64 {
        2.0_f64.powi(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_can_be_taken_away() {
        let scale = Resolution::for_numbers_up_to(800.0);
        let start = scale.units(-123.456).unwrap();
        let mut value = start;
        let terms = (1..1000).map(|k| 1.0 / f64::from(k) - 0.01);
        for term in terms.clone() {
            value = scale.add(value, term).unwrap();
        }
        assert_ne!(value, start);
        for term in terms {
            value = scale.add(value, -term).unwrap();
        }
        assert_eq!(value, start);
    }

    #[test]
    fn the_range_has_an_end() {
        let scale = Resolution::for_numbers_up_to(1.0);
        assert!((scale.number(scale.units(0.1).unwrap()) - 0.1).abs() < 1e-15);
        assert!(scale.units(1024.0).is_some());
        for bad in [1025.0, -1025.0, f64::NAN, f64::INFINITY] {
            assert_eq!(scale.units(bad), None);
        }
        let most = scale.units(1024.0).unwrap();
        assert_eq!(scale.add(most, 1.0), None);
    }
}
