//! The sums over interaction lists, by clusters whose j-particles are a list and whose block is a group.
//!
//! On a CPU each thread has a cluster, finds a list and sums it. With a GPU one thread gives lists to several clusters in turn,
//! and while the device computes, all threads find the next lists.

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::targets::{NONE, PURPOSE, Target};
use kirin_core::choice::Rule;
use kirin_core::cluster::Cluster;
use kirin_core::cpu;
use kirin_core::cpu::Pool;
use kirin_core::error::{Error, Result};
use kirin_core::process::allocation;
use kirin_core::process::lock::Lock;
use kirin_core::process::settings::{BackendChoice, PrecisionChoice, Settings};
use kirin_core::sources::jmemory::{Given, SourceKind};
use kirin_core::sources::particle::IParticle;
use kirin_core::sources::strided::Strided;
use kirin_core::tree::octree::Octree;
use kirin_core::tree::walk::{Bounds, List};
use kirin_core::tree::workers::{Workers, in_tasks};

/// Targets that share a list at most, on a CPU: with more the lists are longer, with fewer the threads walk longer.
const GROUP: usize = 192;

/// The same with a GPU, which a small group leaves idle. A guess from counts: not measured on one.
const GROUP_ON_GPU: usize = 2048;

/// Clusters that a GPU has in hand.
const AT_ONCE_ON_GPU: usize = 4;

/// Lists that a thread finds before a GPU gets them.
const LISTS_PER_THREAD: usize = 2;

/// Acceleration and potential.
pub type Sums = [f64; 4];

/// What the threads share that build the tree and sum.
pub struct PoolWorkers {
    threads: usize,
    lost: AtomicBool,
}

impl PoolWorkers {
    /// So many threads of the library.
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            lost: AtomicBool::new(false),
        }
    }

    /// Fails where tasks were not done.
    pub fn check(&self) -> Result<()> {
        match self.lost.load(Ordering::Relaxed) {
            true => Err(Error::ThreadsLost),
            false => Ok(()),
        }
    }
}

impl PoolWorkers {
    /// Runs `task(0)` to `task(tasks - 1)`.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        /// Of one thread for a task of a tree: worth waking others.
        const TASK: Duration = Duration::from_micros(20);
        let effort = TASK.saturating_mul(tasks as u32);
        let done = Pool::get().and_then(|pool| pool.run(tasks, self.threads, effort, task));
        if done.is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

impl Workers for PoolWorkers {
    fn each<T: Send>(
        &self,
        items: &mut [T],
        grain: usize,
        act: impl Fn(usize, &mut T) + Sync,
    ) -> std::result::Result<(), TryReserveError> {
        in_tasks(|tasks, task| self.run(tasks, task), items, grain, act)
    }

    fn each_pair<T: Send, U: Send>(
        &self,
        first: &mut [T],
        second: &mut [U],
        grain: usize,
        act: impl Fn(&mut T, &mut U) + Sync,
    ) -> std::result::Result<(), TryReserveError> {
        let mut parts = Vec::new();
        parts.try_reserve(first.len().div_ceil(grain))?;
        parts.extend(first.chunks_mut(grain).zip(second.chunks_mut(grain)));
        self.each(&mut parts, 1, |_, (first, second)| {
            for (a, b) in first.iter_mut().zip(second.iter_mut()) {
                act(a, b);
            }
        })
    }

    /// By this thread, since tasks of the pool have no tasks of their own.
    fn join(&self, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
        one();
        other();
    }
}

/// The groups of one call.
pub struct Request<'a> {
    /// The tree, which knows from which distance on its cells are accepted.
    pub tree: &'a Octree,
    /// Whether quadrupoles stand for cells, which the tree has then.
    pub quadrupoles: bool,
    /// The targets in Morton order.
    pub targets: &'a [Target],
    /// The runs of targets that share a list.
    pub groups: &'a [Range<usize>],
}

/// A list and the group that it belongs to.
#[derive(Default)]
struct Prepared {
    list: List,
    /// The places of the group's targets that are sources, in ascending order.
    own: Vec<u32>,
    block: Vec<IParticle>,
}

/// A cluster, and the group whose forces it computes.
struct Lane {
    cluster: Cluster,
    group: Option<usize>,
}

/// Clusters that sum.
pub struct Engine {
    settings: Settings,
    precision: PrecisionChoice,
    on_gpu: Option<bool>,
    threads: usize,
    lanes: Vec<Lock<Lane>>,
    prepared: Vec<Lock<Prepared>>,
}

impl Engine {
    /// Clusters under `settings`, made when they are needed.
    pub fn new(settings: Settings) -> Self {
        Self {
            threads: cpu::threads(settings.threads),
            settings,
            precision: exact_enough(PrecisionChoice::Auto),
            on_gpu: None,
            lanes: Vec::new(),
            prepared: Vec::new(),
        }
    }

    /// The threads that it uses.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Chooses the precision, unless the user has.
    pub fn set_precision(&mut self, choice: PrecisionChoice) {
        self.precision = exact_enough(choice);
        for lane in &mut self.lanes {
            lane.get_mut().cluster.set_precision(self.precision);
        }
    }

    /// Whether GPUs compute: there is one, and no cluster has lost it or could not use it.
    fn on_gpu(&mut self) -> Result<bool> {
        let settings = &self.settings;
        if !*self.on_gpu.get_or_insert_with(|| Rule::of(settings).on_gpu) {
            return Ok(false);
        }
        self.lanes(1)?;
        if !self.clusters().all(Cluster::on_gpu) {
            // Further clusters would open GPUs again.
            self.lanes.clear();
            self.settings.backend = BackendChoice::Cpu;
            self.on_gpu = Some(false);
        }
        Ok(self.on_gpu == Some(true))
    }

    /// Targets of a group at most.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn group(&mut self) -> Result<usize> {
        Ok(match self.on_gpu()? {
            true => GROUP_ON_GPU,
            false => GROUP,
        })
    }

    /// The first cluster.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn cluster(&mut self) -> Result<&mut Cluster> {
        self.lanes(1)?;
        Ok(&mut self.lanes[0].get_mut().cluster)
    }

    /// All clusters that were made.
    pub fn clusters(&mut self) -> impl Iterator<Item = &mut Cluster> {
        self.lanes
            .iter_mut()
            .map(|lane| &mut lane.get_mut().cluster)
    }

    /// Makes so many clusters.
    fn lanes(&mut self, count: usize) -> Result<()> {
        while self.lanes.len() < count {
            let settings = Settings {
                // The threads share the groups, not the sums of a group.
                threads: 1,
                ..self.settings.clone()
            };
            let mut cluster = Cluster::of(SourceKind::Moving, settings);
            cluster.begin_with_columns()?;
            cluster.set_precision(self.precision);
            let lane = Lock::new(Lane {
                cluster,
                group: None,
            });
            allocation::push(&mut self.lanes, lane, PURPOSE)?;
        }
        Ok(())
    }

    /// Accelerations and potentials of all targets, in their order.
    ///
    /// # Errors
    ///
    /// There is no memory; the threads are lost in a fork.
    pub fn sum(&mut self, request: &Request<'_>, sums: &mut [Sums]) -> Result<()> {
        match self.on_gpu()? {
            true => self.sum_on_gpu(request, sums),
            false => self.sum_on_cpu(request, sums),
        }
    }

    fn sum_on_cpu(&mut self, request: &Request<'_>, sums: &mut [Sums]) -> Result<()> {
        let threads = self.threads.clamp(1, request.groups.len().max(1));
        self.lanes(threads)?;
        allocation::lengthen(&mut self.prepared, threads, PURPOSE, Lock::default)?;
        let (lanes, spaces) = (&self.lanes[..threads], &self.prepared[..threads]);
        let mut parts = Vec::new();
        allocation::reserve(&mut parts, request.groups.len(), PURPOSE)?;
        let mut rest = sums;
        for group in request.groups {
            let (part, others) = rest.split_at_mut(group.len());
            parts.push(Lock::new(part));
            rest = others;
        }
        let outcome = Lock::new(Ok(()));
        Pool::get()?.run(request.groups.len(), threads, effort(request), &|k| {
            let (mut lane, mut prepared) = (cpu::any(lanes), cpu::any(spaces));
            let computed = prepared
                .find(request, k)
                .and_then(|()| lane.begin(&prepared, k))
                .and_then(|()| lane.end(&mut parts[k].lock()));
            if computed.is_err() {
                *outcome.lock() = computed;
            }
        })?;
        outcome.lock().clone()
    }

    fn sum_on_gpu(&mut self, request: &Request<'_>, sums: &mut [Sums]) -> Result<()> {
        self.lanes(AT_ONCE_ON_GPU)?;
        let batch = self.threads * LISTS_PER_THREAD;
        allocation::lengthen(&mut self.prepared, batch, PURPOSE, Lock::default)?;
        let (spaces, lanes) = (&mut self.prepared[..batch], &mut self.lanes);
        // What a failed call has left behind.
        lanes
            .iter_mut()
            .for_each(|lane| lane.get_mut().group = None);
        let mut finish = |lane: &mut Lane| match lane.group {
            Some(group) => lane.end(&mut sums[request.groups[group].clone()]),
            None => Ok(()),
        };
        for first in (0..request.groups.len()).step_by(batch) {
            let count = batch.min(request.groups.len() - first);
            let outcome = Lock::new(Ok(()));
            Pool::get()?.run(count, self.threads, effort(request), &|k| {
                let found = spaces[k].lock().find(request, first + k);
                if found.is_err() {
                    *outcome.lock() = found;
                }
            })?;
            outcome.lock().clone()?;
            for (k, prepared) in spaces[..count].iter_mut().enumerate() {
                let lane = lanes[(first + k) % AT_ONCE_ON_GPU].get_mut();
                finish(lane)?;
                lane.begin(prepared.get_mut(), first + k)?;
            }
        }
        lanes.iter_mut().try_for_each(|lane| finish(lane.get_mut()))
    }
}

/// `mixed`, whose error is far below that of a tree, unless one precision is asked for.
fn exact_enough(choice: PrecisionChoice) -> PrecisionChoice {
    PrecisionChoice::Always(choice.arithmetic())
}

/// Roughly what one thread would need.
fn effort(request: &Request<'_>) -> Duration {
    const TARGET: Duration = Duration::from_micros(1);
    TARGET.saturating_mul(request.targets.len() as u32)
}

impl Prepared {
    /// Finds the list of group `k`, and makes its block.
    fn find(&mut self, request: &Request<'_>, k: usize) -> Result<()> {
        let targets = &request.targets[request.groups[k].clone()];
        let Self { list, own, block } = self;
        own.clear();
        allocation::reserve(own, targets.len(), PURPOSE)?;
        own.extend(targets.iter().map(|t| t.source).filter(|&s| s != NONE));
        if !own.is_sorted_by(|a, b| a < b) {
            own.sort_unstable();
            own.dedup();
        }
        let bounds = Bounds::of(targets.iter().map(|t| t.x));
        list.points.clear();
        allocation::reserve(&mut list.points, own.len(), PURPOSE)?;
        let points = own.iter().map(|&s| request.tree.points[s as usize]);
        list.points.extend(points);
        match own[..] {
            [first, .., last] if (last - first) as usize == own.len() - 1 => {
                let run = first as usize..last as usize + 1;
                list.find((request.tree, request.quadrupoles), &bounds, &run)?;
            }
            _ => list.find((request.tree, request.quadrupoles), &bounds, &own[..])?,
        }
        block.clear();
        allocation::reserve(block, targets.len(), PURPOSE)?;
        block.extend(targets.iter().map(|t| IParticle {
            // Labels of j-particles are their addresses.
            index: own.binary_search(&t.source).map_or(-1, |at| at as i32),
            x: t.x,
            eps2: t.eps2,
            ..IParticle::default()
        }));
        Ok(())
    }
}

impl Lane {
    /// Begins the forces of a list on its group, which is group `k`.
    fn begin(&mut self, prepared: &Prepared, k: usize) -> Result<()> {
        self.group = None;
        let points = prepared.list.points.as_slice();
        let column = |word: usize| {
            let first = points.as_ptr().cast::<f64>().wrapping_add(word);
            Strided::new(first, size_of::<[f64; 4]>() as isize)
        };
        let given = Given::new(Some(column(3)), None);
        let x = Some([column(0), column(1), column(2)]);
        // SAFETY: each point is four numbers, of which the columns have one each.
        unsafe {
            self.cluster
                .load(points.len(), given.with([x, None, None, None, None]))?;
        }
        self.cluster
            .firsthalf(points.len(), prepared.block.iter().copied())?;
        self.group = Some(k);
        Ok(())
    }

    /// Writes the sums of the group that was begun.
    fn end(&mut self, sums: &mut [Sums]) -> Result<()> {
        self.group = None;
        let answer = self.cluster.lasthalf(sums.len(), false)?;
        for (sum, force) in sums.iter_mut().zip(answer.forces) {
            let [x, y, z] = force.acc;
            *sum = [x, y, z, force.pot];
        }
        Ok(())
    }
}
