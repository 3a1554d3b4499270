//! The star clusters that `bench` and `check` send to a library, and the predictor for their stars. Everything is in
//! double precision and follows from a seed, so each worker process makes the same cluster.

use kirin_core::sources::particle::JParticle;
use kirin_kit::Body;
pub use kirin_kit::models::Random;
pub use kirin_kit::vector::{Vec3, dot, hypot, sub};

/// A Plummer sphere of `n` stars at time 0 in standard N-body units. The star at address a has the label 2 a + 1, so
/// that a library that confuses the two is noticed.
pub fn plummer(n: usize, seed: u64) -> Vec<JParticle> {
    let bodies = kirin_kit::models::plummer(n, seed);
    let star = |(address, body): (usize, Body)| JParticle {
        index: label(address),
        mass: body.mass,
        x: body.x,
        v: body.v,
        ..JParticle::default()
    };
    bodies.into_iter().enumerate().map(star).collect()
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
