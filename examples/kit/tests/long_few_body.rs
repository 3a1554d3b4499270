//! The few-body integrator over a million orbits and in ten thousand encounters: minutes.

use kirin_kit::few_body::endurance::drift;
use kirin_kit::few_body::scattering::scatter;

/// Every orbit of a hard binary integrated: its axis drifts by less than 1e-9 in a million of them.
#[test]
fn a_million_orbits_keep_their_axis() {
    for with_third in [false, true] {
        let drift = drift(1e6, with_third).unwrap();
        assert!(drift.axis.abs() < 1e-9, "{with_third}: {drift:?}");
        assert!(drift.energy.abs() < 1e-9, "{with_third}: {drift:?}");
        assert!(drift.steps > 1e8, "{drift:?}");
    }
}

/// Cross sections of exchange and ionization within the errors of those by REBOUND's IAS15 (FEW_BODY.md).
#[test]
fn exchanges_are_as_frequent_as_with_ias15() {
    for (speed, count, exchange, ionization) in [
        (0.5, 3000, (2.761, 0.170), (0.0, 0.001)),
        (1.0, 10_000, (2.758, 0.130), (0.0, 0.001)),
        (2.0, 10_000, (0.352, 0.028), (2.564, 0.072)),
    ] {
        let ends = scatter(count, speed, 1983, 6e4).unwrap();
        for (times, (value, error)) in [(ends.exchanges, exchange), (ends.ionizations, ionization)]
        {
            let found = ends.section(times);
            let sigma = found.error.hypot(error);
            assert!(
                (found.value - value).abs() < 3.0 * sigma,
                "{found:?} {ends:?}"
            );
        }
        assert!(
            ends.energy_error < 1e-7 && 100 * ends.open < count,
            "{ends:?}"
        );
    }
}
