//! Primordial binaries: some systems of a model are two stars instead of one.

use super::mass_function::MassFunction;
use super::random::Random;
use super::units::{EXACT_SCALING_LIMIT, to_centre_of_mass, to_standard_units};
use crate::body::Body;
use crate::command::{check_needed, fraction};
use crate::few_body::kepler::drift;
use crate::galaxy::Units;
use crate::number::rounded_up;
use crate::vector::{Vec3, add_scaled, cross, norm};

/// Days of a million Julian years.
const DAYS: f64 = 365.25e6;

/// Semi-major axes of `opik`, in units of length times the number of stars.
const OPIK: (f64, f64) = (0.01, 1.0);

/// How the periods of binaries are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Periods {
    /// Uniform in the logarithm (Opik 1924): semi-major axes from 1/(100 N) to 1/N. With equal masses the binding
    /// energies are about 300 to 3 k T, where 3/2 k T is the mean kinetic energy of a star
    #[default]
    Opik,
    /// Birth periods of Kroupa (1995), from 10 to 3e8 days: needs units of mass and length
    Kroupa1995,
}

/// Primordial binaries on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BinaryOptions {
    /// Part of the systems that are binaries, of the number of systems; --n counts stars [default: 0]
    #[arg(long, value_name = "PART", value_parser = fraction)]
    #[arg(conflicts_with_all = ["input", "mass_ratio", "report"])]
    pub binary_fraction: Option<f64>,
    /// Periods of the binaries; their eccentricities are thermal, f(e) = 2e [default: opik]
    #[arg(long, value_enum, value_name = "NAME", requires = "binary_fraction")]
    pub binary_periods: Option<Periods>,
}

impl BinaryOptions {
    /// Checks that there are binaries among `n` stars, if a part of the systems is to be binaries, or these are to have periods.
    ///
    /// # Errors
    ///
    /// There are none; in words.
    pub fn check(&self, n: u64) -> Result<(), String> {
        if let Some(fraction) = self.binary_fraction
            && fraction > 0.0
            && self.count(usize::try_from(n).map_err(|e| e.to_string())?) == 0
        {
            // The fraction, and the number of stars, that make half a binary, which rounds to one.
            let least = 1.0 / (2.0 * n as f64 - 1.0);
            let stars = (0.5 / fraction + 0.5).ceil().max(2.0);
            return Err(match n {
                0 | 1 => format!("--binary-fraction {fraction}: --n must be at least {stars}"),
                _ => format!(
                    "--binary-fraction {fraction}: of {n} stars this is less than half a binary; it must be at least {}, or --n at \
                     least {stars}",
                    rounded_up(least)
                ),
            });
        }
        let periods = ("--binary-periods", self.binary_periods.is_some());
        check_needed(
            "--binary-fraction",
            self.binary_fraction.is_some(),
            &[periods],
        )
    }

    /// Binaries among `n` stars: the nearest number to the wanted part of the systems.
    pub fn count(&self, n: usize) -> usize {
        let fraction = self.binary_fraction.unwrap_or(0.0);
        ((n as f64 * fraction / (1.0 + fraction)).round() as usize).min(n / 2)
    }

    /// Makes `n` stars out of the systems at `centres`. There must be n - [`count`](Self::count) systems, and the first
    /// `count` of them become binaries. The masses of the stars are drawn from `masses` independently. The centres are
    /// brought to standard units, unless all are at rest or there are more than [`EXACT_SCALING_LIMIT`] of them.
    ///
    /// # Errors
    ///
    /// The periods need units, and there are none; in words.
    pub fn split(
        &self,
        n: usize,
        mut centres: Vec<Body>,
        masses: MassFunction,
        seed: u64,
        units: Option<&Units>,
    ) -> Result<Vec<Body>, String> {
        let count = self.count(n);
        assert_eq!(centres.len(), n - count, "one centre for each system");
        // Neither the numbers of the model nor those of the masses.
        let mut random = Random::of_part(seed, u64::MAX - 1);
        let mut stars: Vec<f64> = (0..n).map(|_| masses.mass(&mut random)).collect();
        let total: f64 = stars.iter().sum();
        stars.iter_mut().for_each(|m| *m /= total);
        for (k, centre) in centres.iter_mut().enumerate() {
            centre.mass = match k < count {
                true => stars[2 * k] + stars[2 * k + 1],
                false => stars[count + k],
            };
        }
        if centres.len() > 1 {
            to_centre_of_mass(&mut centres);
        }
        if centres.len() <= EXACT_SCALING_LIMIT {
            to_standard_units(&mut centres);
        }
        let mut bodies = Vec::with_capacity(n);
        for (k, centre) in centres.iter().enumerate() {
            if k < count {
                let axis = self.axis(random.uniform(), centre.mass, n, units)?;
                bodies.extend(pair(
                    centre,
                    [stars[2 * k], stars[2 * k + 1]],
                    axis,
                    &mut random,
                ));
            } else {
                bodies.push(*centre);
            }
        }
        for (index, body) in bodies.iter_mut().enumerate() {
            body.index = i32::try_from(index).map_err(|e| e.to_string())?;
        }
        Ok(bodies)
    }

    /// The semi-major axis of a binary of this mass among `n` stars: that below which the part `uniform` of all axes lies.
    ///
    /// # Errors
    ///
    /// The periods need units, and there are none; in words.
    pub fn axis(
        &self,
        uniform: f64,
        mass: f64,
        n: usize,
        units: Option<&Units>,
    ) -> Result<f64, String> {
        match self.binary_periods.unwrap_or_default() {
            // Uniform in ln P is uniform in ln a.
            Periods::Opik => Ok(OPIK.0 * (OPIK.1 / OPIK.0).powf(uniform) / n as f64),
            Periods::Kroupa1995 => {
                let units = units.ok_or(
                    "--binary-periods kroupa1995 needs units: --units MASS,PC, or a --galaxy",
                )?;
                let period = 10.0_f64.powf(birth_period(uniform)) / DAYS / units.time();
                let angular = std::f64::consts::TAU / period;
                Ok((mass / (angular * angular)).cbrt())
            }
        }
    }
}

/// Logarithm of a period in days below which the part `uniform` of Kroupa's (1995) birth periods lies.
fn birth_period(uniform: f64) -> f64 {
    1.0 + (45.0 * ((2.0 * uniform / 2.5).exp() - 1.0)).sqrt()
}

/// Two stars on an orbit of random phase and orientation and thermal eccentricity about `centre`.
fn pair(centre: &Body, masses: [f64; 2], axis: f64, random: &mut Random) -> [Body; 2] {
    let mass = masses[0] + masses[1];
    let e = random.uniform().sqrt();
    let along = random.direction(1.0);
    let across = loop {
        let across = cross(&random.direction(1.0), &along);
        let length = norm(&across);
        if length > 1e-3 {
            break across.map(|c| c / length);
        }
    };
    // From the pericentre, where the distance and the speed are those of the ellipse.
    let speed = (mass * (1.0 + e) / (axis * (1.0 - e))).sqrt();
    let x: Vec3 = along.map(|c| axis * (1.0 - e) * c);
    let v: Vec3 = across.map(|c| speed * c);
    let period = std::f64::consts::TAU * (axis * axis * axis / mass).sqrt();
    let (x, v) = drift(&x, &v, mass, period * random.uniform());
    let star = |own: f64, part: f64| {
        let mut star = Body {
            mass: own,
            ..*centre
        };
        add_scaled(&mut star.x, part, &x);
        add_scaled(&mut star.v, part, &v);
        star
    };
    [
        star(masses[0], -masses[1] / mass),
        star(masses[1], masses[0] / mass),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Energy, centre_of_mass, mass};
    use crate::few_body::kepler::Orbit;
    use crate::models::plummer;
    use crate::vector::sub;

    fn options(fraction: f64, periods: Periods) -> BinaryOptions {
        BinaryOptions {
            binary_fraction: Some(fraction),
            binary_periods: Some(periods),
        }
    }

    fn stars(n: usize, options: &BinaryOptions, masses: MassFunction) -> Vec<Body> {
        let units = Units {
            mass: 0.5 * n as f64,
            length: 1.0,
        };
        let centres = plummer(n - options.count(n), 3);
        options.split(n, centres, masses, 3, Some(&units)).unwrap()
    }

    fn orbits(bodies: &[Body], count: usize) -> Vec<Orbit> {
        let of = |pair: &[Body]| {
            let (a, b) = (&pair[0], &pair[1]);
            Orbit::of(&sub(&b.x, &a.x), &sub(&b.v, &a.v), a.mass + b.mass)
        };
        bodies[..2 * count].chunks_exact(2).map(of).collect()
    }

    #[test]
    fn parts_of_the_systems_are_binaries() {
        let half = options(0.5, Periods::Opik);
        // 512 systems of 768 stars.
        assert_eq!(half.count(768), 256);
        assert_eq!(options(1.0, Periods::Opik).count(7), 3);
        assert_eq!(BinaryOptions::default().count(100), 0);
    }

    #[test]
    fn a_part_without_a_binary_is_refused() {
        let few = options(0.0009, Periods::Opik);
        let why = few.check(500).unwrap_err();
        assert!(
            why.contains("at least 0.0011, or --n at least 557"),
            "{why}"
        );
        assert!(few.check(556).is_err() && few.check(557).is_ok());
        assert_eq!(options(0.0011, Periods::Opik).check(500), Ok(()));
        for none in [options(0.0, Periods::Opik), BinaryOptions::default()] {
            assert_eq!(none.check(500), Ok(()));
        }
        let why = options(4e-7, Periods::Opik).check(1_000_000).unwrap_err();
        let words = "at least 0.00000051, or --n at least 1250001";
        assert!(why.contains(words), "{why}");
        assert_eq!(options(5.1e-7, Periods::Opik).check(1_000_000), Ok(()));
        let why = options(1.0, Periods::Opik).check(1).unwrap_err();
        assert!(why.ends_with("1: --n must be at least 2"), "{why}");
    }

    /// The centres are the model, in standard units; the internal energies are beside it.
    #[test]
    fn centres_are_in_standard_units() {
        for masses in [MassFunction::Equal, MassFunction::Kroupa] {
            let half = options(0.5, Periods::Opik);
            let bodies = stars(900, &half, masses);
            assert_eq!(bodies.len(), 900);
            assert!((mass(&bodies) - 1.0).abs() < 1e-12);
            let (x, v) = centre_of_mass(&bodies);
            assert!(norm(&x) < 1e-12 && norm(&v) < 1e-12);
            let count = half.count(900);
            let inner: f64 = orbits(&bodies, count)
                .iter()
                .zip(bodies.chunks_exact(2))
                .map(|(o, pair)| pair[0].mass * pair[1].mass / o.mass * o.energy())
                .sum();
            let whole = Energy::of(&bodies, 0.0).total();
            assert!(inner < -1.0, "{inner}");
            // Other systems see the two stars apart: tides of (a / r)^2.
            assert!((whole - inner + 0.25).abs() < 1e-4, "{}", whole - inner);
            assert!(bodies.iter().enumerate().all(|(i, b)| b.index == i as i32));
        }
    }

    /// Median of the axes, mean of the eccentricities (2/3) and of their squares (1/2): those of f(e) = 2e.
    #[test]
    fn orbits_are_distributed_as_published() {
        let n = 12_000;
        let all = options(1.0, Periods::Opik);
        let bodies = stars(n, &all, MassFunction::Equal);
        let mut orbits = orbits(&bodies, all.count(n));
        let count = orbits.len() as f64;
        let mean = |of: fn(&Orbit) -> f64| orbits.iter().map(of).sum::<f64>() / count;
        let (e, squares) = (mean(|o| o.eccentricity), mean(|o| o.eccentricity.powi(2)));
        assert!(
            (e - 2.0 / 3.0).abs() < 0.01 && (squares - 0.5).abs() < 0.01,
            "{e} {squares}"
        );
        orbits.sort_by(|a, b| a.axis.total_cmp(&b.axis));
        let at = |part: f64| orbits[(part * count) as usize].axis * n as f64;
        assert!((at(0.5) / 0.1 - 1.0).abs() < 0.1, "{}", at(0.5));
        assert!(at(0.0) > 0.0099 && at(0.9999) < 1.01);
    }

    /// Kroupa's birth periods: from 10 to 10^8.43 days with a median of 10^5.7.
    #[test]
    fn birth_periods_are_kroupas() {
        assert_eq!(birth_period(0.0), 1.0);
        assert!((birth_period(1.0) - 8.43).abs() < 0.01);
        // The density 2.5 (lg P - 1) / (45 + (lg P - 1)^2), by differences.
        for part in [0.2, 0.5, 0.9] {
            let step = 1e-6;
            let density = step / (birth_period(part + step) - birth_period(part));
            let above = birth_period(part) - 1.0;
            let expected = 2.5 * above / (45.0 + above * above);
            assert!((density / expected - 1.0).abs() < 1e-4, "{part}");
        }
        let all = options(1.0, Periods::Kroupa1995);
        let bodies = stars(4000, &all, MassFunction::Equal);
        // 2000 solar masses and 1 pc: the median by Kepler's third law, a^3 = M P^2 in AU and years.
        let mut axes: Vec<f64> = orbits(&bodies, 2000).iter().map(|o| o.axis).collect();
        axes.sort_unstable_by(f64::total_cmp);
        let years = 10.0_f64.powf(birth_period(0.5)) / 365.25;
        let expected = years.powf(2.0 / 3.0) * std::f64::consts::PI / 648_000.0;
        assert!(
            (axes[1000] / expected).ln().abs() < 0.15,
            "{} {expected}",
            axes[1000]
        );
        let refusal = all.split(4, plummer(2, 1), MassFunction::Equal, 1, None);
        assert!(refusal.unwrap_err().contains("--units"));
    }
}
