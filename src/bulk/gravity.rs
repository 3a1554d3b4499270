//! The object behind a handle: a cluster whose j-particles are the sources. A source's index is its address and its
//! label.

use super::arrays::{Indices, Results, Sources, Targets};
use kirin_core::cluster::{BlockResults, Cluster};
use kirin_core::error::{Error, Result};
use kirin_core::process::allocation;
use kirin_core::process::long_work::LongWork;
use kirin_core::process::settings::{PrecisionChoice, Settings};
use kirin_core::sources::jmemory::{Given, SourceKind};
use kirin_core::sources::neighbours::{LABELS_AT_MOST, ListRules, NeighbourLists};
use kirin_core::sources::particle::IParticle;
use kirin_core::trace::{self, Event};

/// The label of a target that is no source.
const NOBODY: i32 = -1;

/// How many targets without neighbour lists are computed at a time.
const AT_A_TIME: usize = 1 << 14;

/// What memory is for, in messages.
const PURPOSE: &str = "targets";

const LIST_RULES: ListRules = ListRules {
    include_self: false,
    sorted: true,
    at_most: LABELS_AT_MOST,
};

/// One `kirin_bulk_forces`.
pub struct Request {
    /// Time of the prediction.
    pub time: f64,
    /// Square of the softening length of targets that have none of their own.
    pub eps2: f64,
    /// Number of targets.
    pub n: usize,
    /// The targets.
    pub targets: Targets,
    /// Where results go.
    pub results: Results,
}

/// The sources of a handle, and the neighbour lists of its last targets.
pub struct Gravity {
    cluster: Cluster,
    work: &'static LongWork,
    settings: Settings,
    precision: Option<PrecisionChoice>,
    /// Number of sources.
    count: usize,
    /// Whether they have softening lengths of their own.
    softened: bool,
    /// The targets that are being computed.
    particles: Vec<IParticle>,
    lists: Option<(NeighbourLists, usize)>,
    traced: i32,
    /// What messages call it.
    name: String,
}

impl Gravity {
    /// No sources. `place` tells it from others in traces, `name` in messages.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn new(
        (place, name): (i32, String),
        settings: Settings,
        work: &'static LongWork,
    ) -> Result<Self> {
        let cluster = Self::cluster(SourceKind::Moving, &settings, None, work)?;
        let traced = trace::FIRST_OF_BULK + place;
        trace::record(|| Event::Open { id: traced });
        Ok(Self {
            cluster,
            work,
            settings,
            precision: None,
            count: 0,
            softened: false,
            particles: Vec::new(),
            lists: None,
            traced,
            name,
        })
    }

    fn cluster(
        kind: SourceKind,
        settings: &Settings,
        precision: Option<PrecisionChoice>,
        work: &'static LongWork,
    ) -> Result<Cluster> {
        let mut cluster = Cluster::of(kind, settings.clone()).watched(work);
        cluster.begin_with_columns()?;
        if let Some(precision) = precision {
            cluster.set_precision(precision);
        }
        Ok(cluster)
    }

    /// Number of sources.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the sources have softening lengths of their own.
    pub fn has_softening(&self) -> bool {
        self.softened
    }

    /// Name of the backend.
    pub fn backend_name(&mut self) -> String {
        self.cluster.backend_name()
    }

    /// The precision of the last forces, or else what is in force, in words.
    pub fn precision(&self) -> String {
        self.cluster.precision()
    }

    /// Chooses the precision, which has this number.
    pub fn set_precision(&mut self, choice: PrecisionChoice, number: i32) {
        self.precision = Some(choice);
        self.cluster.set_precision(choice);
        // Also while nothing else is recorded: it holds for the sources that come.
        let id = self.traced;
        trace::record(|| Event::SetPrecision {
            id,
            precision: number,
        });
    }

    /// Writes its statistics, if the user wants them.
    pub fn report(&mut self) {
        self.cluster.report(&self.name);
    }

    /// Is about to be dropped.
    pub fn close(&mut self) {
        let id = self.traced;
        trace::record(|| Event::Close { id });
    }

    /// These are the sources.
    ///
    /// # Errors
    ///
    /// There is no memory for them. The earlier ones stay.
    ///
    /// # Safety
    ///
    /// The arrays are null or have `count` entries.
    pub unsafe fn load(&mut self, count: usize, sources: &Sources) -> Result<()> {
        let given = given(sources);
        let softened = given.eps2.is_some();
        if softened == self.softened {
            // SAFETY: passed on.
            unsafe { self.cluster.load(count, given)? };
        } else {
            let kind = match softened {
                true => SourceKind::MovingSoftened,
                false => SourceKind::Moving,
            };
            let mut other = Self::cluster(kind, &self.settings, self.precision, self.work)?;
            // SAFETY: passed on.
            unsafe { other.load(count, given)? };
            // Its statistics would be lost.
            self.cluster.report(&self.name);
            self.cluster = other;
            self.softened = softened;
        }
        self.count = count;
        self.record_all(0..count);
        Ok(())
    }

    /// Gives the listed sources new numbers.
    ///
    /// # Errors
    ///
    /// There is no memory.
    ///
    /// # Safety
    ///
    /// The arrays are null or have `number` entries; each index is that of a source.
    pub unsafe fn update(
        &mut self,
        number: usize,
        index: Indices,
        sources: &Sources,
    ) -> Result<()> {
        // SAFETY: passed on.
        let address = |k: usize| unsafe { index.get(k) } as usize;
        // SAFETY: passed on.
        unsafe { self.cluster.update(number, address, given(sources)) };
        self.record_all((0..number).map(address));
        Ok(())
    }

    /// Computes forces and neighbour lists, and writes results.
    ///
    /// # Errors
    ///
    /// There is no memory, or the lists are too long. Nothing is written then.
    ///
    /// # Safety
    ///
    /// The arrays are null or have as many entries as there are targets; indices are those of sources.
    pub unsafe fn forces(&mut self, request: Request) -> Result<()> {
        self.lists = None;
        let wants_lists = !request.targets.radius2.at.is_null();
        let step = match wants_lists {
            true => request.n.max(1),
            false => AT_A_TIME,
        };
        self.cluster.set_ti(request.time);
        self.record(|id| Event::SetTi {
            id,
            ti: request.time,
        });
        for first in (0..request.n).step_by(step) {
            let count = step.min(request.n - first);
            // SAFETY: passed on.
            unsafe {
                self.gather(&request, first, count)?;
                self.compute(&request, first, wants_lists)?;
            }
        }
        if wants_lists && request.n == 0 {
            self.lists = Some((NeighbourLists::default(), 0));
        }
        Ok(())
    }

    /// Collects some targets.
    ///
    /// # Safety
    ///
    /// That of [`Gravity::forces`].
    unsafe fn gather(&mut self, request: &Request, first: usize, count: usize) -> Result<()> {
        let Request {
            targets,
            results,
            time,
            eps2,
            ..
        } = request;
        self.particles.clear();
        allocation::reserve(&mut self.particles, count, PURPOSE)?;
        let (x, eps2s, radius2) = (
            targets.x.strided(),
            targets.eps2.strided(),
            targets.radius2.strided(),
        );
        let v = targets.v.strided();
        // Without a jerk, velocities would only cost time.
        let wants_jerk = !results.jerk.at.is_null();
        for k in first..first + count {
            // SAFETY: passed on: each array that is not absent has an entry k.
            let i = unsafe {
                let source = match (targets.source.are_absent(), x.is_some()) {
                    (false, _) => targets.source.get(k).max(NOBODY.into()) as i32,
                    (true, true) => NOBODY,
                    (true, false) => k as i32,
                };
                let mut i = IParticle {
                    index: source,
                    eps2: *eps2,
                    ..IParticle::default()
                };
                match x {
                    Some(x) => i.x = x.map(|c| c.get(k)),
                    None => {
                        let Some((stored, own)) = self.cluster.stored(source as usize) else {
                            return Err(Error::Internal {
                                message: format!("there is no source {source}"),
                            });
                        };
                        let (x, v) = stored.predicted(*time);
                        (i.x, i.eps2) = (x, if self.softened { own } else { *eps2 });
                        i.v = if wants_jerk { v } else { [0.0; 3] };
                    }
                }
                if let Some(v) = v {
                    i.v = v.map(|c| c.get(k));
                }
                i.eps2 = eps2s.map_or(i.eps2, |eps2| eps2.get(k));
                i.h2 = radius2.map_or(0.0, |h2| h2.get(k));
                i
            };
            self.particles.push(i);
        }
        Ok(())
    }

    /// Computes the targets that were collected, of which the first is number `first`.
    ///
    /// # Safety
    ///
    /// That of [`Gravity::forces`].
    unsafe fn compute(&mut self, request: &Request, first: usize, lists: bool) -> Result<()> {
        let results = &request.results;
        let wants_nearest = !results.nearest.at.is_null() || !results.distance2.at.is_null();
        let wants_forces = !results.acc.at.is_null()
            || !results.jerk.at.is_null()
            || !results.pot.at.is_null()
            || wants_nearest;
        let traced = self.traced;
        let begin = (!self.softened).then(trace::clock).flatten();
        let n = self.particles.len();
        let cluster = &mut self.cluster;
        let particles = self.particles.iter().copied();
        if !wants_forces {
            if lists {
                self.lists = Some((cluster.lists_on(self.count, particles, LIST_RULES)?, n));
            }
            return Ok(());
        }
        cluster.firsthalf(self.count, particles)?;
        if lists {
            // The forces first: a GPU is computing them already.
            cluster.lasthalf(n, wants_nearest)?;
            self.lists = Some((cluster.lists_by(LIST_RULES)?, n));
        }
        if begin.is_some() {
            let precision = cluster.precision();
            trace::describe(traced, precision, || cluster.backend_name());
        }
        let answer = cluster.lasthalf(n, wants_nearest)?;
        // SAFETY: passed on.
        unsafe { write(results, first, answer) };
        if let Some(begin) = begin {
            trace::record_block(traced, &answer);
            trace::record_results(traced, answer.forces, None, begin);
        }
        Ok(())
    }

    /// The neighbour lists of the last targets, and the number of these.
    ///
    /// # Errors
    ///
    /// They had no radii.
    pub fn lists(&self) -> Result<(&NeighbourLists, usize)> {
        match &self.lists {
            Some((lists, targets)) => Ok((lists, *targets)),
            None => Err(Error::NotOpen {
                by: "kirin_bulk_forces with radius2",
            }),
        }
    }

    /// Traces have no word for softening lengths of j-particles.
    fn record(&self, event: impl FnOnce(i32) -> Event) {
        if !self.softened {
            trace::record(|| event(self.traced));
        }
    }

    fn record_all(&self, addresses: impl Iterator<Item = usize>) {
        if self.softened || !trace::active() {
            return;
        }
        for address in addresses {
            if let Some((particle, _)) = self.cluster.stored(address) {
                self.record(|id| Event::JParticle {
                    id,
                    address: address as i32,
                    dt: 0.0,
                    mass_position: false,
                    particle,
                });
            }
        }
    }
}

/// What a client gives of its sources.
fn given(sources: &Sources) -> Given {
    let mut given = Given::new(sources.mass.strided(), sources.time.strided()).with([
        sources.x.strided(),
        sources.v.strided(),
        sources.acc.strided(),
        sources.jerk.strided(),
        sources.snap.strided(),
    ]);
    given.eps2 = sources.eps2.strided();
    given
}

/// Writes the results of the targets from `first` on.
///
/// # Safety
///
/// The arrays are null or have as many entries.
unsafe fn write(results: &Results, first: usize, answer: BlockResults<'_>) {
    for (k, force) in (first..).zip(answer.forces) {
        // SAFETY: passed on.
        unsafe {
            results.acc.put(k, force.acc);
            results.jerk.put(k, force.jerk);
            results.pot.put(k, force.pot);
        }
    }
    for (k, nearest) in (first..).zip(answer.nearest) {
        let (index, r2) = nearest.map_or((-1, f64::INFINITY), |n| (n.index.into(), n.r2));
        // SAFETY: passed on.
        unsafe {
            results.nearest.put(k, index);
            results.distance2.put(k, r2);
        }
    }
}
