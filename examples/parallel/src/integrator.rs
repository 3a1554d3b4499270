//! The integration of a cluster by many ranks, one block at a time.

mod copies;
mod integration;

pub use copies::COPY;

use std::ops::Range;
use std::path::Path;

use hermite::counts::Counts;
use hermite::error::Error as Of;
use hermite::pairs::Pairs;
use hermite::particle;
use hermite::settings::Settings;
use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::communicator::counted::Tally;
use kirin_kit::communicator::{Communicator, Counted};
use kirin_kit::snapshot::State;
use kirin_kit::snapshot::parts::{Manifest, RECORD, of_record, record};

use crate::agreement::Agreement;
use crate::column::Column;
use crate::error::Error;
use crate::machine::{Algorithm, Arrangement, Node, Times};
use crate::output::Work;
use crate::recording::Recorder;
use crate::ring;
use crate::two_d::{self, Agreed, Scratch, Told};

/// All particles and their states.
pub type Everybody = (Vec<Body>, Vec<State>);

/// Where a rank finds the particles of its column.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Among all particles, of which it has a copy.
    All(&'a [Body], &'a [State]),
    /// In the files of a state in parts. The path is that of their manifest.
    Parts(&'a Path, &'a Manifest),
}

impl Source<'_> {
    /// Number of all particles.
    fn n(self) -> usize {
        match self {
            Self::All(bodies, _) => bodies.len(),
            Self::Parts(_, manifest) => manifest.n,
        }
    }

    /// The particles at these addresses.
    fn column(self, addresses: Range<usize>) -> Result<Everybody, Error> {
        match self {
            Self::All(bodies, states) => {
                particle::check_labels(bodies)?;
                Ok((
                    bodies[addresses.clone()].to_vec(),
                    states[addresses].to_vec(),
                ))
            }
            Self::Parts(path, manifest) => {
                let (bodies, states) = manifest.read(path, addresses)?;
                particle::check_labels(&bodies)?;
                Ok((bodies, states))
            }
        }
    }
}

/// This rank's part of a cluster on its way. All ranks make the same calls.
pub struct Integrator<'g, C> {
    machine: Node<'g, C>,
    settings: Settings,
    n: usize,
    time: f64,
    column: Column,
    counts: Counts,
    agreement: Agreement,
    /// Whether the state is written in parts.
    in_parts: bool,
    /// On rank 0 what was seen of close pairs, and everybody as they were seen last.
    pairs: Pairs,
    seen: Option<Everybody>,
    /// What the ranks know of the next block.
    agreed: Agreed,
    /// Particles on shared pages that were moved in the last block, by place. The columns that share the pages do not have
    /// their new places yet.
    moved: Vec<usize>,
    /// What this rank received for the blocks, without diagnostics.
    tally: Tally,
    /// Where the blocks are recorded: on the ranks of the first row.
    recorder: Option<Recorder>,
    blocks: u64,
    scratch: Scratch,
    combined: Vec<f64>,
    partial: Vec<f64>,
    mine: Vec<f64>,
    forces: Vec<f64>,
}

impl<'g, C: Communicator> Integrator<'g, C> {
    /// Starts from `bodies`, those of all ranks, which are all at `time`, a multiple of the largest step.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces.
    pub fn start(
        world: Counted<C>,
        grape: &'g Grape,
        plan: Arrangement,
        settings: Settings,
        time: f64,
        bodies: &[Body],
    ) -> Result<Self, Error> {
        settings.validate()?;
        let states = vec![particle::initial_state(&settings, time)?; bodies.len()];
        let all = Source::All(bodies, &states);
        let mut new = Self::load(world, grape, plan, settings, time, all)?;
        let everybody: Vec<usize> = (0..new.column.bodies.len()).collect();
        new.forces_on(time, &everybody)?;
        for (i, force) in new
            .forces
            .chunks_exact(crate::j_particles::FORCE)
            .enumerate()
        {
            let (body, state) = (&new.column.bodies[i], &mut new.column.states[i]);
            let (acc, jerk) = two_d::halves(force);
            particle::begin(&settings, body, state, acc, jerk)?;
        }
        new.send_all()?;
        new.column.schedule_all();
        if new.settings.has_trial_steps() {
            new.trial_steps()?;
        }
        new.look_ahead()?;
        Ok(new)
    }

    /// Finds everybody's first step from the force at the end of a trial step, which nobody takes.
    fn trial_steps(&mut self) -> Result<(), Error> {
        loop {
            self.look_ahead()?;
            let Agreed { t, lengths, .. } = std::mem::take(&mut self.agreed);
            if t == f64::INFINITY {
                break;
            }
            let list = match self.column.due == t {
                true => std::mem::take(&mut self.column.active),
                false => Vec::new(),
            };
            self.forces(t, &list, &lengths)?;
            let forces = self.forces.chunks_exact(crate::j_particles::FORCE);
            let column = &mut self.column;
            for (&i, force) in list.iter().zip(forces) {
                let (body, state) = (&column.bodies[i], &mut column.states[i]);
                let (acc, jerk) = two_d::halves(force);
                if !particle::try_step(&self.settings, body, state, acc, jerk)? {
                    column.schedule.insert(i, state.dt);
                }
            }
        }
        self.machine.times = Times::default();
        self.send_all()?;
        self.column.schedule_all();
        Ok(())
    }

    /// Continues an integration at `time`, in the middle of its particles' steps. `source` has the bodies and states of
    /// that time: those that [`Integrator::gather`] returned, or files of the columns. `counts` are the counts up to
    /// then.
    ///
    /// # Errors
    ///
    /// Senseless settings, bodies or states.
    pub fn resume(
        world: Counted<C>,
        grape: &'g Grape,
        plan: Arrangement,
        settings: Settings,
        time: f64,
        source: Source<'_>,
        counts: Counts,
    ) -> Result<Self, Error> {
        settings.validate()?;
        let mut new = Self::load(world, grape, plan, settings, time, source)?;
        for (body, state) in new.column.bodies.iter().zip(&new.column.states) {
            particle::check_state(&settings, time, body, state)?;
        }
        new.pairs = Pairs::after(&counts);
        new.counts = counts;
        new.column.schedule_all();
        new.look_ahead()?;
        Ok(new)
    }

    /// Takes this rank's column and sends it to the library.
    fn load(
        world: Counted<C>,
        grape: &'g Grape,
        plan: Arrangement,
        settings: Settings,
        time: f64,
        source: Source<'_>,
    ) -> Result<Self, Error> {
        let n = source.n();
        let machine = Node::new(world, grape, plan, n, settings.eps)?;
        let addresses = machine.columns.addresses(machine.place.1);
        let (bodies, states) = source.column(addresses.clone())?;
        let column = Column::new(addresses, bodies, states, settings.dt_max);
        let agreement = Agreement::new(&machine.sources);
        let mut new = Self {
            machine,
            settings,
            n,
            time,
            column,
            agreement,
            in_parts: false,
            counts: Counts::default(),
            pairs: Pairs::default(),
            seen: None,
            agreed: Agreed::default(),
            moved: Vec::new(),
            tally: Tally::default(),
            recorder: None,
            blocks: 0,
            scratch: Scratch::default(),
            combined: Vec::new(),
            partial: Vec::new(),
            mine: Vec::new(),
            forces: Vec::new(),
        };
        new.send_all()?;
        Ok(new)
    }

    /// Writes this column's particles into the library's memory. All ranks call it.
    fn send_all(&mut self) -> Result<(), Error> {
        let Column {
            addresses,
            bodies,
            states,
            ..
        } = &self.column;
        for (address, (body, state)) in addresses.clone().zip(bodies.iter().zip(states)) {
            self.machine.sources.write(address, body, state);
        }
        self.share_all_copies()
    }

    /// Finds out when the next block ends, and who is in it: steps 1 and 2.
    fn look_ahead(&mut self) -> Result<(), Error> {
        self.look_ahead_after(self.time, Ok(()))
    }

    /// The same after a block that ended at `t`. Where a column has `failed` in it, all ranks return its error.
    fn look_ahead_after(
        &mut self,
        t: f64,
        failed: Result<(), hermite::error::Error>,
    ) -> Result<(), Error> {
        let mut times = self.machine.times;
        let moved = std::mem::take(&mut self.moved);
        let counts = self.on_each_page(&moved);
        let told = match &failed {
            Ok(()) => {
                times.of(1, || two_d::active_list(&mut self.column, t));
                Told::List(self.column.due, self.column.active.len(), counts)
            }
            Err(error) => Told::Failed(error),
        };
        let (scratch, galaxy) = (&mut self.scratch, self.settings.galaxy);
        let agreed = times.of(2, || {
            two_d::lengths_and_time(&self.machine, &told, t, scratch)
        });
        self.agreed = agreed.map_err(|error| error.with_edge(|| galaxy.edge()))?;
        let counts = std::mem::take(&mut self.agreed.moved);
        times.of(2, || self.share_copies(&moved, &counts))?;
        self.machine.times = times;
        Ok(())
    }

    /// Time at which the next block ends; infinite without particles.
    pub fn next_time(&self) -> f64 {
        self.agreed.t
    }

    /// Takes the next block to the end of its steps.
    ///
    /// # Errors
    ///
    /// The library fails, steps become too small, or a rank is lost; the integration cannot go on.
    pub fn step(&mut self) -> Result<(), Error> {
        let Agreed { t, lengths, .. } = std::mem::take(&mut self.agreed);
        let active: usize = lengths.iter().sum();
        if active == 0 {
            return Ok(());
        }
        let before = self.machine.world.tally();
        let is_active = self.column.due == t;
        let list = std::mem::take(&mut self.column.active);
        let listed: &[usize] = if is_active { &list } else { &[] };
        self.record(listed)?;
        self.forces(t, listed, &lengths)?;
        if is_active {
            self.moved = self.on_shared_pages(&list);
        }
        self.column.active = list;
        let mut moved = Ok(());
        if is_active {
            let mut times = self.machine.times;
            moved = times.of(8, || {
                two_d::integrate(
                    &self.machine,
                    &mut self.column,
                    &self.settings,
                    t,
                    &self.forces,
                )
            });
            self.machine.times = times;
        } else {
            self.column.moved.clear();
        }
        if let Err(error) = self.look_ahead_after(t, moved) {
            if error.is_agreed() {
                self.column.take_back();
            }
            return Err(error);
        }
        self.time = t;
        self.counts.add(active, self.n);
        self.tally.add(&self.machine.world.tally().since(&before));
        self.blocks += 1;
        Ok(())
    }

    /// Records the active particles of each block from here on in a file at `path`. The recording of a run that goes on
    /// goes on in its file. All ranks call it.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn record_blocks(&mut self, path: &Path) -> Result<(), Error> {
        if self.machine.place.0 == 0 {
            let is_first = self.machine.world.rank() == 0;
            let blocks = self.counts.block_steps;
            self.recorder = Some(Recorder::begin(path, self.n, blocks, is_first)?);
        }
        Ok(())
    }

    /// Records a block with this `list` of the column.
    fn record(&mut self, list: &[usize]) -> Result<(), Error> {
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        let begin = self.column.addresses.start;
        let addresses = list.iter().map(|i| begin + i);
        let row = self.machine.row.inner();
        recorder.add(row, &self.machine.columns, addresses)
    }

    /// The forces at `t` on the particles of this column in `list`, by steps 3 to 7 of the algorithm or by the
    /// ring. `lengths` are the lengths of all columns' lists.
    fn forces(&mut self, t: f64, list: &[usize], lengths: &[usize]) -> Result<(), Error> {
        let Self {
            machine,
            column,
            scratch,
            combined,
            partial,
            mine,
            forces,
            ..
        } = self;
        if machine.plan.algorithm == Algorithm::Ring {
            return ring::forces(machine, column, (t, list), lengths, forces);
        }
        let mut times = machine.times;
        let shares = times.of(3, || two_d::split_list(machine, lengths));
        times.of(4, || {
            two_d::share_along_row(machine, column, (t, list), &shares, scratch, combined)
        })?;
        times.of(5, || two_d::partial_forces(machine, t, combined, partial))?;
        times.of(6, || {
            two_d::sum_over_row(machine, &shares, partial, scratch, mine)
        })?;
        times.of(7, || {
            two_d::share_along_column(machine, &shares, mine, scratch, forces)
        })?;
        machine.times = times;
        Ok(())
    }

    /// The forces at `t` on a list of each column, for other purposes than a block.
    fn forces_on(&mut self, t: f64, list: &[usize]) -> Result<(), Error> {
        let times = self.machine.times;
        let told = Told::List(t, list.len(), [0; 2]);
        let scratch = &mut self.scratch;
        let all = two_d::lengths_and_time(&self.machine, &told, t, scratch)?;
        self.forces(t, list, &all.lengths)?;
        self.machine.times = times;
        Ok(())
    }

    /// All bodies at `t`, on rank 0; `None` on other ranks. `t` lies between [`time`](Self::time) and the end of
    /// the next block.
    ///
    /// Particles whose own time is not `t` take a step to `t`, but only in a copy. The integration itself is not
    /// changed.
    ///
    /// # Errors
    ///
    /// The library fails, or a rank is lost.
    pub fn synchronised(&mut self, t: f64) -> Result<Option<Vec<Body>>, Error> {
        let states = &self.column.states;
        let absent: Vec<usize> = (0..states.len()).filter(|&i| states[i].t != t).collect();
        self.forces_on(t, &absent)?;
        let mut copy = self.column.bodies.clone();
        let forces = self.forces.chunks_exact(crate::j_particles::FORCE);
        let moved: Result<(), Of> = absent.iter().zip(forces).try_for_each(|(&i, force)| {
            let (acc, jerk) = two_d::halves(force);
            let state = &self.column.states[i];
            particle::synchronise(&self.settings, t, &mut copy[i], state, acc, jerk)
        });
        // All ranks end if a force on one is not finite; nobody has been moved.
        let told = match &moved {
            Ok(()) => Told::List(t, 0, [0; 2]),
            Err(error) => Told::Failed(error),
        };
        let galaxy = self.settings.galaxy;
        two_d::lengths_and_time(&self.machine, &told, t, &mut self.scratch)
            .map_err(|error| error.with_edge(|| galaxy.edge()))?;
        self.seen = self.collect(&copy)?;
        Ok(self.seen.as_ref().map(|(bodies, _)| bodies.clone()))
    }

    /// On rank 0 all particles, each at its own time, with their states; nothing elsewhere.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn gather(&self) -> Result<Option<Everybody>, Error> {
        self.collect(&self.column.bodies)
    }

    /// `bodies` and the states of all columns, on rank 0, which is the first of its row.
    fn collect(&self, bodies: &[Body]) -> Result<Option<Everybody>, Error> {
        let machine = &self.machine;
        let (row, column) = machine.place;
        if row > 0 {
            return Ok(None);
        }
        let mine: Vec<f64> = bodies
            .iter()
            .zip(&self.column.states)
            .flat_map(|(body, state)| record(body, state))
            .collect();
        let counts: Vec<usize> = (0..machine.plan.grid.columns)
            .map(|c| RECORD * machine.columns.addresses(c).len())
            .collect();
        let mut all = Vec::new();
        machine.row.gather_v(0, &mine, &counts, &mut all)?;
        let records = all.chunks_exact(RECORD).map(of_record);
        Ok((column == 0).then(|| records.unzip()))
    }

    /// Has the state written in parts, or by rank 0.
    pub fn write_in_parts(&mut self, in_parts: bool) {
        self.in_parts = in_parts;
    }

    /// What the integration was started with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Number of particles.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Time of the last block.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// What has been done so far, by all ranks.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What the rank has done.
    pub fn work(&self) -> Work<'_, 'g, C> {
        Work {
            machine: &self.machine,
            settings: &self.settings,
            counts: &self.counts,
            regularized: None,
            tally: &self.tally,
            blocks: self.blocks,
        }
    }

    /// What this rank computes with.
    pub fn machine(&self) -> &Node<'g, C> {
        &self.machine
    }
}
