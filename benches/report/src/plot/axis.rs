//! The axes of a figure: positions of numbers on an axis, and the numbers beside it.

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences have equal lengths.
    #[default]
    Linear,
    /// Equal ratios have equal lengths.
    Logarithmic,
}

/// From this step on the numbers on a linear axis have powers of ten.
const LARGE: f64 = 1e6;

/// An axis: its range and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis on which all `values` have a place that can have one; finite in any case.
    pub(super) fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let usable = values.filter(|v| v.is_finite() && (scale == Scale::Linear || *v > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        let (low, high) = match scale {
            Scale::Linear if is_resolved(low, high) => (low, high),
            Scale::Linear if low <= high => {
                let room = 0.5_f64.max(1e-3 * low.abs());
                (low - room, high + room)
            }
            Scale::Linear => (0.0, 1.0),
            // Whole decades where there are several, else a little room on both sides.
            Scale::Logarithmic if low <= high && high / low > 30.0 => (
                10.0_f64.powf(low.log10().floor()),
                10.0_f64.powf(high.log10().ceil()),
            ),
            Scale::Logarithmic if low <= high => {
                let room = if high / low > 3.0 { 1.2 } else { 2.0 };
                (low / room, high * room)
            }
            Scale::Logarithmic => (0.1, 1.0),
        };
        Self { scale, low, high }
    }

    /// The same without the rest of whole decades: nothing of it is empty.
    pub(super) fn close_around(scale: Scale, values: impl Iterator<Item = f64> + Clone) -> Self {
        const ROOM: f64 = 1.15;
        let above_zero = values.clone().filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) =
            above_zero.fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
        match scale {
            Scale::Logarithmic if high > 30.0 * low => Self {
                scale,
                low: low / ROOM,
                high: high * ROOM,
            },
            _ => Self::around(scale, values),
        }
    }

    /// A linear axis with these ends.
    pub(super) fn between(low: f64, high: f64) -> Self {
        let scale = Scale::Linear;
        Self { scale, low, high }
    }

    /// A linear axis from 0 to a round number from `high` on.
    pub(super) fn from_zero(high: f64) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let step = round_step(high);
        let high = (high / step).ceil() * step;
        Self {
            scale: Scale::Linear,
            low: 0.0,
            high,
        }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high one. `None` where it has no place.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        place.is_finite().then_some(place)
    }

    /// Round numbers along the axis and their texts: not too many.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Logarithmic => self.logarithmic_ticks(),
        }
    }

    fn linear_ticks(&self) -> Vec<(f64, String)> {
        let step = round_step(self.high - self.low);
        // The step is 1, 2 or 5 times this.
        let decade = (step.log10() + 1e-9).floor() as i32;
        let factor = (step / 10.0_f64.powi(decade)).round();
        let digits = decade.min(0).unsigned_abs() as usize;
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|k| {
                let value = k as f64 * step;
                let text = if step >= LARGE {
                    power_of_ten(k as f64 * factor, decade)
                } else if step >= 1.0 {
                    let sign = if value < 0.0 { "−" } else { "" };
                    format!("{sign}{}", crate::text::grouped(value.abs() as u64))
                } else {
                    signed(format!("{value:.digits$}"))
                };
                (value, text)
            })
            .collect()
    }

    fn logarithmic_ticks(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.low.log10(), self.high.log10());
        let decades = last - first;
        // One tick for every `stride` decades; the steps between where decades are few.
        let stride = (decades / 6.0).ceil().max(1.0) as i32;
        let mantissas: &[f64] = if decades > 2.5 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let mut ticks = Vec::new();
        for decade in first.floor() as i32..=last.ceil() as i32 {
            if decade.rem_euclid(stride) != 0 {
                continue;
            }
            for mantissa in mantissas {
                let value = mantissa * 10.0_f64.powi(decade);
                if value >= self.low * (1.0 - 1e-9) && value <= self.high * (1.0 + 1e-9) {
                    ticks.push((value, *mantissa, decade));
                }
            }
        }
        // One kind of number on an axis.
        let long = ticks.iter().any(|tick| !(-3..=3).contains(&tick.2));
        let text = |(value, mantissa, decade)| (value, logarithmic_text(mantissa, decade, long));
        ticks.into_iter().map(text).collect()
    }
}

/// Whether doubles tell the values of a range apart.
fn is_resolved(low: f64, high: f64) -> bool {
    high - low > f64::MIN_POSITIVE.max(1e-12 * low.abs().max(high.abs()))
}

/// A step of 1, 2 or 5 times a power of ten that divides `range` into three to eight parts.
fn round_step(range: f64) -> f64 {
    let raw = range / 5.0;
    let power = 10.0_f64.powf(raw.log10().floor());
    let factor = match raw / power {
        r if r < 1.5 => 1.0,
        r if r < 3.5 => 2.0,
        r if r < 7.5 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// `0.02`, `50`, or `10^−9` where numbers would be `long`; a canvas raises what is behind `^`.
fn logarithmic_text(mantissa: f64, decade: i32, long: bool) -> String {
    let value = mantissa * 10.0_f64.powi(decade);
    match decade {
        0 => format!("{value}"),
        1..=3 if !long => format!("{value}"),
        -3..=-1 if !long => format!("{value:.*}", decade.unsigned_abs() as usize),
        _ => power_of_ten(mantissa, decade),
    }
}

/// `10^−9`, `2 · 10^−9` or `0`.
fn power_of_ten(mantissa: f64, decade: i32) -> String {
    let power = format!("10^{}", signed(decade.to_string()));
    match mantissa {
        0.0 => "0".to_owned(),
        1.0 => power,
        -1.0 => format!("−{power}"),
        _ => format!("{} · {power}", signed(mantissa.to_string())),
    }
}

/// `number` with a minus sign where it has a hyphen; no zero has either.
fn signed(number: String) -> String {
    match number.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| matches!(c, '0' | '.')) => zero.to_owned(),
        Some(absolute) => format!("−{absolute}"),
        None => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let axis = Axis::around(Scale::Linear, [0.0, 1.0].into_iter());
        assert_eq!(texts(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            texts(&Axis::from_zero(1234.0)),
            ["0", "200", "400", "600", "800", "1 000", "1 200", "1 400"]
        );
        assert_eq!(axis.place(0.25), Some(0.25));
        assert_eq!(texts(&Axis::between(-2500.0, 0.0))[0], "−2 500");
        let axis = Axis::between(-1.1, 1.1);
        assert_eq!(texts(&axis), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(
            texts(&Axis::from_zero(1.8e6)),
            ["0", "500 000", "1 000 000", "1 500 000", "2 000 000"]
        );
    }

    #[test]
    fn large_numbers_are_told_apart() {
        assert_eq!(
            texts(&Axis::from_zero(1e20)),
            [
                "0",
                "2 · 10^19",
                "4 · 10^19",
                "6 · 10^19",
                "8 · 10^19",
                "10 · 10^19"
            ]
        );
        assert_eq!(
            texts(&Axis::between(-1e8, 1e8)),
            ["−10 · 10^7", "−5 · 10^7", "0", "5 · 10^7", "10 · 10^7"]
        );
        for (value, expected) in [
            (
                1e16,
                [
                    "9990 · 10^12",
                    "9995 · 10^12",
                    "10000 · 10^12",
                    "10005 · 10^12",
                    "10010 · 10^12",
                ],
            ),
            (
                -1e16,
                [
                    "−10010 · 10^12",
                    "−10005 · 10^12",
                    "−10000 · 10^12",
                    "−9995 · 10^12",
                    "−9990 · 10^12",
                ],
            ),
        ] {
            let axis = Axis::around(Scale::Linear, [value, value].into_iter());
            assert_eq!(texts(&axis), expected);
            assert!((axis.place(value).unwrap() - 0.5).abs() < 1e-9);
        }
        // Values that differ by their last bit only, or by the least number.
        for pair in [[1e16, 1e16 + 2.0], [0.0, f64::from_bits(1)], [1e300, 1e300]] {
            let axis = Axis::around(Scale::Linear, pair.into_iter());
            let ticks = texts(&axis);
            assert!((3..12).contains(&ticks.len()), "{ticks:?}");
            assert!(ticks.windows(2).all(|pair| pair[0] != pair[1]), "{ticks:?}");
        }
    }

    #[test]
    fn logarithmic_ticks_are_decades() {
        let axis = Axis::around(Scale::Logarithmic, [0.0, 3e-12, 2e-9, f64::NAN].into_iter());
        assert_eq!(
            texts(&axis),
            ["10^−12", "10^−11", "10^−10", "10^−9", "10^−8"]
        );
        assert_eq!(axis.place(0.0), None);
        let middle = axis.place(1e-10).unwrap();
        assert!((middle - 0.5).abs() < 1e-12);
        let axis = Axis::around(Scale::Logarithmic, [2e-5, 5.0].into_iter());
        let expected = ["10^−5", "10^−4", "10^−3", "10^−2", "10^−1", "1", "10^1"];
        assert_eq!(texts(&axis), expected);
        let narrow = Axis::around(Scale::Logarithmic, [0.3, 2.9].into_iter());
        assert_eq!(texts(&narrow), ["0.5", "1", "2"]);
        assert_eq!(logarithmic_text(2.0, -5, true), "2 · 10^−5");
        assert_eq!(logarithmic_text(1.0, 12, true), "10^12");
    }

    #[test]
    fn a_close_axis_has_no_empty_decades() {
        let axis = Axis::close_around(Scale::Logarithmic, [1.0, 20.0, 1024.0].into_iter());
        assert_eq!(texts(&axis), ["1", "10", "100", "1000"]);
        assert!(axis.place(1.0).unwrap() > 0.01 && axis.place(1024.0).unwrap() > 0.97);
    }

    #[test]
    fn nothing_to_show_has_an_axis_all_the_same() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            assert!(!texts(&Axis::around(scale, [f64::NAN].into_iter())).is_empty());
            assert!(!texts(&Axis::around(scale, [3.0].into_iter())).is_empty());
        }
        assert!(!texts(&Axis::from_zero(0.0)).is_empty());
    }
}
