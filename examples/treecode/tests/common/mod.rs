//! What the tests share: one library in this process, and forces to compare with.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use std::sync::{Mutex, MutexGuard};

use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::vector::{Vec3, add_scaled, dot, norm, sub};
use kirin_testing::Program;
use rayon::prelude::*;
use treecode::forces::{Counts, Engine, Forces};
use treecode::particle::Particle;
use treecode::settings::Settings;

/// The program.
pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_treecode"),
    environment: &[],
};

/// The linked library, for one test at a time: all of them use its cluster 0.
pub fn grape() -> (MutexGuard<'static, ()>, Grape) {
    static TURN: Mutex<()> = Mutex::new(());
    // A failed test leaves nothing behind that the next could see.
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    (turn, Grape::linked())
}

/// Acceleration and potential of each body, in their order.
pub fn forces(engine: Engine<'_>, settings: &Settings, bodies: &[Body]) -> Vec<(Vec3, f64)> {
    let mut particles: Vec<_> = (0..)
        .zip(bodies)
        .map(|(order, body)| Particle::new(body, order))
        .collect();
    let mut forces = Forces::new(engine, Counts::default()).unwrap();
    forces.find(&mut particles, settings).unwrap();
    particles.sort_by_key(|p| p.order);
    particles.iter().map(|p| (p.acc, p.pot)).collect()
}

/// Sums over all pairs, in double precision.
pub fn direct(bodies: &[Body], eps: f64) -> Vec<(Vec3, f64)> {
    let of = |i: usize| {
        let (mut acc, mut pot) = ([0.0; 3], 0.0);
        for (j, body) in bodies.iter().enumerate() {
            let r = sub(&body.x, &bodies[i].x);
            let r2 = dot(&r, &r) + eps * eps;
            if j != i && r2 > 0.0 {
                let m_r = body.mass / r2.sqrt();
                add_scaled(&mut acc, m_r / r2, &r);
                pot -= m_r;
            }
        }
        (acc, pot)
    };
    (0..bodies.len()).into_par_iter().map(of).collect()
}

/// Root of the mean squared relative error of the accelerations.
pub fn rms(exact: &[(Vec3, f64)], found: &[(Vec3, f64)]) -> f64 {
    let squares = exact.iter().zip(found).map(|((a, _), (b, _))| {
        let error = norm(&sub(a, b)) / norm(a);
        error * error
    });
    (squares.sum::<f64>() / exact.len() as f64).sqrt()
}
