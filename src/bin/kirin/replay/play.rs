//! Repeats the calls of a trace in the worker, and compares what the library answers.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use kirin::client::{Block, Grape};
use kirin::grape::particle::Force;
use kirin::observe::trace::{Event, Target, Trace};

use super::summary::Summary;
use crate::worker::CLUSTER;

/// Most labels that a library is asked for at once, whatever the client had room for.
const LONGEST_LIST: usize = 1 << 20;

/// A replay under way.
pub struct Player {
    trace: Trace,
    blocks: HashMap<i32, Pending>,
    summary: Summary,
}

/// A block whose results are not fetched yet.
#[derive(Default)]
struct Pending {
    nj: usize,
    targets: Vec<Target>,
    /// The block, if the library has it.
    begun: Option<Block>,
}

impl Player {
    /// At the beginning of the trace in a file.
    ///
    /// # Errors
    ///
    /// It is no trace.
    pub fn new(grape: &Grape, file: &Path) -> Result<Self, String> {
        let trace = Trace::open(file).map_err(|e| e.to_string())?;
        // The client opens clusters itself, and kirin gives a name to the only open one.
        grape.close(CLUSTER);
        Ok(Self {
            trace,
            blocks: HashMap::new(),
            summary: Summary::default(),
        })
    }

    /// Goes on for about `seconds`, to the end of what can be read.
    pub fn play(&mut self, grape: &Grape, seconds: f64) -> Summary {
        let begin = Instant::now();
        let patience = Duration::from_secs_f64(seconds);
        while !self.summary.finished && begin.elapsed() < patience {
            for _ in 0..64 {
                match self.trace.next_event() {
                    Ok(Some(event)) => self.repeat(grape, event),
                    // The parent reads the trace too, and says what is wrong with it.
                    Ok(None) | Err(_) => {
                        self.summary.finished = true;
                        break;
                    }
                }
            }
        }
        self.summary.clone()
    }

    fn repeat(&mut self, grape: &Grape, event: Event) {
        self.summary.events += 1;
        match event {
            Event::End | Event::Description { .. } => {}
            Event::Open { id } => {
                grape.open(id);
            }
            Event::Close { id } => {
                grape.close(id);
                self.blocks.remove(&id);
            }
            Event::Pipelines { .. } => {
                grape.npipes();
            }
            Event::SetTi { id, ti } => grape.set_ti(id, ti),
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
                id, nj, targets, ..
            } => self.firsthalf(grape, id, nj, targets),
            Event::LastHalf {
                id,
                forces,
                nearest,
                ..
            } => self.lasthalf(grape, id, &forces, nearest.as_deref()),
            Event::ReadList { id, .. } => {
                grape.read_neighbour_list(id);
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

    fn firsthalf(&mut self, grape: &Grape, id: i32, nj: i32, targets: Vec<Target>) {
        let nj = usize::try_from(nj).unwrap_or(0);
        let mut pending = Pending {
            nj,
            targets,
            begun: None,
        };
        if pending.runs().count() <= 1 {
            let mut block = block_of(&pending.targets);
            let begin = Instant::now();
            grape.firsthalf(id, nj, &mut block, eps2_of(&pending.targets));
            self.summary.force_seconds += begin.elapsed().as_secs_f64();
            pending.begun = Some(block);
        }
        self.blocks.insert(id, pending);
    }

    fn lasthalf(&mut self, grape: &Grape, id: i32, forces: &[Force], nearest: Option<&[i32]>) {
        let mut pending = self.blocks.remove(&id).unwrap_or_default();
        // A client may have begun its block under another name of the cluster.
        pending.targets.resize(forces.len(), Target::default());
        let begun = pending.begun.take();
        if let Some(mut block) = begun {
            block.resize(forces.len());
            self.fetch(grape, id, &pending, &mut block, 0, forces, nearest);
        } else {
            let mut at = 0;
            for run in pending.runs() {
                let mut block = block_of(run);
                let begin = Instant::now();
                grape.firsthalf(id, pending.nj, &mut block, eps2_of(run));
                self.summary.force_seconds += begin.elapsed().as_secs_f64();
                self.fetch(grape, id, &pending, &mut block, at, forces, nearest);
                at += run.len();
            }
        }
    }

    /// Fetches the results for the i-particles from number `at` on, and compares them.
    #[allow(clippy::too_many_arguments)]
    fn fetch(
        &mut self,
        grape: &Grape,
        id: i32,
        pending: &Pending,
        block: &mut Block,
        at: usize,
        forces: &[Force],
        nearest: Option<&[i32]>,
    ) {
        let range = at..at + block.len();
        let eps2 = eps2_of(&pending.targets[range.clone()]);
        let nearest = nearest.map(|n| &n[range.clone()]);
        if let Some(nearest) = nearest {
            // A -1 that is there stays where there is no neighbour.
            for (entry, &recorded) in block.nearest.iter_mut().zip(nearest) {
                *entry = if recorded == -1 { -1 } else { 0 };
            }
        }
        let begin = Instant::now();
        let known = nearest.and_then(|_| grape.lasthalf2(id, pending.nj, block, eps2));
        if known.is_none() {
            grape.lasthalf(id, pending.nj, block, eps2);
        }
        self.summary.force_seconds += begin.elapsed().as_secs_f64();
        for (k, recorded) in forces[range].iter().enumerate() {
            let found = Force {
                acc: block.acc[k],
                jerk: block.jerk[k],
                pot: block.pot[k],
            };
            self.summary.add(&found, recorded);
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
        let ipipe = usize::try_from(ipipe).unwrap_or(0);
        if let Some((found, length)) = grape.get_neighbour_list(id, ipipe, &mut list) {
            let alike = found == status && list[..length] == *recorded;
            self.summary.lists.add(alike);
        }
    }

    fn predicted(&mut self, grape: &Grape, id: i32, recorded: &[([f64; 3], [f64; 3])]) {
        let mut x = vec![[0.0; 3]; recorded.len()];
        let mut v = x.clone();
        if grape.predicted(id, &mut x, &mut v).is_some() {
            for (found, recorded) in x.into_iter().zip(v).zip(recorded) {
                let bits =
                    |(x, v): ([f64; 3], [f64; 3])| (x.map(f64::to_bits), v.map(f64::to_bits));
                self.summary.predicted.add(bits(found) == bits(*recorded));
            }
        }
    }
}

impl Pending {
    /// i-particles of one softening, which one call can bring; low-level blocks have several.
    fn runs(&self) -> impl Iterator<Item = &[Target]> {
        self.targets
            .chunk_by(|a, b| a.particle.eps2.to_bits() == b.particle.eps2.to_bits())
    }
}

fn eps2_of(targets: &[Target]) -> f64 {
    targets.first().map_or(0.0, |t| t.particle.eps2)
}

fn block_of(targets: &[Target]) -> Block {
    let mut block = Block::default();
    block.resize(targets.len());
    for (k, t) in targets.iter().enumerate() {
        let p = &t.particle;
        (block.index[k], block.x[k], block.v[k], block.h2[k]) = (p.index, p.x, p.v, p.h2);
        (block.acc[k], block.jerk[k], block.pot[k]) = (t.hint.acc, t.hint.jerk, t.hint.pot);
    }
    block
}
