//! The two halves of a block, and the calls between them.

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};
use ffi_tests::script::{Call, Form, Script, odd, request};
use ffi_tests::sets::cloud;
use ffi_tests::trial::everywhere;

use super::{at, probe};

#[test]
fn i_particles_are_taken_at_firsthalf() {
    let mut script = Script::new();
    script
        .load(&[at(1, 2.0)])
        .first(1, &[probe(0, 0.0, 5.0)], 0.0);
    // The arguments of lasthalf describe another particle: other label, place, softening, radius and nj.
    script
        .call(Call::Last(
            Form::Nearest,
            request(0, &[probe(1, 50.0, 0.0)], 9.0),
            -1,
        ))
        .lists(1);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(
        answers[2][..9],
        [0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, -0.5, 1.0]
    );
    assert_eq!(answers[4][..3], [0.0, 1.0, 1.0]);
}

#[test]
fn the_nearest_distance_has_the_softening_of_firsthalf() {
    let mut script = Script::new();
    script
        .load(&[at(1, 4.0)])
        .first(1, &[probe(0, 0.0, 0.0)], 9.0);
    script.call(Call::Last(
        Form::Distance,
        request(1, &[probe(0, 0.0, 0.0)], 1.0),
        -1,
    ));
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[2][9], 5.0);
    }
}

#[test]
fn writes_and_times_between_the_halves_act_on_the_next_block() {
    let mut moving = at(1, 2.0);
    moving.v[0] = 1.0;
    let block = [probe(0, 0.0, 100.0)];
    let mut script = Script::new();
    script.load(&[moving]).first(2, &block, 0.0);
    script.time(2.0).call(Call::Particle(0, 1, at(2, -8.0), 0));
    let mut other = moving;
    other.x[0] = 6.0;
    script.call(Call::Particle(0, 0, other, 0));
    script.last(2, &block, 0.0).lists(1);
    script.call(Call::Particle(0, 1, at(3, -8.0), 0)).lists(1);
    script.block(2, &block, 0.0).lists(1);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(answers[5][1], 0.25, "the block saw one particle at 2");
    assert_eq!(answers[7][..3], [0.0, 1.0, 1.0], "so does its list");
    assert_eq!(answers[10][..3], [0.0, 1.0, 1.0], "and later again");
    assert_eq!(answers[12][1], 0.0, "the next one: 8 and -8 in balance");
    assert_eq!(answers[14][..4], [0.0, 2.0, 1.0, 3.0]);
}

#[test]
fn many_writes_between_the_halves() {
    let set = cloud(400, 41, 0.01);
    let mut script = Script::new();
    script
        .load(&set.sources)
        .time(set.ti)
        .first(400, &set.probes[..4], set.eps2);
    for round in 0..30 {
        for address in 0..400 {
            let mut s = set.sources[address];
            s.x[0] += f64::from(round);
            script.call(Call::Particle(0, address as i32, s, 0));
        }
    }
    script
        .last(400, &set.probes[..4], set.eps2)
        .lists(4)
        .block(400, &set.probes[..4], set.eps2);
    everywhere(&script);
}

#[test]
fn lasthalf_without_firsthalf_does_the_whole_calculation() {
    let set = cloud(30, 42, 0.01);
    let mut script = Script::new();
    script
        .load(&set.sources)
        .time(set.ti)
        .last(30, &set.probes, set.eps2)
        .lists(30);
    // The block was fetched: the next one sees the new state.
    script.time(0.25).last(20, &set.probes[..5], 0.0).lists(5);
    script
        .block(30, &set.probes, 0.0)
        .last(30, &set.probes[3..6], 0.5);
    everywhere(&script);
}

#[test]
fn fewer_results_than_i_particles_may_be_fetched_but_not_more() {
    let set = cloud(30, 43, 0.01);
    let mut script = Script::new();
    script.load(&set.sources).time(set.ti);
    script
        .first(30, &set.probes[..10], 0.0)
        .last(30, &set.probes[..4], 0.0)
        .lists(11);
    script
        .first(30, &set.probes[..10], 0.0)
        .last(30, &set.probes[..11], 0.0);
    script.last(30, &set.probes[..10], 0.0);
    everywhere(&script);
}

#[test]
fn a_second_firsthalf_gives_the_first_one_up() {
    let set = cloud(30, 44, 0.01);
    let mut script = Script::new();
    script
        .load(&set.sources)
        .time(set.ti)
        .first(30, &set.probes, 0.0);
    script.time(0.5).call(Call::Particle(0, 3, at(9, 4.0), 0));
    script
        .first(29, &set.probes[..3], 0.0)
        .last(29, &set.probes[..3], 0.0)
        .lists(3);
    everywhere(&script);
}

/// Hamers' TPI begins all parts of a block before it fetches the first.
#[test]
fn parts_that_were_begun_together_are_fetched_one_after_another() {
    let set = cloud(30, 45, 0.01);
    let parts: Vec<_> = set.probes.chunks(4).take(3).collect();
    let [eps2, other] = [set.eps2, 4.0 * set.eps2];
    let mut script = Script::new();
    script.load(&set.sources).time(set.ti);
    for part in &parts {
        script.first(30, part, eps2);
    }
    for part in &parts {
        script.last(30, part, eps2).lists(part.len() as i32);
    }
    // Each part as if it had come alone.
    for part in &parts {
        script.block(30, part, eps2);
    }
    // What was begun last may be fetched first, and then its i-particles are those of firsthalf.
    script.first(30, parts[0], eps2).first(30, parts[1], eps2);
    script.last(30, parts[1], other).last(30, parts[0], eps2);
    // A write, a time or another nj in between: the first block was given up, and any arguments fetch the second.
    script.first(30, parts[0], eps2);
    script.call(Call::Particle(0, 3, at(9, 4.0), 0));
    script.first(30, parts[1], eps2).last(30, parts[0], eps2);
    script.first(30, parts[0], eps2).time(0.5);
    script.first(30, parts[1], eps2).last(30, parts[0], eps2);
    script.first(30, parts[0], eps2).first(29, parts[1], eps2);
    script.last(29, parts[0], eps2);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    let forces: Vec<_> = answers.iter().filter(|a| a.len() == 1 + 5 * 8).collect();
    for k in 0..3 {
        assert_eq!(forces[k], forces[k + 3], "part {k}");
    }
}

#[test]
fn lasthalf_and_lasthalf2_may_alternate() {
    let set = cloud(30, 45, 0.01);
    let mut script = Script::new();
    script.load(&set.sources).time(set.ti);
    for form in [
        Form::Plain,
        Form::Nearest,
        Form::PlainLists,
        Form::Distance,
        Form::Plain,
        Form::NearestLists,
        Form::DistanceLists,
        Form::Mode,
    ] {
        script.first(30, &set.probes, 0.0);
        script
            .call(Call::Last(form, request(30, &set.probes, 0.0), -1))
            .lists(3);
    }
    for _ in 0..70 {
        script.first(30, &set.probes[..2], 0.0);
        script.call(Call::Last(
            Form::Plain,
            request(30, &set.probes[..2], 0.0),
            -1,
        ));
    }
    script.block(30, &set.probes, 0.0);
    everywhere(&script);
}

#[test]
fn null_pointers_that_matter_are_refused_and_change_nothing() {
    let block = [probe(0, 0.0, 9.0)];
    let mut script = Script::new();
    for null in 1..=5 {
        script.call(Call::Particle(0, 0, at(1, 2.0), null));
    }
    script.load(&[at(1, 2.0)]).first(1, &block, 0.0);
    for bit in [odd::NO_INDEX, odd::NO_X, odd::NO_V] {
        let mut r = request(1, &[probe(0, 1.0, 0.0)], 0.0);
        r.odd = bit;
        script.call(Call::First(r));
    }
    for bit in [odd::NO_ACC, odd::NO_JERK, odd::NO_POT, odd::NO_NEAREST] {
        let mut r = request(1, &block, 0.0);
        r.odd = bit;
        script.call(Call::Last(Form::Nearest, r, -1));
    }
    // The block of the only valid firsthalf is still there.
    script.last(1, &block, 0.0).lists(1);
    script.call(Call::First(request(-1, &block, 0.0)));
    script.block(1, &block, 0.0).lists(1);
    everywhere(&script);
}

#[test]
fn null_pointers_that_do_not_matter_are_accepted() {
    let block = [probe(0, 0.0, 9.0)];
    let mut r = request(1, &block, 0.0);
    r.odd = odd::NO_OLD | odd::NO_H2;
    let mut script = Script::new();
    script
        .load(&[at(1, 2.0)])
        .call(Call::First(r))
        .last(1, &block, 0.0)
        .lists(1);
    let mut r = request(1, &[], 0.0);
    r.odd = 1023;
    script
        .call(Call::First(r.clone()))
        .call(Call::Last(Form::Plain, r, -1));
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(answers[4][..2], [0.0, 0.0], "no h2, no list");
    assert_eq!(
        [answers[5][0], answers[6][0]],
        [0.0, 0.0],
        "no i-particle, no array"
    );
}

#[test]
fn negative_counts_and_addresses_are_refused_and_change_nothing() {
    let block = [probe(0, 0.0, 9.0)];
    let mut script = Script::new();
    script
        .load(&[at(1, 2.0)])
        .call(Call::Particle(0, -1, at(2, 1.0), 0));
    script.call(Call::Particle(0, i32::MIN, at(2, 1.0), 0));
    script.first(1, &block, 0.0);
    for (nj, ni) in [(-1, 1), (1, -1), (i32::MIN, i32::MIN)] {
        let mut r = request(nj, &block, 0.0);
        r.ni = ni;
        script
            .call(Call::First(r.clone()))
            .call(Call::Last(Form::Nearest, r, -1));
    }
    script.last(1, &block, 0.0);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert!(answers[1][0] < 0.0 && answers[2][0] < 0.0);
    assert_eq!(answers.last().expect("there are answers")[1], 0.25);
}

#[test]
fn the_greatest_address_is_as_good_as_any() {
    let mut script = Script::new();
    script
        .call(Call::Particle(0, i32::MAX, at(7, 1.0), 0))
        .load(&[at(1, 2.0)]);
    script.block(i32::MAX, &[probe(0, 0.0, 9.0)], 0.0).lists(1);
    script.call(Call::Particle(0, i32::MAX - 1, at(8, -2.0), 0));
    script.block(i32::MAX, &[probe(0, 0.0, 9.0)], 0.0).lists(1);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(
        answers[3][1], 0.25,
        "nj = 2147483647 leaves the last address out"
    );
    assert_eq!(answers[8][1], 0.0, "2147483646 is in");
}

/// Fortran's firsthalf is a subroutine: only lasthalf can tell what it was refused.
#[test]
fn a_refused_firsthalf_is_told_by_lasthalf() {
    let Some(client) = compile("refused.c", Link::Shared) else {
        return;
    };
    for backend in ["cpu", "reference"] {
        let settings = [("KIRIN_BACKEND", backend)];
        let (out, err) = texts(&run(&mut clean_command(&client, &settings)));
        assert_eq!(
            out,
            "-1 -1 7\n0 0.0625\n-1 -1 7\n-1 -1 7\n0 0 0.25\n0 0 1\n-1 -1 -1 3\n\
             -1 -1 7\n-1 -1 7\n-1 -1 7\n-1 -1 7\n",
            "{backend}: {err}"
        );
    }
}
