//! The irregular force in double precision. Neighbours are predicted one by one into arrays, and the arrays are
//! summed a vector at a time.

use std::ops::Range;

use super::simd::{Rows, Simd, Work};
use crate::force::irregular::{self, COINCIDENT, IrregularForce, NeighbourForce as Force};
use crate::sources::jmemory::PageArray;
use crate::sources::stars::{Star, Stars};

/// Neighbours whose rows are made before they are summed: few enough for the first cache.
const TOGETHER: usize = 64;

/// Neighbours that are fetched before the first is needed.
const AHEAD: usize = 128;

/// A coordinate at which a padding particle exerts no force: it is far away, and its square does not overflow.
const NOWHERE: f64 = 1e140;
const FAR: f64 = 1e279;

/// A neighbour at the time of the block: position, mass, velocity, nothing.
type Row = [f64; 8];

/// The backend for one instruction set.
pub struct Irregular<D>(D);

impl<D: Rows> Irregular<D> {
    /// The backend behind a token.
    pub fn boxed(d: D) -> Box<dyn IrregularForce> {
        Box::new(Self(d))
    }
}

impl<D: Rows> IrregularForce for Irregular<D> {
    unsafe fn forces(
        &self,
        stars: &Stars,
        ti: f64,
        run: Range<usize>,
        address: &dyn Fn(usize) -> usize,
        answer: &mut dyn FnMut(usize, &Force),
    ) {
        self.0.vectorize(Run {
            d: self.0,
            stars,
            ti,
            run,
            address,
            answer,
        });
    }
}

/// The forces on some stars. Who makes it vouches for the addresses, and for nobody writing to the stars.
struct Run<'a, D> {
    d: D,
    stars: &'a Stars,
    ti: f64,
    run: Range<usize>,
    address: &'a dyn Fn(usize) -> usize,
    answer: &'a mut dyn FnMut(usize, &Force),
}

impl<D: Rows> Work for Run<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let mut rows = [[0.0; 8]; TOGETHER];
        let mut distances = PageArray::default();
        for k in self.run {
            let address = (self.address)(k);
            let (d, stars, ti) = (self.d, self.stars, self.ti);
            let force = force(d, stars, ti, address, &mut rows, &mut distances);
            (self.answer)(k, &force);
        }
    }
}

/// The force on one star.
#[inline(always)]
fn force<D: Rows>(
    d: D,
    stars: &Stars,
    ti: f64,
    address: usize,
    rows: &mut [Row; TOGETHER],
    distances: &mut PageArray<f64>,
) -> Force {
    // SAFETY: who began the run vouches for it.
    let (star, list) = unsafe { (stars.star(address), stars.list(address)) };
    let first = stars.first();
    for &neighbour in list.iter().take(AHEAD) {
        fetch(d, first, neighbour);
    }
    let mut own = [0.0; 8];
    predict(d, star, ti, &mut own);
    let mut sums = Sums::new(d, &own);
    let mut nearest = None;
    let mut least = FAR;
    for neighbours in list.chunks(TOGETHER) {
        for (row, &neighbour) in rows.iter_mut().zip(neighbours) {
            // SAFETY: lists name addresses below the capacity.
            predict(d, unsafe { stars.star(neighbour as usize) }, ti, row);
        }
        let filled = neighbours.len().next_multiple_of(D::LANES);
        rows[neighbours.len()..filled].fill(EMPTY);
        let found = sums.add(&rows[..filled], distances);
        if found < least {
            least = found;
            let place = distances.iter().position(|&r2| r2 == found);
            nearest = place.and_then(|k| neighbours.get(k)).copied();
        }
    }
    // What was never written is massless, and somewhere: the loop does not look.
    // SAFETY: as above.
    let counts = |n: u32| n as usize != address && unsafe { stars.star(n as usize) }.present != 0.0;
    if nearest.is_some_and(|found| !counts(found)) {
        // SAFETY: passed on.
        nearest = unsafe { irregular::PlainIrregular::force(stars, ti, address) }.nearest;
    }
    sums.total(nearest)
}

const EMPTY: Row = [NOWHERE, NOWHERE, NOWHERE, 0.0, 0.0, 0.0, 0.0, 0.0];

/// Has a star fetched: two lines of the cache.
#[inline(always)]
fn fetch<D: Rows>(d: D, first: *const Star, neighbour: u32) {
    let star = first.wrapping_add(neighbour as usize);
    d.prefetch(star);
    d.prefetch(star.wrapping_byte_add(64));
}

/// A star as a row.
#[inline(always)]
fn predict<D: Rows>(d: D, star: &Star, ti: f64, row: &mut Row) {
    d.cubics(star.rows(), ti - star.time, row);
}

/// A star, in every lane, and the sums over its neighbours.
struct Sums<D: Simd> {
    d: D,
    x: [D::V; 3],
    v: [D::V; 3],
    acc: [D::V; 3],
    jerk: [D::V; 3],
}

impl<D: Rows> Sums<D> {
    #[inline(always)]
    fn new(d: D, own: &Row) -> Self {
        let zero = d.splat(0.0);
        Self {
            d,
            x: [d.splat(own[0]), d.splat(own[1]), d.splat(own[2])],
            v: [d.splat(own[4]), d.splat(own[5]), d.splat(own[6])],
            acc: [zero; 3],
            jerk: [zero; 3],
        }
    }

    /// Adds rows, leaves the squares of their distances, and returns the least.
    #[inline(always)]
    fn add(&mut self, rows: &[Row], distances: &mut PageArray<f64>) -> f64 {
        let d = self.d;
        let mut least = d.splat(f64::MAX);
        for (k, rows) in rows.chunks_exact(D::LANES).enumerate() {
            let [x, y, z, m, vx, vy, vz, _] = d.columns(rows);
            let r = [
                d.sub(x, self.x[0]),
                d.sub(y, self.x[1]),
                d.sub(z, self.x[2]),
            ];
            let v = [
                d.sub(vx, self.v[0]),
                d.sub(vy, self.v[1]),
                d.sub(vz, self.v[2]),
            ];
            let r2 = d.fma(r[2], r[2], d.fma(r[1], r[1], d.mul(r[0], r[0])));
            least = d.min(r2, least);
            // SAFETY: the rows are no more than a page has slots, in whole vectors.
            unsafe { d.store(distances, k * D::LANES, r2) };
            let y = d.select(d.le(d.splat(COINCIDENT), r2), d.root(r2), d.splat(0.0));
            let y2 = d.mul(y, y);
            let m_r3 = d.mul(d.mul(m, y), y2);
            let rv = d.fma(r[2], v[2], d.fma(r[1], v[1], d.mul(r[0], v[0])));
            let rv = d.mul(d.mul(rv, d.splat(-3.0)), y2);
            for k in 0..3 {
                self.acc[k] = d.fma(m_r3, r[k], self.acc[k]);
                self.jerk[k] = d.fma(m_r3, d.fma(rv, r[k], v[k]), self.jerk[k]);
            }
        }
        d.least(least)
    }

    #[inline(always)]
    fn total(self, nearest: Option<u32>) -> Force {
        let [x, y, z] = self.acc;
        let [jx, jy, jz] = self.jerk;
        let zero = self.d.splat(0.0);
        let [x, y, z, _, jx, jy, jz, _] = self.d.sums([&x, &y, &z, &zero, &jx, &jy, &jz]);
        Force {
            acc: [x, y, z],
            jerk: [jx, jy, jz],
            nearest,
        }
    }
}
