//! Numbers with units on the command line: `500Myr`, `1.5Gyr`, `0.2pc`, `8kpc`, `1Rsun`, `220km/s`, `1000Msun`, or plain
//! ones, which are in the units of the bodies.

use std::fmt;

use crate::galaxy::units::{ASTRONOMICAL_UNIT, SOLAR_RADIUS};
use crate::galaxy::{Galaxy, Units};
use crate::number::number;
use crate::vector::Vec3;

/// The unit of a number on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// That of the bodies.
    Bodies,
    /// A million years.
    Myr,
    /// A thousand million years.
    Gyr,
    /// A parsec.
    Pc,
    /// A thousand parsecs.
    Kpc,
    /// An astronomical unit.
    Au,
    /// The radius of the Sun.
    SolarRadius,
    /// A kilometre per second.
    KmS,
    /// The mass of the Sun.
    SolarMass,
}

const TIMES: [Unit; 2] = [Unit::Gyr, Unit::Myr];
const LENGTHS: [Unit; 4] = [Unit::Kpc, Unit::Pc, Unit::Au, Unit::SolarRadius];
const SPEEDS: [Unit; 1] = [Unit::KmS];
const MASSES: [Unit; 1] = [Unit::SolarMass];

impl Unit {
    /// What is written behind the number.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bodies => "",
            Self::Myr => "Myr",
            Self::Gyr => "Gyr",
            Self::Pc => "pc",
            Self::Kpc => "kpc",
            Self::Au => "au",
            Self::SolarRadius => "Rsun",
            Self::KmS => "km/s",
            Self::SolarMass => "Msun",
        }
    }

    /// A length in parsecs.
    pub fn parsecs(self) -> Option<f64> {
        match self {
            Self::Pc => Some(1.0),
            Self::Kpc => Some(1000.0),
            Self::Au => Some(ASTRONOMICAL_UNIT),
            Self::SolarRadius => Some(SOLAR_RADIUS),
            Self::Bodies | Self::Myr | Self::Gyr | Self::KmS | Self::SolarMass => None,
        }
    }
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

impl From<f64> for Quantity {
    fn from(value: f64) -> Self {
        let unit = Unit::Bodies;
        Self { value, unit }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.value, self.unit.name())
    }
}

impl Quantity {
    /// The number in the units of the bodies of a program with the options of a `galaxy`, or of one without.
    ///
    /// # Errors
    ///
    /// The number has a unit, but the units of the bodies are not known. The text names the option that gives them,
    /// if the program has one.
    pub fn of_bodies(&self, galaxy: Option<&Galaxy>) -> Result<f64, String> {
        let units = galaxy.and_then(Galaxy::known_units);
        self.in_units(units.as_ref()).map_err(|why| match galaxy {
            Some(_) => format!("{why}; --units gives them some"),
            None => format!("{why}; give a plain number"),
        })
    }

    /// The number in the units of the bodies, which are `units` where they are known.
    ///
    /// # Errors
    ///
    /// They are not known, and the number has a unit; in words.
    pub fn in_units(&self, units: Option<&Units>) -> Result<f64, String> {
        let (value, unit) = (self.value, self.unit.name());
        let known = || {
            units.ok_or_else(|| {
                format!("{self}: the bodies have no units of which {unit} is a part")
            })
        };
        if let Some(parsecs) = self.unit.parsecs() {
            return Ok(value * parsecs / known()?.length);
        }
        Ok(match self.unit {
            Unit::Myr => value / known()?.time(),
            Unit::Gyr => 1000.0 * value / known()?.time(),
            Unit::KmS => known()?.from_km_s(value),
            Unit::SolarMass => value / known()?.mass,
            _ => value,
        })
    }

    /// The number, which has to be plain.
    ///
    /// # Errors
    ///
    /// It has a unit; in words.
    pub fn plain(&self) -> Result<f64, String> {
        self.of_bodies(None)
    }
}

/// `text` without the unit at its end, and the unit.
fn split(text: &str, units: &[Unit]) -> (String, Unit) {
    let text = text.trim();
    for unit in units {
        if let Some(number) = text.strip_suffix(unit.name()) {
            return (number.trim().to_owned(), *unit);
        }
    }
    (text.to_owned(), Unit::Bodies)
}

fn quantity(text: &str, units: &[Unit]) -> Result<Quantity, String> {
    let (number_text, unit) = split(text, units);
    let value = number(&number_text).map_err(|why| {
        let names: Vec<&str> = units.iter().map(|u| u.name()).collect();
        format!("{why}; a unit may follow: {}", names.join(", "))
    })?;
    Ok(Quantity { value, unit })
}

/// A time: `1/4`, `500Myr`, `1.5Gyr`.
///
/// # Errors
///
/// The text is none; in words.
pub fn time(text: &str) -> Result<Quantity, String> {
    quantity(text, &TIMES)
}

/// An interval of the simulated time, above 0.
///
/// # Errors
///
/// The text is no time, or too short; in words.
pub fn interval(text: &str) -> Result<Quantity, String> {
    const SHORTEST: f64 = 1e-9;
    match time(text)? {
        every if every.value >= SHORTEST => Ok(every),
        _ => Err(format!("shorter than {SHORTEST:e}")),
    }
}

/// An interval as a state tells it: one that follows from the end of a short run may be shorter than any that is given.
///
/// # Errors
///
/// The text is no time above 0; in words.
pub fn told_interval(text: &str) -> Result<Quantity, String> {
    match time(text)? {
        every if every.value > 0.0 => Ok(every),
        _ => Err("not above 0".to_owned()),
    }
}

/// A length: `1/256`, `0.2pc`, `8kpc`, `10au`, `1Rsun`.
///
/// # Errors
///
/// The text is none; in words.
pub fn length(text: &str) -> Result<Quantity, String> {
    quantity(text, &LENGTHS)
}

/// A mass: `0.01`, `1000Msun`.
///
/// # Errors
///
/// The text is none; in words.
pub fn mass(text: &str) -> Result<Quantity, String> {
    quantity(text, &MASSES)
}

/// A length of which plain numbers are kiloparsecs.
///
/// # Errors
///
/// The text is none; in words.
pub fn distance(text: &str) -> Result<Quantity, String> {
    let given = length(text)?;
    Ok(match given.unit {
        Unit::Bodies => Quantity {
            unit: Unit::Kpc,
            ..given
        },
        _ => given,
    })
}

/// Three finite numbers: in the `default` unit, in the one behind the last of them, or each with a unit.
fn vector(text: &str, units: &[Unit], default: Unit) -> Result<[Quantity; 3], String> {
    let parts: Vec<(String, Unit)> = text.split(',').map(|part| split(part, units)).collect();
    let wrong = || "not three numbers such as 8,0,-0.5".to_owned();
    let Ok([x, y, z]) = <[_; 3]>::try_from(parts) else {
        return Err(wrong());
    };
    let given = [x.1, y.1, z.1];
    let units = match given.map(|unit| unit != Unit::Bodies) {
        [false, false, false] => [default; 3],
        [false, false, true] => [given[2]; 3],
        [true, true, true] => given,
        _ => return Err("a unit belongs behind the last number or behind all of them".to_owned()),
    };
    let mut vector = units.map(|unit| Quantity { value: 0.0, unit });
    for (quantity, (number, _)) in vector.iter_mut().zip([x, y, z]) {
        quantity.value = match number.parse() {
            Ok(value) if f64::is_finite(value) => value,
            _ => return Err(wrong()),
        };
    }
    Ok(vector)
}

/// A position: `8,0,-0.5` in kiloparsecs, `8000,0,-500pc` or `8kpc,0pc,-500pc`.
///
/// # Errors
///
/// The text is none; in words.
pub fn position(text: &str) -> Result<[Quantity; 3], String> {
    vector(text, &LENGTHS, Unit::Kpc)
}

/// A velocity in km/s: `0,220,0` or `0,220,0km/s`.
///
/// # Errors
///
/// The text is none; in words.
pub fn velocity(text: &str) -> Result<[Quantity; 3], String> {
    vector(text, &SPEEDS, Unit::KmS)
}

/// A vector in the units of the bodies, which are `units`.
///
/// # Errors
///
/// Those of [`Quantity::in_units`].
pub fn of_bodies(vector: &[Quantity; 3], units: &Units) -> Result<Vec3, String> {
    let mut numbers = [0.0; 3];
    for (number, quantity) in numbers.iter_mut().zip(vector) {
        *number = quantity.in_units(Some(units))?;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_where_they_have_a_meaning() {
        let units = Units::default();
        let in_units = |quantity: Quantity| quantity.in_units(Some(&units)).unwrap();
        assert!((in_units(time("500Myr").unwrap()) * units.time() - 500.0).abs() < 1e-9);
        assert_eq!(time("1/2 Gyr").unwrap().value, 0.5);
        assert!((in_units(time("1/2Gyr").unwrap()) * units.time() - 500.0).abs() < 1e-9);
        assert_eq!(in_units(length("0.2pc").unwrap()), 0.02);
        // IAU 2012 and 2015: the parsec is 648000 / pi au, and the Sun's radius 6.957e8 m, 1 / 215.032 au.
        let parsec = |text: &str| in_units(length(text).unwrap()) * units.length;
        assert!((parsec("206264.806247au") - 1.0).abs() < 1e-12);
        assert!((parsec("1Rsun") / parsec("1au") * 215.032 - 1.0).abs() < 1e-5);
        assert_eq!(
            in_units(distance("8").unwrap()),
            in_units(length("8000pc").unwrap())
        );
        assert_eq!(in_units(time("1/4").unwrap()), 0.25);
        assert_eq!(in_units(mass("1600Msun").unwrap()) * units.mass, 1600.0);
        assert_eq!(in_units(mass("1/4").unwrap()), 0.25);
        assert!(mass("1pc").is_err());
        for text in ["0,-220,1e1km/s", "0km/s, -220 km/s, 10km/s", "0,-220,10"] {
            let v = of_bodies(&velocity(text).unwrap(), &units).unwrap();
            assert!((v[1] * units.velocity() + 220.0).abs() < 1e-9, "{text}");
        }
        for text in ["8,0,-0.5", "8000,0,-500pc", "8kpc, 0pc, -500pc"] {
            let x = of_bodies(&position(text).unwrap(), &units).unwrap();
            assert_eq!(x, [800.0, 0.0, -50.0], "{text}");
        }
        for bad in [
            "1,2",
            "1,2,3,4",
            "1,2,x",
            "1,2,inf",
            "8kpc,0,-500pc",
            "8kpc,0,0",
            "1,2,3km/s",
        ] {
            assert!(position(bad).is_err(), "{bad}");
        }
        let refusal = |galaxy| time("500Myr").unwrap().of_bodies(galaxy).unwrap_err();
        let bare = Galaxy::default();
        for (galaxy, option) in [(Some(&bare), "--units"), (None, "plain number")] {
            let why = refusal(galaxy);
            assert!(why.contains("500.0Myr") && why.contains(option), "{why}");
            // A program without the options of a galaxy names no option.
            assert_eq!(why.contains("--"), galaxy.is_some(), "{why}");
        }
        for bad in ["500pc", "Myr", "5 Mpc", "-1Myr"] {
            assert!(time(bad).is_err(), "{bad}");
        }
        assert!(interval("0").is_err());
    }

    #[test]
    fn a_quantity_is_read_again_as_it_was_written() {
        for text in ["500Myr", "0.1Gyr", "0.3333333333333333"] {
            let quantity = time(text).unwrap();
            assert_eq!(time(&quantity.to_string()), Ok(quantity));
        }
    }
}
