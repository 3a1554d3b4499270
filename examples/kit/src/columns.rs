//! The columns of tables of diagnostics. [`record!`](crate::record) declares a record and its columns once: the name and
//! the dimension of each column, the order of the numbers, and what stands for a column that an older file lacks.

use crate::galaxy::Units;

/// What the numbers of a column measure. It decides the unit of the column's copy in physical units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A number that has no copy in physical units: a count, a ratio, or an energy.
    Plain,
    /// A time, in Myr.
    Time,
    /// A length in the cluster, in pc.
    Length,
    /// A coordinate in the galaxy, in kpc.
    Position,
    /// A velocity, in km/s.
    Velocity,
    /// A mass, in solar masses.
    Mass,
    /// A density, in solar masses per cubic parsec.
    Density,
}

impl Dimension {
    /// What follows a column's name in physical units, and the factor to them.
    fn physical(self, units: &Units) -> Option<(&'static str, f64)> {
        Some(match self {
            Self::Plain => return None,
            Self::Time => ("_myr", units.time()),
            Self::Length => ("_pc", units.length),
            Self::Position => ("_kpc", units.to_kpc(1.0)),
            Self::Velocity => ("_km_s", units.velocity()),
            Self::Mass => ("_solar", units.mass),
            Self::Density => ("_solar_pc3", units.density()),
        })
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, as the first line of the table has it.
    pub name: &'static str,
    /// What its numbers measure.
    pub dimension: Dimension,
}

/// A field of a record that fills one or several columns.
pub trait Numbers: Sized {
    /// How many columns.
    const WIDTH: usize;

    /// Appends its numbers to `line`. Missing ones are NaN.
    fn write(&self, line: &mut Vec<f64>);

    /// The field of these [`WIDTH`](Self::WIDTH) numbers.
    fn read(numbers: &[f64]) -> Self;
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Numbers for $type {
            const WIDTH: usize = 1;

            fn write(&self, line: &mut Vec<f64>) {
                line.push(*self as f64);
            }

            fn read(numbers: &[f64]) -> Self {
                numbers[0] as $type
            }
        }
    )*};
}
number!(f64, u64, usize);

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    const WIDTH: usize = N * T::WIDTH;

    fn write(&self, line: &mut Vec<f64>) {
        for part in self {
            part.write(line);
        }
    }

    fn read(numbers: &[f64]) -> Self {
        std::array::from_fn(|k| T::read(&numbers[k * T::WIDTH..(k + 1) * T::WIDTH]))
    }
}

/// `None` is NaN in all columns.
impl<T: Numbers> Numbers for Option<T> {
    const WIDTH: usize = T::WIDTH;

    fn write(&self, line: &mut Vec<f64>) {
        match self {
            Some(value) => value.write(line),
            None => line.extend(std::iter::repeat_n(f64::NAN, T::WIDTH)),
        }
    }

    fn read(numbers: &[f64]) -> Self {
        let is_there = numbers.iter().any(|x| !x.is_nan());
        is_there.then(|| T::read(numbers))
    }
}

/// Declares a record and its columns. Each field has a type that is [`Numbers`](crate::columns::Numbers), the
/// [`Dimension`](crate::columns::Dimension) of its numbers, and the names of its columns. `or` gives
/// the number for columns that a file lacks; without it that is NaN. Fields after a semicolon are in no column.
///
/// The record gets `COLUMNS`, `numbers` and `from_columns`.
///
/// ```
/// kirin_kit::record! {
///     /// A cluster at one time.
///     #[derive(Debug, PartialEq)]
///     pub struct Moment {
///         /// Time.
///         t: f64 = Time ["time"],
///         /// Radii that hold 10 and 50 % of the mass.
///         radii: [f64; 2] = Length ["lagrangian_10", "lagrangian_50"],
///         /// Tidal radius; infinite where there is no tidal field.
///         tidal_radius: f64 = Length ["tidal_radius"] or f64::INFINITY,
///     }
/// }
/// let moment = Moment { t: 0.5, radii: [0.3, 0.8], tidal_radius: 4.0 };
/// assert_eq!(moment.numbers(), [0.5, 0.3, 0.8, 4.0]);
/// let place = |name| Moment::COLUMNS.iter().position(|column| column.name == name);
/// // A file of an earlier version ends with the radii.
/// let old = Moment::from_columns(|name| [0.5, 0.3, 0.8].get(place(name)?).copied());
/// assert_eq!(old, Moment { tidal_radius: f64::INFINITY, ..moment });
/// ```
#[macro_export]
macro_rules! record {
    (@missing) => { f64::NAN };
    (@missing $missing:expr) => { $missing };
    (
        $(#[$of_record:meta])*
        pub struct $record:ident {
            $(
                $(#[$of_field:meta])*
                $field:ident: $type:ty = $dimension:ident [$($column:literal),+ $(,)?] $(or $missing:expr)?,
            )+
            $(; $($(#[$of_other:meta])* $other:ident: $other_type:ty,)+)?
        }
    ) => {
        $(#[$of_record])*
        pub struct $record {
            $($(#[$of_field])* pub $field: $type,)+
            $($($(#[$of_other])* pub $other: $other_type,)+)?
        }

        impl $record {
            /// The columns, in the order of [`numbers`](Self::numbers).
            pub const COLUMNS: &'static [$crate::columns::Column] = &[$($($crate::columns::Column {
                name: $column,
                dimension: $crate::columns::Dimension::$dimension,
            },)+)+];

            /// A number for each of the [`COLUMNS`](Self::COLUMNS). Missing ones are NaN.
            pub fn numbers(&self) -> Vec<f64> {
                let mut line = Vec::with_capacity(Self::COLUMNS.len());
                $(
                    const { assert!(<$type as $crate::columns::Numbers>::WIDTH == [$($column),+].len()) };
                    $crate::columns::Numbers::write(&self.$field, &mut line);
                )+
                line
            }

            /// The record of a table that has these numbers: `number` returns `None` for a column that the table lacks.
            pub fn from_columns(
                number: impl Fn(&'static str) -> Option<f64>,
                $($($other: $other_type,)+)?
            ) -> Self {
                Self {
                    $($field: {
                        let missing = $crate::record!(@missing $($missing)?);
                        let numbers = [$($column),+].map(|name| number(name).unwrap_or(missing));
                        $crate::columns::Numbers::read(&numbers)
                    },)+
                    $($($other,)+)?
                }
            }
        }
    };
}

/// The columns of a table. If `units` are known, each column that has a dimension is repeated in Myr, pc, kpc, km/s
/// or solar masses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    names: Vec<String>,
    /// Place of the number that a further column repeats, and the factor.
    physical: Vec<(usize, f64)>,
    /// Places of the columns that are left out, from the last to the first.
    left_out: Vec<usize>,
}

impl Columns {
    /// These columns.
    pub fn new(columns: &[Column], units: Option<&Units>) -> Self {
        let mut all = Self {
            names: columns
                .iter()
                .map(|column| column.name.to_owned())
                .collect(),
            physical: Vec::new(),
            left_out: Vec::new(),
        };
        for (place, column) in columns.iter().enumerate() {
            if let Some((suffix, factor)) = units.and_then(|u| column.dimension.physical(u)) {
                all.names.push(format!("{}{suffix}", column.name));
                all.physical.push((place, factor));
            }
        }
        all
    }

    /// The same table without the columns that are always empty or 0. `has` tells whether the column of a name has
    /// anything to show. A column that is left out takes its copy in physical units with it.
    pub fn only(mut self, has: impl Fn(&str) -> bool) -> Self {
        let all = self.names.len();
        let first = all - self.physical.len();
        let source = |place: usize| match place.checked_sub(first) {
            Some(k) => self.physical[k].0,
            None => place,
        };
        let is_left_out = |place: &usize| !has(&self.names[source(*place)]);
        self.left_out = (0..all).rev().filter(is_left_out).collect();
        for place in &self.left_out {
            self.names.remove(*place);
        }
        self
    }

    /// All names.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// The numbers of a line with these `numbers`.
    pub fn line(&self, mut numbers: Vec<f64>) -> Vec<f64> {
        for (place, factor) in &self.physical {
            numbers.push(factor * numbers[*place]);
        }
        for place in &self.left_out {
            numbers.remove(*place);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        /// One field of each kind.
        #[derive(Debug, PartialEq)]
        pub struct Sample {
            /// A number with a unit.
            t: f64 = Time ["time"],
            /// A count.
            steps: u64 = Plain ["steps"],
            /// One of each dimension.
            radius: f64 = Length ["core_radius"],
            density: f64 = Density ["core_density"],
            mass: f64 = Mass ["mass"],
            /// Several columns.
            x: [f64; 2] = Position ["x", "y"],
            v: f64 = Velocity ["vx"] or 7.0,
            radii: Option<[[f64; 2]; 2]> = Length ["light_10", "light_50", "heavy_10", "heavy_50"],
            ;
            /// In no column.
            own: Vec<f64>,
        }
    }

    fn sample() -> Sample {
        Sample {
            t: 2.0,
            steps: 3,
            radius: 0.3,
            density: 1.0,
            mass: 0.5,
            x: [100.0, 200.0],
            v: 1.0,
            radii: Some([[0.1, 0.0], [0.3, f64::NAN]]),
            own: vec![4.0],
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let named = |record: &Sample, name: &str| {
            let place = Sample::COLUMNS.iter().position(|c| c.name == name)?;
            record.numbers().get(place).copied()
        };
        let record = Sample {
            radii: Some([[0.1, 0.0], [0.3, 0.4]]),
            ..sample()
        };
        assert_eq!(named(&record, "heavy_10"), Some(0.3));
        let again = Sample::from_columns(|name| named(&record, name), vec![4.0]);
        assert_eq!(again, record);
        let zeros = Sample {
            radii: Some([[0.0; 2]; 2]),
            ..sample()
        };
        let again = Sample::from_columns(|name| named(&zeros, name), vec![4.0]);
        assert_eq!(again, zeros);
        let none = Sample {
            radii: None,
            ..sample()
        };
        assert!(none.numbers()[8..].iter().all(|x| x.is_nan()));
        let again = Sample::from_columns(|name| named(&none, name), vec![4.0]);
        assert_eq!(again, none);
        // A file of another version.
        let old = Sample::from_columns(|name| (name == "time").then_some(2.0), Vec::new());
        assert_eq!((old.t, old.steps, old.v, old.radii), (2.0, 0, 7.0, None));
        assert!(old.radius.is_nan());
    }

    #[test]
    fn columns_stand_in_physical_units_beside() {
        let names: Vec<&str> = Sample::COLUMNS.iter().map(|c| c.name).collect();
        assert_eq!(Columns::new(Sample::COLUMNS, None).names(), names);
        let units = Units::default();
        let columns = Columns::new(Sample::COLUMNS, Some(&units));
        let more = "time_myr core_radius_pc core_density_solar_pc3 mass_solar x_kpc y_kpc vx_km_s \
                    light_10_pc light_50_pc heavy_10_pc heavy_50_pc";
        assert_eq!(columns.names()[names.len()..].join(" "), more);
        let line = columns.line(sample().numbers());
        // 16000 solar masses in (10 pc)^3
        let expected = [
            2.0 * units.time(),
            3.0,
            16.0,
            8000.0,
            1.0,
            2.0,
            units.velocity(),
            1.0,
        ];
        assert_eq!(line[names.len()..][..8], expected);
    }

    #[test]
    fn columns_without_numbers_are_left_out() {
        let columns = Columns::new(Sample::COLUMNS, Some(&Units::default()));
        let columns = columns.only(|name| ["time", "steps", "x"].contains(&name));
        assert_eq!(columns.names(), ["time", "steps", "x", "time_myr", "x_kpc"]);
        let line = columns.line(sample().numbers());
        assert_eq!((line.len(), line[1], line[4]), (5, 3.0, 1.0));
    }
}
