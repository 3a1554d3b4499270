//! Nearest neighbours and neighbour lists.

use ffi_tests::script::{Call, Form, Script, request};
use ffi_tests::sets::cloud;
use ffi_tests::trial::{Settings, everywhere, under};

use super::{at, probe};

#[test]
fn without_a_neighbour_minus_one_stays_and_anything_else_becomes_zero() {
    for (setting, expected) in [
        (None, [-1.0, 0.0]),
        (Some(0), [0.0, 0.0]),
        (Some(-1), [-1.0, -1.0]),
    ] {
        let mut script = Script::new();
        script.load(&[at(3, 0.0)]);
        for fill in [-1, 12345] {
            script.first(1, &[probe(3, 0.0, 0.0)], 0.0);
            script.call(Call::Last(
                Form::Nearest,
                request(1, &[probe(3, 0.0, 0.0)], 0.0),
                fill,
            ));
        }
        let settings = Settings {
            no_neighbour: setting,
            ..Default::default()
        };
        let Some(answers) = under(&script, &settings) else {
            return;
        };
        assert_eq!([answers[2][8], answers[4][8]], expected, "{setting:?}");
    }
}

#[test]
fn the_first_of_equally_near_ones_is_the_nearest() {
    let mut script = Script::new();
    script.load(&[at(9, 3.0), at(7, 1.0), at(2, -1.0), at(1, 1.0)]);
    script.block(4, &[probe(0, 0.0, 0.0), probe(7, 0.0, 0.0)], 0.0);
    if let Some(answers) = everywhere(&script) {
        assert_eq!([answers[5][8], answers[5][16]], [7.0, 2.0]);
    }
}

#[test]
fn ties_across_many_particles_go_to_the_lowest_address() {
    // All on a sphere of integer radius: 3, 4, 12, 13 in every arrangement, many times over.
    let mut script = Script::new();
    for address in 0..2000 {
        let mut s = at(5000 - address, 0.0);
        s.x = if address < 1234 {
            [20.0, 1.0, 0.0]
        } else {
            [[3.0, 4.0, 12.0], [12.0, -3.0, 4.0]][address as usize % 2]
        };
        script.call(Call::Particle(0, address, s, 0));
    }
    script.block(
        2000,
        &[probe(0, 0.0, 0.0), probe(5000 - 1234, 0.0, 0.0)],
        0.0,
    );
    if let Some(answers) = everywhere(&script) {
        let block = answers.last().expect("there are answers");
        assert_eq!([block[8], block[16]], [5000.0 - 1234.0, 5000.0 - 1235.0]);
    }
}

#[test]
fn a_neighbour_may_be_very_far() {
    let mut script = Script::new();
    script
        .load(&[at(4, 1e12), at(5, -3e12)])
        .block(2, &[probe(0, 0.0, 0.0)], 0.0);
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[3][8], 4.0);
    }
}

#[test]
fn labels_are_whole_32_bit_integers() {
    let (a, b) = (16_777_217, 16_777_216);
    let mut script = Script::new();
    script.load(&[at(a, 1.0), at(b, 2.0), at(i32::MAX, 3.0), at(i32::MIN, 3.5)]);
    script.block(
        4,
        &[
            probe(b, 0.0, 100.0),
            probe(a, 0.0, 100.0),
            probe(0, 4.0, 1.5),
        ],
        0.0,
    );
    script.lists(3);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(
        [answers[5][8], answers[5][16]],
        [f64::from(a), f64::from(b)]
    );
    assert_eq!(answers[9][2..4], [f64::from(i32::MIN), f64::from(i32::MAX)]);
}

#[test]
fn the_list_radius_is_strict_and_not_softened() {
    let mut script = Script::new();
    script.load(&[at(1, 2.0), at(2, -2.0), at(3, 1.0)]);
    let above = 4.0 * (1.0 + f64::EPSILON);
    script.block(
        3,
        &[probe(0, 0.0, 4.0), probe(0, 0.0, above), probe(0, 1.0, 0.0)],
        100.0,
    );
    script.lists(3);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(answers[6][..3], [0.0, 1.0, 3.0]);
    assert_eq!(answers[7][..5], [0.0, 3.0, 1.0, 2.0, 3.0]);
    assert_eq!(answers[8][..2], [0.0, 0.0], "h2 = 0 is an empty list");
}

#[test]
fn the_own_label_is_listed_with_more_than_48_pipelines() {
    let mut script = Script::new();
    script.load(&[at(1, 0.0), at(2, 1.0), at(1, 50.0)]);
    script.block(3, &[probe(1, 0.0, 4.0)], 0.0).lists(1);
    for (npipes, expected) in [
        (256, &[1.0, 2.0][..]),
        (49, &[1.0, 2.0]),
        (48, &[2.0]),
        (2, &[2.0]),
    ] {
        let settings = Settings {
            npipes,
            ..Default::default()
        };
        let Some(answers) = under(&script, &settings) else {
            return;
        };
        assert_eq!(answers[6][1] as usize, expected.len(), "{npipes}");
        assert_eq!(&answers[6][2..2 + expected.len()], expected, "{npipes}");
    }
}

#[test]
fn lists_ascend_unless_told_otherwise() {
    let sources: Vec<_> = [40, -3, 17, 2, 99, 0].map(|label| at(label, 1.0)).into();
    let mut script = Script::new();
    script
        .load(&sources)
        .block(6, &[probe(1, 0.0, 2.0)], 0.0)
        .lists(1);
    script
        .call(Call::Sort(0))
        .block(6, &[probe(1, 0.0, 2.0)], 0.0)
        .lists(1);
    script
        .call(Call::Sort(5))
        .block(6, &[probe(1, 0.0, 2.0)], 0.0)
        .lists(1);
    let Some(answers) = everywhere(&script) else {
        return;
    };
    assert_eq!(answers[9][2..8], [-3.0, 0.0, 2.0, 17.0, 40.0, 99.0]);
    assert_eq!(answers[10], [0.0], "the mode reads back");
    let mut unsorted = answers[14][2..8].to_vec();
    unsorted.sort_by(f64::total_cmp);
    assert_eq!(unsorted, answers[9][2..8]);
}

#[test]
fn too_long_a_list_is_cut_at_maxlength_and_says_so() {
    let sources: Vec<_> = (0..10).map(|j| at(j, f64::from(j))).collect();
    let mut script = Script::new();
    script.load(&sources).block(10, &[probe(-1, 0.0, 1e3)], 0.0);
    script.call(Call::Read(0));
    for most in [0, 1, 9, 10, 11] {
        script.call(Call::Get(0, 0, most, 0));
    }
    let Some(answers) = everywhere(&script) else {
        return;
    };
    let heads: Vec<[f64; 2]> = answers[13..18].iter().map(|a| [a[0], a[1]]).collect();
    assert_eq!(
        heads,
        [[1.0, 0.0], [1.0, 1.0], [1.0, 9.0], [0.0, 10.0], [0.0, 10.0]]
    );
}

#[test]
fn lists_have_no_limit_of_their_own() {
    let sources: Vec<_> = (0..3000).map(|j| at(j, f64::from(j) / 3000.0)).collect();
    let mut script = Script::new();
    script
        .load(&sources)
        .block(3000, &[probe(-1, 0.0, 4.0)], 0.0);
    script.call(Call::Read(0)).call(Call::Get(0, 0, 4000, 0));
    if let Some(answers) = under(&script, &Settings::default()) {
        assert_eq!(
            answers.last().expect("there are answers")[..2],
            [0.0, 3000.0]
        );
    }
}

#[test]
fn lists_need_no_read_before_get_and_no_lasthalf() {
    let set = cloud(60, 31, 0.0);
    let mut script = Script::new();
    script.call(Call::Get(0, 0, 10, 0)).call(Call::Read(0));
    script
        .load(&set.sources)
        .time(set.ti)
        .first(60, &set.probes, 0.0);
    for pipe in [59, 0, 30, 60, 1000] {
        script.call(Call::Get(0, pipe, 60, 0));
    }
    script.last(60, &set.probes, 0.0).lists(60);
    everywhere(&script);
}

#[test]
fn bad_arguments_of_get_are_refused() {
    let mut script = Script::new();
    script
        .load(&[at(1, 0.0)])
        .block(1, &[probe(2, 0.0, 1.0)], 0.0);
    for (pipe, most, null) in [(-1, 5, 0), (0, -1, 0), (0, 5, 1), (0, 5, 2), (0, 0, 1)] {
        script.call(Call::Get(0, pipe, most, null));
    }
    script.lists(1);
    everywhere(&script);
}

#[test]
fn lists_do_not_depend_on_precision_or_backend() {
    let set = cloud(200, 32, 1.0 / 64.0);
    let mut script = Script::new();
    script
        .load(&set.sources)
        .time(set.ti)
        .block(200, &set.probes, set.eps2)
        .lists(200);
    everywhere(&script);
}
