//! The interaction list that serves all of a group of neighbouring particles.
//!
//! J. E. Barnes (1990): a cell is opened if this is necessary for the particle of the group that is nearest to the
//! cell. So the list is at least as accurate as a list for each particle.

use std::ops::Range;

use super::octree::Octree;
use crate::error::Result;
use crate::process::allocation;

/// Cells of up to this many particles are given as these, and not as a quadrupole.
pub const FEW: usize = 3;

/// What memory is for, in messages.
const PURPOSE: &str = "an interaction list";

/// The smallest box around a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Corner with the least coordinates.
    pub least: [f64; 3],
    /// The opposite corner.
    pub most: [f64; 3],
}

impl Bounds {
    /// The box around these positions.
    pub fn of(positions: impl Iterator<Item = [f64; 3]>) -> Self {
        let mut bounds = Self {
            least: [f64::INFINITY; 3],
            most: [f64::NEG_INFINITY; 3],
        };
        for x in positions {
            for ((least, most), x) in bounds.least.iter_mut().zip(&mut bounds.most).zip(x) {
                (*least, *most) = (least.min(x), most.max(x));
            }
        }
        bounds
    }

    /// Square of the distance of `x` from the box. Rounding keeps the order: a box inside another one is never nearer.
    #[inline]
    pub fn distance2(&self, x: &[f64; 3]) -> f64 {
        (0..3)
            .map(|k| (self.least[k] - x[k]).max(x[k] - self.most[k]).max(0.0))
            .map(|d| d * d)
            .sum()
    }
}

/// Which sources of the tree are targets of the group; they stand at the beginning of the group's list. A source is
/// named by its place in the order of the tree.
pub trait Own {
    /// Whether one of these sources is among them.
    fn any_of(&self, sources: Range<usize>) -> bool;

    /// Whether all of these sources are among them.
    fn all_of(&self, sources: Range<usize>) -> bool;
}

impl Own for Range<usize> {
    #[inline(always)]
    fn any_of(&self, sources: Range<usize>) -> bool {
        sources.start < self.end && self.start < sources.end
    }

    #[inline(always)]
    fn all_of(&self, sources: Range<usize>) -> bool {
        self.start <= sources.start && sources.end <= self.end
    }
}

/// In ascending order, each once.
impl Own for [u32] {
    fn any_of(&self, sources: Range<usize>) -> bool {
        let next = self.partition_point(|&own| (own as usize) < sources.start);
        self.get(next)
            .is_some_and(|&own| (own as usize) < sources.end)
    }

    fn all_of(&self, sources: Range<usize>) -> bool {
        let next = self.partition_point(|&own| (own as usize) < sources.start);
        let last = next + sources.len();
        last <= self.len()
            && self[next..last]
                .last()
                .is_none_or(|&own| own as usize == sources.end - 1)
    }
}

/// What acts on one group, and the memory for finding it.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// Positions and masses: first the group's own particles, in order, then everything else.
    pub points: Vec<[f64; 4]>,
    stack: Vec<u32>,
}

impl List {
    /// Adds to the list of a group within `bounds` everything that acts on it. The group's `own` particles are in
    /// the list already. `quadrupoles` says that the cells of the tree have quadrupole moments.
    ///
    /// # Errors
    ///
    /// There is no memory for the list, which is incomplete then.
    pub fn find<O: Own + ?Sized>(
        &mut self,
        (tree, quadrupoles): (&Octree, bool),
        bounds: &Bounds,
        own: &O,
    ) -> Result<()> {
        let pseudo = if quadrupoles { &tree.pseudo[..] } else { &[] };
        let Self { points, stack } = self;
        let (cells, everybody) = (&tree.cells, &tree.points);
        // A walk that failed has left cells behind.
        stack.clear();
        if cells.is_empty() {
            return Ok(());
        }
        allocation::push(stack, tree.root as u32, PURPOSE)?;
        while let Some(at) = stack.pop() {
            let cell = &cells[at as usize];
            let theirs = cell.particles();
            let apart = !own.any_of(theirs.clone());
            if !apart && own.all_of(theirs.clone()) {
                continue;
            }
            if apart && bounds.distance2(&cell.x) > cell.open2 {
                match pseudo.get(at as usize) {
                    // Three points for up to three particles: the particles themselves are better.
                    Some(_) if theirs.len() <= FEW => {
                        append(points, &everybody[cell.points()])?;
                    }
                    Some(pseudo) => append(points, pseudo)?,
                    None => append(points, &[[cell.x[0], cell.x[1], cell.x[2], cell.mass]])?,
                }
            } else if cell.children > 0 {
                allocation::reserve(stack, cell.children().len(), PURPOSE)?;
                stack.extend(cell.children().map(|c| c as u32));
            } else if apart {
                append(points, &everybody[cell.points()])?;
            } else {
                // Some of the group are in this leaf.
                allocation::reserve(points, theirs.len(), PURPOSE)?;
                let others = theirs.zip(&everybody[cell.points()]);
                let others = others.filter(|(source, _)| !own.any_of(*source..*source + 1));
                points.extend(others.map(|(_, point)| point));
            }
        }
        Ok(())
    }
}

/// Appends points to a list.
#[inline]
fn append(points: &mut Vec<[f64; 4]>, more: &[[f64; 4]]) -> Result<()> {
    allocation::reserve(points, more.len(), PURPOSE)?;
    points.extend_from_slice(more);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn own_sources_are_found_in_runs() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let mut own: Vec<u32> = (0..random.below(12)).map(|_| random.below(30)).collect();
            own.sort_unstable();
            own.dedup();
            for start in 0..30_usize {
                for end in start + 1..31 {
                    let holds = |source: usize| own.contains(&(source as u32));
                    assert_eq!(own[..].any_of(start..end), (start..end).any(holds));
                    assert_eq!(own[..].all_of(start..end), (start..end).all(holds));
                }
            }
        }
        let run = 3..7_usize;
        assert!(run.any_of(6..9) && !run.any_of(7..9) && !run.any_of(0..3));
        assert!(run.all_of(3..7) && !run.all_of(2..7) && !run.all_of(6..8));
    }

    #[test]
    fn a_box_is_as_near_as_its_nearest_face() {
        let bounds = Bounds::of([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]].into_iter());
        assert_eq!(bounds.distance2(&[0.5, 1.0, 2.0]), 0.0);
        assert_eq!(bounds.distance2(&[-2.0, 1.0, 4.0]), 5.0);
    }
}
