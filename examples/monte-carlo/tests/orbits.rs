//! Orbits: pericentre, apocentre and the distribution of positions on an orbit, against exact results for the
//! potentials of Kepler and Plummer.

use monte_carlo::bisection::STARS_TOGETHER;
use monte_carlo::orbit::{Apsis, Star, find_apsides};
use monte_carlo::position::{self, Orbit};
use monte_carlo::potential::Potential;
use monte_carlo::random::Stream;

/// A test star of no mass at node `index` of these shells.
fn star(potential: &Potential, index: usize, velocity: [f64; 2]) -> Star {
    Star::new(potential, index, 0.0, velocity)
}

/// Pericentre and apocentre.
fn apsides(potential: &Potential, star: &Star) -> [Apsis; 2] {
    let mut orbits = [Orbit::of(*star, 0)];
    find_apsides(potential, &mut orbits);
    orbits[0].ends
}

/// Nearly all mass in the innermost shell, and shells of no mass that give the potential its nodes.
fn kepler() -> (Potential, Vec<f64>) {
    let radii: Vec<f64> = (1..4000).map(|k| 0.001 * f64::from(k)).collect();
    let mut masses = vec![0.0; radii.len()];
    masses[0] = 1.0;
    let mut potential = Potential::default();
    potential.update(&masses, &radii);
    (potential, radii)
}

/// Plummer's sphere of scale length and mass 1, as many shells of equal mass.
fn plummer(n: usize) -> (Potential, Vec<f64>) {
    let radius = |k: usize| {
        let part = (k as f64 + 0.5) / n as f64;
        1.0 / (part.powf(-2.0 / 3.0) - 1.0).sqrt()
    };
    let radii: Vec<f64> = (0..n).map(radius).collect();
    let mut potential = Potential::default();
    potential.update(&vec![1.0 / n as f64; n], &radii);
    (potential, radii)
}

/// Probability that the greatest distance of an empirical distribution of `n` values is at least this.
fn kolmogorov(distance: f64, n: usize) -> f64 {
    let root = (n as f64).sqrt();
    let x = (root + 0.12 + 0.11 / root) * distance;
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    (1..100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// Draws `n` positions and compares them with the distribution function `part`.
fn p_value(
    potential: &Potential,
    radii: &[f64],
    star: &Star,
    seed: u64,
    part: impl Fn(f64) -> f64,
) -> f64 {
    let mut streams = [Stream::of_seed(seed)];
    let n = 125 * STARS_TOGETHER;
    let mut exceeded = 0;
    let mut drawn = Vec::new();
    for _ in 0..n / STARS_TOGETHER {
        let mut orbits = [Orbit::of(*star, 0); STARS_TOGETHER];
        find_apsides(potential, &mut orbits);
        position::sample(potential, radii, &mut orbits, &mut streams);
        exceeded += orbits.iter().map(|orbit| orbit.exceeded).sum::<u32>();
        drawn.extend(orbits.map(|orbit| orbit.place.expect("no circle").r));
    }
    drawn.sort_by(f64::total_cmp);
    // All that wait at that moment meet the same bound.
    assert!(
        exceeded < 5 * STARS_TOGETHER as u32,
        "the bound of the rejection was too low {exceeded} times"
    );
    let distance = drawn.iter().enumerate().fold(0.0, |most: f64, (k, r)| {
        let (below, above) = (k as f64 / n as f64, (k + 1) as f64 / n as f64);
        most.max((part(*r) - below).abs())
            .max((above - part(*r)).abs())
    });
    kolmogorov(distance, n)
}

#[test]
fn apsides_of_kepler_are_exact() {
    let (potential, radii) = kepler();
    for (index, vr, vt) in [
        (1000, 0.3, 0.9),
        (1000, 0.0, 0.5),
        (500, -0.7, 1.1),
        (3000, 0.2, 0.1),
    ] {
        let star = star(&potential, index, [vr, vt]);
        let r = radii[index - 1];
        let energy = 0.5 * (vr * vr + vt * vt) - 1.0 / r;
        let a = -0.5 / energy;
        let e = (1.0 - (r * vt) * (r * vt) / a).max(0.0).sqrt();
        let [near, far] = apsides(&potential, &star);
        assert!((near.r / (a * (1.0 - e)) - 1.0).abs() < 1e-10, "{near:?}");
        assert!((far.r / (a * (1.0 + e)) - 1.0).abs() < 1e-10, "{far:?}");
    }
}

/// In the shells' own potential, term by term: Q is 0 at both ends to rounding.
#[test]
fn apsides_of_shells_are_roots() {
    let n = 3000;
    let (potential, radii) = plummer(n);
    let m = 1.0 / n as f64;
    for (index, vr, vt) in [
        (700, 0.4, 0.3),
        (1, 0.2, 0.6),
        (2, 0.9, 0.1),
        (1500, 0.01, 0.4),
        (3000, 0.01, 0.02),
        (2999, -0.1, 0.0),
    ] {
        // With its own mass, which it does not feel.
        let star = Star::new(&potential, index, m, [vr, vt]);
        let phi = |at: f64| -> f64 {
            let others = (1..=n).filter(|k| *k != index);
            -others.map(|k| m / radii[k - 1].max(at)).sum::<f64>()
        };
        let r = radii[index - 1];
        let energy = phi(r) + 0.5 * (vr * vr + vt * vt);
        let q = |at: f64| 2.0 * (energy - phi(at)) - (r * vt / at).powi(2);
        let [near, far] = apsides(&potential, &star);
        for (apsis, inwards) in [(near, 1.0), (far, -1.0)] {
            // A root by bisection between the star and what is beyond the apsis.
            let (mut good, mut bad) = (r, if inwards > 0.0 { 1e-9 } else { 1e4 });
            if vt == 0.0 && inwards > 0.0 {
                assert_eq!(apsis.r, 0.0);
                continue;
            }
            for _ in 0..200 {
                let middle = 0.5 * (good + bad);
                if q(middle) >= 0.0 {
                    good = middle
                } else {
                    bad = middle
                }
            }
            assert!(
                (apsis.r / good - 1.0).abs() < 1e-10,
                "{index} {apsis:?} {good}"
            );
        }
    }
}

/// The mean anomaly over pi is the part of the orbit within r: Kepler's equation.
#[test]
fn positions_on_a_kepler_orbit_are_distributed_as_kepler_says() {
    let (potential, radii) = kepler();
    for (seed, vr, vt) in [(1, 0.3, 0.9), (2, 0.0, 0.3), (3, 0.1, 1.01), (4, 0.9, 0.4)] {
        let star = star(&potential, 1000, [vr, vt]);
        let [near, far] = apsides(&potential, &star).map(|apsis| apsis.r);
        let (a, e) = (0.5 * (near + far), (far - near) / (far + near));
        let part = |r: f64| {
            let eccentric = ((1.0 - r / a) / e).clamp(-1.0, 1.0).acos();
            (eccentric - e * eccentric.sin()) / std::f64::consts::PI
        };
        let p = p_value(&potential, &radii, &star, seed, part);
        assert!(p > 0.001, "seed {seed}: p = {p}");
    }
}

/// The distribution function from an integral over the analytic potential -1 / sqrt(1 + r^2).
#[test]
fn positions_on_a_plummer_orbit_are_distributed_as_the_period_says() {
    let (potential, radii) = plummer(200_000);
    for (seed, index, vr, vt) in [
        (1, 60_000, 0.5, 0.2),
        (2, 100_000, 0.1, 0.5),
        (3, 20_000, 0.8, 0.05),
        (4, 100_000, 0.6, 0.0),
    ] {
        let star = star(&potential, index, [vr, vt]);
        let r0 = radii[index - 1];
        let phi = |r: f64| -1.0 / (1.0 + r * r).sqrt();
        let energy = phi(r0) + 0.5 * (vr * vr + vt * vt);
        let momentum = r0 * vt;
        let q = |r: f64| 2.0 * (energy - phi(r)) - (momentum / r).powi(2);
        let end = |mut good: f64, mut bad: f64| {
            for _ in 0..200 {
                let middle = 0.5 * (good + bad);
                if q(middle) >= 0.0 {
                    good = middle
                } else {
                    bad = middle
                }
            }
            good
        };
        let near = if vt > 0.0 { end(r0, 1e-12) } else { 0.0 };
        let far = end(r0, 1e6);
        // r = middle - half cos x takes the singularities away.
        let (middle, half) = (0.5 * (near + far), 0.5 * (far - near));
        let steps = 20_000;
        let mut table = vec![0.0];
        for k in 0..steps {
            let x = (f64::from(k) + 0.5) / f64::from(steps) * std::f64::consts::PI;
            let r = middle - half * x.cos();
            table.push(table[k as usize] + half * x.sin() / q(r).max(1e-300).sqrt());
        }
        let part = |r: f64| {
            let x = ((middle - r) / half).clamp(-1.0, 1.0).acos() / std::f64::consts::PI;
            let at = x * f64::from(steps);
            let k = (at as usize).min(table.len() - 2);
            (table[k] + (at - k as f64) * (table[k + 1] - table[k])) / table[table.len() - 1]
        };
        let p = p_value(&potential, &radii, &star, seed, part);
        assert!(p > 0.001, "seed {seed}: p = {p}");
    }
}

#[test]
fn a_circle_stays_a_circle() {
    let (potential, radii) = kepler();
    let star = star(&potential, 1000, [0.0, 1.0]);
    let mut orbits = [Orbit::of(star, 0)];
    find_apsides(&potential, &mut orbits);
    let ends = orbits[0].ends;
    assert!((ends[1].r - ends[0].r).abs() < 1e-7, "{ends:?}");
    position::sample(&potential, &radii, &mut orbits, &mut [Stream::of_seed(1)]);
    let place = orbits[0].place;
    assert!(place.is_none_or(|place| (place.r - 1.0).abs() < 1e-7));
}
