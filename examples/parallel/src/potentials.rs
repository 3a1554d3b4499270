//! The potentials from which a run finds energies and the bound stars. All ranks share the sums over pairs.

use kirin_kit::Body;
use kirin_kit::communicator::Communicator;
use kirin_kit::pairs;

use crate::error::Error;

/// The potential of each of the `n` bodies that rank 0 has, by all others, with the softening `eps2` = eps squared; nothing
/// on other ranks. Each rank sums a part of the pairs, in double precision. The bits are those of one rank.
///
/// # Errors
///
/// A rank is lost.
pub fn shared<C: Communicator>(
    world: &C,
    bodies: &[Body],
    n: usize,
    eps2: f64,
) -> Result<Vec<f64>, Error> {
    let (own, ranks) = (world.rank(), world.size());
    if ranks == 1 {
        return Ok(pairs::potentials(bodies, eps2));
    }
    let mut places = vec![[0.0; 4]; n];
    for (place, body) in places.iter_mut().zip(bodies) {
        let [x, y, z] = body.x;
        *place = [body.mass, x, y, z];
    }
    world.broadcast(0, places.as_flattened_mut())?;
    let body = |&[mass, x, y, z]: &[f64; 4]| Body {
        mass,
        x: [x, y, z],
        ..Body::default()
    };
    let all: Vec<Body> = places.iter().map(body).collect();
    let portion = pairs::portion(&all, eps2, own, ranks).concat();
    let parts = pairs::parts(n);
    let count = |rank: usize| n * (rank..parts).step_by(ranks).count();
    let counts: Vec<usize> = (0..ranks).map(count).collect();
    let mut sums = Vec::new();
    world.gather_v(0, &portion, &counts, &mut sums)?;
    if own > 0 {
        return Ok(Vec::new());
    }
    let mut rest = &sums[..];
    let portions: Vec<&[f64]> = counts
        .iter()
        .map(|&count| rest.split_off(..count).expect("as many as were announced"))
        .collect();
    let part = |k: usize| &portions[k % ranks][k / ranks * n..][..n];
    Ok(pairs::joined((0..parts).map(part), n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::communicator::threads;
    use kirin_kit::models::plummer;

    /// Also if there are more ranks than parts.
    #[test]
    fn any_number_of_ranks_finds_the_same_bits() {
        for n in [3, 700] {
            let bodies = plummer(n, 7);
            let alone = pairs::potentials(&bodies, 1e-4);
            for ranks in [1, 2, 3, 40] {
                let all = threads::run(ranks, |world| {
                    let own = if world.rank() == 0 { &bodies[..] } else { &[] };
                    shared(&world, own, n, 1e-4)
                });
                let all = all.unwrap();
                assert!(all[0] == alone, "{n} {ranks}");
                assert!(all[1..].iter().all(Vec::is_empty));
            }
        }
    }
}
