//! The ring pass (Program 7.3, lines 1 to 16): positions and partial forces travel from process to process until
//! they are back at their own.

use kirin_kit::communicator::{Communicator, Result};

use crate::distribution::Distribution;
use crate::physics::{Law, Vect, add, subtract};

/// Particles are dealt like cards: the first of them have the most pairs.
pub const CYCLIC: Distribution = Distribution::Cyclic;

/// What a process has at one moment of a ring pass: a column of Table 7.4.
pub struct Moment<'a, const D: usize> {
    /// Phase of the pass; 0 before the first message.
    pub phase: usize,
    /// What has just been done.
    pub after: RingEvent,
    /// Positions of the process's own particles.
    pub loc_pos: &'a [Vect],
    /// The forces on them, as far as they are known.
    pub loc_forces: &'a [[f64; D]],
    /// The positions that are on their way.
    pub tmp_pos: &'a [Vect],
    /// The forces that travel with them.
    pub tmp_forces: &'a [[f64; D]],
}

/// What happens in a ring pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingEvent {
    /// It begins
    Start,
    /// Forces were computed
    Computation,
    /// Positions and forces went to the next process
    Communication,
}

/// The forces on the particles of this process, of `n` that are dealt cyclically. `watch` is shown every moment.
///
/// # Errors
///
/// A process is lost.
pub fn ring_pass<C: Communicator, const D: usize>(
    world: &C,
    law: &impl Law<D>,
    n: usize,
    loc_pos: &[Vect],
    mut watch: impl FnMut(Moment<'_, D>),
) -> Result<Vec<[f64; D]>> {
    let (me, p) = (world.rank(), world.size());
    let mut loc_forces = vec![[0.0; D]; loc_pos.len()];
    // One message for both: positions, and behind them forces.
    let mut tmp = loc_pos.as_flattened().to_vec();
    tmp.resize((2 + D) * loc_pos.len(), 0.0);
    let (mut received, mut owner) = (Vec::new(), me);
    let mut show = |phase, after, loc_forces: &[_], tmp: &mut [f64]| {
        let (tmp_pos, tmp_forces) = halves(tmp);
        watch(Moment {
            phase,
            after,
            loc_pos,
            loc_forces,
            tmp_pos,
            tmp_forces,
        });
    };
    show(0, RingEvent::Start, &loc_forces, &mut tmp);
    for phase in 0..p {
        let (tmp_pos, tmp_forces) = halves(&mut tmp);
        add_pairs(
            law,
            (me, owner, p),
            (loc_pos, &mut loc_forces),
            (tmp_pos, tmp_forces),
        );
        show(phase, RingEvent::Computation, &loc_forces, &mut tmp);
        // To the lower neighbour, from the higher one; after the last phase everything is home again.
        owner = (me + phase + 1) % p;
        let length = (2 + D) * CYCLIC.of(owner, p, n).len();
        world.shift(p - 1, &tmp, length, &mut received)?;
        std::mem::swap(&mut tmp, &mut received);
        show(phase + 1, RingEvent::Communication, &loc_forces, &mut tmp);
    }
    for (force, travelled) in loc_forces.iter_mut().zip(halves(&mut tmp).1) {
        add(force, travelled);
    }
    show(p, RingEvent::Computation, &loc_forces, &mut tmp);
    Ok(loc_forces)
}

/// Positions and forces of a message.
fn halves<const D: usize>(tmp: &mut [f64]) -> (&[Vect], &mut [[f64; D]]) {
    let (pos, forces) = tmp.split_at_mut(2 * (tmp.len() / (2 + D)));
    (pos.as_chunks().0, forces.as_chunks_mut().0)
}

/// The pairs of a particle of mine and a later one of the owner's: added to mine, subtracted from his.
fn add_pairs<const D: usize>(
    law: &impl Law<D>,
    (me, owner, p): (usize, usize, usize),
    (loc_pos, loc_forces): (&[Vect], &mut [[f64; D]]),
    (tmp_pos, tmp_forces): (&[Vect], &mut [[f64; D]]),
) {
    for (i, (s_q, on_q)) in loc_pos.iter().zip(loc_forces).enumerate() {
        let theirs = tmp_pos.iter().zip(&mut *tmp_forces).enumerate();
        for (j, (s_k, on_k)) in theirs.skip(first_index(i, me, owner)) {
            let force = law.force(me + i * p, owner + j * p, s_q, s_k);
            add(on_q, &force);
            subtract(on_k, &force);
        }
    }
}

/// The first particle of the owner's that is later than my particle `i`; both counted by their owners.
pub fn first_index(i: usize, me: usize, owner: usize) -> usize {
    i + usize::from(owner <= me)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `First_index` gives the first particle of the owner after particle q, as the chapter demands. (The chapter also
    /// demands a distance below p. If the owner is the process itself, the distance is p.)
    #[test]
    fn the_first_index_is_the_next_particle_of_the_owner() {
        let p = 4;
        for (i, me, owner) in (0..3).flat_map(|i| (0..16).map(move |k| (i, k / 4, k % 4))) {
            let (q, k) = (me + i * p, owner + first_index(i, me, owner) * p);
            assert!(q < k && k <= q + p, "{i} {me} {owner}");
        }
    }
}
