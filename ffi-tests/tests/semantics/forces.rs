//! Forces: which particles act on which, and which results are written.

use ffi_tests::direct::{Probe, Source};
use ffi_tests::script::{Call, Form, Script, odd, request};
use ffi_tests::sets::cloud;
use ffi_tests::trial::{Settings, everywhere, under};

use super::{at, probe};

/// The first i-particle's seven numbers.
fn force(answer: &[f64]) -> &[f64] {
    &answer[1..8]
}

#[test]
fn addresses_may_come_in_any_order_and_the_last_write_wins() {
    let set = cloud(40, 21, 0.01);
    let mut script = Script::new();
    for k in 0..40 {
        let address = k * 7 % 40;
        script.call(Call::Particle(
            0,
            address,
            set.sources[(39 - address) as usize],
            0,
        ));
    }
    for k in 0..40 {
        let address = k * 11 % 40;
        script.call(Call::Particle(0, address, set.sources[address as usize], 0));
    }
    script
        .time(set.ti)
        .block(40, &set.probes, set.eps2)
        .lists(40);
    everywhere(&script);
}

#[test]
fn addresses_beyond_nj_do_not_exist() {
    let set = cloud(1100, 22, 0.01);
    let mut script = Script::new();
    script.load(&set.sources).time(set.ti);
    for nj in [1100, 700, 513, 512, 511, 1, 0, 64, 65, 1100] {
        script.block(nj, &set.probes[..6], set.eps2).lists(6);
    }
    everywhere(&script);
}

#[test]
fn addresses_never_written_do_not_exist() {
    let mut script = Script::new();
    let scattered = [(3, at(30, 1.0)), (700, at(-1, 2.0)), (5000, at(50, 4.0))];
    for (address, source) in scattered {
        script.call(Call::Particle(0, address, source, 0));
    }
    for nj in [3, 4, 1000, 6000, i32::MAX] {
        script
            .block(nj, &[probe(30, 1.0, 5.0), probe(0, 0.0, 20.0)], 0.0)
            .lists(2);
    }
    let Some(answers) = everywhere(&script) else {
        return;
    };
    // Neither a force nor a neighbour from the empty addresses 0, 1 and 2, at the probe's own place.
    let empty = &answers[4];
    assert!(force(&empty[8..]).iter().all(|&f| f == 0.0), "{empty:?}");
    assert_eq!(empty[8], -1.0);
}

#[test]
fn empty_blocks_and_empty_memory_give_zeros() {
    let mut script = Script::new();
    script.block(0, &[probe(1, 0.0, 1.0)], 0.0).lists(1);
    script.block(10, &[probe(1, 0.0, 1.0)], 0.25).lists(1);
    script.load(&[at(1, 0.0), at(2, 1.0)]);
    script
        .block(0, &[probe(1, 0.0, 1.0), probe(7, 3.0, 1.0)], 0.0)
        .lists(2);
    script.block(2, &[], 0.0).lists(1);
    script.block(1, &[probe(1, 5.0, 0.0)], 0.0);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    for block in [1, 5] {
        assert_eq!(answers[block][..8], [0.0; 8]);
    }
    assert_eq!(
        answers.last().expect("there are some")[..8],
        [0.0; 8],
        "only itself"
    );
}

#[test]
fn only_the_label_excludes_and_it_does_so_anywhere() {
    let sources = [at(5, 1.0), at(6, 2.0), at(5, 4.0)];
    let mut script = Script::new();
    script.load(&sources);
    // The label's own particle is elsewhere; a stranger sits at the same place as a source.
    script.block(
        3,
        &[probe(5, -1.0, 0.0), probe(7, 2.0, 0.0), probe(-1, 2.0, 0.0)],
        0.0625,
    );
    let Some(answers) = everywhere(&script) else {
        return;
    };
    let block = &answers[4];
    assert!(
        (block[1] - 3.0 / (9.0625_f64).powf(1.5)).abs() < 1e-15,
        "only 6 acts on 5"
    );
    assert!(
        block[9 + 6] < -4.0,
        "softened, a stranger at the same place has the potential -m/eps"
    );
}

#[test]
fn coincident_strangers_without_softening_exert_nothing() {
    let mut moving = at(6, 2.0);
    moving.v = [1.0, 2.0, 3.0];
    let mut script = Script::new();
    script
        .load(&[moving, at(7, 3.0)])
        .block(2, &[probe(1, 2.0, 0.5)], 0.0)
        .lists(1);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    let block = &answers[3];
    assert_eq!(block[..8], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
    assert_eq!(block[8], 6.0, "but they are nearest neighbours");
    assert_eq!(answers[5][..3], [0.0, 1.0, 6.0], "and in lists");
}

#[test]
fn coincident_strangers_with_softening_pull_the_velocity() {
    let mut moving = at(6, 2.0);
    moving.v = [1.0, 2.0, 3.0];
    let mut script = Script::new();
    script.load(&[moving]).block(1, &[probe(1, 2.0, 0.0)], 0.25);
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[2][..8], [0.0, 0.0, 0.0, 0.0, 8.0, 16.0, 24.0, -2.0]);
    }
}

#[test]
fn the_potential_is_negative_and_without_a_term_of_the_particle_itself() {
    let mut script = Script::new();
    script
        .load(&[at(0, 0.0), at(1, 2.0)])
        .block(2, &[probe(0, 0.0, 0.0)], 0.0);
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[3][7], -0.5);
    }
}

#[test]
fn massless_particles_exert_nothing_but_are_neighbours() {
    let mut ghost = at(3, 1.0);
    ghost.mass = 0.0;
    let mut script = Script::new();
    script
        .load(&[ghost, at(4, 4.0)])
        .block(2, &[probe(9, 0.0, 4.0)], 0.0)
        .lists(1);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(answers[3][1], 1.0 / 16.0);
    assert_eq!(answers[3][8], 3.0);
    assert_eq!(answers[5][2], 3.0);
}

#[test]
fn close_pairs_do_not_overflow() {
    for separation in [1e-6, 1e-8, 1e-10] {
        let mut near = at(2, 0.5 + separation);
        near.v = [0.25, -1.0, 0.5];
        let mut script = Script::new();
        script.load(&[near]).block(1, &[probe(1, 0.5, 0.0)], 0.0);
        everywhere(&script);
    }
}

#[test]
fn cgs_units_do_not_overflow() {
    let set = cloud(30, 23, 0.01);
    let (length, mass) = (3.1e18, 2.0e33);
    let grow = |a: [f64; 3]| a.map(|c| c * length);
    let sources: Vec<Source> = set
        .sources
        .iter()
        .map(|s| Source {
            mass: s.mass * mass,
            x: grow(s.x),
            v: grow(s.v),
            aby2: grow(s.aby2),
            a1by6: grow(s.a1by6),
            a2by18: grow(s.a2by18),
            ..*s
        })
        .collect();
    let probes: Vec<Probe> = set
        .probes
        .iter()
        .map(|p| Probe {
            x: grow(p.x),
            v: grow(p.v),
            ..*p
        })
        .collect();
    let mut script = Script::new();
    script
        .load(&sources)
        .time(set.ti)
        .block(30, &probes, set.eps2 * length * length);
    everywhere(&script);
}

#[test]
fn a_bad_particle_spoils_only_the_sums_it_is_in() {
    let mut bad = at(2, f64::NAN);
    bad.mass = f64::INFINITY;
    let mut script = Script::new();
    script.load(&[at(1, 1.0), bad, at(3, 4.0)]);
    let mut lost = probe(8, 2.0, 3.0);
    lost.x[1] = f64::NAN;
    script
        .block(3, &[probe(2, 0.0, 30.0), lost, probe(9, 0.0, 30.0)], 0.0)
        .lists(3);
    script.block(1, &[probe(9, 0.0, 3.0)], 0.0);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    let block = &answers[4];
    assert!(
        (block[1] - 1.0625).abs() < 1e-14,
        "the bad one's own label is excluded"
    );
    assert_eq!(
        block[1 + 8 + 7],
        -1.0,
        "a place that is no number has no neighbour"
    );
    assert_eq!(block[1 + 16 + 7], 1.0, "the nearest good one");
    assert_eq!(
        answers[8][..4],
        [0.0, 2.0, 1.0, 3.0],
        "lists leave the bad one out"
    );
    assert_eq!(answers[10][1], 1.0, "beyond nj it does not count");
}

#[test]
fn more_i_particles_than_pipelines() {
    let set = cloud(100, 24, 0.0);
    let mut script = Script::new();
    script
        .load(&set.sources)
        .time(set.ti)
        .block(100, &set.probes, set.eps2);
    for npipes in [2, 48, 16384] {
        let settings = Settings {
            npipes,
            ..Default::default()
        };
        under(&script, &settings);
    }
}

#[test]
fn one_array_may_take_accelerations_and_jerks() {
    let set = cloud(30, 25, 0.01);
    let mut script = Script::new();
    script
        .load(&set.sources)
        .time(set.ti)
        .first(30, &set.probes, set.eps2);
    let mut r = request(30, &set.probes, set.eps2);
    r.odd = odd::SAME;
    script.call(Call::Last(Form::Nearest, r, -1));
    everywhere(&script);
}

#[test]
fn doubles_may_be_aligned_to_four_bytes() {
    let set = cloud(30, 26, 0.01);
    let mut r = request(30, &set.probes, set.eps2);
    r.odd = odd::SHIFTED;
    let mut script = Script::new();
    script.load(&set.sources).time(set.ti);
    script.call(Call::First(r.clone()));
    script.call(Call::Last(Form::Nearest, r, -1)).lists(30);
    everywhere(&script);
}
