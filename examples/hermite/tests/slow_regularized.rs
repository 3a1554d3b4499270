//! A cluster with a broad range of masses, without softening: its binaries harden and exchange members.

mod common;

use clap::Parser;
use common::grape;
use hermite::integrator::Integrator;
use hermite::options::Options;
use hermite::settings::Settings;
use kirin_kit::diagnostics::Energy;
use kirin_kit::galaxy::Galaxy;

/// To t = 20 the energy is kept to 1e-5, and to less with shorter steps.
#[test]
fn a_cluster_without_softening_keeps_its_energy() {
    let command = "hermite --n 200 --seed 2 --mass-function kroupa";
    let options = Options::parse_from(command.split(' ')).run;
    let bodies = options.bodies(&Galaxy::default()).unwrap();
    let energy = Energy::of(&bodies, 0.0).total();
    let (_turn, grape) = grape();
    let errors = [0.01, 0.0025].map(|eta| {
        let settings = Settings {
            eps: 0.0,
            eta,
            eta_start: eta / 4.0,
            regularize: 2.0,
            ..Settings::default()
        };
        let mut run = Integrator::start(&grape, settings, 0.0, bodies.clone()).unwrap();
        while run.next_time().unwrap() <= 20.0 {
            run.step().unwrap();
        }
        assert!(run.regularized().formed > 10);
        Energy::of(&run.synchronised(20.0).unwrap(), 0.0).error(energy)
    });
    assert!(errors[0] < 1e-5 && errors[1] < 2e-6, "{errors:?}");
}
