//! Test problems, and the comparison of two solutions.

#![allow(dead_code, reason = "each test program uses its part")]

use std::ops::ControlFlow;

use kirin_testing::Program;
use textbook::nbody::basic;
use textbook::particles::{Assignment, Output, Particles};
use textbook::physics::Scheme;

/// The program.
pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_textbook"),
    environment: &[],
};

/// A time step in which a particle of the disc goes a small part of its orbit.
pub const DT: f64 = 2000.0;

/// So many steps, with output before every fifth of them.
pub fn plan(steps: usize, scheme: Scheme) -> Assignment {
    Assignment {
        steps,
        scheme,
        every: Some(5),
    }
}

/// Both schemes.
pub const SCHEMES: [Scheme; 2] = [Scheme::Euler { dt: DT }, Scheme::Leapfrog { dt: DT }];

/// What a solver makes of a disc of `n`: all outputs, and the end.
pub fn solved(
    n: usize,
    plan: &Assignment,
    solve: impl for<'a> FnOnce(&mut Particles, &Assignment, &'a mut Output<'a>),
) -> Vec<Particles> {
    let mut particles = Particles::disc(n);
    particles.begin(plan.scheme);
    let mut all = Vec::new();
    let mut expected = 0;
    solve(&mut particles, plan, &mut |step, present: &Particles| {
        assert_eq!(step, expected);
        expected += 5;
        all.push(present.clone());
        ControlFlow::Continue(())
    });
    all.push(particles);
    all
}

/// What the basic serial solver makes of it.
pub fn basic(n: usize, plan: &Assignment) -> Vec<Particles> {
    solved(n, plan, |particles, plan, output| {
        basic::solve(particles, plan, output);
    })
}

/// The largest difference between two solutions, relative to the largest position and velocity.
pub fn difference(a: &[Particles], b: &[Particles]) -> f64 {
    assert_eq!(a.len(), b.len());
    let mut worst = 0.0_f64;
    for (a, b) in a.iter().zip(b) {
        for (a, b) in [(&a.pos, &b.pos), (&a.vel, &b.vel)] {
            let (a, b) = (a.as_flattened(), b.as_flattened());
            assert_eq!(a.len(), b.len());
            let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let apart = a.iter().zip(b).map(|(x, y)| (x - y).abs());
            let most = apart.fold(0.0_f64, |m, d| if d > m || d.is_nan() { d } else { m });
            if largest > 0.0 || most != 0.0 {
                worst = worst.max(most / largest);
                assert!(!most.is_nan(), "not a number");
            }
        }
    }
    worst
}
