//! Phase 2, time step: one step for all stars. It is the least of the relaxation times of all bins (equation 7), or
//! the collision time in the centre (equation 8) if that is less.

use std::f64::consts::PI;

use rayon::prelude::*;

use crate::partition::BIN;
use crate::settings::Settings;
use crate::stars::Stars;

/// Bins over whose stars the collision time is averaged: 300 stars, after Goswami et al. (2012).
pub const CENTRAL_BINS: usize = 15;

/// Number of stars in the unit of volume about the bin that begins with star `first`: the bin reaches from
/// the star before it to its last one. The last bin, if incomplete, takes the density of the last 20 stars.
///
/// The volume up to the k-th next star scatters, and the mean of its inverse is n / (k - 1): therefore
/// 19 stars and not 20 stand above it.
#[inline]
pub fn number_density(radii: &[f64], first: usize) -> f64 {
    let begin = first.min(radii.len() - BIN);
    let inner = if begin == 0 { 0.0 } else { radii[begin - 1] };
    let outer = radii[begin + BIN - 1];
    let volume = 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner);
    if volume > 0.0 {
        (BIN - 1) as f64 / volume
    } else {
        0.0
    }
}

/// Equation 7 for one whole bin. The relative speed of a Maxwell distribution is 4 sigma / sqrt(pi).
///
/// The square of theta_max over pi/2 is that of Fregeau and Rasio (2007) and of CMC's source: then theta_max is
/// the deflection in an encounter of typical speed. (The paper prints the ratio without it.)
pub fn relaxation(
    settings: &Settings,
    coulomb: f64,
    density: f64,
    m: &[f64],
    vr: &[f64],
    vt: &[f64],
) -> f64 {
    let count = m.len() as f64;
    let (mut mass, mut square, mut energy) = (0.0, 0.0, 0.0);
    for k in 0..m.len() {
        mass += m[k];
        square += m[k] * m[k];
        energy += m[k] * (vr[k] * vr[k] + vt[k] * vt[k]);
    }
    let sigma = (energy / (3.0 * mass)).sqrt();
    let speed = 4.0 * sigma / PI.sqrt();
    // <(M1 + M2)^2> of independent stars.
    let masses = 2.0 * square / count + 2.0 * (mass / count) * (mass / count);
    let angle = settings.theta_max / (PI / 2.0);
    angle * angle * (PI / 32.0) * speed * speed * speed / (coulomb * density * masses)
}

/// The least relaxation time of this rank's whole bins.
pub fn least_relaxation(
    settings: &Settings,
    coulomb: f64,
    radii: &[f64],
    first: usize,
    stars: &Stars,
) -> f64 {
    (
        stars.m.par_chunks_exact(BIN),
        stars.vr.par_chunks_exact(BIN),
        stars.vt.par_chunks_exact(BIN),
    )
        .into_par_iter()
        .enumerate()
        .with_min_len(crate::stars::BINS_AT_A_TIME)
        .map(|(bin, (m, vr, vt))| {
            let density = number_density(radii, first + bin * BIN);
            relaxation(settings, coulomb, density, m, vr, vt)
        })
        .filter(|step| *step > 0.0)
        .reduce(|| f64::INFINITY, f64::min)
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
