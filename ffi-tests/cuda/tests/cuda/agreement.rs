//! Forces, nearest neighbours and lists agree with the plain sum, for numbers of particles around every boundary of a
//! tile.

use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::Set;

use crate::inputs::still;
use crate::{PRECISIONS, forces, input, set};

const PIPES: (&str, &str) = ("KIRIN_NPIPES", "16384");
/// The client asks for forces alone, which are the work of other kernels.
const WITHOUT_NEAREST: (&str, &str) = ("WITHOUT_NEAREST", "1");

fn agree(nj: usize, ni: usize, eps2: f64, settings: &[(&str, &str)]) {
    agree_about(&set(nj, ni, eps2), settings);
}

/// With nearest neighbours and without.
fn agree_about(set: &Set, settings: &[(&str, &str)]) {
    let input = input(set);
    for precision in PRECISIONS {
        let all = [&[PIPES, ("KIRIN_PRECISION", precision)], settings].concat();
        let Some(found) = forces(&input, &all) else {
            return;
        };
        report::check(&found, set, Tolerance::of(precision), true);
        let without = forces(&input, &[&all[..], &[WITHOUT_NEAREST]].concat());
        assert!(
            without.is_some_and(|w| same_but_for_the_nearest(&w, &found)),
            "{precision} {settings:?}: other digits without nearest neighbours"
        );
    }
}

fn same_but_for_the_nearest(one: &str, other: &str) -> bool {
    let lines = |text: &str| {
        let mut lines = report::parse(text);
        lines.iter_mut().for_each(|line| line.nearest = 0);
        lines
    };
    lines(one) == lines(other)
}

#[test]
fn any_number_of_j_particles() {
    for nj in [
        1, 2, 63, 64, 65, 127, 129, 511, 512, 513, 575, 1023, 1024, 1025, 1537,
    ] {
        agree(nj, 17, 1e-4, &[]);
    }
}

#[test]
fn any_number_of_i_particles() {
    for ni in [
        1, 2, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513,
    ] {
        agree(600, ni, 1e-4, &[]);
    }
}

#[test]
fn any_split_of_the_j_particles() {
    for multiprocessors in ["1", "2", "3", "132"] {
        agree(
            2200,
            70,
            1e-4,
            &[("FAKE_CUDA_MULTIPROCESSORS", multiprocessors)],
        );
    }
}

/// With one multiprocessor and many pages a thread block goes through several pages, one after the other.
#[test]
fn parts_of_many_pages() {
    for ni in [20, 70, 300] {
        agree(9000, ni, 1e-4, &[("FAKE_CUDA_MULTIPROCESSORS", "1")]);
    }
}

/// Two neighbours in different leaves, whose distances single precision cannot distinguish. The nearest neighbour must
/// be the one that is nearer in double precision, although it has the higher address.
#[test]
fn the_nearer_of_two_that_are_nearly_as_near() {
    let mut set = set(700, 300, 1e-4);
    let at = set.probes[299].x;
    for (address, axis, distance) in [(3, 0, 1e-3 * (1.0 + 1e-9)), (650, 1, 1e-3)] {
        let source = &mut set.sources[address];
        (source.v, source.aby2) = ([0.0; 3], [0.0; 3]);
        (source.a1by6, source.a2by18) = ([0.0; 3], [0.0; 3]);
        source.x = at;
        source.x[axis] += distance;
    }
    let nearest = set.sources[650].index;
    let input = input(&set);
    for precision in PRECISIONS {
        let settings = [PIPES, ("KIRIN_PRECISION", precision)];
        if let Some(found) = forces(&input, &settings) {
            let line = found.lines().nth(299).expect("a line for each probe");
            let word = line.split_whitespace().nth(8).expect("the nearest");
            assert_eq!(word, nearest.to_string(), "{precision}: {line}");
        }
    }
}

#[test]
fn without_softening() {
    agree(700, 130, 0.0, &[]);
}

#[test]
fn without_velocities() {
    // 1, 2 and 4 i-particles a thread.
    for (nj, ni, multiprocessors) in [(700, 20, "1"), (1100, 1000, "2"), (600, 600, "1")] {
        let settings = [("FAKE_CUDA_MULTIPROCESSORS", multiprocessors)];
        agree_about(&still(set(nj, ni, 1e-4)), &settings);
    }
}

#[test]
fn with_one_two_and_four_i_particles_a_thread() {
    for (ni, multiprocessors) in [(20, "1"), (1000, "2"), (1000, "1")] {
        agree(
            1100,
            ni,
            1e-4,
            &[("FAKE_CUDA_MULTIPROCESSORS", multiprocessors)],
        );
    }
}
