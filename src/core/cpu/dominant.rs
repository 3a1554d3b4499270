//! Leaves in which one pair exerts most of the force, as between the stars of a binary. That pair is computed in
//! double precision.
//!
//! A term in single precision has a relative error of 10^-7. If one term is much larger than the sum of all others,
//! this error is the error of the whole leaf. The sums of a leaf show such a term. Let S be the potential and M the
//! mass of the leaf. If no particle is nearer than M / S, the acceleration is at most S^2 / M. A nearer particle of
//! mass m can raise it to S^2 / m, because its own m / r is at most S. If the acceleration exceeds [`DOMINATES`] times
//! S^2 / M, the strongest pair is computed in double precision, and the leaf is summed without it. This decision
//! depends only on the leaf and the i-particle.

use std::ops::Range;

use super::kernel::{self, JPage, LeftOut, Variant};
use super::resolution::LeafBounds;
use super::simd::{Simd, Sums, Work};
use super::target::ScaledParticle;
use crate::sources::jmemory::{Page, PageArray};
use crate::sources::particle::IParticle;

/// How many times S^2 / M an acceleration is that shows a dominant term.
const DOMINATES: f64 = 8.0;

/// The bound that the accelerations of a leaf do not exceed without a dominant term.
#[derive(Clone, Copy, Debug)]
pub struct DominanceLimit {
    of_potential: f64,
}

impl DominanceLimit {
    /// For a leaf of this mass, in the tile's units. Nothing is dominant where masses have both signs.
    pub fn of(mass: f64, one_sign: bool) -> Self {
        Self {
            of_potential: match one_sign {
                true => DOMINATES / mass,
                false => f64::INFINITY,
            },
        }
    }

    /// Whether these sums show a dominant term.
    #[inline(always)]
    pub fn is_exceeded(self, [x, y, z, pot, ..]: &Sums) -> bool {
        let most = pot * pot * self.of_potential;
        x * x + y * y + z * z > most * most
    }
}

/// A leaf in which one pair exerts most of the force on an i-particle.
pub struct DominatedLeaf<'a, S: Simd, const SPLIT: bool> {
    /// The instruction set.
    pub s: S,
    /// Whether any velocity is not zero. Without one, the jerks come out as zero.
    pub jerk: bool,
    /// The j-particles.
    pub sources: JPage<'a, S>,
    /// What is known of them.
    pub bounds: &'a LeafBounds,
    /// The factors that bring sums into the client's units.
    pub factors: &'a Sums,
    /// The i-particle.
    pub target: &'a ScaledParticle<S::T>,
    /// The slots of the leaf.
    pub range: Range<usize>,
}

impl<S: Simd, const SPLIT: bool> DominatedLeaf<'_, S, SPLIT> {
    /// Sums the leaf anew, with the strongest pair in double precision, if single precision holds the others. `i` is
    /// the i-particle, `ti` the time. `sums` are the leaf's sums in the client's units, which are replaced.
    #[cold]
    #[inline(never)]
    pub fn sum(&self, i: &IParticle, ti: f64, sums: &mut Sums) {
        let Some((mut others, slot)) = self.s.vectorize(WithoutStrongest(self)) else {
            return;
        };
        if !self
            .target
            .resolution
            .holds(&others, self.bounds, self.jerk)
        {
            return;
        }
        for (sum, factor) in others.iter_mut().zip(self.factors) {
            *sum *= factor;
        }
        if let Some(all) = add(others, self.sources.page, slot, ti, i) {
            *sums = all;
        }
    }
}

/// The sums of a leaf without the strongest pair, and the slot of that.
struct WithoutStrongest<'a, 'b, S: Simd, const SPLIT: bool>(&'a DominatedLeaf<'b, S, SPLIT>);

impl<S: Simd, const SPLIT: bool> Work for WithoutStrongest<'_, '_, S, SPLIT> {
    type Output = Option<(Sums, usize)>;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let DominatedLeaf {
            s,
            sources,
            target,
            ref range,
            ..
        } = *self.0;
        let slot = kernel::strongest::<S, SPLIT>(s, sources, target, range.clone())?;
        let mut others = *sources.masses;
        others[slot] = S::T::default();
        let sources = JPage {
            masses: &others,
            ..sources
        };
        let variant = Variant {
            left_out: Some(LeftOut::ANY),
            nearest: false,
            soft: false,
            equal: false,
        };
        let (range, mut unused) = (range.clone(), PageArray::default());
        let lanes = kernel::leaf::<S, SPLIT>(s, variant, sources, target, range, &mut unused, None);
        Some((lanes.over_lanes(s, false).0, slot))
    }
}

/// Adds the force of one j-particle, computed in double precision, to sums in the client's units. Returns `None` if
/// that force is not finite.
fn add(mut sums: Sums, page: &Page, slot: usize, ti: f64, i: &IParticle) -> Option<Sums> {
    let (x, v) = page.particle(slot).predicted(ti);
    let r = [0, 1, 2].map(|k| x[k] - i.x[k]);
    let v = [0, 1, 2].map(|k| v[k] - i.v[k]);
    let product = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let r2 = product(&r, &r) + i.eps2;
    let inverse2 = 1.0 / r2;
    let m_r = page.mass()[slot] * inverse2.sqrt();
    let m_r3 = m_r * inverse2;
    let rv = 3.0 * product(&r, &v) * inverse2;
    for k in 0..3 {
        sums[k] += m_r3 * r[k];
        sums[4 + k] += m_r3 * (v[k] - rv * r[k]);
    }
    sums[3] -= m_r;
    sums.iter().all(|sum| sum.is_finite()).then_some(sums)
}
