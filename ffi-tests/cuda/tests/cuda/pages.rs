//! The device keeps a summary of each page: which places are empty, the greatest distance of its particles, and their
//! least speed.

use ffi_tests::direct::{Probe, Source};
use ffi_tests::library;
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::Set;
use kirin_core::random::Random;
use kirin_core::sources::particle::JParticle;

use crate::{PRECISIONS, forces, input, set};

/// Single addresses, a leaf and a page to which nothing was ever sent.
fn is_hole(address: usize) -> bool {
    address % 3 == 1 || (64..128).contains(&address) || (512..1024).contains(&address)
}

#[test]
fn nothing_is_at_addresses_that_were_never_written() {
    let mut set = set(1300, 40, 1e-4);
    let text = set.to_text();
    let mut lines: Vec<&str> = text.lines().collect();
    for address in 0..set.sources.len() {
        if is_hole(address) {
            // The particle before is sent again.
            lines[address + 1] = lines[address];
        }
    }
    let input = library::workspace().join("set-with-holes");
    std::fs::write(&input, lines.join("\n")).expect("the target folder is writable");
    let all = std::mem::take(&mut set.sources);
    let present = all.into_iter().enumerate().filter(|s| !is_hole(s.0));
    set.sources = present.map(|s| s.1).collect();
    for precision in PRECISIONS {
        for predictor in ["host", "device"] {
            let settings = [
                ("KIRIN_PRECISION", precision),
                ("KIRIN_PREDICTOR", predictor),
            ];
            if let Some(found) = forces(&input, &settings) {
                // A probe whose label no source has is not in its list.
                report::check(&found, &set, Tolerance::of(precision), true);
            }
        }
    }
}

/// A last page of heavy sources, which decide the force on probes at rest.
fn with_heavy_page(distance: f64, mass: f64, speed: f64) -> Set {
    let mut set = set(1100, 40, 1e-4);
    let mut noise = Random::new(9);
    for source in &mut set.sources[1024..] {
        *source = Source {
            index: source.index,
            t: set.ti,
            mass,
            x: noise.vector(distance),
            v: noise.vector(speed),
            ..Source::default()
        };
    }
    set.probes.iter_mut().for_each(|probe| probe.v = [0.0; 3]);
    set
}

fn check(set: &Set) {
    let input = input(set);
    for precision in PRECISIONS {
        if let Some(found) = forces(&input, &[("KIRIN_PRECISION", precision)]) {
            report::check(&found, set, Tolerance::of(precision), true);
        }
    }
}

/// In single precision m / r^3 is zero.
#[test]
fn a_page_far_out_is_felt() {
    check(&with_heavy_page(1e13, 1e40, 0.5));
}

/// In single precision m v / r^3 is zero.
#[test]
fn a_page_that_hardly_moves_has_a_jerk() {
    check(&with_heavy_page(100.0, 1e46, 1e-36));
}

/// Probes that are so close to where some sources will be that the last bit of a position is a large part of the distance.
/// The square of a radius is the square of the distance for one half of the probes, and the next greater number for the other.
fn at_predicted_places(set: &Set, noise: &mut Random) -> Vec<(i32, Probe)> {
    let sources = set.sources.iter().step_by(5).enumerate();
    let probes = sources.map(|(k, source)| {
        let (place, _) = JParticle::from(source).predicted(set.ti);
        let away = noise.vector(1e-3);
        let x = [0, 1, 2].map(|n| place[n] + away[n]);
        let [dx, dy, dz] = [0, 1, 2].map(|n| place[n] - x[n]);
        let r2 = dx * dx + dy * dy + dz * dz;
        let probe = Probe {
            index: 9000 + k as i32,
            x,
            v: [0.0; 3],
            h2: if k % 2 == 0 { r2 } else { r2.next_up() },
        };
        (source.index, probe)
    });
    probes.collect()
}

/// To the last bit in every precision, over intervals that are no powers of two.
#[test]
fn a_page_is_predicted_as_on_the_host() {
    let mut set = set(600, 40, 1e-4);
    let mut noise = Random::new(5);
    for source in &mut set.sources {
        source.t = set.ti * noise.signed();
    }
    let close = at_predicted_places(&set, &mut noise);
    set.probes
        .splice(0..0, close.iter().map(|(_, probe)| *probe));
    let input = input(&set);
    for precision in PRECISIONS {
        let of = |predictor| {
            let settings = [
                ("KIRIN_PRECISION", precision),
                ("KIRIN_PREDICTOR", predictor),
            ];
            forces(&input, &settings)
        };
        let (device, host) = (of("device"), of("host"));
        assert!(device == host, "{precision}: other digits on the device");
        let lines = device.map_or(Vec::new(), |found| report::parse(&found));
        for (k, (line, (label, _))) in lines.iter().zip(&close).enumerate() {
            let is_inside = line.list.contains(label);
            assert_eq!(is_inside, k % 2 == 1, "{precision}: source {label}");
        }
    }
}
