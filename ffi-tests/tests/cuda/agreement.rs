//! Forces, nearest neighbours and lists are those of the plain sum, at every boundary of a tile.

use ffi_tests::report::{self, Tolerance};

use crate::{PRECISIONS, forces, input, set};

const PIPES: (&str, &str) = ("KIRIN_NPIPES", "16384");

fn agree(nj: usize, ni: usize, eps2: f64, settings: &[(&str, &str)]) {
    let set = set(nj, ni, eps2);
    let input = input(&set);
    for precision in PRECISIONS {
        let all = [&[PIPES, ("KIRIN_PRECISION", precision)], settings].concat();
        if let Some(found) = forces(&input, &all) {
            report::check(&found, &set, Tolerance::of(precision), true);
        }
    }
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

#[test]
fn without_softening() {
    agree(700, 130, 0.0, &[]);
}

#[test]
fn without_velocities() {
    let mut set = set(700, 300, 1e-4);
    for source in &mut set.sources {
        (source.v, source.aby2) = ([0.0; 3], [0.0; 3]);
        (source.a1by6, source.a2by18) = ([0.0; 3], [0.0; 3]);
    }
    for probe in &mut set.probes {
        probe.v = [0.0; 3];
    }
    let input = input(&set);
    for precision in PRECISIONS {
        if let Some(found) = forces(&input, &[("KIRIN_PRECISION", precision)]) {
            report::check(&found, &set, Tolerance::of(precision), true);
        }
    }
}
