//! Phase 2, the time step of all stars: the shortest relaxation time of all bins (equation 7, with a term for
//! dynamical friction), or a small part of the collision time in the centre (equation 8) if that is shorter.

use std::f64::consts::PI;
use std::ops::Range;

use rayon::prelude::*;

use crate::partition::BIN;
use crate::settings::Settings;
use crate::stars::Stars;

/// Bins over whose stars the collision time is averaged: 300 stars, after Goswami et al. (2012).
pub const CENTRAL_BINS: usize = 15;

/// Number of bins on each side whose stars also count for the relaxation time of a bin. A relaxation time from 20 stars
/// alone would scatter by a third, and the shortest of all bins would be half of the typical one in the core.
const NEIGHBOURS: usize = 2;

/// Number density around the bin that begins with star `first`. The volume reaches from the star before the bin to
/// the last star of the bin. An incomplete last bin takes the density of the last 20 stars.
///
/// The density is 19 stars, not 20, over this volume. The reason is the scatter of the volume up to the k-th next star:
/// where the density is n, the mean of 1 / volume is n / (k - 1).
#[inline]
pub fn number_density(radii: &[f64], first: usize) -> f64 {
    let begin = first.min(radii.len() - BIN);
    density_between(radii, begin, begin + BIN)
}

/// Number of stars in the unit of volume from the star before `begin` to the one before `end`.
fn density_between(radii: &[f64], begin: usize, end: usize) -> f64 {
    let inner = if begin == 0 { 0.0 } else { radii[begin - 1] };
    let outer = radii[end - 1];
    let volume = 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner);
    if volume > 0.0 {
        (end - begin - 1) as f64 / volume
    } else {
        0.0
    }
}

/// What equation 7 needs to know of some stars: their number, mass, m^2, m v^2, and the mass of the heaviest.
pub type Moments = [f64; 5];

/// The moments of these stars.
pub fn moments(m: &[f64], vr: &[f64], vt: &[f64]) -> Moments {
    let mut sums = [m.len() as f64, 0.0, 0.0, 0.0, 0.0];
    for k in 0..m.len() {
        let v2 = vr[k] * vr[k] + vt[k] * vt[k];
        sums[1] += m[k];
        sums[2] += m[k] * m[k];
        sums[3] += m[k] * v2;
        sums[4] = sums[4].max(m[k]);
    }
    sums
}

/// How much dynamical friction shortens the step, in units of the product of the masses.
///
/// With equal dispersions sigma a heavy star of mass M slows down at the rate (4/3) sqrt(2 pi) <m> n ln(gamma N) (M -
/// <m>) / sigma^3. No star can lose more than its velocity, so a step must be short against the inverse of this rate.
/// In longer steps heavy stars would slow down too little where stars are dense. With this factor, and theta_max = 1,
/// the heaviest star of the densest bin loses a fifth of its velocity in a step.
const FRICTION: f64 = 7.0;

/// Equation 7 for stars of these moments, with a term for the friction of the heaviest star and without it. The term is 0 for equal masses.
/// The relative speed of a Maxwell distribution is 4 sigma / sqrt(pi).
///
/// The ratio of theta_max to pi/2 enters squared, as in Fregeau and Rasio (2007) and in CMC's source: then
/// theta_max is the deflection in an encounter of typical speed. (The paper prints the ratio without the square.)
pub fn relaxation(
    settings: &Settings,
    coulomb: f64,
    density: f64,
    [count, mass, square, energy, heaviest]: Moments,
) -> [f64; 2] {
    let sigma = (energy / (3.0 * mass)).sqrt();
    let speed = 4.0 * sigma / PI.sqrt();
    let mean = mass / count;
    // <(M1 + M2)^2> of independent stars.
    let equal = 2.0 * square / count + 2.0 * mean * mean;
    let masses = equal + FRICTION * mean * (heaviest - mean);
    [masses, equal]
        .map(|masses| angle(settings) * speed * speed * speed / (coulomb * density * masses))
}

/// The factor of equation 7 that has theta_max.
pub fn angle(settings: &Settings) -> f64 {
    let angle = settings.theta_max / (PI / 2.0);
    angle * angle * (PI / 32.0)
}

/// Part of the step of equation 7 that a cluster with a black hole takes. Stars on eccentric orbits stay for a whole step where they are
/// fastest. In the full step the hole takes a fifth too few; half of this step changes nothing more.
pub const WITH_HOLE: f64 = 0.25;

/// Part of the collision time of the central stars that a step may take, as in CMC. A pair has at most one collision in a step,
/// and a star at most one merger. So the mergers of a long step are too few, and a heavy star grows too slowly.
pub const WITH_COLLISIONS: f64 = 5e-3;

/// The moments of this rank's whole bins.
pub fn of_bins(stars: &Stars, moments_of_bins: &mut Vec<Moments>) {
    (
        stars.m.par_chunks_exact(BIN),
        stars.vr.par_chunks_exact(BIN),
        stars.vt.par_chunks_exact(BIN),
    )
        .into_par_iter()
        .with_min_len(crate::stars::BINS_AT_A_TIME)
        .map(|(m, vr, vt)| moments(m, vr, vt))
        .collect_into_vec(moments_of_bins);
}

/// The least relaxation times of the bins `own`, each with its `NEIGHBOURS` on both sides, from the moments of all whole bins: with the term for friction
/// and without it.
pub fn least_relaxation(
    settings: &Settings,
    coulomb: f64,
    radii: &[f64],
    moments: &[Moments],
    own: Range<usize>,
) -> [f64; 2] {
    own.into_par_iter()
        .with_min_len(crate::stars::BINS_AT_A_TIME)
        .map(|bin| {
            let window = bin.saturating_sub(NEIGHBOURS)..(bin + NEIGHBOURS + 1).min(moments.len());
            let mut sums = Moments::default();
            for of_bin in &moments[window.clone()] {
                let heaviest = sums[4].max(of_bin[4]);
                sums.iter_mut().zip(of_bin).for_each(|(sum, m)| *sum += m);
                sums[4] = heaviest;
            }
            let density = density_between(radii, window.start * BIN, window.end * BIN);
            relaxation(settings, coulomb, density, sums)
        })
        .filter(|steps| steps[0] > 0.0)
        .reduce(
            || [f64::INFINITY; 2],
            |a, b| [a[0].min(b[0]), a[1].min(b[1])],
        )
}

/// What equation 8 averages over the central stars: their number, m, m v^2, R^2 and m R.
pub fn central_sums(
    settings: &Settings,
    mean_mass: f64,
    m: &[f64],
    vr: &[f64],
    vt: &[f64],
) -> [f64; 5] {
    let mut sums = [0.0; 5];
    for k in 0..m.len() {
        let radius = settings.stellar_radius(m[k], mean_mass);
        let v2 = vr[k] * vr[k] + vt[k] * vt[k];
        let terms = [1.0, m[k], m[k] * v2, radius * radius, m[k] * radius];
        sums.iter_mut()
            .zip(terms)
            .for_each(|(sum, term)| *sum += term);
    }
    sums
}

/// Equation 8 from these sums over the stars within the radius `outer`.
pub fn collision([count, mass, energy, squares, moments]: [f64; 5], outer: f64) -> f64 {
    let density = (count - 1.0) / (4.0 / 3.0 * PI * outer * outer * outer);
    let sigma2 = energy / (3.0 * mass);
    let focussing = 1.0 + moments / (2.0 * sigma2 * squares);
    let rate = 16.0 * PI.sqrt() * density * squares / count * sigma2.sqrt() * focussing;
    if rate > 0.0 {
        1.0 / rate
    } else {
        f64::INFINITY
    }
}
