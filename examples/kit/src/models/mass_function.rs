//! Mass functions of star clusters, made of power laws for adjacent ranges of mass.

use super::power_law::PowerLaw;
use super::random::Random;
use super::units::{EXACT_SCALING_LIMIT, to_centre_of_mass, to_standard_units};
use crate::body::Body;
use crate::galaxy::Units;
use crate::number::number;

/// How many stars of each mass there are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MassFunction {
    /// All stars have one mass
    #[default]
    Equal,
    /// m^-2.35 from 0.1 to 100 solar masses (Salpeter 1955)
    Salpeter,
    /// m^-1.3 from 0.08, m^-2.3 from 0.5 to 100 solar masses (Kroupa 2001)
    Kroupa,
    /// One power law between two masses, in solar masses
    Power(PowerLaw),
}

/// The factor from which on the user hears that masses differ from those of the function.
const FAR: f64 = 1.25;

const SALPETER: [PowerLaw; 1] = [PowerLaw {
    slope: 2.35,
    least: 0.1,
    most: 100.0,
}];
const KROUPA: [PowerLaw; 2] = [
    PowerLaw {
        slope: 1.3,
        least: 0.08,
        most: 0.5,
    },
    PowerLaw {
        slope: 2.3,
        least: 0.5,
        most: 100.0,
    },
];

impl MassFunction {
    /// The option `--mass-function` of every program: `equal`, `salpeter`, `kroupa`, or an exponent with the least and
    /// the largest mass, `2.35,0.1,10`.
    ///
    /// # Errors
    ///
    /// The text is none of these; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "equal" => return Ok(Self::Equal),
            "salpeter" => return Ok(Self::Salpeter),
            "kroupa" => return Ok(Self::Kroupa),
            _ => {}
        }
        let numbers: Result<Vec<f64>, String> = text.split(',').map(number).collect();
        match numbers.as_deref() {
            Ok(&[slope, least, most]) if 0.0 < least && least <= most => {
                Ok(Self::Power(PowerLaw { slope, least, most }))
            }
            _ => Err(
                "neither equal, salpeter nor kroupa, nor an exponent, a least and a largest mass such as 2.35,0.1,10"
                    .to_owned(),
            ),
        }
    }

    /// The segments, each with the height at which it joins the one before.
    fn segments(self) -> Vec<(PowerLaw, f64)> {
        let segments: &[PowerLaw] = match &self {
            Self::Equal => &[],
            Self::Salpeter => &SALPETER,
            Self::Kroupa => &KROUPA,
            Self::Power(law) => std::slice::from_ref(law),
        };
        let mut height = 1.0;
        let mut joined = Vec::new();
        for (k, segment) in segments.iter().enumerate() {
            if let Some(before) = k.checked_sub(1).map(|k| segments[k]) {
                height *= segment.least.powf(segment.slope - before.slope);
            }
            joined.push((*segment, height));
        }
        joined
    }

    /// Mean mass, in solar masses; 1 where all are equal.
    pub fn mean(self) -> f64 {
        let segments = self.segments();
        let moment = |power| {
            segments
                .iter()
                .map(|(s, h)| h * s.moment(power))
                .sum::<f64>()
        };
        match segments.first() {
            None => 1.0,
            Some((only, _)) if only.least == only.most => only.least,
            Some(_) => moment(1.0) / moment(0.0),
        }
    }

    /// A message for the user of `n` stars with masses of this function in these units, if they are far from its solar
    /// masses: all stars together have the unit of mass.
    pub fn remark(self, n: u64, units: Option<&Units>) -> Option<String> {
        let (whole, unit) = (n as f64 * self.mean(), units?.mass);
        let is_near = (1.0 / FAR..FAR).contains(&(unit / whole));
        (self != Self::Equal && !is_near).then(|| {
            format!(
                "the stars have {:.3} times the masses of the --mass-function: {n} times its mean are {whole:.4e} solar \
                 masses, and the unit of mass is {unit:.4e}",
                unit / whole
            )
        })
    }

    /// A star's mass, in solar masses.
    pub fn mass(self, random: &mut Random) -> f64 {
        let segments = self.segments();
        let count: f64 = segments.iter().map(|(s, h)| h * s.moment(0.0)).sum();
        let Some((last, _)) = segments.last() else {
            return 1.0;
        };
        let mut rest = count * random.uniform();
        for (segment, height) in &segments {
            let own = height * segment.moment(0.0);
            if rest < own {
                return segment.quantile(rest / own);
            }
            rest -= own;
        }
        last.most
    }

    /// Gives `bodies` masses that do not depend on their places; the masses add up to 1. Positions and velocities
    /// change only by a shift that brings the centre of mass to rest in the origin.
    pub fn draw(self, bodies: &mut [Body], seed: u64) {
        if self == Self::Equal {
            return;
        }
        // Not the numbers of the model.
        let mut random = Random::of_part(seed, u64::MAX);
        bodies
            .iter_mut()
            .for_each(|b| b.mass = self.mass(&mut random));
        let total: f64 = bodies.iter().map(|b| b.mass).sum();
        bodies.iter_mut().for_each(|b| b.mass /= total);
        if bodies.len() > 1 {
            to_centre_of_mass(bodies);
        }
    }

    /// [`draw`](Self::draw), and brings the sample to standard units again, up to [`EXACT_SCALING_LIMIT`] of them.
    pub fn assign(self, bodies: &mut [Body], seed: u64) {
        self.draw(bodies, seed);
        if self != Self::Equal && bodies.len() <= EXACT_SCALING_LIMIT {
            to_standard_units(bodies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Energy, mass};
    use crate::models::plummer;

    /// Mean masses by hand, and parts of the stars above a mass.
    #[test]
    fn masses_far_from_the_function_are_told() {
        let units = |mass| Units { mass, length: 1.0 };
        let salpeter = MassFunction::Salpeter;
        let whole = 1000.0 * salpeter.mean();
        assert_eq!(salpeter.remark(1000, Some(&units(1.1 * whole))), None);
        assert_eq!(salpeter.remark(1000, None), None);
        assert_eq!(MassFunction::Equal.remark(1000, Some(&units(1e9))), None);
        let remark = salpeter.remark(1000, Some(&units(20.0 * whole))).unwrap();
        assert!(remark.contains("have 20.000 times"), "{remark}");
        assert!(salpeter.remark(1000, Some(&units(0.5 * whole))).is_some());
    }

    #[test]
    fn masses_are_distributed_as_published() {
        // Salpeter: 1.35/0.35 (0.1^-0.35 - 100^-0.35) / (0.1^-1.35 - 100^-1.35).
        assert!((MassFunction::Salpeter.mean() - 0.35137).abs() < 1e-5);
        let n = 200_000;
        for (function, limit, above) in [
            (MassFunction::Salpeter, 1.0, 0.04458),
            // Of 1/0.3 (0.08^-0.3 - 0.5^-0.3) + 0.5/1.3 (0.5^-1.3 - 100^-1.3) the second term.
            (MassFunction::Kroupa, 0.5, 0.2393),
        ] {
            let mut random = Random::new(2);
            let masses: Vec<f64> = (0..n).map(|_| function.mass(&mut random)).collect();
            let mean = masses.iter().sum::<f64>() / f64::from(n);
            assert!(
                (mean / function.mean() - 1.0).abs() < 0.03,
                "{function:?}: {mean}"
            );
            let found = masses.iter().filter(|m| **m > limit).count() as f64 / f64::from(n);
            assert!((found / above - 1.0).abs() < 0.03, "{function:?}: {found}");
        }
    }

    #[test]
    fn every_program_reads_the_same_words() {
        assert_eq!(MassFunction::parse("kroupa"), Ok(MassFunction::Kroupa));
        assert_eq!(MassFunction::parse("salpeter"), Ok(MassFunction::Salpeter));
        assert_eq!(MassFunction::parse("equal"), Ok(MassFunction::Equal));
        assert_eq!(MassFunction::parse("2,3,3").unwrap().mean(), 3.0);
        let salpeter = MassFunction::parse("2.35,0.1,100").unwrap();
        assert_eq!(salpeter.mean(), MassFunction::Salpeter.mean());
        for bad in ["2.35", "2.35,10,1", "2.35,0,1", "miller", "1,2,3,4", ""] {
            assert!(MassFunction::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bodies_are_in_standard_units_again() {
        let mut bodies = plummer(1000, 1);
        MassFunction::Kroupa.assign(&mut bodies, 1);
        let energy = Energy::of(&bodies, 0.0);
        assert!((mass(&bodies) - 1.0).abs() < 1e-12);
        assert!((energy.total() + 0.25).abs() < 1e-12, "{energy:?}");
        let mut equal = plummer(10, 1);
        MassFunction::Equal.assign(&mut equal, 1);
        assert_eq!(equal, plummer(10, 1));
    }
}
