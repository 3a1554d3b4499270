//! Runs a sample sort: keys, sort, output.

use std::fmt::Write as _;
use std::time::Instant;

use kirin_kit::command::{Ended, named, print};
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::launch::{Job, RankFailure, on_first};

use super::{elapsed, of_this_process};
use crate::options::KeyList;
use crate::ranks;
use crate::sort;
use crate::sort::Key;

/// Sorts the keys of a list and prints them.
///
/// # Errors
///
/// Those of input and sort; stdout cannot be written; in words.
pub fn run(
    list: &KeyList,
    sort: impl FnOnce(&mut Vec<Key>) -> Result<(), String>,
) -> Result<(), String> {
    let mut keys = keys(list)?;
    let began = Instant::now();
    sort(&mut keys)?;
    tell(list, began, &keys)
}

/// Sorts with message passing.
///
/// # Errors
///
/// Those of the input; a process is lost; in words.
pub fn on_ranks(ranks: Option<usize>, list: &KeyList) -> Result<(), String> {
    ranks::run(ranks, &RankSort { list })
}

struct RankSort<'a> {
    list: &'a KeyList,
}

impl Job for RankSort<'_> {
    fn run<C: Communicator>(&self, world: C) -> Result<Ended, RankFailure> {
        let mut keys = on_first(&world, || keys(self.list))?;
        let began = Instant::now();
        sort::ranks::sort(&world, &mut keys)?;
        if world.rank() == 0 {
            tell(self.list, began, &keys).map_err(of_this_process)?;
        }
        Ok(Ended::Complete)
    }
}

/// The keys of a list.
fn keys(list: &KeyList) -> Result<Vec<Key>, String> {
    let Some(path) = &list.input else {
        return Ok(list.keys.make(list.n, list.seed));
    };
    let text = std::fs::read_to_string(path).map_err(named(path))?;
    let keys = sort::keys::parse(&text).map_err(named(path))?;
    match keys.len() {
        n if n == list.n => Ok(keys),
        n => Err(named(path)(format!("{n} keys, not {}", list.n))),
    }
}

fn tell(list: &KeyList, began: Instant, keys: &[Key]) -> Result<(), String> {
    elapsed(began);
    if list.no_output {
        return Ok(());
    }
    let mut text = String::new();
    for key in keys {
        writeln!(text, "{key}").expect("a string takes everything");
    }
    print(&text)
}
