//! Lesson 3: the nearest neighbour and the list of all neighbours within a radius.
//!
//! `cargo run --example 03_neighbours`

use kirin::client::{Block, Grape};

const ID: i32 = 0;

fn main() {
    let grape = Grape::linked();
    grape.open(ID);

    // Nine stars on a line, ever further apart: at 0, 1, 4, 9, ... Labels are the client's own.
    for k in 0..9 {
        grape.set_mass_position(ID, k, 100 + k, 1.0, &[f64::from(k * k), 0.0, 0.0]);
    }
    grape.set_ti(ID, 0.0);

    // Each i-particle has a radius of its own; the last one is no star but a point to look from.
    let mut block = Block::default();
    block.resize(3);
    block.index = vec![100, 104, -1];
    block.x = vec![[0.0; 3], [16.0, 0.0, 0.0], [30.0, 1.0, 0.0]];
    block.h2 = [5.0, 8.0, 1.0].map(|h| h * h).to_vec();

    grape.firsthalf(ID, 9, &mut block, 0.0);
    let status = grape.lasthalf2(ID, 9, &mut block, 0.0);
    assert_eq!(status, Some(0), "kirin has nearest neighbours");

    // Lists are fetched once for the block, then read one i-particle at a time.
    grape.read_neighbour_list(ID);
    let mut list = [0; 16];
    for i in 0..block.len() {
        let (status, length) = grape
            .get_neighbour_list(ID, i, &mut list)
            .expect("kirin has neighbour lists");
        // A list that does not fit says so: take a smaller radius, and ask again from firsthalf on.
        assert_eq!(status, 0, "the list is longer than the array");
        // With more than 48 pipelines a star is in its own list, as clients of that age expect.
        let (me, x, nearest) = (block.index[i], block.x[i][0], block.nearest[i]);
        let (others, radius) = (
            list[..length].iter().filter(|j| **j != me),
            block.h2[i].sqrt(),
        );
        let others: Vec<_> = others.collect();
        println!("{me:4} at x = {x:2}: nearest {nearest}, within {radius}: {others:?}");
    }
    grape.close(ID);
}
