//! Lesson 1: two bodies on a circular orbit. Also in C and in Fortran: the same digits.
//!
//! `cargo run --example 01_two_bodies`
//!
//! The calls of a client: open a cluster; send the j-particles, which are the sources of gravity; set the time; ask
//! for the forces on the i-particles, in two halves; move the bodies; send them again, and so on; close.

use std::error::Error;

use kirin::client::{Block, Cluster, Grape, JParticle};

/// A power of two: its products are exact, so that no compiler's fused operation changes a digit.
const H: f64 = 1.0 / 128.0;

fn main() -> Result<(), Box<dyn Error>> {
    let grape = Grape::linked();
    let cluster = grape.cluster(0)?; // closed when it goes out of scope

    // Two masses of 1/2 at the distance 1, each moving with 1/2: one orbit takes 2 pi.
    let mut stars = Block::default();
    stars.resize(2);
    stars.index = vec![1, 2];
    stars.x = vec![[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]];
    stars.v = vec![[0.0, -0.5, 0.0], [0.0, 0.5, 0.0]];

    force(&cluster, &mut stars)?;
    for step in 0..=804 {
        if step % 201 == 0 {
            let [x, y, _] = stars.x[0];
            println!("{step:4}{x:22.18}{y:22.18}{:22.18}", stars.pot[0]);
        }
        // Leapfrog: half a kick, a drift, half a kick.
        add(&mut stars.v, H / 2.0, &stars.acc);
        add(&mut stars.x, H, &stars.v);
        force(&cluster, &mut stars)?;
        add(&mut stars.v, H / 2.0, &stars.acc);
    }
    Ok(())
}

/// Sends the stars as j-particles and gets the forces on them as i-particles.
fn force(cluster: &Cluster<'_>, stars: &mut Block) -> Result<(), Box<dyn Error>> {
    for i in 0..2 {
        let mut star = JParticle::default();
        // A particle exerts no force on the one with its own index.
        (star.index, star.mass, star.x) = (stars.index[i], 0.5, stars.x[i]);
        cluster.set_j_particle(i as i32, H, &star)?;
    }
    cluster.set_time(0.0);
    cluster.start(2, stars, 0.0);
    cluster.finish(2, stars, 0.0)?;
    Ok(())
}

fn add(to: &mut [[f64; 3]], factor: f64, rate: &[[f64; 3]]) {
    for (a, b) in to.iter_mut().flatten().zip(rate.iter().flatten()) {
        *a += factor * b;
    }
}
