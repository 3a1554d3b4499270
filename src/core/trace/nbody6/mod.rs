//! The calls of NBODY6's library in a trace.

mod forecast;
pub mod record;
#[cfg(test)]
pub(crate) mod tests;

use crate::force::regular::Target;
use crate::sources::particle::{Force, JParticle};
use crate::trace::code::{Coder, Malformed, each, flag, label};

pub use forecast::Forecast;

/// The id under which traces describe the backend of the regular force. It is a cluster id far from those that clients
/// use.
pub const REGULAR: i32 = 0x4e36_0000;

/// A source of the regular force, or of a potential, which has no velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Source {
    /// Mass.
    pub mass: f64,
    /// Position.
    pub x: [f64; 3],
    /// Velocity.
    pub v: [f64; 3],
}

/// A particle on which the regular force was wanted, and what came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegularForce {
    /// The particle.
    pub target: Target,
    /// Its force; the potential is positive.
    pub force: Force,
    /// Number of its neighbours.
    pub neighbours: u64,
    /// Their addresses from 0, ascending; none where they are more than the client had room for.
    pub list: Vec<i32>,
}

/// An irregular force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IrregularForce {
    /// Address of the star, from 1.
    pub address: i32,
    /// Acceleration.
    pub acc: [f64; 3],
    /// Jerk.
    pub jerk: [f64; 3],
    /// Address of the nearest neighbour, from 1; 0 where there is none, or none was asked for.
    pub nearest: i32,
}

/// One call with its inputs and outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `gpunb_open_`
    Open {
        /// Number of sources that room was asked for.
        room: i32,
    },
    /// `gpunb_close_`
    Close,
    /// `gpunb_send_`
    Send {
        /// All sources, by address.
        sources: Vec<Source>,
        /// Duration of the call.
        nanoseconds: u64,
    },
    /// `gpunb_regf_`
    Regular {
        /// Whether neighbours were told by their masses too.
        by_mass: bool,
        /// Longest list that the client had room for.
        longest: u64,
        /// Targets and results.
        forces: Vec<RegularForce>,
        /// Duration of the call.
        nanoseconds: u64,
    },
    /// `gpupot_`
    Potentials {
        /// All particles, without velocities.
        sources: Vec<Source>,
        /// Number of the first particle whose potential was wanted, from 0.
        first: u64,
        /// Positive potentials.
        potentials: Vec<f64>,
        /// Duration of the call.
        nanoseconds: u64,
    },
    /// `irr_simd_open_` or `gpuirr_open_`
    IrregularOpen {
        /// Number of addresses.
        room: i32,
        /// Longest list that was announced.
        longest: i32,
    },
    /// `irr_simd_close_` or `gpuirr_close_`
    IrregularClose,
    /// `irr_simd_set_jp_` or `gpuirr_set_jp_`
    Star {
        /// Address, from 1.
        address: i32,
        /// What is stored.
        star: JParticle,
    },
    /// `irr_simd_set_list_` or `gpuirr_set_list_`
    List {
        /// Address, from 1.
        address: i32,
        /// Addresses of the neighbours, from 1.
        neighbours: Vec<i32>,
    },
    /// `irr_simd_firr_vec_`, or `gpuirr_firr_vec_` and `gpuirr_firr_` after a prediction.
    Irregular {
        /// Time.
        ti: f64,
        /// Whether nearest neighbours were asked for.
        with_nearest: bool,
        /// Stars and results.
        forces: Vec<IrregularForce>,
        /// Duration of the call.
        nanoseconds: u64,
    },
}

/// The first of the numbers that stand for kinds of events.
const FIRST: u8 = 13;

impl Call {
    /// The number that stands for the kind of event.
    pub fn kind(&self) -> u8 {
        FIRST
            + match self {
                Self::Open { .. } => 0,
                Self::Close => 1,
                Self::Send { .. } => 2,
                Self::Regular { .. } => 3,
                Self::Potentials { .. } => 4,
                Self::IrregularOpen { .. } => 5,
                Self::IrregularClose => 6,
                Self::Star { .. } => 7,
                Self::List { .. } => 8,
                Self::Irregular { .. } => 9,
            }
    }

    /// A call of a kind, to be filled by reading; `None` if there is no such kind.
    pub fn blank(kind: u8) -> Option<Self> {
        let nanoseconds = 0;
        Some(match kind.checked_sub(FIRST)? {
            0 => Self::Open { room: 0 },
            1 => Self::Close,
            2 => Self::Send {
                sources: Vec::new(),
                nanoseconds,
            },
            3 => Self::Regular {
                by_mass: false,
                longest: 0,
                forces: Vec::new(),
                nanoseconds,
            },
            4 => Self::Potentials {
                sources: Vec::new(),
                first: 0,
                potentials: Vec::new(),
                nanoseconds,
            },
            5 => Self::IrregularOpen {
                room: 0,
                longest: 0,
            },
            6 => Self::IrregularClose,
            7 => Self::Star {
                address: 0,
                star: JParticle::default(),
            },
            8 => Self::List {
                address: 0,
                neighbours: Vec::new(),
            },
            9 => Self::Irregular {
                ti: 0.0,
                with_nearest: false,
                forces: Vec::new(),
                nanoseconds,
            },
            _ => return None,
        })
    }

    /// Bytes of all arguments of the call, in and out.
    pub fn raw_bytes(&self) -> u64 {
        const VECTOR: usize = 24;
        let bytes = match self {
            Self::Open { .. } => 8,
            Self::Close => 0,
            Self::IrregularOpen { .. } => 12,
            Self::IrregularClose => 4,
            Self::Send { sources, .. } => 4 + sources.len() * (8 + 2 * VECTOR),
            Self::Regular { forces, .. } => {
                let lists: usize = forces.iter().map(|f| 4 + 4 * f.list.len()).sum();
                16 + forces.len() * (2 * 8 + 4 * VECTOR + 8) + lists
            }
            Self::Potentials {
                sources,
                potentials,
                ..
            } => 16 + sources.len() * (8 + VECTOR) + 8 * potentials.len(),
            Self::Star { .. } => 4 + 4 * VECTOR + 2 * 8,
            Self::List { neighbours, .. } => 8 + 4 * neighbours.len(),
            Self::Irregular { forces, .. } => 12 + forces.len() * (4 + 2 * VECTOR + 4),
        };
        bytes as u64
    }

    /// Writes the call, or reads it into a blank one, as events are.
    ///
    /// # Errors
    ///
    /// What is read is no call.
    pub fn code<C: Coder>(&mut self, c: &mut C, forecast: &mut Forecast) -> Result<(), Malformed> {
        match self {
            Self::Close | Self::IrregularClose => Ok(()),
            Self::Open { room } => c.small(room),
            Self::IrregularOpen { room, longest } => {
                c.small(room)?;
                c.small(longest)
            }
            Self::Send {
                sources,
                nanoseconds,
            } => {
                c.whole(nanoseconds)?;
                code_sources(c, sources, forecast, |c, source, near| {
                    c.vector(&mut source.v, near.v)?;
                    c.vector(&mut source.x, forecast.way(near, source.v))
                })?;
                forecast.learn_sources(sources)
            }
            Self::Regular {
                by_mass,
                longest,
                forces,
                nanoseconds,
            } => {
                flag(c, by_mass)?;
                c.whole(longest)?;
                c.whole(nanoseconds)?;
                let mut search = forecast.search();
                let mut before = Target::default();
                each(c, forces, |c, one| {
                    // Integers and numbers of this item; lists ask for their own.
                    c.expect(4, size_of::<RegularForce>())?;
                    code_regular(c, one, forecast, &mut search, &before)?;
                    before = one.target;
                    Ok(())
                })
            }
            Self::Potentials {
                sources,
                first,
                potentials,
                nanoseconds,
            } => {
                c.whole(first)?;
                c.whole(nanoseconds)?;
                code_sources(c, sources, forecast, |c, source, near| {
                    c.vector(&mut source.x, near.x)
                })?;
                let mut near = 0.0;
                each(c, potentials, |c, potential| {
                    c.number(potential, near)?;
                    near = *potential;
                    Ok(())
                })
            }
            Self::Star { address, star } => {
                forecast.code_address(c, address)?;
                let near = forecast.star(*address);
                c.number(&mut star.mass, near.star.mass)?;
                c.number(&mut star.t, near.ti)?;
                let (x, v) = near.star.predicted(star.t);
                c.vector(&mut star.x, x)?;
                c.vector(&mut star.v, v)?;
                c.vector(&mut star.aby2, near.aby2(star.t))?;
                c.vector(&mut star.a1by6, near.star.a1by6)?;
                forecast.learn_star(*address, star)
            }
            Self::List {
                address,
                neighbours,
            } => {
                forecast.code_address(c, address)?;
                code_list(c, neighbours, *address)
            }
            Self::Irregular {
                ti,
                with_nearest,
                forces,
                nanoseconds,
            } => {
                c.number(ti, forecast.ti)?;
                flag(c, with_nearest)?;
                c.whole(nanoseconds)?;
                forecast.ti = *ti;
                each(c, forces, |c, one| {
                    forecast.code_address(c, &mut one.address)?;
                    let near = forecast.irregular(one.address);
                    c.vector(&mut one.acc, near.acc)?;
                    c.vector(&mut one.jerk, near.jerk)?;
                    if *with_nearest {
                        label(c, &mut one.nearest, near.nearest)?;
                    }
                    forecast.learn_irregular(one)
                })
            }
        }
    }
}

/// Sources with their masses, and with what `code_orbit` codes of a source, given the one that was sent last at its address.
fn code_sources<C: Coder>(
    c: &mut C,
    sources: &mut Vec<Source>,
    forecast: &Forecast,
    code_orbit: impl Fn(&mut C, &mut Source, &Source) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let mut k = 0;
    let mut mass = 0.0;
    each(c, sources, |c, source| {
        let near = forecast.source(k, mass);
        c.number(&mut source.mass, near.mass)?;
        code_orbit(c, source, &near)?;
        (k, mass) = (k + 1, source.mass);
        Ok(())
    })
}

/// Addresses as distances from each other.
fn code_list<C: Coder>(c: &mut C, list: &mut Vec<i32>, mut last: i32) -> Result<(), Malformed> {
    each(c, list, |c, address| {
        label(c, address, last)?;
        last = *address;
        Ok(())
    })
}

fn code_regular<C: Coder>(
    c: &mut C,
    one: &mut RegularForce,
    forecast: &mut Forecast,
    search: &mut forecast::Search,
    before: &Target,
) -> Result<(), Malformed> {
    let last = search.last;
    let mut address = match C::READS {
        true => 0,
        false => forecast.find(search, &one.target),
    };
    label(c, &mut address, last)?;
    search.last = address;
    let near = forecast.target(address, before);
    let Target { x, v, h2, dtr } = &mut one.target;
    c.vector(x, near.target.x)?;
    c.vector(v, near.target.v)?;
    c.number(h2, near.target.h2)?;
    c.number(dtr, near.target.dtr)?;
    crate::trace::event::code_force(c, &mut one.force, &near.force)?;
    forecast.learn_target(address, &one.target, &one.force)?;
    let mut is_listed = one.list.len() as u64 == one.neighbours;
    flag(c, &mut is_listed)?;
    match is_listed {
        true => {
            code_list(c, &mut one.list, 0)?;
            one.neighbours = one.list.len() as u64;
            Ok(())
        }
        false => c.whole(&mut one.neighbours),
    }
}
