//! Nearest neighbours and neighbour lists, decided in double precision.
//!
//! Both come from the predicted double-precision positions, whatever the
//! precision of the forces, so they do not depend on the backend.

use std::sync::atomic::{AtomicI32, Ordering};

use crate::error::{Error, Result};
use crate::grape::jmemory::{JMemory, PAGE};
use crate::grape::particle::{IParticle, Nearest};

/// Square of the distance between a position and slot `slot` of predicted positions.
///
/// There is one distance in kirin: this order, no fused operation.
#[inline(always)]
pub fn distance2<const N: usize>(x: &[f64; 3], xj: &[[f64; N]; 3], slot: usize) -> f64 {
    let dx = xj[0][slot] - x[0];
    let dy = xj[1][slot] - x[1];
    let dz = xj[2][slot] - x[2];
    dx * dx + dy * dy + dz * dz
}

/// The neighbour lists of one block: for each i-particle the labels of the
/// j-particles with r^2 < h^2, without softening.
#[derive(Clone, Debug, Default)]
pub struct NeighbourLists {
    ends: Vec<usize>,
    labels: Vec<i32>,
}

impl NeighbourLists {
    /// The lists of a block, one for each i-particle, with the labels in address order.
    ///
    /// # Errors
    ///
    /// They do not fit into memory.
    pub fn from_lists(mut lists: Vec<Vec<i32>>, rules: ListRules) -> Result<Self> {
        let mut all = Self::default();
        let count = lists.iter().map(Vec::len).sum();
        all.labels
            .try_reserve(count)
            .map_err(|_| Error::OutOfMemory {
                purpose: "neighbour lists",
            })?;
        for list in &mut lists {
            if rules.sorted {
                list.sort_unstable();
            }
            all.labels.append(list);
            all.ends.push(all.labels.len());
        }
        Ok(all)
    }

    /// The list of the block's i-particle number `i`; empty beyond the block.
    pub fn list(&self, i: usize) -> &[i32] {
        let begin = match i.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        self.ends
            .get(i)
            .map_or(&[], |&end| &self.labels[begin..end])
    }
}

/// The sort mode, which the interface keeps for the process and not for a cluster.
static SORT_MODE: AtomicI32 = AtomicI32::new(1);

/// Sets whether the labels in lists ascend (any mode but 0).
pub fn set_sort_mode(mode: i32) {
    SORT_MODE.store(mode, Ordering::Relaxed);
}

/// The mode that was set; 1 before that.
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
}

/// The lists of all `particles`, from the addresses below `nj` predicted to `ti`.
///
/// # Errors
///
/// The lists do not fit into memory.
pub fn lists(
    memory: &JMemory,
    nj: usize,
    ti: f64,
    particles: &[IParticle],
    rules: ListRules,
) -> Result<NeighbourLists> {
    let no_memory = |_| Error::OutOfMemory {
        purpose: "neighbour lists",
    };
    let mut found: Vec<(u32, i32)> = Vec::new();
    if particles.iter().any(|p| p.h2 > 0.0) {
        let mut x = Box::new([[0.0; PAGE]; 3]);
        let mut near = [false; PAGE];
        for page in memory.pages(nj) {
            page.predict_positions(ti, &mut x);
            for (i, p) in (0u32..).zip(particles) {
                if p.h2.is_nan() || p.h2 <= 0.0 {
                    continue;
                }
                let mut any = false;
                for (slot, near) in near.iter_mut().enumerate() {
                    *near = distance2(&p.x, &x, slot) < p.h2;
                    any |= *near;
                }
                if !any {
                    continue;
                }
                for slot in page.slots(nj).filter(|&slot| near[slot]) {
                    let label = page.index()[slot];
                    if rules.include_self || label != p.index {
                        found.try_reserve(1).map_err(no_memory)?;
                        found.push((i, label));
                    }
                }
            }
        }
    }
    if rules.sorted {
        found.sort_unstable();
    } else {
        found.sort_by_key(|&(i, _)| i);
    }
    let mut lists = NeighbourLists::default();
    lists.labels.try_reserve(found.len()).map_err(no_memory)?;
    lists.labels.extend(found.iter().map(|&(_, label)| label));
    let mut end = 0;
    for i in (0u32..).take(particles.len()) {
        end += found[end..].iter().take_while(|f| f.0 == i).count();
        lists.ends.push(end);
    }
    Ok(lists)
}

/// The nearest neighbours of all `particles`: the smallest r^2 over the addresses
/// below `nj` predicted to `ti`, own label excluded, ties to the lower address.
pub fn nearest(
    memory: &JMemory,
    nj: usize,
    ti: f64,
    particles: &[IParticle],
    nearest: &mut Vec<Option<Nearest>>,
) {
    nearest.clear();
    nearest.resize(particles.len(), None);
    let mut x = Box::new([[0.0; PAGE]; 3]);
    for page in memory.pages(nj) {
        page.predict_positions(ti, &mut x);
        for (p, best) in particles.iter().zip(nearest.iter_mut()) {
            for slot in page.slots(nj) {
                update_nearest(best, p, page.index()[slot], distance2(&p.x, &x, slot));
            }
        }
    }
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
    use crate::grape::particle::JParticle;

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
        };
        let found = lists(&memory, 4, 0.0, &block, rules).unwrap();
        assert_eq!(found.list(1), [5, -1], "address order, own label left out");
        let found = lists(&memory, 1, 0.0, &block, ALL).unwrap();
        assert_eq!(found.list(1), [5], "addresses from nj on do not count");
    }

    #[test]
    fn ties_go_to_the_lower_address_and_own_labels_do_not_count() {
        let memory = line(&[5, 9, -1, 7]);
        let mut found = Vec::new();
        let block = [probe(9, 1.0, 0.0), probe(5, -3.0, 0.0), probe(3, 2.9, 0.0)];
        nearest(&memory, 4, 0.0, &block, &mut found);
        let labels: Vec<_> = found.iter().map(|n| n.unwrap().index).collect();
        assert_eq!(labels, [5, 9, 7]);
        nearest(&memory, 1, 0.0, &block, &mut found);
        assert_eq!(found[1], None);
    }
}
