//! The octree over particles in Morton order, generation by generation.
//!
//! A cell is a run of particles, and the cells of one generation stand side by side with the children
//! of one cell next to each other. A generation is divided by all threads at once, and so are the
//! moments, from the last generation up.
//!
//! One rank of several has the cells that hold particles of its own alone, its *branches*, and what these are divided into.
//! [`top`](crate::ranks::top) joins the branches of all ranks, and [`essential`](crate::ranks::essential) brings what the walks
//! of this rank need of the others.

use rayon::prelude::*;

use crate::moments::{self, Moments, Pseudo};
use crate::morton::{Cube, LEVELS, Sorter};
use crate::particle::Particle;

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
    /// Where its particles are among the [points](Tree::points), or [`ABSENT`].
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
    /// Its particles among the [points](Tree::points).
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
pub struct Tree {
    keys: Vec<u64>,
    sorter: Sorter,
    /// Those of this rank, then those of others that its walks need.
    pub(crate) points: Vec<[f64; 4]>,
    pub(crate) cells: Vec<Cell>,
    /// Where each generation begins among the cells, and where the last one ends.
    generations: Vec<usize>,
    pub(crate) second: Vec<Moments>,
    pub(crate) pseudo: Vec<Pseudo>,
    pub(crate) root: usize,
    /// The cube's edge over theta: cells of level l are accepted from this / 2^l on.
    opening: f64,
    quadrupoles: bool,
}

impl Tree {
    /// Sorts `particles` along the curve through `cube`.
    pub fn sort(&mut self, cube: &Cube, particles: &mut Vec<Particle>) {
        self.sorter.sort(cube, particles, &mut self.keys);
    }

    /// The particles' keys, in order.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Builds the cells over sorted `particles`, for the opening angle `theta`. `branches` has level and number of particles
    /// of the first cells; `first` is the number of particles before them.
    pub fn grow(
        &mut self,
        particles: &[Particle],
        (first, branches): (usize, &[(u8, u32)]),
        (opening, quadrupoles): (f64, bool),
    ) {
        (self.opening, self.quadrupoles) = (opening, quadrupoles);
        self.cells.clear();
        self.generations.clear();
        self.pseudo.clear();
        self.root = 0;
        particles
            .par_iter()
            .with_min_len(GRAIN)
            .map(|p| [p.x[0], p.x[1], p.x[2], p.mass])
            .collect_into_vec(&mut self.points);
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
        self.divide();
        self.find_moments();
    }

    /// Divides the branches.
    fn divide(&mut self) {
        let keys = &self.keys;
        self.generations.push(0);
        loop {
            let begin = self.generations[self.generations.len() - 1];
            let end = self.cells.len();
            self.generations.push(end);
            let parents = &mut self.cells[begin..];
            parents
                .par_iter_mut()
                .with_min_len(GRAIN)
                .for_each(|p| p.children = divisions(keys, p).count() as u8);
            let mut next = end;
            for parent in parents {
                parent.child = next as u32;
                next += usize::from(parent.children);
            }
            if next == end {
                break;
            }
            self.cells.resize(next, Cell::default());
            let (above, children) = self.cells.split_at_mut(end);
            fill(keys, &above[begin..], children);
        }
    }

    /// Finds masses and centres, from the last generation up.
    fn find_moments(&mut self) {
        let (points, opening) = (&self.points, self.opening);
        self.second.clear();
        self.second.resize(self.cells.len(), Moments::default());
        for generation in self.generations.windows(2).rev() {
            let [begin, end] = *generation else { continue };
            let (above, below) = self.cells.split_at_mut(end);
            let (second, second_below) = self.second.split_at_mut(end);
            above[begin..]
                .par_iter_mut()
                .zip(&mut second[begin..])
                .with_min_len(GRAIN)
                .for_each(|(cell, second)| {
                    let children = cell.children();
                    let children = children.start - end..children.end - end;
                    let below = &below[children.clone()];
                    if cell.children == 0 {
                        moments::of_points(cell, second, &points[cell.points()]);
                    } else {
                        moments::of_cells(cell, second, below, &second_below[children]);
                    }
                    cell.open2 = open2(opening, cell.level);
                });
        }
        if self.quadrupoles {
            self.cells
                .par_iter()
                .zip(&self.second)
                .with_min_len(GRAIN)
                .map(|(cell, second)| moments::pseudo_particles(cell, second))
                .collect_into_vec(&mut self.pseudo);
        }
    }

    /// The first cells: those that have particles of this rank alone.
    pub fn branches(&self) -> std::ops::Range<usize> {
        0..self.generations.get(1).copied().unwrap_or(0)
    }

    /// Where walks begin.
    pub fn root(&self) -> usize {
        self.root
    }

    /// See [`Cell::open2`].
    pub(crate) fn open2(&self, level: u8) -> f64 {
        open2(self.opening, level)
    }

    /// Whether the cells have quadrupoles.
    pub(crate) fn has_quadrupoles(&self) -> bool {
        self.quadrupoles
    }

    /// The cells. None without particles.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Positions and masses of this rank's particles in Morton order, and then of those of other ranks.
    pub fn points(&self) -> &[[f64; 4]] {
        &self.points
    }

    /// What stands for each cell; empty where its centre of mass does.
    pub fn pseudo(&self) -> &[Pseudo] {
        &self.pseudo
    }
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
fn fill(keys: &[u64], parents: &[Cell], children: &mut [Cell]) {
    if parents.len() > GRAIN {
        let (left, right) = parents.split_at(parents.len() / 2);
        let (of_left, of_right) = children.split_at_mut((right[0].child - left[0].child) as usize);
        rayon::join(|| fill(keys, left, of_left), || fill(keys, right, of_right));
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
    use crate::morton::Extent;
    use kirin_kit::models;

    fn build(tree: &mut Tree, particles: &mut Vec<Particle>, quadrupoles: bool) {
        let cube = Cube::of(Extent::of(particles)).unwrap();
        tree.sort(&cube, particles);
        let whole = [(0, particles.len() as u32)];
        tree.grow(particles, (0, &whole), (cube.size / 0.5, quadrupoles));
    }

    fn tree(n: usize) -> (Tree, Vec<Particle>) {
        let bodies = models::plummer(n, 1);
        let mut particles = (0..)
            .zip(&bodies)
            .map(|(k, b)| Particle::new(b, k))
            .collect();
        let mut tree = Tree::default();
        build(&mut tree, &mut particles, true);
        (tree, particles)
    }

    #[test]
    fn children_divide_the_particles_of_their_parent() {
        for n in [1, 8, 9, 5000] {
            let (tree, particles) = tree(n);
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
            assert!(
                particles
                    .iter()
                    .zip(&tree.points)
                    .all(|(p, q)| p.x == q[..3])
            );
        }
    }

    #[test]
    fn a_cell_is_as_large_as_its_level_says() {
        let (tree, _) = tree(3000);
        let cube = tree.cells[0].open2.sqrt() * 0.5;
        for cell in &tree.cells {
            let edge = cube / (1_u64 << cell.level) as f64;
            for k in 0..3 {
                let along = tree.points[cell.particles()].iter().map(|p| p[k]);
                let extent =
                    along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min);
                assert!(extent <= edge * (1.0 + 1e-12));
            }
            assert!((cell.open2.sqrt() * 0.5 / edge - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn coincident_particles_end_on_the_last_level() {
        let mut particles: Vec<_> = (0..40)
            .map(|order| Particle {
                x: [if order < 30 { 0.25 } else { 1.0 }, 0.0, 0.0],
                mass: 1.0,
                order,
                ..Particle::default()
            })
            .collect();
        let mut tree = Tree::default();
        build(&mut tree, &mut particles, false);
        let deepest = tree.cells.iter().max_by_key(|c| c.level).unwrap();
        assert_eq!(usize::from(deepest.level), LEVELS);
        assert_eq!(tree.cells[0].mass, 40.0);
    }
}
