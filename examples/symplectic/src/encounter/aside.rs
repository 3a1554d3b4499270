//! How far a star is from the chord of its way during a drift: by this margin the search looks farther.

use kirin_kit::galaxy::flow::Phase;
use kirin_kit::vector::{Vec3, add_scaled, norm, sub};

use super::search::Chord;

/// A path is at most this part of a step's length times the change of velocity away from the step's chord: 1/4 if all attractions have one
/// direction, by the integral of Green's function, and more if they turn.
const BEND: f64 = 0.3;

/// The ways of bodies without any attraction.
pub fn straight(start: &[Phase], h: f64) -> Vec<Chord> {
    let chord = |(x, v): &Phase| Chord {
        from: *x,
        way: v.map(|c| h * c),
    };
    start.iter().map(chord).collect()
}

/// How far a body is at most from the chord of its way in the time `h`, by where it is between steps.
pub struct Aside {
    chord: Chord,
    h: f64,
    /// When it was seen last, with its velocity then, and its distance from the chord.
    seen: f64,
    v: Vec3,
    off: f64,
    /// The greatest distance that it may have had so far.
    pub most: f64,
}

impl Aside {
    /// That of a body of this velocity at the start of the chord.
    pub fn of(chord: &Chord, v: &Vec3, h: f64) -> Self {
        Self {
            chord: *chord,
            h,
            seen: 0.0,
            v: *v,
            off: 0.0,
            most: 0.0,
        }
    }

    /// Those of bodies that move together.
    pub fn of_all(chords: &[Chord], start: &[Phase], h: f64) -> Vec<Self> {
        let of = |(chord, (_, v)): (&Chord, &Phase)| Self::of(chord, v, h);
        chords.iter().zip(start).map(of).collect()
    }

    /// The body is here at the time `t`.
    pub fn see(&mut self, t: f64, (x, v): &Phase) {
        let mut off = sub(x, &self.chord.from);
        add_scaled(&mut off, -t / self.h, &self.chord.way);
        let off = norm(&off);
        let bend = BEND * (t - self.seen).abs() * norm(&sub(v, &self.v));
        self.most = self.most.max(off.max(self.off) + bend);
        (self.seen, self.v, self.off) = (t, *v, off);
    }

    /// [`see`](Self::see) for each of bodies that move together.
    pub fn see_all(all: &mut [Self], t: f64, phases: &[Phase]) {
        for (one, phase) in all.iter_mut().zip(phases) {
            one.see(t, phase);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An arc of a circle and a parabola, seen after one, two or five steps.
    #[test]
    fn no_path_is_farther_from_its_chord_than_said() {
        let arc = |t: f64| ([t.cos(), t.sin(), 0.0], [-t.sin(), t.cos(), 0.0]);
        let parabola = |t: f64| ([t, t * t, 0.0], [1.0, 2.0 * t, 0.0]);
        for (path, h) in [(&arc as &dyn Fn(f64) -> Phase, 2.0), (&parabola, -3.0)] {
            let (start, end) = (path(0.0), path(h));
            let chord = Chord {
                from: start.0,
                way: sub(&end.0, &start.0),
            };
            let off = |k: u32| {
                let part = f64::from(k) / 1000.0;
                let mut off = sub(&path(part * h).0, &chord.from);
                add_scaled(&mut off, -part, &chord.way);
                norm(&off)
            };
            let farthest = (0..=1000).map(off).fold(0.0, f64::max);
            for steps in [1, 2, 5] {
                let mut aside = Aside::of(&chord, &start.1, h);
                for k in 1..=steps {
                    let t = h * f64::from(k) / f64::from(steps);
                    aside.see(t, &path(t));
                }
                let part = aside.most / farthest;
                assert!((1.0..2.5).contains(&part), "{steps} steps: {part}");
            }
        }
    }
}
