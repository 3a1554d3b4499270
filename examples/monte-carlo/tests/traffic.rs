//! The messages that the model of the report counts are those of running ranks.

use kirin_kit::command::Start;
use kirin_kit::communicator::counted::{Collective, Tally};
use kirin_kit::communicator::{Counted, threads};
use kirin_kit::models::BinaryOptions;
use monte_carlo::cluster::Cluster;
use monte_carlo::error::Error;
use monte_carlo::model;
use monte_carlo::paper::traffic::{Calls, of_step};
use monte_carlo::random::streams;
use monte_carlo::settings::Settings;

/// What all ranks together receive in `steps` steps of `n` stars. A step counts only if it leaves the ledger as it was:
/// the model of the messages knows neither escaping stars nor energy that a bin could not pay.
fn received(n: u64, ranks: usize, steps: u64) -> Tally {
    let tallies = threads::run(ranks, |world| {
        let world = Counted::new(world);
        let start = Start {
            n: Some(n),
            ..Start::default()
        };
        let stars = model::draw(&world, &start, &BinaryOptions::default())?;
        let all = streams(1, n as usize / 20);
        let mut cluster = Cluster::new(world, Settings::default(), stars, &all, None)?;
        cluster.to_standard_units()?;
        let mut sum = Tally::default();
        let mut left = steps;
        while left > 0 {
            let (ledger, before) = (cluster.past.ledger, cluster.world.tally());
            cluster.step(f64::INFINITY)?;
            if cluster.past.ledger == ledger {
                sum.add(&cluster.world.tally().since(&before));
                left -= 1;
            }
        }
        Ok::<_, Error>(sum)
    });
    let mut sum = Tally::default();
    tallies.unwrap().iter().for_each(|tally| sum.add(tally));
    sum
}

#[test]
fn calls_and_bytes_of_a_step_are_those_of_the_model() {
    let steps = 3;
    for (n, ranks) in [(5000, 2), (20_000, 4), (20_000, 16), (40_000, 48)] {
        let tally = received(n, ranks, steps);
        let model = of_step(n as usize, ranks);
        let all = |part: fn(&Calls) -> f64, of: Collective| -> f64 {
            let calls = model.iter().filter(|calls| calls.collective == of);
            calls.map(part).sum::<f64>() * (steps as usize * ranks) as f64
        };
        for collective in Collective::ALL {
            let count = tally.of(collective);
            let calls = count.calls as f64 / all(|c| c.calls, collective);
            let bytes = count.bytes as f64 / all(|c| c.bytes, collective);
            println!(
                "{n} {ranks} {}: {} {} {calls:.3} {bytes:.3}",
                collective.name(),
                count.calls,
                count.bytes
            );
            if count.calls == 0 {
                assert_eq!(all(|c| c.calls, collective), 0.0);
                continue;
            }
            // The rounds in which the splitters are found, and where stars go, are estimates.
            let (of_calls, of_bytes) = match collective {
                Collective::AllToAllV => (1e-9, 0.06),
                Collective::AllReduce => (0.3, 0.15),
                _ => (0.2, 0.02),
            };
            assert!((calls - 1.0).abs() < of_calls, "{calls}");
            assert!((bytes - 1.0).abs() < of_bytes, "{bytes}");
        }
    }
}
