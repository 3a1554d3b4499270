//! Tables 7.1, 7.2 and 7.4 of the chapter: which thread computes which pair, and what the processes send. The
//! solvers themselves produce the tables: in place of a force they compute the name of its pair. Two claims of the text on
//! storage and on loads from global memory stand behind them, with what is counted here.

use kirin_kit::communicator::{Communicator, threads};
use kirin_report::text::MarkdownTable;

use crate::distribution::Distribution;
use crate::nbody::reduced_threads::{first_phase, second_phase};
use crate::nbody::ring::{CYCLIC, Moment, RingEvent, ring_pass};
use crate::physics::{Law, Vect};
use crate::storage;

/// Particles of the largest table.
const MOST: usize = 6;
/// Components of a force that tells of which pairs it is a sum: one for each q and k.
pub const NAMES: usize = MOST * MOST;
/// A sum of named forces: how often each is in it.
pub type Names = [f64; NAMES];

/// The force whose name is its pair.
pub struct Named;

impl Law<NAMES> for Named {
    fn force(&self, q: usize, k: usize, _: &Vect, _: &Vect) -> Names {
        let mut name = [0.0; NAMES];
        name[q * MOST + k] = 1.0;
        name
    }
}

/// A sum as the chapter writes it: `-f01 + f12 + f13`, or 0.
pub fn words(sum: &Names) -> String {
    let mut text = String::new();
    for (place, &count) in sum.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        let sign = match (text.is_empty(), count > 0.0) {
            (true, true) => "",
            (true, false) => "-",
            (false, true) => " + ",
            (false, false) => " - ",
        };
        let times = if count.abs() == 1.0 {
            String::new()
        } else {
            format!("{} ", count.abs())
        };
        text += &format!("{sign}{times}f{}{}", place / MOST, place % MOST);
    }
    if text.is_empty() {
        "0".to_owned()
    } else {
        text
    }
}

/// Tables 7.1 and 7.2: for each of 6 particles the thread that owns it, and what each of 3 threads adds to the
/// force on it in the first phase.
pub fn first_phase_table(distribution: Distribution) -> Vec<(usize, Vec<String>)> {
    let (threads, n) = (3, 6);
    let array = |rank| {
        let mut forces = vec![[0.0; NAMES]; n];
        let mine = distribution.of(rank, threads, n);
        first_phase(&Named, mine, |_| [0.0; 2], &mut forces);
        forces
    };
    let arrays: Vec<Vec<Names>> = (0..threads).map(array).collect();
    let owner = |q| (0..threads).find(|&r| distribution.of(r, threads, n).any(|p| p == q));
    let row = |q| {
        let cells = arrays.iter().map(|forces| words(&forces[q])).collect();
        (owner(q).expect("everybody has an owner"), cells)
    };
    (0..n).map(row).collect()
}

/// What the second phase makes of the first: the whole force on each particle.
pub fn second_phase_sums(distribution: Distribution) -> Vec<String> {
    let (threads, n) = (3, 6);
    let mut arrays = vec![vec![[0.0; NAMES]; n]; threads];
    for (rank, forces) in arrays.iter_mut().enumerate() {
        first_phase(
            &Named,
            distribution.of(rank, threads, n),
            |_| [0.0; 2],
            forces,
        );
    }
    let arrays: Vec<&Vec<Names>> = arrays.iter().collect();
    (0..n).map(|q| words(&second_phase(&arrays, q))).collect()
}

/// The arrays of a process in a ring pass, in the order of Table 7.4.
pub const ARRAYS: [&str; 4] = ["loc_pos", "loc_forces", "tmp_pos", "tmp_forces"];

/// A moment of the ring pass of Table 7.4, and what each process has in each of the [`ARRAYS`] then.
pub type RingRow = (String, [[String; 4]; 2]);

/// Table 7.4: the ring pass of 2 processes with 4 particles.
pub fn ring_table() -> Vec<RingRow> {
    let n = 4;
    let columns = threads::run(2, |world| {
        let mine = CYCLIC.of(world.rank(), world.size(), n);
        // A position that tells whose it is.
        let loc_pos: Vec<Vect> = mine.map(|q| [q as f64, 0.0]).collect();
        let mut moments = Vec::new();
        ring_pass(&world, &Named, n, &loc_pos, |moment| {
            moments.push(cells(&moment))
        })?;
        Ok::<_, kirin_kit::communicator::CommunicationError>(moments)
    });
    let [first, second] = columns
        .expect("no rank is lost")
        .try_into()
        .expect("there are two");
    let join = |((when, a), (_, b)): ((String, _), (String, _))| (when, [a, b]);
    first.into_iter().zip(second).map(join).collect()
}

/// One process's cells of a moment.
fn cells(moment: &Moment<'_, NAMES>) -> (String, [String; 4]) {
    let when = match moment.after {
        RingEvent::Start => "start".to_owned(),
        RingEvent::Computation => "after computation of forces".to_owned(),
        RingEvent::Communication => format!("after communication {}", moment.phase),
    };
    let positions = |all: &[Vect]| {
        all.iter()
            .map(|s| format!("s{}", s[0]))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let forces = |all: &[Names]| all.iter().map(words).collect::<Vec<_>>().join(", ");
    (
        when,
        [
            positions(moment.loc_pos),
            forces(moment.loc_forces),
            positions(moment.tmp_pos),
            forces(moment.tmp_forces),
        ],
    )
}

/// Storage of a process or thread, in doubles divided by the number of particles.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    /// As the chapter has it.
    pub chapter: f64,
    /// As the solver here allocates it.
    pub counted: f64,
}

/// The claims of section 7.1.11 for so many workers.
#[derive(Clone, Copy, Debug)]
pub struct StorageRow {
    /// Processes or threads.
    pub workers: usize,
    /// A process of the reduced solver, beside its positions and velocities.
    pub rank: Storage,
    /// A thread of it, likewise.
    pub thread: Storage,
    /// What a process of the basic solver needs beside masses and its own positions, velocities and forces.
    pub basic: Storage,
    /// The same for the reduced solver.
    pub reduced: Storage,
}

/// The rows of Table 7.5's numbers of workers from two on; `None` if the program does not count its memory.
pub fn storage_rows() -> Option<Vec<StorageRow>> {
    let row = |workers: usize| {
        let p = workers as f64;
        // Positions and velocities; masses and forces too.
        let (own, own_and_masses) = (4.0 / p, 1.0 + 6.0 / p);
        let [basic, reduced] =
            [false, true].map(|is_reduced| storage::of_a_rank(is_reduced, workers));
        let of = |chapter, counted: Option<f64>, without: f64| {
            let counted = counted? - without;
            Some(Storage { chapter, counted })
        };
        Some(StorageRow {
            workers,
            rank: of(1.0 + 4.0 / p, reduced, own)?,
            thread: of(2.0 + 3.0 / p, storage::of_a_thread(workers), own)?,
            basic: of(2.0, basic, own_and_masses)?,
            reduced: of(4.0 / p, reduced, own_and_masses)?,
        })
    };
    [2, 4, 8, 16].map(row).into_iter().collect()
}

/// Words that all threads of a GPU load from global memory in the loops over the particles of a time step (section 7.1.16): in
/// the basic solver, and in that with shared memory. A position is two words, a mass one. A test counts them in the kernels.
pub fn words_loaded(n: u64, block: u64) -> [u64; 2] {
    [3 * n * (n - 1), 3 * n * n.div_ceil(block)]
}

fn storage_markdown() -> String {
    let Some(rows) = storage_rows() else {
        return "Storage: this program does not count its memory\n".to_owned();
    };
    let show = |x: f64| format!("{x:.2}");
    let mut beside = MarkdownTable::new([
        "workers",
        "process: chapter, 1 + 4/p",
        "here",
        "thread: chapter, 2 + 3/p",
        "here",
        "thread - process: chapter",
        "here",
    ]);
    let mut extra = MarkdownTable::new([
        "processes",
        "basic: chapter, 2",
        "here",
        "reduced: chapter, 4/p",
        "here",
        "basic over reduced: chapter, p/2",
        "here",
    ]);
    let pairs = |[a, b]: [Storage; 2], join: fn(f64, f64) -> f64| {
        let last = [join(a.chapter, b.chapter), join(a.counted, b.counted)];
        [a.chapter, a.counted, b.chapter, b.counted, last[0], last[1]].map(show)
    };
    for row in rows {
        let line = |cells: [String; 6]| [vec![row.workers.to_string()], cells.to_vec()].concat();
        let apart = pairs([row.rank, row.thread], |rank, thread| thread - rank);
        beside.row(line(apart));
        extra.row(line(pairs([row.basic, row.reduced], |basic, reduced| {
            basic / reduced
        })));
    }
    format!(
        "Storage of the reduced solvers for n particles on p workers (section 7.1.11): doubles a process or a thread beside positions and \
         velocities, divided by n. Here the largest amount at a time is counted. The chapter leaves out the forces of a process, 2/p; and here \
         a message that arrives has its own 4/p beside the one that leaves.\n\n{beside}\n\
         Storage of the solvers with message passing beside masses and a process's own positions, velocities and forces, divided by n\n\n{extra}"
    )
}

fn loads_markdown() -> String {
    let mut table = MarkdownTable::new([
        "threads a block",
        "basic",
        "shared memory",
        "basic over shared memory: chapter",
        "here",
    ]);
    let n = 1 << 15;
    for block in [32, 64, 128, 256, 512, 1024] {
        let [basic, shared] = words_loaded(n, block);
        table.row(vec![
            block.to_string(),
            basic.to_string(),
            shared.to_string(),
            block.to_string(),
            format!("{:.2}", basic as f64 / shared as f64),
        ]);
    }
    format!(
        "Words that a GPU loads from global memory in the loops of a time step (section 7.1.16), {n} particles\n\n{table}"
    )
}

/// All tables as Markdown.
pub fn markdown() -> String {
    let mut text = String::new();
    for (number, name, distribution) in [
        ("7.1", "block", Distribution::Block),
        ("7.2", "cyclic", Distribution::Cyclic),
    ] {
        let mut table =
            MarkdownTable::new(["owner", "particle", "thread 0", "thread 1", "thread 2"]);
        for (q, (owner, cells)) in first_phase_table(distribution).into_iter().enumerate() {
            table.row([vec![owner.to_string(), q.to_string()], cells].concat());
        }
        text += &format!(
            "Table {number}: first phase of the reduced solver, {name} distribution\n\n{table}\n"
        );
    }
    let mut table = MarkdownTable::new(["time", "variable", "process 0", "process 1"]);
    for (when, [first, second]) in ring_table() {
        for (array, (a, b)) in ARRAYS.into_iter().zip(first.into_iter().zip(second)) {
            table.row(vec![when.clone(), array.to_owned(), a, b]);
        }
    }
    text += &format!("Table 7.4: forces in a ring pass, 4 particles on 2 processes\n\n{table}");
    [text, storage_markdown(), loads_markdown()].join("\n")
}
