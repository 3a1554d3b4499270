//! Whether all ranks compute the same: facts compared before a run, and values watched during it.

use std::fmt::Write as _;
use std::sync::OnceLock;

use super::{Communicator, Result};

/// Longest text of a fact that is passed on for a message, in bytes.
const SHOWN: usize = 160;
/// Most ranks that a message names one by one.
const NAMED: usize = 8;

/// Something that must be equal on all ranks: its name, and its value as a text.
pub type Fact = (&'static str, String);

/// Compares the `facts` of all ranks. Every rank has facts of the same names. Returns `None` if they agree, else a
/// text that is the same on every rank: which facts differ, and which ranks have which value.
///
/// # Errors
///
/// A rank is lost.
pub fn compare<C: Communicator>(world: &C, facts: &[Fact]) -> Result<Option<String>> {
    let mine: Vec<u64> = facts.iter().map(|(_, value)| fingerprint(value)).collect();
    let mut all = Vec::new();
    world.all_gather(&mine, &mut all)?;
    let mut words = Vec::new();
    for (k, (name, value)) in facts.iter().enumerate() {
        let of_rank: Vec<u64> = all.chunks_exact(facts.len()).map(|r| r[k]).collect();
        let groups = groups(&of_rank);
        if groups.len() == 1 {
            continue;
        }
        let mut line = format!("{name}:");
        for (g, ranks) in groups.iter().enumerate() {
            let shown = told_by(world, ranks[0], value)?;
            let comma = if g == 0 { "" } else { ";" };
            let _ = write!(line, "{comma} `{shown}` on {}", named(ranks));
        }
        words.push(line);
    }
    Ok((!words.is_empty()).then(|| format!("the ranks differ in {}", words.join(", in "))))
}

/// What every program compares before its ranks begin: the program's file and the command line.
pub fn of_process() -> Vec<Fact> {
    let arguments = std::env::args_os().skip(1);
    let arguments: Vec<String> = arguments
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    vec![
        ("the program", program().to_owned()),
        ("the command line", arguments.join(" ")),
    ]
}

/// Version and checksum of the running program.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let file = std::env::current_exe().and_then(std::fs::read);
        let sum = file.map_or_else(
            |e| e.to_string(),
            |bytes| {
                format!(
                    "{} bytes, CRC-32 {:08x}",
                    bytes.len(),
                    crc32fast::hash(&bytes)
                )
            },
        );
        format!("version {}, {sum}", env!("CARGO_PKG_VERSION"))
    })
}

/// Watches something that every rank has, such as the name of its backend, for changes.
pub struct Watch {
    last: String,
}

impl Watch {
    /// Watches what is `now`.
    pub fn new(now: String) -> Self {
        Self { last: now }
    }

    /// The ranks on which it has changed since the last look, and what it is there now: the same on every rank.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn changed<C: Communicator>(
        &mut self,
        world: &C,
        now: String,
    ) -> Result<Vec<(usize, String)>> {
        let mut flags = Vec::new();
        world.all_gather(&[u8::from(self.last != now)], &mut flags)?;
        self.last = now;
        let changed = (0..flags.len()).filter(|&r| flags[r] > 0);
        changed
            .map(|r| Ok((r, told_by(world, r, &self.last)?)))
            .collect()
    }
}

/// Two texts have the same number if they are equal, and else with a probability below 1e-9.
fn fingerprint(text: &str) -> u64 {
    u64::from(crc32fast::hash(text.as_bytes())) | (text.len() as u64) << 32
}

/// The ranks by their number, in the order of the first of each group.
fn groups(of_rank: &[u64]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (rank, number) in of_rank.iter().enumerate() {
        match groups.iter_mut().find(|g| of_rank[g[0]] == *number) {
            Some(group) => group.push(rank),
            None => groups.push(vec![rank]),
        }
    }
    groups
}

/// The beginning of the `text` of rank `root`, on all ranks.
fn told_by<C: Communicator>(world: &C, root: usize, text: &str) -> Result<String> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(SHOWN, 0);
    world.broadcast(root, &mut bytes)?;
    bytes.truncate(bytes.iter().position(|b| *b == 0).unwrap_or(SHOWN));
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ranks, for people.
fn named(ranks: &[usize]) -> String {
    let shown: Vec<String> = ranks.iter().take(NAMED).map(ToString::to_string).collect();
    let more = ranks.len().saturating_sub(NAMED);
    match (ranks.len(), more) {
        (1, _) => format!("rank {}", shown[0]),
        (_, 0) => format!("ranks {}", shown.join(", ")),
        _ => format!("ranks {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::{CommunicationError, threads};

    #[test]
    fn ranks_that_differ_are_named_on_all_ranks() {
        let told = threads::run(4, |world| {
            let eps = if world.rank() == 2 {
                "--eps 1"
            } else {
                "--eps 0"
            };
            let long = "x".repeat(1000);
            let facts = [("a", "same".to_owned()), ("b", eps.to_owned()), ("c", long)];
            compare(&world, &facts)
        });
        let expected = "the ranks differ in b: `--eps 0` on ranks 0, 1, 3; `--eps 1` on rank 2";
        for told in told.unwrap() {
            assert_eq!(told.as_deref(), Some(expected));
        }
    }

    #[test]
    fn equal_ranks_have_nothing_to_say() {
        let told = threads::run(3, |world| compare(&world, &of_process())).unwrap();
        assert_eq!(told, [None, None, None]);
    }

    #[test]
    fn many_ranks_are_counted() {
        let told = threads::run(12, |world| {
            let value = if world.rank() == 3 { "cpu" } else { "gpu" };
            compare(&world, &[("the backend", value.to_owned())])
        });
        let told = told.unwrap()[0].clone().unwrap();
        assert!(
            told.contains("ranks 0, 1, 2, 4, 5, 6, 7, 8 and 3 more"),
            "{told}"
        );
        assert!(told.ends_with("`cpu` on rank 3"), "{told}");
    }

    #[test]
    fn a_rank_that_changes_is_named_once() {
        let all = threads::run(3, |world| {
            let mut watch = Watch::new("gpu".to_owned());
            let mut seen = Vec::new();
            for turn in 0..4 {
                let lost = world.rank() == 1 && turn >= 2;
                let now = if lost { "cpu" } else { "gpu" };
                seen.push(watch.changed(&world, now.to_owned())?);
            }
            Ok::<_, CommunicationError>(seen)
        });
        for seen in all.unwrap() {
            assert_eq!(seen, [vec![], vec![], vec![(1, "cpu".to_owned())], vec![]]);
        }
    }
}
