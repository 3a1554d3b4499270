//! The cells above the domains, which every rank has: the root, all other cells that hold particles of several ranks,
//! and the branches. A branch is a largest cell inside a domain.
//!
//! A domain begins between two groups. A cell that reaches over such a place has more particles than a group may have.
//! So the tree of a single rank divides it, too.

use std::ops::Range;

use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::sample_sort::counts;

use crate::error::Error;
use crate::morton::LEVELS;
use crate::tree::{ABSENT, Cell, Tree};
use kirin_core::tree::moments::{self, Moments};

/// Numbers of a branch in a message.
const WORDS: usize = 13;

/// The branch of a rank.
struct Branch {
    rank: usize,
    /// The key of its first particle.
    key: u64,
    cell: Cell,
    /// Number of its children on that rank.
    children: u8,
    second: Moments,
}

/// A branch among the cells above the domains.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its place among the cells.
    pub at: usize,
    /// Number of its children on its rank.
    pub children: u8,
}

/// The branches of each rank, in the order of the curve.
pub type Nodes = Vec<Vec<Node>>;

/// Adds the cells above the domains to the tree of this rank, and makes its root the root of all.
///
/// # Errors
///
/// A rank is lost.
pub fn join<C: Communicator>(world: &C, tree: &mut Tree) -> Result<Nodes, Error> {
    let branches = gather(world, tree)?;
    let mut nodes = vec![Vec::new(); world.size()];
    if branches.is_empty() {
        return Ok(nodes);
    }
    tree.root = tree.cells.len();
    add(tree, 0, &branches);
    // Cells before their children: the node at `at` stands for the branches in the range.
    let mut open = vec![(tree.root, 0..branches.len())];
    let mut next = 0;
    while let Some((at, range)) = open.get(next).cloned() {
        next += 1;
        let level = tree.cells[at].level;
        let branch = &branches[range.start];
        if range.len() == 1 && branch.cell.level == level {
            tree.cells[at] = branch.cell;
            tree.second[at] = branch.second;
            nodes[branch.rank].push(Node {
                at,
                children: branch.children,
            });
            continue;
        }
        let child = tree.cells.len();
        for part in octants(&branches, range, level) {
            open.push((tree.cells.len(), part.clone()));
            add(tree, level + 1, &branches[part]);
        }
        let children = tree.cells.len() - child;
        let cell = &mut tree.cells[at];
        (cell.child, cell.children) = (child as u32, children as u8);
    }
    // Those of one rank come in the order of the curve only within a level.
    for own in &mut nodes {
        own.sort_unstable_by_key(|node| tree.cells[node.at].first);
    }
    find_moments(tree);
    Ok(nodes)
}

/// Adds a cell of this level over `branches`.
fn add(tree: &mut Tree, level: u8, branches: &[Branch]) {
    tree.cells.push(Cell {
        first: branches[0].cell.first,
        count: branches.iter().map(|b| b.cell.count).sum(),
        at: ABSENT,
        open2: tree.open2(level),
        level,
        ..Cell::default()
    });
    tree.second.push(Moments::default());
}

/// The runs of branches in the octants of the cell of this level that has those in `range`.
fn octants(branches: &[Branch], range: Range<usize>, level: u8) -> Vec<Range<usize>> {
    let shift = 3 * (LEVELS - 1 - usize::from(level));
    let begin = range.start;
    let mut runs = Vec::new();
    let mut at = begin;
    for run in branches[range].chunk_by(|a, b| a.key >> shift == b.key >> shift) {
        runs.push(at..at + run.len());
        at += run.len();
    }
    runs
}

/// Masses and centres of what [`join`] has added, from the last cell up.
fn find_moments(tree: &mut Tree) {
    let root = tree.root;
    for at in (root..tree.cells.len()).rev() {
        let children = tree.cells[at].children();
        // A branch has its moments already, and its children, if they are here, stand before the root.
        if children.is_empty() || children.start < root {
            continue;
        }
        let range = children.start - at - 1..children.end - at - 1;
        let (above, below) = tree.cells.split_at_mut(at + 1);
        let (second, second_below) = tree.second.split_at_mut(at + 1);
        moments::of_cells(
            &mut above[at],
            &mut second[at],
            &below[range.clone()],
            &second_below[range],
        );
    }
    if tree.has_quadrupoles() {
        let added = tree.cells[root..].iter().zip(&tree.second[root..]);
        let pseudo = added.map(|(cell, second)| moments::pseudo_particles(cell, second));
        tree.pseudo.extend(pseudo);
    }
}

/// The branches of all ranks, in the order of the curve.
fn gather<C: Communicator>(world: &C, tree: &Tree) -> Result<Vec<Branch>, Error> {
    let mut send = Vec::new();
    for at in tree.branches() {
        let cell = &tree.cells[at];
        send.extend([
            tree.keys[cell.at as usize],
            u64::from(cell.first) << 32 | u64::from(cell.count),
            u64::from(cell.level) << 8 | u64::from(cell.children),
        ]);
        send.extend(cell.x.map(f64::to_bits));
        send.push(cell.mass.to_bits());
        send.extend(tree.second[at].map(f64::to_bits));
    }
    let lengths = counts(world, send.len())?;
    let mut received = Vec::new();
    world.all_gather_v(&send, &lengths, &mut received)?;
    let ranks = lengths
        .iter()
        .enumerate()
        .flat_map(|(rank, length)| std::iter::repeat_n(rank, length / WORDS));
    let mut own = tree.branches();
    let branches = ranks.zip(received.as_chunks::<WORDS>().0);
    let branch = |(rank, words): (usize, &[u64; WORDS])| {
        let [level, children] = [(words[2] >> 8) as u8, words[2] as u8];
        let mut cell = Cell {
            first: (words[1] >> 32) as u32,
            count: words[1] as u32,
            at: ABSENT,
            x: [words[3], words[4], words[5]].map(f64::from_bits),
            mass: f64::from_bits(words[6]),
            open2: tree.open2(level),
            level,
            ..Cell::default()
        };
        if rank == world.rank()
            && let Some(at) = own.next()
        {
            cell = tree.cells[at];
        }
        Branch {
            rank,
            key: words[0],
            cell,
            children,
            second: std::array::from_fn(|k| f64::from_bits(words[7 + k])),
        }
    };
    Ok(branches.map(branch).collect())
}
