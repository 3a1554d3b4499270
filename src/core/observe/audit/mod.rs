//! Recomputes a sample of the results in double precision on the host (`KIRIN_CHECK`), to find faulty hardware.
//!
//! One i-particle of the first block is checked. Of each later block up to eight random i-particles are checked, as
//! long as the checks take no more than a tenth of the time since the first block. A result is reported if it differs
//! from the recomputed one by more than its precision can explain. Only the first such result is reported in full.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::force::scaling::CLOSE;
use crate::force::{ForceRequest, Results, reference};
use crate::process::settings::Precision;
use crate::random::Random;
use crate::sources::jmemory::{JMemory, PAGE};
use crate::sources::neighbours::{distance2, update_nearest};
use crate::sources::particle::{Force, IParticle, Nearest};

/// Checks may take one part in this many of the time.
const ONE_IN: u32 = 10;

/// The most i-particles of one block that are checked.
const AT_MOST: f64 = 8.0;

/// The errors that are allowed to a precision: ten times those of its arithmetic.
struct Allowed {
    /// Relative to the magnitude of a term. If positions have errors, the distance in that term is the softened one.
    term: f64,
    /// The same for jerks.
    jerk: f64,
    /// The error of a position, relative to a coordinate. It is 0 in double precision: every backend predicts by the
    /// same operations, and `term` covers the rounding of the difference of two positions.
    position: f64,
    /// Relative to a component of a velocity.
    velocity: f64,
    /// A pair is close if its distance is below this fraction of the i-particle's distance from the origin. Close pairs
    /// are summed in double precision, so their positions have no error.
    close: f64,
}

impl Allowed {
    fn of(precision: Precision) -> Self {
        let bits = |n: i32| 2.0_f64.powi(-n);
        let (term, jerk, position, velocity, close) = match precision {
            Precision::Double => (1e-12, 1e-12, 0.0, bits(50), 0.0),
            // Its kernels sum what is closer than 2^-9 in double precision.
            Precision::DoubleSingle => (1e-10, 1e-5, bits(44), bits(21), bits(9)),
            Precision::Mixed => (1e-5, 1e-5, bits(44), bits(21), CLOSE),
            Precision::Single => (1e-4, 1e-4, bits(21), bits(21), 0.0),
            Precision::Reduced => (2e-3, 1e-4, bits(21), bits(21), 0.0),
        };
        Self {
            term,
            jerk,
            position,
            velocity,
            close,
        }
    }
}

/// Errors, allowed or found: lengths of the differences of vectors.
#[derive(Clone, Copy, Debug, Default)]
struct Differences {
    acc: f64,
    jerk: f64,
    pot: f64,
}

/// One i-particle, recomputed.
struct Exact {
    force: Force,
    allowed: Differences,
    nearest: Option<Nearest>,
}

/// A computed block.
#[derive(Clone, Copy)]
pub struct Computed<'a> {
    /// The j-particles.
    pub memory: &'a JMemory,
    /// The block.
    pub block: &'a ForceRequest,
    /// Its results.
    pub results: &'a Results,
    /// Whether the results include nearest neighbours.
    pub nearest: bool,
    /// The precision of the results.
    pub precision: Precision,
}

/// The checks of one cluster.
#[derive(Default)]
pub struct Audit {
    /// When the first block was computed.
    began: Option<Instant>,
    spent: Duration,
    blocks: u64,
    pairs: u64,
    checked: u64,
    wrong: u64,
    random: Random,
    /// Whether results that are not finite were reported.
    told_not_finite: bool,
    /// Whether a `lasthalf` with other arguments than its `firsthalf` was reported.
    told_difference: bool,
}

impl Audit {
    /// Checks a computed block. Returns the first discrepancy, in words.
    pub fn inspect(&mut self, what: Computed<'_>) -> Option<String> {
        self.blocks += 1;
        let (ni, nj) = (what.block.particles.len(), what.block.nj);
        if ni == 0 || nj == 0 {
            return None;
        }
        let now = Instant::now();
        let began = *self.began.get_or_insert(now);
        let samples = match self.pairs {
            0 => 1,
            pairs => {
                let allowed = (now - began) / ONE_IN;
                let left = allowed.saturating_sub(self.spent).as_secs_f64();
                let one = self.spent.as_secs_f64() / pairs as f64 * nj as f64;
                (left / one).min(AT_MOST).min(ni as f64) as usize
            }
        };
        let mut found = None;
        for _ in 0..samples {
            let i = self.pick(ni);
            self.checked += 1;
            self.pairs += nj as u64;
            if let Some(discrepancy) = compare(what, i) {
                self.wrong += 1;
                if self.wrong == 1 {
                    found = Some(format!("block {}{discrepancy}", self.blocks));
                }
            }
        }
        if samples > 0 {
            self.spent += now.elapsed();
        }
        found
    }

    /// Which results of a computed block are NaN or infinite, in words. Tells the first.
    pub fn not_finite(&mut self, block: &ForceRequest, results: &Results) -> Option<String> {
        if self.told_not_finite {
            return None;
        }
        let (i, _) = (results.forces.iter().enumerate()).find(|(_, force)| !force.is_finite())?;
        self.told_not_finite = true;
        Some(format!(
            "block {} (nj = {}, ni = {}, t = {}): the force on i-particle {i} (index {}) is not finite; a number of it \
             or of a j-particle is not, or is too large; further ones are not told",
            self.blocks,
            block.nj,
            block.particles.len(),
            block.ti,
            block.particles.get(i).map_or(0, |p| p.index),
        ))
    }

    /// How the arguments of a `lasthalf` differ from the block, in words. Tells the first.
    pub fn difference(
        &mut self,
        block: &ForceRequest,
        nj: usize,
        particles: impl Iterator<Item = IParticle>,
    ) -> Option<String> {
        if self.told_difference {
            return None;
        }
        let found =
            match nj == block.nj {
                false => Some(format!("nj = {nj}, but that of firsthalf was {}", block.nj)),
                true => block.particles.iter().zip(particles).enumerate().find_map(
                    |(i, (first, last))| {
                        let bits = |p: &IParticle| p.x.map(f64::to_bits);
                        let what = if first.index != last.index {
                            "index"
                        } else if bits(first) != bits(&last) {
                            "xi"
                        } else if first.eps2.to_bits() != last.eps2.to_bits() {
                            "eps2"
                        } else {
                            return None;
                        };
                        Some(format!("{what} of i-particle {i} is not that of firsthalf"))
                    },
                ),
            }?;
        self.told_difference = true;
        Some(format!("{found}; the arguments of firsthalf count"))
    }

    /// How many i-particles were checked, and how many of them were wrong.
    pub fn counts(&self) -> (u64, u64) {
        (self.checked, self.wrong)
    }

    fn pick(&mut self, ni: usize) -> usize {
        self.random.below(ni as u32) as usize
    }
}

/// What is wrong with the results of i-particle `i`, in words; `None` if they are right.
fn compare(what: Computed<'_>, i: usize) -> Option<String> {
    let ForceRequest { nj, ti, particles } = what.block;
    let (particle, found) = (&particles[i], &what.results.forces[i]);
    let exact = recompute(what, particle);
    if !exact.force.is_finite() {
        return None; // the input is not finite, or the forces are beyond all numbers
    }
    let differences = Differences {
        acc: distance(&found.acc, &exact.force.acc),
        jerk: distance(&found.jerk, &exact.force.jerk),
        pot: (found.pot - exact.force.pot).abs(),
    };
    let allowed = exact.allowed;
    let label = |n: &Option<Nearest>| n.map(|n| n.index);
    let nearest = match what.nearest {
        true => [label(&what.results.nearest[i]), label(&exact.nearest)],
        false => [None; 2],
    };
    // A NaN is not within any limit.
    let within = differences.acc <= allowed.acc
        && differences.jerk <= allowed.jerk
        && differences.pot <= allowed.pot;
    if within && nearest[0] == nearest[1] {
        return None;
    }
    let mut text = format!(
        " (nj = {nj}, ni = {}, t = {ti}), i-particle {i} (index {}) of precision {}: ",
        particles.len(),
        particle.index,
        what.precision
    );
    for (name, found, exact, difference, allowed) in [
        (
            "acc",
            &found.acc[..],
            &exact.force.acc[..],
            differences.acc,
            allowed.acc,
        ),
        (
            "jerk",
            &found.jerk,
            &exact.force.jerk,
            differences.jerk,
            allowed.jerk,
        ),
        (
            "pot",
            &[found.pot],
            &[exact.force.pot],
            differences.pot,
            allowed.pot,
        ),
    ] {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{name} {found:e}, on the host {exact:e}, difference {difference:.1e}, at most {allowed:.1e}; ",
            found = AllDigits(found),
            exact = AllDigits(exact),
        );
    }
    if nearest[0] != nearest[1] {
        let name = |n: Option<i32>| n.map_or("none".to_owned(), |n| n.to_string());
        let [found, exact] = nearest.map(name);
        let _ = write!(text, "nearest neighbour {found}, on the host {exact}; ");
    }
    text += "further ones are counted only";
    Some(text)
}

/// Numbers with all their digits.
struct AllDigits<'a>(&'a [f64]);

impl std::fmt::LowerExp for AllDigits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, n) in self.0.iter().enumerate() {
            write!(f, "{}{n:.16e}", if k > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    norm(&[a[0] - b[0], a[1] - b[1], a[2] - b[2]])
}

fn norm(a: &[f64; 3]) -> f64 {
    a[0].hypot(a[1]).hypot(a[2])
}

fn greatest(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().chain(b).fold(0.0, |most, c| c.abs().max(most))
}

/// The force on one i-particle, its nearest neighbour, and the errors allowed to them.
fn recompute(what: Computed<'_>, i: &IParticle) -> Exact {
    let ForceRequest { nj, ti, .. } = *what.block;
    let bounds = Allowed::of(what.precision);
    let mut exact = Exact {
        force: Force::default(),
        allowed: Differences::default(),
        nearest: None,
    };
    let mut x = [[0.0; PAGE]; 3];
    let mut v = [[0.0; PAGE]; 3];
    for page in what.memory.pages(nj) {
        page.predict_positions(ti, &mut x);
        page.predict_velocities(ti, &mut v);
        for slot in page.slots(nj) {
            let index = page.index()[slot];
            let r2 = distance2(&i.x, &x, slot);
            if what.nearest {
                update_nearest(&mut exact.nearest, i, index, r2);
            }
            if index != i.index {
                let at = |c: &[[f64; PAGE]; 3]| [c[0][slot], c[1][slot], c[2][slot]];
                let (m, xj, vj) = (page.mass()[slot], at(&x), at(&v));
                let i = page.softened(slot, i);
                reference::add_pair(&mut exact.force, &i, m, xj, vj);
                exact.allowed.add(&bounds, &i, m.abs(), &xj, &vj);
            }
        }
    }
    exact
}

impl Differences {
    /// Adds the errors allowed to one pair: those of its position and velocity, to first order, and
    /// the rounding of its terms.
    fn add(&mut self, bounds: &Allowed, i: &IParticle, m: f64, xj: &[f64; 3], vj: &[f64; 3]) {
        let (r, v) = (distance(xj, &i.x), distance(vj, &i.v));
        let s = (r * r + i.eps2).sqrt();
        if m == 0.0 || s == 0.0 {
            return; // no force
        }
        let dr = match s < bounds.close * norm(&i.x) {
            true => 0.0,
            false => 2.0 * bounds.position * greatest(xj, &i.x),
        };
        let dv = 2.0 * bounds.velocity * greatest(vj, &i.v);
        if 4.0 * dr >= s {
            // This precision cannot resolve where the particle is.
            *self = Self {
                acc: f64::INFINITY,
                jerk: f64::INFINITY,
                pot: f64::INFINITY,
            };
            return;
        }
        // Kernels in single precision round positions on a grid that a group of particles shares. The error of a pair is
        // then a part of s, which may be much more than the same part of r.
        let scale = if bounds.position > 0.0 { s } else { r };
        let m_s = m / s;
        // Not m / s^3, which may be too small for a number where the terms are not.
        let m_s2 = m_s / s;
        for (sum, term) in [
            (&mut self.pot, m_s * (bounds.term + 2.0 * dr / s)),
            (&mut self.acc, m_s2 * ((bounds.term * scale + 8.0 * dr) / s)),
            (
                &mut self.jerk,
                m_s2 * ((4.0 * bounds.jerk * v + 4.0 * dv + 36.0 * v * dr / s) / s),
            ),
        ] {
            // A particle whose distance is beyond all numbers exerts no force, and 0 times infinity is none.
            if !term.is_nan() {
                *sum += term;
            }
        }
    }
}

#[cfg(test)]
mod tests;
