//! The star clusters that `bench` and `check` send to a library, and the predictor
//! that says where their stars are: everything in double precision and from a seed,
//! so that each worker process makes the same cluster by itself.

use std::f64::consts::PI;

use kirin::grape::particle::JParticle;

/// A vector.
pub type Vec3 = [f64; 3];

/// Random numbers: SplitMix64.
pub struct Random(u64);

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A vector of length `r` in a random direction.
    pub fn direction(&mut self, r: f64) -> Vec3 {
        loop {
            let p: Vec3 = std::array::from_fn(|_| 2.0 * self.uniform() - 1.0);
            let p2 = dot(&p, &p);
            if p2 <= 1.0 && p2 > 1e-4 {
                return p.map(|c| c * (r / p2.sqrt()));
            }
        }
    }
}

/// Scalar product.
pub fn dot(a: &Vec3, b: &Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A Plummer sphere of `n` stars of mass 1/n at rest in time 0, in standard N-body units
/// up to sampling noise; labels are the odd numbers, which a library cannot mistake for addresses.
pub fn plummer(n: usize, random: &mut Random) -> Vec<JParticle> {
    let scale = 3.0 * PI / 16.0;
    (0..n)
        .map(|address| {
            let root = (0.999 * random.uniform()).cbrt();
            let r = root / (1.0 - root * root).sqrt();
            let escape = (2.0 / (1.0 + r * r).sqrt()).sqrt();
            // Speed: q^2 (1 - q^2)^(7/2) in units of the escape speed, below 0.0925 everywhere.
            let q = loop {
                let (q, height) = (random.uniform(), 0.0925 * random.uniform());
                if height < q * q * (1.0 - q * q).powf(3.5) {
                    break q;
                }
            };
            JParticle {
                index: label(address),
                mass: 1.0 / n as f64,
                x: random.direction(scale * r),
                v: random.direction(q * escape / scale.sqrt()),
                ..JParticle::default()
            }
        })
        .collect()
}

/// The label of the star at an address.
pub fn label(address: usize) -> i32 {
    i32::try_from(2 * address + 1).expect("labels are 32-bit integers")
}

/// The address of the star with a label.
pub fn address(label: i32) -> Option<usize> {
    let label = usize::try_from(label).ok()?;
    (label % 2 == 1).then_some(label / 2)
}

/// Gives each star a block time before 0 and derivatives of its motion, as between the
/// steps of a Hermite integration; `snap` adds the fourth order, which most clients leave zero.
pub fn set_in_motion(stars: &mut [JParticle], snap: bool, random: &mut Random) {
    for p in stars {
        p.t = -0.5_f64.powi(5 + (8.0 * random.uniform()) as i32);
        let pull = -0.5 / (0.35 + dot(&p.x, &p.x)).powf(1.5);
        p.aby2 = p.x.map(|c| pull * c);
        p.a1by6 = random.direction(1.0 / 6.0);
        if snap {
            p.a2by18 = random.direction(30.0 / 18.0);
        }
    }
}

/// Position and velocity at the time `ti`: the full predictor of GRAPE-6, evaluated from the
/// highest order inwards.
pub fn predict(p: &JParticle, ti: f64) -> (Vec3, Vec3) {
    let s = ti - p.t;
    if s == 0.0 {
        return (p.x, p.v);
    }
    let x = |k: usize| {
        p.x[k] + s * (p.v[k] + s * (p.aby2[k] + s * (p.a1by6[k] + s * (0.75 * p.a2by18[k]))))
    };
    let v = |k: usize| {
        p.v[k] + s * (2.0 * p.aby2[k] + s * (3.0 * p.a1by6[k] + s * (3.0 * p.a2by18[k])))
    };
    ([0, 1, 2].map(x), [0, 1, 2].map(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sphere_is_plummers_and_in_equilibrium() {
        let stars = plummer(20_000, &mut Random::new(1));
        let mut radii: Vec<f64> = stars.iter().map(|p| dot(&p.x, &p.x).sqrt()).collect();
        radii.sort_by(f64::total_cmp);
        let scale = 3.0 * PI / 16.0;
        assert!((radii[10_000] / scale / 1.305 - 1.0).abs() < 0.03);
        let kinetic: f64 = stars.iter().map(|p| 0.5 * p.mass * dot(&p.v, &p.v)).sum();
        assert!((kinetic - 0.25).abs() < 0.01, "{kinetic}");
    }

    #[test]
    fn the_predictor_follows_the_taylor_series() {
        let [x, v, a, j, k] = [1.0, -0.5, 0.25, 2.0, -3.0];
        let p = JParticle {
            x: [x; 3],
            v: [v; 3],
            aby2: [a / 2.0; 3],
            a1by6: [j / 6.0; 3],
            a2by18: [k / 18.0; 3],
            t: 0.5,
            ..JParticle::default()
        };
        let s: f64 = 0.125;
        let (xp, vp) = predict(&p, 0.625);
        let x = x + v * s + a * s.powi(2) / 2.0 + j * s.powi(3) / 6.0 + k * s.powi(4) / 24.0;
        let v = v + a * s + j * s.powi(2) / 2.0 + k * s.powi(3) / 6.0;
        assert!((xp[1] - x).abs() < 1e-15 && (vp[2] - v).abs() < 1e-15);
    }

    #[test]
    fn labels_lead_back_to_addresses() {
        assert_eq!(address(label(77)), Some(77));
        assert_eq!((address(4), address(-1)), (None, None));
    }
}
