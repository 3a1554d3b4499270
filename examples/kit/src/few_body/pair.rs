//! Two stars inside a cluster that move about their centre of mass as two bodies do, perturbed by the tide of all others.
//!
//! Each step moves the two stars in closed form ([`drift`]), with kicks of the tide at both ends. The kicks are the
//! trapezoidal rule for the variation of constants, with its correction by the derivatives at the ends. The error of a
//! step is of fifth order and proportional to the tide. The integrator of the cluster moves the centre of mass and
//! finds the tide at the ends.
//!
//! These steps are parts of a revolution. A binary that is little perturbed takes longer ones: the tide is linear in the place, and
//! it is followed along the orbit within the step without further forces (`linear.rs`).
//!
//! A binary that is hardly perturbed moves in closed form without kicks. The tide changes its orbit in the mean over
//! many revolutions ([`secular`]). Stars near it feel the two where they are, those further out the quadrupole of
//! the mean orbit ([`subsystem`](super::subsystem)). This is the limit of Mikkola and Aarseth's
//! (1996) slow-down. A slow-down multiplies the tide, and with it the changes of the semi-major axis within a
//! revolution; the mean tide leaves the semi-major axis constant.

use super::kepler::{Orbit, drift};
use super::linear;
use super::multiple;
use super::secular::{self, Ellipse, Tensor};
use crate::body::Body;
use crate::vector::{Vec3, add_scaled, dot, norm, sub};

/// Perturbation below which the orbit of a binary changes in the mean only, and above which it is followed again.
pub(super) const MEAN: [f64; 2] = [2.5e-6, 1e-5];

/// Perturbation below which the tide is linear, and above which it is not any more, at the accuracy parameter [`USUAL_ETA`] and
/// above. What the linear part leaves out does not become less with shorter steps, so with a smaller parameter the limit falls
/// with its square, as the error of the steps does.
pub(super) const LINEAR: [f64; 2] = [5e-5, 1.5e-4];
const USUAL_ETA: f64 = 0.01;

/// Periods in the time within which such a tide changes: least to begin with, and to go on.
pub(super) const SOME: [f64; 2] = [4.0, 2.0];

/// Longest step in a linear tide, in times within which it changes, and in periods.
pub(super) const LINEAR_STEP: f64 = 0.2;
const REVOLUTIONS: f64 = 32.0;

/// Periods of a binary in a mean tide in the time within which the tide changes: least to begin with, and to go on.
pub(super) const MANY: [f64; 2] = [20.0, 10.0];

/// A binary with steps below this part of its period does not begin a mean motion.
const SHORT: f64 = 1.0 / 64.0;

/// Longest step for eta = 1, in times sqrt(r^3 / M), and that at a perturbation of [`STANDARD`].
const LONGEST: f64 = 3.5;
const USUAL: f64 = 1.5;
const STANDARD: f64 = 1e-3;

/// Change of the energy of two by one kick, in parts of it, below which a step is short enough.
const NOTHING: f64 = 1e-13;

/// Perturbation above which the motion of the centre is crowded.
pub(super) const CROWDED: f64 = 3e-3;

/// Perturbation at the apocentre below which two stars become a pair, and above which they part.
const WHOLE: [f64; 2] = [0.2, 0.6];

/// The same of the present perturbation, for two that pass each other.
const PASSING: [f64; 2] = [0.02, 0.06];

/// Acceleration and its time derivative.
pub type Pull = (Vec3, Vec3);

/// How close two stars must be to become a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Two stars of together the mass M become a pair below this length times sqrt(M / mean).
    pub radius: f64,
    /// Mean mass of a star.
    pub mean: f64,
}

impl Limits {
    /// Distance below which two stars of together this mass may become a pair.
    pub fn radius_of(&self, mass: f64) -> f64 {
        self.radius * (mass / self.mean).sqrt()
    }
}

/// Two stars about their centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Labels of the two.
    pub labels: [i32; 2],
    /// Their masses.
    pub masses: [f64; 2],
    /// Position of the second from the first.
    pub x: Vec3,
    /// Its velocity.
    pub v: Vec3,
    /// Acceleration of the second from the first by all others.
    pub tide: Vec3,
    /// Its time derivative.
    pub tide_rate: Vec3,
    /// Whether the tide is followed along the orbit; else it acts in the mean.
    pub is_perturbed: bool,
    /// Potential energy of the two in the tide less its mean over a revolution, for a unit of reduced mass. While the
    /// tide acts in the mean, the energy of the stored orbit includes it. `None` while the mean is not known.
    pub in_tide: Option<f64>,
    /// The tide where it is followed along the orbit by its linear part.
    pub linear: Option<Tensor>,
}

impl Pair {
    /// Two stars at one time, and their centre: mass, place and velocity with the label of the first.
    pub fn of(a: &Body, b: &Body) -> (Body, Self) {
        let mut centre = Body {
            mass: a.mass + b.mass,
            ..*a
        };
        let (x, v) = (sub(&b.x, &a.x), sub(&b.v, &a.v));
        add_scaled(&mut centre.x, b.mass / centre.mass, &x);
        add_scaled(&mut centre.v, b.mass / centre.mass, &v);
        let pair = Self {
            labels: [a.index, b.index],
            masses: [a.mass, b.mass],
            x,
            v,
            tide: [0.0; 3],
            tide_rate: [0.0; 3],
            is_perturbed: true,
            in_tide: None,
            linear: None,
        };
        (centre, pair)
    }

    /// Mass of both.
    pub fn mass(&self) -> f64 {
        self.masses[0] + self.masses[1]
    }

    /// Positions of the two stars relative to their centre of mass, given the position `x` of the second relative
    /// to the first. Works for velocities, too.
    pub fn about_centre(&self, x: &Vec3) -> [Vec3; 2] {
        let mass = self.mass();
        [-self.masses[1] / mass, self.masses[0] / mass].map(|part| x.map(|c| part * c))
    }

    /// The two where they are if their centre is at that of `centre`.
    pub fn stars(&self, centre: &Body) -> [Body; 2] {
        let (x, v) = (self.about_centre(&self.x), self.about_centre(&self.v));
        std::array::from_fn(|k| {
            let mut star = Body {
                index: self.labels[k],
                mass: self.masses[k],
                ..*centre
            };
            add_scaled(&mut star.x, 1.0, &x[k]);
            add_scaled(&mut star.v, 1.0, &v[k]);
            star
        })
    }

    /// The orbit of the two.
    pub fn orbit(&self) -> Orbit {
        Orbit::of(&self.x, &self.v, self.mass())
    }

    /// Energy of the two about their centre.
    pub fn energy(&self) -> f64 {
        let [a, b] = self.masses;
        a * b * (0.5 * dot(&self.v, &self.v) / self.mass() - 1.0 / norm(&self.x))
    }

    /// Relative position and velocity after the time `dt`.
    pub fn predict(&self, dt: f64) -> (Vec3, Vec3) {
        let (mut x, mut v) = drift(&self.x, &self.v, self.mass(), dt);
        if self.is_perturbed && self.linear.is_none() {
            add_scaled(&mut v, dt, &self.tide);
            add_scaled(&mut v, dt * dt / 2.0, &self.tide_rate);
            add_scaled(&mut x, dt * dt / 2.0, &self.tide);
            add_scaled(&mut x, dt * dt * dt / 6.0, &self.tide_rate);
        }
        (x, v)
    }

    /// Where the two are `dt` after the last step, about their centre.
    pub fn members(&self, dt: f64) -> [(Vec3, Vec3); 2] {
        let (x, v) = self.predict(dt);
        let (x, v) = (self.about_centre(&x), self.about_centre(&v));
        [(x[0], v[0]), (x[1], v[1])]
    }

    /// Positions, relative to the centre, at which the forces of all other stars are needed at the time `dt` after
    /// the last step. They are those of the two stars while the tide is followed along the orbit, and the four of the
    /// [`Ellipse`] while it acts in the mean or is linear. If that may begin, they are all of these.
    pub fn places(&self, dt: f64) -> Vec<(Vec3, Vec3)> {
        let mut places = Vec::with_capacity(6);
        if self.is_kicked() {
            places.extend(self.members(dt));
        }
        if let Some(ellipse) = self.mean_orbit() {
            places.extend(ellipse.places().map(|x| (x, [0.0; 3])));
        }
        places
    }

    /// Whether the forces on the two stars themselves are followed.
    fn is_kicked(&self) -> bool {
        self.is_perturbed && self.linear.is_none()
    }

    /// The orbit where the mean or linear tide is wanted: it acts, or the perturbation is small enough for it to begin.
    fn mean_orbit(&self) -> Option<Ellipse> {
        match self.is_kicked() && self.greatest_perturbation() >= LINEAR[0] {
            true => None,
            false => self.ellipse(),
        }
    }

    fn ellipse(&self) -> Option<Ellipse> {
        Ellipse::of(&self.x, &self.v, self.masses)
    }

    /// The sum of m x x over the two, in the mean over a revolution; `None` if they are not bound.
    pub fn moment(&self) -> Option<[Vec3; 3]> {
        Some(self.ellipse()?.moment())
    }

    /// The force on the centre, from those at the [`places`](Self::places).
    pub fn mean(&self, pulls: &[Pull]) -> Pull {
        match self.is_kicked() {
            true => multiple::mean(&self.masses, &pulls[..2]),
            false => multiple::mean(&[1.0; 4], pulls),
        }
    }

    /// Moves the two stars by `dt`. `pulls` are the forces of all other stars at the [`places`](Self::places) that were
    /// asked for this step.
    pub fn advance(&mut self, dt: f64, pulls: &[Pull]) {
        let mean = self.mean_orbit();
        if self.is_kicked() {
            let tide = (sub(&pulls[1].0, &pulls[0].0), sub(&pulls[1].1, &pulls[0].1));
            let tensor = mean.map(|ellipse| Tensor::from_pulls(&pulls[2..], &ellipse));
            self.advance_kicked(dt, tide);
            self.in_tide = tensor.and_then(|tensor| self.energy_in(&tensor));
            if let Some(tensor) = tensor {
                self.follow_linear(tensor, 0);
            }
            return;
        }
        let Some(ellipse) = mean else {
            return;
        };
        let tensor = Tensor::from_pulls(pulls, &ellipse);
        if let Some(before) = self.linear {
            (self.x, self.v) =
                linear::advance((self.x, self.v), self.mass(), [&before, &tensor], dt);
            (self.tide, self.tide_rate) = tensor.pull(&self.x, &self.v);
            self.in_tide = self.energy_in(&tensor);
            self.follow_linear(tensor, 1);
            return;
        }
        let (x, v) = drift(&self.x, &self.v, self.mass(), dt);
        (self.x, self.v) = secular::turn(&x, &v, self.mass(), &tensor, dt);
        (self.tide, self.tide_rate) = tensor.pull(&self.x, &self.v);
        self.in_tide = self.energy_in(&tensor);
        let orbit = self.orbit();
        if self.strength_of(&tensor) > MEAN[1] || MANY[1] * orbit.period() > tensor.time_scale() {
            self.follow_orbit();
            self.follow_linear(tensor, 0);
        }
    }

    /// Potential energy in the present tide, of which `tensor` is the linear part, less its mean over a revolution.
    fn energy_in(&self, tensor: &Tensor) -> Option<f64> {
        let mean = self.ellipse()?.energy(tensor);
        Some(-0.5 * dot(&self.x, &self.tide) - mean)
    }

    fn advance_kicked(&mut self, dt: f64, tide: Pull) {
        let (mut x, mut v) = (self.x, self.v);
        kick(&mut x, &mut v, &(self.tide, self.tide_rate), dt, -1.0);
        (x, v) = drift(&x, &v, self.mass(), dt);
        kick(&mut x, &mut v, &tide, dt, 1.0);
        (self.x, self.v) = (x, v);
        (self.tide, self.tide_rate) = tide;
    }

    /// Decides after a step whether the tide acts in the mean from now on. `scale` is the time in which the forces
    /// on the centre change, `dt` the next step. Whether the tide is still linear depends on the accuracy parameter `eta`, too.
    ///
    /// The tide along the orbit may be far below its greatest value at some phases. Then the mean motion begins and ends in
    /// turn, the force on the centre jumps each time, and the steps become shorter. It does not begin again if they are short,
    /// so that they become longer.
    pub fn plan(&mut self, scale: f64, dt: f64, eta: f64) {
        if !self.is_perturbed {
            return;
        }
        self.linear = self
            .linear
            .filter(|tensor| self.strength_of(tensor) < linear_limit(eta));
        let orbit = self.orbit();
        if let Some(in_tide) = self.in_tide.take()
            && orbit.is_bound()
            && self.greatest_perturbation() < MEAN[0]
            && MANY[0] * orbit.period() < scale
            && dt > SHORT * orbit.period()
        {
            self.add_energy(in_tide);
            self.is_perturbed = false;
            self.in_tide = Some(in_tide);
            self.linear = None;
        }
    }

    /// The greatest perturbation of the orbit by a tide.
    fn strength_of(&self, tensor: &Tensor) -> f64 {
        strength(tensor, &self.orbit())
    }

    /// Follows the tide by its linear part from now on, if that part is within a limit: 0 to begin with, 1 to go on.
    fn follow_linear(&mut self, tensor: Tensor, limit: usize) {
        let is_linear = is_linear(&tensor, &self.orbit(), LINEAR[limit], SOME[limit]);
        self.linear = is_linear.then_some(tensor);
    }

    /// The pair with the energy of its present Kepler orbit. While the tide acts in the mean, the energy of the stored
    /// orbit is another one: see [`in_tide`](Self::in_tide).
    pub fn osculating(mut self) -> Self {
        if !self.is_perturbed {
            self.follow_orbit();
        }
        self
    }

    /// Ends the mean motion. What the energy of the orbit was given when it began, with the tide of then, it loses with the
    /// present one: so the energy of all stars does not jump.
    fn follow_orbit(&mut self) {
        self.add_energy(-self.in_tide.unwrap_or(0.0));
        self.is_perturbed = true;
        self.in_tide = None;
    }

    /// Adds to the energy of the orbit, for a unit of reduced mass.
    fn add_energy(&mut self, energy: f64) {
        let own = self.orbit().energy();
        let factor = own / (own + energy);
        self.x = self.x.map(|c| factor * c);
        self.v = self.v.map(|c| c / factor.sqrt());
    }

    /// The tide in parts of the attraction of the two.
    pub fn perturbation(&self) -> f64 {
        norm(&self.tide) * dot(&self.x, &self.x) / self.mass()
    }

    /// The perturbation when the two are furthest from each other.
    pub fn greatest_perturbation(&self) -> f64 {
        let orbit = self.orbit();
        let further = match orbit.is_bound() {
            true => (orbit.apocentre() / norm(&self.x)).max(1.0),
            false => 1.0,
        };
        self.perturbation() * further.powi(3)
    }

    /// Whether another star is so near that the motion of the centre needs shorter steps than usual.
    pub fn is_crowded(&self) -> bool {
        self.greatest_perturbation() > CROWDED
    }

    /// Longest step over which the tide is followed along the orbit, with the accuracy parameter `eta` of the steps.
    pub fn longest_step(&self, eta: f64) -> f64 {
        if !self.is_perturbed {
            return f64::INFINITY;
        }
        if let Some(tensor) = &self.linear {
            let longest = REVOLUTIONS * self.orbit().period();
            return longest.min(LINEAR_STEP * tensor.time_scale());
        }
        longest_kick(&self.x, &self.v, &self.tide, self.mass(), eta)
    }

    /// The apocentre of a binary, and the distance of two that are not bound.
    pub fn size(&self) -> f64 {
        let (orbit, r) = (self.orbit(), norm(&self.x));
        match orbit.is_bound() {
            true => orbit.apocentre().max(r),
            false => r,
        }
    }

    /// Whether two stars become a pair: a binary that is hardly perturbed on all of its orbit, or two that come close.
    pub fn joins(&self, limits: &Limits) -> bool {
        let (r, radius) = (norm(&self.x), limits.radius_of(self.mass()));
        r < radius
            && (self.is_whole(radius, WHOLE[0])
                || self.approaches() && r < 0.25 * radius && self.perturbation() < PASSING[0])
    }

    /// Whether two stars are so close that they become a pair unless others perturb them too much.
    pub fn is_close(&self, limits: &Limits) -> bool {
        let (r, radius) = (norm(&self.x), limits.radius_of(self.mass()));
        r < radius
            && (self.is_whole(radius, f64::INFINITY) || self.approaches() && r < 0.25 * radius)
    }

    /// Whether two stars that are a pair remain one.
    pub fn stays(&self, limits: &Limits) -> bool {
        let (r, radius) = (norm(&self.x), limits.radius_of(self.mass()));
        self.is_whole(1.2 * radius, WHOLE[1])
            || (self.approaches() || r < 0.5 * radius) && self.perturbation() < PASSING[1]
    }

    /// Whether two bodies become a system for their orbit alone: they are bound, little perturbed on all of it, and hard.
    pub fn joins_for_its_orbit(&self, limits: &Limits) -> bool {
        let radius = limits.radius_of(self.mass());
        norm(&self.x) < radius && self.is_whole(radius, WHOLE[0])
    }

    /// Whether such a system remains one.
    pub fn stays_for_its_orbit(&self, limits: &Limits) -> bool {
        self.is_whole(1.2 * limits.radius_of(self.mass()), WHOLE[1])
    }

    fn approaches(&self) -> bool {
        dot(&self.x, &self.v) < 0.0
    }

    /// Whether the two are a binary smaller than `radius` that is perturbed less than this everywhere.
    fn is_whole(&self, radius: f64, perturbation: f64) -> bool {
        let orbit = self.orbit();
        orbit.is_bound()
            && orbit.apocentre() < 1.5 * radius
            && self.greatest_perturbation() < perturbation
    }
}

/// The greatest perturbation of an orbit by a linear tide.
pub(super) fn strength(tensor: &Tensor, orbit: &Orbit) -> f64 {
    tensor.strength() * orbit.apocentre().powi(3) / orbit.mass
}

/// Whether a tide on an orbit is linear: the perturbation is below `strongest`, and the tide changes in more than so many `periods`.
pub(super) fn is_linear(tensor: &Tensor, orbit: &Orbit, strongest: f64, periods: f64) -> bool {
    orbit.is_bound()
        && strength(tensor, orbit) < strongest
        && periods * orbit.period() < tensor.time_scale()
}

/// Perturbation above which a tide is not linear any more at this accuracy parameter of the steps.
pub(super) fn linear_limit(eta: f64) -> f64 {
    LINEAR[1] * (eta / USUAL_ETA).min(1.0).powi(2)
}

/// Kicks two stars, of which the second has the position `x` and the velocity `v` from the first, at one end of a step of `dt`: -1
/// for its beginning, 1 for its end.
pub(super) fn kick(x: &mut Vec3, v: &mut Vec3, (tide, rate): &Pull, dt: f64, end: f64) {
    // The second derivative of what is integrated: see the head of this file.
    let (half, twelfth) = (dt / 2.0, end * dt * dt / 12.0);
    add_scaled(x, twelfth, tide);
    add_scaled(v, half, tide);
    add_scaled(v, -twelfth, rate);
}

/// Longest step between two kicks of `tide` on a pair of stars of the total mass `mass`. Their relative position is
/// `x`, their relative velocity `v`. `eta` is the accuracy parameter of the steps.
pub(super) fn longest_kick(x: &Vec3, v: &Vec3, tide: &Vec3, mass: f64, eta: f64) -> f64 {
    let (r, speed, tide) = (norm(x), norm(v), norm(tide));
    let time = (r.powi(3) / mass).sqrt().min(r / speed);
    let strength = tide * r * r / mass;
    let step = time * eta.sqrt() * LONGEST.min(USUAL * (STANDARD / strength).powf(0.25));
    // At the pericentre of a nearly radial orbit the tide does nothing, and no step need be that short.
    let digits = NOTHING * Orbit::of(x, v, mass).energy().abs();
    let by_speed = digits / (speed * tide);
    let by_place = (12.0 * digits / (mass * tide)).sqrt() * r;
    step.max(by_speed.min(by_place))
}

/// Acceleration and jerk by a mass at `x` with the velocity `v`.
pub fn pull(mass: f64, x: &Vec3, v: &Vec3) -> Pull {
    let r2 = dot(x, x);
    let factor = mass / (r2 * r2.sqrt());
    let along = 3.0 * dot(x, v) / r2;
    let jerk = std::array::from_fn(|k| factor * (v[k] - along * x[k]));
    (x.map(|c| factor * c), jerk)
}

#[cfg(test)]
#[path = "pair_tests.rs"]
pub(super) mod tests;
