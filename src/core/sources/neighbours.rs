//! Nearest neighbours and neighbour lists, decided in double precision.
//!
//! Both use the predicted positions in double precision, whatever the precision of the forces. So they do not depend
//! on the backend.

use std::sync::atomic::{AtomicI32, Ordering};

use crate::error::{Error, Result};
use crate::process::allocation;
use crate::sources::jmemory::{JMemory, PAGE};
use crate::sources::label_sort;
use crate::sources::particle::{IParticle, Nearest};

/// Square of the distance between a position and slot `slot` of predicted positions.
///
/// Every backend computes the distance so: in this order, with no fused operation.
#[inline(always)]
pub fn distance2<const N: usize>(x: &[f64; 3], xj: &[[f64; N]; 3], slot: usize) -> f64 {
    let dx = xj[0][slot] - x[0];
    let dy = xj[1][slot] - x[1];
    let dz = xj[2][slot] - x[2];
    dx * dx + dy * dy + dz * dz
}

/// The most labels that the lists of one block may hold together: 1 GiB. If there are more, the client is told that its
/// lists overflow, and shrinks its radii. On GRAPE-6 the list memory of a board could overflow.
pub const LABELS_AT_MOST: usize = 1 << 28;

/// What the memory is for, in messages.
pub const PURPOSE: &str = "neighbour lists";

/// The lists of consecutive i-particles, in one array.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    ends: Vec<usize>,
    labels: Vec<i32>,
}

impl Lists {
    /// No lists yet, but room for the ends of `count`.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn with_room_for(count: usize) -> Result<Self> {
        let mut lists = Self::default();
        allocation::reserve(&mut lists.ends, count, PURPOSE)?;
        Ok(lists)
    }

    /// Adds `count` labels to the open list, for the caller to fill in.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn grow(&mut self, count: usize) -> Result<&mut [i32]> {
        let begin = self.labels.len();
        allocation::reserve(&mut self.labels, count, PURPOSE)?;
        self.labels.resize(begin + count, 0);
        Ok(&mut self.labels[begin..])
    }

    /// Closes the open list, and adds empty ones until there are `count` closed lists.
    pub fn close_before(&mut self, count: usize) {
        let missing = count.saturating_sub(self.ends.len());
        self.ends
            .extend(std::iter::repeat_n(self.labels.len(), missing));
    }

    /// The open list: the one to which labels are added.
    pub fn last(&mut self) -> &mut [i32] {
        let begin = self.ends.last().copied().unwrap_or(0);
        &mut self.labels[begin..]
    }

    /// Removes every occurrence of a label from the open list.
    pub fn leave_out(&mut self, label: i32) {
        let last = self.last();
        let Some(first) = last.iter().position(|&l| l == label) else {
            return;
        };
        let mut kept = first;
        for at in first..last.len() {
            last[kept] = last[at];
            kept += usize::from(last[at] != label);
        }
        let dropped = last.len() - kept;
        self.labels.truncate(self.labels.len() - dropped);
    }

    fn get(&self, i: usize) -> &[i32] {
        let begin = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.labels[begin..self.ends[i]]
    }
}

/// The neighbour lists of one block: for each i-particle the labels of the
/// j-particles with r^2 < h^2, without softening.
#[derive(Clone, Debug, Default)]
pub struct NeighbourLists {
    /// The lists as each thread wrote them, with the number of their first i-particle.
    runs: Vec<(usize, Lists)>,
}

impl NeighbourLists {
    /// The lists of a block, put together from those of consecutive runs of i-particles.
    pub fn from_runs(lists: impl IntoIterator<Item = Lists>) -> Self {
        let mut first = 0;
        let place = |lists: Lists| {
            let begin = first;
            first += lists.ends.len();
            (begin, lists)
        };
        Self {
            runs: lists.into_iter().map(place).collect(),
        }
    }

    /// The lists of a block, one for each i-particle, with the labels in address order.
    ///
    /// # Errors
    ///
    /// There is no memory for them.
    pub fn from_lists(lists: Vec<Vec<i32>>, rules: ListRules) -> Result<Self> {
        let mut scratch = Vec::new();
        let mut all = Lists::with_room_for(lists.len())?;
        for (i, list) in lists.into_iter().enumerate() {
            all.close_before(i);
            all.grow(list.len())?.copy_from_slice(&list);
            if rules.sorted {
                label_sort::sort(all.last(), &mut scratch)?;
            }
        }
        all.close_before(all.ends.len() + 1);
        Ok(Self::from_runs([all]))
    }

    /// The list of i-particle `i` of the block; empty beyond the block.
    pub fn list(&self, i: usize) -> &[i32] {
        let after = self.runs.partition_point(|(first, _)| *first <= i);
        match self.runs[..after].last() {
            Some((first, lists)) if i - first < lists.ends.len() => lists.get(i - first),
            _ => &[],
        }
    }
}

/// The sort mode. The interface has one for the process, not one for each cluster.
static SORT_MODE: AtomicI32 = AtomicI32::new(1);

/// Sets the sort mode: 0 leaves labels in address order, any other sorts them.
pub fn set_sort_mode(mode: i32) {
    SORT_MODE.store(mode, Ordering::Relaxed);
}

/// The sort mode; 1 unless it was set.
pub fn sort_mode() -> i32 {
    SORT_MODE.load(Ordering::Relaxed)
}

/// How lists are made.
#[derive(Clone, Copy, Debug)]
pub struct ListRules {
    /// Whether a j-particle with the i-particle's own label is listed like any other.
    pub include_self: bool,
    /// Whether labels ascend; otherwise they stand in address order.
    pub sorted: bool,
    /// The most labels in all lists of a block together.
    pub at_most: usize,
}

impl ListRules {
    /// Checks the number of labels of a block.
    ///
    /// # Errors
    ///
    /// There are more than [`ListRules::at_most`].
    pub fn allow(&self, labels: usize) -> Result<()> {
        match labels <= self.at_most {
            true => Ok(()),
            false => Err(Error::ListsTooLong {
                at_most: self.at_most,
            }),
        }
    }
}

/// The lists of all `particles`, from the addresses below `nj` predicted to `ti`: a plain double loop,
/// with which the tests compare the lists of every backend.
///
/// # Errors
///
/// The lists are longer than the rules allow, or there is no memory for them.
pub fn lists(
    memory: &JMemory,
    nj: usize,
    ti: f64,
    particles: &[IParticle],
    rules: ListRules,
) -> Result<NeighbourLists> {
    let mut positions = Vec::new();
    allocation::reserve(&mut positions, memory.pages(nj).count(), PURPOSE)?;
    for page in memory.pages(nj) {
        let mut x = [[0.0; PAGE]; 3];
        page.predict_positions(ti, &mut x);
        positions.push(x);
    }
    let mut lists = Lists::with_room_for(particles.len())?;
    let mut labels = 0;
    for (i, particle) in particles.iter().enumerate() {
        lists.close_before(i);
        if particle.h2.is_nan() || particle.h2 <= 0.0 {
            continue;
        }
        for (page, x) in memory.pages(nj).zip(&positions) {
            for slot in page.slots(nj) {
                let label = page.index()[slot];
                let own = label == particle.index && !rules.include_self;
                if distance2(&particle.x, x, slot) < particle.h2 && !own {
                    labels += 1;
                    rules.allow(labels)?;
                    lists.grow(1)?[0] = label;
                }
            }
        }
        if rules.sorted {
            lists.last().sort_unstable();
        }
    }
    lists.close_before(particles.len());
    Ok(NeighbourLists::from_runs([lists]))
}

/// The nearest neighbours of all `particles`: the smallest r^2 over the addresses below `nj` predicted
/// to `ti`. The own label is excluded; of equal distances the lower address wins. `nearest` must hold
/// `None` for each particle.
pub fn nearest(
    memory: &JMemory,
    nj: usize,
    ti: f64,
    particles: &[IParticle],
    nearest: &mut [Option<Nearest>],
) {
    let mut x = [[0.0; PAGE]; 3];
    for page in memory.pages(nj) {
        page.predict_positions(ti, &mut x);
        for (p, best) in particles.iter().zip(nearest.iter_mut()) {
            for slot in page.slots(nj) {
                update_nearest(best, p, page.index()[slot], distance2(&p.x, &x, slot));
            }
        }
    }
}

/// The nearest neighbour of one i-particle, from all distances.
#[cold]
pub fn nearest_of(memory: &JMemory, nj: usize, ti: f64, i: &IParticle) -> Option<Nearest> {
    let mut best = None;
    for page in memory.pages(nj) {
        for slot in page.slots(nj) {
            let x = page.predicted_position(slot, ti).map(|x| [x]);
            update_nearest(&mut best, i, page.index()[slot], distance2(&i.x, &x, 0));
        }
    }
    best
}

/// Takes a j-particle at squared distance `r2` for the nearest, if it is nearer than `best`.
#[inline(always)]
pub fn update_nearest(best: &mut Option<Nearest>, i: &IParticle, index: i32, r2: f64) {
    // A particle at no finite distance is nobody's neighbour.
    let nearer = match best {
        Some(best) => r2 < best.r2,
        None => r2 < f64::INFINITY,
    };
    if nearer && index != i.index {
        *best = Some(Nearest { index, r2 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::particle::JParticle;

    fn line(labels: &[i32]) -> JMemory {
        let mut memory = JMemory::default();
        for (address, &index) in (0..).zip(labels) {
            let x = [f64::from(address), 0.0, 0.0];
            memory
                .write(
                    address,
                    &JParticle {
                        index,
                        x,
                        ..Default::default()
                    },
                )
                .unwrap();
        }
        memory
    }

    fn probe(index: i32, x: f64, h2: f64) -> IParticle {
        IParticle {
            index,
            x: [x, 0.0, 0.0],
            h2,
            ..Default::default()
        }
    }

    const ALL: ListRules = ListRules {
        include_self: true,
        sorted: true,
        at_most: LABELS_AT_MOST,
    };

    #[test]
    fn the_radius_itself_is_outside() {
        let memory = line(&[5, 9, -1, 7]);
        let block = [
            probe(9, 1.0, 1.0),
            probe(9, 1.0, 1.0 + 1e-15),
            probe(0, 0.0, 0.0),
        ];
        let found = lists(&memory, 4, 0.0, &block, ALL).unwrap();
        assert_eq!(found.list(0), [9]);
        assert_eq!(found.list(1), [-1, 5, 9]);
        assert!(found.list(2).is_empty() && found.list(3).is_empty());
        let rules = ListRules {
            include_self: false,
            sorted: false,
            ..ALL
        };
        let found = lists(&memory, 4, 0.0, &block, rules).unwrap();
        assert_eq!(found.list(1), [5, -1], "address order, own label left out");
        let found = lists(&memory, 1, 0.0, &block, ALL).unwrap();
        assert_eq!(found.list(1), [5], "addresses from nj on do not count");
    }

    #[test]
    fn ties_go_to_the_lower_address_and_own_labels_do_not_count() {
        let memory = line(&[5, 9, -1, 7]);
        let mut found = [None; 3];
        let block = [probe(9, 1.0, 0.0), probe(5, -3.0, 0.0), probe(3, 2.9, 0.0)];
        nearest(&memory, 4, 0.0, &block, &mut found);
        let labels: Vec<_> = found.iter().map(|n| n.unwrap().index).collect();
        assert_eq!(labels, [5, 9, 7]);
        let mut found = [None; 3];
        nearest(&memory, 1, 0.0, &block, &mut found);
        assert_eq!(found[1], None);
    }
}
