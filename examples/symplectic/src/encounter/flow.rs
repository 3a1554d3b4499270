//! The motion of stars under the near parts of their attractions.

use kirin_kit::galaxy::flow::{Phase, follow_all};
use kirin_kit::vector::{Vec3, add_scaled, dot, norm, sub};
use kirin_kit::widest::{Work, widest};
use rayon::prelude::*;

use super::SKIN;
use super::aside::{Aside, straight};
use super::law::Law;
use super::search::{self, Chord, Pair, closest2};
use crate::error::Error;
use crate::phase_space::GRAIN;

/// What a star's distance from its chord is multiplied by, so that what the other stars add seldom makes new groups.
const SPARE: f64 = 1.3;

/// By this part of the changeover radius every star may be turned aside before its group is followed again.
const TURNED: f64 = 0.02;

/// A drift that takes a group more steps than this is divided: of the stars that meet within it few meet in each of its parts.
const MANY_STEPS: f64 = 8.0;

/// Into so many parts at most.
const MOST_PARTS: f64 = 8.0;

/// Greatest step of stars near each other, as a fraction of the time in which they cross the changeover radius.
const LONGEST: f64 = 0.25;

/// All stars at the end of a drift, and the pairs that may then be within the changeover radius of each other.
pub type Drifted = (Vec<Phase>, Vec<Pair>);

/// All stars at the start of a drift, and the near parts.
pub struct Cluster<'a> {
    /// Positions.
    pub x: &'a [Vec3],
    /// Velocities.
    pub v: &'a [Vec3],
    /// Masses.
    pub masses: &'a [f64],
    /// The near part of two stars.
    pub stars: Option<Law>,
    /// The mass of the black hole, and its near part.
    pub hole: Option<(f64, Law)>,
}

/// A star at the end of a drift.
#[derive(Clone, Copy, Debug)]
struct Moved {
    end: Phase,
    /// The farthest it was from the chord of its way without the other stars.
    aside: f64,
}

/// What [`Cluster::moved`] finds.
struct Drift {
    stars: Vec<Moved>,
    /// Their ways without each other.
    chords: Vec<Chord>,
    pairs: Vec<Pair>,
}

/// Stars that move together, sorted, and whether the black hole is near.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    stars: Vec<usize>,
    /// Those that may come near each other, by their places in `stars`.
    pairs: Vec<[usize; 2]>,
    hole: bool,
    /// How many drifts, one after the other, make theirs.
    parts: u32,
}

impl Cluster<'_> {
    /// The stars after the time `h`. The drifts of groups may be divided, those of their parts again, `divisions` times.
    pub fn drift(&self, h: f64, divisions: u32) -> Result<Drifted, Error> {
        let drift = self.moved(h, divisions)?;
        let ends = drift.stars.iter().map(|moved| moved.end).collect();
        Ok((ends, drift.pairs))
    }

    /// The stars after the time `h`, and the pairs that may come near each other on the way.
    ///
    /// A star that is deflected may meet stars that its chord misses. Therefore the groups are formed again, within the
    /// changeover radius and margins for the deflections found, until no group is new.
    fn moved(&self, h: f64, divisions: u32) -> Result<Drift, Error> {
        let mut stars = self.alone(h)?;
        let chord = |(from, moved): (&Vec3, &Moved)| Chord {
            from: *from,
            way: sub(&moved.end.0, from),
        };
        let chords: Vec<Chord> = self.x.iter().zip(&stars).map(chord).collect();
        let Some(law) = &self.stars else {
            let pairs = Vec::new();
            return Ok(Drift {
                stars,
                chords,
                pairs,
            });
        };
        let margin = |moved: &Moved| (SPARE * moved.aside).max(TURNED * law.radius());
        let mut margins: Vec<f64> = stars.iter().map(margin).collect();
        let skin = |margin: &f64| margin + 0.5 * SKIN * law.radius();
        let within = |margins: &[f64]| search::pairs(&chords, |i| 0.5 * law.radius() + margins[i]);
        let mut searched: Vec<f64> = margins.iter().map(skin).collect();
        let mut pairs = within(&searched);
        let mut done: Vec<Group> = Vec::new();
        loop {
            if margins.iter().zip(&searched).any(|(m, s)| m > s) {
                searched = margins.iter().map(skin).collect();
                pairs = within(&searched);
            }
            let mut groups = self.groups(&pairs, law.radius(), &margins, h);
            for group in groups.iter_mut().filter(|_| divisions > 0) {
                let steps = h.abs() / self.step_of(group);
                if steps > MANY_STEPS {
                    group.parts = (steps / MANY_STEPS).ceil().min(MOST_PARTS) as u32;
                    // Each part finds its own.
                    group.pairs.clear();
                }
            }
            let is_new = |group: &&Group| done.binary_search(group).is_err();
            let new: Vec<&Group> = groups.iter().filter(is_new).collect();
            if new.is_empty() {
                return Ok(Drift {
                    stars,
                    chords,
                    pairs,
                });
            }
            let together = |group: &&Group| match group.parts {
                1 => self.together(group, &chords, h),
                _ => self.in_parts(group, &chords, h, divisions - 1),
            };
            let moved: Result<Vec<Vec<Moved>>, Error> = new.par_iter().map(together).collect();
            for (group, moved) in new.into_iter().zip(moved?) {
                for (&i, moved) in group.stars.iter().zip(moved) {
                    stars[i] = moved;
                    margins[i] = margins[i].max(moved.aside);
                }
            }
            done = groups;
        }
    }

    /// The stars of a group after the time `h`, in drifts that are parts of it, one after the other.
    fn in_parts(
        &self,
        group: &Group,
        chords: &[Chord],
        h: f64,
        divisions: u32,
    ) -> Result<Vec<Moved>, Error> {
        let masses = self.masses_of(group);
        let moved = |&i: &usize| Moved {
            end: (self.x[i], self.v[i]),
            aside: 0.0,
        };
        let mut stars: Vec<Moved> = group.stars.iter().map(moved).collect();
        for part in 0..group.parts {
            let (x, v): (Vec<Vec3>, Vec<Vec3>) = stars.iter().map(|moved| moved.end).unzip();
            let cluster = Cluster {
                x: &x,
                v: &v,
                masses: &masses,
                ..*self
            };
            let drift = cluster.moved(h / f64::from(group.parts), divisions);
            let drift = drift.map_err(|why| match why {
                Error::Encounter { index, hole } => fall(group.stars[index as usize], hole),
                why => why,
            })?;
            for (k, &i) in group.stars.iter().enumerate() {
                // How far the ends of this part's chord are from the whole one.
                let off = |x: &Vec3, parts: u32| {
                    let mut off = sub(x, &chords[i].from);
                    let time = f64::from(parts) / f64::from(group.parts);
                    add_scaled(&mut off, -time, &chords[i].way);
                    norm(&off)
                };
                let Chord { from, way } = &drift.chords[k];
                let mut to = *from;
                add_scaled(&mut to, 1.0, way);
                let off = off(from, part).max(off(&to, part + 1));
                stars[k] = Moved {
                    end: drift.stars[k].end,
                    aside: stars[k].aside.max(off + drift.stars[k].aside),
                };
            }
        }
        Ok(stars)
    }

    /// The stars after the time `h`, each without the others.
    fn alone(&self, h: f64) -> Result<Vec<Moved>, Error> {
        let moved = |i: usize| match self.hole {
            Some(hole) if self.meets_hole(i, h, 0.0) => {
                let moved = self.past_hole(i, &hole, h);
                moved.map_err(|_| fall(i, true))
            }
            _ => {
                let mut x = self.x[i];
                add_scaled(&mut x, h, &self.v[i]);
                let (end, aside) = ((x, self.v[i]), 0.0);
                Ok(Moved { end, aside })
            }
        };
        let stars = (0..self.x.len()).into_par_iter();
        stars.with_min_len(GRAIN / 8).map(moved).collect()
    }

    /// Whether the straight way of star `i` comes within the hole's changeover radius, or `margin` more.
    fn meets_hole(&self, i: usize, h: f64, margin: f64) -> bool {
        let Some((_, law)) = &self.hole else {
            return false;
        };
        let star = Chord {
            from: self.x[i],
            way: self.v[i].map(|c| h * c),
        };
        let hole = Chord {
            from: [0.0; 3],
            way: [0.0; 3],
        };
        closest2(&star, &hole) < (law.radius() + margin).powi(2)
    }

    /// Stars that are joined by pairs within `radius` and their `margins`, sorted.
    fn groups(&self, pairs: &[Pair], radius: f64, margins: &[f64], h: f64) -> Vec<Group> {
        let near = |pair: &&Pair| {
            let [i, j] = pair.stars;
            pair.closest2 < (radius + margins[i] + margins[j]).powi(2)
        };
        let joined: Vec<[usize; 2]> = pairs.iter().filter(near).map(|p| p.stars).collect();
        let components = components(&joined, margins.len());
        // Group of each star that is in one, and place in it.
        let mut places = vec![(0, 0); margins.len()];
        for (group, stars) in components.iter().enumerate() {
            for (place, &i) in stars.iter().enumerate() {
                places[i] = (group, place);
            }
        }
        let group = |stars: Vec<usize>| Group {
            hole: stars.iter().any(|&i| self.meets_hole(i, h, margins[i])),
            stars,
            pairs: Vec::new(),
            parts: 1,
        };
        let mut groups: Vec<Group> = components.into_iter().map(group).collect();
        for [i, j] in joined {
            let (group, place) = places[i];
            groups[group].pairs.push([place, places[j].1]);
        }
        groups
    }

    /// The longest step in which the stars of a group miss neither each other nor the hole.
    fn step_of(&self, group: &Group) -> f64 {
        let fastest = |from: &Vec3| {
            let speeds = group.stars.iter().map(|&i| norm(&sub(&self.v[i], from)));
            speeds.fold(0.0, f64::max)
        };
        let step = self.longest(2.0 * fastest(&self.v[group.stars[0]]));
        match self.hole.filter(|_| group.hole) {
            Some(hole) => step.min(hole_step(&hole, fastest(&[0.0; 3]))),
            None => step,
        }
    }

    /// The stars of a group after the time `h`.
    fn together(&self, group: &Group, chords: &[Chord], h: f64) -> Result<Vec<Moved>, Error> {
        let moved = match (&group.stars[..], self.hole.filter(|_| group.hole)) {
            (_, Some(hole)) => self.with_hole(group, chords, &hole, h),
            (&[i, j], None) if self.masses[i] + self.masses[j] > 0.0 => self.pair([i, j], h),
            _ => self.several(group, h),
        };
        moved.map_err(|_| fall(group.stars[0], group.hole))
    }

    /// Two stars: the relative motion of one body.
    fn pair(&self, [i, j]: [usize; 2], h: f64) -> Result<Vec<Moved>, String> {
        let both = self.masses[i] + self.masses[j];
        let start = [(sub(&self.x[j], &self.x[i]), sub(&self.v[j], &self.v[i]))];
        let rates = |_: f64, phases: &[Phase], rates: &mut [Phase]| {
            let (d, u) = phases[0];
            let near = self.stars.map_or(0.0, |law| law.near(dot(&d, &d)));
            rates[0] = (u, d.map(|c| -both * near * c));
        };
        let steps = (h, self.longest(norm(&start[0].1)));
        let mut aside = Aside::of(&straight(&start, h)[0], &start[0].1, h);
        let mut see = |t: f64, phases: &[Phase]| aside.see(t, &phases[0]);
        let [end] = follow_all(&rates, &start, (0.0, h), steps, &mut see)?;
        let parts = [-self.masses[j] / both, self.masses[i] / both];
        let moved = |(i, part): (usize, f64)| Moved {
            end: self.shifted(i, part, &start[0], &end, h),
            aside: part.abs() * aside.most,
        };
        Ok([i, j].into_iter().zip(parts).map(moved).collect())
    }

    /// Moves a group of any size. Positions and velocities are taken relative to the group's first star:
    /// differences of large coordinates in the galaxy would lose digits.
    fn several(&self, group: &Group, h: f64) -> Result<Vec<Moved>, String> {
        let (x, v) = (self.x[group.stars[0]], self.v[group.stars[0]]);
        let relative = |&i: &usize| (sub(&self.x[i], &x), sub(&self.v[i], &v));
        let start: Vec<Phase> = group.stars.iter().map(relative).collect();
        let masses = self.masses_of(group);
        let rates = |_: f64, phases: &[Phase], rates: &mut [Phase]| {
            self.rates(group, &masses, phases, rates);
        };
        let steps = (h, self.step_of(group));
        let mut aside = Aside::of_all(&straight(&start, h), &start, h);
        let mut see = |t: f64, phases: &[Phase]| Aside::see_all(&mut aside, t, phases);
        let ends = follow_all(&rates, &start, (0.0, h), steps, &mut see)?;
        let moved = |(k, &i): (usize, &usize)| Moved {
            end: self.shifted(i, 1.0, &start[k], &ends[k], h),
            aside: aside[k].most,
        };
        Ok(group.stars.iter().enumerate().map(moved).collect())
    }

    /// Star `i` after the time `h`, if `part` of what brought another body from `start` to `end` acts on it.
    fn shifted(&self, i: usize, part: f64, start: &Phase, end: &Phase, h: f64) -> Phase {
        let change = |k: usize| end.0[k] - start.0[k] - h * start.1[k];
        let x = |k: usize| self.x[i][k] + (h * self.v[i][k] + part * change(k));
        let v = |k: usize| self.v[i][k] + part * (end.1[k] - start.1[k]);
        ([0, 1, 2].map(x), [0, 1, 2].map(v))
    }

    /// One star near the black hole.
    fn past_hole(&self, i: usize, hole: &(f64, Law), h: f64) -> Result<Moved, String> {
        let start = [(self.x[i], self.v[i])];
        let rates = |_: f64, phases: &[Phase], rates: &mut [Phase]| {
            rates[0] = (phases[0].1, pull(hole, &phases[0].0));
        };
        let steps = (h, hole_step(hole, norm(&self.v[i])));
        let mut path = Vec::with_capacity(4);
        let mut see = |t: f64, phases: &[Phase]| path.push((t, phases[0]));
        let [end] = follow_all(&rates, &start, (0.0, h), steps, &mut see)?;
        let chord = Chord {
            from: self.x[i],
            way: sub(&end.0, &self.x[i]),
        };
        let mut aside = Aside::of(&chord, &self.v[i], h);
        for (t, phase) in &path {
            aside.see(*t, phase);
        }
        Ok(Moved {
            end,
            aside: aside.most,
        })
    }

    /// Any stars near the black hole.
    fn with_hole(
        &self,
        group: &Group,
        chords: &[Chord],
        hole: &(f64, Law),
        h: f64,
    ) -> Result<Vec<Moved>, String> {
        let phase = |&i: &usize| (self.x[i], self.v[i]);
        let start: Vec<Phase> = group.stars.iter().map(phase).collect();
        let masses = self.masses_of(group);
        let rates = |_: f64, phases: &[Phase], rates: &mut [Phase]| {
            self.rates(group, &masses, phases, rates);
            for (rate, (x, _)) in rates.iter_mut().zip(phases) {
                add_scaled(&mut rate.1, 1.0, &pull(hole, x));
            }
        };
        let chords: Vec<Chord> = group.stars.iter().map(|&i| chords[i]).collect();
        let mut aside = Aside::of_all(&chords, &start, h);
        let mut see = |t: f64, phases: &[Phase]| Aside::see_all(&mut aside, t, phases);
        let ends = follow_all(&rates, &start, (0.0, h), (h, self.step_of(group)), &mut see)?;
        let moved = |(end, aside): (Phase, Aside)| Moved {
            end,
            aside: aside.most,
        };
        Ok(ends.into_iter().zip(aside).map(moved).collect())
    }

    /// The longest step in which stars with this relative speed do not miss each other.
    fn longest(&self, speed: f64) -> f64 {
        let radius = self.stars.map_or(f64::INFINITY, |law| law.radius());
        match LONGEST * radius / speed {
            time if time > 0.0 => time,
            // Nobody moves.
            _ => f64::INFINITY,
        }
    }

    /// Rates of change by the near parts within a group of stars of these masses.
    fn rates(&self, group: &Group, masses: &[f64], phases: &[Phase], rates: &mut [Phase]) {
        for (rate, (_, v)) in rates.iter_mut().zip(phases) {
            *rate = (*v, [0.0; 3]);
        }
        if let Some(law) = &self.stars {
            let pairs = &group.pairs;
            widest(NearParts {
                law,
                pairs,
                masses,
                phases,
                rates,
            });
        }
    }

    /// The masses of a group's stars.
    fn masses_of(&self, group: &Group) -> Vec<f64> {
        group.stars.iter().map(|&i| self.masses[i]).collect()
    }
}

/// Pairs whose coordinates are collected at a time.
const BATCH: usize = 64;

/// A group with up to so many pairs needs one vector of AVX-512. Larger ones compute whole batches: the compiler unrolls a loop of known length.
const LANES: usize = 8;

/// The near parts of a group's pairs, which are added to the rates.
struct NearParts<'a> {
    law: &'a Law,
    pairs: &'a [[usize; 2]],
    masses: &'a [f64],
    phases: &'a [Phase],
    rates: &'a mut [Phase],
}

impl Work for NearParts<'_> {
    type Output = ();

    /// One simple loop over coordinates, one over distances, which becomes vectors, and one over sums.
    #[inline(always)]
    fn run(self) {
        let Self {
            law,
            pairs,
            masses,
            phases,
            rates,
        } = self;
        let (mut d, mut near) = ([[0.0; BATCH]; 3], [0.0; BATCH]);
        for batch in pairs.chunks(BATCH) {
            for (k, &[a, b]) in batch.iter().enumerate() {
                let (from, to) = (&phases[a].0, &phases[b].0);
                for (d, (from, to)) in d.iter_mut().zip(from.iter().zip(to)) {
                    d[k] = to - from;
                }
            }
            let [x, y, z] = &d;
            if batch.len() <= LANES {
                near_of(law, &d, &mut near, LANES);
            } else {
                near_of(law, &d, &mut near, BATCH);
            }
            for (k, &[a, b]) in batch.iter().enumerate() {
                let d = [x[k], y[k], z[k]];
                add_scaled(&mut rates[a].1, masses[b] * near[k], &d);
                add_scaled(&mut rates[b].1, -masses[a] * near[k], &d);
            }
        }
    }
}

/// The near parts at the first `n` distances.
#[inline(always)]
fn near_of(law: &Law, [x, y, z]: &[[f64; BATCH]; 3], near: &mut [f64; BATCH], n: usize) {
    for k in 0..n {
        near[k] = law.near(x[k] * x[k] + y[k] * y[k] + z[k] * z[k]);
    }
}

/// The longest step in which a star of this speed does not miss the hole.
fn hole_step((_, law): &(f64, Law), speed: f64) -> f64 {
    LONGEST * law.radius() / speed
}

/// The acceleration at `x` by the near part of a black hole.
fn pull((m, law): &(f64, Law), x: &Vec3) -> Vec3 {
    let near = law.near(dot(x, x));
    x.map(|c| -m * near * c)
}

/// The stars of `0..n` that pairs join, those of each component together, sorted.
fn components(pairs: &[[usize; 2]], n: usize) -> Vec<Vec<usize>> {
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut parent: Vec<usize> = (0..n).collect();
    let mut members = Vec::new();
    for &[i, j] in pairs {
        let (a, b) = (root(&mut parent, i), root(&mut parent, j));
        // The smallest number is the root.
        parent[a.max(b)] = a.min(b);
        members.extend([i, j]);
    }
    members.sort_unstable();
    members.dedup();
    let with_root = |i: usize| (root(&mut parent, i), i);
    let mut all: Vec<(usize, usize)> = members.into_iter().map(with_root).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|group| group.iter().map(|member| member.1).collect())
        .collect()
}

/// No step of the stars with this first one is short enough.
fn fall(first: usize, hole: bool) -> Error {
    Error::Encounter {
        index: first as i32,
        hole,
    }
}
