//! Cluster ids: open, close, aliases, several at once; the low-level calls.

use ffi_tests::script::{Call, Form, Request, Script, Spelling, request};
use ffi_tests::sets::cloud;
use ffi_tests::trial::{Settings, everywhere, under};

use super::{at, probe};

fn block(script: &mut Script, id: i32) {
    let r = Request {
        id,
        ..request(10, &[probe(0, 0.0, 99.0)], 0.0)
    };
    script.call(Call::First(r.clone()));
    script.call(Call::Last(Form::Nearest, r, -1));
    script.call(Call::Get(id, 0, 10, 0));
}

#[test]
fn the_number_of_pipelines_is_known_before_open_and_constant() {
    let mut script = Script::new();
    script
        .call(Call::Npipes)
        .call(Call::Open(0))
        .call(Call::Npipes)
        .load(&[at(1, 1.0)]);
    script
        .block(1, &[probe(0, 0.0, 0.0)], 0.0)
        .call(Call::Npipes)
        .call(Call::Close(0));
    script.call(Call::Npipes);
    script
        .call(Call::Spelling(Spelling::Fortran))
        .call(Call::Npipes);
    script
        .call(Call::Spelling(Spelling::GpuC))
        .call(Call::Npipes);
    for npipes in [256, 2, 48, 16384] {
        let settings = Settings {
            npipes,
            ..Default::default()
        };
        under(&script, &settings);
    }
}

#[test]
fn open_twice_keeps_and_close_forgets() {
    let mut script = Script::new();
    script
        .call(Call::Open(0))
        .load(&[at(1, 2.0)])
        .time(1.0)
        .call(Call::Open(0));
    block(&mut script, 0);
    script.call(Call::Close(0)).call(Call::Close(0));
    block(&mut script, 0);
    script.call(Call::Close(0)).call(Call::Open(0));
    block(&mut script, 0);
    let mut moving = at(1, 2.0);
    moving.v[0] = 1.0;
    script.load(&[moving]);
    block(&mut script, 0);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(answers[5][1], 0.25);
    assert_eq!(answers[10][1..9], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
    assert_eq!(answers[19][1], 0.25, "the time is forgotten too");
}

#[test]
fn an_id_that_was_never_opened_stands_for_the_only_open_cluster() {
    let mut script = Script::new();
    script.call(Call::Open(32544));
    script.call(Call::Particle(3, 0, at(1, 2.0), 0));
    block(&mut script, 0);
    block(&mut script, 32544);
    // Another id is opened: ids in use keep their clusters, and new ids get new ones.
    script.call(Call::Open(32727));
    block(&mut script, 0);
    block(&mut script, 32727);
    block(&mut script, 11);
    // Closing an alias closes its cluster.
    script.call(Call::Close(3));
    block(&mut script, 32544);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(answers[3][1], 0.25);
}

#[test]
fn several_clusters_are_kept_apart() {
    let ids = [0, 1, 64, -5, i32::MAX, i32::MIN];
    let mut script = Script::new();
    for id in ids {
        script.call(Call::Open(id));
    }
    for (k, id) in (1..).zip(ids) {
        script.call(Call::Particle(id, k % 3, at(k, f64::from(k)), 0));
        script.call(Call::Time(id, f64::from(k)));
    }
    for id in ids {
        let r = Request {
            id,
            ..request(10, &[probe(0, 0.0, 99.0)], 0.0)
        };
        script.call(Call::First(r));
    }
    for id in ids {
        let r = Request {
            id,
            ..request(10, &[probe(0, 0.0, 99.0)], 0.0)
        };
        script
            .call(Call::Last(Form::Nearest, r, -1))
            .call(Call::Get(id, 0, 10, 0));
    }
    script.call(Call::Close(64));
    for id in ids {
        block(&mut script, id);
    }
    everywhere(&script);
}

#[test]
fn no_call_needs_an_open() {
    let mut script = Script::new();
    script
        .call(Call::Harmless(7))
        .call(Call::Read(7))
        .call(Call::Get(7, 0, 5, 0));
    block(&mut script, 7);
    script
        .call(Call::Close(7))
        .call(Call::Close(12))
        .call(Call::Predicted(1, 2));
    everywhere(&script);
}

#[test]
fn accepted_calls_keep_the_particles() {
    let mut script = Script::new();
    script
        .load(&[at(1, 2.0)])
        .time(0.5)
        .first(1, &[probe(0, 0.0, 9.0)], 0.0);
    script
        .call(Call::Harmless(0))
        .last(1, &[probe(0, 0.0, 9.0)], 0.0);
    script
        .call(Call::Harmless(0))
        .lists(1)
        .block(1, &[probe(0, 0.0, 9.0)], 0.0);
    everywhere(&script);
}

#[test]
fn the_low_level_chain() {
    let set = cloud(30, 51, 0.0);
    for spelling in [
        Spelling::C,
        Spelling::Fortran,
        Spelling::All,
        Spelling::AllFortran,
    ] {
        let mut script = Script::new();
        script
            .call(Call::Spelling(spelling))
            .load(&set.sources)
            .time(set.ti);
        script.call(Call::Force(0, 3, true)).call(Call::Nip(0, 4));
        script.call(Call::Force(0, 4, true)).call(Call::Njp(0, 30));
        for (k, p) in (0..).zip(&set.probes[..6]) {
            script.call(Call::Probe(0, 5 - k, *p, f64::from(k) / 64.0));
        }
        script
            .call(Call::Force(0, 4, false))
            .call(Call::Force(0, 4, true))
            .lists(4);
        script.call(Call::Probe(0, -1, set.probes[0], 0.0));
        script
            .call(Call::Nip(0, -1))
            .call(Call::Njp(0, -1))
            .call(Call::Nip(0, 6));
        script
            .call(Call::Force(0, 6, true))
            .call(Call::Njp(0, 0))
            .call(Call::Force(0, 6, true));
        everywhere(&script);
    }
}

#[test]
fn predicted_particles_are_those_of_the_next_block() {
    let set = cloud(30, 52, 0.0);
    let mut script = Script::new();
    script
        .load(&set.sources)
        .first(30, &set.probes, 0.0)
        .time(set.ti);
    script
        .call(Call::Particle(0, 3, at(1, 2.0), 0))
        .call(Call::Particle(0, 32, at(1, 2.0), 0));
    script
        .call(Call::Predicted(0, 35))
        .last(30, &set.probes, 0.0)
        .call(Call::Predicted(0, 35));
    script
        .call(Call::Predicted(0, 0))
        .call(Call::Predicted(0, -1));
    everywhere(&script);
}

#[test]
fn the_null_pointer_is_cluster_zero() {
    let mut script = Script::new();
    for id in [1, 0, 2] {
        script.call(Call::Open(id));
    }
    script
        .load(&[at(1, 2.0)])
        .call(Call::Spelling(Spelling::NullId));
    // The other clusters are open and empty: a call that reaches one of them by mistake finds no particle.
    block(&mut script, 5);
    let plain = request(10, &[probe(0, 0.0, 99.0)], 0.0);
    script.call(Call::First(plain.clone()));
    script.call(Call::Last(Form::Plain, plain, -1));
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[5][1], 0.25, "lasthalf2");
        assert_eq!(answers[6][1..3], [1.0, 1.0], "the list");
        assert_eq!(answers[8][1], 0.25, "lasthalf");
    }
}
