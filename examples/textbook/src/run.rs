//! Runs a program from the command line: input, solver, output.

use std::io::Write;
use std::time::Instant;

use kirin_kit::command::named;
use kirin_kit::communicator::{Communicator, Operation};

use crate::nbody::{basic, basic_ranks, basic_threads, reduced, reduced_ranks, reduced_threads};
use crate::options::{Problem, Program};
use crate::particles::{Output, Particles, Plan};
use crate::ranks::{self, Outcome, Work};
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
        Program::BasicRanks { problem, ranks } => {
            let is_reduced = false;
            ranks::run(
                *ranks,
                &RankSolver {
                    problem,
                    is_reduced,
                },
            )
        }
        Program::ReducedRanks { problem, ranks } => {
            let is_reduced = true;
            ranks::run(
                *ranks,
                &RankSolver {
                    problem,
                    is_reduced,
                },
            )
        }
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
    solve_and_print(&mut particles(problem)?, problem, true, solve)
}

/// The same for particles that are there; one process of several `prints`.
fn solve_and_print<E>(
    particles: &mut Particles,
    problem: &Problem,
    prints: bool,
    solve: impl for<'a> FnOnce(&mut Particles, &Plan, &'a mut Output<'a>) -> Result<(), E>,
) -> Result<(), E> {
    let plan = problem.plan();
    particles.begin(plan.scheme);
    let began = Instant::now();
    solve(particles, &plan, &mut |step, present| {
        show(&plan, step, present)
    })?;
    if prints {
        eprintln!("elapsed: {:.6e} s", began.elapsed().as_secs_f64());
        if !problem.no_output {
            show(&plan, plan.steps, particles);
        }
    }
    Ok(())
}

/// A solver with message passing.
struct RankSolver<'a> {
    problem: &'a Problem,
    is_reduced: bool,
}

impl Work for RankSolver<'_> {
    fn on<C: Communicator>(&self, world: &C) -> Outcome {
        // Process 0 reads and prints. The others learn whether it could read.
        let input = match world.rank() {
            0 => particles(self.problem),
            _ => Ok(Particles::default()),
        };
        let mut failed = [f64::from(input.is_err())];
        world.all_reduce(Operation::Max, &mut failed)?;
        let mut input = match input {
            Ok(input) if failed == [0.0] => input,
            other => return Ok(Err(other.err().unwrap_or_default())),
        };
        solve_and_print(
            &mut input,
            self.problem,
            world.rank() == 0,
            |particles, plan, output| match self.is_reduced {
                true => reduced_ranks::solve(world, particles, plan, output),
                false => basic_ranks::solve(world, particles, plan, output),
            },
        )?;
        Ok(Ok(()))
    }
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
