//! Runs a program from the command line.

mod nbody;
mod sort;

use std::time::Instant;

use kirin_kit::command::print;
use kirin_kit::communicator::launch::RankFailure;
use kirin_report::machine::{check_memory, processor_seconds};

use crate::nbody::gpu::Memory;
use crate::nbody::locked_threads::Sums;
use crate::nbody::{basic, basic_threads, locked_threads, reduced, reduced_threads};
use crate::options::{Options, Program};
use crate::sort as sorts;
use crate::tables;
use crate::{ranks, report};

/// Does what the command line asks for.
///
/// # Errors
///
/// Why it could not; in words.
pub fn run(options: &Options) -> Result<(), String> {
    let program = options.program.as_ref();
    if !program.is_some_and(Program::is_on_ranks) {
        ranks::check_alone()?;
    }
    match program {
        Some(program) => run_program(program),
        None => report::report(&options.report),
    }
}

fn run_program(program: &Program) -> Result<(), String> {
    match program {
        Program::Basic { problem } => nbody::run(problem, |particles, plan, output| {
            Ok(Some(timed(|| basic::solve(particles, plan, output))))
        }),
        Program::Reduced { problem } => nbody::run(problem, |particles, plan, output| {
            Ok(Some(timed(|| reduced::solve(particles, plan, output))))
        }),
        Program::BasicThreads {
            threads,
            problem,
            distribution,
        } => nbody::run(problem, |particles, plan, output| {
            basic_threads::solve(*threads, *distribution, particles, plan, output).map(Some)
        }),
        Program::ReducedThreads {
            threads,
            problem,
            schedule,
            sums,
        } => {
            // Each thread may have an array of forces.
            check_memory(problem.n as u64, 100 + 16 * *threads as u64)?;
            nbody::run(problem, |particles, plan, output| {
                let longest = match sums {
                    Sums::Arrays => {
                        reduced_threads::solve(*threads, *schedule, particles, plan, output)
                    }
                    _ => {
                        let how = (*schedule, *sums);
                        locked_threads::solve(*threads, how, particles, plan, output)
                    }
                };
                longest.map(Some)
            })
        }
        Program::BasicRanks { problem, ranks } => nbody::on_ranks(*ranks, problem, false),
        Program::ReducedRanks { problem, ranks } => nbody::on_ranks(*ranks, problem, true),
        Program::BasicGpu { problem, device } => nbody::on_gpu(Memory::Global, device, problem),
        Program::SharedGpu { problem, device } => nbody::on_gpu(Memory::Shared, device, problem),
        Program::CooperativeGpu {
            problem,
            device,
            blocks,
        } => nbody::on_gpu_together(*blocks, device, problem),
        Program::Library { problem, library } => nbody::by_library(library.as_deref(), problem),
        Program::Sort { buckets, list } => sort::run(list, |keys| {
            sorts::serial::sort(keys, *buckets);
            Ok(())
        }),
        Program::SortThreads { threads, list } => {
            sort::run(list, |keys| sorts::threads::sort(keys, *threads))
        }
        Program::SortRanks { list, ranks } => sort::on_ranks(*ranks, list),
        Program::SortGpu { list, block } => sort::run(list, |keys| sorts::gpu::sort(keys, *block)),
        Program::Tables => print(&tables::markdown()),
    }
}

/// The processor time of `work` on this thread, in seconds.
fn timed(work: impl FnOnce()) -> f64 {
    let began = processor_seconds();
    work();
    processor_seconds() - began
}

/// The failure of one process, which the others do not find by themselves.
fn of_this_process(message: String) -> RankFailure {
    RankFailure {
        message,
        common: false,
    }
}

/// Says how long the computation took.
fn elapsed(began: Instant) {
    eprintln!("elapsed: {:.6e} s", began.elapsed().as_secs_f64());
}
