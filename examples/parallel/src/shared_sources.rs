//! Sources of forces that many ranks share: for an integration that every rank makes as a whole.
//!
//! Each rank writes the particles of its column into its library, and computes the partial forces of these on its row's share
//! of a block. The sums over the row are divided among its ranks. When the integration has corrected them, they go to all ranks,
//! with the neighbours that each of them has found. The bits are those of one library.

use std::ops::Range;

use hermite::error::Error as Of;
use hermite::sources::{Sources, wants_neighbours};
use kirin::client::Block;
use kirin_kit::Body;
use kirin_kit::communicator::Communicator;
use kirin_kit::snapshot::State;

use crate::error::Error;
use crate::j_particles::FORCE;
use crate::machine::Node;
use crate::two_d::{self, Scratch, Shares};

/// The j-particles of all ranks.
pub struct SharedSources<'g, C> {
    machine: Node<'g, C>,
    t: f64,
    /// The labels of the neighbours of each i-particle of the last block.
    lists: Vec<Vec<i32>>,
    scratch: Scratch,
    active: Vec<f64>,
    partial: Vec<f64>,
    mine: Vec<f64>,
    forces: Vec<f64>,
    found: Vec<i32>,
}

impl<'g, C: Communicator> SharedSources<'g, C> {
    /// The sources of this machine. All ranks make the same calls of them, with the same particles and blocks.
    pub fn new(machine: Node<'g, C>) -> Self {
        Self {
            machine,
            t: 0.0,
            lists: Vec::new(),
            scratch: Scratch::default(),
            active: Vec::new(),
            partial: Vec::new(),
            mine: Vec::new(),
            forces: Vec::new(),
            found: Vec::new(),
        }
    }

    /// What this rank computes with.
    pub fn machine(&self) -> &Node<'g, C> {
        &self.machine
    }

    /// The same, to be changed.
    pub fn machine_mut(&mut self) -> &mut Node<'g, C> {
        &mut self.machine
    }

    /// The forces on this rank's share of the block.
    fn sums(&mut self, block: &Block) -> Result<Range<usize>, Error> {
        let Self {
            machine,
            scratch,
            partial,
            mine,
            ..
        } = self;
        let ((row, column), columns) = (machine.place, machine.plan.grid.columns);
        let all = of_row(machine, block.len(), row);
        self.active.clear();
        for k in all.clone() {
            let index = f64::from(block.index[k]);
            self.active.push(index);
            self.active.extend(block.x[k].iter().chain(&block.v[k]));
        }
        let near = &mut machine.sources.neighbours;
        near.h2.clear();
        if wants_neighbours(block) {
            near.h2.extend(&block.h2[all.clone()]);
        }
        let part = |c: usize| even(&all, columns, c);
        let shares = Shares {
            along_row: (0..columns).map(|c| part(c).len()).collect(),
            along_column: Vec::new(),
            mine: part(column),
        };
        let mut times = machine.times;
        times.of(5, || {
            two_d::partial_forces(machine, self.t, &self.active, partial)
        })?;
        times.of(6, || {
            two_d::sum_over_row(machine, &shares, partial, scratch, mine)
        })?;
        machine.times = times;
        Ok(shares.mine)
    }

    /// All ranks' forces on the block, in its order, which is that of the ranks along the rows.
    fn collect_forces(&mut self, block: &Block, mine: Range<usize>) -> Result<(), Error> {
        let machine = &mut self.machine;
        self.mine.clear();
        for k in mine {
            self.mine.extend(block.acc[k].iter().chain(&block.jerk[k]));
        }
        let grid = machine.plan.grid;
        let of_row = (0..grid.rows).map(|row| of_row(machine, block.len(), row));
        let counts: Vec<usize> = of_row
            .flat_map(|all| (0..grid.columns).map(move |c| even(&all, grid.columns, c).len()))
            .map(|count| count * FORCE)
            .collect();
        let mut times = machine.times;
        times.of(7, || {
            let world = &machine.world;
            world.all_gather_v(&self.mine, &counts, &mut self.forces)
        })?;
        machine.times = times;
        Ok(())
    }

    /// Collects the neighbours that all ranks have found for a block of `ni` i-particles.
    fn collect_neighbours(&mut self, ni: usize) -> Result<(), Error> {
        let machine = &mut self.machine;
        let begin = of_row(machine, ni, machine.place.0).start;
        let mine = &mut machine.sources.neighbours.found;
        mine.iter_mut().for_each(|[k, _]| *k += begin as i32);
        let mut times = machine.times;
        times.of(7, || -> Result<(), Error> {
            let mine = machine.sources.neighbours.found.as_flattened();
            let mut counts = Vec::new();
            machine
                .world
                .all_gather(&[mine.len() as u64], &mut counts)?;
            let counts: Vec<usize> = counts.iter().map(|count| *count as usize).collect();
            machine.world.all_gather_v(mine, &counts, &mut self.found)?;
            Ok(())
        })?;
        machine.times = times;
        self.lists.resize(ni, Vec::new());
        self.lists.iter_mut().for_each(Vec::clear);
        for [k, label] in self.found.as_chunks().0 {
            self.lists[*k as usize].push(*label);
        }
        Ok(())
    }
}

impl<C: Communicator> Sources for SharedSources<'_, C> {
    fn most_at_once(&self) -> usize {
        self.machine.sources.most_at_once()
    }

    fn write(&mut self, address: usize, body: &Body, state: &State) {
        self.machine.sources.write(address, body, state);
    }

    fn set_time(&mut self, t: f64) {
        self.t = t;
    }

    fn forces(&mut self, nj: usize, block: &mut Block, eps2: f64) -> Result<Range<usize>, Of> {
        self.machine.sources.set_rule(nj, eps2)?;
        let mine = self.sums(block).map_err(Error::into_integration)?;
        set(block, mine.clone(), &self.mine);
        Ok(mine)
    }

    fn complete(&mut self, block: &mut Block, mine: Range<usize>) -> Result<(), Of> {
        let collected = self.collect_forces(block, mine);
        collected.map_err(Error::into_integration)?;
        set(block, 0..block.len(), &self.forces);
        if wants_neighbours(block) {
            let collected = self.collect_neighbours(block.len());
            collected.map_err(Error::into_integration)?;
        }
        Ok(())
    }

    fn neighbours(&mut self, k: usize) -> Result<&[i32], Of> {
        Ok(&self.lists[k])
    }
}

/// Puts these forces into the block.
fn set(block: &mut Block, places: Range<usize>, forces: &[f64]) {
    for (k, force) in places.zip(forces.chunks_exact(FORCE)) {
        (block.acc[k], block.jerk[k]) = two_d::halves(force);
    }
}

/// The part of a block of `ni` i-particles that a row takes.
fn of_row<C>(machine: &Node<'_, C>, ni: usize, row: usize) -> Range<usize> {
    even(&(0..ni), machine.plan.grid.rows, row)
}

/// Part `k` of so many of this range, which differ by one at most.
fn even(all: &Range<usize>, parts: usize, k: usize) -> Range<usize> {
    let until = |k: usize| all.start + all.len() * k / parts;
    until(k)..until(k + 1)
}
