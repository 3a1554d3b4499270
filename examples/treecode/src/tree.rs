//! The octree over particles in Morton order, level by level.
//!
//! A cell is a run of particles, and the cells of one level stand side by side with the children
//! of one cell next to each other. A level is divided by all threads at once, and so are the
//! moments, from the lowest level up.

use rayon::prelude::*;

use crate::error::Error;
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
    /// Its first particle.
    pub first: u32,
    /// Number of its particles.
    pub count: u32,
    /// Its first child; of a leaf, where the children of the next cell begin.
    pub child: u32,
    /// Number of its children; none where it is a leaf.
    pub children: u8,
    /// Divisions that lead from the root to it.
    level: u8,
}

impl Cell {
    /// Its particles.
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
    points: Vec<[f64; 4]>,
    cells: Vec<Cell>,
    /// Where each level begins among the cells, and where the last one ends.
    levels: Vec<usize>,
    second: Vec<Moments>,
    pseudo: Vec<Pseudo>,
}

impl Tree {
    /// Sorts `particles` and builds the tree over them, for the opening angle `theta`.
    ///
    /// # Errors
    ///
    /// A position is not finite.
    pub fn build(
        &mut self,
        particles: &mut Vec<Particle>,
        theta: f64,
        quadrupoles: bool,
    ) -> Result<(), Error> {
        self.cells.clear();
        self.levels.clear();
        self.pseudo.clear();
        if particles.is_empty() {
            return Ok(());
        }
        let cube = Cube::around(particles).ok_or_else(|| moments::not_finite(particles))?;
        self.sorter.sort(&cube, particles, &mut self.keys);
        particles
            .par_iter()
            .with_min_len(GRAIN)
            .map(|p| [p.x[0], p.x[1], p.x[2], p.mass])
            .collect_into_vec(&mut self.points);
        self.divide();
        self.find_moments(cube.size / theta, quadrupoles);
        Ok(())
    }

    /// Makes the cells.
    fn divide(&mut self) {
        let keys = &self.keys;
        self.cells.push(Cell {
            count: keys.len() as u32,
            ..Cell::default()
        });
        self.levels.push(0);
        for level in 0..=LEVELS {
            let (begin, end) = (self.levels[level], self.cells.len());
            self.levels.push(end);
            let parents = &mut self.cells[begin..];
            if level < LEVELS {
                parents
                    .par_iter_mut()
                    .with_min_len(GRAIN)
                    .for_each(|p| p.children = divisions(keys, p).count() as u8);
            }
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

    /// Finds masses and centres, from the lowest level up.
    fn find_moments(&mut self, opening: f64, quadrupoles: bool) {
        let points = &self.points;
        self.second.clear();
        self.second.resize(self.cells.len(), Moments::default());
        for level in (0..self.levels.len() - 1).rev() {
            let (begin, end) = (self.levels[level], self.levels[level + 1]);
            let (above, below) = self.cells.split_at_mut(end);
            let (second, second_below) = self.second.split_at_mut(end);
            let radius = opening / (1_u64 << level) as f64;
            above[begin..]
                .par_iter_mut()
                .zip(&mut second[begin..])
                .with_min_len(GRAIN)
                .for_each(|(cell, second)| {
                    let children = cell.children();
                    let children = children.start - end..children.end - end;
                    let below = &below[children.clone()];
                    if cell.children == 0 {
                        moments::of_points(cell, second, &points[cell.particles()]);
                    } else {
                        moments::of_cells(cell, second, below, &second_below[children]);
                    }
                    cell.open2 = radius * radius;
                });
        }
        if quadrupoles {
            self.cells
                .par_iter()
                .zip(&self.second)
                .with_min_len(GRAIN)
                .map(|(cell, second)| moments::pseudo_particles(cell, second))
                .collect_into_vec(&mut self.pseudo);
        }
    }

    /// The cells; the first is the root. None without particles.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Positions and masses of the particles, in Morton order.
    pub fn points(&self) -> &[[f64; 4]] {
        &self.points
    }

    /// What stands for each cell; empty where its centre of mass does.
    pub fn pseudo(&self) -> &[Pseudo] {
        &self.pseudo
    }
}

/// The runs of particles in the octants of `cell`, as first and count; none where it is a leaf.
fn divisions<'k>(keys: &'k [u64], cell: &Cell) -> impl Iterator<Item = (u32, u32)> + use<'k> {
    let mut at = cell.first;
    let end = if cell.count > LEAF {
        cell.first + cell.count
    } else {
        at
    };
    let shift = 3 * (LEVELS - 1 - usize::from(cell.level).min(LEVELS - 1));
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
        for ((first, count), child) in divisions(keys, parent).zip(&mut next) {
            *child = Cell {
                first,
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
    use kirin_kit::models;

    fn tree(n: usize) -> (Tree, Vec<Particle>) {
        let bodies = models::plummer(n, 1);
        let mut particles = (0..)
            .zip(&bodies)
            .map(|(k, b)| Particle::new(b, k))
            .collect();
        let mut tree = Tree::default();
        tree.build(&mut particles, 0.5, true).unwrap();
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
        tree.build(&mut particles, 0.5, false).unwrap();
        let deepest = tree.cells.iter().max_by_key(|c| c.level).unwrap();
        assert_eq!(usize::from(deepest.level), LEVELS);
        assert_eq!(tree.cells[0].mass, 40.0);
    }
}
