//! Lesson 4: two clusters at once. The first argument of every call names a memory of its own.
//!
//! `cargo run --example 04_two_clusters`
//!
//! Two star clusters live in two memories, 0 and 1, so that each one's own
//! forces and those of its companion can be told apart: here the tide.

use kirin::client::{Block, Grape};

const EPS2: f64 = 1e-4;

fn main() {
    let grape = Grape::linked();
    let clusters = [[-5.0, 0.0, 0.0], [5.0, 0.0, 0.0]];
    for (id, centre) in (0..).zip(clusters) {
        grape.open(id);
        for (address, x) in (0..).zip(octahedron(centre)) {
            // Labels tell all stars apart, addresses those of one memory.
            grape.set_mass_position(id, address, 10 * id + address, 1.0 / 6.0, &x);
        }
        grape.set_ti(id, 0.0);
    }

    // The stars of cluster 0 feel both. Start both sums before waiting for either.
    let mut stars = Block::default();
    stars.resize(6);
    stars.index = (0..6).collect();
    stars.x = octahedron(clusters[0]);
    let mut parts = [stars.clone(), stars];
    for (id, part) in (0..).zip(&mut parts) {
        grape.firsthalf(id, 6, part, EPS2);
    }
    for (id, part) in (0..).zip(&mut parts) {
        assert_eq!(grape.lasthalf(id, 6, part, EPS2), 0);
    }

    // The companion pulls the centre; what differs from star to star is the tide.
    let [own, companion] = parts;
    let pull = companion.acc.iter().map(|a| a[0]).sum::<f64>() / 6.0;
    println!("pull of the companion: {pull:.6}");
    println!("star   own force                       tide");
    for i in 0..6 {
        let [x, y, z] = own.acc[i];
        let [tx, ty, tz] = companion.acc[i];
        let tide = tx - pull;
        println!("{i:4} {x:9.5} {y:9.5} {z:9.5}   {tide:9.5} {ty:9.5} {tz:9.5}");
    }
    grape.close(0);
    grape.close(1);
}

/// Six stars around a centre, at the distance 1.
fn octahedron(centre: [f64; 3]) -> Vec<[f64; 3]> {
    let mut stars = vec![centre; 6];
    for (k, star) in stars.iter_mut().enumerate() {
        star[k / 2] += if k % 2 == 0 { -1.0 } else { 1.0 };
    }
    stars
}
