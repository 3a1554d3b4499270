//! All n-body solvers of the CPU agree: the basic ones in every bit, the reduced ones to rounding, since they add
//! in another order. The results are right.

mod common;

use std::ops::ControlFlow;

use common::{DT, SCHEMES, basic, difference, plan, solved};
use kirin_kit::communicator::counted::Collective;
use kirin_kit::communicator::{Communicator, Counted, threads};
use textbook::distribution::Distribution;
use textbook::nbody::locked_threads::{self, Sums};
use textbook::nbody::reduced_threads::Schedule;
use textbook::nbody::{basic_ranks, basic_threads, reduced, reduced_ranks, reduced_threads};
use textbook::particles::{Assignment, Particles};
use textbook::physics::{G, Scheme};

/// Particles: one alone, fewer than workers, and numbers that no number of workers divides.
const SIZES: [usize; 4] = [1, 2, 7, 50];
const WORKERS: [usize; 4] = [1, 2, 3, 7];
const STEPS: usize = 20;

#[test]
fn basic_solvers_agree_in_every_bit() {
    for scheme in SCHEMES {
        let plan = plan(STEPS, scheme);
        for n in SIZES {
            let serial = basic(n, &plan);
            assert_eq!(serial.len(), 1 + STEPS / 5);
            for threads in WORKERS {
                for distribution in [Distribution::Block, Distribution::Cyclic] {
                    let found = solved(n, &plan, |particles, plan, output| {
                        basic_threads::solve(threads, distribution, particles, plan, output)
                            .expect("there are threads");
                    });
                    assert!(found == serial, "{n} on {threads}, {distribution:?}");
                }
                let found = on_ranks(threads, n, &plan, false);
                assert!(found == serial, "{n} on {threads} processes");
            }
        }
    }
}

#[test]
fn reduced_solvers_agree_to_rounding() {
    for scheme in SCHEMES {
        let plan = plan(STEPS, scheme);
        for n in SIZES {
            let serial = basic(n, &plan);
            let once = solved(n, &plan, |particles, plan, output| {
                reduced::solve(particles, plan, output);
            });
            assert!(difference(&serial, &once) < 1e-12, "{n}");
            for threads in WORKERS {
                for schedule in [
                    Schedule::Default,
                    Schedule::ForcesCyclic,
                    Schedule::AllCyclic,
                ] {
                    let found = solved(n, &plan, |particles, plan, output| {
                        reduced_threads::solve(threads, schedule, particles, plan, output)
                            .expect("there are threads");
                    });
                    let apart = difference(&serial, &found);
                    assert!(apart < 1e-12, "{n} on {threads}, {schedule:?}: {apart:e}");
                    if threads == 1 {
                        assert!(found == once, "one thread adds as the serial solver does");
                    }
                }
                for sums in [Sums::Critical, Sums::Locks] {
                    let found = solved(n, &plan, |particles, plan, output| {
                        let how = (Schedule::ForcesCyclic, sums);
                        locked_threads::solve(threads, how, particles, plan, output)
                            .expect("there are threads");
                    });
                    let apart = difference(&serial, &found);
                    assert!(apart < 1e-12, "{n} on {threads}, {sums:?}: {apart:e}");
                }
                let apart = difference(&serial, &on_ranks(threads, n, &plan, true));
                assert!(apart < 1e-12, "{n} on {threads} processes: {apart:e}");
            }
        }
    }
}

/// What process 0 of several makes of a disc of `n`.
fn on_ranks(ranks: usize, n: usize, plan: &Assignment, is_reduced: bool) -> Vec<Particles> {
    let all = threads::run(ranks, |world| {
        let n = if world.rank() == 0 { n } else { 0 };
        Ok::<_, String>(solved(n, plan, |particles, plan, output| {
            match is_reduced {
                true => reduced_ranks::solve(&world, particles, plan, output),
                false => basic_ranks::solve(&world, particles, plan, output),
            }
            .expect("no process is lost");
        }))
    });
    let mut all = all.expect("no process is lost");
    // Only process 0 prints.
    assert!(all[1..].iter().all(|outputs| outputs.len() == 1));
    all.swap_remove(0)
}

/// Basic: the positions of all others, in every step. Reduced: positions and forces of n/p particles, p times a step.
#[test]
fn what_travels() {
    let (n, steps, vector) = (50, 3, 16);
    let plan = Assignment {
        steps,
        scheme: SCHEMES[0],
        every: None,
    };
    for ranks in [2, 3, 7] {
        let counts = |is_reduced: bool| {
            let all = threads::run(ranks, |world| {
                let world = Counted::new(world);
                let mut particles = Particles::disc(n);
                match is_reduced {
                    true => reduced_ranks::solve(&world, &mut particles, &plan, &mut |_, _| {
                        ControlFlow::Continue(())
                    })?,
                    false => basic_ranks::solve(&world, &mut particles, &plan, &mut |_, _| {
                        ControlFlow::Continue(())
                    })?,
                }
                let which = if is_reduced {
                    Collective::Shift
                } else {
                    Collective::AllGatherV
                };
                Ok::<_, kirin_kit::communicator::CommunicationError>(world.tally().of(which))
            });
            all.expect("no process is lost")
        };
        for (rank, count) in counts(false).into_iter().enumerate() {
            let own = Distribution::Block.of(rank, ranks, n).len();
            assert_eq!(count.bytes, (steps * (n - own) * vector) as u64);
        }
        for count in counts(true) {
            // The particles of each process pass by once, and one's own come home.
            assert_eq!(count.messages, (steps * ranks) as u64);
            assert_eq!(count.bytes, (steps * n * 2 * vector) as u64);
        }
    }
}

/// Two equal particles on a circle around their centre of mass, and the time of one orbit.
fn binary() -> (Particles, f64) {
    let (m, r) = (5e24, 2e8);
    let speed = (G * m / (4.0 * r)).sqrt();
    let particles = Particles {
        masses: vec![m; 2],
        pos: vec![[r, 0.0], [-r, 0.0]],
        vel: vec![[0.0, speed], [0.0, -speed]],
    };
    (particles, std::f64::consts::TAU * r / speed)
}

/// How far from the start a particle is after one orbit of so many steps, in radii.
fn error_of_an_orbit(steps: usize, scheme: impl Fn(f64) -> Scheme) -> f64 {
    let (start, period) = binary();
    let scheme = scheme(period / steps as f64);
    let plan = Assignment {
        steps,
        scheme,
        every: None,
    };
    let mut particles = start.clone();
    particles.begin(scheme);
    textbook::nbody::basic::solve(&mut particles, &plan, &mut |_, _| ControlFlow::Continue(()));
    particles.show(scheme);
    let [x, y] = [0, 1].map(|k| particles.pos[0][k] - start.pos[0][k]);
    x.hypot(y) / 2e8
}

#[test]
fn euler_is_of_first_order_and_leapfrog_of_second() {
    let order = |scheme: fn(f64) -> Scheme, steps| {
        (error_of_an_orbit(steps, scheme) / error_of_an_orbit(2 * steps, scheme)).log2()
    };
    let euler = order(|dt| Scheme::Euler { dt }, 20_000);
    assert!((euler - 1.0).abs() < 0.05, "{euler}");
    let leapfrog = order(|dt| Scheme::Leapfrog { dt }, 200);
    assert!((leapfrog - 2.0).abs() < 0.05, "{leapfrog}");
}

#[test]
fn momentum_and_energy_of_the_disc() {
    let start = Particles::disc(50);
    let plan = Assignment {
        steps: 500,
        scheme: Scheme::Leapfrog { dt: DT },
        every: None,
    };
    let mut end = start.clone();
    end.begin(plan.scheme);
    reduced::solve(&mut end, &plan, &mut |_, _| ControlFlow::Continue(()));
    end.show(plan.scheme);
    let momentum = |p: &Particles, k: usize| -> f64 {
        p.masses.iter().zip(&p.vel).map(|(m, v)| m * v[k]).sum()
    };
    let all: f64 = start
        .masses
        .iter()
        .zip(&start.vel)
        .map(|(m, v)| m * v[0].abs())
        .sum();
    for k in [0, 1] {
        let gained = (momentum(&end, k) - momentum(&start, k)).abs();
        assert!(gained < 1e-12 * all, "{gained:e} of {all:e}");
    }
    let error = (end.energy() / start.energy() - 1.0).abs();
    assert!(error < 1e-5, "{error:e}");
    assert_ne!(start.pos, end.pos);
}
