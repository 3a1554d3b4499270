//! The units of a page's tile: a function of the page, and of the time at which they are needed.

use super::simd::{Real, leading};
use crate::force::scaling::{self, Scaling};
use crate::sources::jmemory::{PAGE, Page};

/// The least number of single precision with all its digits.
pub const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// [`scaling::suitable`] for some particles of a page as they were written: the first and the last of each word of
/// [`Page::present`].
#[cold]
pub fn sampled(page: &Page) -> (Scaling, bool) {
    const SAMPLE: usize = 2 * PAGE / 64;
    let mut norms = [[0.0; SAMPLE]; 2];
    let mut count = 0;
    for (first, &word) in (0..PAGE).step_by(64).zip(page.present()) {
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

/// The greatest coordinate and velocity component of a page at the time `ti`, with the digits that a prediction to `T`
/// has, but any exponent. What is no number is left out.
#[cold]
pub fn greatest_components<T: Real, const SPLIT: bool>(page: &Page, ti: f64) -> [f64; 2] {
    let mut greatest = [0.0_f64; 2];
    for slot in page.slots(usize::MAX) {
        let (x, v) = page.particle(slot).predicted(ti);
        for (greatest, vector) in greatest.iter_mut().zip([x, v]) {
            *greatest = vector.iter().fold(*greatest, |most, c| c.abs().max(most));
        }
    }
    let rounded = |number: f64, split: bool| {
        let digits = T::from_f64(if split { leading::<T>(number) } else { number }).to_f64();
        let in_range = (LEAST_NORMAL..f64::INFINITY).contains(&digits);
        if in_range { digits } else { number }
    };
    [rounded(greatest[0], SPLIT), rounded(greatest[1], false)]
}

/// The greatest coordinate of a particle with a mass.
#[cold]
pub fn greatest_coordinate_with_mass(page: &Page, ti: f64) -> f64 {
    let with_mass = page
        .slots(usize::MAX)
        .filter(|&slot| page.mass()[slot] != 0.0);
    with_mass.fold(0.0, |greatest: f64, slot| {
        let x = page.predicted_position(slot, ti);
        x.iter().fold(greatest, |most, c| c.abs().max(most))
    })
}
