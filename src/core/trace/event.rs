//! The events of a trace: the calls, and their bytes.

use super::code::{Coder, Malformed, each, flag, label};
use super::forecast::Forecast;
use super::nbody6;
use crate::sources::particle::{Force, IParticle, JParticle};

/// One i-particle of a block with the hints that the client sends with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HintedParticle {
    /// The particle.
    pub particle: IParticle,
    /// Old acceleration, jerk and potential; zero where the client has none.
    pub hint: Force,
}

/// One call with its inputs and outputs, and what else a trace says.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The recording was ended properly.
    End,
    /// `g6_open`
    Open {
        /// Cluster.
        id: i32,
    },
    /// `g6_close`
    Close {
        /// Cluster.
        id: i32,
    },
    /// `g6_set_ti`
    SetTi {
        /// Cluster.
        id: i32,
        /// Time.
        ti: f64,
    },
    /// `g6_set_j_particle`, or one of the calls that send mass and position only.
    JParticle {
        /// Cluster.
        id: i32,
        /// Address.
        address: i32,
        /// Step of the particle.
        dt: f64,
        /// Whether mass and position are all that was sent.
        mass_position: bool,
        /// What is stored.
        particle: JParticle,
    },
    /// `g6calc_firsthalf`; also the first part of a force call that had none before it.
    FirstHalf {
        /// Cluster.
        id: i32,
        /// Number of leading addresses.
        nj: i32,
        /// The block.
        particles: Vec<HintedParticle>,
        /// Duration of the call.
        nanoseconds: u64,
    },
    /// `g6calc_lasthalf` and its relatives.
    LastHalf {
        /// Cluster.
        id: i32,
        /// Results.
        forces: Vec<Force>,
        /// Labels of the nearest neighbours, if they were asked for.
        nearest: Option<Vec<i32>>,
        /// Duration of the call.
        nanoseconds: u64,
    },
    /// `g6_read_neighbour_list`
    ReadList {
        /// Cluster.
        id: i32,
        /// What it returned.
        status: i32,
    },
    /// `g6_get_neighbour_list`
    GetList {
        /// Cluster.
        id: i32,
        /// Number of the i-particle in the block.
        ipipe: i32,
        /// Longest list that the client has room for.
        room: i32,
        /// What it returned.
        status: i32,
        /// The labels.
        labels: Vec<i32>,
    },
    /// `g6_set_neighbour_list_sort_mode`
    SortMode {
        /// The mode.
        mode: i32,
    },
    /// `kirin_set_precision`
    SetPrecision {
        /// Cluster.
        id: i32,
        /// The number that stands for it.
        precision: i32,
    },
    /// `g6_npipes`
    Pipelines {
        /// What it returned.
        count: i32,
    },
    /// `g6_get_predicted_j_particles`
    Predicted {
        /// Cluster.
        id: i32,
        /// Positions and velocities.
        found: Vec<([f64; 3], [f64; 3])>,
    },
    /// What computes the forces of a cluster; before its first results, and where its precision has changed.
    Description {
        /// Cluster.
        id: i32,
        /// Backend.
        backend: String,
        /// Precision.
        precision: String,
    },
    /// A call of NBODY6's library.
    Nbody6(nbody6::Call),
}

/// The kind of [`Event::SetPrecision`], which is younger than those of NBODY6's calls.
const SET_PRECISION: u8 = 23;

impl Event {
    /// The number that stands for the kind of event.
    pub fn kind(&self) -> u8 {
        match self {
            Self::End => 0,
            Self::Open { .. } => 1,
            Self::Close { .. } => 2,
            Self::SetTi { .. } => 3,
            Self::JParticle { .. } => 4,
            Self::FirstHalf { .. } => 5,
            Self::LastHalf { .. } => 6,
            Self::ReadList { .. } => 7,
            Self::GetList { .. } => 8,
            Self::SortMode { .. } => 9,
            Self::Pipelines { .. } => 10,
            Self::Predicted { .. } => 11,
            Self::Description { .. } => 12,
            Self::Nbody6(call) => call.kind(),
            Self::SetPrecision { .. } => SET_PRECISION,
        }
    }

    /// An event of a kind, to be filled by reading; `None` if there is no such kind.
    pub fn blank(kind: u8) -> Option<Self> {
        let id = 0;
        Some(match kind {
            0 => Self::End,
            1 => Self::Open { id },
            2 => Self::Close { id },
            3 => Self::SetTi { id, ti: 0.0 },
            4 => Self::JParticle {
                id,
                address: 0,
                dt: 0.0,
                mass_position: false,
                particle: JParticle::default(),
            },
            5 => Self::FirstHalf {
                id,
                nj: 0,
                particles: Vec::new(),
                nanoseconds: 0,
            },
            6 => Self::LastHalf {
                id,
                forces: Vec::new(),
                nearest: None,
                nanoseconds: 0,
            },
            7 => Self::ReadList { id, status: 0 },
            8 => Self::GetList {
                id,
                ipipe: 0,
                room: 0,
                status: 0,
                labels: Vec::new(),
            },
            9 => Self::SortMode { mode: 0 },
            10 => Self::Pipelines { count: 0 },
            11 => Self::Predicted {
                id,
                found: Vec::new(),
            },
            12 => Self::Description {
                id,
                backend: String::new(),
                precision: String::new(),
            },
            SET_PRECISION => Self::SetPrecision { id, precision: 0 },
            _ => Self::Nbody6(nbody6::Call::blank(kind)?),
        })
    }

    /// Bytes of all arguments of the call, inputs and outputs. Each call counts all of its arrays, even if another call
    /// has the same: labels, positions, velocities and radii of a block count in `firsthalf` and in `lasthalf`.
    pub fn raw_bytes(&self) -> u64 {
        const BLOCK: usize = 4 + 24 + 24 + 8;
        const FORCE: usize = 24 + 24 + 8;
        let bytes = match self {
            Self::End | Self::Description { .. } => 0,
            Self::Open { .. } | Self::Close { .. } | Self::SortMode { .. } => 4,
            Self::Pipelines { .. } => 4,
            Self::SetPrecision { .. } => 8,
            Self::SetTi { .. } => 12,
            Self::JParticle {
                mass_position: true,
                ..
            } => 12 + 8 + 24,
            Self::JParticle { .. } => 12 + 3 * 8 + 5 * 24,
            Self::FirstHalf { particles, .. } => 12 + 8 + particles.len() * (BLOCK + FORCE),
            Self::LastHalf {
                forces, nearest, ..
            } => {
                let labels = nearest.as_ref().map_or(0, |n| 4 * n.len());
                12 + 8 + 4 + forces.len() * (BLOCK + FORCE) + labels
            }
            Self::ReadList { .. } => 8,
            Self::GetList { labels, .. } => 20 + 4 * labels.len(),
            Self::Predicted { found, .. } => 8 + 48 * found.len(),
            Self::Nbody6(call) => return call.raw_bytes(),
        };
        bytes as u64
    }

    /// Writes the event, or reads it into a blank one. The forecast foretells numbers, and learns.
    ///
    /// # Errors
    ///
    /// What is read is no event.
    pub fn code<C: Coder>(&mut self, c: &mut C, forecast: &mut Forecast) -> Result<(), Malformed> {
        match self {
            Self::End => {}
            Self::Open { id } | Self::Close { id } => c.small(id)?,
            Self::SetTi { id, ti } => {
                c.small(id)?;
                c.number(ti, forecast.ti(*id))?;
                forecast.set_ti(*id, *ti);
            }
            Self::JParticle {
                id,
                address,
                dt,
                mass_position,
                particle,
            } => {
                c.small(id)?;
                flag(c, mass_position)?;
                forecast.code_address(c, address, &mut particle.index)?;
                let near = forecast.near_write(*id, particle.index);
                c.number(&mut particle.mass, near.mass)?;
                if *mass_position {
                    c.vector(&mut particle.x, near.x)?;
                } else {
                    c.number(&mut particle.t, near.t)?;
                    c.number(dt, near.dt)?;
                    let (x, v) = near.at(particle.t);
                    c.vector(&mut particle.x, x)?;
                    c.vector(&mut particle.v, v)?;
                    c.vector(&mut particle.aby2, near.force.acc.map(|a| a / 2.0))?;
                    c.vector(&mut particle.a1by6, near.force.jerk.map(|j| j / 6.0))?;
                    c.vector(&mut particle.a2by18, near.a2by18)?;
                }
                forecast.learn_write(*id, *dt, particle)?;
            }
            Self::FirstHalf {
                id,
                nj,
                particles,
                nanoseconds,
            } => {
                c.small(id)?;
                c.small(nj)?;
                c.whole(nanoseconds)?;
                let mut block = forecast.take_block(*id);
                block.clear();
                let mut last = HintedParticle::default();
                each(c, particles, |c, t| {
                    let p = &mut t.particle;
                    label(c, &mut p.index, last.particle.index)?;
                    let near = forecast.near_particle(*id, p.index);
                    c.vector(&mut p.x, near.x)?;
                    c.vector(&mut p.v, near.v)?;
                    c.number(&mut p.eps2, last.particle.eps2)?;
                    c.number(&mut p.h2, last.particle.h2)?;
                    code_force(c, &mut t.hint, &near.last)?;
                    block.push(near.slot, near.force)?;
                    forecast.learn_particle(near.slot, p);
                    last = *t;
                    Ok(())
                })?;
                forecast.give_block(*id, block);
            }
            Self::LastHalf {
                id,
                forces,
                nearest,
                nanoseconds,
            } => {
                c.small(id)?;
                c.whole(nanoseconds)?;
                let block = forecast.take_block(*id);
                let mut entries = block.iter();
                each(c, forces, |c, force| {
                    let (slot, foretold) = entries.next().unwrap_or_default();
                    code_force(c, force, &foretold)?;
                    forecast.learn_force(slot, force);
                    Ok(())
                })?;
                drop(entries);
                forecast.give_block(*id, block);
                let mut any = nearest.is_some();
                flag(c, &mut any)?;
                if any {
                    let mut last = 0;
                    each(c, nearest.get_or_insert_default(), |c, n| {
                        label(c, n, last)?;
                        last = *n;
                        Ok(())
                    })?;
                }
            }
            Self::ReadList { id, status } => {
                c.small(id)?;
                c.small(status)?;
            }
            Self::GetList {
                id,
                ipipe,
                room,
                status,
                labels,
            } => {
                for n in [id, ipipe, room, status] {
                    c.small(n)?;
                }
                let mut last = 0;
                each(c, labels, |c, l| {
                    label(c, l, last)?;
                    last = *l;
                    Ok(())
                })?;
            }
            Self::SortMode { mode } => c.small(mode)?,
            Self::Pipelines { count } => c.small(count)?,
            Self::SetPrecision { id, precision } => {
                c.small(id)?;
                c.small(precision)?;
            }
            Self::Predicted { id, found } => {
                c.small(id)?;
                let mut last = ([0.0; 3], [0.0; 3]);
                each(c, found, |c, p| {
                    c.vector(&mut p.0, last.0)?;
                    c.vector(&mut p.1, last.1)?;
                    last = *p;
                    Ok(())
                })?;
            }
            Self::Description {
                id,
                backend,
                precision,
            } => {
                c.small(id)?;
                c.text(backend)?;
                c.text(precision)?;
            }
            Self::Nbody6(call) => call.code(c, &mut forecast.nbody6)?,
        }
        Ok(())
    }
}

pub fn code_force<C: Coder>(c: &mut C, force: &mut Force, near: &Force) -> Result<(), Malformed> {
    c.vector(&mut force.acc, near.acc)?;
    c.vector(&mut force.jerk, near.jerk)?;
    c.number(&mut force.pot, near.pot)
}
