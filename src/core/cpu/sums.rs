//! The sums of one block, as tasks that threads claim one by one.

use std::sync::TryLockError;

use super::division::{Division, Task};
use super::engine::any;
use super::job::Tasks;
use super::pool::{self, Pool};
use super::simd::Simd;
use super::tasks::{BlockContext, Compute, Finish, Predict};
use super::workspace::Workspace;
use crate::error::Result;
use crate::force::Results;
use crate::process::lock::Lock;

/// The sums of one block, and how they are divided.
pub struct Sums<'a, S: Simd, const SPLIT: bool> {
    /// What all tasks share.
    pub context: BlockContext<'a, S, SPLIT>,
    /// The tasks.
    pub division: Division,
    /// Whether each task sums over all pages, so that its sums are results.
    pub whole: bool,
    /// One for each thread; one for each task if their sums are joined.
    pub workspaces: &'a [Lock<Workspace<S::T>>],
    /// The failure of a task.
    pub outcome: Lock<Result<()>>,
    /// The results of whole tasks.
    pub results: Lock<Results>,
}

impl<S: Simd, const SPLIT: bool> Sums<'_, S, SPLIT> {
    /// Predicts all pages.
    ///
    /// # Errors
    ///
    /// There is no memory, or the threads are lost.
    pub fn predict(&self) -> Result<()> {
        let (context, division) = (&self.context, &self.division);
        let (pages, threads, effort) = (context.pages, division.threads(), division.effort());
        Pool::get()?.run(pages.len(), threads, effort, &|p: usize| {
            let predicted = context.s.vectorize(Predict {
                shared: context,
                position: pages[p],
            });
            self.note(predicted);
        })
    }

    /// The failure of a task, if there was one.
    ///
    /// # Errors
    ///
    /// That.
    pub fn outcome(&self) -> Result<()> {
        self.outcome.lock().clone()
    }

    /// Records the failure of a task.
    fn note(&self, result: Result<()>) {
        if result.is_err() {
            *self.outcome.lock() = result;
        }
    }
}

impl<S: Simd, const SPLIT: bool> Tasks for Sums<'_, S, SPLIT> {
    fn do_task(&self, t: usize) {
        let context = &self.context;
        let task = self.division.task(t);
        let mut workspace = match self.whole {
            true => any(self.workspaces),
            false => self.workspaces[t].lock(),
        };
        let mut computed = context.s.vectorize(Compute {
            shared: context,
            task: &task,
            whole: self.whole,
            workspace: &mut workspace,
        });
        if self.whole && computed.is_ok() {
            let try_lock = || self.results.try_lock().ok_or(TryLockError::WouldBlock);
            computed = pool::unless_forked(context.process, try_lock)
                .map(|mut results| copy_results(&task, &workspace, &mut results));
        }
        self.note(computed);
    }
}

/// Joins the sums of tasks each of which has all i-particles and some of the pages.
pub fn join<S: Simd, const SPLIT: bool>(
    shared: &BlockContext<'_, S, SPLIT>,
    spaces: &mut [Lock<Workspace<S::T>>],
    results: &mut Results,
) -> Result<()> {
    let Some((first, others)) = spaces.split_first_mut() else {
        return Ok(());
    };
    let first = first.get_mut();
    let ni = shared.block.particles.len();
    first.totals.join(others, ni);
    let everything = Task {
        particles: 0..ni,
        pages: 0..shared.pages.len(),
    };
    shared.s.vectorize(Finish {
        shared,
        task: &everything,
        workspace: first,
    })?;
    copy_results(&everything, first, results);
    Ok(())
}

fn copy_results<T>(task: &Task, workspace: &Workspace<T>, results: &mut Results) {
    let range = task.particles.clone();
    results.forces[range.clone()].copy_from_slice(&workspace.forces);
    if !results.nearest.is_empty() {
        results.nearest[range].copy_from_slice(&workspace.nearest);
    }
}
