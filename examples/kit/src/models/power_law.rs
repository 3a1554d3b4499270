//! A power-law mass function: more light stars than heavy ones.

/// Numbers of stars that go with m^-slope between two masses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// 2.35 is Salpeter's.
    pub slope: f64,
    /// Lightest star, in any unit.
    pub least: f64,
    /// Heaviest star.
    pub most: f64,
}

impl PowerLaw {
    /// Integral of m^(power - slope) from the lightest to the heaviest star.
    pub(super) fn moment(&self, power: f64) -> f64 {
        let p = power + 1.0 - self.slope;
        if p.abs() < 1e-9 {
            return (self.most / self.least).ln();
        }
        (self.most.powf(p) - self.least.powf(p)) / p
    }

    /// The mass below which a `part` of the stars are.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let ratio = self.most / self.least;
        let exponent = 1.0 - self.slope;
        if exponent.abs() < 1e-9 {
            return self.least * ratio.powf(part);
        }
        let integral = ratio.powf(exponent) - 1.0;
        self.least * (1.0 + part * integral).powf(1.0 / exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Random;

    const SALPETER: PowerLaw = PowerLaw {
        slope: 2.35,
        least: 0.1,
        most: 10.0,
    };

    #[test]
    fn masses_follow_the_power_law() {
        let mut random = Random::new(1);
        let mut masses: Vec<f64> = (0..20_000)
            .map(|_| SALPETER.quantile(random.uniform()))
            .collect();
        masses.sort_unstable_by(f64::total_cmp);
        // Stars above ten times the lightest: (10^-1.35 - 100^-1.35) / (1 - 100^-1.35).
        let [ten, hundred] = [10.0, 100.0_f64].map(|r| r.powf(-1.35));
        let expected = (ten - hundred) / (1.0 - hundred);
        let heavy = masses.iter().filter(|m| **m > 10.0 * masses[0]).count();
        let part = heavy as f64 / 20_000.0;
        assert!((part / expected - 1.0).abs() < 0.1, "{part} {expected}");
        let span = masses[19_999] / masses[0];
        assert!(span > 60.0 && span <= 100.0, "{span}");
    }

    #[test]
    fn the_slope_1_is_logarithmic() {
        let flat = PowerLaw {
            slope: 1.0,
            ..SALPETER
        };
        assert!((flat.quantile(0.5) - 1.0).abs() < 1e-12);
        assert!((SALPETER.quantile(0.0) - 0.1).abs() < 1e-15);
        assert!((SALPETER.quantile(1.0) - 10.0).abs() < 1e-12);
    }
}
