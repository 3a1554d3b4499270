//! A check of every operation against its definition, for any communicator of any size.

use super::{Communicator, Operation, Result};

/// Makes every call once or more and compares what arrives with what MPI's definition says.
///
/// # Errors
///
/// A rank is lost.
///
/// # Panics
///
/// Something else arrives.
pub fn every_operation<C: Communicator>(world: &C) -> Result<()> {
    let (me, size) = (world.rank(), world.size());
    let number = |from: usize, k: usize| (100 * from + k) as f64;
    let mut received = Vec::new();
    world.barrier()?;

    for root in [0, size - 1] {
        let mut data = [me as u64, 7];
        world.broadcast(root, &mut data)?;
        assert_eq!(data, [root as u64, 7]);
    }

    world.all_gather(&[number(me, 0), number(me, 1)], &mut received)?;
    let expected: Vec<f64> = (0..size)
        .flat_map(|r| [number(r, 0), number(r, 1)])
        .collect();
    assert_eq!(received, expected);

    // Rank r sends r elements, rank 0 none at all.
    let counts: Vec<usize> = (0..size).collect();
    let mine: Vec<f64> = (0..me).map(|k| number(me, k)).collect();
    let expected: Vec<f64> = (0..size)
        .flat_map(|r| (0..r).map(move |k| number(r, k)))
        .collect();
    world.all_gather_v(&mine, &counts, &mut received)?;
    assert_eq!(received, expected);
    world.gather_v(size - 1, &mine, &counts, &mut received)?;
    assert_eq!(received, if me == size - 1 { expected } else { Vec::new() });

    // Rank r sends r + to elements to rank `to`.
    let send_counts: Vec<usize> = (0..size).map(|to| me + to).collect();
    let sent: Vec<i32> = (0..size)
        .flat_map(|to| vec![(1000 * me + to) as i32; me + to])
        .collect();
    let mut parts = Vec::new();
    world.all_to_all_v(&sent, &send_counts, &mut parts, &send_counts)?;
    let expected: Vec<i32> = (0..size)
        .flat_map(|from| vec![(1000 * from + me) as i32; from + me])
        .collect();
    assert_eq!(parts, expected);

    for (operation, expected) in [
        (Operation::Sum, (size * (size - 1) / 2) as f64),
        (Operation::Min, 0.0),
        (Operation::Max, (size - 1) as f64),
    ] {
        let mut data = [me as f64, 0.5];
        world.all_reduce(operation, &mut data)?;
        assert_eq!(data[0], expected, "{operation:?}");
    }

    // Of a sum of r + 1 elements for each rank r.
    let counts: Vec<usize> = (1..=size).collect();
    let total: usize = counts.iter().sum();
    let mine: Vec<f64> = (0..total).map(|k| number(me, k)).collect();
    world.reduce_scatter(&mine, &counts, &mut received)?;
    let begin: usize = counts[..me].iter().sum();
    let sum = |k: usize| (0..size).map(|r| number(r, k)).sum::<f64>();
    let expected: Vec<f64> = (begin..begin + me + 1).map(sum).collect();
    assert_eq!(received, expected);

    for by in [0, 1, 2, size + 1] {
        let from = (me + size - by % size) % size;
        let mut bytes = Vec::new();
        world.shift(by, &vec![me as u8; me], from, &mut bytes)?;
        assert_eq!(bytes, vec![from as u8; from], "by {by}");
    }

    // Odd ranks and even ranks, each in reverse order.
    let group = world.split(me % 2, size - me)?;
    let members: Vec<usize> = (0..size).rev().filter(|r| r % 2 == me % 2).collect();
    assert_eq!(group.size(), members.len());
    assert_eq!(members[group.rank()], me);
    let mut ranks = Vec::new();
    group.all_gather(&[me as i64], &mut ranks)?;
    assert_eq!(ranks, members.iter().map(|&r| r as i64).collect::<Vec<_>>());
    group.split(0, 0)?.barrier()
}
