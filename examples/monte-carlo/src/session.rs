//! One run by all ranks, from the command line to the summary.

mod replaced;

use std::error::Error as AnyError;
use std::path::Path;
use std::time::Instant;

use kirin_kit::Snapshot;
use kirin_kit::columns::Columns;
use kirin_kit::command::{Ended, named, print, tell};
use kirin_kit::communicator::launch::{made_on_first, read_file};
use kirin_kit::communicator::{Communicator, Counted, Operation};
use kirin_kit::galaxy::{Galaxy, Units};
use kirin_kit::interrupt::{checkpoint_requested, elapsed, interrupted};
use kirin_kit::progress::Progress;
use kirin_kit::run::{Clock, Failures, FileKind, Table, Told, check_end, tell_what_goes_on};
use kirin_report::machine::check_memory;

use crate::checkpoint::Checkpoint;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::history::{History, Record};
use crate::model;
use crate::options::{DEFAULT_CORE_STARS, DEFAULT_T_END, Ends, Options, of_bodies};
use crate::output::Summary;
use crate::partition::BIN;
use crate::random::streams;
use crate::space;
use crate::stars::Stars;

/// Memory of a run for each star, by all ranks together.
const BYTES: u64 = 145;

/// More of it where a step may dissolve the cluster: the stars as they were before.
const KEPT: u64 = 57;

/// Interval of the records where no option says otherwise, in initial half-mass relaxation times.
const EVERY: f64 = 0.05;

/// 2T/|W| of bodies that may be a cluster in equilibrium. That of a few hundred stars scatters by some per cent.
const VIRIAL: std::ops::Range<f64> = 0.8..1.25;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The time has come.
    Time,
    /// So many steps were wanted.
    Steps,
    /// The core has collapsed.
    Collapse,
    /// The next step would leave too few stars.
    Dissolution,
    /// A signal.
    Signal,
    /// The time on the wall is over.
    TimeLimit,
}

impl Ending {
    /// The ending in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Steps => "number of steps",
            Self::Collapse => "core collapse",
            Self::Dissolution => "dissolved",
            Self::Signal => "interrupted",
            Self::TimeLimit => "ended by --stop-after",
        }
    }
}

/// A run: the cluster, what is known of its past, and how it began.
pub struct Run<C> {
    /// The cluster.
    pub cluster: Cluster<C>,
    /// What was recorded.
    pub history: History,
    /// What the cluster was at the start.
    pub model: String,
    /// The units of the stars, where they are known.
    pub units: Option<Units>,
    /// Wall time of the steps of this part.
    pub seconds: f64,
    /// Steps before this part.
    pub steps_before: u64,
    /// What the run was told, for one that goes on.
    pub told: Told,
    /// What could not be written on the way.
    pub failures: Failures,
}

/// Threads of a rank, on which all its loops run.
///
/// # Errors
///
/// The system has no threads.
pub fn use_threads(options: &Options, ranks: usize) -> Result<(), Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.map_or((cores / ranks).max(1), usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .use_current_thread();
    match pool.build() {
        // The pool of a thread lasts as long as the thread.
        Ok(pool) => {
            std::mem::forget(pool);
            Ok(())
        }
        Err(error) => Err(Error::Refused(error.to_string())),
    }
}

/// Runs what the options ask for on the ranks of `world`; rank 0 writes the files and the summary.
///
/// # Errors
///
/// An option or a file that makes no sense; a rank is lost; a file cannot be written.
pub fn run<C: Communicator>(world: C, options: &Options) -> Result<Ended, Box<dyn AnyError>> {
    use_threads(options, world.size())?;
    let snapshot = match &options.control.files.input {
        Some(path) => Some(read(&world, path)?),
        None => None,
    };
    let options = &match &snapshot {
        Some(snapshot) => options.or_told(snapshot).map_err(Error::Refused)?,
        None => options.clone(),
    };
    let files = &options.control.files;
    files.validate().map_err(Error::Refused)?;
    let bodies = options.control.own.bodies.as_ref();
    let _claim =
        made_on_first(&world, || files.claim_with_bodies(bodies))?.map_err(Error::Refused)?;
    if files.input.is_none() {
        let n = options.start.n.unwrap_or(model::DEFAULT_N);
        let kept = options.tidal_boundary.is_some()
            || options.stellar_evolution.is_some()
            || options.hole.black_hole_mass.is_some();
        let bytes = BYTES + if kept { KEPT } else { 0 };
        check_memory(n, bytes).map_err(Error::Refused)?;
    }
    let mut run = begin(Counted::new(world), options, snapshot)?;
    if let Some(remark) = run.cluster.settings.remark(run.cluster.n())
        && run.cluster.world.rank() == 0
    {
        tell(&format!("monte-carlo: {remark}"));
    }
    made_on_first(&run.cluster.world, || run.check_replaced(files))?.map_err(Error::Refused)?;
    run.cluster.use_device(options.device)?;
    let ending = match run.evolve(options) {
        Ok(ending) => ending,
        Err(why) => return Err(run.after_error(why, files.output.as_deref())),
    };
    let checkpoint = match &files.output {
        Some(_) => run.checkpoint()?,
        None => None,
    };
    // What cannot be written leaves out nothing else.
    let mut written = Ok(());
    if let (Some(path), Some(checkpoint)) = (&files.output, &checkpoint) {
        written = checkpoint.snapshot().save_as(path);
    }
    if let Some(path) = &options.control.own.bodies {
        written = written.and(run.write_bodies(path)?);
    }
    let summary = Summary::of(&run, ending)?;
    let [is_short, ..] = run.agree([run.failures.unwritten().is_some(), false, false])?;
    if run.cluster.world.rank() == 0 {
        let printed = print(&summary.text(options.profile));
        let reported = files.report(|| summary.json(), || summary.figure());
        // A lost state is told even if there is no report either.
        written?;
        reported?;
        printed?;
        if let Some(what) = run.failures.unwritten() {
            tell(&format!("monte-carlo: {what}"));
        }
        if let (Ending::Signal | Ending::TimeLimit, Some(path)) = (ending, &files.output) {
            tell_what_goes_on("monte-carlo", Some(path), Ended::Interrupted);
        }
    }
    Ok(match ending {
        Ending::Signal => Ended::Interrupted,
        Ending::TimeLimit => Ended::TimeLimit,
        _ if is_short => Ended::Unwritten,
        _ => Ended::Complete,
    })
}

/// The snapshot in `path`, on all ranks.
fn read<C: Communicator>(world: &C, path: &Path) -> Result<Snapshot, Error> {
    let text = read_file(world, path)?.map_err(Error::Refused)?;
    Snapshot::parse(&text).map_err(|e| Error::Refused(named(path)(e)))
}

/// A new run, or the one that the `snapshot` of the input holds.
///
/// # Errors
///
/// An option or a file that makes no sense; a rank is lost.
pub fn begin<C: Communicator>(
    world: Counted<C>,
    options: &Options,
    snapshot: Option<Snapshot>,
) -> Result<Run<C>, Error> {
    let files = &options.control.files;
    let (Some(path), Some(mut snapshot)) = (&files.input, snapshot) else {
        let galaxy = Galaxy::of_units(options.units.units);
        let settings = options.settings(None, &galaxy)?;
        settings.validate()?;
        let binaries = &options.binaries;
        let stars = model::draw(&world, &options.start, binaries)?;
        let n = options.start.n.unwrap_or(model::DEFAULT_N) as usize;
        let all = streams(settings.seed, n.div_ceil(BIN));
        let mut cluster = Cluster::new(world, settings, stars, &all, None)?;
        let (mass, units) = (cluster.potential.mass(), options.units.units);
        if let Some(remark) = options.masses_remark(mass)?
            && cluster.world.rank() == 0
        {
            tell(&format!("monte-carlo: {remark}"));
        }
        cluster.to_standard_units()?;
        cluster.set_binaries(model::binaries(
            &options.start,
            binaries,
            mass,
            units.as_ref(),
        )?);
        cluster.grow_hole()?;
        let title = options.start.model.unwrap_or_default().title();
        return Ok(Run {
            units: options.units.units,
            ..Run::new(cluster, History::default(), title.to_owned())
        });
    };
    snapshot.tell_remark("monte-carlo", path);
    let refuse = |why: String| Error::Refused(named(path)(why));
    let units = |found| options.units.units.unwrap_or(found);
    let brought = files.bring_to_units(&mut snapshot, units);
    brought.map_err(refuse)?;
    let saved = Checkpoint::of(&snapshot).map_err(refuse)?;
    let galaxy = options.units.galaxy(Some(&snapshot)).map_err(refuse)?;
    let mut settings = options.settings(saved.as_ref().map(|saved| saved.settings), &galaxy)?;
    let (stars, streams, past, history, model) = match saved {
        Some(Checkpoint {
            stars,
            streams,
            past,
            history,
            model,
            ..
        }) => (stars, streams, Some(past), history, model),
        None => {
            let found = model::cluster_of(&snapshot.bodies);
            let (stars, dropped) = found.map_err(|e| refuse(e.to_string()))?;
            if dropped > 0 && world.rank() == 0 {
                let (n, path) = (snapshot.bodies.len(), path.display());
                tell(&format!(
                    "monte-carlo: {path}: {dropped} of {n} bodies are not bound to the cluster and are left out"
                ));
            }
            let all = streams(settings.seed, stars.len().div_ceil(BIN));
            if let Some(tide) = &mut settings.tide {
                let hole = settings.black_hole.map_or(0.0, |hole| hole.mass);
                tide.mass = stars.m.iter().sum::<f64>() + hole;
            }
            (stars, all, None, History::default(), "Snapshot".to_owned())
        }
    };
    // Everybody has read everything, and one of them brings it.
    let stars = if world.rank() == 0 {
        stars
    } else {
        Stars::default()
    };
    let is_new = past.is_none();
    let mut cluster =
        Cluster::new(world, settings, stars, &streams, past).map_err(|e| match e {
            Error::Refused(why) => refuse(why),
            other => other,
        })?;
    if is_new {
        let (kinetic, potential) = (cluster.now.kinetic, cluster.now.potential);
        if (kinetic + potential).is_nan() || kinetic + potential >= 0.0 {
            return Err(refuse(format!(
                "the stars have the energy {}: they are no cluster",
                kinetic + potential
            )));
        }
        let virial = -2.0 * kinetic / potential;
        if !VIRIAL.contains(&virial) && cluster.world.rank() == 0 {
            tell(&format!(
                "monte-carlo: {}: 2T/|W| is {virial:.2}: the method is for clusters in equilibrium, which have 1",
                path.display()
            ));
        }
        cluster.grow_hole()?;
    }
    Ok(Run {
        units: galaxy.known_units(),
        ..Run::new(cluster, history, model)
    })
}

impl<C: Communicator> Run<C> {
    fn new(cluster: Cluster<C>, history: History, model: String) -> Self {
        let steps_before = cluster.past.steps;
        Self {
            cluster,
            history,
            model,
            units: None,
            seconds: 0.0,
            steps_before,
            told: Told::default(),
            failures: Failures::default(),
        }
    }

    /// Takes steps up to an end, and on the way records and writes what the options ask for.
    ///
    /// # Errors
    ///
    /// The run is at its end already; a rank is lost; a file cannot be written.
    pub fn evolve(&mut self, options: &Options) -> Result<Ending, Box<dyn AnyError>> {
        self.evolve_until(options, &interrupted)
    }

    /// The same, until `stop` says so on any rank.
    ///
    /// # Errors
    ///
    /// Those of [`evolve`](Self::evolve).
    pub fn evolve_until(
        &mut self,
        options: &Options,
        stop: &dyn Fn() -> bool,
    ) -> Result<Ending, Box<dyn AnyError>> {
        let mut control = options.control.clone();
        let unit = self.cluster.past.relaxation_time0;
        // The run counts in relaxation times.
        let clock = Galaxy::of_units(self.units.map(|units| units.with_time(unit)));
        let t_end = control
            .t_end(DEFAULT_T_END, Some(&clock))
            .map_err(Error::Refused)?;
        let start = self.cluster.scaled_time();
        check_end(start, t_end).map_err(Error::Refused)?;
        let files = &options.control.files;
        let mut plan = files
            .plan(t_end - start, Some(&clock))
            .map_err(Error::Refused)?;
        let every = match files.every {
            Some(every) => every.of_bodies(Some(&clock)).map_err(Error::Refused)?,
            None => EVERY,
        };
        plan.records = Some(every);
        if let Some(snapshots) = plan.snapshots.as_ref().filter(|_| !files.force) {
            let check = || replaced::check_snapshots(snapshots, [start, t_end], unit);
            made_on_first(&self.cluster.world, check)?.map_err(Error::Refused)?;
        }
        control.own.last_step = control.own.last_step(self.steps_before);
        self.told = control.told(t_end, &plan)?;
        let ends = &control.own;
        let core_radius = of_bodies(ends.core_radius, &Galaxy::of_units(self.units))?;
        self.check_core(ends, core_radius).map_err(Error::Refused)?;
        let writes = self.cluster.world.rank() == 0;
        let columns = Columns::new(Record::COLUMNS, self.units.as_ref());
        let mut csv = match &files.csv {
            Some(path) if writes => {
                let records = &self.history.records;
                Some(Table::begin(path, columns, records, Record::numbers)?)
            }
            _ => None,
        };
        let mut snapshots = plan.snapshots.map(|s| (Clock::from(start, s.every), s));
        let mut checkpoints = plan.checkpoints.map(|c| c.interval.begin(start));
        let progress = writes.then(|| Progress::new("monte-carlo", start, t_end));
        let ending = loop {
            let now = self.cluster.scaled_time();
            if self.history.is_due(&self.cluster, every, false) {
                self.cluster.fetch()?;
            }
            if self.history.look(&self.cluster, every, false).is_some() {
                self.add_to_table(&mut csv);
            }
            if let Some((clock, snapshots)) = snapshots.as_mut().filter(|(c, _)| c.reached(now)) {
                let number = clock.pass(now);
                self.cluster.fetch()?;
                let written = self.write_bodies(&snapshots.path(number))?;
                self.note(FileKind::Snapshot, written);
            }
            let rings = checkpoints.as_mut().is_some_and(|timer| timer.rings(now));
            let is_over = control.stop_after.is_some_and(|limit| elapsed() >= limit);
            let [rings, stop, is_over] =
                self.agree([rings || checkpoint_requested(), stop(), is_over])?;
            if rings {
                self.cluster.fetch()?;
            }
            if rings
                && let Some(checkpoint) = self.checkpoint()?
                && let Some(path) = &files.output
            {
                let written = checkpoint.snapshot().save_as(path);
                self.note(FileKind::Checkpoint, written);
            }
            if rings && writes && files.output.is_none() {
                tell("monte-carlo: SIGUSR1: there is no --output for a checkpoint");
            }
            let told = match (stop, is_over) {
                (true, _) => Some(Ending::Signal),
                (false, true) => Some(Ending::TimeLimit),
                (false, false) => None,
            };
            if let Some(ending) = self.ending(ends, core_radius, t_end).or(told) {
                break ending;
            }
            let began = Instant::now();
            self.cluster.step(t_end * unit)?;
            self.seconds += began.elapsed().as_secs_f64();
            if let Some(progress) = &progress {
                progress.advance(self.cluster.scaled_time());
            }
        };
        if let Some(progress) = progress {
            progress.finish();
        }
        self.cluster.fetch()?;
        // A run that goes on later is to have the records of one that was never interrupted.
        if matches!(
            ending,
            Ending::Time | Ending::Collapse | Ending::Dissolution
        ) && self.history.look(&self.cluster, every, true).is_some()
        {
            self.add_to_table(&mut csv);
        }
        let records = &self.history.records;
        self.failures.close_table(csv, records, Record::numbers);
        Ok(ending)
    }

    /// Saves the run up to an error that all ranks have, if steps were taken and the stars are not between two of them. Returns the error,
    /// with what has become of the state.
    fn after_error(&self, why: Box<dyn AnyError>, output: Option<&Path>) -> Box<dyn AnyError> {
        let is_of_all = matches!(why.downcast_ref(), Some(Error::Refused(_)));
        let has_gone_on = self.cluster.past.steps > self.steps_before;
        let Some(path) = output.filter(|_| is_of_all && has_gone_on) else {
            return why;
        };
        let (t, name) = (self.cluster.scaled_time(), path.display());
        if !self.cluster.is_whole {
            return Error::Refused(format!(
                "{why}; the state at t = {t} is not saved: the error came within a step"
            ))
            .into();
        }
        let saved = match self.checkpoint() {
            Ok(Some(checkpoint)) => checkpoint.snapshot().save_as(path),
            Ok(None) => Ok(()),
            Err(lost) => Err(lost.to_string()),
        };
        let kept = match saved {
            Ok(()) => format!("the run up to t = {t} is in {name}"),
            Err(lost) => format!("the state at t = {t} is not saved ({lost})"),
        };
        // All ranks are to have the same words.
        if self.cluster.world.size() > 1 {
            if self.cluster.world.rank() == 0 {
                tell(&format!("monte-carlo: {kept}"));
            }
            // Rank 0 may write for long, and the others would end the job meanwhile.
            let _ = self.cluster.world.barrier();
            return why;
        }
        Error::Refused(format!("{why}; {kept}")).into()
    }

    /// Adds the last record to the table, if this rank has it.
    fn add_to_table(&mut self, table: &mut Option<Table>) {
        let records = &self.history.records;
        let line = self.failures.add_to_table(table, records, Record::numbers);
        self.tell(line);
    }

    /// A file was written, or not.
    fn note(&mut self, kind: FileKind, written: Result<(), String>) {
        let line = self.failures.add(kind, written);
        self.tell(line);
    }

    fn tell(&self, line: Option<String>) {
        if let Some(line) = line {
            tell(&format!("monte-carlo: {line}"));
        }
    }

    /// Checks that the core of a new run is none that ends it.
    ///
    /// # Errors
    ///
    /// It is; in words.
    fn check_core(&self, ends: &Ends, core_radius: Option<f64>) -> Result<(), String> {
        if self.cluster.past.steps > 0 {
            return Ok(());
        }
        let (core, least) = (&self.cluster.now, self.core_stars(ends));
        if (core.core_stars as u64) < least {
            return Err(format!(
                "the core has {} stars at the start: fewer than {least} count as its collapse (--core-stars), take \
                 a smaller number, or 0 for no such end",
                core.core_stars
            ));
        }
        match core_radius {
            Some(radius) if core.core_radius < radius => Err(format!(
                "the core radius is {} at the start: less than {radius} counts as collapse (--core-radius), take a \
                 smaller one",
                core.core_radius
            )),
            _ => Ok(()),
        }
    }

    /// The number of stars in the core below which a run with these `ends` is over.
    fn core_stars(&self, ends: &Ends) -> u64 {
        let settings = &self.cluster.settings;
        let never_collapses = settings.has_binaries() || settings.black_hole.is_some();
        let default = match never_collapses {
            true => 0,
            false => DEFAULT_CORE_STARS,
        };
        ends.core_stars.unwrap_or(default)
    }

    /// Why the run ends here, if it does; `core_radius` is that of `ends`.
    fn ending(&self, ends: &Ends, core_radius: Option<f64>, t_end: f64) -> Option<Ending> {
        let cluster = &self.cluster;
        if cluster.dissolved {
            return Some(Ending::Dissolution);
        }
        let is_small = core_radius.is_some_and(|radius| cluster.now.core_radius < radius);
        if (cluster.now.core_stars as u64) < self.core_stars(ends) || is_small {
            return Some(Ending::Collapse);
        }
        // The time is a sum of steps, of which the last is cut.
        if cluster.scaled_time() >= t_end * (1.0 - 1e-12) {
            return Some(Ending::Time);
        }
        if ends
            .last_step
            .is_some_and(|last| cluster.past.steps >= last)
        {
            return Some(Ending::Steps);
        }
        None
    }

    /// What any rank wants, all do.
    fn agree(&self, wanted: [bool; 3]) -> Result<[bool; 3], Error> {
        if self.cluster.world.size() == 1 {
            return Ok(wanted);
        }
        let mut all = wanted.map(|w| f64::from(u8::from(w)));
        self.cluster.world.all_reduce(Operation::Max, &mut all)?;
        Ok(all.map(|w| w > 0.0))
    }

    /// All that is needed to go on, on rank 0.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        let streams = self.cluster.all_streams()?;
        let stars = self.cluster.gather()?;
        Ok(stars.map(|stars| Checkpoint {
            settings: self.cluster.settings,
            past: self.cluster.past.clone(),
            model: self.model.clone(),
            units: self.units,
            history: self.history.clone(),
            told: self.told.clone(),
            streams,
            stars,
        }))
    }

    /// Writes the stars in space, from rank 0. The errors of the file come apart, in words.
    fn write_bodies(&self, path: &Path) -> Result<Result<(), String>, Error> {
        let Some(stars) = self.cluster.gather()? else {
            return Ok(Ok(()));
        };
        let past = &self.cluster.past;
        let mut bodies = space::bodies(&stars, self.cluster.settings.seed, past.steps);
        if past.hole_mass > 0.0 {
            bodies.push(space::hole(past.hole_index, past.hole_mass));
        }
        let snapshot = Snapshot {
            time: past.time,
            bodies,
            run: Galaxy::of_units(self.units).lines(),
            ..Snapshot::default()
        };
        Ok(snapshot.save_as(path))
    }
}
