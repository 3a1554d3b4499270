//! Energy correction (phase 7). The new orbit of a star was found in the potential at the beginning of the step. But
//! the potential changes during the step and does work on the star.
//!
//! Stodolkiewicz (1982): v^2 = v_0^2 + Phi_0(r_0) + Phi_1(r_0) - Phi_0(r_1) - Phi_1(r_1), where 0 is the beginning
//! and 1 the end of the step. Summed over all stars this is exact: the sum of m_i Phi_1(r_0) equals the sum of m_j
//! Phi_0(r_1), since the energy of two shells does not depend on which of them moved. Both components of the velocity
//! are multiplied by the same factor.

use crate::bisection::{STARS_TOGETHER, Search, bisect};
use crate::partition::BIN;
use crate::potential::Potential;
use crate::stars::Share;

/// Part of its kinetic energy that a star may lose at most to what another could not pay.
const LARGEST_SHARE: f64 = 0.5;

/// v^2 of a star of mass `m` after the correction; `v2` is its v^2 before. The star moved from the radius `start` to
/// the place of star `index`. In the new potential `start` lies just outside star `there`. `climb` is the change of the
/// old potential between the two radii. Stars count from 1.
#[inline]
pub fn corrected(
    potential: &Potential,
    [there, index]: [usize; 2],
    m: f64,
    start: f64,
    v2: f64,
    climb: f64,
) -> f64 {
    let node = potential.nodes[index];
    let u = 1.0 / start;
    let there = potential.between[there].phi(u) + m * u.min(node.u);
    v2 + climb + there - (node.phi + m * node.u)
}

/// Corrects the velocities of a group. If the correction would take more than a star's kinetic energy, the star keeps
/// its velocity, and the energy is taken from the next stars of the bin. What a bin lacks is stored in `told` and later
/// taken from all stars.
pub fn of_group(potential: &Potential, radii: &[f64], group: &mut Share<'_>) {
    for begin in (0..group.r.len()).step_by(STARS_TOGETHER) {
        let end = (begin + STARS_TOGETHER).min(group.r.len());
        let mut searches = [Search::default(); STARS_TOGETHER];
        let searches = &mut searches[..end - begin];
        let starts = &group.start[begin..end];
        for (search, start) in searches.iter_mut().zip(starts) {
            *search = potential.index.range(*start);
        }
        bisect(searches, |k, at| radii[at] <= starts[k]);
        for (bin, searches) in searches.chunks(BIN).enumerate() {
            let begin = begin + bin * BIN;
            group.told[begin / BIN] = of_bin(potential, group, begin, searches);
        }
    }
}

/// Corrects the velocities of a bin, and tells what is not paid.
fn of_bin(potential: &Potential, group: &mut Share<'_>, begin: usize, there: &[Search]) -> f64 {
    let mut debt = 0.0;
    for (k, there) in (begin..).zip(there) {
        let (m, vr, vt) = (group.m[k], group.vr[k], group.vt[k]);
        let v2 = vr * vr + vt * vt;
        let places = [there.found, group.first + k + 1];
        let mut new = corrected(potential, places, m, group.start[k], v2, group.climb[k]);
        if new <= 0.0 || v2 == 0.0 {
            debt += 0.5 * m * (v2 - new);
            continue;
        }
        if debt > 0.0 {
            let paid = debt.min(LARGEST_SHARE * 0.5 * m * new);
            new -= 2.0 * paid / m;
            debt -= paid;
        }
        let scale = (new / v2).sqrt();
        group.vr[k] = vr * scale;
        group.vt[k] = vt * scale;
    }
    debt
}
