//! Sources of NBODY6's regular force and potential as the kernels read them: 512 consecutive addresses, split
//! into a high and a low part where the elements are single precision.

use super::super::simd::{Real, Simd, Wide, Work};
use crate::force::regular::{Criterion, Incoming, SourcePage};
use crate::force::scaling::{self, LENGTHS, VELOCITIES};
use crate::sources::jmemory::{PAGE, PageArray};

/// The sources at `PAGE` addresses.
pub struct Tile<T> {
    /// Positions: their leading digits, or rounded to `T` where there is no low part.
    pub x: [PageArray<T>; 3],
    /// What the leading digits left of the positions.
    pub x_low: [PageArray<T>; 3],
    /// Velocities.
    pub v: [PageArray<T>; 3],
    /// Masses in units of the first, so that equal masses are exact. Zero where there is no source.
    pub m: PageArray<T>,
    /// Whether each slot has one, of 1.
    pub equal: bool,
    /// The unit of the masses.
    pub unit: f64,
    /// The greatest component of a velocity.
    pub fastest: f64,
    /// Whether `T` has the range for all of it, and the masses the sign for the loop.
    pub representable: bool,
}

impl<T: Copy + Default> Default for Tile<T> {
    fn default() -> Self {
        let zero = [PageArray::default(); 3];
        Self {
            x: zero,
            x_low: zero,
            v: zero,
            m: PageArray::default(),
            equal: false,
            unit: 1.0,
            fastest: 0.0,
            representable: true,
        }
    }
}

impl<T: Real> Tile<T> {
    /// What h2 is multiplied with for the source in a slot.
    #[inline(always)]
    pub fn factor(&self, slot: usize, criterion: Criterion) -> f64 {
        match criterion {
            Criterion::Radius => 1.0,
            Criterion::MassAndRadius => self.m[slot].to_f64(),
        }
    }
}

/// Makes a tile of a page of sources, which come from the client first, or are there.
pub struct Load<'a, S: Simd, const SPLIT: bool> {
    /// The instruction set.
    pub s: S,
    /// The sources, and the address of the page's first.
    pub from: Source<'a>,
    /// The tile.
    pub tile: &'a mut Tile<S::T>,
}

/// Where a tile's sources come from.
pub enum Source<'a> {
    /// From the client, by way of the page.
    Client(&'a mut SourcePage, &'a Incoming<'a>, usize),
    /// From a page, with as many sources as are told.
    Page(&'a SourcePage, usize),
}

impl<S: Simd, const SPLIT: bool> Work for Load<'_, S, SPLIT> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { s, from, tile } = self;
        let (page, count) = match from {
            Source::Page(page, count) => (page, count),
            Source::Client(page, incoming, first) => {
                page.load(incoming, first);
                (&*page, incoming.m.len() - first)
            }
        };
        let mut farthest = S::T::default();
        let mut fastest = S::T::default();
        for k in 0..3 {
            let zero = s.splat(S::T::default());
            let (mut far, mut fast) = (zero, zero);
            for at in (0..PAGE).step_by(S::LANES) {
                // SAFETY: the lanes divide PAGE, and `at` is a multiple of them below it.
                unsafe {
                    let mut x = wide(s, &page.x[k], at);
                    if SPLIT {
                        let mut low = x;
                        for part in 0..S::PARTS {
                            x[part] = s.leading(x[part]);
                            low[part] = s.double().sub(low[part], x[part]);
                        }
                        s.store(&mut tile.x_low[k], at, s.narrow(low));
                    }
                    let high = s.narrow(x);
                    s.store(&mut tile.x[k], at, high);
                    far = s.greater_magnitude(high, far);
                    let v = s.narrow(wide(s, &page.v[k], at));
                    s.store(&mut tile.v[k], at, v);
                    fast = s.greater_magnitude(v, fast);
                }
            }
            farthest = greater(farthest, s.greatest(far));
            fastest = greater(fastest, s.greatest(fast));
        }
        let masses = &page.m[..count.min(PAGE)];
        let (unit, representable) = match S::T::IS_DOUBLE {
            true => (1.0, true),
            false => scaling::of_masses(masses),
        };
        let inverse = 1.0 / unit;
        for (to, m) in tile.m.iter_mut().zip(page.m.iter()) {
            *to = S::T::from_f64(m * inverse);
        }
        let one = S::T::from_f64(1.0);
        tile.equal = tile.m.iter().fold(true, |all, &m| all & (m == one));
        tile.unit = unit;
        tile.fastest = fastest.to_f64();
        let in_range = S::T::IS_DOUBLE
            || representable && farthest.to_f64() <= LENGTHS.1 && tile.fastest <= VELOCITIES.1;
        // A negative mass times h2 bounds nothing: the loop would take the target itself for a source.
        tile.representable = in_range && scaling::none_is_negative(masses);
    }
}

fn greater<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// As many numbers of double precision as a vector has elements.
///
/// # Safety
///
/// `at + LANES <= PAGE`.
#[inline(always)]
unsafe fn wide<S: Simd>(s: S, from: &[f64; PAGE], at: usize) -> [Wide<S>; 2] {
    let d = s.double();
    let mut parts = [d.splat(0.0); 2];
    for (part, to) in parts.iter_mut().enumerate().take(S::PARTS) {
        // SAFETY: passed on: the parts hold as many elements as the vector.
        *to = unsafe { d.load(from, at + part * S::Double::LANES) };
    }
    parts
}
