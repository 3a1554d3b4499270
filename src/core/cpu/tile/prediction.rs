//! The loop that predicts a page, for units and a grid that are given.

use super::super::grid::{GROUP, GROUPS};
use super::super::simd::{Real, Simd, Work};
use super::Tile;
use crate::sources::jmemory::{PAGE, Page};
use crate::sources::predictor::{Arithmetic, Coordinate};

/// What a prediction found.
pub(super) struct Greatest<T> {
    /// The greatest leading part of each group of slots.
    pub x: [f64; GROUPS],
    /// The greatest velocity component.
    pub v: T,
}

impl<T: Real> Greatest<T> {
    /// The greatest leading part and the greatest velocity component. What is no number does not count.
    #[inline(always)]
    pub fn over_all(&self) -> (f64, T) {
        let greater = |a: f64, b: f64| if b > a { b } else { a };
        // Pairs of pairs, which do not wait for each other.
        let x = self.x.map(|x| greater(0.0, x));
        let [a, b, c, d] = [0, 2, 4, 6].map(|k| greater(x[k], x[k + 1]));
        (greater(greater(a, b), greater(c, d)), self.v)
    }
}

impl<T: Real> Tile<T> {
    /// Predicts the slots below `end` with the present units and grid. Some slots from `end` on are predicted, too,
    /// but they do not count among the greatest numbers.
    #[inline(always)]
    pub(super) fn predict_in_units<S: Simd<T = T>, const SPLIT: bool>(
        &mut self,
        s: S,
        page: &Page,
        ti: f64,
        end: usize,
    ) -> Greatest<T> {
        s.vectorize(PredictInUnits::<S, SPLIT> {
            s,
            tile: self,
            page,
            ti,
            end,
        })
    }

    /// [`Tile::predict_in_units`] for one kind of page. With `SCALE` the numbers are multiplied by the units'
    /// factors. `AT_REST` is for particles that do not move, `SNAP` for particles with the fourth derivative of the
    /// position.
    #[inline(always)]
    fn predict_scaled<
        S: Simd<T = T>,
        const SPLIT: bool,
        const SCALE: bool,
        const AT_REST: bool,
        const SNAP: bool,
    >(
        &mut self,
        s: S,
        page: &Page,
        ti: f64,
        end: usize,
    ) -> Greatest<T> {
        let d = s.double();
        let a = Lanes(d);
        let now = d.splat(ti);
        let (length, velocity) = (d.splat(self.units.length), d.splat(self.units.velocity));
        let columns = [
            page.coordinate_columns(0),
            page.coordinate_columns(1),
            page.coordinate_columns(2),
        ];
        let rounder = d.splat(self.grid.rounder());
        let mut groups = [0.0; GROUPS];
        let mut greatest_x = s.splat(T::default());
        let mut greatest_v = greatest_x;
        let mut at = 0;
        assert!(end <= PAGE);
        while at < end {
            let is_last = end - at < S::LANES;
            let below = s.mask(((1_u64 << (end - at).min(S::LANES)) - 1) as u32);
            let mut interval = [now; 2];
            if !AT_REST {
                for (part, interval) in interval.iter_mut().enumerate().take(S::PARTS) {
                    // SAFETY: the lanes divide PAGE, and `at` is a multiple of them below it.
                    let t = unsafe { d.load(page.times(), at + part * S::Double::LANES) };
                    *interval = d.sub(now, t);
                }
            }
            for (k, c) in columns.iter().enumerate() {
                let mut x = [now; 2];
                let mut v = [now; 2];
                for part in 0..S::PARTS {
                    let at = at + part * S::Double::LANES;
                    if AT_REST {
                        // SAFETY: as above.
                        x[part] = unsafe { d.load(c.x, at) };
                        if SCALE {
                            x[part] = d.mul(x[part], length);
                        }
                        v[part] = d.splat(0.0);
                        continue;
                    }
                    // SAFETY: as above.
                    let c = unsafe {
                        Coordinate {
                            x: d.load(c.x, at),
                            v: d.load(c.v, at),
                            aby2: d.load(c.aby2, at),
                            a1by6: d.load(c.a1by6, at),
                            a2by18: match c.a2by18 {
                                Some(column) if SNAP => Some(d.load(column, at)),
                                _ => None,
                            },
                        }
                    };
                    x[part] = c.position(a, interval[part]);
                    v[part] = c.velocity(a, interval[part]);
                    if SCALE {
                        x[part] = d.mul(x[part], length);
                        v[part] = d.mul(v[part], velocity);
                    }
                }
                if SPLIT {
                    let mut low = x;
                    for part in 0..S::PARTS {
                        // The difference is exact; it needs no conversion back to double precision.
                        x[part] = d.sub(d.add(x[part], rounder), rounder);
                        x[part] = s.leading(x[part]);
                        low[part] = d.sub(low[part], x[part]);
                    }
                    // SAFETY: as above.
                    unsafe { s.store(&mut self.x_low[k], at, s.narrow(low)) };
                }
                let (mut high, mut v) = (s.narrow(x), s.narrow(v));
                // SAFETY: as above.
                unsafe {
                    s.store(&mut self.x[k], at, high);
                    s.store(&mut self.v[k], at, v);
                }
                if is_last {
                    let zero = s.splat(T::default());
                    (high, v) = (s.select(below, high, zero), s.select(below, v, zero));
                }
                greatest_x = s.greater_magnitude(high, greatest_x);
                greatest_v = s.greater_magnitude(v, greatest_v);
            }
            at += S::LANES;
            if at % GROUP == 0 || at >= end {
                groups[(at - 1) / GROUP] = s.greatest(greatest_x).to_f64();
                greatest_x = s.splat(T::default());
            }
        }
        Greatest {
            x: groups,
            v: s.greatest(greatest_v),
        }
    }
}

/// [`Tile::predict_in_units`].
struct PredictInUnits<'a, S: Simd, const SPLIT: bool> {
    s: S,
    tile: &'a mut Tile<S::T>,
    page: &'a Page,
    ti: f64,
    end: usize,
}

impl<S: Simd, const SPLIT: bool> Work for PredictInUnits<'_, S, SPLIT> {
    type Output = Greatest<S::T>;
    #[inline(always)]
    fn run(self) -> Greatest<S::T> {
        let Self {
            s,
            tile,
            page,
            ti,
            end,
        } = self;
        let rest = page.is_at_rest() && ti.is_finite();
        let snap = page.coordinate_columns(0).a2by18.is_some();
        match (tile.units.are_plain(), rest, snap) {
            (true, true, _) => {
                tile.predict_scaled::<S, SPLIT, false, true, false>(s, page, ti, end)
            }
            (false, true, _) => {
                tile.predict_scaled::<S, SPLIT, true, true, false>(s, page, ti, end)
            }
            (true, false, false) => {
                tile.predict_scaled::<S, SPLIT, false, false, false>(s, page, ti, end)
            }
            (false, false, false) => {
                tile.predict_scaled::<S, SPLIT, true, false, false>(s, page, ti, end)
            }
            (true, false, true) => {
                tile.predict_scaled::<S, SPLIT, false, false, true>(s, page, ti, end)
            }
            (false, false, true) => {
                tile.predict_scaled::<S, SPLIT, true, false, true>(s, page, ti, end)
            }
        }
    }
}

/// The predictor's arithmetic on vectors.
#[derive(Clone, Copy)]
pub struct Lanes<D>(pub D);

impl<D: Simd<T = f64>> Arithmetic for Lanes<D> {
    type N = D::V;
    #[inline(always)]
    fn constant(self, x: f64) -> D::V {
        self.0.splat(x)
    }
    #[inline(always)]
    fn sum(self, a: D::V, b: D::V) -> D::V {
        self.0.add(a, b)
    }
    #[inline(always)]
    fn product(self, a: D::V, b: D::V) -> D::V {
        self.0.mul(a, b)
    }
    #[inline(always)]
    fn stored_at_zero(self, s: D::V, stored: D::V, moved: D::V) -> D::V {
        self.0.select(self.0.nonzero(s), moved, stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_counts_among_the_greatest() {
        for k in 0..GROUPS {
            let mut x = [0.5; GROUPS];
            (x[k], x[(k + 1) % GROUPS]) = (2.0, f64::NAN);
            assert_eq!(Greatest { x, v: 0.0 }.over_all(), (2.0, 0.0));
        }
    }
}
