//! The stars of one rank, an array for each quantity, and the views of them that a phase uses.

use rayon::prelude::*;

use crate::partition::BIN;
use crate::random::Stream;

/// Bins that one thread takes at a time.
pub const BINS_AT_A_TIME: usize = 32;
const STARS_AT_A_TIME: usize = BINS_AT_A_TIME * BIN;

/// Numbers of a star in a message or a file.
pub const WORDS: usize = 7;

/// Stars, sorted by radius between steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stars {
    /// Label that stays with the star.
    pub id: Vec<u64>,
    /// Mass; 0 for a star that has merged into another.
    pub m: Vec<f64>,
    /// Radius; infinite for a star that escapes.
    pub r: Vec<f64>,
    /// Radial velocity.
    pub vr: Vec<f64>,
    /// Transverse velocity.
    pub vt: Vec<f64>,
    /// Radius at the beginning of the step.
    pub start: Vec<f64>,
    /// The potential at the new radius minus that at the old one, before other stars move. For an escaping star:
    /// the potential of the other stars at its old radius.
    pub climb: Vec<f64>,
}

/// Some bins of stars: what one thread works on.
pub struct Share<'a> {
    /// Index of the first star among those of all ranks.
    pub first: usize,
    /// See [`Stars`].
    pub id: &'a mut [u64],
    /// See [`Stars`].
    pub m: &'a mut [f64],
    /// See [`Stars`].
    pub r: &'a mut [f64],
    /// See [`Stars`].
    pub vr: &'a mut [f64],
    /// See [`Stars`].
    pub vt: &'a mut [f64],
    /// See [`Stars`].
    pub start: &'a mut [f64],
    /// See [`Stars`].
    pub climb: &'a mut [f64],
    /// Random numbers of each bin.
    pub streams: &'a mut [Stream],
    /// A number for each bin, for what the phase has to tell.
    pub told: &'a mut [f64],
}

impl Stars {
    /// Number of stars.
    pub fn len(&self) -> usize {
        self.r.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.r.is_empty()
    }

    /// Whether a star may have this mass, radius and velocity. Numbers beyond 1e100 would make products overflow, and
    /// the search for the ends of an orbit would not end.
    pub fn allows(m: f64, r: f64, [vr, vt]: [f64; 2]) -> bool {
        let moderate = |x: f64| (1e-100..=1e100).contains(&x);
        moderate(m) && moderate(r) && vr.abs() <= 1e100 && (0.0..=1e100).contains(&vt)
    }

    /// Adds a star at rest between steps.
    pub fn push(&mut self, id: u64, m: f64, r: f64, [vr, vt]: [f64; 2]) {
        self.push_row(&[
            id,
            m.to_bits(),
            r.to_bits(),
            vr.to_bits(),
            vt.to_bits(),
            0,
            0,
        ]);
    }

    /// Forgets all stars and keeps the memory.
    pub fn clear(&mut self) {
        self.id.clear();
        self.columns().into_iter().for_each(Vec::clear);
    }

    /// The columns other than the label, in the order of a row.
    pub fn columns(&mut self) -> [&mut Vec<f64>; WORDS - 1] {
        [
            &mut self.m,
            &mut self.r,
            &mut self.vr,
            &mut self.vt,
            &mut self.start,
            &mut self.climb,
        ]
    }

    /// Star `k` as the numbers of a message.
    pub fn row(&self, k: usize) -> [u64; WORDS] {
        let bits = |column: &[f64]| column[k].to_bits();
        [
            self.id[k],
            bits(&self.m),
            bits(&self.r),
            bits(&self.vr),
            bits(&self.vt),
            bits(&self.start),
            bits(&self.climb),
        ]
    }

    /// Adds the star that these numbers are.
    pub fn push_row(&mut self, row: &[u64]) {
        self.id.push(row[0]);
        for (column, bits) in self.columns().into_iter().zip(&row[1..]) {
            column.push(f64::from_bits(*bits));
        }
    }

    /// Takes out every star for which `stays` says no; the others keep their order.
    pub fn retain(&mut self, stays: impl Fn(&Self, usize) -> bool) {
        let mut kept = 0;
        for k in 0..self.len() {
            if stays(self, k) {
                if kept < k {
                    self.id[kept] = self.id[k];
                    self.columns().into_iter().for_each(|c| c[kept] = c[k]);
                }
                kept += 1;
            }
        }
        self.id.truncate(kept);
        self.columns().into_iter().for_each(|c| c.truncate(kept));
    }

    /// Groups of whole bins, for the threads. `first` is the index of the first star among those of all
    /// ranks; `streams` and `told` have one entry a bin.
    pub fn groups<'a>(
        &'a mut self,
        first: usize,
        streams: &'a mut [Stream],
        told: &'a mut [f64],
    ) -> impl IndexedParallelIterator<Item = Share<'a>> {
        let Self {
            id,
            m,
            r,
            vr,
            vt,
            start,
            climb,
        } = self;
        (
            id.par_chunks_mut(STARS_AT_A_TIME),
            m.par_chunks_mut(STARS_AT_A_TIME),
            r.par_chunks_mut(STARS_AT_A_TIME),
            vr.par_chunks_mut(STARS_AT_A_TIME),
            vt.par_chunks_mut(STARS_AT_A_TIME),
            start.par_chunks_mut(STARS_AT_A_TIME),
            climb.par_chunks_mut(STARS_AT_A_TIME),
            streams.par_chunks_mut(BINS_AT_A_TIME),
            told.par_chunks_mut(BINS_AT_A_TIME),
        )
            .into_par_iter()
            .enumerate()
            .map(
                move |(k, (id, m, r, vr, vt, start, climb, streams, told))| Share {
                    first: first + k * STARS_AT_A_TIME,
                    id,
                    m,
                    r,
                    vr,
                    vt,
                    start,
                    climb,
                    streams,
                    told,
                },
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_leave_in_order() {
        let mut stars = Stars::default();
        for k in 0..7 {
            stars.push(k, 1.0, k as f64, [0.5, 0.25]);
        }
        stars.retain(|s, k| s.id[k] % 3 != 1);
        assert_eq!(stars.id, [0, 2, 3, 5, 6]);
        assert_eq!(stars.r, [0.0, 2.0, 3.0, 5.0, 6.0]);
        let mut copy = Stars::default();
        (0..stars.len()).for_each(|k| copy.push_row(&stars.row(k)));
        assert_eq!(copy, stars);
    }
}
