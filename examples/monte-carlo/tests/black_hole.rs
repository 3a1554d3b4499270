//! A black hole at the centre: orbits near a point mass, its slow growth, the full and the empty loss cone, and energy.

use std::f64::consts::{PI, TAU};

use kirin_kit::command::Start;
use kirin_kit::communicator::{Counted, threads};
use kirin_kit::models::BinaryOptions;
use monte_carlo::bisection::STARS_TOGETHER;
use monte_carlo::black_hole::{BlackHole, Law};
use monte_carlo::cluster::Cluster;
use monte_carlo::error::Error;
use monte_carlo::loss_cone::{LossCone, is_taken, radial_period};
use monte_carlo::model;
use monte_carlo::orbit::{Star, find_apsides};
use monte_carlo::position::{self, Orbit};
use monte_carlo::potential::Potential;
use monte_carlo::random::{Stream, streams};
use monte_carlo::relaxation::{self, Encounters};
use monte_carlo::settings::Settings;
use monte_carlo::stars::Stars;

fn hole(mass: f64, radius: f64) -> BlackHole {
    BlackHole {
        mass,
        law: Law::Capture,
        radius,
        accreted: 1.0,
    }
}

/// A Plummer model with its hole, before its first step.
fn cluster(n: u64, settings: Settings, seed: u64) -> Cluster<threads::Threads> {
    let start = Start {
        n: Some(n),
        seed: Some(seed),
        ..Start::default()
    };
    let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
    let stars = model::draw(&world, &start, &BinaryOptions::default()).unwrap();
    let all = streams(seed, n.div_ceil(20) as usize);
    let mut cluster = Cluster::new(Counted::new(world), settings, stars, &all, None).unwrap();
    cluster.to_standard_units().unwrap();
    cluster.grow_hole().unwrap();
    cluster
}

/// A point mass 1 at the centre, and shells without mass.
fn kepler() -> (Potential, Vec<f64>) {
    let radii: Vec<f64> = (1..4000).map(|k| 0.001 * f64::from(k)).collect();
    let mut potential = Potential::around(1.0);
    potential.update(&vec![0.0; radii.len()], &radii);
    (potential, radii)
}

/// Ends, periods and mean places of orbits around a point mass, from inside the innermost star to eccentricity 0.999.
#[test]
fn orbits_are_those_of_kepler() {
    let (potential, radii) = kepler();
    let mut stream = [Stream::of_seed(1)];
    for (axis, e) in [
        (1.0, 0.3_f64),
        (0.5, 0.9),
        (1.5, 0.999),
        (7e-4, 0.6),
        (0.1, 0.0001),
    ] {
        // The outermost star within the apocentre, so that the orbit passes it.
        let index = potential.star_inside(&radii, axis * (1.0 + 0.9 * e)).max(1);
        let u = potential.nodes[index].u;
        let momentum = (axis * (1.0 - e * e)).sqrt();
        let vt = momentum * u;
        let vr2 = 2.0 * u - 1.0 / axis - vt * vt;
        assert!(vr2 > 0.0, "{axis} {e}");
        let star = Star::new(&potential, index, 0.0, [vr2.sqrt(), vt]);
        let mut orbits = [Orbit::of(star, 0)];
        find_apsides(&potential, &mut orbits);
        let [near, far] = orbits[0].ends.map(|end| end.r);
        assert!((near / (axis * (1.0 - e)) - 1.0).abs() < 1e-9, "{near}");
        assert!((far / (axis * (1.0 + e)) - 1.0).abs() < 1e-9, "{far}");
        let period = radial_period(&potential, &radii, &star);
        assert!(
            (period / (TAU * axis.powf(1.5)) - 1.0).abs() < 1e-6,
            "{axis} {e}: {period}"
        );
        let rounds = 400;
        let (mut inverse, mut square, mut count) = (0.0, 0.0, 0.0);
        for _ in 0..rounds {
            let mut orbits = [Orbit::of(star, 0); STARS_TOGETHER];
            find_apsides(&potential, &mut orbits);
            position::sample(&potential, &radii, &mut orbits, &mut stream);
            for place in orbits.iter().filter_map(|orbit| orbit.place) {
                let value = axis / place.r;
                (inverse, square) = (inverse + value, square + value * value);
                count += 1.0;
            }
        }
        assert_eq!(count, f64::from(rounds) * STARS_TOGETHER as f64);
        // The mean of 1 / r over an orbit is 1 / a.
        let mean = inverse / count;
        let error = ((square / count - mean * mean) / count).sqrt();
        assert!(
            (mean - 1.0).abs() < 4.5 * error + 1e-12,
            "{axis} {e}: {mean} +- {error}"
        );
    }
}

/// Probability that a walk from `start` comes into the cone before it is `out` of reach; in the units of the cone. The square of the
/// displacement in a period is q; an encounter has this many orbits.
fn part_taken(q: f64, orbits: f64, start: f64, out: f64, walkers: u32) -> (f64, f64) {
    let mut stream = Stream::of_seed(11);
    let (mut taken, mut left) = (0, 0.0);
    for _ in 0..walkers {
        let (mut at, mut next) = ([start, 0.0], stream.uniform());
        loop {
            let length = (q * orbits * -stream.uniform().ln()).sqrt();
            let (cos, sin) = stream.angle();
            let to = [at[0] + length * cos, at[1] + length * sin];
            if is_taken(&[at, to], 1.0, orbits, &mut next, &mut stream) {
                taken += 1;
                break;
            }
            at = to;
            if at[0].hypot(at[1]) > out {
                left += at[0].hypot(at[1]).ln();
                break;
            }
        }
    }
    let mean = left / f64::from(walkers - taken);
    (f64::from(taken) / f64::from(walkers), mean)
}

/// Cohn and Kulsrud (1978): outside of the cone the density of stars is proportional to the logarithm of R / R0, where R is
/// J^2 in units of the cone. R0 = exp(-0.186 q - 0.824 q^(1/2)) for q < 1, where q is the square of the
/// deflection of a period in these units. The logarithm of the distance is harmonic in two dimensions, so the probability of capture follows.
#[test]
fn walks_into_the_cone_are_those_of_cohn_and_kulsrud() {
    // The standard error is 0.0025. For q = 1 the formula interpolates between two limits.
    for (q, orbits, tolerance) in [
        (0.003_f64, 30.0, 0.008),
        (0.01, 10.0, 0.008),
        (0.1, 3.0, 0.008),
        (1.0, 0.4, 0.018),
        (1.0, 1.0, 0.018),
    ] {
        let (start, out) = (2.0_f64, 6.0);
        let (found, exit) = part_taken(q, orbits, start, out, 40_000);
        let exponent = 0.186 * q + 0.824 * q.sqrt();
        let expected = (exit - start.ln()) / (exit + 0.5 * exponent);
        println!("q = {q}, {orbits} orbits: {found:.4}, {expected:.4} expected");
        assert!(
            (found - expected).abs() < tolerance,
            "{q} {orbits}: {found} {expected}"
        );
    }
}

/// For large q the exponent is q - ln q + 2 x 0.5772 - pi^2 / (6 q): the arrivals in the disc are those of the potential kernel of a
/// walk of normal steps, p_n = exp(-rho^2 / (n q)) / (pi n q) after n of them, averaged over the disc.
#[test]
fn a_cone_that_is_nearly_full_is_emptied_as_the_kernel_of_the_walk_says() {
    let (start, out, walkers) = (20.0_f64, 60.0, 20_000);
    for q in [6.0_f64, 12.0] {
        let (found, exit) = part_taken(q, 1.0, start, out, walkers);
        let exponent = q - q.ln() + 2.0 * 0.577_215_664_9 - PI * PI / (6.0 * q);
        let expected = (exit - start.ln()) / (exit + 0.5 * exponent);
        println!("q = {q}: {found:.4}, {expected:.4} expected");
        assert!(
            (found / expected - 1.0).abs() < 0.06,
            "{q}: {found} {expected}"
        );
    }
}

/// Where deflections are large against the cone, it stays full: the hole takes stars at the rate at which those of an isotropic distribution of
/// velocities come by. In the centre of Plummer's sphere, with the escape velocity V and v = x V, this is proportional to x^2 (1 - x^2)^(7/2).
#[test]
fn a_full_loss_cone_is_emptied_at_the_rate_of_passages() {
    // A step so short that a star is rarely taken.
    let (n, dt, mass, reach, rounds) = (20_000, 8.0, 1e-3, 1e-2, 12_u32);
    let b = 3.0 * PI / 16.0;
    let escape = (2.0_f64 / b).sqrt();
    let (mut norm, mut flux) = (0.0, 0.0);
    for k in 0..10_000 {
        let x = (f64::from(k) + 0.5) / 10_000.0;
        let weight = x * x * (1.0 - x * x).powf(3.5);
        let v = x * escape;
        norm += weight;
        flux += weight * v * PI * reach * reach * (1.0 + 2.0 * mass / (reach * v * v));
    }
    let density = f64::from(n) * 3.0 / (4.0 * PI * b * b * b);
    let expected = f64::from(rounds) * dt * density * flux / norm;
    let hole = hole(mass, reach);
    let mut taken = 0.0;
    for round in 0..rounds {
        // The hole is so light that the stars need not know of it.
        let mut cluster = cluster(n as u64, Settings::default(), u64::from(round + 1));
        let mut potential = Potential::around(mass);
        potential.update(&cluster.masses, &cluster.radii);
        let mean_mass = 1.0 / f64::from(n);
        let encounters = Encounters {
            settings: &Settings::default(),
            dt,
            // A relaxation time of about a hundred periods.
            coulomb: 50.0,
            mean_mass,
            radii: &cluster.radii,
            potential: &potential,
            cone: Some(LossCone {
                hole,
                mass,
                mean_mass,
                remnants: &[],
                units: None,
                dt,
                radii: &cluster.radii,
                potential: &potential,
            }),
        };
        let mut told = vec![0.0; cluster.streams.len()];
        let stars: &mut Stars = &mut cluster.stars;
        rayon::iter::ParallelIterator::for_each(
            stars.groups(0, &mut cluster.streams, &mut told),
            |mut group| relaxation::of_group(&encounters, &mut group),
        );
        taken += cluster.stars.r.iter().filter(|r| r.is_infinite()).count() as f64;
    }
    println!("{taken} stars taken, {expected:.0} expected");
    assert!(expected > 300.0);
    assert!(
        (taken / expected - 1.0).abs() < 4.0 / expected.sqrt(),
        "{taken} {expected}"
    );
}

/// Stars of the cluster whose actions are compared.
const N_OF_ACTIONS: u64 = 40_000;

/// Label, angular momentum and radial action of each star, by label.
fn actions<C: kirin_kit::communicator::Communicator>(cluster: &Cluster<C>) -> Vec<(u64, [f64; 2])> {
    let (stars, potential, radii) = (&cluster.stars, &cluster.potential, &cluster.radii);
    let action = |k: usize| {
        let star = Star::new(potential, k + 1, stars.m[k], [stars.vr[k], stars.vt[k]]);
        let mut orbits = [Orbit::of(star, 0)];
        find_apsides(potential, &mut orbits);
        let [near, far] = orbits[0].ends;
        let (middle, half) = (0.5 * (near.r + far.r), 0.5 * (far.r - near.r));
        let points = 64;
        let mut sum = 0.0;
        for point in 0..points {
            let (sin, cos) = (PI * (f64::from(point) + 0.5) / f64::from(points)).sin_cos();
            let r = middle + half * cos;
            let index = potential.star_inside(radii, r).clamp(near.index, far.index);
            let square = star.q(&star.felt(potential, index), 1.0 / r);
            sum += half * sin * square.max(0.0).sqrt() / f64::from(points);
        }
        (stars.id[k], [star.momentum, sum])
    };
    let mut all: Vec<_> = (0..stars.len())
        .filter(|k| stars.vr[*k].hypot(stars.vt[*k]) > 0.0)
        .map(action)
        .collect();
    all.sort_by_key(|(id, _)| *id);
    all
}

/// While the hole grows slowly, angular momenta and radial actions stay.
#[test]
fn actions_stay_while_the_hole_grows_before_the_run() {
    let settings = Settings {
        black_hole: Some(hole(0.05, 0.0)),
        ..Settings::default()
    };
    let start = Start {
        n: Some(N_OF_ACTIONS),
        ..Start::default()
    };
    let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
    let stars = model::draw(&world, &start, &BinaryOptions::default()).unwrap();
    let all = streams(1, N_OF_ACTIONS.div_ceil(20) as usize);
    let mut cluster = Cluster::new(Counted::new(world), settings, stars, &all, None).unwrap();
    cluster.to_standard_units().unwrap();
    let before = actions(&cluster);
    cluster.grow_hole().unwrap();
    let after = actions(&cluster);
    let of = |all: &[(u64, [f64; 2])], id: &u64| {
        all[all.binary_search_by_key(id, |(id, _)| *id).unwrap()].1
    };
    // The innermost hundredth, where the hole has most of the mass.
    let inner = &cluster.stars.id[..N_OF_ACTIONS as usize / 100];
    let mut changes: Vec<f64> = inner
        .iter()
        .map(|id| {
            let ([j0, r0], [j1, r1]) = (of(&before, id), of(&after, id));
            assert!((j1 / j0 - 1.0).abs() < 1e-9, "{j0} {j1}");
            ((j1 + r1) / (j0 + r0)).ln()
        })
        .collect();
    changes.sort_by(f64::total_cmp);
    let [low, middle, high] = [16, 50, 84].map(|part| changes[part * changes.len() / 100]);
    println!("ln of the sum of the actions: {low:.4} {middle:.4} {high:.4}");
    // Some of the scatter is that of the potential of 40,000 stars. With the potential at random phases half of the distance is 0.10.
    assert!(middle.abs() < 0.04, "{middle}");
    assert!(0.5 * (high - low) < 0.085, "{low} {high}");
}

/// Kinetic energy, that of all pairs of shells, and that of shells and hole, star by star.
fn energy<C: kirin_kit::communicator::Communicator>(cluster: &Cluster<C>) -> f64 {
    let (m, r) = (&cluster.masses, &cluster.radii);
    let Stars { vr, vt, .. } = &cluster.stars;
    let mut sum = 0.0;
    for k in 0..m.len() {
        sum += 0.5 * m[k] * (vr[k] * vr[k] + vt[k] * vt[k]) - cluster.past.hole_mass * m[k] / r[k];
        sum -= (0..k).map(|i| m[i] * m[k] / r[i].max(r[k])).sum::<f64>();
    }
    sum
}

/// The ledger has the energy and the mass of the stars that the hole takes, and of its growth.
#[test]
fn energy_and_mass_are_kept_while_the_hole_grows() {
    for accreted in [1.0, 0.5] {
        let mut cluster = cluster(
            2000,
            Settings {
                black_hole: Some(BlackHole {
                    accreted,
                    ..hole(0.02, 1e-3)
                }),
                ..Settings::default()
            },
            1,
        );
        let was = energy(&cluster);
        assert!((was - cluster.past.energy0).abs() < 1e-12);
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for _ in 0..100 {
            kinetic += cluster.now.kinetic;
            potential += cluster.now.potential;
            cluster.step(f64::INFINITY).unwrap();
            assert!(
                cluster.energy_error() < 1e-11,
                "{:e}",
                cluster.energy_error()
            );
        }
        // In equilibrium with its hole, on average over the places of the few innermost stars: 2 T + W = 0.
        let ratio = -2.0 * kinetic / potential;
        println!("{ratio}");
        assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
        let ledger = &cluster.past.ledger;
        assert!(ledger.taken > 20, "{}", ledger.taken);
        let is = energy(&cluster);
        assert!((is + ledger.left() - was).abs() < 1e-11);
        assert!((cluster.past.hole_mass - 0.02 - accreted * ledger.taken_mass).abs() < 1e-14);
        let all = cluster.potential.mass() + ledger.taken_mass + ledger.escaped_mass;
        assert!((all - 1.0).abs() < 1e-12, "{all}");
        assert_eq!(cluster.potential.centre, cluster.past.hole_mass);
    }
}
