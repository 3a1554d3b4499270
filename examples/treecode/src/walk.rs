//! Groups of neighbouring particles, and the interaction list that serves all of a group.
//!
//! J. E. Barnes (1990): a cell is opened if this is necessary for the particle of the group that is nearest to the
//! cell. So the list is at least as accurate as a list for each particle.

use crate::tree::Tree;

/// Particles that share a list: a run in Morton order, all those of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// The first of the particles.
    pub first: u32,
    /// Number of particles.
    pub count: u32,
    /// Corner of the smallest box around them.
    least: [f64; 3],
    /// The opposite corner.
    most: [f64; 3],
}

impl Group {
    /// Its particles.
    pub fn particles(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    fn distance2(&self, x: &[f64; 3]) -> f64 {
        (0..3)
            .map(|k| (self.least[k] - x[k]).max(x[k] - self.most[k]).max(0.0))
            .map(|d| d * d)
            .sum()
    }
}

/// What acts on one group, and the memory for finding it.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// Positions and masses: first the group's own particles, in order, then everything else.
    pub points: Vec<[f64; 4]>,
    stack: Vec<u32>,
}

/// Divides everybody into groups, the largest cells of up to `n_crit` particles, in Morton order.
pub fn groups(tree: &Tree, n_crit: usize, groups: &mut Vec<Group>, stack: &mut Vec<u32>) {
    groups.clear();
    stack.clear();
    if tree.cells().is_empty() {
        return;
    }
    stack.push(0);
    while let Some(at) = stack.pop() {
        let cell = &tree.cells()[at as usize];
        if cell.count as usize > n_crit && cell.children > 0 {
            stack.extend(cell.children().rev().map(|c| c as u32));
            continue;
        }
        // A leaf with more, of particles on one place perhaps, is taken apart.
        let all = cell.particles();
        for first in all.clone().step_by(n_crit) {
            let count = n_crit.min(all.end - first);
            groups.push(group(tree, first as u32, count as u32));
        }
    }
}

fn group(tree: &Tree, first: u32, count: u32) -> Group {
    let mut group = Group {
        first,
        count,
        least: [f64::INFINITY; 3],
        most: [f64::NEG_INFINITY; 3],
    };
    for point in &tree.points()[group.particles()] {
        for ((least, most), x) in group.least.iter_mut().zip(&mut group.most).zip(point) {
            (*least, *most) = (least.min(*x), most.max(*x));
        }
    }
    group
}

/// Finds what acts on `group`.
pub fn walk(tree: &Tree, group: &Group, list: &mut List) {
    let List { points, stack } = list;
    let (cells, particles) = (tree.cells(), tree.points());
    let own = group.particles();
    points.clear();
    points.extend_from_slice(&particles[own.clone()]);
    stack.push(0);
    while let Some(at) = stack.pop() {
        let cell = &cells[at as usize];
        let theirs = cell.particles();
        if own.start <= theirs.start && theirs.end <= own.end {
            continue;
        }
        let apart = theirs.end <= own.start || own.end <= theirs.start;
        if apart && group.distance2(&cell.x) > cell.open2 {
            match tree.pseudo().get(at as usize) {
                // Three points for up to three particles: the particles themselves are better.
                Some(_) if theirs.len() <= 3 => points.extend_from_slice(&particles[theirs]),
                Some(pseudo) => points.extend_from_slice(pseudo),
                None => points.push([cell.x[0], cell.x[1], cell.x[2], cell.mass]),
            }
        } else if cell.children > 0 {
            stack.extend(cell.children().map(|c| c as u32));
        } else if apart {
            points.extend_from_slice(&particles[theirs]);
        } else {
            // A leaf of which the group is a part.
            points.extend_from_slice(&particles[theirs.start..own.start]);
            points.extend_from_slice(&particles[own.end..theirs.end]);
        }
    }
}
