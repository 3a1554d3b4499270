//! The blocks of a run as a file: how many active particles each page of addresses had.
//!
//! These numbers give the lengths of the lists on any grid; where columns share a page, its active particles are divided
//! like the page. The file is text:
//!
//! ```text
//! kirin-blocks 1
//! n 65536
//! 3:1 17:2 127:1
//! 0:9 1:7 ...
//! ```
//!
//! The recording of a run that began before has the number of its earlier blocks behind that of its particles: `n 65536 1000`.
//! Each further line is a block, with `page:count` for each page that has active particles. A last line without its end
//! is that of a run that was killed, and is ignored.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kirin_kit::command::{named, tell};
use kirin_kit::communicator::Communicator;

use crate::columns::{Columns, PAGE, Piece};
use crate::error::Error;

/// First line of the file.
const MAGIC: &str = "kirin-blocks 1";

/// The blocks of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Number of particles.
    pub n: usize,
    /// For each block the pages that have active particles, and how many.
    pub blocks: Vec<Vec<(usize, usize)>>,
}

impl Recording {
    /// The recording in the file at `path`.
    ///
    /// # Errors
    ///
    /// It cannot be read, or holds no blocks; in words.
    pub fn load(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(named(path))?;
        Self::read(BufReader::new(file)).map_err(named(path))
    }

    fn read(text: impl BufRead) -> Result<Self, String> {
        let mut lines = Lines(text);
        let mut next = || lines.next().map_err(|e| e.to_string());
        if next()?.as_deref() != Some(MAGIC) {
            return Err(format!("recorded blocks begin with the line `{MAGIC}`"));
        }
        let head = next()?.unwrap_or_default();
        let (n, _) = counts(&head).ok_or_else(|| format!("`{head}`: not a number of particles"))?;
        let mut blocks = Vec::new();
        while let Some(line) = next()? {
            let block = block(&line, n);
            blocks.push(block.ok_or_else(|| format!("block {}: `{line}`", blocks.len() + 1))?);
        }
        match blocks.is_empty() {
            true => Err("no blocks were recorded".to_owned()),
            false => Ok(Self { n, blocks }),
        }
    }

    /// The first `blocks` blocks are left out: those of the start, in which many particles have their first small step.
    ///
    /// # Errors
    ///
    /// There are no others; in words.
    pub fn without_first(mut self, blocks: usize) -> Result<Self, String> {
        if blocks >= self.blocks.len() {
            let all = self.blocks.len();
            return Err(format!("only {all} blocks were recorded"));
        }
        self.blocks.drain(..blocks);
        Ok(self)
    }

    /// Mean number of particles in a block, N_b.
    pub fn mean(&self) -> f64 {
        let steps: usize = self.blocks.iter().flatten().map(|(_, count)| count).sum();
        steps as f64 / self.blocks.len() as f64
    }

    /// For each block the lengths of the active lists of so many columns.
    pub fn lengths(&self, columns: usize) -> impl Iterator<Item = Vec<usize>> {
        let divided = Columns::new(self.n, columns);
        // For each page the columns that have it.
        let mut of_pages: Vec<Vec<(usize, Piece)>> = vec![Vec::new(); self.n.div_ceil(PAGE)];
        for column in 0..columns {
            for piece in divided.pieces(column) {
                for page in piece.pages() {
                    of_pages[page].push((column, piece.clone()));
                }
            }
        }
        self.blocks.iter().map(move |block| {
            let mut lengths = vec![0; columns];
            for (page, count) in block {
                for (column, piece) in &of_pages[*page] {
                    lengths[*column] += piece.targets(*count).len();
                }
            }
            lengths
        })
    }
}

/// The lines of a file that have an end.
struct Lines<R>(R);

impl<R: BufRead> Lines<R> {
    /// The next line without its end; `None` behind the last one.
    fn next(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(line.strip_suffix('\n').map(str::to_owned))
    }
}

/// The second line of the file: the number of particles, and of the blocks before the recording.
fn counts(line: &str) -> Option<(usize, u64)> {
    let mut words = line.strip_prefix("n ")?.split(' ');
    let n: usize = words.next()?.parse().ok()?;
    let before = words.next().map_or(Some(0), |word| word.parse().ok())?;
    let is_sensible = n > 0 && i32::try_from(n).is_ok() && words.next().is_none();
    is_sensible.then_some((n, before))
}

/// Opens the recording at `path` of a run of `n` particles that goes on after so many `blocks`, behind these: later blocks
/// were those of a run that was killed, and come again. `None` if there is no recording, or only of later blocks.
fn continued(path: &Path, n: usize, blocks: u64) -> Result<Option<File>, String> {
    let Ok(file) = File::open(path) else {
        return Ok(None);
    };
    let mut lines = Lines(BufReader::new(file));
    let (mut end, mut count, mut before) = (0, 0, 0);
    while count < (blocks - before).saturating_add(2)
        && let Some(line) = lines.next().map_err(named(path))?
    {
        if count == 1 {
            before = match counts(&line) {
                Some((found, before)) if found == n => before,
                _ => {
                    return Err(named(path)(format!(
                        "these are blocks of another run: `{line}`, not {n}"
                    )));
                }
            };
            if before > blocks {
                return Ok(None);
            }
        }
        (end, count) = (end + line.len() as u64 + 1, count + 1);
    }
    if count < 2 {
        return Ok(None);
    }
    let mut file = File::options()
        .write(true)
        .open(path)
        .map_err(named(path))?;
    file.set_len(end).map_err(named(path))?;
    file.seek(SeekFrom::End(0)).map_err(named(path))?;
    Ok(Some(file))
}

/// A line of the file; `None` where it is not a block of `n` particles.
fn block(line: &str, n: usize) -> Option<Vec<(usize, usize)>> {
    let parse = |word: &str| {
        let (page, count) = word.split_once(':')?;
        let (page, count): (usize, usize) = (page.parse().ok()?, count.parse().ok()?);
        let room = n.saturating_sub(page.checked_mul(PAGE)?).min(PAGE);
        (1..=room).contains(&count).then_some((page, count))
    };
    let block: Vec<_> = line.split_whitespace().map(parse).collect::<Option<_>>()?;
    let is_sorted = block.is_sorted_by(|a, b| a.0 < b.0);
    (is_sorted && !block.is_empty()).then_some(block)
}

/// Records the blocks of a run that is under way.
pub struct Recorder {
    /// On rank 0 the file. It has no buffer here: a run that is killed loses no block.
    file: Option<(PathBuf, File)>,
    counts: Vec<usize>,
    all: Vec<f64>,
}

impl Recorder {
    /// Begins a file for `n` particles at `path`, on the rank that is `first`. If the run goes on after so many `blocks`,
    /// a recording that is there goes on, too.
    ///
    /// # Errors
    ///
    /// It cannot be written; a file is there that is no recording, or one of another number of particles.
    pub fn begin(path: &Path, n: usize, blocks: u64, first: bool) -> Result<Self, Error> {
        let mut new = Self {
            file: None,
            counts: Vec::new(),
            all: Vec::new(),
        };
        if first {
            if !may_replace(path) {
                let name = path.display();
                let what = format!("{name} is no recording of blocks, and is not replaced");
                return Err(Error::Refused(what));
            }
            let before = match blocks {
                0 => None,
                _ => continued(path, n, blocks).map_err(Error::Refused)?,
            };
            let is_new = before.is_none();
            let file = match before {
                Some(file) => file,
                None => File::create(path).map_err(|e| Error::Refused(named(path)(e)))?,
            };
            new.file = Some((path.to_owned(), file));
            if is_new {
                let before = match blocks {
                    0 => String::new(),
                    blocks => format!(" {blocks}"),
                };
                new.write(&format!("{MAGIC}\nn {n}{before}\n"))?;
            }
        }
        Ok(new)
    }

    /// Records a block with the active particles at these `addresses` of this rank's column. All ranks of the first row call it.
    /// If the file cannot be written, the recording ends, and a line on stderr says so: other ranks know nothing of it.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn add<C: Communicator>(
        &mut self,
        row: &C,
        columns: &Columns,
        addresses: impl Iterator<Item = usize>,
    ) -> Result<(), Error> {
        let mine = columns.pages(row.rank());
        let mut counts = vec![0.0; mine.len()];
        addresses.for_each(|address| counts[address / PAGE - mine.start] += 1.0);
        self.counts.clear();
        let lengths = (0..row.size()).map(|c| columns.pages(c).len());
        self.counts.extend(lengths);
        row.gather_v(0, &counts, &self.counts, &mut self.all)?;
        if self.file.is_none() {
            return Ok(());
        }
        // Columns may share a page.
        let mut of_pages = vec![0.0; columns.pages(row.size() - 1).end];
        let pages = (0..row.size()).flat_map(|c| columns.pages(c));
        pages
            .zip(&self.all)
            .for_each(|(page, count)| of_pages[page] += count);
        let pages = of_pages
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0.0);
        let words: Vec<String> = pages
            .map(|(page, count)| format!("{page}:{count}"))
            .collect();
        if let Err(why) = self.write(&(words.join(" ") + "\n")) {
            tell(&format!(
                "parallel: {why}; the run goes on without the recording"
            ));
            self.file = None;
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        match &mut self.file {
            Some((path, file)) => file
                .write_all(text.as_bytes())
                .map_err(|e| Error::Refused(named(path)(e))),
            None => Ok(()),
        }
    }
}

/// Whether there is no file at `path`, or one without content, or a recording.
fn may_replace(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(path).map(|file| {
        let _ = file.take(MAGIC.len() as u64).read_to_end(&mut begin);
    });
    read.is_err() || begin.is_empty() || begin == MAGIC.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Recording, String> {
        Recording::read(text.as_bytes())
    }

    #[test]
    fn lists_of_any_number_of_columns() {
        let recording = read("kirin-blocks 1\nn 2000\n0:3 2:1\n3:464\n1:2 2:1 3:1\n").unwrap();
        assert_eq!((recording.n, recording.blocks.len()), (2000, 3));
        assert_eq!(recording.mean(), 472.0 / 3.0);
        let lengths = |columns| recording.lengths(columns).collect::<Vec<_>>();
        assert_eq!(lengths(1), [[4], [464], [4]]);
        assert_eq!(lengths(2), [[3, 1], [0, 464], [2, 2]]);
        assert_eq!(lengths(3), [[3, 0, 1], [0, 0, 464], [0, 2, 2]]);
        let later = recording.clone().without_first(2).unwrap();
        assert_eq!(later.blocks, [[(1, 2), (2, 1), (3, 1)]]);
        assert!(recording.without_first(3).is_err());
    }

    /// A run that is killed loses none of its blocks.
    #[test]
    fn each_block_is_in_the_file_at_once() {
        let folder = kirin_testing::Folder::new("at-once");
        let path = folder.file("run.blocks");
        let mut recorder = Recorder::begin(path.as_ref(), 600, 0, true).unwrap();
        let row = kirin_kit::communicator::threads::Threads::alone();
        let columns = Columns::new(600, 1);
        for block in [&[0, 599, 1][..], &[513]] {
            recorder.add(&row, &columns, block.iter().copied()).unwrap();
        }
        assert_eq!(
            folder.text("run.blocks"),
            "kirin-blocks 1\nn 600\n0:2 1:1\n1:1\n"
        );
    }

    /// A recording that began in the middle of a run, which was killed, goes on from the state's block.
    #[test]
    fn later_recordings_go_on_from_their_block() {
        let folder = kirin_testing::Folder::new("later");
        let path = folder.file("run.blocks");
        let row = kirin_kit::communicator::threads::Threads::alone();
        let columns = Columns::new(600, 1);
        let record = |blocks: u64, new: &[usize]| {
            let mut recorder = Recorder::begin(path.as_ref(), 600, blocks, true).unwrap();
            for address in new {
                recorder
                    .add(&row, &columns, std::iter::once(*address))
                    .unwrap();
            }
            folder.text("run.blocks")
        };
        assert_eq!(
            record(1000, &[0, 513, 0]),
            "kirin-blocks 1\nn 600 1000\n0:1\n1:1\n0:1\n"
        );
        // The state was that after two of them.
        assert_eq!(
            record(1002, &[513]),
            "kirin-blocks 1\nn 600 1000\n0:1\n1:1\n1:1\n"
        );
        assert_eq!(Recording::load(path.as_ref()).unwrap().blocks.len(), 3);
        // One of before all of them.
        assert_eq!(record(7, &[513]), "kirin-blocks 1\nn 600 7\n1:1\n");
    }

    #[test]
    fn other_files_are_refused_by_line() {
        for (text, words) in [
            ("", "begin with"),
            ("# a snapshot\n", "begin with"),
            ("kirin-blocks 1\n", "not a number"),
            ("kirin-blocks 1\nn 0\n", "not a number"),
            ("kirin-blocks 1\nn 99999999999\n", "not a number"),
            ("kirin-blocks 1\nn 600\n", "no blocks"),
            ("kirin-blocks 1\nn 600\n0:1\n\n", "block 2"),
            ("kirin-blocks 1\nn 600\n2:1\n", "block 1"),
            ("kirin-blocks 1\nn 600\n1:89\n", "block 1"),
            ("kirin-blocks 1\nn 600\n0:0\n", "block 1"),
            ("kirin-blocks 1\nn 600\n1:1 0:1\n", "block 1"),
            ("kirin-blocks 1\nn 600\n0:1 0:1\n", "block 1"),
            ("kirin-blocks 1\nn 600\n99999999999999999:1\n", "block 1"),
        ] {
            let refusal = read(text).unwrap_err();
            assert!(refusal.contains(words), "{text}: {refusal}");
        }
        assert!(read("kirin-blocks 1\nn 600\n1:88\n").is_ok());
        let cut = read("kirin-blocks 1\nn 600\n1:88\n0:").unwrap();
        assert_eq!(cut.blocks, [[(1, 88)]]);
    }
}
