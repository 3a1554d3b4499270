//! Which part of the Morton curve each rank has.
//!
//! Every part begins with a group. The parts have about equal shares of the work that the last forces took. The forces
//! do not depend on where parts begin, not even in the last bit.

use std::ops::Range;

use kirin_kit::communicator::sample_sort::{Key, SampleSort, Sorted, counts, parts};
use kirin_kit::communicator::{Communicator, Operation};

use crate::error::Error;
use crate::morton::LEVELS;
use crate::particle::Particle;
use crate::settings::Settings;
use crate::tree::{LEAF, Tree};
use crate::walk::Group;

/// The end of the curve: keys are below it.
const END: u64 = 1 << (3 * LEVELS);

/// Numbers of a particle in a message.
const WORDS: usize = 13;

/// Parts of each rank's domain whose work is told to all.
const BINS: usize = 64;

/// Number of particles and work of parts of the curve, in its order; the same on all ranks.
#[derive(Debug, Default)]
pub struct Profile(Vec<[f64; 2]>);

impl Profile {
    /// Where each rank's particles are to begin, this rank having `mine` of them now.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn begins<C: Communicator>(&self, world: &C, mine: usize) -> Result<Begins, Error> {
        let n: usize = counts(world, mine)?.iter().sum();
        let ranks = world.size();
        Ok(Begins {
            places: (0..ranks).map(|rank| self.begin(rank, ranks, n)).collect(),
            n,
        })
    }

    /// The place up to which the work is that of `rank` ranks, if it is even within a part.
    fn begin(&self, rank: usize, ranks: usize, n: usize) -> usize {
        let total: f64 = self.0.iter().map(|part| part[1]).sum();
        if total <= 0.0 {
            return n * rank / ranks;
        }
        let mut wanted = total * rank as f64 / ranks as f64;
        let mut place = 0.0;
        for [count, work] in &self.0 {
            if wanted < *work {
                return ((place + count * wanted / work) as usize).min(n);
            }
            wanted -= work;
            place += count;
        }
        n
    }

    /// Takes up what the `groups` of all ranks had to do; `lists` are the lengths of this rank's lists.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn note<C: Communicator>(
        &mut self,
        world: &C,
        groups: &[Group],
        lists: &[u32],
    ) -> Result<(), Error> {
        let mut mine = [[0.0; 2]; BINS];
        for (k, (group, list)) in groups.iter().zip(lists).enumerate() {
            let [particles, work] = &mut mine[k * BINS / groups.len()];
            *particles += f64::from(group.count);
            // To make a list and to load it take some time, too.
            *work += f64::from(*list) * (f64::from(group.count) + LOADING);
        }
        let mut all = Vec::new();
        world.all_gather(mine.as_flattened(), &mut all)?;
        self.0.clear();
        self.0.extend(all.as_chunks().0);
        Ok(())
    }
}

/// Pairs that take as long as an entry of a list takes to be found and loaded.
const LOADING: f64 = 30.0;

/// Where each rank's particles are to begin.
#[derive(Clone, Debug)]
pub struct Begins {
    places: Vec<usize>,
    /// Number of all particles.
    n: usize,
}

/// This rank's particles along the curve.
struct Along<'a> {
    keys: &'a [u64],
    particles: &'a [Particle],
}

impl Sorted for Along<'_> {
    fn count(&self) -> usize {
        self.keys.len()
    }

    fn key(&self, place: usize) -> Key {
        [self.keys[place], u64::from(self.particles[place].order)]
    }
}

/// Where each rank's part of the curve begins, and the end of the curve: near `targets`, between two groups.
///
/// # Errors
///
/// A rank is lost.
pub fn divide<C: Communicator>(
    world: &C,
    sort: &mut SampleSort,
    tree: &Tree,
    particles: &[Particle],
    targets: &Begins,
    settings: &Settings,
) -> Result<Vec<u64>, Error> {
    let keys = &tree.keys[..];
    let along = Along { keys, particles };
    let places = sort.splitters(world, &along, &targets.places, targets.n)?;
    // The key at a target is the least that any rank has from its place on.
    let at = |place: &usize| keys.get(*place).copied().unwrap_or(END);
    let own: Vec<u64> = places.iter().map(at).collect();
    let mut all = Vec::new();
    world.all_gather(&own, &mut all)?;
    let ranks = world.size();
    let least = |rank: usize| all.iter().skip(rank).step_by(ranks).min();
    let wanted: Vec<u64> = (0..ranks)
        .map(|rank| *least(rank).unwrap_or(&END))
        .collect();

    // The particles of all ranks before each cell around these keys, and before its end.
    let mut before = Vec::with_capacity(2 * ranks * (LEVELS + 1));
    for key in &wanted {
        // The end of the curve is in no cell; the numbers for it are not read.
        let key = (*key).min(END - 1);
        for level in 0..=LEVELS {
            let cell = around(key, level);
            for edge in [cell.start, cell.end] {
                before.push(keys.partition_point(|k| *k < edge) as f64);
            }
        }
    }
    // Whole numbers: exact in any order.
    world.all_reduce(Operation::Sum, &mut before)?;
    let most = settings.n_crit.max(LEAF as usize) as f64;
    let mut begins = vec![0];
    for rank in 1..ranks {
        let key = wanted[rank];
        if key == END {
            begins.push(END);
            continue;
        }
        let levels = &before[2 * rank * (LEVELS + 1)..][..2 * (LEVELS + 1)];
        let fits = |level: &usize| levels[2 * level + 1] - levels[2 * level] <= most;
        // A heap of particles on one place is a group of the last level.
        let level = (0..LEVELS).find(fits).unwrap_or(LEVELS);
        let target = targets.places[rank] as f64;
        let group = around(key, level);
        let is_nearer = target - levels[2 * level] <= levels[2 * level + 1] - target;
        begins.push(if is_nearer { group.start } else { group.end });
    }
    begins.push(END);
    Ok(begins)
}

/// The keys of the cell of this level that `key` is in.
fn around(key: u64, level: usize) -> Range<u64> {
    let size = 1 << (3 * (LEVELS - level));
    let start = key & !(size - 1);
    start..start + size
}

/// Sends sorted particles to the ranks whose domains begin at `begins`. What comes stands behind those that stay, and is not
/// sorted.
///
/// # Errors
///
/// A rank is lost.
pub fn exchange<C: Communicator>(
    world: &C,
    sort: &mut SampleSort,
    keys: &[u64],
    particles: &mut Vec<Particle>,
    begins: &[u64],
) -> Result<(), Error> {
    let places: Vec<usize> = begins[..world.size()]
        .iter()
        .map(|begin| keys.partition_point(|key| key < begin))
        .collect();
    let mut parts = parts(&places, keys.len());
    // Nearly all particles stay: they are not copied into a message.
    let me = world.rank();
    let staying = places[me]..places[me] + std::mem::take(&mut parts[me]);
    let leaving = [&particles[..staying.start], &particles[staying.end..]];
    let words = leaving.into_iter().flatten().flat_map(to_words);
    let received = sort.exchange(world, &parts, WORDS, words)?;
    particles.truncate(staying.end);
    particles.drain(..staying.start);
    particles.extend(received.as_chunks().0.iter().map(of_words));
    Ok(())
}

/// A particle as it is sent.
pub(crate) fn to_words(p: &Particle) -> [u64; WORDS] {
    let [x, v, acc] = [p.x, p.v, p.acc].map(|vector| vector.map(f64::to_bits));
    [
        x[0],
        x[1],
        x[2],
        v[0],
        v[1],
        v[2],
        acc[0],
        acc[1],
        acc[2],
        p.pot.to_bits(),
        p.mass.to_bits(),
        u64::from(p.index.cast_unsigned()),
        u64::from(p.order),
    ]
}

/// The particle that was sent.
pub(crate) fn of_words(w: &[u64; WORDS]) -> Particle {
    let vector = |k: usize| [w[k], w[k + 1], w[k + 2]].map(f64::from_bits);
    Particle {
        x: vector(0),
        v: vector(3),
        acc: vector(6),
        pot: f64::from_bits(w[9]),
        mass: f64::from_bits(w[10]),
        index: (w[11] as u32).cast_signed(),
        order: w[12] as u32,
    }
}

/// Number of particles on the ranks before this one, which has `mine`.
///
/// # Errors
///
/// A rank is lost.
pub fn first<C: Communicator>(world: &C, mine: usize) -> Result<usize, Error> {
    Ok(counts(world, mine)?[..world.rank()].iter().sum())
}

/// Level and number of particles of the largest cells inside a `domain`, whose particles have these `keys`.
pub fn branches(keys: &[u64], domain: Range<u64>) -> Vec<(u8, u32)> {
    let mut found = Vec::new();
    descend(keys, &domain, 0, 0, &mut found);
    found
}

fn descend(
    keys: &[u64],
    domain: &Range<u64>,
    level: usize,
    start: u64,
    found: &mut Vec<(u8, u32)>,
) {
    if keys.is_empty() {
        return;
    }
    let size = 1 << (3 * (LEVELS - level));
    if level == LEVELS || (domain.start <= start && start + size <= domain.end) {
        found.push((level as u8, keys.len() as u32));
        return;
    }
    let mut rest = keys;
    for octant in 1..=8 {
        let end = start + octant * (size / 8);
        let (inside, behind) = rest.split_at(rest.partition_point(|key| *key < end));
        descend(inside, domain, level + 1, end - size / 8, found);
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_the_largest_cells_of_a_domain() {
        let octant = END / 8;
        let keys: Vec<u64> = (0..64).map(|k| octant + k * (octant / 64)).collect();
        assert_eq!(branches(&keys, 0..END), [(0, 64)]);
        assert_eq!(branches(&keys, octant..2 * octant), [(1, 64)]);
        // One of the eight cells of the next level is another rank's, and of the last one its last eighth.
        let domain = octant + octant / 8..2 * octant - octant / 64;
        let inside: Vec<u64> = keys.into_iter().filter(|k| domain.contains(k)).collect();
        let mut expected = vec![(2, 8); 6];
        expected.extend([(3, 1); 7]);
        assert_eq!(branches(&inside, domain), expected);
    }

    #[test]
    fn equal_work_for_each() {
        let profile = Profile(vec![[100.0, 1.0], [100.0, 3.0], [50.0, 4.0]]);
        let begins: Vec<usize> = (0..4).map(|rank| profile.begin(rank, 4, 250)).collect();
        assert_eq!(begins, [0, 133, 200, 225]);
        assert_eq!(Profile::default().begin(1, 2, 11), 5);
    }

    #[test]
    fn particles_arrive_as_they_were() {
        let p = Particle {
            x: [1.0, -2.0, 3.0],
            v: [0.5, 0.25, -0.0],
            acc: [7.0, 8.0, 9.0],
            pot: -4.0,
            mass: 1e-300,
            index: -7,
            order: u32::MAX,
        };
        assert_eq!(of_words(&to_words(&p)), p);
    }
}
