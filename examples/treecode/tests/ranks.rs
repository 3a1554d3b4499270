//! The tree on several ranks has the bits of the tree on one.

mod common;

use common::{forces, grape};
use kirin_kit::communicator::{Communicator, threads};
use kirin_kit::models::Model;
use kirin_kit::vector::Vec3;
use kirin_kit::{Body, models};
use treecode::error::Error;
use treecode::forces::{Counts, Engine, Forces};
use treecode::integrator::{Integrator, Origin};
use treecode::particle::Particle;
use treecode::ranks::Holdings;
use treecode::settings::Settings;

/// Returns acceleration and potential of each body, in the order of `bodies`, and what each rank held. Forces are
/// calculated twice. Rank 0 has all bodies before the first calculation, which distributes them. The forces returned
/// are those of the second one.
fn on_ranks(
    ranks: usize,
    engine: Engine<'_>,
    settings: &Settings,
    bodies: &[Body],
) -> (Vec<(Vec3, f64)>, Vec<Holdings>) {
    let rank = |world: threads::Threads| {
        let own = if world.rank() == 0 { bodies } else { &[] };
        let new = |(order, body): (u32, &Body)| Particle::new(body, order);
        let mut particles: Vec<_> = (0..).zip(own).map(new).collect();
        let mut forces = Forces::of_ranks(world, engine, Counts::default())?;
        forces.find(&mut particles, settings)?;
        particles.iter_mut().for_each(|p| p.acc = [0.0; 3]);
        particles.iter_mut().for_each(|p| p.pot = 0.0);
        forces.find(&mut particles, settings)?;
        assert_eq!(forces.ranks().holdings.particles, particles.len());
        Ok::<_, Error>((particles, forces.ranks().holdings))
    };
    let (particles, holdings): (Vec<_>, Vec<_>) =
        threads::run(ranks, rank).unwrap().into_iter().unzip();
    let mut all = particles.concat();
    all.sort_by_key(|p| p.order);
    assert!((0..).zip(&all).all(|(k, p)| p.order == k));
    (all.iter().map(|p| (p.acc, p.pot)).collect(), holdings)
}

fn cases() -> Vec<(&'static str, Vec<Body>)> {
    let body = |(index, x): (i32, Vec3)| Body {
        index,
        mass: 1e-3 * f64::from(1 + index % 3),
        x,
        v: [0.0; 3],
    };
    let line = (0..700).map(|k| [f64::from(k).sqrt(), 0.0, 0.5]);
    let heaps = (0..600).map(|k| [f64::from(k % 3), f64::from(k % 2), 0.0]);
    vec![
        ("Plummer", models::plummer(1500, 1)),
        ("collision", Model::Collision.make(1200, 2)),
        ("line", (0..).zip(line).map(body).collect()),
        ("six places", (0..).zip(heaps).map(body).collect()),
        ("seven", models::plummer(7, 3)),
        ("one", models::plummer(7, 3)[..1].to_vec()),
        ("nobody", Vec::new()),
    ]
}

#[test]
fn any_number_of_ranks_has_the_bits_of_one() {
    let (_turn, grape) = grape();
    for (name, bodies) in cases() {
        for (n_crit, theta, quadrupoles) in [
            (64, 0.75, false),
            (64, 0.5, true),
            (1, 1.0, false),
            (5, 0.6, true),
            (700, 0.0, false),
        ] {
            if n_crit == 1 && bodies.len() > 1000 {
                continue;
            }
            let settings = Settings {
                n_crit,
                theta,
                quadrupoles,
                ..Settings::default()
            };
            for (engine, many) in [(Engine::Library(&grape), &[2, 8][..]), (Engine::Host, &[3])] {
                let expected = forces(engine, &settings, &bodies);
                for &ranks in many {
                    let (found, _) = on_ranks(ranks, engine, &settings, &bodies);
                    assert!(
                        found == expected,
                        "{name}, groups of {n_crit}, theta {theta}, {ranks} ranks"
                    );
                }
            }
        }
    }
}

/// A rank has its own particles, and of the others what its lists need.
#[test]
fn no_rank_holds_everybody() {
    let bodies = models::plummer(40_000, 4);
    let settings = Settings {
        n_crit: 256,
        ..Settings::default()
    };
    let (expected, one) = on_ranks(1, Engine::Host, &settings, &bodies);
    let (found, holdings) = on_ranks(4, Engine::Host, &settings, &bodies);
    for held in &holdings {
        // Equal work is not an equal number of particles.
        assert!((6_000..14_000).contains(&held.particles), "{held:?}");
        assert!(held.foreign < 12_000, "{held:?}");
        assert!(held.cells < one[0].cells * 2 / 3, "{held:?} {:?}", one[0]);
    }
    assert!(found == expected);
}

/// Domains are divided by the work of the step before.
#[test]
fn ranks_have_equal_work() {
    let bodies = Model::Collision.make(30_000, 5);
    let settings = Settings {
        n_crit: 128,
        ..Settings::default()
    };
    let pairs = threads::run(4, |world| {
        let origin = Origin::new(0.0, &bodies);
        let mut run = Integrator::begin(world, Engine::Host, settings, &origin)?;
        (0..2).for_each(|_| drop(run.step(1.0)));
        let before = run.forces().work_here().pairs;
        run.step(1.0)?;
        Ok::<_, Error>((run.forces().work_here().pairs - before) as f64)
    })
    .unwrap();
    let mean = pairs.iter().sum::<f64>() / 4.0;
    for own in &pairs {
        assert!((own / mean - 1.0).abs() < 0.1, "{pairs:?}");
    }
}

#[test]
fn every_rank_returns_the_error_of_one() {
    let mut bodies = models::plummer(500, 1);
    bodies[123].mass = f64::INFINITY;
    let begin = |world: threads::Threads, bodies: &[Body]| {
        let origin = Origin::new(0.0, bodies);
        let run = Integrator::begin(world, Engine::Host, Settings::default(), &origin);
        Ok::<_, Error>(run.map(|_| ()))
    };
    let results = threads::run(3, |world| begin(world, &bodies)).unwrap();
    assert!(matches!(results[0], Err(Error::Force { .. })));
    assert!(results.iter().all(|r| *r == results[0]));
    bodies[321].x[2] = f64::NAN;
    let results = threads::run(3, |world| begin(world, &bodies)).unwrap();
    let expected = Err(Error::Position {
        index: bodies[321].index,
    });
    assert!(results.iter().all(|r| *r == expected), "{results:?}");
    bodies[321].x[2] = 1e308;
    bodies[322].x[2] = -1e308;
    let results = threads::run(3, |world| begin(world, &bodies)).unwrap();
    assert!(results.iter().all(|r| *r == Err(Error::TooFarApart)));
}

/// After an error in the midst of a run everybody is where they were before the step.
#[test]
fn a_failed_step_loses_nothing() {
    let mut bodies = models::plummer(300, 2);
    // It leaves the numbers of double precision with the first drift.
    bodies[7].v[0] = 1e308;
    let settings = Settings {
        dt: 1e3,
        ..Settings::default()
    };
    threads::run(3, |world| {
        let origin = Origin::new(0.0, &bodies);
        let mut run = Integrator::begin(world, Engine::Host, settings, &origin)?;
        let before = run.bodies()?;
        assert!(run.step(1e4).is_err());
        assert_eq!(run.bodies()?, before);
        assert_eq!(run.time(), 0.0);
        Ok::<_, Error>(())
    })
    .unwrap();
}
