//! The pairs of stars that may come close to each other during a drift.

use kirin_kit::vector::{Vec3, add_scaled, dot, sub};
use rayon::prelude::*;

use crate::phase_space::GRAIN;

/// The straight way of a star from the start to the end of a drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chord {
    /// Its start.
    pub from: Vec3,
    /// The way from there to the end.
    pub way: Vec3,
}

/// Two stars, the first with the smaller number, and their least squared distance on their chords.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The stars.
    pub stars: [usize; 2],
    /// The least squared distance.
    pub closest2: f64,
}

/// The least squared distance of two stars that go along their chords at the same time, each at a constant speed.
pub fn closest2(a: &Chord, b: &Chord) -> f64 {
    let (d, w) = (sub(&b.from, &a.from), sub(&b.way, &a.way));
    let w2 = dot(&w, &w);
    let part = if w2 > 0.0 {
        (-dot(&d, &w) / w2).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let mut closest = d;
    add_scaled(&mut closest, part, &w);
    dot(&closest, &closest)
}

/// A star's chord with its reach on both sides, along the axes in the order of the search.
struct Reach {
    low: Vec3,
    high: Vec3,
    star: usize,
}

impl Reach {
    /// Whether a star that follows in the order may be within reach: the boxes overlap along the other two axes.
    fn overlaps(&self, other: &Self) -> bool {
        let along = |k: usize| (self.low[k] <= other.high[k]) & (other.low[k] <= self.high[k]);
        along(1) & along(2)
    }
}

/// All pairs that come nearer to each other on their chords than the sum of their reaches, in ascending order. Sorts the
/// stars along an axis and compares each with the following ones within reach. This takes O(N^(5/3)) if the reaches are
/// proportional to the mean distance of neighbours.
pub fn pairs(chords: &[Chord], reach: impl Fn(usize) -> f64 + Sync) -> Vec<Pair> {
    if chords.is_empty() {
        return Vec::new();
    }
    // The way that all have in common, that of the cluster's orbit, is left out.
    let mut common = [0.0; 3];
    for chord in chords {
        add_scaled(&mut common, 1.0 / chords.len() as f64, &chord.way);
    }
    let axis = longest_axis(chords);
    let reaches = |(star, chord): (usize, &Chord)| {
        let reach = reach(star);
        let interval = |k: usize| {
            let k = (axis + k) % 3;
            let (from, way) = (chord.from[k], chord.way[k] - common[k]);
            (from + way.min(0.0) - reach, from + way.max(0.0) + reach)
        };
        let [x, y, z] = [0, 1, 2].map(interval);
        Reach {
            low: [x.0, y.0, z.0],
            high: [x.1, y.1, z.1],
            star,
        }
    };
    let mut order: Vec<Reach> = chords.iter().enumerate().map(reaches).collect();
    order.sort_unstable_by(|a, b| a.low[0].total_cmp(&b.low[0]).then(a.star.cmp(&b.star)));
    let of_place = |place: usize| {
        let (order, reach) = (&order, &reach);
        let this = &order[place];
        let following = order[place + 1..].iter();
        following
            .take_while(|other| other.low[0] <= this.high[0])
            .filter(|other| this.overlaps(other))
            .filter_map(|other| {
                let (i, j) = (this.star, other.star);
                let closest2 = closest2(&chords[i], &chords[j]);
                let stars = [i.min(j), i.max(j)];
                let is_near = closest2 < (reach(i) + reach(j)).powi(2);
                is_near.then_some(Pair { stars, closest2 })
            })
    };
    let mut pairs: Vec<Pair> = (0..order.len())
        .into_par_iter()
        .with_min_len(GRAIN / 8)
        .flat_map_iter(of_place)
        .collect();
    pairs.sort_unstable_by_key(|pair| pair.stars);
    pairs
}

/// The axis along which the stars are spread most.
fn longest_axis(chords: &[Chord]) -> usize {
    let spread = |k: usize| {
        let places = || chords.iter().map(|c| c.from[k]);
        places().fold(f64::NEG_INFINITY, f64::max) - places().fold(f64::INFINITY, f64::min)
    };
    let spreads = [0, 1, 2].map(spread);
    (0..3).fold(0, |best, k| match spreads[k] > spreads[best] {
        true => k,
        false => best,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::models::plummer;

    #[test]
    fn the_pairs_are_those_of_all() {
        let chords: Vec<Chord> = plummer(600, 2)
            .iter()
            .map(|b| Chord {
                from: [b.x[0], 800.0 + b.x[1], b.x[2]],
                way: [0.05 * b.v[0], 0.05 * b.v[1] + 3.0, 0.05 * b.v[2]],
            })
            .collect();
        let found = pairs(&chords, |i| 0.04 + 1e-4 * i as f64);
        let mut all = Vec::new();
        for i in 0..chords.len() {
            for j in i + 1..chords.len() {
                let reach = 0.08 + 1e-4 * (i + j) as f64;
                if closest2(&chords[i], &chords[j]) < reach * reach {
                    all.push([i, j]);
                }
            }
        }
        assert!(all.len() > 50, "{}", all.len());
        assert!(found.iter().map(|pair| pair.stars).eq(all));
    }

    #[test]
    fn a_passage_within_the_drift_is_seen() {
        let chord = |x: f64, y: f64, way: f64| Chord {
            from: [x, y, 0.0],
            way: [way, 0.0, 0.0],
        };
        let closest = |a, b| closest2(&a, &b).sqrt();
        assert!((closest(chord(-1.0, 0.1, 2.0), chord(0.0, 0.0, 0.0)) - 0.1).abs() < 1e-15);
        assert_eq!(closest(chord(-1.0, 0.0, 0.5), chord(0.0, 0.0, 0.0)), 0.5);
        assert_eq!(closest(chord(1.0, 0.0, 7.0), chord(0.0, 0.0, 7.0)), 1.0);
        assert!(pairs(&[], |_| 1.0).is_empty());
    }
}
