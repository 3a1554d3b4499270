//! Random scenes in scales from 1e-30 to 1e30, and their forces in twice the digits of double precision: for the tests
//! of all backends. `ffi-tests` has this file too.

use super::binary::PROMISED;
use super::{Force, IParticle, JParticle, Random};

/// Sources, and particles on which the force is wanted.
pub struct Scene {
    /// The sources, by address.
    pub stars: Vec<(i32, JParticle)>,
    /// The i-particles.
    pub probes: Vec<IParticle>,
}

impl Scene {
    /// The sources, and massless ones at all other addresses that scenes have: to be written over another scene.
    pub fn everywhere(&self) -> Vec<(i32, JParticle)> {
        const ADDRESSES: i32 = 3 * 1024 + 150;
        let nothing = JParticle {
            index: -2,
            mass: 0.0,
            ..self.stars[0].1
        };
        let all = (0..ADDRESSES).map(|address| (address, nothing));
        all.chain(self.stars.iter().copied()).collect()
    }
}

/// A number between 10^-`decades` and 10^`decades`.
fn scale(numbers: &mut Random, decades: f64) -> f64 {
    10.0_f64.powf(decades * numbers.signed())
}

/// A number from 0 to `count` - 1.
fn choice(numbers: &mut Random, count: usize) -> usize {
    (((numbers.signed() + 1.0) * 0.5 * count as f64) as usize).min(count - 1)
}

/// A scene: up to four groups of stars of unlike sizes, speeds and masses, and points where the force is computed.
/// The groups share a page or have pages of their own, and include close pairs and massless stars.
pub fn scene(seed: u64) -> Scene {
    let mut numbers = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let n = &mut numbers;
    let [length, speed, mass] = [0; 3].map(|_| scale(n, 30.0));
    let [sizes, speeds, masses] = [[0.0, 2.0, 6.0, 12.0]; 3].map(|of| of[choice(n, 4)]);
    let apart = choice(n, 2) == 0;
    let mut stars: Vec<(i32, JParticle)> = Vec::new();
    for group in 0..=choice(n, 4) {
        let size = length * scale(n, sizes);
        let centre = match choice(n, 2) {
            0 => [0.0; 3],
            _ => {
                let distance = length * scale(n, sizes);
                n.vector(distance)
            }
        };
        let (fast, heavy) = (speed * scale(n, speeds), mass * scale(n, masses));
        let first = match apart {
            true => 1024 * group,
            false => stars.len(),
        };
        for k in 0..=choice(n, 150) {
            let mut x = n.vector(size);
            if choice(n, 8) == 0 && k > 0 {
                let distance = size * 10.0_f64.powf(-6.0 * (n.signed() + 1.0));
                let close = n.vector(distance);
                let other = stars[stars.len() - 1].1.x;
                x = [0, 1, 2].map(|c| other[c] - centre[c] + close[c]);
            }
            let mass = match choice(n, 6) {
                0 => 0.0,
                1 => heavy * scale(n, masses),
                _ => heavy * (1.5 + n.signed()),
            };
            let star = JParticle {
                index: stars.len() as i32,
                mass,
                x: [0, 1, 2].map(|c| centre[c] + x[c]),
                v: n.vector(fast),
                ..JParticle::default()
            };
            stars.push(((first + k) as i32, star));
        }
    }
    let softening = match choice(n, 2) {
        0 => 0.0,
        _ => length * scale(n, sizes.max(1.0)),
    };
    let probes = (0..8)
        .map(|k| {
            let star = stars[choice(n, stars.len())].1;
            let away = length * scale(n, sizes);
            let (x, v) = (n.vector(away), n.vector(speed));
            let beside = k >= 6;
            IParticle {
                index: if beside { -1 } else { star.index },
                x: [0, 1, 2].map(|c| star.x[c] + if beside { x[c] } else { 0.0 }),
                v: match k % 3 {
                    0 => star.v,
                    1 => [0.0; 3],
                    _ => v,
                },
                eps2: softening * softening,
                h2: 0.0,
            }
        })
        .collect();
    Scene { stars, probes }
}

/// A number as the sum of two.
#[derive(Clone, Copy, Default)]
struct Twofold(f64, f64);

impl Twofold {
    fn sum(a: f64, b: f64) -> Self {
        let s = a + b;
        let t = s - a;
        Self(s, (a - (s - t)) + (b - t))
    }

    fn add(self, other: Self) -> Self {
        let Self(s, e) = Self::sum(self.0, other.0);
        Self::sum(s, e + (self.1 + other.1))
    }

    fn times(self, other: Self) -> Self {
        let p = self.0 * other.0;
        let e = self.0.mul_add(other.0, -p);
        Self::sum(p, e + (self.0 * other.1 + self.1 * other.0))
    }

    fn scaled(self, factor: f64) -> Self {
        self.times(Self(factor, 0.0))
    }

    /// 1 / sqrt
    fn inverse_root(self) -> Self {
        let y = Self(1.0 / self.0.sqrt(), 0.0);
        let e = Self(1.0, 0.0).add(self.times(y).times(y).scaled(-1.0));
        y.add(y.times(e).scaled(0.5))
    }
}

/// The force on an i-particle, and the errors that `mixed` may have in its acceleration, jerk and potential. The
/// errors allow for velocities that are rounded to single precision before they are subtracted.
pub fn exact(scene: &Scene, i: &IParticle) -> (Force, [f64; 3]) {
    let mut sums = [Twofold::default(); 7];
    let mut allowed = [0.0; 3];
    let norm = |v: [f64; 3]| v.iter().fold(0.0_f64, |norm, c| norm.hypot(*c));
    for (_, star) in &scene.stars {
        let r = [0, 1, 2].map(|c| Twofold::sum(star.x[c], -i.x[c]));
        let v = [0, 1, 2].map(|c| Twofold::sum(star.v[c], -i.v[c]));
        let dot = |a: [Twofold; 3], b: [Twofold; 3]| {
            (0..3).fold(Twofold::default(), |sum, c| sum.add(a[c].times(b[c])))
        };
        let s2 = dot(r, r).add(Twofold(i.eps2, 0.0));
        if star.index == i.index || s2.0 == 0.0 {
            continue;
        }
        let y = s2.inverse_root();
        let m_r = y.scaled(star.mass);
        let m_r3 = m_r.times(y).times(y);
        let rv = dot(r, v).times(y).times(y).scaled(-3.0);
        for c in 0..3 {
            sums[c] = sums[c].add(m_r3.times(r[c]));
            sums[4 + c] = sums[4 + c].add(m_r3.times(rv.times(r[c]).add(v[c])));
        }
        sums[3] = sums[3].add(m_r.scaled(-1.0));
        let rounding = (norm(i.v) + norm(star.v)) * 2.0_f64.powi(-23);
        allowed[0] += PROMISED[0] * m_r.0 * y.0;
        allowed[1] += (PROMISED[1] * norm(v.map(|v| v.0)) + rounding) * m_r3.0;
        allowed[2] += PROMISED[2] * m_r.0;
    }
    let [x, y, z, pot, jx, jy, jz] = sums.map(|sum| sum.0);
    let force = Force {
        acc: [x, y, z],
        pot,
        jerk: [jx, jy, jz],
    };
    (force, allowed)
}

/// The errors of a force in units of what is allowed; more than anything for what is not a number.
pub fn errors(found: &Force, (exact, allowed): &(Force, [f64; 3])) -> [f64; 3] {
    let norm = |a: [f64; 3], b: [f64; 3]| (0..3).fold(0.0_f64, |n, c| n.hypot(a[c] - b[c]));
    let errors = [
        norm(found.acc, exact.acc),
        norm(found.jerk, exact.jerk),
        (found.pot - exact.pot).abs(),
    ];
    [0, 1, 2].map(|k| match errors[k] {
        0.0 => 0.0,
        e if e.is_nan() => f64::INFINITY,
        e => e / allowed[k],
    })
}
