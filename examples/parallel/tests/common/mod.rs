//! Shared by the tests: runs on threads with a given grid and algorithm, and runs of `hermite` to compare with.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

pub mod program;

use std::sync::{Mutex, MutexGuard};

use hermite::counts::Counts;
use hermite::settings::Settings;
use kirin::client::Grape;
use kirin_kit::communicator::{Counted, threads};
use kirin_kit::snapshot::State;
use kirin_kit::{Body, models};
use parallel::error::Error;
use parallel::integrator::Integrator;
use parallel::machine::Arrangement;

/// Where an integration has come to.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub time: f64,
    pub counts: Counts,
    pub bodies: Vec<Body>,
    pub states: Vec<State>,
    /// Everybody a little later.
    pub later: Vec<Body>,
}

/// The linked library, for one test at a time: all of them use the same clusters.
pub fn grape() -> (MutexGuard<'static, ()>, Grape) {
    static TURN: Mutex<()> = Mutex::new(());
    // A failed test leaves nothing behind that the next could see.
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    (turn, Grape::linked())
}

/// A Plummer sphere of `n` stars, integrated by `hermite` past `t_end`.
pub fn hermite_outcome(n: usize, t_end: f64) -> Outcome {
    let (_turn, grape) = grape();
    let settings = Settings::default();
    let bodies = models::plummer(n, 1);
    let mut run = hermite::integrator::Integrator::start(&grape, settings, 0.0, bodies).unwrap();
    while run.next_time().unwrap() <= t_end {
        run.step().unwrap();
    }
    let between = (run.time() + run.next_time().unwrap()) / 2.0;
    Outcome {
        time: run.time(),
        counts: run.counts().clone(),
        bodies: run.bodies().to_vec(),
        states: run.states().to_vec(),
        later: run.synchronised(between).unwrap(),
    }
}

/// The same by a grid of ranks.
pub fn run_plan(plan: Arrangement, n: usize, t_end: f64) -> Outcome {
    let (_turn, grape) = grape();
    let bodies = models::plummer(n, 1);
    let outcomes = threads::run(plan.grid.ranks(), |world| {
        let world = Counted::new(world);
        let settings = Settings::default();
        let mut run = Integrator::start(world, &grape, plan, settings, 0.0, &bodies)?;
        while run.next_time() <= t_end {
            run.step()?;
        }
        let between = (run.time() + run.next_time()) / 2.0;
        let later = run.synchronised(between)?;
        let all = run.gather()?;
        assert_eq!(later.is_some(), all.is_some());
        Ok::<_, Error>(later.zip(all).map(|(later, (bodies, states))| Outcome {
            time: run.time(),
            counts: run.counts().clone(),
            bodies,
            states,
            later,
        }))
    });
    let mut outcomes = outcomes.unwrap().into_iter();
    let first = outcomes.next().flatten().expect("rank 0 has everybody");
    assert!(outcomes.all(|other| other.is_none()));
    first
}
