//! The motion of stars under the near parts of their attractions.

use kirin_kit::galaxy::flow::{Phase, follow_all};
use kirin_kit::vector::{Vec3, add_scaled, dot, norm, sub};
use rayon::prelude::*;

use super::SKIN;
use super::law::Law;
use super::search::{self, Chord, Pair, closest2};
use crate::error::Error;
use crate::phase_space::GRAIN;

/// The longest step is this part of the time in which stars pass the changeover radius.
const LONGEST: f64 = 0.25;

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

impl Cluster<'_> {
    /// Where the stars would be after the time `h`, each without the others.
    pub fn alone(&self, h: f64) -> Result<Vec<Phase>, Error> {
        let end = |i: usize| {
            let mut x = self.x[i];
            add_scaled(&mut x, h, &self.v[i]);
            let straight = (x, self.v[i]);
            match self.hole {
                Some(hole) if self.meets_hole(i, h, 0.0) => {
                    let ends = self.with_hole(&[i], &hole, h);
                    ends.map(|ends| ends[0]).map_err(|_| fall(&[i], true))
                }
                _ => Ok(straight),
            }
        };
        let stars = (0..self.x.len()).into_par_iter();
        stars.with_min_len(GRAIN / 8).map(end).collect()
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

    /// Where the stars are after the time `h`: `ends`, which begins as where they would be `alone`. Returns the pairs that
    /// may be within the `radius` of each other then.
    ///
    /// A star that is turned aside may meet others than its chord does. By as much as it misses the place where it would
    /// be alone the search is repeated farther around it.
    pub fn together(
        &self,
        chords: &[Chord],
        radius: f64,
        h: f64,
        alone: &[Phase],
        ends: &mut [Phase],
    ) -> Result<Vec<Pair>, Error> {
        let mut margins = vec![0.0; chords.len()];
        let mut skin = SKIN * radius;
        let mut pairs = search::pairs(chords, radius + skin);
        let mut done: Vec<Vec<usize>> = Vec::new();
        loop {
            let groups = groups(&pairs, radius, &margins);
            let new: Vec<&Vec<usize>> = groups
                .iter()
                .filter(|group| done.binary_search(group).is_err())
                .collect();
            if new.is_empty() {
                return Ok(pairs);
            }
            let moved: Result<Vec<Vec<Phase>>, Error> =
                new.par_iter().map(|group| self.group(group, h)).collect();
            for (group, phases) in new.into_iter().zip(moved?) {
                for (&i, phase) in group.iter().zip(phases) {
                    ends[i] = phase;
                    let turned = h.abs() * norm(&sub(&phase.1, &alone[i].1));
                    let missed = norm(&sub(&phase.0, &alone[i].0)) + turned;
                    margins[i] = missed.max(margins[i]);
                }
            }
            done = groups;
            let farthest = 2.0 * margins.iter().fold(0.0, |most: f64, m| most.max(*m));
            if farthest > skin {
                skin = farthest;
                pairs = search::pairs(chords, radius + skin);
            }
        }
    }

    /// The stars of a group after the time `h`.
    fn group(&self, group: &[usize], h: f64) -> Result<Vec<Phase>, Error> {
        let hole = self.hole.filter(|_| {
            let margin = SKIN * self.stars.map_or(0.0, |law| law.radius());
            group.iter().any(|&i| self.meets_hole(i, h, margin))
        });
        let moved = match (group, hole) {
            (_, Some(hole)) => self.with_hole(group, &hole, h),
            (&[i, j], None) => self.pair([i, j], h),
            _ => self.several(group, h),
        };
        moved.map_err(|_| fall(group, hole.is_some()))
    }

    /// Two stars: the relative motion of one body.
    fn pair(&self, [i, j]: [usize; 2], h: f64) -> Result<Vec<Phase>, String> {
        let both = self.masses[i] + self.masses[j];
        let Some(law) = self.stars.filter(|_| both > 0.0) else {
            return self.several(&[i, j], h);
        };
        let relative = (sub(&self.x[j], &self.x[i]), sub(&self.v[j], &self.v[i]));
        let rates = |_: f64, phases: &[Phase], rates: &mut [Phase]| {
            let (d, u) = phases[0];
            let near = law.near(dot(&d, &d));
            rates[0] = (u, d.map(|c| -both * near * c));
        };
        let longest = self.longest(norm(&relative.1));
        let [end] = follow_all(&rates, &[relative], 0.0, h, (h, longest))?;
        let parts = [-self.masses[j] / both, self.masses[i] / both];
        let moved = |(i, part): (usize, f64)| {
            let change = |k: usize| end.0[k] - relative.0[k] - h * relative.1[k];
            let x = |k: usize| self.x[i][k] + (h * self.v[i][k] + part * change(k));
            let v = |k: usize| self.v[i][k] + part * (end.1[k] - relative.1[k]);
            ([0, 1, 2].map(x), [0, 1, 2].map(v))
        };
        Ok([i, j].into_iter().zip(parts).map(moved).collect())
    }

    /// Any stars, about the place and velocity of the first of them: the digits of the way round the galaxy are not needed.
    fn several(&self, group: &[usize], h: f64) -> Result<Vec<Phase>, String> {
        let (x, v) = (self.x[group[0]], self.v[group[0]]);
        let relative = |&i: &usize| (sub(&self.x[i], &x), sub(&self.v[i], &v));
        let start: Vec<Phase> = group.iter().map(relative).collect();
        let rates = |_: f64, phases: &[Phase], rates: &mut [Phase]| {
            self.rates(group, phases, rates);
        };
        let fastest = start.iter().fold(0.0, |most: f64, p| most.max(norm(&p.1)));
        let longest = self.longest(2.0 * fastest);
        let ends = follow_all(&rates, &start, 0.0, h, (h, longest))?;
        let moved = |(&i, (end, start)): (&usize, (&Phase, &Phase))| {
            let change = |k: usize| end.0[k] - start.0[k] - h * start.1[k];
            let x = |k: usize| self.x[i][k] + (h * self.v[i][k] + change(k));
            let v = |k: usize| self.v[i][k] + (end.1[k] - start.1[k]);
            ([0, 1, 2].map(x), [0, 1, 2].map(v))
        };
        let both = ends.iter().zip(&start);
        Ok(group.iter().zip(both).map(moved).collect())
    }

    /// Any stars near the black hole.
    fn with_hole(&self, group: &[usize], hole: &(f64, Law), h: f64) -> Result<Vec<Phase>, String> {
        let start: Vec<Phase> = group.iter().map(|&i| (self.x[i], self.v[i])).collect();
        let rates = |_: f64, phases: &[Phase], rates: &mut [Phase]| {
            self.rates(group, phases, rates);
            for (rate, (x, _)) in rates.iter_mut().zip(phases) {
                add_scaled(&mut rate.1, 1.0, &pull(hole, x));
            }
        };
        let fastest = |from: &Vec3| {
            let speeds = start.iter().map(|p| norm(&sub(&p.1, from)));
            speeds.fold(0.0, f64::max)
        };
        let past_hole = LONGEST * hole.1.radius() / fastest(&[0.0; 3]);
        let longest = self.longest(2.0 * fastest(&start[0].1)).min(past_hole);
        follow_all(&rates, &start, 0.0, h, (h, longest))
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

    /// Rates of change by the near parts within a group.
    fn rates(&self, group: &[usize], phases: &[Phase], rates: &mut [Phase]) {
        for (rate, (_, v)) in rates.iter_mut().zip(phases) {
            *rate = (*v, [0.0; 3]);
        }
        let Some(law) = &self.stars else { return };
        for (a, &i) in group.iter().enumerate() {
            for (b, &j) in group.iter().enumerate().skip(a + 1) {
                let d = sub(&phases[b].0, &phases[a].0);
                let near = law.near(dot(&d, &d));
                if near != 0.0 {
                    add_scaled(&mut rates[a].1, self.masses[j] * near, &d);
                    add_scaled(&mut rates[b].1, -self.masses[i] * near, &d);
                }
            }
        }
    }
}

/// The acceleration at `x` by the near part of a black hole.
fn pull((m, law): &(f64, Law), x: &Vec3) -> Vec3 {
    let near = law.near(dot(x, x));
    x.map(|c| -m * near * c)
}

/// Stars that are joined by pairs within `radius` and their `margins`, sorted.
fn groups(pairs: &[Pair], radius: f64, margins: &[f64]) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..margins.len()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut members = Vec::new();
    for &Pair {
        stars: [i, j],
        closest2,
    } in pairs
    {
        if closest2 < (radius + margins[i] + margins[j]).powi(2) {
            let (a, b) = (root(&mut parent, i), root(&mut parent, j));
            // The smallest number is the root.
            parent[a.max(b)] = a.min(b);
            members.extend([i, j]);
        }
    }
    members.sort_unstable();
    members.dedup();
    let mut all: Vec<(usize, usize)> = members
        .into_iter()
        .map(|i| (root(&mut parent, i), i))
        .collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|group| group.iter().map(|member| member.1).collect())
        .collect()
}

/// No step of these stars is short enough.
fn fall(group: &[usize], hole: bool) -> Error {
    Error::Encounter {
        index: group[0] as i32,
        hole,
    }
}
