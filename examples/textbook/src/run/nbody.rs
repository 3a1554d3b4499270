//! Runs an n-body solver: input, solver, output.

use std::ops::ControlFlow;
use std::time::Instant;

use kirin::client::Grape;
use kirin_kit::command::{Ended, named, print_to_reader};
use kirin_kit::communicator::launch::{Job, RankFailure, on_first};
use kirin_kit::communicator::{CommunicationError, Communicator, Counted, Operation};
use kirin_report::machine::processor_seconds;

use super::{elapsed, of_this_process};
use crate::nbody::gpu::{self, Memory};
use crate::nbody::{basic_ranks, cooperative_gpu, library, reduced_ranks};
use crate::options::{LaunchOptions, Problem};
use crate::particles::{Assignment, Output, Particles};
use crate::ranks;

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

/// Runs a solver on a problem and prints what it finds. A solver on the CPU returns the processor time of the worker
/// that computed longest, in seconds.
///
/// # Errors
///
/// Those of input and solver; stdout cannot be written; in words.
pub fn run(
    problem: &Problem,
    solve: impl for<'a> FnOnce(
        &mut Particles,
        &Assignment,
        &'a mut Output<'a>,
    ) -> Result<Option<f64>, String>,
) -> Result<(), String> {
    solve_and_print(&mut particles(problem)?, problem, true, solve)?
}

/// The same for particles that are there; one process of several `prints`. Returns what printing returns. An output that
/// cannot be written, or whose reader has gone away, is the last one.
fn solve_and_print<E>(
    particles: &mut Particles,
    problem: &Problem,
    prints: bool,
    solve: impl for<'a> FnOnce(
        &mut Particles,
        &Assignment,
        &'a mut Output<'a>,
    ) -> Result<Option<f64>, E>,
) -> Result<Result<(), String>, E> {
    let plan = problem.plan();
    particles.begin(plan.scheme);
    let began = Instant::now();
    let goes_on = Ok(ControlFlow::Continue(()));
    let mut printed = goes_on.clone();
    let longest = solve(particles, &plan, &mut |step, present| {
        if printed == goes_on {
            printed = show(&plan, step, present);
        }
        match printed {
            Ok(flow) => flow,
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    if prints {
        elapsed(began);
        if let Some(seconds) = longest {
            eprintln!("longest worker: {seconds:.6e} s of processor time");
        }
        if !problem.no_output && printed == goes_on {
            printed = show(&plan, plan.steps, particles);
        }
    }
    Ok(printed.map(|_| ()))
}

/// Runs a solver with message passing.
///
/// # Errors
///
/// Those of the input; a process is lost; in words.
pub fn on_ranks(ranks: Option<usize>, problem: &Problem, is_reduced: bool) -> Result<(), String> {
    let solver = RankSolver {
        problem,
        is_reduced,
    };
    ranks::run(ranks, &solver)
}

/// Runs the solver of the GRAPE-6 library in this file, or of the linked one.
///
/// # Errors
///
/// Those of the input; the library cannot be used, or fails; in words.
pub fn by_library(path: Option<&std::path::Path>, problem: &Problem) -> Result<(), String> {
    let grape = Grape::linked_or(path).map_err(|e| e.to_string())?;
    run(problem, |particles, plan, output| {
        library::solve(&grape, particles, plan, output).map(|()| None)
    })
}

/// Runs the solver on a GPU.
///
/// # Errors
///
/// Those of the input; there is no GPU, or it fails; in words.
pub fn on_gpu(memory: Memory, device: &LaunchOptions, problem: &Problem) -> Result<(), String> {
    let threads = device.block;
    run(problem, |particles, plan, output| {
        match device.float {
            true => gpu::solve::<f32>(memory, threads, particles, plan, output)?,
            false => gpu::solve::<f64>(memory, threads, particles, plan, output)?,
        }
        Ok(None)
    })
}

/// Runs the solver on a GPU whose thread blocks wait for each other: so many, or as many as have particles and as it holds.
///
/// # Errors
///
/// As for [`on_gpu`]; it does not hold so many at a time.
pub fn on_gpu_together(
    blocks: Option<usize>,
    device: &LaunchOptions,
    problem: &Problem,
) -> Result<(), String> {
    let threads = device.block;
    run(problem, |particles, plan, output| {
        match device.float {
            true => cooperative_gpu::solve::<f32>(blocks, threads, particles, plan, output)?,
            false => cooperative_gpu::solve::<f64>(blocks, threads, particles, plan, output)?,
        }
        Ok(None)
    })
}

struct RankSolver<'a> {
    problem: &'a Problem,
    is_reduced: bool,
}

impl Job for RankSolver<'_> {
    fn run<C: Communicator>(&self, world: C) -> Result<Ended, RankFailure> {
        // Process 0 reads and prints.
        let mut input = on_first(&world, || particles(self.problem))?;
        let printed = solve_and_print(
            &mut input,
            self.problem,
            world.rank() == 0,
            |particles, plan, output| {
                let world = Counted::with_processor_time(world);
                let began = processor_seconds();
                match self.is_reduced {
                    true => reduced_ranks::solve(&world, particles, plan, output)?,
                    false => basic_ranks::solve(&world, particles, plan, output)?,
                }
                // A rank that waits may be spinning.
                let waited = world.tally().total().processor_seconds;
                let mut computed = [processor_seconds() - began - waited];
                world.all_reduce(Operation::Max, &mut computed)?;
                Ok::<_, CommunicationError>(Some(computed[0]))
            },
        )?;
        printed.map(|()| Ended::Complete).map_err(of_this_process)
    }
}

/// Prints the particles as they are before `step`.
fn show(plan: &Assignment, step: usize, particles: &Particles) -> Result<ControlFlow<()>, String> {
    let mut shown = particles.clone();
    shown.show(plan.scheme);
    print_to_reader(&shown.table(step as f64 * plan.scheme.dt()))
}
