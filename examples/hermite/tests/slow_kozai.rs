//! A hierarchical triple through Kozai's cycles: the inner pair is regularized, the third star is a particle of its
//! own.

mod common;

use common::grape;
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin_kit::few_body::kepler::Orbit;
use kirin_kit::few_body::kozai;
use kirin_kit::vector::sub;

#[test]
fn a_triple_goes_through_kozai_cycles() {
    let (_turn, grape) = grape();
    let settings = Settings {
        eps: 0.0,
        dt_max: 1.0,
        regularize: 4.0,
        ..Settings::default()
    };
    let bodies = kozai::triple().to_vec();
    let mut run = Integrator::start(&grape, settings, 0.0, bodies).unwrap();
    let interval = kozai::interval();
    let mut track = Vec::new();
    while (track.len() as f64) * interval < 30_000.0 {
        let t = (track.len() + 1) as f64 * interval;
        while run.next_time().unwrap() <= t {
            run.step().unwrap();
        }
        let stars = run.synchronised(t).unwrap();
        let (dx, dv) = (sub(&stars[1].x, &stars[0].x), sub(&stars[1].v, &stars[0].v));
        track.push(Orbit::of(&dx, &dv, 1.3).eccentricity);
    }
    assert!(run.regularized().formed > 0);
    kozai::assert_cycles(&track);
}
