//! The groups of a rank, divided among its threads.

use std::time::Instant;

use crate::error::Error;
use crate::forces::Counts;
use crate::particle::Particle;
use crate::walk::Group;

/// Some groups, and what belongs to them.
pub struct Part<'a> {
    /// The groups, in Morton order.
    pub groups: &'a [Group],
    /// For each group the length of its list.
    pub lengths: &'a mut [u32],
    /// The particles of all these groups.
    pub particles: &'a mut [Particle],
}

impl Part<'_> {
    /// The first half of the groups, and the others.
    fn halves(self) -> [Self; 2] {
        let (groups, others) = self.groups.split_at(self.groups.len() / 2);
        let (lengths, other_lengths) = self.lengths.split_at_mut(groups.len());
        let border = groups.iter().map(|group| group.particles().len()).sum();
        let (particles, other_particles) = self.particles.split_at_mut(border);
        let half = |groups, lengths, particles| Part {
            groups,
            lengths,
            particles,
        };
        [
            half(groups, lengths, particles),
            half(others, other_lengths, other_particles),
        ]
    }
}

/// Lets the threads `sum` parts of `all` with up to `most` groups. Returns what they have done, with the time that went by.
///
/// # Errors
///
/// Those of `sum`.
pub fn on_threads(
    all: Part<'_>,
    most: usize,
    sum: &(impl Fn(Part<'_>) -> Result<Counts, Error> + Sync),
) -> Result<Counts, Error> {
    let began = Instant::now();
    let done = divide(all, most.max(1), sum)?;
    Ok(done.lasting(began.elapsed()))
}

fn divide(
    part: Part<'_>,
    most: usize,
    sum: &(impl Fn(Part<'_>) -> Result<Counts, Error> + Sync),
) -> Result<Counts, Error> {
    if part.groups.len() <= most {
        return sum(part);
    }
    let [one, other] = part.halves();
    let (done, also) = rayon::join(|| divide(one, most, sum), || divide(other, most, sum));
    let mut done = done?;
    done.add(&also?);
    Ok(done)
}
