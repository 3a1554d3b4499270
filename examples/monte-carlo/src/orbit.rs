//! Phase 5, new orbits. The pericentre and apocentre follow from the energy E and the angular momentum J of a star
//! (equation 12). The star then gets a new position on the orbit.

use std::ops::Range;

use crate::bisection::{STARS_TOGETHER, Search, bisect_coarsely};
use crate::partition::BIN;
use crate::position::{self, Orbit};
use crate::potential::{Between, COARSE, Node, Potential};
use crate::renewal::Renewal;
use crate::stars::Share;

/// A star in the potential of the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Star {
    /// Index among all stars, from 1.
    pub index: usize,
    /// Mass.
    pub mass: f64,
    /// 1/r.
    pub u: f64,
    /// Potential of the others at its place.
    pub phi: f64,
    /// Specific energy.
    pub energy: f64,
    /// Specific angular momentum.
    pub momentum: f64,
}

/// An end of an orbit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
        let phi = node.phi + mass * node.u;
        Self {
            index,
            mass,
            u: node.u,
            phi,
            energy: phi + 0.5 * (vr * vr + vt * vt),
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

    /// Apocentre of a bound star, if it lies in the interval after star `index`: a root of the quadratic equation
    /// for 1/r that holds in that interval.
    #[inline]
    fn apocentre(&self, potential: &Potential, index: usize) -> Apsis {
        let felt = self.felt(potential, index);
        let depth = self.energy + felt.outside;
        let slope = self.slope(&felt, depth);
        let r = (felt.inside + slope) / (-2.0 * depth);
        Apsis {
            r: r.max(1.0 / self.u),
            index,
            slope,
        }
    }

    /// Pericentre, likewise.
    #[inline]
    fn pericentre(&self, potential: &Potential, index: usize) -> Apsis {
        let felt = self.felt(potential, index);
        let slope = self.slope(&felt, self.energy + felt.outside);
        let j2 = self.momentum * self.momentum;
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

    #[inline(always)]
    fn slope(&self, felt: &Between, depth: f64) -> f64 {
        let j2 = self.momentum * self.momentum;
        (felt.inside * felt.inside + 2.0 * j2 * depth)
            .max(0.0)
            .sqrt()
    }
}

/// What decides which nodes a star comes to: all that a search reads of it, side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    energy: f64,
    /// Square of the angular momentum.
    j2: f64,
    mass: f64,
    /// Mass over radius.
    own: f64,
}

impl Reach {
    fn of(star: &Star) -> Self {
        Self {
            energy: star.energy,
            j2: star.momentum * star.momentum,
            mass: star.mass,
            own: star.mass * star.u,
        }
    }

    /// Whether the star has the energy to come to a node outside its own.
    #[inline(always)]
    fn rises_to(&self, node: &Node) -> bool {
        // The own shell is inside of all of them.
        2.0 * (self.energy - node.phi - self.mass * node.u) >= self.j2 * node.u * node.u
    }

    /// Whether the star does not come to a node inside its own.
    #[inline(always)]
    fn stays_above(&self, node: &Node) -> bool {
        2.0 * (self.energy - node.phi - self.own) < self.j2 * node.u * node.u
    }
}

/// Finds pericentre and apocentre of bound stars, at most [`STARS_TOGETHER`]: the intervals by bisection over the stars inside and
/// outside, then the radii.
pub fn find_apsides(potential: &Potential, orbits: &mut [Orbit]) {
    let (nodes, coarse) = (&potential.nodes[..], &potential.coarse[..]);
    let mut searches = [Search::default(); STARS_TOGETHER];
    let searches = &mut searches[..orbits.len()];
    let mut reaches = [Reach::default(); STARS_TOGETHER];
    let reaches = &mut reaches[..orbits.len()];
    for ((search, reach), orbit) in searches.iter_mut().zip(&mut *reaches).zip(orbits.iter()) {
        (search.found, search.end) = (1, orbit.star.index);
        *reach = Reach::of(&orbit.star);
    }
    // Out of reach: all up to the first that is reached.
    let above = |k: usize, node: &Node| reaches[k].stays_above(node);
    bisect_coarsely(
        searches,
        COARSE,
        |k, at| above(k, &coarse[at]),
        |k, at| above(k, &nodes[at]),
    );
    for (search, orbit) in searches.iter_mut().zip(orbits.iter_mut()) {
        orbit.ends[0] = orbit.star.pericentre(potential, search.found - 1);
        (search.found, search.end) = (orbit.star.index + 1, nodes.len());
    }
    let rises = |k: usize, node: &Node| reaches[k].rises_to(node);
    bisect_coarsely(
        searches,
        COARSE,
        |k, at| rises(k, &coarse[at]),
        |k, at| rises(k, &nodes[at]),
    );
    for (search, orbit) in searches.iter().zip(orbits) {
        orbit.ends[1] = orbit.star.apocentre(potential, search.found - 1);
    }
}

/// Puts the stars of a group on their new orbits; those that get no new position stay where they are. They are handled a few bins at a time; how many
/// does not change the results, because each bin draws its own random numbers. Stars that are no longer bound, or have merged, get
/// an infinite radius. Stars that left in an earlier step are skipped. `told` receives, for each bin, how often a
/// bound of the rejection was too low.
pub fn of_group(potential: &Potential, radii: &[f64], renewal: &Renewal, group: &mut Share<'_>) {
    let mut orbits = [Orbit::default(); STARS_TOGETHER];
    for begin in (0..group.r.len()).step_by(STARS_TOGETHER) {
        let end = (begin + STARS_TOGETHER).min(group.r.len());
        let orbits = departing(potential, renewal, group, begin..end, &mut orbits);
        find_apsides(potential, orbits);
        position::sample(potential, radii, orbits, group.streams);
        group.told[begin / BIN..end.div_ceil(BIN)].fill(0.0);
        for orbit in orbits {
            group.told[orbit.bin] += f64::from(orbit.exceeded);
            put(group, orbit);
        }
    }
}

/// The orbits, without their ends, of the bound stars in some places of a group that get a new position; stars that are not bound leave. At most
/// [`STARS_TOGETHER`].
pub fn departing<'a>(
    potential: &Potential,
    renewal: &Renewal,
    group: &mut Share<'_>,
    places: Range<usize>,
    orbits: &'a mut [Orbit; STARS_TOGETHER],
) -> &'a mut [Orbit] {
    let mut bound = 0;
    for k in places {
        if let Some(star) = depart(potential, group, k)
            && renewal.has(group.id[k], star.mass)
        {
            orbits[bound] = Orbit::of(star, k / BIN);
            bound += 1;
        }
    }
    &mut orbits[..bound]
}

/// Puts a star of a group in its new place. On a circle it stays where it is.
pub fn put(group: &mut Share<'_>, orbit: &Orbit) {
    if let Some(place) = orbit.place {
        let k = orbit.star.index - group.first - 1;
        group.r[k] = place.r;
        group.vr[k] = place.vr;
        group.vt[k] = orbit.star.momentum / place.r;
        group.climb[k] = place.phi - orbit.star.phi;
    }
}

/// Removes star `k` of a group from the cluster: its radius becomes infinite and its velocity stays. `phi` is the
/// potential of the other stars at its place.
pub fn leave(group: &mut Share<'_>, k: usize, phi: f64) {
    group.start[k] = group.r[k];
    group.climb[k] = phi;
    group.r[k] = f64::INFINITY;
}

/// Star `k` of a group at the beginning of its way, or `None` if it has left, has merged or escapes.
#[inline]
fn depart(potential: &Potential, group: &mut Share<'_>, k: usize) -> Option<Star> {
    if group.r[k].is_infinite() {
        return None;
    }
    group.start[k] = group.r[k];
    group.climb[k] = 0.0;
    if group.m[k] == 0.0 {
        group.r[k] = f64::INFINITY;
        return None;
    }
    let velocity = [group.vr[k], group.vt[k]];
    let star = Star::new(potential, group.first + k + 1, group.m[k], velocity);
    if star.energy >= 0.0 {
        leave(group, k, star.phi);
        return None;
    }
    Some(star)
}
