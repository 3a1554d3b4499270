//! States that ranks write and read together: each its part, and rank 0 the manifest.

use std::path::Path;

use super::{Communicator, Result, displacements};
use crate::Body;
use crate::command::named;
use crate::replace::behind_links;
use crate::snapshot::parts::{self, Manifest, Part};
use crate::snapshot::{Snapshot, State};

/// Longest words of a rank's error that the others pass on, in bytes.
const WORDS: usize = 400;

/// Writes the state of a run to `path`, and each rank's part to a file beside it, so all ranks must reach that folder.
/// If `path` is a symbolic link, all files are beside the file that it leads to.
/// Each rank brings its own `bodies` with their `states`; it may have none. The run's bodies are those of rank 0, then
/// those of rank 1, and so on. `head` has everything else, and no bodies.
///
/// The earlier state at `path` stays whole until all files of the new one are on the disk. An error of any rank is
/// returned on all ranks.
///
/// # Errors
///
/// A rank is lost.
pub fn save<C: Communicator>(
    world: &C,
    path: &Path,
    mut head: Snapshot,
    (bodies, states): (&[Body], &[State]),
) -> Result<std::result::Result<(), String>> {
    let (rank, path) = (world.rank(), &*behind_links(path));
    let before = if rank == 0 { Manifest::at(path) } else { None };
    let mut generation = [match rank {
        0 => parts::next_generation(path, before.as_ref()),
        _ => 0,
    }];
    world.broadcast(0, &mut generation)?;
    let mine = parts::path_of(path, generation[0], rank);
    let written = match bodies {
        [] => Ok(0),
        _ => parts::write(&mine, bodies, states).map_err(|e| named(&mine)(e)),
    };
    let sum = *written.as_ref().unwrap_or(&0);
    let mut all = Vec::new();
    world.all_gather(&[bodies.len() as u64, u64::from(sum)], &mut all)?;
    let counts: Vec<usize> = all.chunks_exact(2).map(|part| part[0] as usize).collect();
    let outcome = first_error(world, written.map(drop))?;
    let outcome = match outcome {
        Err(why) => Err(why),
        Ok(()) => {
            let manifest = Manifest {
                n: counts.iter().sum(),
                generation: generation[0],
                parts: displacements(&counts)
                    .enumerate()
                    .filter(|(r, _)| counts[*r] > 0)
                    .map(|(r, first)| Part {
                        name: file_name(&parts::path_of(path, generation[0], r)),
                        first,
                        count: counts[r],
                        sum: all[2 * r + 1] as u32,
                    })
                    .collect(),
            };
            head.run.extend(manifest.lines());
            let saved = if rank == 0 {
                head.save_as(path)
            } else {
                Ok(())
            };
            first_error(world, saved)?
        }
    };
    match (&outcome, before) {
        (Ok(()), Some(before)) => before.remove(path),
        (Err(_), _) if !bodies.is_empty() => {
            let _ = std::fs::remove_file(&mine);
        }
        _ => {}
    }
    Ok(outcome)
}

/// Bodies and their states.
pub type Share = (Vec<Body>, Vec<State>);

/// Where each rank's share of `n` bodies begins, and the end of the last one: equal shares, in the order of the ranks.
pub fn shares(n: usize, ranks: usize) -> impl Iterator<Item = usize> {
    (0..=ranks).map(move |rank| n * rank / ranks)
}

/// This rank's share (see [`shares`]) of the bodies that [`save`] wrote to `path`, with their states. A rank reads only
/// the files that have bodies of its share. An error of any rank is returned on all ranks.
///
/// # Errors
///
/// A rank is lost.
pub fn load<C: Communicator>(
    world: &C,
    path: &Path,
    manifest: &Manifest,
) -> Result<std::result::Result<Share, String>> {
    let begins: Vec<usize> = shares(manifest.n, world.size()).collect();
    let rank = world.rank();
    let read = manifest.read(path, begins[rank]..begins[rank + 1]);
    let (read, failed) = match read {
        Ok(read) => (read, Ok(())),
        Err(why) => (Default::default(), Err(why)),
    };
    Ok(first_error(world, failed)?.map(|()| read))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// On all ranks, the error of the first rank that has one.
///
/// # Errors
///
/// A rank is lost.
pub fn first_error<C: Communicator>(
    world: &C,
    mine: std::result::Result<(), String>,
) -> Result<std::result::Result<(), String>> {
    let mut failed = Vec::new();
    world.all_gather(&[u8::from(mine.is_err())], &mut failed)?;
    let Some(first) = failed.iter().position(|f| *f > 0) else {
        return Ok(Ok(()));
    };
    let mut words = mine.err().unwrap_or_default().into_bytes();
    words.resize(WORDS, 0);
    world.broadcast(first, &mut words)?;
    words.truncate(words.iter().position(|b| *b == 0).unwrap_or(WORDS));
    let words = String::from_utf8_lossy(&words);
    Ok(Err(format!("rank {first}: {words}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::threads;
    use crate::models;
    use kirin_testing::Folder;

    /// Saves `bodies` by so many ranks, and returns the common outcome.
    fn save_by(ranks: usize, path: &Path, bodies: &[Body]) -> std::result::Result<(), String> {
        save_at(ranks, |_| path, bodies)
    }

    /// The same, with a path for each rank.
    fn save_at<'p>(
        ranks: usize,
        path: impl Fn(usize) -> &'p Path + Sync,
        bodies: &[Body],
    ) -> std::result::Result<(), String> {
        let states = vec![State::default(); bodies.len()];
        let outcomes = threads::run(ranks, |world| {
            // The last rank has nothing.
            let share = bodies.len().div_ceil((ranks - 1).max(1));
            let begin = (world.rank() * share).min(bodies.len());
            let end = (begin + share).min(bodies.len());
            let head = Snapshot {
                time: 0.5,
                states: Some(Vec::new()),
                run: vec![("a.settings".to_owned(), "1".to_owned())],
                ..Snapshot::default()
            };
            let mine = (&bodies[begin..end], &states[begin..end]);
            save(&world, path(world.rank()), head, mine)
        });
        let outcomes = outcomes.unwrap();
        assert!(outcomes.iter().all(|o| *o == outcomes[0]));
        outcomes[0].clone()
    }

    fn files_in(folder: &Folder) -> usize {
        std::fs::read_dir(folder.file("")).unwrap().count()
    }

    #[test]
    fn parts_are_read_as_one_state_or_in_pieces() {
        let folder = Folder::new("parts");
        let path = folder.file("a b.txt");
        let path = Path::new(&path);
        let bodies = models::plummer(101, 1);
        for ranks in [1, 4, 3] {
            save_by(ranks, path, &bodies).unwrap();
            let whole = Snapshot::load(path).unwrap();
            assert!(whole.bodies == bodies && whole.time == 0.5);
            assert_eq!(whole.run, [("a.settings".to_owned(), "1".to_owned())]);
            let manifest = Manifest::at(path).unwrap();
            assert_eq!(manifest.parts.len(), (ranks - 1).max(1));
            let (piece, states) = manifest.read(path, 20..77).unwrap();
            assert!(piece == bodies[20..77] && states.len() == 57);
            // The files of the state before are gone.
            assert_eq!(files_in(&folder), 1 + manifest.parts.len());
        }
    }

    #[cfg(unix)]
    #[test]
    fn parts_are_where_a_link_leads() {
        let folder = Folder::new("parts-link");
        let disk = std::path::PathBuf::from(folder.file("disk"));
        std::fs::create_dir(&disk).unwrap();
        let link = folder.file("run.txt");
        let link = Path::new(&link);
        std::os::unix::fs::symlink("disk/state.txt", link).unwrap();
        let bodies = models::plummer(101, 1);
        for ranks in [3, 4] {
            save_by(ranks, link, &bodies).unwrap();
            assert!(Snapshot::load(link).unwrap().bodies == bodies);
            // The files of the state before are gone.
            assert_eq!(std::fs::read_dir(&disk).unwrap().count(), ranks);
            assert_eq!(files_in(&folder), 2);
        }
        Manifest::at(link).unwrap().remove(link);
        assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 1);
    }

    #[test]
    fn each_rank_reads_its_share() {
        let folder = Folder::new("parts-shares");
        let path = folder.file("run.txt");
        let path = Path::new(&path);
        let bodies = models::plummer(101, 1);
        save_by(4, path, &bodies).unwrap();
        let manifest = Manifest::at(path).unwrap();
        let read = |ranks| threads::run(ranks, |world| load(&world, path, &manifest)).unwrap();
        for ranks in [1, 2, 7] {
            let shares: Vec<Vec<Body>> = read(ranks).into_iter().map(|r| r.unwrap().0).collect();
            assert!(shares.concat() == bodies, "{ranks} ranks");
            let even = 101 / ranks..=101usize.div_ceil(ranks);
            assert!(shares.iter().all(|share| even.contains(&share.len())));
        }
        std::fs::remove_file(path.with_file_name(&manifest.parts[2].name)).unwrap();
        let read = read(5);
        let why = read[0].as_ref().unwrap_err();
        assert!(why.contains("run.txt.0.2"), "{why}");
        assert!(read.iter().all(|r| r.as_ref().is_err_and(|w| w == why)));
    }

    #[test]
    fn a_damaged_or_missing_part_is_named() {
        let folder = Folder::new("parts-damaged");
        let path = folder.file("run.txt");
        let path = Path::new(&path);
        save_by(3, path, &models::plummer(100, 1)).unwrap();
        let manifest = Manifest::at(path).unwrap();
        let part = path.with_file_name(&manifest.parts[1].name);
        let mut bytes = std::fs::read(&part).unwrap();
        bytes[1000] ^= 1;
        std::fs::write(&part, bytes).unwrap();
        let why = Snapshot::load(path).unwrap_err().to_string();
        assert!(
            why.contains("run.txt.0.1") && why.contains("damaged"),
            "{why}"
        );
        assert!(
            manifest.read(path, 0..50).is_ok(),
            "the other part is whole"
        );
        std::fs::remove_file(&part).unwrap();
        let why = Snapshot::load(path).unwrap_err().to_string();
        assert!(why.contains("run.txt.0.1"), "{why}");
        let lines = [
            ("parts.n", "1152921504606846976"),
            ("parts.generation", "0"),
            ("parts.file", "run.txt.0.0 0 1152921504606846976 0"),
        ];
        let of_too_many = Snapshot {
            run: lines.map(|(k, v)| (k.into(), v.into())).to_vec(),
            ..Snapshot::default()
        };
        let why = Manifest::of(&of_too_many).unwrap_err();
        assert!(why.contains("too many bodies"), "{why}");
    }

    /// A manifest keeps its parts when it is renamed, and another run begins under its old name.
    #[test]
    fn parts_of_a_renamed_manifest_are_kept() {
        let folder = Folder::new("parts-renamed");
        let [path, renamed] = ["run.txt", "seed1.txt"].map(|name| folder.file(name));
        let [path, renamed] = [Path::new(&path), Path::new(&renamed)];
        let [first, second] = [1, 2].map(|seed| models::plummer(100, seed));
        save_by(3, path, &first).unwrap();
        std::fs::rename(path, renamed).unwrap();
        // The second state of the new run, too.
        for _ in 0..2 {
            save_by(3, path, &second).unwrap();
            assert!(Snapshot::load(path).unwrap().bodies == second);
            assert!(Snapshot::load(renamed).unwrap().bodies == first);
        }
    }

    /// Where a part cannot be written the state before stays, and all ranks know why.
    #[test]
    fn a_rank_that_cannot_write_spoils_nothing() {
        let folder = Folder::new("parts-full");
        let path = folder.file("run.txt");
        let path = Path::new(&path);
        let bodies = models::plummer(100, 1);
        save_by(3, path, &bodies).unwrap();
        let away = folder.file("away/run.txt");
        let path_of = |rank| if rank == 1 { Path::new(&away) } else { path };
        let why = save_at(3, path_of, &models::plummer(100, 2)).unwrap_err();
        assert!(
            why.contains("rank 1") && why.contains("run.txt.1.1"),
            "{why}"
        );
        assert!(Snapshot::load(path).unwrap().bodies == bodies);
        assert_eq!(files_in(&folder), 3);
    }
}
