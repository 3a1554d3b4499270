//! Tests: events are the same after writing and reading, and damaged files are read up to the damage.

use std::path::{Path, PathBuf};

use super::code::{Coder, Reader, Streams, Writer};
use super::forecast::Forecast;
use super::nbody6;
use super::recorder::Recorder;
use super::{Event, HintedParticle, Trace, TraceError};
use crate::random::Random;
use crate::sources::particle::{Force, IParticle, JParticle};

/// One of every kind, with numbers of every kind.
fn every_event() -> Vec<Event> {
    let odd = [f64::NAN, f64::NEG_INFINITY, -0.0];
    let particle = |index: i32| JParticle {
        index,
        t: 0.125,
        mass: 1.0 / 3.0,
        x: [0.1 * f64::from(index), -1e300, 5e-324],
        v: odd,
        aby2: [0.25, 0.5, f64::MAX],
        a1by6: [0.1; 3],
        a2by18: odd,
    };
    let force = |a: f64| Force {
        acc: [a, -a, 0.0],
        jerk: odd,
        pot: -a,
    };
    let target = |index: i32| HintedParticle {
        particle: IParticle {
            index,
            x: [1.0 / f64::from(index), 2.0, 3.0],
            v: odd,
            eps2: f64::from(index),
            h2: 0.01,
        },
        hint: force(0.3),
    };
    let text = "cpu, with ü".to_owned();
    let mut events = vec![
        Event::Pipelines { count: 256 },
        Event::Open { id: 32544 },
        Event::SortMode { mode: -1 },
        Event::SetPrecision {
            id: 3,
            precision: -4,
        },
        write(0, i32::MAX, particle(i32::MIN), false),
        write(-7, 0, particle(i32::MAX), true),
        write(0, 5, particle(9), false),
        Event::SetTi {
            id: 0,
            ti: 1.0 / 7.0,
        },
        Event::FirstHalf {
            id: 0,
            nj: 6,
            particles: vec![target(9), target(-3), target(i32::MAX), target(i32::MIN)],
            nanoseconds: u64::MAX,
        },
        Event::Description {
            id: 0,
            backend: text.clone(),
            precision: String::new(),
        },
        Event::LastHalf {
            id: 0,
            forces: vec![force(0.1), force(0.2)],
            nearest: Some(vec![-1, i32::MAX]),
            nanoseconds: 77,
        },
        Event::LastHalf {
            id: 3,
            forces: vec![force(0.1)],
            nearest: None,
            nanoseconds: 0,
        },
        Event::ReadList { id: 0, status: 1 },
        Event::GetList {
            id: 0,
            ipipe: 3,
            room: 100,
            status: 0,
            labels: vec![i32::MIN, 4, i32::MAX],
        },
        Event::Predicted {
            id: 0,
            found: vec![([0.5; 3], odd), ([0.25; 3], odd)],
        },
        Event::FirstHalf {
            id: 1,
            nj: 0,
            particles: Vec::new(),
            nanoseconds: 0,
        },
        Event::Close { id: 0 },
    ];
    let calls = nbody6::tests::every_call();
    events.extend(calls.into_iter().map(Event::Nbody6));
    events
}

fn write(id: i32, address: i32, particle: JParticle, mass_position: bool) -> Event {
    // What is not sent is not kept.
    let (dt, particle) = match mass_position {
        false => (0.0625, particle),
        true => (
            0.0,
            JParticle {
                index: particle.index,
                mass: particle.mass,
                x: particle.x,
                ..JParticle::default()
            },
        ),
    };
    Event::JParticle {
        id,
        address,
        dt,
        mass_position,
        particle,
    }
}

/// NaN is not equal to itself, but its text is.
fn texts(events: &[Event]) -> Vec<String> {
    events.iter().map(|e| format!("{e:?}")).collect()
}

fn place(name: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("kirin-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    file
}

fn record(file: &Path, events: &[Event], whole: bool) {
    let mut recorder = Recorder::open(file.as_os_str()).expect("a new file");
    for event in events {
        recorder.keep(&mut event.clone()).expect("there is room");
    }
    match whole {
        true => recorder.finish().expect("there is room"),
        false => recorder.write_chunk().expect("there is room"),
    }
}

/// What can be read, and why not more.
fn read(file: &Path) -> (Vec<Event>, Option<TraceError>) {
    let mut events = Vec::new();
    let mut trace = match Trace::open(file) {
        Ok(trace) => trace,
        Err(e) => return (events, Some(e)),
    };
    loop {
        match trace.next_event() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (events, None),
            Err(e) => {
                assert!(matches!(trace.next_event(), Ok(None)), "an end is an end");
                return (events, Some(e));
            }
        }
    }
}

#[test]
fn every_event_comes_back_from_a_file() {
    let file = place("every");
    let mut events = every_event();
    events.extend(every_event());
    record(&file, &events, true);
    let (found, error) = read(&file);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(texts(&found), texts(&events));
    let trace = Trace::open(&file).expect("it was read already");
    assert_eq!(trace.head()[0].1, env!("CARGO_PKG_VERSION"));
    let _ = std::fs::remove_file(&file);
}

#[test]
fn kinds_are_numbered_as_they_are_made() {
    for event in every_event() {
        let blank = Event::blank(event.kind()).expect("it has a number");
        assert_eq!(
            std::mem::discriminant(&blank),
            std::mem::discriminant(&event)
        );
    }
    assert_eq!(Event::blank(24), None);
}

#[test]
fn a_trace_without_an_end_is_cut_wherever_it_ends() {
    let file = place("cut");
    let mut events = Vec::new();
    for _ in 0..400 {
        events.extend(every_event());
    }
    record(&file, &events, false);
    let (found, error) = read(&file);
    assert!(matches!(error, Some(TraceError::Cut)), "{error:?}");
    assert_eq!(found.len(), events.len(), "only the end is missing");

    record(&place("cut"), &events, true);
    let whole = std::fs::read(&file).expect("it was written");
    let mut lengths = Vec::new();
    for cut in (0..whole.len()).step_by(whole.len() / 97) {
        std::fs::write(&file, &whole[..cut]).expect("the folder is writable");
        let (found, error) = read(&file);
        assert!(error.is_some(), "cut at {cut} of {}", whole.len());
        assert_eq!(texts(&found), texts(&events[..found.len()]));
        lengths.push(found.len());
    }
    assert!(
        lengths.is_sorted() && lengths.iter().any(|&n| n > events.len() / 2),
        "{lengths:?}"
    );
    let _ = std::fs::remove_file(&file);
}

#[test]
fn a_changed_byte_is_found() {
    let file = place("damage");
    let mut events = Vec::new();
    for _ in 0..100 {
        events.extend(every_event());
    }
    record(&file, &events, true);
    let whole = std::fs::read(&file).expect("it was written");
    let head = whole.windows(2).position(|w| w == b"\n\n").expect("a head") + 2;
    for at in (head..whole.len()).step_by(whole.len() / 61) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&file, &damaged).expect("the folder is writable");
        let (found, error) = read(&file);
        assert!(error.is_some() || found.len() == events.len(), "byte {at}");
        assert_eq!(texts(&found), texts(&events[..found.len()]), "byte {at}");
    }
    for text in [
        "",
        "kirin trace 3\n\n",
        "kirin trace 0\n\n",
        "not a trace\n",
        "kirin trace 1\nno end",
    ] {
        std::fs::write(&file, text).expect("the folder is writable");
        assert!(read(&file).1.is_some(), "{text}");
    }
    let _ = std::fs::remove_file(&file);
}

#[test]
fn any_bytes_are_an_error_and_no_panic() {
    let mut random = Random::default();
    let mut byte = move || random.bits() as u8;
    for _ in 0..2000 {
        let mut column = |most: u8| (0..byte() % most).map(|_| byte() % 60).collect::<Vec<u8>>();
        let streams = Streams {
            control: column(40),
            shapes: column(40),
            bytes: column(200),
            half: false,
        };
        let mut reader = Reader::at(&streams, [0; 3]);
        let mut forecast = Forecast::default();
        let mut kind = 0;
        while reader.whole(&mut kind).is_ok() {
            let Some(mut event) = u8::try_from(kind).ok().and_then(Event::blank) else {
                break;
            };
            if event.code(&mut reader, &mut forecast).is_err() {
                break;
            }
        }
    }
}

#[test]
fn what_a_client_repeats_costs_next_to_nothing() {
    let mut streams = Streams::default();
    let mut forecast = Forecast::default();
    let mut cost = |event: &mut Event| {
        let before = streams.bytes.len();
        event
            .code(&mut Writer(&mut streams), &mut forecast)
            .expect("it is written");
        streams.bytes.len() - before
    };
    let particle = JParticle {
        index: 4,
        mass: 0.1,
        x: [0.3, 0.7, 0.9],
        v: [0.1, 0.2, 0.3],
        aby2: [0.11, 0.12, 0.13],
        a1by6: [0.01, 0.02, 0.03],
        ..JParticle::default()
    };
    let ti = 0.03125;
    cost(&mut write(0, 3, particle, false));
    cost(&mut Event::SetTi { id: 0, ti });
    let (x, v) = particle.predicted(ti);
    let p = IParticle {
        index: 4,
        x,
        v,
        ..IParticle::default()
    };
    let block = |hint| Event::FirstHalf {
        id: 0,
        nj: 4,
        particles: vec![HintedParticle { particle: p, hint }],
        nanoseconds: 0,
    };
    assert_eq!(cost(&mut block(Force::default())), 0);
    let force = Force {
        acc: [0.22, 0.24, 0.26],
        jerk: [0.0601, 0.1201, 0.1801],
        pot: -0.123,
    };
    let mut results = Event::LastHalf {
        id: 0,
        forces: vec![force],
        nearest: None,
        nanoseconds: 0,
    };
    assert!(cost(&mut results) < 56, "results are foretold in part");
    assert_eq!(cost(&mut block(force)), 0, "the hints are the last results");
    let stored = JParticle {
        t: ti,
        x,
        v,
        aby2: force.acc.map(|a| a / 2.0),
        a1by6: force.jerk.map(|j| j / 6.0),
        ..particle
    };
    assert_eq!(cost(&mut write(0, 3, stored, false)), 0);
}
