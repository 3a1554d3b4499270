//! What is printed about a trace: backends, pipelines, sizes, seconds.

use std::collections::HashMap;
use std::path::Path;

use kirin_core::observe::noise::Noise;
use kirin_core::observe::statistics;
use kirin_core::trace::nbody6::{self, Call};
use kirin_core::trace::{Event, PIPELINES, Trace, TraceError};
use serde::Serialize;

use kirin_report::text::si_unit;

use crate::candidate::MeasuredInterface;

/// What a trace says of the calls of NBODY6's library: seconds when it was recorded.
#[derive(Default, Serialize)]
pub struct FactsNbody6 {
    pub calls: u64,
    pub irregular_seconds: f64,
    pub potential_seconds: f64,
}

impl FactsNbody6 {
    /// Notes a call.
    fn add(&mut self, call: &Call) {
        self.calls += 1;
        match call {
            Call::Irregular { nanoseconds, .. } => {
                self.irregular_seconds += *nanoseconds as f64 * 1e-9;
            }
            Call::Potentials { nanoseconds, .. } => {
                self.potential_seconds += *nanoseconds as f64 * 1e-9;
            }
            _ => {}
        }
    }
}

/// What a trace says of itself.
#[derive(Default, Serialize)]
pub struct TraceFacts {
    pub file: String,
    head: Vec<(String, String)>,
    /// Backends and precisions of the recorded clusters.
    pub recorded_with: Vec<(i32, String)>,
    /// Pipelines that the library of the recorded run had, where that is known.
    pub pipelines: Option<usize>,
    pub events: u64,
    pub blocks: u64,
    /// Number of i-particles of the largest block.
    pub largest_block: usize,
    /// Bytes of all arguments of all calls, in and out.
    raw_bytes: u64,
    file_bytes: u64,
    /// Seconds in `firsthalf` and `lasthalf`, and in `gpunb_regf_`, when it was recorded.
    pub force_seconds: f64,
    /// Time steps in a sample, and how many of them noise has turned about.
    pub steps: u64,
    pub turned_steps: u64,
    /// The calls of NBODY6's library, if there are any.
    pub nbody6: Option<FactsNbody6>,
    /// Calls of clusters.
    #[serde(skip)]
    clusters: u64,
    /// Why it could not be read to its end.
    pub damage: Option<String>,
}

impl TraceFacts {
    /// Reads the whole trace.
    ///
    /// # Errors
    ///
    /// It is no trace.
    pub fn of(file: &Path) -> Result<Self, TraceError> {
        let mut trace = Trace::open(file)?;
        let path = std::path::absolute(file).map_err(TraceError::Io)?;
        let mut facts = Self {
            file: path.to_string_lossy().into_owned(),
            head: trace.head().to_vec(),
            file_bytes: std::fs::metadata(file).map_err(TraceError::Io)?.len(),
            ..Self::default()
        };
        let mut nanoseconds = 0;
        let mut asked = None;
        let mut noises: HashMap<i32, Noise> = HashMap::new();
        loop {
            let event = match trace.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(e) => {
                    facts.damage = Some(e.to_string());
                    break;
                }
            };
            facts.events += 1;
            facts.raw_bytes += event.raw_bytes();
            match event {
                Event::Nbody6(call) => {
                    facts.nbody6.get_or_insert_default().add(&call);
                    if let Call::Regular {
                        forces,
                        nanoseconds: n,
                        ..
                    } = call
                    {
                        facts.blocks += 1;
                        facts.largest_block = facts.largest_block.max(forces.len());
                        nanoseconds += n;
                    }
                }
                Event::FirstHalf {
                    particles,
                    nanoseconds: n,
                    ..
                } => {
                    facts.blocks += 1;
                    facts.largest_block = facts.largest_block.max(particles.len());
                    nanoseconds += n;
                }
                Event::LastHalf { nanoseconds: n, .. } => nanoseconds += n,
                // Traces of older versions have it here only, if their client asked.
                Event::Pipelines { count } => asked = usize::try_from(count).ok(),
                Event::Description {
                    id,
                    backend,
                    precision,
                } => {
                    let with = (id, format!("{backend}, precision {precision}"));
                    if !facts.recorded_with.contains(&with) {
                        facts.recorded_with.push(with);
                    }
                }
                Event::JParticle {
                    id,
                    address,
                    dt,
                    mass_position,
                    particle,
                } => {
                    facts.clusters += 1;
                    if !mass_position {
                        let noise = noises.entry(id).or_default();
                        if noise.wants(address) {
                            noise.note(address, dt, &particle);
                        }
                    }
                }
                Event::Open { .. } => facts.clusters += 1,
                _ => {}
            }
        }
        for noise in noises.values_mut() {
            noise.digest();
            let (steps, turned) = noise.steps();
            facts.steps += steps;
            facts.turned_steps += turned;
        }
        facts.pipelines = match facts.head(PIPELINES) {
            Some(count) => count.parse().ok(),
            None => asked,
        };
        facts.force_seconds = nanoseconds as f64 * 1e-9;
        Ok(facts)
    }

    /// Whose calls to replay, if the user would have `wanted` of a trace that has several.
    pub fn interface(&self, wanted: MeasuredInterface) -> MeasuredInterface {
        match (&self.nbody6, self.clusters, wanted) {
            (Some(_), 0, _) | (Some(_), _, MeasuredInterface::Nbody6) => MeasuredInterface::Nbody6,
            // GRAPE-5's calls are recorded as those of GRAPE-6.
            _ => MeasuredInterface::Grape6,
        }
    }

    /// A value of the head.
    pub fn head(&self, name: &str) -> Option<&str> {
        let found = self.head.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// What stands above the table.
    pub fn text(&self) -> String {
        let mut text = format!("trace {}\n", self.file);
        for (name, value) in &self.head {
            text += &format!("  {name}: {value}\n");
        }
        if self.steps > 0 {
            text += &format!(
                "  noise: {}\n",
                statistics::noise(self.steps, self.turned_steps)
            );
        }
        for (id, with) in &self.recorded_with {
            text += &match *id {
                nbody6::REGULAR => format!("  regular forces: {with}\n"),
                id => format!("  cluster {id}: {with}\n"),
            };
        }
        text += &format!(
            "  {} events, {} blocks of at most {} i-particles, {} for arguments of {} ({:.1} %)\n",
            self.events,
            self.blocks,
            self.largest_block,
            si_unit(self.file_bytes as f64, "B"),
            si_unit(self.raw_bytes as f64, "B"),
            100.0 * self.file_bytes as f64 / self.raw_bytes.max(1) as f64
        );
        if let Some(damage) = &self.damage {
            text += &format!("  {damage}\n");
        }
        text
    }
}
