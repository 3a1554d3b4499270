//! Lesson 2: a cold cluster collapses. More i-particles than pipelines, softening, energy.
//! `cargo run --release --example 02_cluster`

use kirin::client::{Block, ClientError, Cluster, Grape};

const N: usize = 1000;
const MASS: f64 = 1.0 / N as f64;
const EPS2: f64 = 0.05 * 0.05;
const H: f64 = 1.0 / 256.0;

fn main() -> Result<(), ClientError> {
    let grape = Grape::linked();
    let cluster = grape.cluster(0)?;
    let mut stars = Block::default();
    stars.resize(N);
    stars.index = (0..).take(N).collect();
    stars.x = sphere();
    force(&cluster, &mut stars)?;
    for step in 0..=384 {
        if step % 32 == 0 {
            let kinetic: f64 = stars.v.iter().flatten().map(|v| MASS / 2.0 * v * v).sum();
            // Each pair is in the potentials of both its stars.
            let potential: f64 = stars.pot.iter().map(|p| MASS / 2.0 * p).sum();
            let (t, total) = (f64::from(step) * H, kinetic + potential);
            println!("t = {t:5.3}: T = {kinetic:8.5}, W = {potential:8.5}, sum {total:8.5}");
        }
        // Leapfrog: half a kick, a drift, half a kick.
        let kick = |v: &mut [f64; 3], a: &[f64; 3]| (0..3).for_each(|k| v[k] += H / 2.0 * a[k]);
        (0..N).for_each(|i| kick(&mut stars.v[i], &stars.acc[i]));
        (0..N).for_each(|i| (0..3).for_each(|k| stars.x[i][k] += H * stars.v[i][k]));
        force(&cluster, &mut stars)?;
        (0..N).for_each(|i| kick(&mut stars.v[i], &stars.acc[i]));
    }
    Ok(())
}

/// The first points of an even sequence in the cube that lie in the sphere of radius 1.
fn sphere() -> Vec<[f64; 3]> {
    let point = |i: i32| [0.8192, 0.671, 0.5497].map(|g| (f64::from(i) * g).fract() * 2.0 - 1.0);
    let inside = |x: &[f64; 3]| x.iter().map(|c| c * c).sum::<f64>() < 1.0;
    (1..).map(point).filter(inside).take(N).collect()
}

fn force(cluster: &Cluster<'_>, stars: &mut Block) -> Result<(), ClientError> {
    for (address, x) in (0..).zip(&stars.x) {
        cluster.set_mass_position(address, address, MASS, x)?;
    }
    cluster.set_time(0.0);
    // kirin takes all stars in one call. Other libraries take as many as they have pipelines: `forces` brings them in turns.
    cluster.forces(N, stars, EPS2)
}
