//! The two parts of the CPU backend that keep the noise of `mixed` low: the grid of the leading parts, and dominant
//! pairs in double precision.

use super::*;

/// The greatest error of an acceleration, relative to it.
fn worst(found: &[Force], expected: &[Force]) -> f64 {
    let size = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    let each = found.iter().zip(expected).map(|(f, e)| {
        let error = [0, 1, 2].map(|k| f.acc[k] - e.acc[k]);
        size(error) / size(e.acc)
    });
    each.fold(0.0, f64::max)
}

/// Far from the centre of a cluster the error of the force stays below the one that a rounded i-particle would
/// cause: 3e-8, in the same direction for all pairs.
#[test]
fn far_from_the_centre_errors_of_pairs_cancel() {
    let (mut memory, mut particles) = cluster(4096, 1.0);
    // The page knows of the halo.
    for (address, p) in (0..).zip(&mut particles) {
        p.t = 0.0;
        if address % 16 == 0 {
            p.x = p.x.map(|x| x * 12.0);
        }
        memory.write(address, p).unwrap();
    }
    let halo: Vec<JParticle> = particles.iter().step_by(16).take(48).copied().collect();
    let block = ForceRequest {
        nj: particles.len(),
        ti: 0.0,
        particles: i_particles(&halo, 0.0),
    };
    let expected = results(&mut reference::Reference, &memory, &block);
    for (name, mut backend) in backends(Precision::Mixed, 1) {
        let found = results(&mut *backend, &memory, &block);
        let (mut sum, size) = (0.0, |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>());
        for (f, e) in found.forces.iter().zip(&expected.forces) {
            sum += size([0, 1, 2].map(|k| f.acc[k] - e.acc[k])) / size(e.acc);
        }
        let rms = (sum / block.particles.len() as f64).sqrt();
        assert!(rms < 1.5e-8, "{name}: {rms:e}");
    }
}

#[test]
fn the_companion_in_a_binary_is_in_double_precision() {
    for (separation, most) in [(1e-3, 2e-9), (1e-4, 2e-11), (1e-5, 2e-12)] {
        let (mut memory, mut stars) = cluster(2000, 1.0);
        for at in (0..200).step_by(2) {
            stars[at].t = 0.0;
            stars[at + 1] = stars[at];
            stars[at + 1].index += 1;
            stars[at + 1].x[1] += separation;
            stars[at + 1].v[0] += 1.0;
        }
        for (address, star) in (0..).zip(&stars) {
            memory.write(address, star).unwrap();
        }
        let block = ForceRequest {
            nj: stars.len(),
            ti: 0.0,
            particles: i_particles(&stars[..200], 0.0),
        };
        let expected = results(&mut reference::Reference, &memory, &block);
        for (name, mut backend) in backends(Precision::Mixed, 1) {
            let found = results(&mut *backend, &memory, &block);
            let error = worst(&found.forces, &expected.forces);
            assert!(error < most, "{name}, {separation:e}: {error:e}");
            assert_eq!(found.nearest, expected.nearest, "{name}");
        }
    }
}

/// The grid of a page and the mass of a leaf are those of the particles below `nj`, in a page where others follow.
#[test]
fn what_is_beyond_nj_moves_no_grid_and_has_no_mass() {
    let (mut memory, particles) = cluster(400, 1.0);
    let block = ForceRequest {
        nj: 150,
        ti: 0.0,
        particles: i_particles(&particles[..30], 0.0),
    };
    for (name, mut backend) in backends(Precision::Mixed, 1) {
        let before = results(&mut *backend, &memory, &block);
        for factor in [1e3, 1e-6, 1.0] {
            for (address, p) in (0..).zip(&particles).skip(150) {
                let mut stale = *p;
                stale.x = p.x.map(|x| x * factor);
                stale.mass = p.mass * factor * factor;
                memory.write(address, &stale).unwrap();
            }
            let after = results(&mut *backend, &memory, &block);
            assert_eq!(after.forces, before.forces, "{name}, {factor:e}");
        }
    }
}
