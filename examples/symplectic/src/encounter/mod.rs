//! Close encounters, shorter than the step: what the drifts do to stars that are near each other or near the black
//! hole.
//!
//! The attraction of two stars has a near part, which vanishes from the changeover radius on, and a far part
//! ([`Law`]). The far parts are kicks, together with the galaxy. The near parts belong to the drift, in which stars near
//! each other move together, with a step of their own and to nearly all digits (`flow.rs`). All other stars go straight
//! on. This is the splitting of the hybrid symplectic integrators of planetary systems (Duncan, Levison and Lee 1998; Chambers
//! 1999) with the roles of Sun and planets given to any pair. Both parts depend on positions alone, so the step remains a
//! canonical transformation with the order of the scheme, and a step back undoes it.
//!
//! The search may find pairs that do not come near each other: beyond the changeover radius the near part vanishes. It
//! must not miss a pair that does. `search.rs` finds the pairs.

mod aside;
mod flow;
mod law;
mod search;

use kirin_kit::galaxy::Galaxy;
use kirin_kit::quantity::{self, Quantity};
use kirin_kit::vector::{Vec3, add_scaled, dot, sub};
use serde::{Deserialize, Serialize};

pub use law::Law;
use search::{Chord, Pair};

use crate::error::Error;
use flow::Cluster;

/// Radii at which attractions are divided; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Changeover {
    /// That of two stars.
    pub stars: f64,
    /// That of a star and the black hole.
    pub hole: f64,
}

impl Changeover {
    /// Whether nothing is divided.
    pub fn is_none(&self) -> bool {
        self.stars == 0.0 && self.hole == 0.0
    }
}

/// Changeover radii on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radii {
    stars: Quantity,
    /// None: the usual one.
    hole: Option<Quantity>,
}

impl Radii {
    /// `none`, the radius of two stars, or this and that of the black hole: `0.06`, `0.06,2`, `0.06,none`, `0.6pc`.
    ///
    /// # Errors
    ///
    /// The text is none of these; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let none = Quantity::from(0.0);
        let radius = |text: &str| match text.trim() {
            "none" => Ok(none),
            text => quantity::length(text),
        };
        let (stars, hole) = match text.split_once(',') {
            Some((stars, hole)) => (radius(stars)?, Some(radius(hole)?)),
            None if text.trim() == "none" => (none, Some(none)),
            None => (radius(text)?, None),
        };
        Ok(Self { stars, hole })
    }

    /// The radii in the units of the bodies of a program with the options of a `galaxy`; that of the black hole is the
    /// `usual` one if it is not given.
    ///
    /// # Errors
    ///
    /// The units are not known, and a radius has one; in words.
    pub fn of_bodies(&self, galaxy: &Galaxy, usual: &Changeover) -> Result<Changeover, String> {
        let hole = self.hole.map(|hole| hole.of_bodies(Some(galaxy)));
        Ok(Changeover {
            stars: self.stars.of_bodies(Some(galaxy))?,
            hole: hole.transpose()?.unwrap_or(usual.hole),
        })
    }
}

/// How often a drift is divided, and its parts again.
const MOST_DIVISIONS: u32 = 4;

/// By what part of the changeover radius the search looks farther at first.
const SKIN: f64 = 0.25;

/// The near parts of a run.
#[derive(Debug)]
pub struct Encounters {
    /// Of two stars, if they are divided.
    stars: Option<Law>,
    /// Of the black hole with its mass, if that is divided.
    hole: Option<(f64, Law)>,
    /// All pairs that may be within the changeover radius of each other where the stars are now.
    pairs: Vec<Pair>,
}

impl Encounters {
    /// For stars of the softening `eps` and a black hole of this mass and softening.
    pub fn new(changeover: &Changeover, eps: f64, hole: (f64, f64)) -> Self {
        let law = |eps: f64, radius: f64| (radius > 0.0).then(|| Law::new(eps * eps, radius));
        Self {
            stars: law(eps, changeover.stars),
            hole: law(hole.1, changeover.hole)
                .filter(|_| hole.0 > 0.0)
                .map(|law| (hole.0, law)),
            pairs: Vec::new(),
        }
    }

    /// Whether the black hole is divided: its [`far`](Self::pull) part then is what kicks.
    pub fn divides_hole(&self) -> bool {
        self.hole.is_some()
    }

    /// The acceleration at `x` by the far part of the black hole.
    pub fn pull(&self, x: &Vec3) -> Vec3 {
        let factor = self.hole.map_or(0.0, |(m, law)| -m * law.far(dot(x, x)));
        x.map(|c| factor * c)
    }

    /// Looks for the pairs of stars at `x`, of which nothing is known.
    pub fn look(&mut self, x: &[Vec3]) {
        self.pairs = match &self.stars {
            Some(law) => search::pairs(&at_rest(x), |_| 0.5 * law.radius()),
            None => Vec::new(),
        };
    }

    /// Takes the near parts from the accelerations `acc` of all stars by each other.
    pub fn take_near(&self, x: &[Vec3], masses: &[f64], acc: &mut [Vec3]) {
        let Some(law) = &self.stars else { return };
        for &Pair { stars: [i, j], .. } in &self.pairs {
            let d = sub(&x[j], &x[i]);
            let near = law.near(dot(&d, &d));
            add_scaled(&mut acc[i], -masses[j] * near, &d);
            add_scaled(&mut acc[j], masses[i] * near, &d);
        }
    }

    /// Moves all stars for the time `h` under the near parts.
    ///
    /// Where many stars meet others within `h`, as near a massive black hole, they are one group, with the step of its fastest star. Its
    /// drift is divided into shorter ones, in which fewer stars meet.
    ///
    /// # Errors
    ///
    /// Stars without softening fall into each other or into the hole; then no star has moved.
    pub fn drift(
        &mut self,
        x: &mut [Vec3],
        v: &mut [Vec3],
        masses: &[f64],
        h: f64,
    ) -> Result<(), Error> {
        let (stars, hole) = (self.stars, self.hole);
        let cluster = Cluster {
            x,
            v,
            masses,
            stars,
            hole,
        };
        let (ends, pairs) = cluster.drift(h, MOST_DIVISIONS)?;
        self.pairs = pairs;
        for ((x, v), end) in x.iter_mut().zip(v).zip(&ends) {
            (*x, *v) = *end;
        }
        Ok(())
    }
}

fn at_rest(x: &[Vec3]) -> Vec<Chord> {
    let chord = |x: &Vec3| Chord {
        from: *x,
        way: [0.0; 3],
    };
    x.iter().map(chord).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::diagnostics::{Energy, angular_momentum, momentum};
    use kirin_kit::few_body::kepler;
    use kirin_kit::galaxy::flow::Phase;
    use kirin_kit::models::plummer;
    use kirin_kit::vector::norm;
    use kirin_kit::{Body, models};
    use std::f64::consts::{PI, TAU};

    const WIDE: Changeover = Changeover {
        stars: 1e6,
        hole: 0.0,
    };

    fn split(bodies: &[Body]) -> (Vec<Vec3>, Vec<Vec3>, Vec<f64>) {
        let vectors = |of: fn(&Body) -> Vec3| bodies.iter().map(of).collect();
        let masses = bodies.iter().map(|b| b.mass).collect();
        (vectors(|b| b.x), vectors(|b| b.v), masses)
    }

    #[test]
    fn radii_are_read() {
        let galaxy = Galaxy::default();
        let usual = Changeover {
            stars: 0.01,
            hole: 0.02,
        };
        let read =
            |text: &str| Radii::parse(text).and_then(|radii| radii.of_bodies(&galaxy, &usual));
        let changeover = |stars: f64, hole: f64| Ok(Changeover { stars, hole });
        assert_eq!(read("none"), changeover(0.0, 0.0));
        assert_eq!(read("1/8"), changeover(0.125, 0.02));
        assert_eq!(read("1/8, none"), changeover(0.125, 0.0));
        assert_eq!(read("0.125,2"), changeover(0.125, 2.0));
        assert_eq!(read("none,2"), changeover(0.0, 2.0));
        assert!(read("0.1pc").is_err() && read("all").is_err() && read("1,2,3").is_err());
    }

    /// With a changeover radius much larger than the orbit the whole attraction is the near part. Two unsoftened
    /// stars then follow their ellipse through several pericentres in one drift, far from the galaxy's centre.
    #[test]
    fn a_pair_goes_along_its_ellipse() {
        let far = [800.0, 0.0, 0.0];
        let (d, u): (Vec3, Vec3) = ([0.1, 0.0, 0.0], [0.0, 0.3, 0.1]);
        let masses = [0.3, 0.1];
        let place = |part: f64, d: &Vec3, from: &Vec3| [0, 1, 2].map(|k| from[k] + part * d[k]);
        let mut x = [place(-0.25, &d, &far), place(0.75, &d, &far)];
        let mut v = [
            place(-0.25, &u, &[0.0, 80.0, 0.0]),
            place(0.75, &u, &[0.0, 80.0, 0.0]),
        ];
        let mut encounters = Encounters::new(&WIDE, 0.0, (0.0, 0.0));
        encounters.drift(&mut x, &mut v, &masses, 0.2).unwrap();
        let (end, speed) = kepler::drift(&d, &u, 0.4, 0.2);
        // The distance from the galaxy's centre takes three digits.
        assert!(norm(&sub(&sub(&x[1], &x[0]), &end)) < 1e-10);
        assert!(norm(&sub(&sub(&v[1], &v[0]), &speed)) < 1e-9);
        let centre = place(0.25, &sub(&x[1], &x[0]), &x[0]);
        assert!(norm(&sub(&centre, &[800.0, 16.0, 0.0])) < 1e-11);
    }

    /// A whole cluster as one group, for a time in which all have moved: its constants of motion.
    #[test]
    fn a_group_keeps_its_constants() {
        let bodies = plummer(30, 4);
        let (mut x, mut v, masses) = split(&bodies);
        let mut encounters = Encounters::new(&WIDE, 0.05, (0.0, 0.0));
        encounters.drift(&mut x, &mut v, &masses, 1.0).unwrap();
        let after: Vec<Body> = (0..30)
            .map(|i| Body {
                x: x[i],
                v: v[i],
                ..bodies[i]
            })
            .collect();
        let energy = |bodies: &[Body]| Energy::of(bodies, 0.0025).total();
        let error = energy(&after) / energy(&bodies) - 1.0;
        assert!(error.abs() < 1e-8, "{error:e}");
        assert!(norm(&momentum(&after)) < 1e-13);
        let turned = sub(&angular_momentum(&after), &angular_momentum(&bodies));
        assert!(norm(&turned) < 1e-11, "{turned:?}");
        assert!(norm(&sub(&after[3].x, &bodies[3].x)) > 0.1);
    }

    /// What kicks and what drifts make the whole; a drift leaves all pairs known that are near afterwards.
    #[test]
    fn near_pairs_are_known_after_a_drift() {
        let bodies = models::warm_sphere(300, 1, 1.0);
        let (mut x, mut v, masses) = split(&bodies);
        let changeover = Changeover {
            stars: 0.1,
            hole: 0.0,
        };
        let mut encounters = Encounters::new(&changeover, 0.001, (0.0, 0.0));
        encounters.look(&x);
        for h in [0.02, -0.03, 0.05] {
            encounters.drift(&mut x, &mut v, &masses, h).unwrap();
            let mut known = vec![[0.0; 3]; x.len()];
            encounters.take_near(&x, &masses, &mut known);
            let mut looked = Encounters::new(&changeover, 0.001, (0.0, 0.0));
            looked.look(&x);
            assert!(looked.pairs.len() > 20);
            let mut all = vec![[0.0; 3]; x.len()];
            looked.take_near(&x, &masses, &mut all);
            assert!(known == all, "after {h}");
        }
    }

    /// Stars that meet a third one only because a second turns them aside belong to one group with it.
    #[test]
    fn a_star_that_is_turned_aside_meets_others() {
        let changeover = Changeover {
            stars: 0.1,
            hole: 0.0,
        };
        // The first passes the second, is turned by about a right angle, and comes to the third.
        let mut x = [
            [-1.0, 0.02, 0.0],
            [0.0; 3],
            [-0.1, -1.0, 0.0],
            [0.0, -1.0, 0.2],
        ];
        let mut v = [[7.0, 0.0, 0.0], [0.0; 3], [0.0; 3], [0.0; 3]];
        let masses = [1e-9, 1.0, 1e-9, 1e-9];
        let start = (x, v);
        let mut encounters = Encounters::new(&changeover, 1e-4, (0.0, 0.0));
        encounters.drift(&mut x, &mut v, &masses, 0.4).unwrap();
        assert!(v[0][1] < -1.0, "{v:?}");
        let pair = |stars: [usize; 2]| encounters.pairs.iter().any(|pair| pair.stars == stars);
        assert!(pair([0, 1]) && pair([0, 2]), "{:?}", encounters.pairs);
        encounters.drift(&mut x, &mut v, &masses, -0.4).unwrap();
        for (now, then) in x.iter().zip(&start.0) {
            assert!(norm(&sub(now, then)) < 1e-8, "{x:?}");
        }
    }

    /// Two stars go around the black hole on nearly the same circle in opposite directions, for a whole revolution.
    /// They meet on the way. But each ends where it began, so the chords have no length, and their distance is about
    /// the radius of the circle. The search must find the pair all the same.
    #[test]
    fn stars_meet_behind_the_hole() {
        let changeover = Changeover {
            stars: 0.1,
            hole: 100.0,
        };
        let place = |angle: f64, z: f64| [angle.cos(), angle.sin(), z];
        let start = [place(0.0, 0.0), place(1.0, 0.01)];
        let v = [place(PI / 2.0, 0.0), place(1.0 - PI / 2.0, 0.0)];
        let end = |masses: [f64; 2]| {
            let (mut x, mut v) = (start, v);
            let mut encounters = Encounters::new(&changeover, 1e-3, (1.0, 0.0));
            encounters.drift(&mut x, &mut v, &masses, TAU).unwrap();
            let there = x;
            encounters.drift(&mut x, &mut v, &masses, -TAU).unwrap();
            let missed = norm(&sub(&x[0], &start[0]));
            assert!(missed < 1e-9, "{missed:e}");
            there
        };
        let turned = norm(&sub(&end([1e-4; 2])[0], &end([1e-12; 2])[0]));
        assert!(turned > 1e-3, "{turned:e}");
    }

    /// Stars around a massive hole meet each other at different times of one long drift. The drift is halved, and the stars end where
    /// one group of all would have brought them.
    #[test]
    fn stars_that_meet_one_after_the_other_move_in_parts() {
        let changeover = Changeover {
            stars: 0.1,
            hole: 100.0,
        };
        let bodies = models::warm_sphere(60, 1, 1.0);
        let (x, v, masses) = split(&bodies);
        let masses: Vec<f64> = masses.iter().map(|m| 1e-3 * m).collect();
        let mut encounters = Encounters::new(&changeover, 1e-3, (1.0, 0.1));
        let cluster = Cluster {
            x: &x,
            v: &v,
            masses: &masses,
            stars: encounters.stars,
            hole: encounters.hole,
        };
        let (ends, _) = cluster.drift(2.0, 0).unwrap();
        let (mut in_parts, mut speeds) = (x.clone(), v.clone());
        let drift = encounters.drift(&mut in_parts, &mut speeds, &masses, 2.0);
        drift.unwrap();
        let error = |(a, b): (&Vec3, &Phase)| norm(&sub(a, &b.0));
        let errors: Vec<f64> = in_parts.iter().zip(&ends).map(error).collect();
        let most = errors.iter().copied().fold(0.0, f64::max);
        assert!(most < 1e-9, "{most:e}");
        // Another route has other rounding errors.
        assert!(errors.iter().filter(|&&error| error > 0.0).count() > 30);
        // The pairs are those of the whole drift, among them all that are near at the end.
        let of = |encounters: &Encounters| {
            let mut acc = vec![[0.0; 3]; x.len()];
            encounters.take_near(&in_parts, &masses, &mut acc);
            acc
        };
        let mut looked = Encounters::new(&changeover, 1e-3, (1.0, 0.1));
        looked.look(&in_parts);
        assert!(!looked.pairs.is_empty());
        assert!(of(&encounters) == of(&looked));
    }

    /// A bare hole: the near part is Kepler's problem; stars beyond the changeover radius go straight on.
    #[test]
    fn a_star_goes_round_the_hole() {
        let hole = Changeover {
            stars: 0.0,
            hole: 1e6,
        };
        let (mut x, mut v) = ([[1.0, 0.0, 0.0]], [[0.0, 10.0, 3.0]]);
        let (end, speed) = kepler::drift(&x[0], &v[0], 1e5, 0.01);
        let mut encounters = Encounters::new(&hole, 0.01, (1e5, 0.0));
        encounters.drift(&mut x, &mut v, &[1.0], 0.01).unwrap();
        assert!(norm(&sub(&x[0], &end)) < 1e-9, "{x:?} {end:?}");
        assert!(norm(&sub(&v[0], &speed)) < 1e-6 * norm(&speed));
        assert!(norm(&encounters.pull(&[1.0, 0.0, 0.0])) < 1e-6);
        let near = Changeover { hole: 0.5, ..hole };
        let mut encounters = Encounters::new(&near, 0.01, (1e5, 0.0));
        let (mut x, mut v) = ([[1.0, 0.0, 0.0]], [[0.0, 10.0, 3.0]]);
        encounters.drift(&mut x, &mut v, &[1.0], 0.01).unwrap();
        assert_eq!(v, [[0.0, 10.0, 3.0]]);
        assert!((encounters.pull(&[1.0, 0.0, 0.0])[0] + 1e5).abs() < 1e-9);
        let fall = encounters.drift(&mut [[0.1, 0.0, 0.0]], &mut [[0.0; 3]], &[1.0], 0.01);
        assert_eq!(
            fall,
            Err(Error::Encounter {
                index: 0,
                hole: true
            })
        );
    }
}
