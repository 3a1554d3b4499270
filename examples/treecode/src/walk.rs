//! Groups of neighbouring particles, and the interaction list that serves all of a group.
//!
//! J. E. Barnes (1990): a cell is opened if this is necessary for the particle of the group that is nearest to the
//! cell. So the list is at least as accurate as a list for each particle.

use crate::tree::Tree;

/// Cells of up to this many particles are given as these, and not as a quadrupole.
pub const FEW: usize = 3;

/// Particles that share a list: a run in Morton order, all those of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// The first of the particles, among those of all ranks.
    first: u32,
    /// The first of the particles, among those of this rank.
    at: u32,
    /// Number of particles.
    pub count: u32,
    /// Corner of the smallest box around them.
    least: [f64; 3],
    /// The opposite corner.
    most: [f64; 3],
}

impl Group {
    /// Its particles among those of this rank.
    pub fn particles(&self) -> std::ops::Range<usize> {
        self.at as usize..(self.at + self.count) as usize
    }

    /// The box around it: the corner with the least coordinates and the opposite one.
    pub fn corners(&self) -> [[f64; 3]; 2] {
        [self.least, self.most]
    }

    fn distance2(&self, x: &[f64; 3]) -> f64 {
        distance2([&self.least, &self.most], x)
    }
}

/// Square of the distance of `x` from a box. Rounding keeps the order: a box inside another one is never nearer.
pub fn distance2([least, most]: [&[f64; 3]; 2], x: &[f64; 3]) -> f64 {
    (0..3)
        .map(|k| (least[k] - x[k]).max(x[k] - most[k]).max(0.0))
        .map(|d| d * d)
        .sum()
}

/// What acts on one group, and the memory for finding it.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// Positions and masses: first the group's own particles, in order, then everything else.
    pub points: Vec<[f64; 4]>,
    stack: Vec<u32>,
}

/// Divides this rank's particles into groups, the largest cells of up to `n_crit` particles, in Morton order.
pub fn groups(tree: &Tree, n_crit: usize, groups: &mut Vec<Group>, stack: &mut Vec<u32>) {
    groups.clear();
    stack.clear();
    stack.extend(tree.branches().rev().map(|b| b as u32));
    while let Some(at) = stack.pop() {
        let cell = &tree.cells()[at as usize];
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
    let mut group = Group {
        first,
        at,
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
    let (cells, everybody) = (tree.cells(), tree.points());
    let own = group.first as usize..(group.first + group.count) as usize;
    points.clear();
    points.extend_from_slice(&everybody[group.particles()]);
    stack.push(tree.root() as u32);
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
                Some(_) if theirs.len() <= FEW => {
                    points.extend_from_slice(&everybody[cell.points()]);
                }
                Some(pseudo) => points.extend_from_slice(pseudo),
                None => points.push([cell.x[0], cell.x[1], cell.x[2], cell.mass]),
            }
        } else if cell.children > 0 {
            stack.extend(cell.children().map(|c| c as u32));
        } else if apart {
            points.extend_from_slice(&everybody[cell.points()]);
        } else {
            // A leaf of which the group is a part.
            let (leaf, own) = (cell.points(), group.particles());
            points.extend_from_slice(&everybody[leaf.start..own.start]);
            points.extend_from_slice(&everybody[own.end..leaf.end]);
        }
    }
}
