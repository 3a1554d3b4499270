//! Sources with softening lengths of their own.

use super::*;
use crate::sources::jmemory::Given;
use crate::sources::strided::Strided;

/// A particle of [`SourceKind::MovingSoftened`].
#[derive(Clone, Copy)]
struct Softened {
    mass: f64,
    x: [f64; 3],
    v: [f64; 3],
    eps2: f64,
}

fn softened(stars: &[Softened], moves: bool) -> JMemory {
    let number = |at: &f64| Strided::new(at, size_of::<Softened>() as isize);
    let (x, v) = (stars[0].x.each_ref(), stars[0].v.each_ref());
    let mut given = Given::new(Some(number(&stars[0].mass)), None);
    given = given.with([
        Some(x.map(number)),
        moves.then(|| v.map(number)),
        None,
        None,
        None,
    ]);
    given.eps2 = Some(number(&stars[0].eps2));
    let mut memory = JMemory::of(SourceKind::MovingSoftened);
    // SAFETY: there are as many stars.
    unsafe { memory.load(stars.len(), &given) }.unwrap();
    memory
}

#[test]
fn softening_lengths_of_both_particles_are_added() {
    let (_, particles) = cluster(1100, 1.0);
    let mut stars: Vec<Softened> = particles
        .iter()
        .enumerate()
        .map(|(k, star)| Softened {
            mass: star.mass,
            x: star.x,
            v: star.v,
            eps2: [0.0, 1e-4, 0.04][k % 3],
        })
        .collect();
    // Three are at one place, two of them without softening.
    (stars[4].x, stars[6].x) = (stars[3].x, stars[3].x);
    for n in [1, 7, 300, 512, 1100] {
        for moves in [false, true] {
            let memory = softened(&stars[..n], moves);
            for eps2 in [0.0, 1e-3] {
                let mut block = ForceRequest {
                    nj: n,
                    ti: 0.0,
                    particles: i_particles(&particles[..20], eps2),
                };
                for (k, i) in block.particles.iter_mut().enumerate() {
                    i.x = stars[k].x;
                    if !moves {
                        i.v = [0.0; 3];
                    }
                    if k % 7 == 5 {
                        i.index = -1;
                    }
                }
                let expected = results(&mut reference::Reference, &memory, &block);
                for precision in PRECISIONS {
                    for (name, mut backend) in backends(precision, 2) {
                        let found = results(&mut *backend, &memory, &block);
                        let what = format!("{name} {precision}, {n}, {moves}, {eps2}");
                        for (a, b) in found.forces.iter().zip(&expected.forces) {
                            let near =
                                |a: f64, b: f64, part| (a - b).abs() <= part * (1.0 + b.abs());
                            let all = |a: [f64; 3], b: [f64; 3], part| {
                                (0..3).all(|k| near(a[k], b[k], part))
                            };
                            assert!(all(a.acc, b.acc, 1e-12), "{what}: {a:?} {b:?}");
                            assert!(all(a.jerk, b.jerk, 1e-11), "{what}: {a:?} {b:?}");
                            assert!(near(a.pot, b.pot, 1e-12), "{what}: {a:?} {b:?}");
                        }
                        assert_eq!(found.nearest, expected.nearest, "{what}");
                    }
                }
            }
        }
    }
}
