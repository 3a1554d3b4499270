//! The regular force: sources come anew for each block, targets in calls of up to a thousand; and the potential.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::backend;
use crate::backend::regular::{
    Block, Criterion, Incoming, PURPOSE, Regular, RegularForce, Sources, Target,
};
use crate::error::{Error, Result};
use crate::process::shared::Shared;
use crate::process::{allocation, floating, log, settings};

/// The library behind the exported functions.
pub static LIBRARY: Shared<Library> = Shared::new("NBODY6's regular force", Library::new());

/// Sources, targets and results.
#[derive(Default)]
pub struct Library {
    /// What exerts the regular force.
    sources: Sources,
    /// Where it is wanted.
    pub targets: Vec<Target>,
    results: Vec<Regular>,
    /// What exerts the potential.
    stars: Sources,
    potentials: Vec<f64>,
    backend: Option<Box<dyn RegularForce>>,
    counts: Counts,
}

/// What was done since the last report.
#[derive(Default)]
struct Counts {
    sends: u64,
    send: Duration,
    calls: u64,
    regular: Rate,
    targets: u64,
    potential: Rate,
}

impl Counts {
    const fn new() -> Self {
        Self {
            sends: 0,
            send: Duration::ZERO,
            calls: 0,
            regular: Rate::ZERO,
            targets: 0,
            potential: Rate::ZERO,
        }
    }
}

/// Pairs and the time they took.
#[derive(Clone, Copy, Default)]
pub struct Rate {
    /// Pairs.
    pub pairs: u64,
    /// Time.
    pub time: Duration,
}

impl Rate {
    const ZERO: Self = Self {
        pairs: 0,
        time: Duration::ZERO,
    };

    fn add(&mut self, pairs: usize, begin: Instant) {
        self.pairs += pairs as u64;
        self.time += begin.elapsed();
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pairs, seconds) = (self.pairs as f64, self.time.as_secs_f64());
        write!(f, "{pairs:.3e} pairs in {seconds:.3} s")?;
        match pairs > 0.0 && seconds > 0.0 {
            true => write!(f, ", {:.3e} pairs/s", pairs / seconds),
            false => Ok(()),
        }
    }
}

impl Library {
    /// A library without sources.
    pub const fn new() -> Self {
        Self {
            sources: Sources::new(),
            targets: Vec::new(),
            results: Vec::new(),
            stars: Sources::new(),
            potentials: Vec::new(),
            backend: None,
            counts: Counts::new(),
        }
    }

    /// Forgets the sources and gives back all memory.
    pub fn close(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        *self = Self {
            counts,
            ..Self::new()
        };
    }

    /// Replaces the sources, at addresses from 0.
    ///
    /// # Errors
    ///
    /// There is no memory; there are no sources then.
    pub fn send(&mut self, incoming: &Incoming<'_>) -> Result<()> {
        let begin = Instant::now();
        let backend = self.backend.get_or_insert_with(choose);
        let loaded = floating::standard(|| backend.load(&mut self.sources, incoming));
        if loaded.is_err() {
            self.close();
        }
        self.counts.sends += 1;
        self.counts.send += begin.elapsed();
        loaded
    }

    /// The regular forces on the targets, which stay as they are, and the targets' neighbours up to
    /// `longest` for each.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn forces(&mut self, criterion: Criterion, longest: usize) -> Result<&[Regular]> {
        let begin = Instant::now();
        let count = self.targets.len();
        allocation::lengthen(&mut self.results, count, PURPOSE, Regular::default)?;
        let computed = self.compute(|backend, all| {
            let block = Block {
                sources: &all.sources,
                targets: &all.targets,
                criterion,
                longest,
            };
            backend.forces(&block, &mut all.results)
        });
        if computed.is_err() {
            self.results = Vec::new();
        }
        computed?;
        self.counts.calls += 1;
        self.counts.targets += count as u64;
        self.counts.regular.add(count * self.sources.len(), begin);
        Ok(&self.results[..count])
    }

    /// The potentials of all stars at those of a range.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn potentials(&mut self, incoming: &Incoming<'_>, range: Range<usize>) -> Result<&[f64]> {
        let begin = Instant::now();
        let count = range.len();
        allocation::lengthen(&mut self.potentials, count, PURPOSE, f64::default)?;
        self.compute(|backend, all| {
            let potentials = &mut all.potentials[..count];
            backend.potentials(&mut all.stars, incoming, range.clone(), potentials)
        })?;
        self.counts.potential.add(count * self.stars.len(), begin);
        Ok(&self.potentials[..count])
    }

    fn compute(
        &mut self,
        mut call: impl FnMut(&mut dyn RegularForce, &mut Self) -> Result<()>,
    ) -> Result<()> {
        floating::standard(|| {
            let mut backend = match self.backend.take() {
                Some(backend) => backend,
                None => self.begin()?,
            };
            let mut computed = call(&mut *backend, self);
            if computed == Err(Error::ThreadsLost) {
                // This is the child of a fork that a signal handler made: what its threads had is lost.
                std::mem::forget(backend);
                backend = self.begin()?;
                computed = call(&mut *backend, self);
            }
            if computed.is_ok() {
                self.backend = Some(backend);
            }
            computed
        })
    }

    /// A backend that knows the sources.
    fn begin(&self) -> Result<Box<dyn RegularForce>> {
        let mut backend = choose();
        backend.inherit(&self.sources)?;
        Ok(backend)
    }

    /// Writes what was done since the last report, for a rank, and counts anew.
    pub fn report(&mut self, rank: i32) {
        let Counts {
            sends,
            send,
            calls,
            regular,
            targets,
            potential,
        } = std::mem::take(&mut self.counts);
        log::line(format_args!(
            "regular forces (rank {rank}): {sends} sends in {:.3} s; {calls} calls, {targets} forces, {regular}; \
             potentials: {potential}",
            send.as_secs_f64()
        ));
    }
}

fn choose() -> Box<dyn RegularForce> {
    backend::choose_regular(settings::settings())
}
