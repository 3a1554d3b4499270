//! A j-particle in consecutive words: as it is appended to the log, and as it is sent to a GPU.

use crate::sources::particle::JParticle;

use super::PAGE;
use super::log::{HAS_MOTION, HAS_SNAP, HAS_TIME};
use super::page::Extent;

/// 64-bit words of a row.
pub const ROW: usize = 18;

/// 64-bit words of the row of a particle at rest: mass, position, and the last word of a row.
pub const SHORT_ROW: usize = 5;

/// Words of a row. The columns of a page are in this order, too.
pub const MASS: usize = 0;
pub const TIME: usize = 1;
pub const X: usize = 2;
pub const V: usize = 5;
pub const ABY2: usize = 8;
pub const A1BY6: usize = 11;
pub const A2BY18: usize = 14;
const WHO: usize = 17;

/// A j-particle: mass, time, the five vectors, and a last word. The lower half of the last word is the label. Its
/// upper half is the slot, with one bit that says that there is a particle. All words are zero where there is no
/// particle.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Row(pub [f64; ROW]);

/// The numbers of a particle where a client has them.
#[derive(Clone, Copy)]
pub struct ClientParticle {
    /// The label.
    pub index: i32,
    /// The time.
    pub t: f64,
    /// The mass.
    pub mass: f64,
    /// Position, velocity, and what follows, as in [`JParticle`]. Aligned or not.
    pub vectors: [*const f64; 5],
}

/// Three numbers that are zero.
pub const ZERO: *const f64 = [0.0_f64; 3].as_ptr();

impl ClientParticle {
    /// The particle.
    ///
    /// # Safety
    ///
    /// The pointers point to three numbers each.
    pub unsafe fn particle(&self) -> JParticle {
        // SAFETY: three numbers have the layout of an array of three.
        let vectors = (self.vectors).map(|v| unsafe { v.cast::<[f64; 3]>().read_unaligned() });
        let [x, v, aby2, a1by6, a2by18] = vectors;
        JParticle {
            index: self.index,
            t: self.t,
            mass: self.mass,
            x,
            v,
            aby2,
            a1by6,
            a2by18,
        }
    }
}

impl ClientParticle {
    /// Calls `put(index, value)` for each word of the row in this extent.
    ///
    /// # Safety
    ///
    /// The pointers point to three numbers each.
    #[inline(always)]
    pub unsafe fn words(&self, extent: Extent, mut put: impl FnMut(usize, f64)) {
        let words = extent.words();
        if words.contains(&TIME) {
            put(TIME, self.t);
        }
        for (word, from) in [X, V, ABY2, A1BY6, A2BY18].into_iter().zip(self.vectors) {
            if !words.contains(&word) {
                break;
            }
            // SAFETY: three numbers have the layout of an array of three.
            let three = unsafe { from.cast::<[f64; 3]>().read_unaligned() };
            for (k, number) in three.into_iter().enumerate() {
                put(word + k, number);
            }
        }
    }

    /// The flags of the numbers (`HAS_TIME` and its like), and the `known` ones, which are not looked for.
    ///
    /// The flags are made from the bits of the numbers: arithmetic might trap, since the client's floating-point
    /// environment is in force. -0 counts as different from zero, which at most costs time.
    ///
    /// # Safety
    ///
    /// The pointers point to three numbers each.
    #[inline(always)]
    pub unsafe fn flags(&self, known: u8) -> u8 {
        // SAFETY: passed on.
        let bits = |vector| unsafe { self.bits(vector) };
        let mut flags = known;
        if known & HAS_TIME == 0 && self.t.to_bits() != 0 {
            flags |= HAS_TIME;
        }
        if known & HAS_MOTION == 0 && bits(1) | bits(2) | bits(3) != 0 {
            flags |= HAS_MOTION;
        }
        if known & HAS_SNAP == 0 && bits(4) != 0 {
            flags |= HAS_SNAP;
        }
        flags
    }

    /// Whether there is a fourth derivative, as [`ClientParticle::flags`] sees it.
    ///
    /// # Safety
    ///
    /// The pointers point to three numbers each.
    #[inline(always)]
    pub unsafe fn has_snap(&self) -> bool {
        // SAFETY: passed on.
        unsafe { self.bits(4) != 0 }
    }

    /// The bits of all three numbers of a vector.
    ///
    /// # Safety
    ///
    /// The pointers point to three numbers each.
    #[inline(always)]
    unsafe fn bits(&self, vector: usize) -> u64 {
        // SAFETY: three numbers have the layout of an array of three.
        let three = unsafe { self.vectors[vector].cast::<[u64; 3]>().read_unaligned() };
        three[0] | three[1] | three[2]
    }
}

impl From<&JParticle> for ClientParticle {
    fn from(p: &JParticle) -> Self {
        Self {
            index: p.index,
            t: p.t,
            mass: p.mass,
            vectors: [&p.x, &p.v, &p.aby2, &p.a1by6, &p.a2by18].map(|v| v.as_ptr()),
        }
    }
}

/// The last word.
#[inline(always)]
pub(super) fn who(slot: usize, index: i32) -> u64 {
    ((PAGE | slot) as u64) << 32 | u64::from(index.cast_unsigned())
}

impl Row {
    /// No particle.
    pub const NONE: Self = Self([0.0; ROW]);

    /// Writes the row of a particle in a slot of its page, straight from its numbers.
    ///
    /// # Safety
    ///
    /// There is room for a row, and the pointers of `p` point to three numbers each.
    #[inline(always)]
    pub unsafe fn write(to: *mut Self, slot: usize, p: &ClientParticle) {
        let to = to.cast::<f64>();
        // SAFETY: the words are those of the row. The caller vouches for the pointers.
        unsafe {
            to.add(WHO).write(f64::from_bits(who(slot, p.index)));
            to.add(MASS).write(p.mass);
            p.words(Extent::All, |word, number| to.add(word).write(number))
        }
    }

    /// Becomes a copy of another row. (In pieces: for a row as a whole the compiler calls `memcpy`.)
    #[inline(always)]
    pub fn copy(&mut self, other: &Self) {
        const PIECE: usize = 6;
        let pieces = self.0.chunks_exact_mut(PIECE);
        for (to, from) in pieces.zip(other.0.chunks_exact(PIECE)) {
            to.copy_from_slice(from);
        }
    }

    /// The row of a particle that does not move.
    pub fn short(&self) -> [f64; SHORT_ROW] {
        let [x, y, z] = self.vector(X);
        [self.0[MASS], x, y, z, self.0[WHO]]
    }

    /// The label of the particle.
    #[inline(always)]
    pub fn index(&self) -> i32 {
        (self.0[WHO].to_bits() as u32).cast_signed()
    }

    /// Three consecutive words.
    #[inline(always)]
    pub fn vector(&self, first: usize) -> [f64; 3] {
        [self.0[first], self.0[first + 1], self.0[first + 2]]
    }

    /// Position and velocity.
    #[inline(always)]
    pub fn position_and_velocity(&self) -> [[f64; 3]; 2] {
        [self.vector(X), self.vector(V)]
    }

    /// The particle, as it was written.
    #[inline(always)]
    pub fn particle(&self) -> JParticle {
        JParticle {
            index: self.index(),
            t: self.0[TIME],
            mass: self.0[MASS],
            x: self.vector(X),
            v: self.vector(V),
            aby2: self.vector(ABY2),
            a1by6: self.vector(A1BY6),
            a2by18: self.vector(A2BY18),
        }
    }

    /// Writes the last word; zero where there is no particle.
    pub fn name(&mut self, slot: usize, index: i32, present: bool) {
        self.0[WHO] = f64::from_bits(if present { who(slot, index) } else { 0 });
    }
}
