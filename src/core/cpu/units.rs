//! The units of a page's tile. They are a function of the page and of the time of the prediction.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use super::grid::Grid;
use super::simd::Real;
use crate::force::scaling::{self, Scaling};
use crate::sources::jmemory::{PAGE, Page};

/// The least number of single precision with all its digits.
pub const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// [`scaling::suitable`] for a sample of a page's particles below slot `end`: the first and the last particle of each 64 slots
/// ([`Page::present`] has a word for each 64). Positions and velocities are taken as they were written, without
/// prediction.
fn sampled(page: &Page, end: usize) -> (Scaling, bool) {
    const SAMPLE: usize = 2 * PAGE / 64;
    let mut norms = [[0.0; SAMPLE]; 2];
    let mut count = 0;
    for (first, word) in (0..PAGE)
        .step_by(64)
        .zip(page.present_below(page.first_address() + end))
    {
        if word == 0 {
            continue;
        }
        let ends = [word.trailing_zeros(), 63 - word.leading_zeros()];
        for slot in ends.map(|bit| first + bit as usize) {
            for (norms, vector) in norms.iter_mut().zip([page.x(slot), page.v(slot)]) {
                norms[count] = scaling::greatest_component(&vector);
            }
            count += 1;
        }
    }
    let [lengths, velocities] = &mut norms;
    scaling::suitable(&mut lengths[..count], &mut velocities[..count])
}

/// What [`sampled`] returned for a page, kept until the page changes.
///
/// A page is only sampled when its tile cannot have the client's units. The tasks of a block may do so at the same time:
/// all of them store the same numbers.
pub struct Sampled {
    length: AtomicU64,
    velocity: AtomicU64,
    representable: AtomicBool,
    /// [`stamp`], stored after all else.
    stamp: AtomicU64,
    /// The exponent of the grid of the last prediction.
    grid: AtomicI32,
}

/// The version of a page and the end of the slots that were sampled, as one number.
#[inline(always)]
fn stamp(page: &Page, end: usize) -> u64 {
    page.version() * (PAGE as u64 + 1) + end as u64
}

impl Default for Sampled {
    fn default() -> Self {
        Self {
            length: AtomicU64::new(0),
            velocity: AtomicU64::new(0),
            representable: AtomicBool::new(false),
            stamp: AtomicU64::new(u64::MAX),
            grid: AtomicI32::new(Grid::USUAL.exponent()),
        }
    }
}

impl Sampled {
    /// What is kept of the slots below `end` of `page` as it is now.
    #[inline(always)]
    pub fn kept(&self, page: &Page, end: usize) -> Option<(Scaling, bool)> {
        if self.stamp.load(Ordering::Acquire) != stamp(page, end) {
            return None;
        }
        let number = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
        let units = Scaling {
            length: number(&self.length),
            velocity: number(&self.velocity),
        };
        Some((units, self.representable.load(Ordering::Relaxed)))
    }

    /// The grid of the page's last prediction, which the next one tries first.
    #[inline(always)]
    pub fn last_grid(&self) -> Grid {
        Grid::with(self.grid.load(Ordering::Relaxed))
    }

    /// Keeps the grid of a prediction.
    pub fn keep_grid(&self, grid: Grid) {
        self.grid.store(grid.exponent(), Ordering::Relaxed);
    }

    /// [`sampled`] for `page`.
    #[inline(always)]
    pub fn of(&self, page: &Page, end: usize) -> (Scaling, bool) {
        self.kept(page, end)
            .unwrap_or_else(|| self.sample(page, end))
    }

    #[cold]
    fn sample(&self, page: &Page, end: usize) -> (Scaling, bool) {
        let (units, representable) = sampled(page, end);
        for (place, number) in [
            (&self.length, units.length),
            (&self.velocity, units.velocity),
        ] {
            place.store(number.to_bits(), Ordering::Relaxed);
        }
        self.representable.store(representable, Ordering::Relaxed);
        self.stamp.store(stamp(page, end), Ordering::Release);
        (units, representable)
    }
}

/// The greatest coordinate and the greatest velocity component of a page's slots below `end` at the time `ti`; NaN is ignored. The velocity is
/// rounded as a prediction to `T` rounds it, but may exceed the exponent range of `T`.
#[cold]
pub fn greatest_components<T: Real>(page: &Page, ti: f64, end: usize) -> [f64; 2] {
    let mut greatest = [0.0_f64; 2];
    for slot in page.slots(page.first_address() + end) {
        let (x, v) = page.particle(slot).predicted(ti);
        for (greatest, vector) in greatest.iter_mut().zip([x, v]) {
            *greatest = vector.iter().fold(*greatest, |most, c| c.abs().max(most));
        }
    }
    let [x, v] = greatest;
    let digits = T::from_f64(v).to_f64();
    let in_range = (LEAST_NORMAL..f64::INFINITY).contains(&digits);
    [x, if in_range { digits } else { v }]
}

/// The greatest coordinate of a particle with a mass below slot `end`.
#[cold]
pub fn greatest_coordinate_with_mass(page: &Page, ti: f64, end: usize) -> f64 {
    let with_mass = page
        .slots(page.first_address() + end)
        .filter(|&slot| page.mass()[slot] != 0.0);
    with_mass.fold(0.0, |greatest: f64, slot| {
        let x = page.predicted_position(slot, ti);
        x.iter().fold(greatest, |most, c| c.abs().max(most))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::jmemory::JMemory;
    use crate::sources::particle::JParticle;

    #[test]
    fn what_is_kept_is_what_a_new_sample_gives_after_every_write() {
        let mut memory = JMemory::default();
        let kept = Sampled::default();
        let mut seen = Vec::new();
        for (k, x) in [1.0, 1e18, 1e-14, 1e30, 1.0, 1e18].into_iter().enumerate() {
            // Half of a sample and more than half; the last write of each scale may be the one that counts.
            for address in (0..PAGE as i32).step_by(61) {
                let star = JParticle {
                    x: [x, 0.5 * x, 0.0],
                    v: [[1.0, 1e12, 1e-9][k % 3]; 3],
                    ..JParticle::default()
                };
                memory.write(address, &star).unwrap();
                let page = memory.page(0);
                assert_eq!(
                    kept.kept(page, PAGE),
                    None,
                    "{x:e} {address}: written since"
                );
                let fresh = sampled(page, PAGE);
                assert_eq!(kept.of(page, PAGE), fresh, "{x:e} {address}: sampled");
                assert_eq!(kept.kept(page, PAGE), Some(fresh), "{x:e} {address}: kept");
                assert_eq!(kept.of(page, PAGE), fresh, "{x:e} {address}: kept");
                if !seen.contains(&fresh) {
                    seen.push(fresh);
                }
            }
        }
        assert!(seen.iter().any(|(_, representable)| !representable));
        assert!(seen.len() > 5, "{seen:?}");
    }
}
