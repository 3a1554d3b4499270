//! Tests of the loop with a method that needs no forces.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::files::Files;
use crate::models::plummer;
use crate::snapshot::State;
use crate::snapshot::parts::{self, Manifest};
use kirin_testing::Folder;

/// Bodies that fly straight, in steps of 1/8; seen at any time, or at the ends of steps only.
struct Flight {
    time: f64,
    bodies: Vec<Body>,
    between: bool,
    /// A step from this time on fails, and whether the state can then be resumed.
    fails: Option<(f64, bool)>,
    rank: (usize, usize),
    /// The state that was saved when the ranks met last.
    met: Met,
}

/// A file, how often the ranks have met, and the time of the state in the file when they did so last.
#[derive(Default)]
struct Met {
    path: PathBuf,
    count: u32,
    saved: Option<f64>,
}

const DT: f64 = 0.125;

impl Flight {
    fn new(between: bool) -> Self {
        Self {
            time: 0.0,
            bodies: plummer(10, 1),
            between,
            fails: None,
            rank: (0, 1),
            met: Met::default(),
        }
    }
}

impl Integration for Flight {
    type Error = fmt::Error;

    fn time(&self) -> f64 {
        self.time
    }

    fn next_time(&self, t_end: f64) -> Option<f64> {
        Some(self.time + DT).filter(|t| *t <= t_end)
    }

    fn step(&mut self, _: f64) -> Result<(), fmt::Error> {
        if self.fails.is_some_and(|(t, _)| self.time >= t) {
            return Err(fmt::Error);
        }
        self.bodies = self.bodies_at(self.time + DT)?;
        self.time += DT;
        Ok(())
    }

    fn visible(&self, t: f64) -> Option<f64> {
        match self.between {
            true => (t < self.time + DT).then_some(t),
            false => (t <= self.time + 1e-9).then_some(self.time - 1e-12),
        }
    }

    fn bodies_at(&mut self, t: f64) -> Result<Vec<Body>, fmt::Error> {
        let mut bodies = self.bodies.clone();
        for b in &mut bodies {
            crate::vector::add_scaled(&mut b.x, t - self.time, &b.v);
        }
        Ok(bodies)
    }

    fn check(&self) -> Result<(), fmt::Error> {
        match self.fails {
            Some((_, false)) => Err(fmt::Error),
            _ => Ok(()),
        }
    }

    fn rank(&self) -> (usize, usize) {
        self.rank
    }

    fn is_common(_: &fmt::Error) -> bool {
        true
    }

    fn share(&mut self, value: f64) -> Result<f64, fmt::Error> {
        let Met { path, count, saved } = &mut self.met;
        *count += 1;
        *saved = Snapshot::load(path).ok().map(|state| state.time);
        Ok(value)
    }

    fn eps(&self) -> f64 {
        0.0
    }

    fn count(&self) -> usize {
        self.bodies.len()
    }

    fn state(&self) -> Result<Snapshot, Self::Error> {
        Ok(Snapshot {
            time: self.time,
            bodies: self.bodies.clone(),
            ..Snapshot::default()
        })
    }
}

fn resumed(snapshot: Snapshot, between: bool) -> Run<Flight> {
    let log = Log::of(&snapshot).unwrap();
    let (time, bodies) = (snapshot.time, snapshot.bodies);
    Run::new(
        Flight {
            time,
            bodies,
            ..Flight::new(between)
        },
        log,
    )
    .unwrap()
}

#[test]
fn diagnostics_come_at_multiples_and_at_both_ends() {
    let plan = RunOutputs {
        records: Some(0.2),
        ..RunOutputs::default()
    };
    for (between, expected) in [
        (true, [0.0, 0.2, 0.4, 0.6, 0.75]),
        (false, [0.0, 0.25, 0.5, 0.625, 0.75]),
    ] {
        let mut run = Run::new(Flight::new(between), Log::begin("Plummer sphere", 1)).unwrap();
        let ended = run.evolve(0.75, &plan, &|| false, &|_| ()).unwrap();
        assert_eq!(ended, Ended::Complete);
        assert_eq!(run.records.len(), expected.len());
        for (record, t) in run.records.iter().zip(expected) {
            // The ends of steps are rounded.
            assert!((record.t - t).abs() < 1e-11, "{record:?}");
        }
        // Flown apart, and measured against the start.
        assert!(run.records[0].energy_error == 0.0 && run.records[4].energy_error > 0.1);
    }
}

/// A run that stops anywhere and goes on through text has the records of one that does not.
#[test]
fn a_resumed_run_has_the_same_records() {
    let plan = RunOutputs {
        records: Some(0.1),
        ..RunOutputs::default()
    };
    for between in [true, false] {
        let mut whole = Run::new(Flight::new(between), Log::begin("Plummer sphere", 1)).unwrap();
        whole.evolve(1.0, &plan, &|| false, &|_| ()).unwrap();
        for steps in 0..8 {
            let left = Cell::new(steps);
            let stop = || left.replace(left.get() - 1) == 0;
            let mut run = Run::new(Flight::new(between), Log::begin("Plummer sphere", 1)).unwrap();
            let ended = run.evolve(1.0, &plan, &stop, &|_| ()).unwrap();
            assert_eq!(ended, Ended::Interrupted);
            let mut text = Vec::new();
            run.save().unwrap().write(&mut text).unwrap();
            let mut run = resumed(Snapshot::parse(&text).unwrap(), between);
            run.evolve(1.0, &plan, &|| false, &|_| ()).unwrap();
            assert_eq!(run.records, whole.records, "{between} {steps}");
            assert_eq!(run.log().seed, Some(1));
            let log = |run: &Run<Flight>| Log {
                seconds: 0.0,
                wall: 0.0,
                ..run.log()
            };
            assert_eq!(log(&run), log(&whole));
            // Once more to the same end: nothing is new.
            let mut run = resumed(run.save().unwrap(), between);
            run.evolve(1.0, &plan, &|| false, &|_| ()).unwrap();
            assert_eq!(run.records, whole.records, "{between} {steps}");
        }
    }
}

/// What was before the steps counts once, also where a run goes on.
#[test]
fn wall_time_begins_before_the_steps() {
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    run.add_wall_time(Duration::from_secs(1000));
    for t_end in [0.25, 0.5] {
        run.evolve(t_end, &RunOutputs::default(), &|| false, &|_| ())
            .unwrap();
        let wall = run.log().wall;
        assert!((1000.0..1999.0).contains(&wall), "{wall}");
    }
}

#[test]
fn snapshots_are_numbered_by_their_interval() {
    let folder = Folder::new("kit-snapshots");
    let output = PathBuf::from(folder.file("run.txt"));
    let plan = |every| RunOutputs {
        snapshots: Some(Snapshots {
            every,
            output: output.clone(),
        }),
        ..RunOutputs::default()
    };
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    run.evolve(0.5, &plan(0.1), &|| false, &|_| ()).unwrap();
    // A second part goes on with the numbers.
    run.evolve(0.8, &plan(0.1), &|| false, &|_| ()).unwrap();
    for (number, t) in (0..=8).map(|k| (k, k as f64 * 0.1)) {
        let snapshot = Snapshot::load(&plan(0.1).snapshots.unwrap().path(number)).unwrap();
        assert!(
            (snapshot.time - t).abs() < 1e-15,
            "{number}: {}",
            snapshot.time
        );
        let flown = Flight::new(true).bodies_at(t).unwrap();
        for (a, b) in snapshot.bodies.iter().zip(&flown) {
            assert!((a.x[0] - b.x[0]).abs() < 1e-14);
        }
    }
    assert_eq!(fs::read_dir(output.parent().unwrap()).unwrap().count(), 9);
}

/// Where the disk holds a checkpoint, a crash after it costs nothing.
#[test]
fn checkpoints_can_be_resumed() {
    let folder = Folder::new("kit-checkpoints");
    let path = PathBuf::from(folder.file("run.txt"));
    let plan = RunOutputs {
        records: Some(0.5),
        checkpoints: Some(Checkpoints {
            interval: Interval::Simulated(0.5),
            path: path.clone(),
        }),
        ..RunOutputs::default()
    };
    let seen = Cell::new(0);
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    let watch = |t: f64| {
        // The file holds the last multiple that was passed before this step.
        let expected = ((t - DT) / 0.5).floor() * 0.5;
        match Snapshot::load(&path) {
            Ok(snapshot) => assert_eq!(snapshot.time, expected),
            Err(_) => assert_eq!(expected, 0.0),
        }
        seen.set(seen.get() + 1);
    };
    run.evolve(1.75, &plan, &|| false, &watch).unwrap();
    assert_eq!(seen.get(), 14);
    let mut again = resumed(Snapshot::load(&path).unwrap(), true);
    assert_eq!(again.integration.time, 1.5);
    again.evolve(1.75, &plan, &|| false, &|_| ()).unwrap();
    assert_eq!(again.integration.bodies, run.integration.bodies);
    assert_eq!(again.records, run.records);
}

/// The folder of the files is away for a while: the run says so once for each kind of file and goes on. The table has
/// all lines in the end; snapshots that are lost are told.
#[test]
fn a_file_that_cannot_be_written_ends_no_run() {
    let folder = Folder::new("kit-away");
    let away = PathBuf::from(folder.file("away"));
    fs::create_dir(&away).unwrap();
    let plan = RunOutputs {
        records: Some(0.25),
        csv: Some(away.join("run.csv")),
        snapshots: Some(Snapshots {
            every: 0.25,
            output: away.join("run.txt"),
        }),
        checkpoints: Some(Checkpoints {
            interval: Interval::Simulated(0.25),
            path: away.join("run.txt"),
        }),
        ..RunOutputs::default()
    };
    let heard = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    let said = heard.clone();
    run.say = Box::new(move |line| said.borrow_mut().push(line.to_owned()));
    // From t = 0.5 to 1.5 the folder is a file.
    let watch = |t: f64| {
        if t == 0.5 {
            fs::rename(&away, folder.file("hidden")).unwrap();
            fs::write(&away, "").unwrap();
        } else if t == 1.5 {
            fs::remove_file(&away).unwrap();
            fs::rename(folder.file("hidden"), &away).unwrap();
        }
    };
    let ended = run.evolve(2.0, &plan, &|| false, &watch).unwrap();
    assert_eq!(ended, Ended::Complete);
    let heard = heard.borrow();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(
        heard.iter().all(|line| line.contains("goes on")),
        "{heard:?}"
    );
    assert_eq!(Snapshot::load(&away.join("run.txt")).unwrap().time, 2.0);
    assert_eq!(
        Snapshot::load(&away.join("run.0007.txt")).unwrap().time,
        1.75
    );
    let unwritten = run.unwritten().unwrap();
    assert!(
        unwritten.starts_with("4 files") && unwritten.contains("run.0002.txt"),
        "{unwritten}"
    );
}

/// A table that could not be written gets all of its lines when it can be.
#[test]
fn a_table_lacks_no_line_in_the_end() {
    let folder = Folder::new("kit-table");
    let path = PathBuf::from(folder.file("away/run.csv"));
    let away = path.parent().unwrap();
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    let columns = Columns::new(Record::COLUMNS, None);
    fs::create_dir(away).unwrap();
    run.table = Some(Table::begin(&path, columns, &[], Record::all_numbers).unwrap());
    let lines = || fs::read_to_string(&path).unwrap().lines().count();
    let bodies = plummer(10, 1);
    run.record(0.0, &bodies).unwrap();
    assert_eq!(lines(), 2);
    run.table.as_mut().unwrap().file = None;
    fs::remove_dir_all(away).unwrap();
    run.record(1.0, &bodies).unwrap();
    assert!(!path.exists());
    fs::create_dir(away).unwrap();
    run.record(2.0, &bodies).unwrap();
    assert_eq!(lines(), 4);
    run.close_table();
    assert_eq!(run.unwritten(), None);
}

/// After an error a state that cannot be resumed does not replace the last one that can.
#[test]
fn a_failed_step_leaves_the_last_good_state() {
    for (is_whole, time, words) in [(true, 0.375, "is in"), (false, 0.25, "stays as it was")] {
        let folder = Folder::new("kit-failed");
        let path = PathBuf::from(folder.file("run.txt"));
        let control = RunControl::<Guard> {
            files: Files {
                output: Some(path.clone()),
                checkpoint_every: Some(Cadence::parse("1/4").unwrap()),
                ..Files::default()
            },
            ..RunControl::default()
        };
        let mut flight = Flight::new(true);
        flight.fails = Some((0.375, is_whole));
        let mut run = Run::new(flight, Log::default()).unwrap();
        let ended = conduct("flight", &mut run, 1.0, &control).map(|summary| summary.ended);
        let why = ended.unwrap_err().to_string();
        assert!(why.contains(words), "{why}");
        assert_eq!(Snapshot::load(&path).unwrap().time, time);
    }
}

/// Ranks that all have an error wait until the first one has saved the state: whoever ends earlier ends the others.
#[test]
fn no_rank_ends_before_the_state_is_saved() {
    let folder = Folder::new("kit-failed-ranks");
    let path = PathBuf::from(folder.file("run.txt"));
    let control = RunControl::<Guard> {
        files: Files {
            output: Some(path.clone()),
            ..Files::default()
        },
        ..RunControl::default()
    };
    let mut counts = Vec::new();
    for rank in [0, 1] {
        let mut flight = Flight::new(true);
        (flight.fails, flight.rank) = (Some((0.375, true)), (rank, 2));
        flight.met.path.clone_from(&path);
        let mut run = Run::new(flight, Log::default()).unwrap();
        assert!(conduct("flight", &mut run, 1.0, &control).is_err());
        assert_eq!(run.integration.met.saved, Some(0.375), "rank {rank}");
        counts.push(run.integration.met.count);
    }
    assert_eq!(counts[0], counts[1]);
}

/// The files of a state in parts go when one file replaces it.
#[test]
fn a_state_in_one_file_leaves_no_parts_behind() {
    let folder = Folder::new("kit-parts-replaced");
    let path = PathBuf::from(folder.file("run.txt"));
    let part = parts::path_of(&path, 0, 0);
    let sum = parts::write(&part, &plummer(10, 1), &[State::default(); 10]).unwrap();
    let manifest = Manifest {
        n: 10,
        generation: 0,
        parts: vec![parts::Part {
            name: part.file_name().unwrap().to_string_lossy().into_owned(),
            first: 0,
            count: 10,
            sum,
        }],
    };
    let head = Snapshot {
        states: Some(Vec::new()),
        run: manifest.lines(),
        ..Snapshot::default()
    };
    head.save_as(&path).unwrap();
    let run = Run::new(Flight::new(true), Log::default()).unwrap();
    run.save_to(&path).unwrap();
    assert!(!part.exists());
    assert_eq!(Snapshot::load(&path).unwrap().bodies.len(), 10);
}

#[test]
fn a_table_that_cannot_be_begun_ends_the_run_with_its_name() {
    let plan = RunOutputs {
        csv: Some("/no/such/folder/run.csv".into()),
        ..RunOutputs::default()
    };
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    let error = run.evolve(1.0, &plan, &|| false, &|_| ()).unwrap_err();
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
    assert_eq!(run.save().unwrap().time, 0.0);
}

/// Snapshots of another interval have other times under the same numbers.
#[test]
fn snapshots_of_other_times_are_not_replaced_unasked() {
    let folder = Folder::new("kit-numbers");
    let files = |every: f64, force| Files {
        output: Some(folder.file("run.txt").into()),
        snapshot_every: Some(every.into()),
        force,
        ..Files::default()
    };
    let check = |every, start, force| {
        files(every, force).check_replaced(10, (start, 4.0), None, &Log::default())
    };
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    let plan = files(0.25, false).plan(1.0, None).unwrap();
    run.evolve(1.0, &plan, &|| false, &|_| ()).unwrap();
    assert_eq!(check(0.25, 0.0, false), Ok(()));
    let why = check(0.5, 0.0, false).unwrap_err();
    assert!(
        why.contains("run.0001.txt") && why.contains("t = 0.25"),
        "{why}"
    );
    assert_eq!(check(0.5, 0.0, true), Ok(()));
    // Numbers behind the last one are free.
    assert_eq!(check(0.2, 1.0, false), Ok(()));
    let why = check(0.125, 0.5, false).unwrap_err();
    assert!(
        why.contains("run.0004.txt") && why.contains("t = 1,"),
        "{why}"
    );
}

/// A film keeps its scale and its interval when its run goes on.
#[test]
fn a_film_goes_on_with_its_scale() {
    let folder = Folder::new("kit-film");
    let files = |every: f64| Files {
        frames: Some(folder.file("film").into()),
        frame_every: Some(every.into()),
        ..Files::default()
    };
    let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
    let plan = files(0.25).plan(0.25, None).unwrap();
    run.evolve(0.25, &plan, &|| false, &|_| ()).unwrap();
    let (every, width) = run.film.unwrap();
    assert!(every == 0.25 && width > 0.0);
    let mut again = resumed(run.save().unwrap(), true);
    assert_eq!(again.film, run.film);
    let new = files(0.25).check_replaced(10, (0.0, 1.0), None, &Log::default());
    assert!(new.unwrap_err().contains("another film"));
    let check = |every| files(every).check_replaced(10, (0.25, 0.5), None, &run.log());
    assert_eq!(check(0.25), Ok(()));
    let why = check(0.125).unwrap_err();
    assert!(why.contains("--frame-every 0.25"), "{why}");
    again.evolve(0.5, &plan, &|| false, &|_| ()).unwrap();
    assert_eq!(again.film, run.film);
}

#[test]
fn lines_that_make_no_sense_are_refused() {
    let mut snapshot = Run::new(Flight::new(true), Log::default())
        .unwrap()
        .save()
        .unwrap();
    assert!(Log::of(&snapshot).is_ok());
    for (key, value) in [
        ("run.energy0", "x 0"),
        ("run.energy0", "1"),
        ("run.seconds", "1 2"),
        ("run.record", "1 2 3"),
    ] {
        snapshot.run = vec![(key.to_owned(), value.to_owned())];
        let error = Log::of(&snapshot).expect_err(value);
        assert!(error.contains(&format!("{key} {value}")), "{error}");
    }
}

/// Bodies that fly straight gain energy: the guard says so once, then ends the run, and what was seen until then
/// is kept.
#[test]
fn the_guard_warns_once_and_ends_a_worthless_run() {
    let heard = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let run_with = |guard: Guard, records: Option<f64>| {
        heard.borrow_mut().clear();
        let mut run = Run::new(Flight::new(true), Log::default()).unwrap();
        let said = heard.clone();
        run.say = Box::new(move |line| said.borrow_mut().push(line.to_owned()));
        let plan = RunOutputs {
            records,
            guard: Some(guard),
            ..RunOutputs::default()
        };
        let ended = run.evolve(4.0, &plan, &|| false, &|_| ()).unwrap();
        (ended, run)
    };
    let guard = Guard {
        energy_warning: Some(1e-9),
        energy_limit: Some(0.2),
    };
    for records in [None, Some(0.25)] {
        let (ended, run) = run_with(guard.clone(), records);
        assert_eq!(ended, Ended::EnergyError);
        assert!(run.integration.time < 4.0);
        let heard = heard.borrow();
        assert!((1..=2).contains(&heard.len()), "{heard:?}");
        assert!(
            heard.last().unwrap().contains("--energy-limit"),
            "{heard:?}"
        );
        if let Some(last) = run.records.last() {
            assert!(last.own_energy_error > 0.2);
        }
    }
    let careless = Guard {
        energy_warning: Some(1e-9),
        energy_limit: Some(f64::INFINITY),
    };
    let (ended, run) = run_with(careless, None);
    assert_eq!((ended, run.integration.time), (Ended::Complete, 4.0));
    assert_eq!(heard.borrow().len(), 1);
}
