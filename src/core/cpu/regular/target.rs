//! A target in the units and the precision of a tile, and bounds for its rounding errors. If the distance of a source
//! differs from the neighbour radius by less than these bounds, a pair loop cannot decide whether the source is a
//! neighbour.

use super::super::simd::{Real, leading};
use super::tile::Tile;
use crate::force::regular::{Criterion, Pair, Target};
use crate::force::scaling::FARTHEST;
use crate::process::settings::Precision;
use crate::sources::jmemory::PageArray;

/// The loop treats a source as a possible neighbour if its s is below (1 + `DOUBT`) h2 + `ABSOLUTE` e^2. Here e is the
/// absolute error of a distance. The reason: the computed distance of a neighbour is below sqrt(h2) + e, whose square
/// is h2 + 2 e sqrt(h2) + e^2. For any t, 2 e sqrt(h2) <= t h2 + e^2 / t; t is 1 / 4096. Rounding relative to s adds
/// another t.
///
/// If no particle moves far in dtr, the loop computes |r|^2 + 2 dtr (r.v) in place of |r + dtr v|^2: one operation
/// instead of six. The result is less by dtr^2 v^2. So the loop may count sources as neighbours whose r is up to
/// `sqrt(h2) + 2 w`, where w is the greatest distance that a source moves in dtr, relative to the target. The argument
/// above then gives 2 t h2 and `ON_THE_WAY` w^2.
const DOUBT: f64 = 1.0 / 512.0;
const ABSOLUTE: f64 = 4200.0;
const ON_THE_WAY: f64 = 1.0 / 128.0;

/// What an element type loses.
struct Errors {
    /// Absolute error of a coordinate of r, for each unit of the target's distance from the origin.
    position: f64,
    /// The same of dtr v, for each unit of dtr and of the greatest velocity.
    ahead: f64,
    /// Pairs at less than this part of the target's distance from the origin need more digits.
    close: f64,
    /// Pairs closer than this may overflow r^-3.
    closest: f64,
}

impl Errors {
    /// With room for factors of a few: three coordinates, two particles.
    const fn of<T: Real, const SPLIT: bool>() -> Self {
        const fn power(n: i32) -> f64 {
            f64::from_bits(((1023 + n) as u64) << 52)
        }
        match (T::IS_DOUBLE, SPLIT) {
            (true, _) => Self {
                position: power(-49),
                ahead: power(-48),
                close: 0.0,
                closest: 1e-100,
            },
            (false, true) => Self {
                position: power(-45),
                ahead: power(-19),
                close: power(-20),
                closest: 1e-8,
            },
            (false, false) => Self {
                position: power(-21),
                ahead: power(-19),
                close: 0.0,
                closest: 1e-8,
            },
        }
    }
}

/// The band of distances in which a pair loop, here or on a GPU, cannot decide whether a source is a target's
/// neighbour. Its outer end is at s = (1 + `OF_H2`) h2 + `OF_ERROR` e^2 + `closest2`. Where the loop computes |r|^2 + 2
/// dtr (r.v), that end is larger by `OF_WAY` w^2.
pub struct UncertainBand {
    /// Absolute error e of a distance from the target, with sources at rest,
    pub error: f64,
    /// and what comes to that for each unit of the greatest component of a velocity.
    pub error_of_speed: f64,
    /// Square of the distance within which pairs need more digits; not a number where all do.
    pub closest2: f64,
    /// The target's speed.
    pub speed: f64,
}

impl UncertainBand {
    /// The relative part.
    pub const OF_H2: f64 = DOUBT;
    /// The factor of e^2.
    pub const OF_ERROR: f64 = ABSOLUTE;
    /// That of w^2, where w is the farthest way in dtr.
    pub const OF_WAY: f64 = ON_THE_WAY;

    /// That on a target, in loops of a precision.
    pub fn of(target: &Target, precision: Precision) -> Self {
        match precision {
            Precision::Mixed => Self::about(&Scaled::<f32>::new::<true>(target)),
            Precision::Single | Precision::Reduced => {
                Self::about(&Scaled::<f32>::new::<false>(target))
            }
            Precision::Double | Precision::DoubleSingle => {
                Self::about(&Scaled::<f64>::new::<false>(target))
            }
        }
    }

    fn about<T: Real>(scaled: &Scaled<T>) -> Self {
        let [at_rest, of_speed] = scaled.errors;
        Self {
            error: at_rest + of_speed * scaled.speed,
            error_of_speed: of_speed,
            closest2: match scaled.representable {
                true => scaled.closest2,
                false => f64::NAN,
            },
            speed: scaled.speed,
        }
    }
}

/// A target in the numbers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<T> {
    /// Position: its leading digits, or rounded to `T` where there is no low part.
    pub x: [T; 3],
    /// What the leading digits left of the position.
    pub x_low: [T; 3],
    /// Velocity.
    pub v: [T; 3],
    /// Regular step.
    pub dtr: T,
    h2: f64,
    /// Absolute error of a distance from it, at rest, and for each unit of the greatest velocity.
    errors: [f64; 2],
    speed: f64,
    closest2: f64,
    /// Whether `T` has the range for it, and the neighbour test is one.
    pub representable: bool,
}

impl<T: Real> Scaled<T> {
    /// The target in elements of the loop.
    #[inline(always)]
    pub fn new<const SPLIT: bool>(target: &Target) -> Self {
        let errors = const { Errors::of::<T, SPLIT>() };
        let Target { x, v, h2, dtr } = target;
        let high = if SPLIT { x.map(leading::<T>) } else { *x };
        let norm = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
        let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
        let close = errors.close * norm;
        Self {
            x: high.map(T::from_f64),
            x_low: [0, 1, 2].map(|k| T::from_f64(x[k] - high[k])),
            v: v.map(T::from_f64),
            dtr: T::from_f64(*dtr),
            h2: *h2,
            errors: [errors.position * norm, errors.ahead * dtr.abs()],
            speed,
            closest2: close * close + errors.closest * errors.closest,
            representable: (T::IS_DOUBLE || norm <= FARTHEST && speed <= FARTHEST)
                && *h2 >= 0.0
                && !dtr.is_nan(),
        }
    }

    /// What the sources of a tile are compared with.
    #[inline(always)]
    pub fn bounds(&self, tile: &Tile<T>, criterion: Criterion) -> Bounds {
        let error = self.errors[0] + self.errors[1] * (self.speed + tile.fastest);
        let absolute = ABSOLUTE * error * error;
        // `fastest` is that of a component.
        let way = self.dtr.to_f64() * (self.speed + 2.0 * tile.fastest);
        let h2 = match criterion {
            Criterion::Radius => self.h2,
            Criterion::MassAndRadius => self.h2 * tile.unit,
        };
        // Up to the neighbour radius hardly more sources are looked at again than are neighbours.
        let far = way * way > h2;
        let on_the_way = if far { 0.0 } else { ON_THE_WAY * way * way };
        // What underflows in s is no measure of anything.
        let vanishing = if T::IS_DOUBLE { 1e-300 } else { 1e-36 };
        let possible = (h2 * (1.0 + DOUBT), absolute + self.closest2);
        Bounds {
            far,
            in_the_loop: (possible.0, possible.1 + on_the_way),
            possible,
            certain: (h2 * (1.0 - DOUBT), -absolute - vanishing),
        }
    }
}

impl<T: Real> Scaled<T> {
    /// A source as the loop sees it.
    #[inline(always)]
    pub fn pair<'a>(&self, tile: &Tile<T>, slot: usize, target: &'a Target) -> Pair<'a> {
        let difference = |column: &PageArray<T>, own: T| column[slot].to_f64() - own.to_f64();
        let mut r = [0.0; 3];
        let mut v = [0.0; 3];
        for k in 0..3 {
            r[k] = difference(&tile.x[k], self.x[k]) + difference(&tile.x_low[k], self.x_low[k]);
            v[k] = difference(&tile.v[k], self.v[k]);
        }
        Pair::of(r, v, tile.m[slot].to_f64() * tile.unit, target)
    }
}

/// What the sources of a tile are compared with: a factor of their mass, or 1, and a constant.
pub struct Bounds {
    /// Whether something may move far.
    pub far: bool,
    /// Beyond which s, or what the loop takes for it, a source is no neighbour, and not close.
    pub in_the_loop: (f64, f64),
    /// The same for s itself.
    pub possible: (f64, f64),
    /// Below which it is a neighbour for certain.
    pub certain: (f64, f64),
}
