//! The octree over particles in Morton order, generation by generation.
//!
//! A cell is a run of particles. The cells of one generation stand side by side, and the children of one cell next to
//! each other. All threads together divide the cells of one generation, then those of the next. They compute the
//! moments in the same way, from the last generation up.
//!
//! With several ranks, a rank builds its *branches* and the cells below them. A branch is a cell with particles of this
//! rank alone. The treecode adds the branches of all other ranks, and the cells below them that the walks of this rank
//! need. For this it has access to the fields.

use std::collections::TryReserveError;

use super::moments::{self, Moments, Pseudo};
use super::morton::{Cube, LEVELS};
use super::walk::Bounds;
use super::workers::Workers;

/// Cells of up to this many particles are not divided.
pub const LEAF: u32 = 8;

/// Cells that one task takes at least.
const GRAIN: usize = 256;

/// A cube of space with particles in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// Centre of mass.
    pub x: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Square of the distance from the centre of mass beyond which the cell is accepted as a whole.
    pub open2: f64,
    /// Its first particle, among those of all ranks.
    pub first: u32,
    /// Number of its particles.
    pub count: u32,
    /// Where its particles are among the [points](Octree::points), or [`ABSENT`].
    pub at: u32,
    /// Its first child; of a leaf, where the children of the next cell begin.
    pub child: u32,
    /// Number of its children; none where it is a leaf.
    pub children: u8,
    /// Divisions that lead from the root to it.
    pub level: u8,
}

/// The place of particles that only another rank has: no walk of this rank gets to them.
pub const ABSENT: u32 = u32::MAX;

impl Cell {
    /// Its particles among the [points](Octree::points).
    pub fn points(&self) -> std::ops::Range<usize> {
        self.at as usize..self.at as usize + self.count as usize
    }

    /// Its particles among those of all ranks.
    pub fn particles(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Its children.
    pub fn children(&self) -> std::ops::Range<usize> {
        self.child as usize..self.child as usize + usize::from(self.children)
    }
}

/// An octree, and the memory that is kept from one to the next.
#[derive(Debug, Default)]
pub struct Octree {
    /// The keys of the particles, in ascending order.
    pub keys: Vec<u64>,
    /// Those of this rank, then those of others that its walks need.
    pub points: Vec<[f64; 4]>,
    /// Generation after generation. None without particles.
    pub cells: Vec<Cell>,
    /// Where each generation begins among the cells, and where the last one ends.
    generations: Vec<usize>,
    /// The second moments of each cell.
    pub second: Vec<Moments>,
    /// What stands for each cell; empty where its centre of mass does.
    pub pseudo: Vec<Pseudo>,
    /// Where walks begin.
    pub root: usize,
    /// The cube's edge over theta: cells of level l are accepted from this / 2^l on.
    opening: f64,
    quadrupoles: bool,
}

impl Octree {
    /// A tree for particles with these keys, in ascending order. It has no cells yet.
    pub fn over(keys: Vec<u64>) -> Self {
        Self {
            keys,
            ..Self::default()
        }
    }

    /// Builds the cells over particles in Morton order: `keys` has the key of each particle, and `point` returns its
    /// position and mass. `branches` has the level and the number of particles of each of the first cells, and `first`
    /// is the number of particles before these. A cell of level l may act as a whole from the distance `opening` / 2^l
    /// on. `opening` is the edge of the cube over theta.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn grow(
        &mut self,
        workers: &impl Workers,
        point: impl Fn(usize) -> [f64; 4] + Sync,
        (first, branches): (usize, &[(u8, u32)]),
        (opening, quadrupoles): (f64, bool),
    ) -> Result<(), TryReserveError> {
        (self.opening, self.quadrupoles) = (opening, quadrupoles);
        self.cells.clear();
        self.generations.clear();
        self.pseudo.clear();
        self.root = 0;
        resize(&mut self.points, self.keys.len())?;
        workers.each(&mut self.points, GRAIN, |k, to| *to = point(k))?;
        let mut at = 0;
        for &(level, count) in branches {
            self.cells.push(Cell {
                first: first as u32 + at,
                at,
                count,
                level,
                ..Cell::default()
            });
            at += count;
        }
        self.divide(workers)?;
        self.find_moments(workers)
    }

    /// Divides the branches.
    fn divide(&mut self, workers: &impl Workers) -> Result<(), TryReserveError> {
        let keys = &self.keys;
        self.generations.push(0);
        loop {
            let begin = self.generations[self.generations.len() - 1];
            let end = self.cells.len();
            self.generations.push(end);
            let parents = &mut self.cells[begin..];
            workers.each(parents, GRAIN, |_, p| {
                p.children = divisions(keys, p).count() as u8;
            })?;
            let mut next = end;
            for parent in parents {
                parent.child = next as u32;
                next += usize::from(parent.children);
            }
            if next == end {
                return Ok(());
            }
            resize(&mut self.cells, next)?;
            let (above, children) = self.cells.split_at_mut(end);
            fill(workers, keys, &above[begin..], children);
        }
    }

    /// Finds masses and centres, from the last generation up.
    fn find_moments(&mut self, workers: &impl Workers) -> Result<(), TryReserveError> {
        let (points, opening) = (&self.points, self.opening);
        self.second.clear();
        resize(&mut self.second, self.cells.len())?;
        for generation in self.generations.windows(2).rev() {
            let [begin, end] = *generation else { continue };
            let (above, below) = self.cells.split_at_mut(end);
            let (second, second_below) = self.second.split_at_mut(end);
            let (above, second) = (&mut above[begin..], &mut second[begin..]);
            workers.each_pair(above, second, GRAIN, |cell, second| {
                let children = cell.children();
                if cell.children == 0 {
                    moments::of_points(cell, second, &points[cell.points()]);
                } else {
                    let children = children.start - end..children.end - end;
                    let below = &below[children.clone()];
                    moments::of_cells(cell, second, below, &second_below[children]);
                }
                cell.open2 = open2(opening, cell.level);
            })?;
        }
        match self.quadrupoles {
            true => self.find_pseudo(workers),
            false => Ok(()),
        }
    }

    /// Has quadrupoles stand for the cells.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn find_pseudo(&mut self, workers: &impl Workers) -> Result<(), TryReserveError> {
        // Until they are there.
        self.quadrupoles = false;
        resize(&mut self.pseudo, self.cells.len())?;
        let (cells, second) = (&self.cells, &self.second);
        workers.each(&mut self.pseudo, GRAIN, |k, pseudo| {
            *pseudo = moments::pseudo_particles(&cells[k], &second[k]);
        })?;
        self.quadrupoles = true;
        Ok(())
    }

    /// Whether cells that reach into a box have more than `limit` particles in it, or next to it in the same leaf.
    pub fn is_crowded(&self, cube: &Cube, bounds: &Bounds, limit: usize) -> bool {
        let mut count = 0;
        let mut open = vec![self.root];
        while let Some(at) = open.pop() {
            let cell = &self.cells[at];
            let centre = cube.centre(self.keys[cell.at as usize], cell.level);
            let half = 0.5 * cube.edge(cell.level);
            let (first, last) = (centre.map(|c| c - half), centre.map(|c| c + half));
            if (0..3).any(|k| last[k] < bounds.least[k] || bounds.most[k] < first[k]) {
                continue;
            }
            let inside = (0..3).all(|k| bounds.least[k] <= first[k] && last[k] <= bounds.most[k]);
            match inside || cell.children == 0 {
                true => count += cell.count as usize,
                false => open.extend(cell.children()),
            }
            if count > limit {
                return true;
            }
        }
        false
    }

    /// The first cells: those that have particles of this rank alone.
    pub fn branches(&self) -> std::ops::Range<usize> {
        0..self.generations.get(1).copied().unwrap_or(0)
    }

    /// See [`Cell::open2`].
    pub fn open2(&self, level: u8) -> f64 {
        open2(self.opening, level)
    }

    /// Whether the cells have quadrupoles.
    pub fn has_quadrupoles(&self) -> bool {
        self.quadrupoles
    }
}

/// Makes an array so long.
fn resize<T: Clone + Default>(array: &mut Vec<T>, length: usize) -> Result<(), TryReserveError> {
    array.try_reserve(length.saturating_sub(array.len()))?;
    array.resize(length, T::default());
    Ok(())
}

/// Square of the distance from which cells of this level are accepted.
fn open2(opening: f64, level: u8) -> f64 {
    let radius = opening / (1_u64 << level) as f64;
    radius * radius
}

/// The runs of particles in the octants of `cell`, as place and count; none where it is a leaf.
fn divisions<'k>(keys: &'k [u64], cell: &Cell) -> impl Iterator<Item = (u32, u32)> + use<'k> {
    let mut at = cell.at;
    let level = usize::from(cell.level);
    let end = if cell.count > LEAF && level < LEVELS {
        at + cell.count
    } else {
        at
    };
    let shift = 3 * (LEVELS - 1).saturating_sub(level);
    std::iter::from_fn(move || {
        let rest = &keys[at as usize..end as usize];
        let octant = rest.first()? >> shift;
        let count = rest.partition_point(|key| key >> shift <= octant) as u32;
        let first = at;
        at += count;
        Some((first, count))
    })
}

/// Writes the `children` of `parents`.
fn fill(workers: &impl Workers, keys: &[u64], parents: &[Cell], children: &mut [Cell]) {
    if parents.len() > GRAIN {
        let (left, right) = parents.split_at(parents.len() / 2);
        let (of_left, of_right) = children.split_at_mut((right[0].child - left[0].child) as usize);
        workers.join(
            || fill(workers, keys, left, of_left),
            || fill(workers, keys, right, of_right),
        );
        return;
    }
    let mut next = children.iter_mut();
    for parent in parents.iter().filter(|p| p.children > 0) {
        for ((at, count), child) in divisions(keys, parent).zip(&mut next) {
            *child = Cell {
                first: parent.first + (at - parent.at),
                at,
                count,
                level: parent.level + 1,
                ..Cell::default()
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::tree::morton::{Cube, Extent};
    use crate::tree::workers::Alone;

    fn build(points: &mut [[f64; 4]], quadrupoles: bool) -> (Octree, Cube) {
        let place = |p: &[f64; 4]| [p[0], p[1], p[2]];
        let cube = Cube::of(Extent::of(points.iter().map(place))).unwrap();
        points.sort_by_key(|p| cube.key(&place(p)));
        let mut tree = Octree::over(points.iter().map(|p| cube.key(&place(p))).collect());
        let whole = [(0, points.len() as u32)];
        let accuracy = (cube.size / 0.5, quadrupoles);
        tree.grow(&Alone, |k| points[k], (0, &whole), accuracy)
            .unwrap();
        (tree, cube)
    }

    /// Denser towards the middle.
    fn tree(n: usize) -> (Octree, Cube) {
        let mut random = crate::random::Random::new(1);
        let mut point = || {
            let at = random.vector(1.0).map(|c| c * c * c);
            [at[0], at[1], at[2], 1.0]
        };
        let mut points: Vec<_> = (0..n).map(|_| point()).collect();
        build(&mut points, true)
    }

    #[test]
    fn children_divide_the_particles_of_their_parent() {
        for n in [1, 8, 9, 5000] {
            let (tree, _) = tree(n);
            assert_eq!(tree.cells[0].particles(), 0..n);
            for cell in &tree.cells {
                if cell.children == 0 {
                    assert!(cell.count <= LEAF && cell.count > 0);
                    continue;
                }
                let mut at = cell.first;
                for child in &tree.cells[cell.children()] {
                    assert_eq!(child.first, at);
                    assert_eq!(child.level, cell.level + 1);
                    at += child.count;
                }
                assert_eq!(at, cell.first + cell.count);
            }
            let leaves = tree.cells.iter().filter(|c| c.children == 0);
            assert_eq!(leaves.map(|c| c.count as usize).sum::<usize>(), n);
            assert_eq!(tree.cells[0].mass, n as f64);
            assert_eq!(tree.pseudo.len(), tree.cells.len());
        }
    }

    #[test]
    fn a_cell_is_as_large_as_its_level_says() {
        let (tree, cube) = tree(3000);
        for cell in &tree.cells {
            let edge = cube.edge(cell.level);
            let centre = cube.centre(tree.keys[cell.at as usize], cell.level);
            for point in &tree.points[cell.points()] {
                let offset = (0..3).map(|k| (point[k] - centre[k]).abs());
                assert!(offset.fold(0.0, f64::max) <= 0.5 * edge * (1.0 + 1e-9));
            }
            assert!((cell.open2.sqrt() * 0.5 / edge - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn coincident_particles_end_on_the_last_level() {
        let mut points: Vec<_> = (0..40)
            .map(|k| [if k < 30 { 0.25 } else { 1.0 }, 0.0, 0.0, 1.0])
            .collect();
        let (tree, _) = build(&mut points, false);
        let deepest = tree.cells.iter().max_by_key(|c| c.level).unwrap();
        assert_eq!(usize::from(deepest.level), LEVELS);
        assert_eq!(tree.cells[0].mass, 40.0);
    }
}
