//! Lesson 4: two clusters at once. The first argument of every call names a memory of its own.
//!
//! `cargo run --example 04_two_clusters`
//!
//! Each of two star clusters is in its own memory of the library (0 and 1). So the program gets the forces of each
//! separately, and can show the tide of one on the other.

use kirin::client::{Block, ClientError, Grape};

const EPS2: f64 = 1e-4;

fn main() -> Result<(), ClientError> {
    let grape = Grape::linked();
    let centres = [[-5.0, 0.0, 0.0], [5.0, 0.0, 0.0]];
    let clusters = [grape.cluster(0)?, grape.cluster(1)?];
    for (k, (cluster, centre)) in (0..).zip(clusters.iter().zip(centres)) {
        for (address, x) in (0..).zip(octahedron(centre)) {
            // Labels tell all stars apart, addresses those of one memory.
            cluster.set_mass_position(address, 10 * k + address, 1.0 / 6.0, &x)?;
        }
        cluster.set_time(0.0);
    }

    // The stars of cluster 0 feel both. Start both sums before waiting for either.
    let mut stars = Block::default();
    stars.resize(6);
    stars.index = (0..6).collect();
    stars.x = octahedron(centres[0]);
    let mut parts = [stars.clone(), stars];
    for (cluster, part) in clusters.iter().zip(&mut parts) {
        cluster.start(6, part, EPS2);
    }
    for (cluster, part) in clusters.iter().zip(&mut parts) {
        cluster.finish(6, part, EPS2)?;
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
    Ok(())
}

/// Six stars around a centre, at the distance 1.
fn octahedron(centre: [f64; 3]) -> Vec<[f64; 3]> {
    let mut stars = vec![centre; 6];
    for (k, star) in stars.iter_mut().enumerate() {
        star[k / 2] += if k % 2 == 0 { -1.0 } else { 1.0 };
    }
    stars
}
