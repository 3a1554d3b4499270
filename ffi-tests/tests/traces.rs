//! `KIRIN_TRACE`: traces of clients of every kind, read event by event.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ffi_tests::compiler::{Link, clean_command, compile, run, succeed, texts};
use ffi_tests::library;
use ffi_tests::sets::cloud;
use ffi_tests::trial;
use kirin::client::{Block, Grape, IrregularBlock, Nbody6, Orbit, RegularBlock};
use kirin_core::sources::particle::Force;
use kirin_core::trace::nbody6::Call;
use kirin_core::trace::{Event, Trace, TraceError};

fn place(name: &str) -> PathBuf {
    let path = library::workspace().join(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// The events of a trace, and why there are no more.
fn read(path: &Path) -> (Vec<Event>, Option<TraceError>) {
    let mut trace = Trace::open(path).expect("a trace");
    let mut events = Vec::new();
    loop {
        match trace.next_event() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (events, None),
            Err(e) => return (events, Some(e)),
        }
    }
}

/// How many events there are of each kind.
fn counts(events: &[Event]) -> HashMap<u8, usize> {
    let mut counts = HashMap::new();
    for event in events {
        *counts.entry(event.kind()).or_default() += 1;
    }
    counts
}

/// Repeats the force calls on the linked library, and returns how many forces were compared.
/// They must be the recorded ones, bit for bit.
fn repeat(events: &[Event]) -> usize {
    // The clusters are those of the process, and tests run side by side.
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let grape = Grape::linked();
    (0..64).for_each(|id| {
        grape.close(id);
    });
    let mut blocks: HashMap<i32, (usize, Block, f64)> = HashMap::new();
    let mut compared = 0;
    for event in events {
        match event {
            Event::Open { id } => {
                grape.open(*id);
            }
            Event::Close { id } => {
                grape.close(*id);
            }
            Event::SetTi { id, ti } => grape.set_ti(*id, *ti),
            Event::JParticle {
                id,
                address,
                dt,
                particle,
                ..
            } => {
                grape.set_j_particle(*id, *address, *dt, particle);
            }
            Event::FirstHalf {
                id, nj, particles, ..
            } => {
                let mut block = Block::default();
                block.resize(particles.len());
                for (k, t) in particles.iter().enumerate() {
                    let p = &t.particle;
                    (block.index[k], block.x[k], block.v[k]) = (p.index, p.x, p.v);
                }
                let nj = usize::try_from(*nj).expect("a count");
                let eps2 = particles.first().map_or(0.0, |t| t.particle.eps2);
                grape.firsthalf(*id, nj, &mut block, eps2);
                blocks.insert(*id, (nj, block, eps2));
            }
            Event::LastHalf { id, forces, .. } => {
                let (nj, mut block, eps2) = blocks.remove(id).expect("a block");
                grape.lasthalf(*id, nj, &mut block, eps2);
                for (k, recorded) in forces.iter().enumerate() {
                    let found = Force {
                        acc: block.acc[k],
                        jerk: block.jerk[k],
                        pot: block.pot[k],
                    };
                    assert_eq!(found, *recorded);
                    compared += 1;
                }
            }
            _ => {}
        }
    }
    compared
}

#[test]
fn everything_a_client_does_is_recorded_and_nothing_changes() {
    let Some(client) = compile("forces.c", Link::Shared) else {
        return;
    };
    let set = cloud(60, 81, 0.01);
    let input = place("trace-input");
    std::fs::write(&input, set.to_text()).expect("the target folder is writable");
    let trace = place("forces.trace");
    let usual = succeed(&client, &[input.as_os_str()], &[]);
    let mut command = clean_command(&client, &[("KIRIN_TRACE", name(&trace))]);
    let output = run(command.arg(&input));
    assert_eq!(texts(&output), (usual, String::new()));
    let (events, error) = read(&trace);
    assert!(error.is_none(), "{error:?}");
    let counts = counts(&events);
    for kind in 3..=8 {
        if kind != 7 {
            assert!(
                counts.get(&kind).is_some_and(|&n| n > 0),
                "kind {kind}: {counts:?}"
            );
        }
    }
    assert_eq!(counts[&5], counts[&6], "every block was fetched");
    assert_eq!(counts[&12], 1, "one cluster is described");
    assert!(repeat(&events) > 0);
}

/// i-particles in registers, and force calls without `firsthalf`. The first block already has a precision.
#[test]
fn low_level_blocks_tell_what_computed_them() {
    let Some(client) = trial::client() else {
        return;
    };
    let input = place("registers-input");
    let script = "open 0\nparticle 0 0 0 1 0 0.125 1 0 0 0 0 0 0 0 0 0 0 0 0 2 0 0\nnip 0 1\nnjp 0 1\n\
                  probe 0 0 7 0 0 0 0 0 0 0 0\nforce 0 1 0\nforce 0 1 0\n";
    std::fs::write(&input, script).expect("the target folder is writable");
    let trace = place("registers.trace");
    succeed(
        client,
        &[input.as_os_str()],
        &[("KIRIN_TRACE", name(&trace))],
    );
    let (events, _) = read(&trace);
    let counts = counts(&events);
    assert_eq!((counts[&6], counts[&12]), (2, 1), "{counts:?}");
    let of_a_rule =
        |e: &Event| matches!(e, Event::Description { precision, .. } if precision == "auto");
    assert!(!events.iter().any(of_a_rule));
}

#[test]
fn threads_and_clusters_record_in_the_order_in_which_their_calls_took_effect() {
    let Some(client) = compile("threads.c", Link::Shared) else {
        return;
    };
    let trace = place("threads.trace");
    succeed(
        &client,
        &[] as &[&std::ffi::OsStr],
        &[("KIRIN_TRACE", name(&trace))],
    );
    let (events, error) = read(&trace);
    assert!(error.is_none(), "{error:?}");
    let clusters: std::collections::HashSet<i32> = events
        .iter()
        .filter_map(|e| match e {
            Event::FirstHalf { id, .. } => Some(*id),
            _ => None,
        })
        .collect();
    assert!(clusters.len() > 1, "{clusters:?}");
    assert!(repeat(&events) > 0);
}

#[test]
fn a_forked_child_does_not_write_into_the_trace() {
    let Some(client) = compile("endings.c", Link::Shared) else {
        return;
    };
    for (way, blocks) in [
        ("idle child", 7),
        ("busy child", 7),
        ("late", 7),
        ("exit", 7),
    ] {
        let trace = place("fork.trace");
        let output = run(clean_command(&client, &[("KIRIN_TRACE", name(&trace))]).arg(way));
        assert_eq!(texts(&output).1, "", "{way}");
        let (events, error) = read(&trace);
        assert!(error.is_none(), "{way}: {error:?}");
        assert_eq!(counts(&events)[&5], blocks, "{way}");
        assert_eq!(counts(&events)[&4], 100, "{way}");
    }
}

#[test]
fn a_thread_at_work_at_the_end_does_no_harm() {
    let Some(client) = compile("endings.c", Link::Shared) else {
        return;
    };
    for _ in 0..5 {
        let trace = place("thread.trace");
        let output = run(clean_command(&client, &[("KIRIN_TRACE", name(&trace))]).arg("thread"));
        assert!(output.status.success(), "{}", output.status);
        match read(&trace).1 {
            None | Some(TraceError::Cut) => {}
            Some(e) => panic!("{e}"),
        }
    }
}

#[test]
fn a_program_that_is_killed_leaves_what_was_written() {
    let Some(client) = compile("endings.c", Link::Shared) else {
        return;
    };
    let trace = place("killed.trace");
    let mut shell = clean_command("sh", &[("KIRIN_TRACE", name(&trace))]);
    shell
        .args(["-c", "\"$0\" forever & sleep 1; kill -KILL $!"])
        .arg(&client);
    run(&mut shell);
    let (events, error) = read(&trace);
    assert!(matches!(error, Some(TraceError::Cut)), "{error:?}");
    assert!(counts(&events)[&6] > 100, "{:?}", counts(&events));
    assert!(repeat(&events[..2000]) > 0);
}

#[test]
fn a_full_disk_ends_the_recording_with_one_line_and_not_the_run() {
    let Some(client) = compile("endings.c", Link::Shared) else {
        return;
    };
    for place in ["/dev/full", "/no/such/folder/trace"] {
        let output = run(&mut clean_command(&client, &[("KIRIN_TRACE", place)]));
        let (out, err) = texts(&output);
        assert!(output.status.success() && out == "done\n", "{place}");
        assert_eq!(err.lines().count(), 1, "{place}: {err}");
        assert!(err.contains(place), "{err}");
    }
}

#[test]
fn no_trace_is_overwritten_and_ranks_have_their_own() {
    let Some(client) = compile("endings.c", Link::Shared) else {
        return;
    };
    let trace = place("again.trace");
    let setting = ("KIRIN_TRACE", name(&trace));
    run(&mut clean_command(&client, &[setting]));
    let first = std::fs::read(&trace).expect("a trace");
    let output = run(&mut clean_command(&client, &[setting]));
    let err = texts(&output).1;
    assert!(err.contains("is there already"), "{err}");
    assert_eq!(std::fs::read(&trace).expect("a trace"), first);
    let other = err.trim().rsplit(' ').next().expect("a name");
    assert!(read(Path::new(other)).1.is_none());

    let rank = [
        setting,
        ("OMPI_COMM_WORLD_RANK", "2"),
        ("OMPI_COMM_WORLD_SIZE", "3"),
    ];
    run(&mut clean_command(&client, &rank));
    assert!(
        read(&PathBuf::from(format!("{}.2", trace.display())))
            .1
            .is_none()
    );
}

/// The calls of NBODY6's library in a trace, which has nothing else but the description of what computes.
fn calls(events: Vec<Event>) -> Vec<Call> {
    let described = events.iter().filter(|e| e.kind() == 12).count();
    let all = events.len();
    let calls: Vec<Call> = events
        .into_iter()
        .filter_map(|event| match event {
            Event::Nbody6(call) => Some(call),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len() + described, all);
    assert!(described <= 1);
    calls
}

/// How many calls there are of each kind, from `gpunb_open_` to irregular forces.
fn kinds(calls: &[Call]) -> [usize; 10] {
    let mut kinds = [0; 10];
    for call in calls {
        kinds[usize::from(call.kind()) - 13] += 1;
    }
    kinds
}

/// Repeats calls of NBODY6's interface on the linked library. Their forces must be the recorded ones, bit for bit.
/// Returns how many regular forces, neighbours in their lists, irregular forces and potentials were compared.
fn repeat_nbody6(calls: &[Call]) -> [usize; 4] {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = Nbody6::linked();
    let from_zero = |address: i32| usize::try_from(address - 1).expect("an address");
    let mut compared = [0; 4];
    for call in calls {
        match call {
            Call::Open { room } => library.open_regular(*room),
            Call::Close => library.close_regular(),
            Call::IrregularOpen { room, longest } => library.open_irregular(*room, *longest),
            Call::IrregularClose => library.close_irregular(),
            Call::Send { sources, .. } => {
                let mass: Vec<f64> = sources.iter().map(|s| s.mass).collect();
                let (mut x, mut v): (Vec<_>, Vec<_>) = sources.iter().map(|s| (s.x, s.v)).unzip();
                library.send(&mass, &mut x, &mut v);
            }
            Call::Star { address, star } => {
                library.set_star(from_zero(*address), &Orbit::from(star));
            }
            Call::List {
                address,
                neighbours,
            } => {
                let list: Vec<usize> = neighbours.iter().map(|&n| from_zero(n)).collect();
                library.set_list(from_zero(*address), &list);
            }
            Call::Regular {
                by_mass,
                longest,
                forces,
                ..
            } => {
                let longest = usize::try_from(*longest).expect("a length");
                let mut block = RegularBlock::new(forces.len(), longest);
                block.by_mass = *by_mass;
                for (k, one) in forces.iter().enumerate() {
                    (block.x[k], block.v[k]) = (one.target.x, one.target.v);
                    (block.h2[k], block.dtr[k]) = (one.target.h2, one.target.dtr);
                }
                library.regular_forces(&mut block);
                for (k, one) in forces.iter().enumerate() {
                    let Force { acc, jerk, pot } = one.force;
                    assert_eq!(
                        (block.acc[k], block.jerk[k], block.pot[k]),
                        (acc, jerk, pot)
                    );
                    let count = i64::from(block.neighbours(k)).unsigned_abs();
                    assert_eq!(count, one.neighbours);
                    match block.list(k) {
                        Some(list) => assert_eq!(list, one.list),
                        None => assert!(one.list.is_empty()),
                    }
                    compared[0] += 1;
                    compared[1] += one.list.len();
                }
            }
            Call::Irregular {
                ti,
                with_nearest,
                forces,
                ..
            } => {
                let addresses: Vec<usize> = forces.iter().map(|f| from_zero(f.address)).collect();
                let mut block = IrregularBlock::new(&addresses);
                library.irregular_forces(*ti, &mut block);
                for (k, one) in forces.iter().enumerate() {
                    assert_eq!((block.acc[k], block.jerk[k]), (one.acc, one.jerk));
                    let nearest = block.nearest(k).map_or(0, |n| n as i32 + 1);
                    assert_eq!(one.nearest, if *with_nearest { nearest } else { 0 });
                    compared[2] += 1;
                }
            }
            Call::Potentials {
                sources,
                first,
                potentials,
                ..
            } => {
                let mass: Vec<f64> = sources.iter().map(|s| s.mass).collect();
                let mut x: Vec<_> = sources.iter().map(|s| s.x).collect();
                let mut found = vec![0.0; potentials.len()];
                let first = usize::try_from(*first).expect("a number");
                library.potentials(&mass, &mut x, first, &mut found);
                assert_eq!(&found, potentials);
                compared[3] += potentials.len();
            }
        }
    }
    compared
}

/// NBODY6++, AMUSE's nbody6xx and NBODY6 pass different arguments. Their traces are the same, except for results that a
/// program does not ask for.
#[test]
fn the_calls_of_nbody6_are_recorded_by_what_they_mean_and_nothing_changes() {
    let Some(client) = compile("nbody6.c", Link::Shared) else {
        return;
    };
    for (variant, sends) in [("6++", 2), ("amuse", 1), ("6", 1)] {
        let trace = place(&format!("nbody6-{variant}.trace"));
        let settings = [
            ("KIRIN_TRACE", name(&trace)),
            ("KIRIN_NBODY6", variant),
            ("KIRIN_THREADS", "3"),
        ];
        let output = run(clean_command(&client, &settings).arg(variant));
        assert_eq!(texts(&output).0, "0 wrong\n", "{}", texts(&output).1);
        let (events, error) = read(&trace);
        assert!(error.is_none(), "{error:?}");
        let calls = calls(events);
        let [open, _, send, regular, pot, _, _, stars, lists, irregular] = kinds(&calls);
        assert_eq!(
            (open, send, pot),
            (2, sends, 2),
            "refused calls are not recorded"
        );
        assert!(stars >= 1500 && lists >= 1500 && irregular >= 3);
        let by_mass = |call: &Call| match call {
            Call::Regular { by_mass, .. } => Some(*by_mass),
            _ => None,
        };
        let by_mass: Vec<bool> = calls.iter().filter_map(by_mass).collect();
        assert_eq!(by_mass.len(), regular);
        match variant {
            "6++" => assert_eq!(by_mass[..4], [false, false, true, true]),
            "amuse" => assert_eq!(by_mass, [false; 2]),
            _ => assert_eq!(by_mass, [true; 2]),
        }
        let asked = |call: &Call| {
            matches!(
                call,
                Call::Irregular {
                    with_nearest: true,
                    ..
                }
            )
        };
        let asked = calls.iter().filter(|c| asked(c)).count();
        assert_eq!(asked, if variant == "6" { 0 } else { irregular });
        let [forces, neighbours, irregular, potentials] = repeat_nbody6(&calls);
        assert!(forces >= 74 && neighbours > 100 && irregular >= 1541 && potentials >= 300);
    }
}

/// Calls of each kind that `nbody6endings.c` makes.
const ENDINGS: [usize; 10] = [1, 0, 2, 7, 2, 1, 0, 100, 100, 4];

#[test]
fn a_forked_child_does_not_write_its_calls_of_nbody6_into_the_trace() {
    let Some(client) = compile("nbody6endings.c", Link::Shared) else {
        return;
    };
    let usual = succeed(&client, &[] as &[&std::ffi::OsStr], &[]);
    for way in ["return", "idle child", "busy child"] {
        let trace = place("nbody6-fork.trace");
        let output = run(clean_command(&client, &[("KIRIN_TRACE", name(&trace))]).arg(way));
        assert_eq!(texts(&output), (usual.clone(), String::new()), "{way}");
        let (events, error) = read(&trace);
        assert!(error.is_none(), "{way}: {error:?}");
        let calls = calls(events);
        assert_eq!(kinds(&calls), ENDINGS, "{way}");
        // Rows have room for two of the three neighbours that most targets have.
        assert_eq!(repeat_nbody6(&calls), [13, 14, 20, 8], "{way}");
    }
}

#[test]
fn a_user_of_nbody6_that_is_killed_or_has_no_room_leaves_what_was_written() {
    let Some(client) = compile("nbody6endings.c", Link::Shared) else {
        return;
    };
    let trace = place("nbody6-killed.trace");
    let mut shell = clean_command("sh", &[("KIRIN_TRACE", name(&trace))]);
    shell
        .args(["-c", "\"$0\" forever > /dev/null & sleep 1; kill -KILL $!"])
        .arg(&client);
    run(&mut shell);
    let (events, error) = read(&trace);
    assert!(matches!(error, Some(TraceError::Cut)), "{error:?}");
    let mut calls = calls(events);
    assert!(kinds(&calls)[3] > 100, "{:?}", kinds(&calls));
    calls.truncate(1000);
    assert!(repeat_nbody6(&calls)[0] > 100);

    for place in ["/dev/full", "/no/such/folder/trace"] {
        let output = run(&mut clean_command(&client, &[("KIRIN_TRACE", place)]));
        let (_, err) = texts(&output);
        assert!(output.status.success(), "{place}");
        assert_eq!(err.lines().count(), 1, "{place}: {err}");
        assert!(err.contains(place), "{err}");
    }
}
