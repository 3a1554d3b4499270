//! The pair loops of NBODY6's regular force and potential: one body for every instruction set and precision.
//!
//! A loop leaves some sources out and reports their slots: those that may be neighbours, and those that are so close
//! that their force needs more digits. These sources are few. Whether each is a neighbour is decided in double
//! precision, so lists do not depend on the precision of the loop.
//!
//! No closure may call a vector operation here: it would be compiled without the instruction set of the function
//! around it.

use std::ops::Range;

use super::super::leaves::take_run;
use super::super::pair::{LaneSums, product, reread, separation, splat3};
use super::super::simd::{Real, Simd, Sums};
use super::target::Scaled;
use super::tile::Tile;
use crate::force::regular::Criterion;
use crate::sources::jmemory::{PAGE, PageArray};

/// Slots of a tile, a bit each.
pub type Slots = [u64; PAGE / 64];

/// Slots of a tile, one by one, and room for what is written behind the last.
pub type Listed = [u16; PAGE + FORESEEN];

/// Slots of a word that are listed without asking how many there are.
pub const FORESEEN: usize = 2;

/// Sums over the sources of one leaf that cannot be neighbours.
pub struct Leaf {
    /// Acceleration, positive potential and jerk, in the tile's unit of mass and [`super::super::mean_root::MeanRoot`].
    pub sums: Sums,
    /// Whether any slot was left out.
    pub left_out: bool,
}

/// What a pass over a leaf tells of each slot.
pub struct Notes<T> {
    /// Those that were left out. Only the words of the leaf are written.
    pub left_out: Slots,
    /// The same one by one, once they are listed.
    pub slots: Listed,
    /// The squares of their distances, or the smaller of these now and a step ahead.
    pub least: PageArray<T>,
    /// The [`Bounds`](super::target::Bounds) of s.
    possible: (f64, f64),
    certain: (f64, f64),
}

impl<T: Copy + Default> Default for Notes<T> {
    fn default() -> Self {
        Self {
            left_out: Slots::default(),
            slots: [0; PAGE + FORESEEN],
            least: PageArray::default(),
            possible: (0.0, 0.0),
            certain: (0.0, 0.0),
        }
    }
}

/// What s says of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a neighbour.
    Neighbour,
    /// It is none, and not close.
    Other,
    /// More digits are needed.
    Unclear,
}

impl<T> Notes<T> {
    /// The verdict on a source with this [`Tile::factor`].
    #[inline(always)]
    pub fn verdict(&self, factor: f64, s: f64) -> Verdict {
        if s < factor * self.certain.0 + self.certain.1 {
            Verdict::Neighbour
        } else if s > factor * self.possible.0 + self.possible.1 {
            Verdict::Other
        } else {
            Verdict::Unclear
        }
    }
}

/// One pass over a leaf for the regular force. `range` begins and ends at multiples of 64.
#[inline(always)]
pub fn regular<S: Simd, const SPLIT: bool>(
    s: S,
    minus_three: S::T,
    tile: &Tile<S::T>,
    target: &Scaled<S::T>,
    criterion: Criterion,
    range: Range<usize>,
    notes: &mut Notes<S::T>,
) -> Leaf {
    let bounds = target.bounds(tile, criterion);
    (notes.possible, notes.certain) = (bounds.possible, bounds.certain);
    let (h2, constant) = bounds.in_the_loop;
    let spread = Broadcast::<S, SPLIT> {
        x: splat3(s, &target.x),
        x_low: splat3(s, &target.x_low),
        v: splat3(s, &target.v),
        dtr: s.splat(target.dtr),
        twice_dtr: s.splat(S::T::from_f64(2.0 * target.dtr.to_f64())),
        h2: s.splat(S::T::from_f64(h2)),
        // Rounding must not make the bound less.
        constant: s.splat(S::T::from_f64(match criterion {
            Criterion::Radius => h2 + constant,
            Criterion::MassAndRadius => constant,
        })),
        minus_three: s.splat(minus_three),
    };
    let mut pass = Pass::<S, SPLIT> {
        s,
        tile,
        notes,
        sums: LaneSums::none(s),
    };
    let words = range.start / 64..range.end / 64;
    match (criterion, bounds.far) {
        (Criterion::Radius, false) if tile.equal => pass.over::<false, false, true>(&spread, range),
        (Criterion::Radius, false) => pass.over::<false, false, false>(&spread, range),
        (Criterion::Radius, true) => pass.over::<false, true, false>(&spread, range),
        (Criterion::MassAndRadius, false) => pass.over::<true, false, false>(&spread, range),
        (Criterion::MassAndRadius, true) => pass.over::<true, true, false>(&spread, range),
    }
    Leaf {
        sums: pass.sums.over_lanes(s),
        left_out: pass.notes.left_out[words].iter().any(|&bits| bits != 0),
    }
}

/// A target, in every lane.
struct Broadcast<S: Simd, const SPLIT: bool> {
    x: [S::V; 3],
    x_low: [S::V; 3],
    v: [S::V; 3],
    dtr: S::V,
    twice_dtr: S::V,
    h2: S::V,
    constant: S::V,
    minus_three: S::V,
}

impl<S: Simd, const SPLIT: bool> Broadcast<S, SPLIT> {
    /// x_j - x_i, and its square, for the slots from `at` on.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn distance(&self, s: S, tile: &Tile<S::T>, at: usize) -> ([S::V; 3], S::V) {
        let (target, source) = ([&self.x, &self.x_low], [&tile.x, &tile.x_low]);
        // SAFETY: passed on.
        let r = unsafe { separation::<S, SPLIT>(s, target, source, at) };
        (r, product(s, &r, &r))
    }
}

/// One target's way through a leaf.
struct Pass<'a, S: Simd, const SPLIT: bool> {
    s: S,
    tile: &'a Tile<S::T>,
    notes: &'a mut Notes<S::T>,
    sums: LaneSums<S>,
}

/// One vector of pairs.
struct Pair<S: Simd> {
    /// x_j - x_i
    r: [S::V; 3],
    /// v_j - v_i
    v: [S::V; 3],
    /// r^2
    r2: S::V,
    /// (r.v)
    rv: S::V,
    /// [`Simd::estimate`] of 1 / r.
    estimate: S::V,
    /// Which of them cannot be neighbours.
    beyond: S::M,
}

/// The bits of the last 64 slots.
#[derive(Default)]
struct Word(u64);

impl Word {
    /// Appends the bits of a vector. After 64 slots each bit is in its place.
    #[inline(always)]
    fn append<S: Simd>(&mut self, bits: u32) -> u64 {
        self.0 = self.0 >> S::LANES | u64::from(bits) << (64 - S::LANES);
        self.0
    }
}

impl<S: Simd, const SPLIT: bool> Pass<'_, S, SPLIT> {
    #[inline(always)]
    fn over<const BY_MASS: bool, const FAR: bool, const EQUAL: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
    ) {
        assert!(
            range.end <= PAGE && range.start.is_multiple_of(64) && range.end.is_multiple_of(64)
        );
        let (mut rest, mut total) = (range, None::<LaneSums<S>>);
        while !rest.is_empty() {
            let run = take_run::<S>(&mut rest);
            self.sums = LaneSums::none(self.s);
            // SAFETY: the run is not empty and ends at PAGE at most; the words divide it.
            unsafe {
                match S::MANY_REGISTERS {
                    true => self.ahead::<BY_MASS, FAR, EQUAL>(target, run),
                    false => self.word_by_word::<BY_MASS, FAR, EQUAL>(target, run),
                }
            }
            match &mut total {
                Some(total) => total.join(self.s, &self.sums),
                None => total = Some(self.sums),
            }
        }
        if let Some(total) = total {
            self.sums = total;
        }
    }

    /// Adds the slots of a run. The next vector's distances are computed, and compared with the neighbour radius, while
    /// this one's terms are summed.
    ///
    /// # Safety
    ///
    /// The range is not empty, begins and ends at multiples of 64, and ends at PAGE at most.
    #[inline(always)]
    unsafe fn ahead<const BY_MASS: bool, const FAR: bool, const EQUAL: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
    ) {
        let (s, mut at, mut word) = (self.s, range.start, Word::default());
        // SAFETY: passed on, here and below: `at` is a multiple of the lanes below PAGE, which they divide.
        let mut pair = unsafe { self.pair::<BY_MASS, FAR>(target, at) };
        while at + S::LANES < range.end {
            // Once for each vector. With a loop over the vectors of a word inside one over the words, the compiler mixed all
            // vectors of a word, whose terms took far more registers than there are.
            self.notes.left_out[at / 64] = !word.append::<S>(s.bits(pair.beyond));
            // SAFETY: as above.
            let mut next = unsafe { self.pair::<BY_MASS, FAR>(target, at + S::LANES) };
            s.order(&mut next.estimate, &mut pair.estimate);
            // SAFETY: as above.
            unsafe { self.add::<EQUAL>(target, pair, at) };
            pair = next;
            at += S::LANES;
        }
        self.notes.left_out[at / 64] = !word.append::<S>(s.bits(pair.beyond));
        // SAFETY: as above.
        unsafe { self.add::<EQUAL>(target, pair, at) };
    }

    /// [`Self::ahead`] where sums and terms take all registers: one vector after the other, and the target comes from memory.
    ///
    /// # Safety
    ///
    /// That of [`Self::ahead`].
    #[inline(always)]
    unsafe fn word_by_word<const BY_MASS: bool, const FAR: bool, const EQUAL: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        range: Range<usize>,
    ) {
        for word in range.start / 64..range.end / 64 {
            let mut beyond = 0;
            let mut lane = 0;
            while lane < 64 {
                let at = word * 64 + lane;
                let target = reread(target);
                // SAFETY: the lanes divide 64, and the words the tile.
                unsafe {
                    let pair = self.pair::<BY_MASS, FAR>(target, at);
                    beyond |= u64::from(self.s.bits(pair.beyond)) << lane;
                    self.add::<EQUAL>(target, pair, at);
                }
                lane += S::LANES;
            }
            self.notes.left_out[word] = !beyond;
        }
    }

    /// The pairs with the slots from `at` on. Notes their distances.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn pair<const BY_MASS: bool, const FAR: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        at: usize,
    ) -> Pair<S> {
        let s = self.s;
        // SAFETY: passed on.
        let (r, r2) = unsafe { target.distance(s, self.tile, at) };
        let estimate = s.estimate(r2);
        let mut v = target.v;
        for (k, v) in v.iter_mut().enumerate() {
            // SAFETY: passed on.
            *v = s.sub(unsafe { s.load(&self.tile.v[k], at) }, *v);
        }
        let rv = product(s, &r, &v);
        let ahead = match FAR {
            true => {
                let mut ahead = r;
                for (ahead, v) in ahead.iter_mut().zip(v) {
                    *ahead = s.fma(target.dtr, v, *ahead);
                }
                product(s, &ahead, &ahead)
            }
            false => s.fma(target.twice_dtr, rv, r2),
        };
        let least = s.min(ahead, r2);
        let bound = match BY_MASS {
            // SAFETY: passed on.
            true => s.fma(
                unsafe { s.load(&self.tile.m, at) },
                target.h2,
                target.constant,
            ),
            false => target.constant,
        };
        // SAFETY: passed on.
        unsafe { s.store(&mut self.notes.least, at, if FAR { least } else { r2 }) };
        Pair {
            r,
            v,
            r2,
            rv,
            estimate,
            // Not `near`: what is beyond is left by an operation that has a mask at no cost.
            beyond: s.le(bound, least),
        }
    }

    /// Adds the pairs with the slots from `at` on that are beyond the neighbour radius. With `EQUAL` all masses are 1.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn add<const EQUAL: bool>(
        &mut self,
        target: &Broadcast<S, SPLIT>,
        pair: Pair<S>,
        at: usize,
    ) {
        let s = self.s;
        let m = match EQUAL {
            true => None,
            // SAFETY: passed on.
            false => Some(unsafe { s.load(&self.tile.m, at) }),
        };
        let y = s.refine::<true>(pair.r2, pair.estimate);
        let y = s.select(pair.beyond, y, s.splat(S::T::default()));
        let factors = self.sums.add(s, pair.r, y, m);
        self.sums
            .add_jerks(s, (pair.r, pair.v, pair.rv), factors, target.minus_three);
    }
}

/// One pass over a leaf for the potential: the sum over all sources that are not close. For `range` the rules of
/// [`regular`] hold.
#[inline(always)]
pub fn potential<S: Simd, const SPLIT: bool>(
    s: S,
    tile: &Tile<S::T>,
    target: &Scaled<S::T>,
    range: Range<usize>,
    left_out: &mut Slots,
) -> Leaf {
    let (_, closest2) = target.bounds(tile, Criterion::Radius).possible;
    let zero = s.splat(S::T::default());
    let spread = Broadcast::<S, SPLIT> {
        x: splat3(s, &target.x),
        x_low: splat3(s, &target.x_low),
        v: [zero; 3],
        dtr: zero,
        twice_dtr: zero,
        h2: zero,
        constant: s.splat(S::T::from_f64(closest2)),
        minus_three: zero,
    };
    assert!(range.end <= PAGE && range.start.is_multiple_of(64) && range.end.is_multiple_of(64));
    let (mut rest, mut total, mut any) = (range, None, 0);
    while !rest.is_empty() {
        let run = take_run::<S>(&mut rest);
        let mut pot = zero;
        let words = run.start / 64..run.end / 64;
        for (word, left_out) in words.clone().zip(&mut left_out[words]) {
            let mut bits = 0;
            let mut lane = 0;
            while lane < 64 {
                let at = word * 64 + lane;
                // SAFETY: the lanes divide 64, and the words the tile.
                let ((_, r2), m) = unsafe { (spread.distance(s, tile, at), s.load(&tile.m, at)) };
                let beyond = s.le(spread.constant, r2);
                let y = s.select(beyond, s.refine::<true>(r2, s.estimate(r2)), zero);
                pot = s.fma(m, y, pot);
                bits |= u64::from(s.bits(beyond)) << lane;
                lane += S::LANES;
            }
            *left_out = !bits;
            any |= !bits;
        }
        total = Some(match total {
            Some(total) => s.add(total, pot),
            None => pot,
        });
    }
    let pot = total.unwrap_or(zero);
    Leaf {
        sums: s.sums([&zero, &zero, &zero, &pot, &zero, &zero, &zero]),
        left_out: any != 0,
    }
}
