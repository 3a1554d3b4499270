//! The particles of one page as the kernels read them: predicted, scaled, and
//! split into a high and a low part where the elements are single precision.

use super::simd::{Real, Sums};
use crate::jmemory::{Column, PAGE, Page};

/// Slots predicted at a time, so that the intermediate numbers stay close to the processor.
const CHUNK: usize = 64;

/// Coordinates are left as they are while the largest of a tile lies in this range.
/// Outside it single precision could overflow in r^-3 or lose small terms.
const LENGTHS: (f64, f64) = (1.0 / 256.0, 16_777_216.0);
/// The same for velocities, which enter linearly.
const VELOCITIES: (f64, f64) = (1.0 / 16_777_216.0, 16_777_216.0);

/// The powers of two (and the mass) that the numbers of a tile were multiplied or divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Positions are multiplied by it.
    pub length: f64,
    /// Velocities are multiplied by it.
    pub velocity: f64,
    /// Masses are divided by it: the largest of the page, so that equal masses are exact.
    pub mass: f64,
}

impl Units {
    /// The client's units.
    pub const PLAIN: Self = Self {
        length: 1.0,
        velocity: 1.0,
        mass: 1.0,
    };

    /// What turns the sums of a leaf into acceleration, potential and jerk, where the
    /// kernel computed `scale` / r instead of 1 / r.
    #[inline(always)]
    pub fn factors(&self, scale: f64) -> Sums {
        let l = self.length / scale;
        let acc = self.mass * (l * l / scale);
        let jerk = self.mass * (l * l * l / self.velocity);
        let pot = -self.mass * l;
        [acc, acc, acc, pot, jerk, jerk, jerk, 0.0]
    }

    /// Whether lengths and velocities are in the client's units.
    #[inline(always)]
    pub fn are_plain(&self) -> bool {
        self.length == 1.0 && self.velocity == 1.0
    }
}

/// What a tile was predicted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    version: u64,
    ti: u64,
}

/// One page, ready for the kernels.
#[repr(C, align(64))]
pub struct Tile<T> {
    /// Positions, rounded to `T`.
    pub x: [Column<T>; 3],
    /// What the rounding left of the positions.
    pub x_low: [Column<T>; 3],
    /// Velocities.
    pub v: [Column<T>; 3],
    /// Masses.
    pub m: Column<T>,
    /// What the numbers above were scaled by.
    pub units: Units,
    stamp: Option<Stamp>,
    mass_version: Option<u64>,
}

impl<T: Real> Tile<T> {
    /// A tile that was never predicted.
    pub fn new() -> Box<Self> {
        let zero = [Column::default(); 3];
        Box::new(Self {
            x: zero,
            x_low: zero,
            v: zero,
            m: zero[0],
            units: Units::PLAIN,
            stamp: None,
            mass_version: None,
        })
    }

    /// Whether the tile holds `page` predicted to `ti`.
    #[inline(always)]
    pub fn is_fresh(&self, page: &Page, ti: f64) -> bool {
        self.stamp == Some(Self::stamp(page, ti))
    }

    fn stamp(page: &Page, ti: f64) -> Stamp {
        Stamp {
            version: page.version(),
            ti: ti.to_bits(),
        }
    }

    /// Predicts `page` to `ti`. Compiled for the instruction set of the caller.
    #[inline(always)]
    pub fn predict(&mut self, page: &Page, ti: f64) {
        if self.mass_version != Some(page.mass_version()) {
            self.load_masses(page);
        }
        self.units.length = 1.0;
        self.units.velocity = 1.0;
        let (x, v) = self.predict_scaled(page, ti);
        // Double precision has range enough.
        if size_of::<T>() < size_of::<f64>()
            && (outside(x.to_f64(), LENGTHS) || outside(v.to_f64(), VELOCITIES))
        {
            self.rescale(page, ti);
        }
        self.stamp = Some(Self::stamp(page, ti));
    }

    /// Predicts with the present units; returns the largest coordinate and velocity component.
    #[inline(always)]
    fn predict_scaled(&mut self, page: &Page, ti: f64) -> (T, T) {
        let Units {
            length, velocity, ..
        } = self.units;
        let mut greatest_x = [T::default(); CHUNK];
        let mut greatest_v = [T::default(); CHUNK];
        for first in (0..PAGE).step_by(CHUNK) {
            let mut x = [[0.0; CHUNK]; 3];
            let mut v = [[0.0; CHUNK]; 3];
            page.predict_positions(ti, first, &mut x);
            page.predict_velocities(ti, first, &mut v);
            for k in 0..3 {
                let high = &mut self.x[k][first..first + CHUNK];
                let low = &mut self.x_low[k][first..first + CHUNK];
                for l in 0..CHUNK {
                    let scaled = x[k][l] * length;
                    high[l] = T::from_f64(scaled);
                    low[l] = T::from_f64(scaled - high[l].to_f64());
                    greatest_x[l] = greater(high[l], greatest_x[l]);
                }
                let out = &mut self.v[k][first..first + CHUNK];
                for l in 0..CHUNK {
                    out[l] = T::from_f64(v[k][l] * velocity);
                    greatest_v[l] = greater(out[l], greatest_v[l]);
                }
            }
        }
        let greatest = |all: [T; CHUNK]| all.into_iter().fold(T::default(), |a, b| greater(b, a));
        (greatest(greatest_x), greatest(greatest_v))
    }

    /// Predicts again, in units in which the numbers are of order one.
    #[cold]
    #[inline(never)]
    fn rescale(&mut self, page: &Page, ti: f64) {
        let mut greatest_x = 0.0;
        let mut greatest_v = 0.0;
        for first in (0..PAGE).step_by(CHUNK) {
            let mut x = [[0.0; CHUNK]; 3];
            let mut v = [[0.0; CHUNK]; 3];
            page.predict_positions(ti, first, &mut x);
            page.predict_velocities(ti, first, &mut v);
            let finite = |a: [[f64; CHUNK]; 3], start: f64| {
                let all = a.into_iter().flatten().filter(|c| c.is_finite());
                all.fold(start, |m: f64, c| m.max(c.abs()))
            };
            greatest_x = finite(x, greatest_x);
            greatest_v = finite(v, greatest_v);
        }
        if outside(greatest_x, LENGTHS) {
            self.units.length = inverse_power_of_two(greatest_x);
        }
        if outside(greatest_v, VELOCITIES) {
            self.units.velocity = inverse_power_of_two(greatest_v);
        }
        self.predict_scaled(page, ti);
    }

    #[inline(always)]
    fn load_masses(&mut self, page: &Page) {
        let greatest = page
            .mass()
            .iter()
            .fold(0.0_f64, |m, c| if c.abs() > m { c.abs() } else { m });
        let mut unit = greatest;
        let mut inverse = 1.0 / greatest;
        if !(inverse.is_normal() && greatest.is_normal()) {
            (unit, inverse) = (1.0, 1.0);
        }
        if size_of::<T>() == size_of::<f64>() {
            (unit, inverse) = (1.0, 1.0); // double precision holds any mass
        }
        self.units.mass = unit;
        for (m, &mass) in self.m.iter_mut().zip(page.mass()) {
            *m = T::from_f64(mass * inverse);
        }
        self.mass_version = Some(page.mass_version());
    }
}

/// The larger of |a| and b.
#[inline(always)]
fn greater<T: Real>(a: T, b: T) -> T {
    let a = a.abs();
    if a > b { a } else { b }
}

fn outside(value: f64, (least, most): (f64, f64)) -> bool {
    value != 0.0 && !(least..=most).contains(&value)
}

/// A power of two that brings `value` close to 1.
fn inverse_power_of_two(value: f64) -> f64 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    2.0_f64.powi(-exponent.clamp(-1000, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jmemory::JMemory;
    use crate::particle::JParticle;

    fn page_of(x: f64, v: f64, m: f64) -> JMemory {
        let mut memory = JMemory::default();
        for a in 0..3 {
            let f = f64::from(a + 1) / 3.0;
            let p = JParticle {
                index: a,
                mass: m,
                x: [x * f, -x * f, 0.0],
                v: [v * f, 0.0, v],
                ..Default::default()
            };
            memory.write(a, &p).unwrap();
        }
        memory
    }

    #[test]
    fn high_and_low_part_hold_48_bits_at_any_scale() {
        for x in [1e-30, 1e-3, 1.0, 3e18, 1e200] {
            for v in [0.0, 1e-30, 1.0, 1e30] {
                let memory = page_of(x, v, 1.0 / 3000.0);
                let mut tile = Tile::<f32>::new();
                tile.predict(memory.page(0), 0.0);
                for slot in 0..3 {
                    let p = memory.page(0).particle(slot);
                    for k in 0..3 {
                        let sum = f64::from(tile.x[k][slot]) + f64::from(tile.x_low[k][slot]);
                        let back = sum / tile.units.length;
                        assert!((back - p.x[k]).abs() <= p.x[k].abs() * 2.0_f64.powi(-48));
                        let back = f64::from(tile.v[k][slot]) / tile.units.velocity;
                        assert!((back - p.v[k]).abs() <= p.v[k].abs() * 2.0_f64.powi(-24));
                    }
                    assert_eq!(tile.m[slot], 1.0, "equal masses are exact");
                }
                assert_eq!(tile.units.mass, 1.0 / 3000.0);
            }
        }
    }

    #[test]
    fn a_tile_is_fresh_until_time_or_page_change() {
        let mut memory = page_of(1.0, 1.0, 1.0);
        let mut tile = Tile::<f64>::new();
        assert!(!tile.is_fresh(memory.page(0), 0.0));
        tile.predict(memory.page(0), 0.0);
        assert!(tile.is_fresh(memory.page(0), 0.0));
        assert!(!tile.is_fresh(memory.page(0), 0.5));
        memory.write(1, &JParticle::default()).unwrap();
        assert!(!tile.is_fresh(memory.page(0), 0.0));
    }
}
