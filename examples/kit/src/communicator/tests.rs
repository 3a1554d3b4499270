//! The operations among threads, their counts, and the loss of a rank. The same checks run under MPI as the program
//! `communicator`.

use std::time::{Duration, Instant};

use super::check::every_operation;
use super::counted::Collective;
use super::threads::run;
use super::*;

#[test]
fn every_operation_does_what_mpi_says() {
    for ranks in [1, 2, 3, 4, 7] {
        let done = run(ranks, |world| every_operation(&world)).unwrap();
        assert_eq!(done.len(), ranks);
        run(ranks, |world| every_operation(&Counted::new(world))).unwrap();
    }
}

#[test]
fn what_others_send_is_counted() {
    let tallies = run(3, |world| {
        let world = Counted::new(world);
        let me = world.rank();
        world.all_gather(&[1.0, 2.0], &mut Vec::new())?;
        world.all_gather_v(&vec![1_u8; me], &[0, 1, 2], &mut Vec::new())?;
        let pair = world.split(usize::from(me == 2), 0)?;
        pair.all_reduce(Operation::Max, &mut [0.0; 5])?;
        world.reduce_scatter(&[0.0; 6], &[1, 2, 3], &mut Vec::new())?;
        world.shift(1, &[0_i32; 4], 4, &mut Vec::new())?;
        Ok::<_, CommunicationError>(world.tally())
    });
    let tallies = tallies.unwrap();
    let counts = |collective| [0, 1, 2].map(|r: usize| tallies[r].of(collective));
    let messages = |collective| counts(collective).map(|c| c.messages);
    let bytes = |collective| counts(collective).map(|c| c.bytes);
    assert_eq!(bytes(Collective::AllGather), [32; 3]);
    assert_eq!(messages(Collective::AllGather), [2; 3]);
    assert_eq!(bytes(Collective::AllGatherV), [3, 2, 1]);
    assert_eq!(messages(Collective::AllGatherV), [2, 1, 1]);
    assert_eq!(bytes(Collective::AllReduce), [40, 40, 0]);
    assert_eq!(bytes(Collective::ReduceScatter), [16, 32, 48]);
    assert_eq!(bytes(Collective::Shift), [16; 3]);
    assert_eq!(tallies[0].total().bytes, 32 + 3 + 40 + 16 + 16);
    assert_eq!(tallies[0].json()["MPI_Sendrecv"]["messages"], 1);
    let nothing = tallies[0].since(&tallies[0]);
    assert_eq!(nothing, counted::Tally::default());
}

#[test]
fn processor_time_inside_the_calls_is_counted_if_wanted() {
    let tallies = run(2, |world| {
        let [without, with] = [
            Counted::new(world.split(0, 0)?),
            Counted::with_processor_time(world),
        ];
        let row = with.split(0, 0)?;
        for _ in 0..100 {
            without.barrier()?;
            with.barrier()?;
            row.barrier()?;
        }
        Ok::<_, CommunicationError>([without, with].map(|world| world.tally().total()))
    });
    for [without, with] in tallies.unwrap() {
        assert_eq!((without.calls, with.calls), (100, 200));
        assert_eq!(without.processor_seconds, 0.0);
        assert!(
            with.processor_seconds > 0.0 && with.processor_seconds < 10.0 * with.seconds,
            "{with:?}"
        );
    }
}

#[test]
fn a_lost_rank_ends_the_others() {
    let begin = Instant::now();
    let result = run(3, |world| {
        if world.rank() == 1 {
            return Err("no more".to_owned());
        }
        let row = world.split(0, 0).map_err(|e| e.to_string())?;
        row.barrier().map_err(|e| e.to_string())
    });
    assert_eq!(result, Err("no more".to_owned()));
    assert!(begin.elapsed() < Duration::from_secs(5));
    let told = run(2, |world| {
        let told = match world.rank() {
            0 => return Err(None),
            _ => world.barrier(),
        };
        assert_eq!(told, Err(CommunicationError::RankLost(0)));
        Err::<(), _>(Some(told))
    });
    assert_eq!(told, Err(None));
}

#[test]
fn a_panic_ends_the_others_and_goes_on() {
    let panic = std::panic::catch_unwind(|| {
        run(2, |world| match world.rank() {
            1 => panic!("rank 1 is tired"),
            _ => world.barrier(),
        })
    });
    let panic = panic.unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"rank 1 is tired"));
}
