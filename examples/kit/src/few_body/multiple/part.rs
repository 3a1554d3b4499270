//! Parts of a system: members that feel the tide as one body, and how much the tide matters to two of them.

use super::super::pair::{Pair, Pull};
use super::mean;
use crate::body::Body;
use crate::vector::{add_scaled, norm, sub};

/// Perturbation of two parts below which the tide acts on their centre only.
const FAINT: f64 = 1e-8;

/// Members that feel the tide as one body: the mean of their tides.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) stars: Vec<usize>,
    pub(super) centre: Body,
    pub(super) tide: Pull,
}

impl Part {
    pub(super) fn join(&mut self, other: Self) {
        let masses = [self.centre.mass, other.centre.mass];
        self.tide = mean(&masses, &[self.tide, other.tide]);
        self.centre = Pair::of(&self.centre, &other.centre).0;
        self.stars.extend(other.stars);
    }
}

/// Whether the tide hardly perturbs a pair, now and a part of a revolution later: a tide that squeezes one way and stretches
/// another vanishes at some phases.
pub(super) fn is_faint(pair: &Pair) -> bool {
    let time = (norm(&pair.x).powi(3) / pair.mass()).sqrt();
    let mut later = *pair;
    later.tide = [0.0; 3];
    add_scaled(&mut later.tide, time, &pair.tide_rate);
    pair.greatest_perturbation() < FAINT && later.greatest_perturbation() < FAINT
}

/// Whether a third body dominates two others: it is heavier than the two together, and attracts each of them more strongly than
/// they attract each other. A star dominates its planets. The tide on such two is compared with the star's attraction, on the
/// orbits of each planet about the star. The attraction between the two planets is no measure: it vanishes with their masses.
///
/// `mass` is that of the third body, at these `distances` from the two. `of_both` is the mass of the two, `between` their distance.
pub(super) fn dominates(mass: f64, distances: [f64; 2], of_both: f64, between: f64) -> bool {
    let own = of_both / (between * between);
    mass > of_both && distances.iter().all(|r| mass / (r * r) > own)
}

/// Whether one of the other `parts` [`dominates`] these two.
pub(super) fn is_dominated(parts: &[Part], both: [usize; 2], pair: &Pair) -> bool {
    let others = (0..parts.len()).filter(|k| !both.contains(k));
    others.map(|k| &parts[k].centre).any(|third| {
        let distances = both.map(|p| norm(&sub(&parts[p].centre.x, &third.x)));
        dominates(third.mass, distances, pair.mass(), norm(&pair.x))
    })
}

/// Any two of `parts`, by their places in the list, and the two as a pair with the tide between them.
pub(super) fn pairs(parts: &[Part]) -> impl Iterator<Item = ([usize; 2], Pair)> {
    let n = parts.len();
    let both = (0..n).flat_map(move |p| (p + 1..n).map(move |q| [p, q]));
    both.map(|[p, q]| {
        let (_, mut pair) = Pair::of(&parts[p].centre, &parts[q].centre);
        let tides = [&parts[p].tide, &parts[q].tide];
        pair.tide = sub(&tides[1].0, &tides[0].0);
        pair.tide_rate = sub(&tides[1].1, &tides[0].1);
        ([p, q], pair)
    })
}
