//! Repeats the calls of a trace in the worker, and compares the library's results with the recorded ones.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use kirin::client::{Block, Grape};
use kirin_core::sources::particle::Force;
use kirin_core::trace::{Event, HintedParticle, Trace};

use super::block::Pending;
use super::lists::Rules;
use super::summary::Summary;
use super::turn::turn;
use crate::worker::opened_as;

/// The longest list for which replay asks, even if the client had room for more. If the recorded list is as long or
/// longer, replay asks for one label more than it has.
const LONGEST_LIST: usize = 1 << 20;

/// A replay under way.
pub struct Player {
    trace: Trace,
    state: State,
}

/// What is known of the calls so far.
struct State {
    /// Most i-particles in one call.
    limit: usize,
    rules: Rules,
    blocks: HashMap<i32, Pending>,
    summary: Summary,
}

impl Player {
    /// At the beginning of the trace in a file, recorded with so many pipelines.
    ///
    /// # Errors
    ///
    /// It is no trace.
    pub fn new(grape: &Grape, file: &Path, pipelines: Option<usize>) -> Result<Self, String> {
        let trace = Trace::open(file).map_err(|e| e.to_string())?;
        // The client opens clusters itself, and kirin gives a name to the only open one.
        grape.close(opened_as(grape));
        let npipes = grape.npipes();
        // kirin takes blocks of any size: with as many pipelines it gets those of the client.
        let whole = grape.is_kirin() && pipelines.is_none_or(|recorded| npipes >= recorded);
        let state = State {
            limit: if whole { usize::MAX } else { npipes },
            rules: Rules::of(grape.is_kirin(), npipes, pipelines),
            blocks: HashMap::new(),
            summary: Summary::default(),
        };
        Ok(Self { trace, state })
    }

    /// Goes on for about `seconds`, to the end of what can be read.
    pub fn play(&mut self, grape: &Grape, seconds: f64) -> Summary {
        let Self { trace, state } = self;
        if !state.summary.finished {
            state.summary.finished = turn(trace, seconds, |event| state.repeat(grape, event));
        }
        state.summary.clone()
    }
}

impl State {
    fn repeat(&mut self, grape: &Grape, event: Event) {
        self.summary.events += 1;
        if let Event::SetTi { id, .. } | Event::JParticle { id, .. } = &event
            && let Some(pending) = self.blocks.get_mut(id)
            && pending.is_split()
        {
            pending.later.push(event);
            return;
        }
        self.call(grape, event);
    }

    /// What was kept until the block of a cluster would not be asked about any more.
    fn settle(&mut self, grape: &Grape, id: i32) {
        let later = self.blocks.remove(&id).unwrap_or_default().later;
        for event in later {
            self.call(grape, event);
        }
    }

    fn call(&mut self, grape: &Grape, event: Event) {
        match event {
            // NBODY6's calls are for another player.
            Event::End | Event::Description { .. } | Event::Nbody6(_) => {}
            Event::Open { id } => {
                grape.open(id);
            }
            Event::Close { id } => {
                self.settle(grape, id);
                grape.close(id);
            }
            Event::Pipelines { .. } => {
                grape.npipes();
            }
            Event::SetTi { id, ti } => grape.set_ti(id, ti),
            Event::SetPrecision { id, precision } => {
                grape.set_precision(id, precision);
            }
            Event::SortMode { mode } => {
                grape.set_sort_mode(mode);
            }
            Event::JParticle {
                id,
                address,
                dt,
                mass_position,
                particle: p,
            } => {
                let begin = Instant::now();
                match mass_position {
                    true => grape.set_mass_position(id, address, p.index, p.mass, &p.x),
                    false => grape.set_j_particle(id, address, dt, &p),
                };
                self.summary.write_seconds += begin.elapsed().as_secs_f64();
            }
            Event::FirstHalf {
                id, nj, particles, ..
            } => self.firsthalf(grape, id, nj, particles),
            Event::LastHalf {
                id,
                forces,
                nearest,
                ..
            } => self.lasthalf(grape, id, &forces, nearest.as_deref()),
            Event::ReadList { id, .. } => {
                let block = self.block_of(id, |_| true);
                // The lists of a split block are read part by part, as they are wanted.
                if !self.blocks.get(&block).is_some_and(Pending::is_split) {
                    grape.read_neighbour_list(id);
                }
            }
            Event::GetList {
                id,
                ipipe,
                room,
                status,
                labels,
            } => self.list(grape, id, [ipipe, room, status], &labels),
            Event::Predicted { id, found } => self.predicted(grape, id, &found),
        }
    }

    fn firsthalf(&mut self, grape: &Grape, id: i32, nj: i32, particles: Vec<HintedParticle>) {
        self.settle(grape, id);
        let nj = usize::try_from(nj).unwrap_or(0);
        let mut pending = Pending::new(nj, particles, self.limit);
        match pending.is_split() {
            true => self.summary.split += 1,
            false => pending.begun = Some(self.begin(grape, id, &pending, &(0..pending.len()))),
        }
        pending.is_owed = true;
        self.blocks.insert(id, pending);
    }

    /// Brings a part of a block to the library.
    fn begin(&mut self, grape: &Grape, id: i32, pending: &Pending, part: &Range<usize>) -> Block {
        let (mut block, eps2) = pending.arrays(part);
        let begin = Instant::now();
        grape.firsthalf(id, pending.nj, &mut block, eps2);
        self.summary.force_seconds += begin.elapsed().as_secs_f64();
        block
    }

    /// The id under which the block was begun that a call with `id` means, if it `fits`. It may be another id: traces of
    /// older versions have the ids of the client, of which several may stand for one cluster.
    fn block_of(&self, id: i32, fits: impl Fn(&Pending) -> bool) -> i32 {
        if self.blocks.get(&id).is_some_and(&fits) {
            return id;
        }
        let mut others = self.blocks.iter().filter(|(_, block)| fits(block));
        match (others.next(), others.next()) {
            (Some((&sole, _)), None) => sole,
            _ => id,
        }
    }

    fn lasthalf(&mut self, grape: &Grape, id: i32, forces: &[Force], nearest: Option<&[i32]>) {
        let ni = forces.len();
        let id = self.block_of(id, |block| block.is_owed && block.len() >= ni);
        let mut pending = match self.blocks.remove(&id) {
            Some(pending) if pending.len() >= ni => pending,
            // Several blocks wait for their results. kirin knows which one is meant, unless it is given another.
            _ => {
                let unknown = vec![HintedParticle::default(); ni];
                let mut pending = Pending::new(0, unknown, self.limit);
                pending.begun = (!pending.is_split()).then(|| pending.arrays(&(0..ni)).0);
                pending
            }
        };
        pending.is_owed = false;
        // A client may ask for the first results only.
        let begun = pending.begun.take();
        let parts = match &begun {
            Some(_) => std::iter::once(0..ni).collect(),
            None => pending.parts().to_vec(),
        };
        let mut begun = begun.into_iter();
        for part in parts.into_iter().take_while(|p| p.start < ni.max(1)) {
            let mut block = begun
                .next()
                .unwrap_or_else(|| self.begin(grape, id, &pending, &part));
            let part = part.start..part.end.min(ni);
            block.resize(part.len());
            let nearest = nearest.map(|n| &n[part.clone()]);
            let call = (id, pending.nj, pending.eps2(&part));
            self.fetch(grape, call, &mut block, &forces[part], nearest);
        }
        self.blocks.insert(id, pending);
    }

    /// Fetches the results for one call, and compares them.
    fn fetch(
        &mut self,
        grape: &Grape,
        (id, nj, eps2): (i32, usize, f64),
        block: &mut Block,
        forces: &[Force],
        nearest: Option<&[i32]>,
    ) {
        if let Some(nearest) = nearest {
            // A -1 that is there stays where there is no neighbour.
            for (entry, &recorded) in block.nearest.iter_mut().zip(nearest) {
                *entry = if recorded == -1 { -1 } else { 0 };
            }
        }
        let begin = Instant::now();
        let known = nearest.and_then(|_| grape.lasthalf2(id, nj, block, eps2));
        if known.is_none() {
            grape.lasthalf(id, nj, block, eps2);
        }
        self.summary.force_seconds += begin.elapsed().as_secs_f64();
        for (k, recorded) in forces.iter().enumerate() {
            let found = Force {
                acc: block.acc[k],
                jerk: block.jerk[k],
                pot: block.pot[k],
            };
            self.summary.all.add(&found, recorded);
        }
        if let (Some(recorded), Some(_)) = (nearest, known) {
            for (found, recorded) in block.nearest.iter().zip(recorded) {
                self.summary.neighbours.add(found == recorded);
            }
        }
    }

    fn list(&mut self, grape: &Grape, id: i32, numbers: [i32; 3], recorded: &[i32]) {
        let [ipipe, room, status] = numbers;
        let room = usize::try_from(room).unwrap_or(0);
        let mut list = vec![0; room.min(LONGEST_LIST.max(recorded.len() + 1))];
        let mut ipipe = usize::try_from(ipipe).unwrap_or(0);
        let mut own = None;
        let block = self.block_of(id, |_| true);
        if let Some(pending) = self.blocks.get_mut(&block) {
            own = pending.label(ipipe);
            let part = pending.parts().iter().find(|p| p.contains(&ipipe)).cloned();
            if let Some(part) = part.filter(|_| pending.is_split()) {
                if pending.listed.as_ref() != Some(&part) {
                    let (mut block, eps2) = pending.arrays(&part);
                    grape.firsthalf(id, pending.nj, &mut block, eps2);
                    grape.lasthalf(id, pending.nj, &mut block, eps2);
                    grape.read_neighbour_list(id);
                    pending.listed = Some(part.clone());
                }
                ipipe -= part.start;
            }
        }
        if let Some((found, length)) = grape.get_neighbour_list(id, ipipe, &mut list) {
            let alike = self
                .rules
                .alike(own, room, (found, &list[..length]), (status, recorded));
            self.summary.lists.add(alike);
        }
    }

    fn predicted(&mut self, grape: &Grape, id: i32, recorded: &[([f64; 3], [f64; 3])]) {
        let mut x = vec![[0.0; 3]; recorded.len()];
        let mut v = x.clone();
        // The call sees what was written after the block.
        let later = self
            .blocks
            .get_mut(&id)
            .map(|p| std::mem::take(&mut p.later));
        for event in later.unwrap_or_default() {
            self.call(grape, event);
        }
        if grape.predicted(id, &mut x, &mut v).is_some() {
            for (found, recorded) in x.into_iter().zip(v).zip(recorded) {
                let bits =
                    |(x, v): ([f64; 3], [f64; 3])| (x.map(f64::to_bits), v.map(f64::to_bits));
                self.summary.predicted.add(bits(found) == bits(*recorded));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client with one open cluster began blocks as `7` and fetched them as `5`.
    #[test]
    fn the_only_block_is_meant_under_any_id() {
        let mut state = State {
            limit: usize::MAX,
            rules: Rules::of(true, 48, None),
            blocks: HashMap::new(),
            summary: Summary::default(),
        };
        for (begun, meant) in [(7, 7), (8, 5)] {
            state.blocks.insert(begun, Pending::default());
            assert_eq!(state.block_of(5, |_| true), meant);
            assert_eq!(state.block_of(5, |_| false), 5);
            assert_eq!(state.block_of(7, |_| true), 7);
        }
    }
}
