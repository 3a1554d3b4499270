//! Numbers on the command line, and their output in the form in which users write them.

/// Largest denominator of a fraction that [`fraction`] finds.
const LARGEST_DENOMINATOR: f64 = 65536.0;

/// A finite number from 0 on: `0.01`, `1e-3`, a quotient `1/256` or a power `2^-40`.
///
/// # Errors
///
/// The text is none of these; in words.
pub fn number(text: &str) -> Result<f64, String> {
    let value = match (text.split_once('/'), text.split_once('^')) {
        (Some((above, below)), _) => plain(above)? / plain(below)?,
        (None, Some((base, exponent))) => plain(base)?.powf(plain(exponent)?),
        (None, None) => plain(text)?,
    };
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err("not a finite number from 0 on".to_owned())
    }
}

fn plain(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is not a number (such as 0.01, 1e-3, 1/256 or 2^-40)"))
}

/// A whole number from 0 on: `100000`, `1e5` or `2^16`.
///
/// # Errors
///
/// The text is none of these, or above 2^53, where not every whole number has its own text; in words.
pub fn count(text: &str) -> Result<u64, String> {
    if let Ok(whole) = text.trim().parse() {
        return Ok(whole);
    }
    let value = number(text)?;
    if value.fract() != 0.0 {
        return Err(format!("{value} is not a whole number"));
    }
    if value > 2.0_f64.powi(53) {
        return Err(format!("{value:e} is above 2^53"));
    }
    Ok(value as u64)
}

/// `x`, which is positive, rounded up to two significant digits.
pub(crate) fn rounded_up(x: f64) -> f64 {
    let scale = 10.0_f64.powi(1 - x.log10().floor() as i32);
    (x * scale).ceil() / scale
}

/// A number of bodies: from 1 to what the interface's 32-bit integers count.
///
/// # Errors
///
/// The text is no such number; in words.
pub fn bodies(text: &str) -> Result<u64, String> {
    match count(text)? {
        n if (1..=i32::MAX as u64).contains(&n) => Ok(n),
        n => Err(format!("{n} is not from 1 to {}", i32::MAX)),
    }
}

/// `1/256` for 0.00390625 and `3/64` for 0.046875; other numbers with all their digits.
///
/// Only quotients that are exact, and shorter than the decimals, are written as such.
pub fn fraction(value: f64) -> String {
    let decimals = format!("{value}");
    let mut denominator = 2.0;
    while denominator <= LARGEST_DENOMINATOR {
        let numerator = value * denominator;
        if numerator.fract() == 0.0 {
            let quotient = format!("{numerator}/{denominator}");
            let shorter = value.fract() != 0.0 && quotient.len() < decimals.len();
            return if shorter { quotient } else { decimals };
        }
        denominator *= 2.0;
    }
    decimals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_fractions_and_powers() {
        assert_eq!(number("1/256"), Ok(0.00390625));
        assert_eq!(number("1e-3"), Ok(0.001));
        assert_eq!(number("2^-40"), Ok(2.0_f64.powi(-40)));
        assert_eq!(number("2^-60"), Ok(2.0_f64.powi(-60)));
        for bad in ["1/0", "-1", "x", "", "NaN", "0/0", "2^", "2^2000", "1/2/3"] {
            assert!(number(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_may_have_exponents() {
        for (text, n) in [("100000", 100_000), ("1e5", 100_000), ("2^16", 65536)] {
            assert_eq!(count(text), Ok(n));
        }
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for bad in ["1.5", "1e-1", "-1", "1e30", "many"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        assert_eq!(bodies("1e5"), Ok(100_000));
        assert!(bodies("0").is_err() && bodies("1e10").is_err());
    }

    #[test]
    fn powers_of_two_are_read_as_fractions() {
        for (value, text) in [
            (1.0 / 256.0, "1/256"),
            (3.0 / 64.0, "3/64"),
            (0.125, "1/8"),
            (0.5, "0.5"),
            (0.01, "0.01"),
            (2.0, "2"),
            (0.0, "0"),
            (1.0 / 3.0, "0.3333333333333333"),
        ] {
            assert_eq!(fraction(value), text);
        }
    }
}
