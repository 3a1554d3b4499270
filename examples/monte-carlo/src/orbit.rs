//! Phase 5, new orbits: between which radii a star of energy E and angular momentum J moves (equation 12), and
//! where on its orbit it is put.

use crate::partition::BIN;
use crate::position;
use crate::potential::{Between, Potential};
use crate::random::Stream;
use crate::stars::Group;

/// A star in the potential of the others.
#[derive(Clone, Copy, Debug)]
pub struct Star {
    /// Index among all stars, from 1.
    pub index: usize,
    /// Mass.
    pub mass: f64,
    /// 1/r.
    pub u: f64,
    /// Specific energy.
    pub energy: f64,
    /// Specific angular momentum.
    pub momentum: f64,
}

/// An end of an orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apsis {
    /// Radius.
    pub r: f64,
    /// Index of the star next to it, inwards.
    pub index: usize,
    /// J^2 / r - M there, but for the sign: what Q' = 2 slope / r^2 consists of.
    pub slope: f64,
}

impl Star {
    /// The star with this index, mass and velocity, which stands at its node of the potential.
    pub fn new(potential: &Potential, index: usize, mass: f64, [vr, vt]: [f64; 2]) -> Self {
        let node = potential.nodes[index];
        Self {
            index,
            mass,
            u: node.u,
            energy: node.phi + mass * node.u + 0.5 * (vr * vr + vt * vt),
            momentum: vt / node.u,
        }
    }

    /// The potential of the others between two stars.
    #[inline(always)]
    pub fn felt(&self, potential: &Potential, index: usize) -> Between {
        let mut between = potential.between[index];
        if index >= self.index {
            between.inside -= self.mass;
        } else {
            between.outside -= self.mass * self.u;
        }
        between
    }

    /// Q(r), the square of the radial velocity, where the potential is this.
    #[inline(always)]
    pub fn q(&self, felt: &Between, u: f64) -> f64 {
        2.0 * (self.energy + felt.outside + felt.inside * u)
            - (self.momentum * u) * (self.momentum * u)
    }

    /// Apocentre of a bound star: the interval from bisection over the stars outside, the radius from the
    /// quadratic equation for 1/r that holds in it.
    pub fn apocentre(&self, potential: &Potential) -> Apsis {
        let j2 = self.momentum * self.momentum;
        let outside = &potential.nodes[self.index + 1..];
        // The own shell is inside of all of them.
        let reached = outside.partition_point(|node| {
            2.0 * (self.energy - node.phi - self.mass * node.u) >= j2 * node.u * node.u
        });
        let index = self.index + reached;
        let felt = self.felt(potential, index);
        let depth = self.energy + felt.outside;
        let slope = (felt.inside * felt.inside + 2.0 * j2 * depth)
            .max(0.0)
            .sqrt();
        let r = (felt.inside + slope) / (-2.0 * depth);
        Apsis {
            r: r.max(1.0 / self.u),
            index,
            slope,
        }
    }

    /// Pericentre, likewise.
    pub fn pericentre(&self, potential: &Potential) -> Apsis {
        let j2 = self.momentum * self.momentum;
        let inside = &potential.nodes[1..self.index];
        let own = self.mass * self.u;
        // Out of reach: all up to the first that is reached.
        let index = inside
            .partition_point(|node| 2.0 * (self.energy - node.phi - own) < j2 * node.u * node.u);
        let felt = self.felt(potential, index);
        let depth = self.energy + felt.outside;
        let slope = (felt.inside * felt.inside + 2.0 * j2 * depth)
            .max(0.0)
            .sqrt();
        let r = if j2 > 0.0 {
            j2 / (felt.inside + slope)
        } else {
            0.0
        };
        Apsis {
            r: r.min(1.0 / self.u),
            index,
            slope,
        }
    }
}

/// Puts all stars of a group on their new orbits. A star that is not bound any more gets an infinite radius; so
/// does one that has merged. Tells how often a bound of the rejection was too low.
pub fn of_group(potential: &Potential, radii: &[f64], group: &mut Group<'_>) {
    for (bin, stream) in group.streams.iter_mut().enumerate() {
        let begin = bin * BIN;
        let end = (begin + BIN).min(group.r.len());
        let mut exceeded = 0;
        for k in begin..end {
            group.start[k] = group.r[k];
            group.climb[k] = 0.0;
            if group.m[k] == 0.0 {
                group.r[k] = f64::INFINITY;
                continue;
            }
            let star = Star::new(
                potential,
                group.first + k + 1,
                group.m[k],
                [group.vr[k], group.vt[k]],
            );
            let felt = potential.nodes[star.index].phi + star.mass * star.u;
            if star.energy >= 0.0 {
                group.r[k] = f64::INFINITY;
                (group.vr[k], group.vt[k]) = ((2.0 * star.energy).sqrt(), 0.0);
                group.climb[k] = -felt;
                continue;
            }
            let Some(place) = sample(potential, radii, &star, stream, &mut exceeded) else {
                continue;
            };
            group.r[k] = place.r;
            group.vr[k] = place.vr;
            group.vt[k] = star.momentum / place.r;
            group.climb[k] = place.phi - felt;
        }
        group.told[bin] = f64::from(exceeded);
    }
}

/// A place on the star's orbit; `None` where that is a circle and the star stays where it is.
fn sample(
    potential: &Potential,
    radii: &[f64],
    star: &Star,
    stream: &mut Stream,
    exceeded: &mut u32,
) -> Option<position::Place> {
    let (near, far) = (star.pericentre(potential), star.apocentre(potential));
    position::sample(potential, radii, star, [near, far], stream, exceeded)
}
