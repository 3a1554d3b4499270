//! A forecast of the numbers in the next call of NBODY6's library, like `trace::forecast` for GRAPE's calls.
//!
//! The forecast uses what earlier calls contained:
//!
//! * sources: predicted from their last positions and velocities;
//! * targets: they are among the sources;
//! * stars: predicted from their stored derivatives;
//! * forces: those of the last call, since forces change little.

use super::{IrregularForce, Source};
use crate::force::regular::Target;
use crate::process::allocation;
use crate::sources::particle::{Force, JParticle};
use crate::trace::PURPOSE;
use crate::trace::code::{Coder, Malformed, label};

/// The most entries of each table. Addresses that share an entry only make the file longer.
const ENTRIES_AT_MOST: usize = 1 << 18;

/// What is known of the target at one address of a source.
#[derive(Clone, Copy, Default)]
struct KnownTarget {
    h2: f64,
    dtr: f64,
    force: Force,
}

/// What is known of one star.
#[derive(Clone, Copy, Default)]
struct KnownStar {
    star: JParticle,
    /// The last irregular force on it, and its time.
    force: IrregularForce,
    ti: f64,
}

/// What a writer or a reader remembers.
#[derive(Default)]
pub struct Forecast {
    /// Time of the last irregular forces.
    pub(super) ti: f64,
    sources: Vec<Source>,
    /// The time at which they were sent.
    sent: f64,
    targets: Vec<KnownTarget>,
    stars: Vec<KnownStar>,
    address: i32,
}

/// A search for the sources that targets are.
pub(super) struct Search {
    /// Address of the last target; -1 where it is no source.
    pub last: i32,
    /// How many sources may still be looked at.
    left: usize,
}

/// The forecast of a target and its force.
#[derive(Default)]
pub(super) struct NearTarget {
    pub target: Target,
    pub force: Force,
}

/// The forecast of a star that is written.
pub(super) struct NearStar {
    pub star: JParticle,
    pub ti: f64,
}

impl NearStar {
    /// Half of the acceleration at a time.
    pub fn aby2(&self, t: f64) -> [f64; 3] {
        let s = t - self.star.t;
        [0, 1, 2].map(|k| self.star.aby2[k] + 3.0 * s * self.star.a1by6[k])
    }
}

/// The entry of an address in a table that grows with them.
fn entry<T: Default>(table: &mut Vec<T>, address: i32) -> Result<&mut T, Malformed> {
    let slot = slot(address);
    if slot >= table.len() {
        let length = (slot + 1).next_power_of_two().max(64);
        allocation::lengthen(table, length, PURPOSE, T::default).map_err(|_| Malformed)?;
    }
    Ok(&mut table[slot])
}

fn slot(address: i32) -> usize {
    address as u32 as usize % ENTRIES_AT_MOST
}

fn known<T: Copy + Default>(table: &[T], address: i32) -> T {
    table.get(slot(address)).copied().unwrap_or_default()
}

impl Forecast {
    /// The source that was sent last at the address `k`; of a new one the mass is foretold.
    pub(super) fn source(&self, k: usize, mass: f64) -> Source {
        let known = self.sources.get(k).copied();
        known.unwrap_or(Source {
            mass,
            ..Source::default()
        })
    }

    /// Where a source is now that has the velocity `v`.
    pub(super) fn way(&self, near: &Source, v: [f64; 3]) -> [f64; 3] {
        let dt = self.ti - self.sent;
        [0, 1, 2].map(|k| near.x[k] + 0.5 * dt * (near.v[k] + v[k]))
    }

    /// Notes the sources.
    pub(super) fn learn_sources(&mut self, sources: &[Source]) -> Result<(), Malformed> {
        self.sent = self.ti;
        self.sources.clear();
        allocation::reserve(&mut self.sources, sources.len(), PURPOSE).map_err(|_| Malformed)?;
        self.sources.extend_from_slice(sources);
        Ok(())
    }

    /// A search for the targets of one call, which are sources mostly and come by ascending addresses.
    pub(super) fn search(&self) -> Search {
        Search {
            last: -1,
            left: 4 * self.sources.len(),
        }
    }

    /// The address of the source that a target is, the next one after the last; -1 if none is found.
    pub(super) fn find(&self, search: &mut Search, target: &Target) -> i32 {
        let is_it = |s: &Source| s.x.map(f64::to_bits) == target.x.map(f64::to_bits);
        let first = (search.last + 1) as usize;
        let count = self.sources.len();
        for step in 0..count.min(search.left) {
            let at = (first + step) % count;
            if is_it(&self.sources[at]) {
                search.left -= step;
                return at as i32;
            }
        }
        search.left -= count.min(search.left);
        -1
    }

    /// The target that is the source at an address.
    pub(super) fn target(&self, address: i32, before: &Target) -> NearTarget {
        let Some(source) = usize::try_from(address)
            .ok()
            .and_then(|a| self.sources.get(a))
        else {
            return NearTarget {
                target: *before,
                force: Force::default(),
            };
        };
        let KnownTarget { h2, dtr, force } = known(&self.targets, address);
        let (x, v) = (source.x, source.v);
        NearTarget {
            target: Target { x, v, h2, dtr },
            force,
        }
    }

    /// Notes a target and its force.
    pub(super) fn learn_target(
        &mut self,
        address: i32,
        &Target { h2, dtr, .. }: &Target,
        &force: &Force,
    ) -> Result<(), Malformed> {
        if address >= 0 {
            *entry(&mut self.targets, address)? = KnownTarget { h2, dtr, force };
        }
        Ok(())
    }

    /// An address of a star, most often the one after the last.
    pub(super) fn code_address<C: Coder>(
        &mut self,
        c: &mut C,
        address: &mut i32,
    ) -> Result<(), Malformed> {
        label(c, address, self.address)?;
        self.address = *address;
        Ok(())
    }

    /// The star at an address.
    pub(super) fn star(&self, address: i32) -> NearStar {
        NearStar {
            star: known(&self.stars, address).star,
            ti: self.ti,
        }
    }

    /// Notes a star.
    pub(super) fn learn_star(&mut self, address: i32, star: &JParticle) -> Result<(), Malformed> {
        entry(&mut self.stars, address)?.star = *star;
        Ok(())
    }

    /// The irregular force on the star at an address.
    pub(super) fn irregular(&self, address: i32) -> IrregularForce {
        let KnownStar { force, ti, .. } = known(&self.stars, address);
        let s = self.ti - ti;
        IrregularForce {
            acc: [0, 1, 2].map(|k| force.acc[k] + s * force.jerk[k]),
            ..force
        }
    }

    /// Notes an irregular force.
    pub(super) fn learn_irregular(&mut self, force: &IrregularForce) -> Result<(), Malformed> {
        let ti = self.ti;
        let known = entry(&mut self.stars, force.address)?;
        (known.force, known.ti) = (*force, ti);
        Ok(())
    }
}
