//! The gain of the reduced solver on one thread (Table 7.3: 7.71 s against 3.90 s for 400 particles).

use std::ops::ControlFlow;
use std::time::Instant;

use kirin_report::repeat::{Repetitions, repeat};
use textbook::distribution::Distribution;
use textbook::nbody::reduced_threads::Schedule;
use textbook::nbody::{basic_threads, reduced_threads};
use textbook::particles::{Assignment, Particles};
use textbook::physics::Scheme;

/// Rounds in which both are timed, one after the other: what else the machine does slows them alike.
const ROUNDS: Repetitions = Repetitions {
    least: 15,
    most: 15,
    seconds: 0.0,
};

#[test]
fn half_of_the_pairs_take_much_less_time() {
    let plan = Assignment {
        steps: 100,
        scheme: Scheme::Euler { dt: 100.0 },
        every: None,
    };
    let spreads = repeat(ROUNDS, [false, true], |is_reduced| {
        let mut particles = Particles::disc(400);
        let began = Instant::now();
        if *is_reduced {
            let schedule = Schedule::AllCyclic;
            reduced_threads::solve(1, schedule, &mut particles, &plan, &mut |_, _| {
                ControlFlow::Continue(())
            })?;
        } else {
            let distribution = Distribution::Cyclic;
            basic_threads::solve(1, distribution, &mut particles, &plan, &mut |_, _| {
                ControlFlow::Continue(())
            })?;
        }
        Ok::<_, String>(began.elapsed().as_secs_f64())
    });
    let spreads = spreads.expect("there is a thread");
    let gain = spreads[0].median / spreads[1].median;
    println!(
        "basic {:?}\nreduced {:?}\ngain {gain:.2}",
        spreads[0], spreads[1]
    );
    assert!(gain >= 1.6, "{gain}: {spreads:?}");
}
