//! Nearest neighbours whose distances differ by less than the precision of the pair loop.

use super::*;

/// The nearest neighbour is the one that double precision finds, even if the pair loop orders two distances
/// wrongly: they differ by less than the rounding of r^2, or by less than the rounding of the positions.
#[test]
fn near_ties_are_decided_in_double_precision() {
    let mut numbers = Random::new(11);
    for (distance, difference) in [(0.1, 1e-9), (0.1, 3e-8), (2e-13, 0.1), (1e-14, 0.3)] {
        let mut memory = JMemory::default();
        let mut targets = Vec::new();
        for index in 0..60 {
            // One of the two neighbours is on the page of the particle, the other on the next.
            let x = numbers.vector(1.0);
            let mut particle = |address: i32, index: i32, x: [f64; 3]| {
                let p = JParticle {
                    index,
                    mass: 1.0,
                    x,
                    ..Default::default()
                };
                memory.write(address, &p).unwrap();
                p
            };
            targets.push(particle(3 * index, 3 * index, x));
            for k in 1..3 {
                let direction = numbers.vector(1.0);
                let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
                let r = distance * (1.0 + difference * f64::from(k) * numbers.signed());
                let address = 3 * index + k + (k - 1) * PAGE as i32;
                let at = [0, 1, 2].map(|c| x[c] + direction[c] / length * r);
                particle(address, 3 * index + k, at);
            }
        }
        let block = ForceRequest {
            nj: 2 * PAGE,
            ti: 0.0,
            particles: i_particles(&targets, 0.0),
        };
        for precision in [Precision::Mixed, Precision::Double] {
            let expected = results(&mut reference::Reference, &memory, &block);
            for (name, mut backend) in backends(precision, 1) {
                let found = results(&mut *backend, &memory, &block);
                let what = format!("{name} {precision}, {distance} and {difference}");
                assert_eq!(found.nearest, expected.nearest, "{what}");
            }
        }
    }
}

/// The distance of the nearest neighbour is not softened: a softening that is no length does not hide it.
#[test]
fn a_softening_that_is_no_length_hides_no_neighbour() {
    let (memory, particles) = cluster(300, 1.0);
    for eps2 in [f64::NAN, f64::INFINITY, f64::MAX, -0.01, -1.0, -100.0] {
        let block = ForceRequest {
            nj: 300,
            ti: 0.25,
            particles: i_particles(&particles[..40], eps2),
        };
        for precision in [Precision::Mixed, Precision::Double, Precision::Single] {
            let expected = results(&mut reference::Reference, &memory, &block);
            for (name, mut backend) in backends(precision, 1) {
                let found = results(&mut *backend, &memory, &block);
                assert_eq!(found.nearest, expected.nearest, "{name} {precision} {eps2}");
            }
        }
    }
}
