//! The cells and particles of other ranks that the walks of a rank reach: its locally essential tree.
//!
//! Each rank tells the others the boxes around its groups; if it has many groups, a box contains several. For each box
//! the other ranks send the contents of every cell that a group in the box could open: its child cells or, if it is a
//! leaf, its particles. A box around several groups opens more cells than the groups themselves do. These further cells
//! change no list.
//!
//! A message has the cells generation by generation, so that children stand side by side where they arrive.

use std::ops::Range;

use kirin_core::tree::walk::Bounds;
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::sample_sort::counts;
use rayon::prelude::*;

use crate::error::Error;
use crate::ranks::top::{Node, Nodes};
use crate::tree::{ABSENT, Cell, Tree};
use crate::walk::{self, FEW};

/// Boxes of a rank, about: as many cells of its tree have its particles.
const BOXES: usize = 128;

/// Numbers of a cell in a message, without quadrupoles.
const CELL: usize = 6;

/// Numbers of a quadrupole in a message.
const QUADRUPOLE: usize = 12;

/// The corner with the least coordinates, and the opposite one.
type Box = [[f64; 3]; 2];

/// Brings what the groups of this rank need; `nodes` are the branches of all ranks.
///
/// # Errors
///
/// A rank is lost.
pub fn exchange<C: Communicator>(
    world: &C,
    tree: &mut Tree,
    nodes: &Nodes,
    n_crit: usize,
) -> Result<(), Error> {
    let boxes = boxes(world, tree, n_crit)?;
    let me = world.rank();
    let of_rank = |(rank, boxes): (usize, &Vec<Box>)| match rank == me {
        true => Vec::new(),
        false => Message::for_boxes(tree, boxes),
    };
    let messages: Vec<Vec<u64>> = boxes.par_iter().enumerate().map(of_rank).collect();
    let sent: Vec<usize> = messages.iter().map(Vec::len).collect();
    let one_each = vec![1; world.size()];
    let lengths: Vec<u64> = sent.iter().map(|&length| length as u64).collect();
    let mut coming = Vec::new();
    world.all_to_all_v(&lengths, &one_each, &mut coming, &one_each)?;
    let coming: Vec<usize> = coming.into_iter().map(|length| length as usize).collect();
    let mut received = Vec::new();
    world.all_to_all_v(&messages.concat(), &sent, &mut received, &coming)?;
    let mut rest = &received[..];
    for (rank, length) in coming.into_iter().enumerate() {
        let (message, others) = rest.split_at(length);
        if rank != me {
            Reader { message }.add(tree, &nodes[rank]);
        }
        rest = others;
    }
    Ok(())
}

/// The boxes of all ranks.
fn boxes<C: Communicator>(world: &C, tree: &Tree, n_crit: usize) -> Result<Vec<Vec<Box>>, Error> {
    // Larger cells than groups: each has some groups as a whole.
    let n = tree.points.len();
    let (mut groups, mut stack) = (Vec::new(), Vec::new());
    walk::groups(tree, n_crit.max(n / BOXES), &mut groups, &mut stack);
    let own: Vec<f64> = groups
        .iter()
        .flat_map(|group| [group.bounds.least, group.bounds.most].concat())
        .collect();
    let lengths = counts(world, own.len())?;
    let mut received = Vec::new();
    world.all_gather_v(&own, &lengths, &mut received)?;
    let mut rest = &received[..];
    let of_rank = |length: usize| {
        let (corners, others) = rest.split_at(length);
        rest = others;
        let corners = corners.as_chunks::<6>().0.iter();
        corners
            .map(|c| [[c[0], c[1], c[2]], [c[3], c[4], c[5]]])
            .collect()
    };
    Ok(lengths.into_iter().map(of_rank).collect())
}

/// What one rank sends to another.
struct Message<'a> {
    tree: &'a Tree,
    boxes: &'a [Box],
    words: Vec<u64>,
    /// Cells whose children or particles are still to be written, and for each the range of its boxes in `openers`.
    open: Vec<(usize, Range<usize>)>,
    /// For one cell after the other the numbers of the boxes that open it.
    openers: Vec<usize>,
}

impl<'a> Message<'a> {
    fn for_boxes(tree: &'a Tree, boxes: &'a [Box]) -> Vec<u64> {
        let mut message = Self {
            tree,
            boxes,
            words: Vec::new(),
            open: Vec::new(),
            openers: (0..boxes.len()).collect(),
        };
        for branch in tree.branches() {
            let is_open = message.opens(branch, 0..boxes.len());
            message.words.push(u64::from(is_open));
        }
        let mut next = 0;
        while let Some((at, openers)) = message.open.get(next).cloned() {
            next += 1;
            message.write_inside(&tree.cells[at], openers);
        }
        message.words
    }

    /// Whether a walk may get to what is inside this cell; then it is noted. Walks come from `above`, the boxes that open
    /// the cell around it: the groups in other boxes accept that cell as a whole.
    fn opens(&mut self, at: usize, above: Range<usize>) -> bool {
        let cell = &self.tree.cells[at];
        let as_particles = self.tree.has_quadrupoles() && cell.count as usize <= FEW;
        let first = self.openers.len();
        for k in above {
            let number = self.openers[k];
            let [least, most] = self.boxes[number];
            let accepts = Bounds { least, most }.distance2(&cell.x) > cell.open2;
            if as_particles || !accepts {
                self.openers.push(number);
            }
        }
        let openers = first..self.openers.len();
        let is_open = !openers.is_empty();
        if is_open {
            self.open.push((at, openers));
        }
        is_open
    }

    fn write_inside(&mut self, cell: &Cell, openers: Range<usize>) {
        let tree = self.tree;
        if cell.children == 0 {
            let particles = &tree.points[cell.points()];
            let numbers = particles.iter().flatten().map(|c| c.to_bits());
            self.words.extend(numbers);
        }
        for at in cell.children() {
            let is_open = self.opens(at, openers.clone());
            let child = &tree.cells[at];
            self.words.extend([
                u64::from(child.first) << 32 | u64::from(child.count),
                u64::from(child.children) << 1 | u64::from(is_open),
            ]);
            self.words.extend(child.x.map(f64::to_bits));
            self.words.push(child.mass.to_bits());
            if let Some(pseudo) = tree.pseudo.get(at) {
                let numbers = pseudo.iter().flatten().map(|c| c.to_bits());
                self.words.extend(numbers);
            }
        }
    }
}

/// What another rank has sent.
struct Reader<'a> {
    message: &'a [u64],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u64; N] {
        let (numbers, rest) = self
            .message
            .split_first_chunk()
            .expect("the other rank has written them");
        self.message = rest;
        *numbers
    }

    /// Adds the cells and particles to `tree`, below the `branches`.
    fn add(&mut self, tree: &mut Tree, branches: &[Node]) {
        let mut open = Vec::new();
        for branch in branches {
            let [is_open] = self.take();
            if is_open > 0 {
                open.push((branch.at, branch.children));
            }
        }
        let mut next = 0;
        while let Some(&cell) = open.get(next) {
            next += 1;
            self.read_inside(tree, cell, &mut open);
        }
    }

    /// Reads the children or the particles of the cell at `at`, which has so many children where it comes from.
    fn read_inside(
        &mut self,
        tree: &mut Tree,
        (at, children): (usize, u8),
        open: &mut Vec<(usize, u8)>,
    ) {
        let Cell { count, level, .. } = tree.cells[at];
        if children == 0 {
            tree.cells[at].at = tree.points.len() as u32;
            for _ in 0..count {
                tree.points.push(self.take().map(f64::from_bits));
            }
            return;
        }
        tree.cells[at].child = tree.cells.len() as u32;
        tree.cells[at].children = children;
        for _ in 0..children {
            let [range, inside, x, y, z, mass] = self.take::<CELL>();
            if inside & 1 > 0 {
                open.push((tree.cells.len(), (inside >> 1) as u8));
            }
            tree.cells.push(Cell {
                x: [x, y, z].map(f64::from_bits),
                mass: f64::from_bits(mass),
                open2: tree.open2(level + 1),
                first: (range >> 32) as u32,
                count: range as u32,
                at: ABSENT,
                level: level + 1,
                ..Cell::default()
            });
            if tree.has_quadrupoles() {
                let numbers = self.take::<QUADRUPOLE>().map(f64::from_bits);
                let point = |k: usize| std::array::from_fn(|c| numbers[4 * k + c]);
                tree.pseudo.push([0, 1, 2].map(point));
            }
        }
    }
}
