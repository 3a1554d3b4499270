//! The fraction of three-body binaries that survives encounters with other stars, against `binaries::SURVIVORS`. Takes
//! minutes.

use monte_carlo::binaries::{Binary, SURVIVORS, Surroundings, form, largest_impact_squared, reach};
use monte_carlo::encounter::{Object, scatter};
use monte_carlo::random::Stream;

/// Slowest relative speed that is drawn, and the fastest that counts.
const SLOWEST: f64 = 0.05;
const FASTEST: f64 = 8.0;

/// The relative speed in an encounter of a binary with a star. All stars have the mass 1, and all kinetic energies the same mean: k T = 1.
fn speed(binary: &Binary, star: &Object, stream: &mut Stream) -> f64 {
    let reach2 = reach(binary, star).powi(2);
    let most = SLOWEST * largest_impact_squared(binary, star, SLOWEST) + FASTEST * reach2;
    loop {
        let mut normal = || (-2.0 * stream.uniform().ln()).sqrt() * stream.angle().0;
        let w2: f64 = (0..3).map(|_| 1.5 * normal().powi(2)).sum();
        let w = w2.sqrt().max(SLOWEST);
        if stream.uniform() * most < w * largest_impact_squared(binary, star, w) {
            return w;
        }
    }
}

/// The binary after encounters until its energy is not between these limits any more.
fn follow(mut binary: Binary, stream: &mut Stream) -> f64 {
    let star = Object::Star { id: 3, mass: 1.0 };
    loop {
        let w = speed(&binary, &star, stream);
        let impact = (largest_impact_squared(&binary, &star, w) * stream.uniform()).sqrt();
        let Some(parts) = scatter(&binary, &star, impact, w, stream) else {
            continue;
        };
        let found = parts.iter().find_map(|part| match part.object {
            Object::Binary(binary) => Some(binary),
            Object::Star { .. } => None,
        });
        match found {
            Some(found) if (0.1..20.0).contains(&found.binding()) => {
                binary = Binary {
                    ids: [1, 2],
                    ..found
                };
            }
            _ => return found.map_or(0.0, |binary| binary.binding()),
        }
    }
}

#[test]
fn six_tenths_of_new_binaries_get_hard() {
    let around = Surroundings {
        temperature: 1.0,
        ..Surroundings::default()
    };
    let mut stream = Stream::of_seed(19);
    let count = 800;
    let hard = (0..count)
        .filter(|_| follow(form(&around, [1, 2], [1.0; 2], &mut stream), &mut stream) > 1.0)
        .count();
    let part = hard as f64 / f64::from(count);
    println!("{part:.3} survive");
    let error = (part * (1.0 - part) / f64::from(count)).sqrt();
    assert!((part - SURVIVORS).abs() < 3.0 * error, "{part}");
}
