//! Logarithm, exponential and power whose bits are the same on every machine and on a GPU.
//!
//! The C library's functions differ between versions and machines in the last bit. Those here consist of additions,
//! multiplications and divisions in a fixed order. `kernels/elementary.cuh` has the same
//! sequence for a GPU, with the coefficients of this file: [`header`] writes them.
//!
//! The logarithm is the series of 2 artanh(s), s = (m - 1) / (m + 1), on m from sqrt(1/2) to sqrt(2); the exponential is
//! Taylor's series within ln(2) / 2 of 0. Sums of two numbers carry what the first one rounds off, so that errors stay below
//! one unit of the last place. Those of [`exp_m1`] stay below two, and below four from 0.35 to 0.41; those of [`pow`] stay below
//! two up to an exponent of 40 and grow with it.

/// Terms of a series.
const TERMS: usize = 12;

/// Coefficients 2 / (2 n + 3) of z^n in (ln(m) - 2 s) / s^3, z = s^2.
const LOG: [f64; TERMS] = {
    let mut table = [0.0; TERMS];
    let mut n = 0;
    while n < table.len() {
        table[n] = 2.0 / (2 * n + 3) as f64;
        n += 1;
    }
    table
};

/// Coefficients 1 / (n + 2)! of r^n in (exp(r) - 1 - r) / r^2.
const EXP: [f64; TERMS] = {
    let mut table = [0.0; TERMS];
    let (mut factorial, mut n) = (2.0, 0);
    while n < table.len() {
        table[n] = 1.0 / factorial;
        factorial *= (n + 3) as f64;
        n += 1;
    }
    table
};

/// ln(2) in two parts; products of the first part with integers below 2^20 are exact.
const LN2: [f64; 2] = [
    f64::from_bits(0x3fe6_2e42_fee0_0000),
    f64::from_bits(0x3dea_39ef_3579_3c76),
];

const INVERSE_LN2: f64 = std::f64::consts::LOG2_E;

/// Bits of sqrt(1/2), rounded up.
const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// Added and subtracted it rounds to an integer.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// Below this the exponential is 0, above the other one infinite.
const RANGE: [f64; 2] = [-745.2, 709.8];

/// 2^54, which makes every positive number normal.
const TWO54: f64 = 18_014_398_509_481_984.0;

/// `kernels/elementary_coefficients.cuh`: the coefficients for a GPU.
pub fn header() -> String {
    let mut text =
        "// Written by `cargo run -p kirin-kit --example elementary` from src/elementary.rs.\n\n"
            .to_owned();
    for (name, values) in [("LOG", &LOG[..]), ("EXP", &EXP)] {
        let values: Vec<String> = values.iter().map(|x| format!("{x:e}")).collect();
        let values = values.join(", \\\n     ");
        text += &format!("#define {name}_COEFFICIENTS \\\n    {{{values}}}\n\n");
    }
    for (name, value) in [
        ("LN2", LN2[0]),
        ("LN2_REST", LN2[1]),
        ("INVERSE_LN2", INVERSE_LN2),
        ("ROUNDING", ROUNDING),
        ("EXP_LEAST", RANGE[0]),
        ("EXP_MOST", RANGE[1]),
        ("TWO54", TWO54),
    ] {
        text += &format!("#define {name} {value:e}\n");
    }
    text + &format!("#define ROOT_HALF {ROOT_HALF:#x}ll\n")
}

/// The polynomial with these coefficients, summed in four parts that a processor computes side by side.
#[inline(always)]
fn polynomial(c: &[f64; TERMS], z: f64) -> f64 {
    let square = z * z;
    let fourth = square * square;
    let from = |n: usize| (c[n + 8] * fourth + c[n + 4]) * fourth + c[n];
    (from(0) + z * from(1)) + square * (from(2) + z * from(3))
}

/// A number without its last 27 bits.
#[inline]
fn head(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !0x7ff_ffff)
}

/// The logarithm of a positive, finite number as the sum of two numbers.
#[inline]
fn ln_parts(x: f64) -> (f64, f64) {
    let (x, shift) = match x < f64::MIN_POSITIVE {
        true => (x * TWO54, -54),
        false => (x, 0),
    };
    // x = 2^k m.
    let above = (x.to_bits() as i64 - ROOT_HALF as i64) >> 52;
    let m = f64::from_bits((x.to_bits() as i64 - (above << 52)) as u64);
    let k = (above + shift) as f64;
    let (f, d) = (m - 1.0, m + 1.0);
    let (d_head, d_rest) = (head(d), m - (d - 1.0));
    let inverse = 1.0 / d;
    let s = f * inverse;
    let s_head = head(s);
    // Products of heads are exact.
    let s_rest = ((f - s_head * d_head) - s_head * ((d - d_head) + d_rest)) * inverse;
    let z = s * s;
    let cubic = s * z * polynomial(&LOG, z);
    let (whole, first) = (k * LN2[0], 2.0 * s_head);
    let sum = whole + first;
    let rest = (whole - sum) + first;
    (sum, rest + (2.0 * s_rest + (cubic + k * LN2[1])))
}

/// Natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    if x > 0.0 && x < f64::INFINITY {
        let (sum, rest) = ln_parts(x);
        return sum + rest;
    }
    match x {
        0.0 => f64::NEG_INFINITY,
        f64::INFINITY => f64::INFINITY,
        _ => f64::NAN,
    }
}

/// ln(1 + x), also for small `x`.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    let u = 1.0 + x;
    if !(u > 0.0 && u < f64::INFINITY) {
        return ln(u);
    }
    let lost = match x > 1.0 {
        true => 1.0 - (u - x),
        false => x - (u - 1.0),
    };
    let (sum, rest) = ln_parts(u);
    sum + (rest + lost / u)
}

/// 2^k.
#[inline]
fn power_of_two(k: i64) -> f64 {
    f64::from_bits(((1023 + k) as u64) << 52)
}

/// exp(r + rest) - 1 - r for small numbers.
#[inline]
fn above_linear(r: f64, rest: f64) -> f64 {
    rest + r * r * polynomial(&EXP, r)
}

/// exp(x + rest), where `rest` is much smaller.
#[inline]
fn exp_parts(x: f64, rest: f64) -> f64 {
    if x < RANGE[0] {
        return 0.0;
    }
    if x > RANGE[1] {
        return f64::INFINITY;
    }
    let k = (x * INVERSE_LN2 + ROUNDING) - ROUNDING;
    let (a, b) = (x - k * LN2[0], k * LN2[1] - rest);
    let r = a - b;
    let value = 1.0 + (r + above_linear(r, (a - r) - b));
    // In two steps, because 2^k may be beyond the range of numbers.
    let k = k as i64;
    value * power_of_two(k >> 1) * power_of_two(k - (k >> 1))
}

/// Exponential.
#[inline]
pub fn exp(x: f64) -> f64 {
    exp_parts(x, 0.0)
}

/// exp(x) - 1, also for small `x`.
pub fn exp_m1(x: f64) -> f64 {
    match x.abs() < 0.35 {
        true => x + above_linear(x, 0.0),
        false => exp(x) - 1.0,
    }
}

/// x^y for `x` from 0 on; exactly `x` for the exponent 1.
#[inline]
pub fn pow(x: f64, y: f64) -> f64 {
    if y == 1.0 {
        return x;
    }
    if y == 0.0 {
        return 1.0;
    }
    if !(x > 0.0 && x < f64::INFINITY) {
        let is_large = (x == 0.0) == (y < 0.0);
        return match x == 0.0 || x == f64::INFINITY {
            true if is_large => f64::INFINITY,
            true => 0.0,
            false => f64::NAN,
        };
    }
    let (sum, rest) = ln_parts(x);
    let product = y * sum;
    let (y_head, sum_head) = (head(y), head(sum));
    let (y_tail, sum_tail) = (y - y_head, sum - sum_head);
    let lost = ((y_head * sum_head - product) + y_head * sum_tail) + y_tail * sum_head;
    exp_parts(product, (lost + y_tail * sum_tail) + y * rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_these_coefficients() {
        let there = include_str!("../kernels/elementary_coefficients.cuh");
        assert!(
            there == header(),
            "cargo run -p kirin-kit --example elementary"
        );
    }

    /// The distance of two numbers in units of the last place of the second.
    fn off(found: f64, exact: f64) -> f64 {
        let next = f64::from_bits(exact.abs().to_bits() + 1);
        (found - exact).abs() / (next - exact.abs())
    }

    /// Numbers at random between two powers of ten.
    fn numbers(from: f64, to: f64) -> impl Iterator<Item = f64> {
        let mut state = 1_u64;
        (0..20_000).map(move |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let part = (state >> 11) as f64 / (1_u64 << 53) as f64;
            10.0_f64.powf(from + part * (to - from))
        })
    }

    /// Limits of the distance from the C library, which is off by less than one unit itself.
    #[test]
    fn errors_are_some_units_of_the_last_place() {
        let mut worst = [0.0_f64; 7];
        let mut see = |k: usize, error: f64| worst[k] = worst[k].max(error);
        for x in numbers(-3.0, 3.0) {
            see(0, off(ln(x), x.ln()));
            see(1, off(ln_1p(x), x.ln_1p()));
            see(2, off(exp(-x), (-x).exp()));
            see(2, off(exp(0.7 * x), (0.7 * x).exp()));
            see(3, off(exp_m1(-x), (-x).exp_m1()));
            see(4, off(pow(x, 1.02), x.powf(1.02)));
            see(6, off(pow(x, -33.0), x.powf(-33.0)));
        }
        for x in numbers(-18.0, -2.0) {
            see(0, off(ln(1.0 - x), (1.0 - x).ln()));
            see(1, off(ln_1p(x), x.ln_1p()));
            see(1, off(ln_1p(-x), (-x).ln_1p()));
            see(3, off(exp_m1(x), x.exp_m1()));
            see(5, off(pow(x, 0.6), x.powf(0.6)));
        }
        let limits = [1.5, 1.5, 1.5, 2.5, 1.5, 1.5, 2.5];
        let within = worst
            .iter()
            .zip(&limits)
            .all(|(error, limit)| error < limit);
        assert!(within, "{worst:?}");
    }

    /// By 50 digits (Python's mpmath 1.3).
    #[test]
    fn values_are_those_of_many_digits() {
        for (found, exact) in [
            (ln(0.7), -0.35667494393873245),
            (ln(1.25), 0.22314355131420976),
            (ln(370000.0), 12.821258284620408),
            (ln(2.3e-07), -15.285186528023216),
            (ln_1p(0.001), 0.0009995003330835331),
            (ln_1p(0.35), 0.30010459245033805),
            (ln_1p(12.5), 2.6026896854443837),
            (exp(-0.3), 0.7408182206817179),
            (exp(-17.25), 3.2241867372567335e-08),
            (exp(45.6), 6.365439207178171e+19),
            (exp_m1(-0.001), -0.0009995001666250085),
            (exp_m1(0.3), 0.3498588075760031),
            (pow(0.6667, 1.02), 0.6613160517685078),
            (pow(8.3, -0.8), 0.183965983298503),
            (pow(0.01, 1.02), 0.009120108393559097),
        ] {
            assert!(off(found, exact) <= 1.0, "{found:e} {exact:e}");
        }
    }

    #[test]
    fn ends_of_the_range() {
        let (zero, infinite) = (0.0, f64::INFINITY);
        for (found, exact) in [
            (ln(zero), -infinite),
            (ln(infinite), infinite),
            (ln(1.0), 0.0),
            (ln_1p(infinite), infinite),
            (ln_1p(-1.0), -infinite),
            (ln_1p(1e-300), 1e-300),
            (exp(-infinite), zero),
            (exp(infinite), infinite),
            (exp(-1000.0), zero),
            (exp(1000.0), infinite),
            (exp(0.0), 1.0),
            (exp_m1(-infinite), -1.0),
            (pow(zero, 1.5), zero),
            (pow(zero, -1.5), infinite),
            (pow(infinite, 0.5), infinite),
            (pow(infinite, -2.0), zero),
            (pow(7.3, 1.0), 7.3),
            (pow(zero, 0.0), 1.0),
        ] {
            assert_eq!(found, exact);
        }
        let nan = f64::NAN;
        let bad = [
            ln(-1.0),
            ln(nan),
            exp(nan),
            exp_m1(nan),
            ln_1p(-2.0),
            pow(-1.0, 0.5),
            pow(nan, 2.0),
        ];
        assert!(bad.iter().all(|x| x.is_nan()), "{bad:?}");
        // Numbers that are not normal.
        assert!(off(exp(-744.0), (-744.0_f64).exp()) <= 1.0);
        assert!(off(ln(5e-324), 5e-324_f64.ln()) <= 1.0);
    }
}
