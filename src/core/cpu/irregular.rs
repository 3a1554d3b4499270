//! The irregular force in double precision. Neighbours are predicted and summed a vector at a time, or, where registers are few, predicted one
//! by one into rows, which are summed afterwards.

use std::ops::Range;

use super::simd::{Rows, Simd, Work};
use crate::force::irregular::{self, COINCIDENT, IrregularForce, NeighbourForce as Force};
use crate::sources::stars::{Star, Stars};

/// Neighbours whose rows are made before they are summed, and whose distances are compared at once: few enough for the first cache.
const TOGETHER: usize = 64;

/// The vectors of so many, where they have the fewest lanes.
const MOST_VECTORS: usize = TOGETHER / 2;

/// Neighbours of a star that are fetched while those of the star before are summed.
const AHEAD: usize = 128;

/// A coordinate at which a padding particle exerts no force: it is far away, and its square does not overflow.
const NOWHERE: f64 = 1e140;
const FAR: f64 = 1e279;

/// The rows of a [`Star`].
type Rows4 = [[f64; 4]; 4];

/// A star without mass that is nowhere, at any time.
const NOBODY: Rows4 = [
    [NOWHERE, NOWHERE, NOWHERE, 0.0],
    [0.0; 4],
    [0.0; 4],
    [0.0; 4],
];

/// A neighbour at the time of the block: position, mass, velocity, nothing.
type Row = [f64; 8];

/// [`NOBODY`].
const EMPTY: Row = [NOWHERE, NOWHERE, NOWHERE, 0.0, 0.0, 0.0, 0.0, 0.0];

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
        let mut distances = [self.d.splat(0.0); MOST_VECTORS];
        let (d, stars, ti, address) = (self.d, self.stars, self.ti, self.address);
        let list = |k| {
            // SAFETY: who began the run vouches for the addresses.
            let list = unsafe { stars.list(address(k)) };
            &list[..list.len().min(AHEAD)]
        };
        if !self.run.is_empty() {
            fetch(d, stars, list(self.run.start));
        }
        for k in self.run.clone() {
            let ahead = match k + 1 < self.run.end {
                true => list(k + 1),
                false => &[],
            };
            let force = force(d, stars, ti, (address(k), ahead), &mut rows, &mut distances);
            (self.answer)(k, &force);
        }
    }
}

/// The force on the star at an address. Meanwhile the stars `ahead` are fetched, which are needed next.
#[inline(always)]
fn force<D: Rows>(
    d: D,
    stars: &Stars,
    ti: f64,
    (address, mut ahead): (usize, &[u32]),
    rows: &mut [Row; TOGETHER],
    distances: &mut [D::V; MOST_VECTORS],
) -> Force {
    // SAFETY: who began the run vouches for it.
    let (star, list) = unsafe { (stars.star(address), stars.list(address)) };
    let mut sums = Sums::new(d, star, ti);
    let mut nearest = None;
    let mut least = FAR;
    for neighbours in list.chunks(TOGETHER) {
        if !D::MANY_REGISTERS {
            for (row, &neighbour) in rows.iter_mut().zip(neighbours) {
                // SAFETY: lists name addresses below the capacity.
                predict(d, unsafe { stars.star(neighbour as usize) }, ti, row);
            }
            let filled = neighbours.len().next_multiple_of(D::LANES);
            rows[neighbours.len()..filled].fill(EMPTY);
        }
        let mut closest = d.splat(f64::MAX);
        for (k, lanes) in neighbours.chunks(D::LANES).enumerate() {
            // SAFETY: as above.
            let rows_of = |k: usize| unsafe { stars.star(k) }.rows();
            let columns = if !D::MANY_REGISTERS {
                d.columns(&rows[k * D::LANES..][..D::LANES])
            } else if lanes.len() == D::LANES {
                d.cubics_at(|lane| rows_of(lanes[lane] as usize), ti)
            } else {
                let of_lane = |lane| lanes.get(lane).map_or(&NOBODY, |&k| rows_of(k as usize));
                d.cubics_at(of_lane, ti)
            };
            distances[k] = sums.add(columns);
            closest = d.min(distances[k], closest);
            // A few at a time: a processor that is asked for many lines at once waits.
            let (next, rest) = ahead.split_at(ahead.len().min(D::LANES));
            fetch(d, stars, next);
            ahead = rest;
        }
        let found = d.least(closest);
        if found < least {
            least = found;
            for (lanes, r2) in neighbours.chunks(D::LANES).zip(&*distances) {
                let bits = d.le_bits(*r2, d.splat(found));
                if bits != 0 {
                    nearest = lanes.get(bits.trailing_zeros() as usize).copied();
                    break;
                }
            }
        }
    }
    fetch(d, stars, ahead);
    // What was never written is massless, and somewhere: the loop does not look.
    // SAFETY: as above.
    let counts = |n: u32| n as usize != address && unsafe { stars.star(n as usize) }.present != 0.0;
    if nearest.is_some_and(|found| !counts(found)) {
        // SAFETY: passed on.
        nearest = unsafe { irregular::PlainIrregular::force(stars, ti, address) }.nearest;
    }
    sums.total(nearest)
}

/// Has stars fetched: two lines of the cache each.
#[inline(always)]
fn fetch<D: Rows>(d: D, stars: &Stars, list: &[u32]) {
    for &k in list {
        let star = stars.first().wrapping_add(k as usize);
        d.prefetch(star);
        d.prefetch(star.wrapping_byte_add(64));
    }
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
    fn new(d: D, star: &Star, ti: f64) -> Self {
        let mut own = EMPTY;
        predict(d, star, ti, &mut own);
        let zero = d.splat(0.0);
        Self {
            d,
            x: [d.splat(own[0]), d.splat(own[1]), d.splat(own[2])],
            v: [d.splat(own[4]), d.splat(own[5]), d.splat(own[6])],
            acc: [zero; 3],
            jerk: [zero; 3],
        }
    }

    /// Adds neighbours: position, mass and velocity of one in each lane. Returns the squares of their distances.
    #[inline(always)]
    fn add(&mut self, [x, y, z, m, vx, vy, vz, _]: [D::V; 8]) -> D::V {
        let d = self.d;
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
        let y = d.select(d.le(d.splat(COINCIDENT), r2), d.root(r2), d.splat(0.0));
        let y2 = d.mul(y, y);
        let m_r3 = d.mul(d.mul(m, y), y2);
        let rv = d.fma(r[2], v[2], d.fma(r[1], v[1], d.mul(r[0], v[0])));
        let rv = d.mul(d.mul(rv, d.splat(-3.0)), y2);
        for k in 0..3 {
            self.acc[k] = d.fma(m_r3, r[k], self.acc[k]);
            self.jerk[k] = d.fma(m_r3, d.fma(rv, r[k], v[k]), self.jerk[k]);
        }
        r2
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
