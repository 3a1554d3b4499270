//! The regular force and the potential. The client sends sources anew for each block, and targets in calls of up to a
//! thousand.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::nbody6::statistics::COUNTS;
use kirin_core::choice;
use kirin_core::error::{Error, Result};
use kirin_core::force::regular::{
    Criterion, Incoming, PURPOSE, Pair, RegularForce, RegularRequest, RegularResult, Sources,
    Target,
};
use kirin_core::process::singleton::Singleton;
use kirin_core::process::{self, allocation, settings};
use kirin_core::trace;
use kirin_core::trace::nbody6::{self, Call, record};

/// The library behind the exported functions.
pub static LIBRARY: Singleton<RegularLibrary> =
    Singleton::new("NBODY6's regular force", RegularLibrary::new());

/// Sources, targets and results.
#[derive(Default)]
pub struct RegularLibrary {
    /// What exerts the regular force.
    sources: Sources,
    /// Why the last send was refused: forces of the sources before it would be wrong.
    refused: Option<Error>,
    /// Where it is wanted.
    pub targets: Vec<Target>,
    results: Vec<RegularResult>,
    /// What exerts the potential.
    stars: Sources,
    potentials: Vec<f64>,
    backend: Option<Box<dyn RegularForce>>,
}

impl RegularLibrary {
    /// A library without sources.
    pub const fn new() -> Self {
        Self {
            sources: Sources::new(),
            refused: None,
            targets: Vec::new(),
            results: Vec::new(),
            stars: Sources::new(),
            potentials: Vec::new(),
            backend: None,
        }
    }

    /// Forgets the sources and gives back all memory.
    pub fn close(&mut self) {
        *self = Self::new();
        record::call(|| Call::Close);
    }

    /// Notes that a send was refused. Until the next good one, forces are refused with the same error.
    pub fn note_refusal(&mut self, error: &Error) {
        self.refused = Some(error.clone());
    }

    /// Replaces the sources, at addresses from 0.
    ///
    /// # Errors
    ///
    /// There is no memory; there are no sources then, and forces are refused with the same error until the next good send.
    pub fn send(&mut self, incoming: &Incoming<'_>) -> Result<()> {
        settings::with_memory()?;
        let begin = COUNTS.begin();
        let loaded = process::protected(|| {
            let backend = match &mut self.backend {
                Some(backend) => backend,
                none => none.insert(choose()?),
            };
            backend.load(&mut self.sources, incoming)
        });
        match loaded {
            Ok(()) => {
                self.refused = None;
                record::send(incoming, begin);
            }
            Err(ref error) => {
                self.close();
                self.note_refusal(error);
            }
        }
        COUNTS.sends.add(incoming.m.len(), 0, begin);
        loaded
    }

    /// The regular forces on the targets, and the neighbours of each target. If a target has more than `longest`
    /// neighbours, there is only their number. The targets stay as they are.
    ///
    /// # Errors
    ///
    /// The last send was refused, or there is no memory.
    pub fn forces(&mut self, criterion: Criterion, longest: usize) -> Result<()> {
        if let Some(error) = &self.refused {
            return Err(error.clone());
        }
        let begin = COUNTS.begin();
        let count = self.targets.len();
        allocation::lengthen(&mut self.results, count, PURPOSE, RegularResult::default)?;
        let computed = self.compute(|backend, all| {
            let block = RegularRequest {
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
        let results = &self.results[..count];
        let neighbours = results.iter().map(|r| r.neighbours);
        COUNTS.add_regular(self.sources.len(), neighbours, longest, begin);
        self.describe();
        let results = &self.results[..count];
        record::regular(criterion, longest, (&self.targets, results), begin);
        Ok(())
    }

    /// What the last [`RegularLibrary::forces`] found, in the order of the targets.
    pub fn results(&self) -> &[RegularResult] {
        &self.results[..self.targets.len()]
    }

    /// Whether three quarters of the targets of a larger block have no neighbour but themselves, while most would have a list of usual
    /// length if radii did not depend on the masses of the sources. It looks at few lists, in few blocks of a process.
    pub fn misses_neighbours(&self, longest: usize) -> bool {
        const FEW: usize = 8;
        static BLOCKS: AtomicU32 = AtomicU32::new(0);
        let is_alone = |result: &&RegularResult| result.neighbours <= 1;
        let (alone, all) = (
            self.results().iter().filter(is_alone).count(),
            self.targets.len(),
        );
        if all < FEW || 4 * alone < 3 * all {
            return false;
        }
        if BLOCKS.fetch_add(1, Ordering::Relaxed) >= FEW as u32 {
            return false;
        }
        let is_usual = |target: &&Target| {
            let is_near =
                |&j: &usize| Pair::new(&self.sources, j, target).is_near(Criterion::Radius);
            let near = (0..self.sources.len()).filter(is_near).count();
            (2..=longest).contains(&near)
        };
        let some = || self.targets.iter().step_by(all / FEW);
        2 * some().filter(is_usual).count() > some().count()
    }

    /// The potentials of all stars at those of a range.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn potentials(&mut self, incoming: &Incoming<'_>, range: Range<usize>) -> Result<&[f64]> {
        let begin = COUNTS.begin();
        let count = range.len();
        allocation::lengthen(&mut self.potentials, count, PURPOSE, f64::default)?;
        self.compute(|backend, all| {
            let potentials = &mut all.potentials[..count];
            backend.potentials(&mut all.stars, incoming, range.clone(), potentials)
        })?;
        COUNTS
            .potentials
            .add(count, count * self.stars.len(), begin);
        self.describe();
        let potentials = &self.potentials[..count];
        record::potentials(incoming, &range, potentials, begin);
        Ok(potentials)
    }

    /// Has a trace say what computes.
    fn describe(&self) {
        if let (true, Some(backend)) = (trace::active(), &self.backend) {
            let precision = choice::regular_precision(settings::settings());
            trace::describe(nbody6::REGULAR, precision.to_string(), || backend.name());
        }
    }

    fn compute(
        &mut self,
        mut call: impl FnMut(&mut dyn RegularForce, &mut Self) -> Result<()>,
    ) -> Result<()> {
        process::protected(|| {
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
        let mut backend = choose()?;
        backend.inherit(&self.sources)?;
        Ok(backend)
    }
}

/// # Errors
///
/// There is no memory.
fn choose() -> Result<Box<dyn RegularForce>> {
    allocation::spare(0, PURPOSE)?;
    let settings = settings::settings();
    let backend = choice::choose_regular(settings);
    COUNTS.computed_by(|| {
        let precision = choice::regular_precision(settings);
        format!("{}, precision {precision}", backend.name())
    });
    Ok(backend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_core::force::regular::Unaligned;

    #[test]
    fn few_blocks_are_searched_for_missed_neighbours() {
        let place = |k: usize| [k as f64, 0.0, 0.0];
        let x: Vec<_> = (0..20).map(|k| Unaligned(place(k))).collect();
        let mut library = RegularLibrary::new();
        let incoming = Incoming {
            x: &x,
            v: &x,
            m: &[Unaligned(0.01); 20],
        };
        library.send(&incoming).unwrap();
        library.targets = (0..20)
            .map(|k| Target {
                x: place(k),
                v: place(k),
                h2: 2.0,
                dtr: 0.0,
            })
            .collect();
        library.forces(Criterion::MassAndRadius, 10).unwrap();
        let found = (0..100).filter(|_| library.misses_neighbours(10)).count();
        assert!((1..20).contains(&found), "{found}");
    }
}
