//! Groups of neighbouring particles, and the interaction list that serves all of a group.

use kirin_core::process::allocation;
use kirin_core::tree::walk::Bounds;
pub use kirin_core::tree::walk::{FEW, List};

use crate::error::Error;
use crate::tree::Tree;

/// Particles that share a list: a run in Morton order, all those of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// The first of the particles, among those of all ranks.
    first: u32,
    /// The first of the particles, among those of this rank.
    at: u32,
    /// Number of particles.
    pub count: u32,
    /// The smallest box around them.
    pub bounds: Bounds,
}

impl Group {
    /// Its particles among those of this rank.
    pub fn particles(&self) -> std::ops::Range<usize> {
        self.at as usize..(self.at + self.count) as usize
    }
}

/// Divides this rank's particles into groups, the largest cells of up to `n_crit` particles, in Morton order.
pub fn groups(tree: &Tree, n_crit: usize, groups: &mut Vec<Group>, stack: &mut Vec<u32>) {
    groups.clear();
    stack.clear();
    stack.extend(tree.branches().rev().map(|b| b as u32));
    while let Some(at) = stack.pop() {
        let cell = &tree.cells[at as usize];
        if cell.count as usize > n_crit && cell.children > 0 {
            stack.extend(cell.children().rev().map(|c| c as u32));
            continue;
        }
        // A leaf with more, of particles on one place perhaps, is taken apart.
        let all = cell.points();
        for at in all.clone().step_by(n_crit) {
            let count = n_crit.min(all.end - at) as u32;
            let first = cell.first + (at as u32 - cell.at);
            groups.push(group(tree, first, at as u32, count));
        }
    }
}

fn group(tree: &Tree, first: u32, at: u32, count: u32) -> Group {
    let points = &tree.points[at as usize..(at + count) as usize];
    Group {
        first,
        at,
        count,
        bounds: Bounds::of(points.iter().map(|[x, y, z, _]| [*x, *y, *z])),
    }
}

/// Finds what acts on `group`.
///
/// # Errors
///
/// There is no memory.
pub fn walk(tree: &Tree, group: &Group, list: &mut List) -> Result<(), Error> {
    let own = group.first as usize..(group.first + group.count) as usize;
    let particles = &tree.points[group.particles()];
    list.points.clear();
    allocation::reserve(&mut list.points, particles.len(), "a group")
        .and_then(|()| {
            list.points.extend_from_slice(particles);
            list.find((tree, tree.has_quadrupoles()), &group.bounds, &own)
        })
        .map_err(|_| Error::Memory)
}
