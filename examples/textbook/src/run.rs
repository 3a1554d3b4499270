//! Runs a program from the command line: input, solver, output.

use std::io::Write;
use std::time::Instant;

use kirin_kit::command::named;

use crate::nbody::{basic, basic_threads, reduced, reduced_threads};
use crate::options::{Problem, Program};
use crate::particles::{Output, Particles, Plan};
use crate::tables;

/// Runs `program`.
///
/// # Errors
///
/// Why it could not; in words.
pub fn run(program: &Program) -> Result<(), String> {
    match program {
        Program::Basic { problem } => nbody(problem, |particles, plan, output| {
            basic::solve(particles, plan, output);
            Ok(())
        }),
        Program::Reduced { problem } => nbody(problem, |particles, plan, output| {
            reduced::solve(particles, plan, output);
            Ok(())
        }),
        Program::BasicThreads {
            threads,
            problem,
            distribution,
        } => nbody(problem, |particles, plan, output| {
            basic_threads::solve(*threads, *distribution, particles, plan, output)
        }),
        Program::ReducedThreads {
            threads,
            problem,
            schedule,
        } => nbody(problem, |particles, plan, output| {
            reduced_threads::solve(*threads, *schedule, particles, plan, output)
        }),
        Program::Tables => {
            print(&tables::markdown());
            Ok(())
        }
    }
}

/// The particles of a problem.
///
/// # Errors
///
/// The file cannot be read, or has other particles than were asked for; in words.
pub fn particles(problem: &Problem) -> Result<Particles, String> {
    let Some(path) = &problem.input else {
        return Ok(Particles::disc(problem.n));
    };
    let text = std::fs::read_to_string(path).map_err(named(path))?;
    let particles = Particles::parse(&text).map_err(named(path))?;
    match particles.len() {
        n if n == problem.n => Ok(particles),
        n => Err(named(path)(format!("{n} particles, not {}", problem.n))),
    }
}

/// Runs a solver on a problem and prints what it finds.
fn nbody(
    problem: &Problem,
    solve: impl for<'a> FnOnce(&mut Particles, &Plan, &'a mut Output<'a>) -> Result<(), String>,
) -> Result<(), String> {
    let mut particles = particles(problem)?;
    let plan = problem.plan();
    particles.begin(plan.scheme);
    let began = Instant::now();
    solve(&mut particles, &plan, &mut |step, particles| {
        show(&plan, step, particles)
    })?;
    tell(began);
    if !problem.no_output {
        show(&plan, plan.steps, &particles);
    }
    Ok(())
}

/// Prints the particles as they are before `step`.
fn show(plan: &Plan, step: usize, particles: &Particles) {
    let mut shown = particles.clone();
    shown.show(plan.scheme);
    print(&shown.table(step as f64 * plan.scheme.dt()));
}

/// A reader that has gone away, such as `head`, spoils nothing.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Says how long the computation took.
fn tell(began: Instant) {
    eprintln!("elapsed: {:.6e} s", began.elapsed().as_secs_f64());
}
