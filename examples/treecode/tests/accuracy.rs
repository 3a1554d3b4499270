//! Forces against direct summation.

mod common;

use std::sync::LazyLock;

use common::{direct, forces, grape, rms};
use kirin_kit::vector::Vec3;
use kirin_kit::{Body, models};
use treecode::forces::Engine;
use treecode::settings::Settings;

static BODIES: LazyLock<Vec<Body>> = LazyLock::new(|| models::plummer(16384, 1));
static EXACT: LazyLock<Vec<(Vec3, f64)>> =
    LazyLock::new(|| direct(&BODIES, Settings::default().eps));

/// The error of the library's forces with these settings.
fn error(theta: f64, n_crit: usize, quadrupoles: bool) -> f64 {
    let (_turn, grape) = grape();
    let settings = Settings {
        theta,
        n_crit,
        quadrupoles,
        ..Settings::default()
    };
    rms(&EXACT, &forces(Engine::Library(&grape), &settings, &BODIES))
}

#[test]
fn monopoles_and_quadrupoles() {
    for (n_crit, bound) in [(1, 1e-2), (512, 5e-3)] {
        let monopoles = error(0.75, n_crit, false);
        let quadrupoles = error(0.75, n_crit, true);
        assert!(monopoles < bound, "n_crit {n_crit}: {monopoles:e}");
        assert!(
            monopoles > 1.5 * quadrupoles,
            "n_crit {n_crit}: {monopoles:e} {quadrupoles:e}"
        );
    }
}

#[test]
fn errors_fall_with_the_opening_angle() {
    for quadrupoles in [false, true] {
        let errors = [1.0, 0.75, 0.5, 0.3].map(|theta| error(theta, 512, quadrupoles));
        assert!(errors.windows(2).all(|e| e[0] > 1.25 * e[1]), "{errors:?}");
    }
}

/// With every cell opened each list holds everybody.
#[test]
fn no_opening_angle_is_direct_summation() {
    let bodies = models::plummer(700, 2);
    let settings = Settings {
        theta: 0.0,
        n_crit: 100,
        ..Settings::default()
    };
    let exact = direct(&bodies, settings.eps);
    let (_turn, grape) = grape();
    let library = forces(Engine::Library(&grape), &settings, &bodies);
    assert!(rms(&exact, &library) < 1e-6);
    let host = forces(Engine::Host, &settings, &bodies);
    assert!(rms(&exact, &host) < 1e-13);
}

/// What sums a list does not change the list: the rounding is all that differs.
#[test]
fn library_and_host_agree() {
    let bodies = models::collision(3000, 1);
    for quadrupoles in [false, true] {
        let settings = Settings {
            n_crit: 200,
            quadrupoles,
            ..Settings::default()
        };
        let (_turn, grape) = grape();
        let library = forces(Engine::Library(&grape), &settings, &bodies);
        let host = forces(Engine::Host, &settings, &bodies);
        assert!(rms(&host, &library) < 1e-6);
        let potentials = host
            .iter()
            .zip(&library)
            .map(|(a, b)| (a.1 / b.1 - 1.0).abs());
        assert!(potentials.fold(0.0, f64::max) < 1e-6);
    }
}
