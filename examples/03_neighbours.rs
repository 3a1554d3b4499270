//! Lesson 3: the nearest neighbour and the list of all neighbours within a radius.
//!
//! `cargo run --example 03_neighbours`

use kirin::client::{Block, ClientError, Grape};

fn main() -> Result<(), ClientError> {
    let grape = Grape::linked();
    let cluster = grape.cluster(0)?;

    // Nine stars on a line, ever further apart: at 0, 1, 4, 9, ... Labels are the client's own.
    for k in 0..9 {
        cluster.set_mass_position(k, 100 + k, 1.0, &[f64::from(k * k), 0.0, 0.0])?;
    }
    cluster.set_time(0.0);

    // Each i-particle has a radius of its own; the last one is no star but a point to look from.
    let mut block = Block::default();
    block.resize(3);
    block.index = vec![100, 104, -1];
    block.x = vec![[0.0; 3], [16.0, 0.0, 0.0], [30.0, 1.0, 0.0]];
    block.h2 = [5.0, 8.0, 1.0].map(|h| h * h).to_vec();

    cluster.start(9, &mut block, 0.0);
    cluster.finish_with_nearest(9, &mut block, 0.0)?;

    // Lists are fetched once for the block, then read one i-particle at a time.
    cluster.make_neighbour_lists()?;
    for i in 0..block.len() {
        // A list that does not fit is `None`: take a smaller radius, and start the block again.
        let list = cluster.neighbours(i, 16)?.expect("there are nine stars");
        // With more than 48 pipelines a star is in its own list, as clients of that age expect.
        let (me, x, nearest) = (block.index[i], block.x[i][0], block.nearest[i]);
        let (others, radius) = (list.iter().filter(|j| **j != me), block.h2[i].sqrt());
        let others: Vec<_> = others.collect();
        println!("{me:4} at x = {x:2}: nearest {nearest}, within {radius}: {others:?}");
    }
    Ok(())
}
