//! The bytes that ranks receive, counted, against the equations of the cost model.

mod common;

use common::grape;
use hermite::settings::Settings;
use kirin_kit::communicator::{
    Communicator, Counted, counted::Collective, counted::Tally, threads,
};
use kirin_kit::run::Integration;
use kirin_kit::{models, pairs};
use parallel::cost::{Workload, traffic};
use parallel::error::Error;
use parallel::integrator::Integrator;
use parallel::machine::{Algorithm, Arrangement, Joining};

/// Everybody in every block: eight pages, so that up to eight columns are one subtree each.
const N: usize = 4096;
const BLOCKS: u64 = 2;

/// Mean over the ranks of what each receives in a block, by operation.
fn counted(plan: Arrangement, n: usize) -> Vec<(Collective, f64)> {
    let (_turn, grape) = grape();
    let bodies = models::plummer(n, 1);
    let settings = Settings {
        dt_max: 1.0 / 256.0,
        shared: true,
        ..Settings::default()
    };
    let tallies = threads::run(plan.grid.ranks(), |world| {
        let world = Counted::new(world);
        let mut run = Integrator::start(world, &grape, plan, settings, 0.0, &bodies)?;
        let before = run.machine().world.tally();
        for _ in 0..BLOCKS {
            run.step()?;
        }
        assert_eq!(run.counts().steps, BLOCKS * n as u64);
        Ok::<Tally, Error>(run.machine().world.tally().since(&before))
    });
    let tallies = tallies.unwrap();
    let mean = |collective| {
        let bytes: u64 = tallies.iter().map(|t| t.of(collective).bytes).sum();
        bytes as f64 / tallies.len() as f64 / BLOCKS as f64
    };
    Collective::ALL.map(|c| (c, mean(c))).to_vec()
}

fn plan(grid: &str, algorithm: Algorithm, sums: Joining) -> Arrangement {
    Arrangement {
        grid: grid.parse().unwrap(),
        algorithm,
        sums,
    }
}

/// All but the lengths and times of step 2, which do not depend on the block.
fn bytes(counts: &[(Collective, f64)]) -> f64 {
    let others = counts.iter().filter(|(c, _)| *c != Collective::AllGather);
    others.map(|(_, bytes)| bytes).sum()
}

#[test]
fn counts_are_those_of_the_equations() {
    for (grid, algorithm, n) in [
        ("2x2", Algorithm::TwoD, N),
        ("3x2", Algorithm::TwoD, N),
        ("4x1", Algorithm::Copy, N),
        ("1x4", Algorithm::JParallel, N),
        ("1x4", Algorithm::Ring, N),
        ("2x3", Algorithm::TwoD, 3000),
        ("1x7", Algorithm::Ring, 3000),
    ] {
        for sums in [Joining::Tree, Joining::Mpi] {
            let plan = plan(grid, algorithm, sums);
            let block = n as f64;
            let expected = traffic(plan, Workload { n, block });
            for (collective, found) in counted(plan, n) {
                let of = expected.iter().filter(|t| t.collective == collective);
                let expected: f64 = of.map(|t| t.bytes).sum();
                // Columns that are not equal make the mean differ from that of equal ones.
                let tolerance = if n == N { 1e-12 } else { 0.01 };
                let error = (found - expected).abs() / expected.max(1.0);
                assert!(
                    error <= tolerance,
                    "{grid} {algorithm:?} {sums:?} {collective:?}: {found} {expected}"
                );
            }
        }
    }
}

/// On r x r ranks a rank's part of the data falls as 1/r; of that part (r-1)/r comes from others.
#[test]
fn two_dimensions_need_less_of_every_rank() {
    let of_grid = |r: usize| {
        let grid = format!("{r}x{r}");
        let received = bytes(&counted(plan(&grid, Algorithm::TwoD, Joining::Tree), N));
        received * r as f64 / (r as f64 - 1.0)
    };
    let (two, eight) = (of_grid(2), of_grid(8));
    assert!((two / eight / 4.0 - 1.0).abs() < 0.25, "{two} {eight}");
}

#[test]
fn one_dimension_needs_the_whole_block() {
    for (algorithm, number) in [(Algorithm::Copy, 48.0), (Algorithm::JParallel, 104.0)] {
        for ranks in [2, 8] {
            let grid = algorithm.grid(ranks).unwrap();
            let found = bytes(&counted(
                Arrangement {
                    grid,
                    algorithm,
                    sums: Joining::Tree,
                },
                N,
            ));
            let all = number * N as f64;
            assert!(found >= 0.49 * all && found <= all, "{algorithm:?} {ranks}");
        }
    }
}

/// All ranks share the sums over pairs for energies, and only when somebody asks for them. Rank 0 has the bits of one rank.
#[test]
fn potentials_are_summed_by_all_ranks_when_they_are_wanted() {
    let (_turn, grape) = grape();
    let bodies = models::plummer(700, 1);
    let settings = Settings::default();
    let plan = plan("2x2", Algorithm::TwoD, Joining::Tree);
    let found = threads::run(4, |world| {
        let world = Counted::new(world);
        let mut run = Integrator::start(world, &grape, plan, settings, 0.0, &bodies)?;
        let received =
            |run: &Integrator<'_, _>| run.machine().world.tally().of(Collective::Broadcast).bytes;
        let before = received(&run);
        let seen = run.bodies_at(0.0)?;
        assert_eq!(received(&run), before);
        let potentials = run.potentials(&seen)?.expect("they are known");
        let places = if run.machine().world.rank() == 0 {
            0
        } else {
            4 * 8 * 700
        };
        assert_eq!(received(&run) - before, places);
        let expected = pairs::potentials(&seen, settings.eps.powi(2));
        assert!(potentials.values() == expected);
        Ok::<usize, Error>(expected.len())
    });
    assert_eq!(found.unwrap(), [700, 0, 0, 0]);
}

/// A rank receives only what its place needs: nobody gathers everything.
#[test]
fn no_rank_receives_more_than_its_share() {
    let (_turn, grape) = grape();
    let bodies = models::plummer(N, 1);
    let plan = plan("4x4", Algorithm::TwoD, Joining::Tree);
    let largest = threads::run(16, |world| {
        let world = Counted::new(world);
        let settings = Settings::default();
        let mut run = Integrator::start(world, &grape, plan, settings, 0.0, &bodies)?;
        let before = run.machine().world.tally();
        let steps = run.counts().steps;
        for _ in 0..64 {
            run.step()?;
        }
        let received = run.machine().world.tally().since(&before);
        let messages = received.total().messages;
        // Three rows and three columns, in three operations along the row and one along the column.
        assert!(messages <= 64 * (3 * 3 + 3), "{messages}");
        let block = (run.counts().steps - steps) as f64 / 64.0;
        let world = &run.machine().world;
        assert_eq!(world.size(), 16);
        Ok::<_, Error>(received.total().bytes as f64 / 64.0 / block)
    });
    let largest = largest.unwrap().into_iter().fold(0.0, f64::max);
    // 152 * 3/16 a particle, and the lengths; small blocks are not shared evenly. Who gathers everything receives 152 * 15/16.
    assert!(largest < 2.0 * 152.0 * 3.0 / 16.0, "{largest}");
}
