//! A system of few bodies, and its integration from one time to another.

use super::Perturbation;
use super::chain::Chain;
use super::extrapolation::Extrapolation;
use super::kepler::{self, Orbit};
use super::leapfrog::{Leapfrog, links};
use crate::body::Body;
use crate::vector::{Vec3, dot, norm};

/// Default tolerance of a step, relative to positions and velocities. The actual error of a step is about a thousandth of
/// it.
const TOLERANCE: f64 = 1e-12;

/// Steps to the end of an advance, each of which brings the time many digits closer.
const LAST_STEPS: u32 = 12;

/// A passage is examined only if its estimated pericentre is below this fraction of the closest one so far. The
/// estimate between two basic steps is accurate to about that fraction.
const CLOSER: f64 = 0.97;

/// Why a system cannot go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// Time since the start of the advance.
    pub t: f64,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let t = self.t;
        write!(
            f,
            "no step of a few-body system converges {t} after its start: two bodies are at one place, or a force is not finite"
        )
    }
}

impl std::error::Error for Error {}

/// The closest approach of two bodies of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Distance.
    pub distance: f64,
    /// The two, as places in the list of bodies.
    pub pair: [usize; 2],
}

/// Few bodies about their centre of mass.
#[derive(Clone, Debug)]
pub struct System {
    masses: Vec<f64>,
    chain: Chain,
    /// Binding energy as it is integrated.
    binding: f64,
    leapfrog: Leapfrog,
    extrapolation: Extrapolation,
    closest: Option<Closest>,
    /// Whether two bodies alone move in closed form.
    is_analytic: bool,
}

/// What a step begins with.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    chain: Chain,
    binding: f64,
    /// Length in s that the step should have, and the column at which it should converge.
    length: f64,
    target: usize,
    /// The potential, which is ds/dt.
    potential: f64,
}

impl Progress {
    /// Whether a time `dt` later is probably reached in a single step.
    pub(super) fn is_within_a_step(&self, dt: f64) -> bool {
        dt * self.potential <= self.length
    }
}

impl System {
    /// `bodies` in the frame of their centre of mass.
    pub fn new(bodies: &[Body]) -> Self {
        let masses: Vec<f64> = bodies.iter().map(|b| b.mass).collect();
        let of = |part: fn(&Body) -> Vec3| -> Vec<Vec3> { bodies.iter().map(part).collect() };
        let chain = Chain::new(&of(|b| b.x), &of(|b| b.v));
        Self::along(masses, chain)
    }

    /// Bodies of these masses along a chain.
    pub(super) fn along(masses: Vec<f64>, chain: Chain) -> Self {
        let mut new = Self {
            masses,
            chain,
            binding: 0.0,
            leapfrog: Leapfrog::default(),
            extrapolation: Extrapolation::new(TOLERANCE),
            closest: None,
            is_analytic: true,
        };
        new.leapfrog.is_sampled = true;
        new.leapfrog.set(&new.masses, &new.chain.order);
        new.binding = -new.energy();
        new
    }

    /// The same with another error of a step, in parts of the state.
    pub fn with_tolerance(mut self, tolerance: f64) -> Self {
        self.extrapolation.tolerance = tolerance;
        self
    }

    /// The same, which integrates two bodies alone, too.
    pub fn without_analytic_steps(mut self) -> Self {
        self.is_analytic = false;
        self
    }

    /// The same, which does not look for the closest approach.
    pub(super) fn without_pericentres(mut self) -> Self {
        self.leapfrog.is_sampled = false;
        self
    }

    /// What the next step begins with.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            chain: self.chain.clone(),
            binding: self.binding,
            length: self.length(&self.chain.x, &self.chain.v).abs(),
            target: self.extrapolation.target,
            potential: self.leapfrog.potential(&self.chain.x),
        }
    }

    /// Goes on from there.
    pub(super) fn go_back_to(&mut self, past: &Progress) {
        self.chain.clone_from(&past.chain);
        self.binding = past.binding;
        self.extrapolation.next = past.length;
        self.extrapolation.target = past.target;
        self.leapfrog.set(&self.masses, &self.chain.order);
    }

    /// Takes a step forwards of the length that suits. Returns the time that it took.
    ///
    /// # Errors
    ///
    /// No step converges.
    pub(super) fn free_step(&mut self, by: &mut dyn Perturbation) -> Result<f64, Error> {
        let mut y = self.state();
        let length = self.length(&self.chain.x, &self.chain.v).abs();
        self.step(&mut y, length, by)?;
        self.take(&mut y);
        Ok(y[0])
    }

    /// The bodies along the chain.
    pub(super) fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The chain alone.
    pub(super) fn into_chain(self) -> Chain {
        self.chain
    }

    /// Masses of the bodies.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Positions and velocities of the bodies, in their own order, about the centre of mass.
    pub fn bodies(&self) -> Vec<(Vec3, Vec3)> {
        self.chain.bodies(&self.masses)
    }

    /// The same as stars with their masses and without labels.
    pub fn stars(&self) -> Vec<Body> {
        let star = |((x, v), mass): ((Vec3, Vec3), &f64)| Body {
            mass: *mass,
            x,
            v,
            ..Body::default()
        };
        self.bodies()
            .into_iter()
            .zip(&self.masses)
            .map(star)
            .collect()
    }

    /// Energy about the centre of mass.
    pub fn energy(&self) -> f64 {
        self.leapfrog.kinetic(&self.chain.v) - self.leapfrog.potential(&self.chain.x)
    }

    /// Relative position and velocity of body `j` from body `i`, with the digits of the chain.
    pub fn relative(&self, i: usize, j: usize) -> (Vec3, Vec3) {
        self.chain.relative(i, j)
    }

    /// The orbit of bodies `i` and `j` around each other.
    pub fn orbit(&self, i: usize, j: usize) -> Orbit {
        let (x, v) = self.relative(i, j);
        Orbit::of(&x, &v, self.masses[i] + self.masses[j])
    }

    /// The closest pericentre so far; no later one was closer by more than 3 %.
    pub fn closest(&self) -> Option<Closest> {
        self.closest
    }

    /// Forgets the closest approach.
    pub fn forget_closest(&mut self) {
        self.closest = None;
    }

    /// Basic steps that were taken.
    pub fn steps(&self) -> u64 {
        self.extrapolation.steps
    }

    /// Moves the system by exactly `dt`, forwards or backwards, under the perturbation `by`.
    ///
    /// # Errors
    ///
    /// No step converges.
    pub fn advance(&mut self, dt: f64, by: &mut dyn Perturbation) -> Result<(), Error> {
        if self.masses.len() < 2 || dt == 0.0 {
            return Ok(());
        }
        if self.masses.len() == 2 && by.is_none() && self.is_analytic {
            self.advance_analytically(dt);
            return Ok(());
        }
        let mut y = self.state();
        let mut before = y.clone();
        let digits = 2.0 * f64::EPSILON * dt.abs();
        let mut last_steps = 0;
        // What is left after some last steps is below the digits of the time.
        while (dt - y[0]).abs() > digits && last_steps < LAST_STEPS {
            let full = self.length(links(&y).0, links(&y).1);
            let rest = (dt - y[0]) * self.leapfrog.potential(links(&y).0);
            let is_last = rest.abs() <= full;
            before.clone_from(&y);
            let mut h = rest.signum() * full.min(rest.abs());
            let mut taken = self.step(&mut y, h, by)?;
            while is_beyond(&before, &y, dt) {
                h = self.length_to(&before, &y, dt, taken);
                y.clone_from(&before);
                taken = self.step(&mut y, h, by)?;
            }
            let next = self.extrapolation.next.abs();
            let was_cut = taken == h && h.abs() < full;
            self.extrapolation.next = if was_cut { next.max(full) } else { next };
            last_steps += u32::from(is_last);
            if self.leapfrog.is_sampled {
                self.note_pericentres(&before, &y, taken, by)?;
            }
            self.take(&mut y);
        }
        Ok(())
    }

    /// Moves a binary by `dt` with its own motion slowed down by `factor` (Mikkola and Aarseth 1996): the binary
    /// makes fewer revolutions, and the perturbation is stronger by the same factor. The mean effect over many
    /// orbits is unchanged, but the phase of the orbit is not followed. Systems other than binaries, and factors up
    /// to 1, are not slowed down.
    ///
    /// The perturbation must be weak, and must not change much in `factor` periods.
    ///
    /// # Errors
    ///
    /// Those of [`advance`](Self::advance).
    pub fn advance_slowed(
        &mut self,
        dt: f64,
        factor: f64,
        by: &mut dyn Perturbation,
    ) -> Result<(), Error> {
        let is_slowed = self.masses.len() == 2 && factor > 1.0 && !by.is_none();
        if is_slowed {
            self.advance(dt / factor, &mut Slowed { by, factor })
        } else {
            self.advance(dt, by)
        }
    }

    /// Two bodies alone.
    fn advance_analytically(&mut self, dt: f64) {
        let orbit = self.orbit(0, 1);
        let (x, v) = self.relative(0, 1);
        let (x1, v1) = kepler::drift(&x, &v, orbit.mass, dt);
        // Towards each other first, then away; or the same again, more than half a revolution later. (The period of an open orbit is NaN.)
        let [before, after] = [dot(&x, &v) * dt, dot(&x1, &v1) * dt];
        let returns = (before < 0.0) == (after < 0.0) && dt.abs() > 0.5 * orbit.period();
        let passes = before < 0.0 && after > 0.0;
        if passes || returns || dt.abs() >= orbit.period() {
            self.note(orbit.pericentre(), [0, 1]);
        } else {
            self.note(norm(&x).min(norm(&x1)), [0, 1]);
        }
        let sign = if self.chain.order[0] == 0 { 1.0 } else { -1.0 };
        self.chain.x[0] = x1.map(|c| sign * c);
        self.chain.v[0] = v1.map(|c| sign * c);
    }

    /// The numbers that are integrated, at the time 0.
    fn state(&self) -> Vec<f64> {
        let Chain { x, v, .. } = &self.chain;
        let links = x.iter().chain(v).flatten();
        [0.0, self.binding].iter().chain(links).copied().collect()
    }

    /// Takes over the state `y`, whose links may become others.
    fn take(&mut self, y: &mut Vec<f64>) {
        let (x, v) = links(y);
        self.chain.x.copy_from_slice(x);
        self.chain.v.copy_from_slice(v);
        self.binding = y[1];
        if self.chain.renew() {
            let t = y[0];
            self.leapfrog.set(&self.masses, &self.chain.order);
            *y = self.state();
            y[0] = t;
        }
    }

    fn step(&mut self, y: &mut [f64], h: f64, by: &mut dyn Perturbation) -> Result<f64, Error> {
        let taken = self.extrapolation.step(y, h, &mut self.leapfrog, by);
        taken.ok_or(Error { t: y[0] })
    }

    /// Length in s of the next step: as the last one advises, at first a part of the shortest time of a pair.
    fn length(&self, x: &[Vec3], v: &[Vec3]) -> f64 {
        if self.extrapolation.next != 0.0 {
            return self.extrapolation.next;
        }
        let time = |k: usize| {
            let (r, mass) = (norm(&x[k]), self.leapfrog.mass_of_link(k));
            (r * (r / mass).sqrt()).min(r / norm(&v[k]))
        };
        let shortest = (0..x.len()).map(time).fold(f64::INFINITY, f64::min);
        0.5 * shortest * self.leapfrog.potential(x)
    }

    /// The step in s that leads from the state `before` to the time `dt`. The state `after`, a step of `taken` in s
    /// later, is beyond that time. A cubic through both ends interpolates s as a function of time. Its slopes at the
    /// ends are ds/dt, the potential.
    fn length_to(&self, before: &[f64], after: &[f64], dt: f64, taken: f64) -> f64 {
        let whole = after[0] - before[0];
        let part = (dt - before[0]) / whole;
        let slope = |y: &[f64]| self.leapfrog.potential(links(y).0) * whole;
        let (first, last) = (slope(before), slope(after));
        let cubic = part
            * (first
                + part * (3.0 * taken - 2.0 * first - last + part * (first + last - 2.0 * taken)));
        // Where the potential changes too much within the step, the cubic is none of its way: halve it.
        if cubic / taken > 0.0 && cubic / taken < 0.95 {
            cubic
        } else {
            0.5 * taken
        }
    }

    /// Looks for pericentres closer than the closest so far in the step from `before` to `after`.
    fn note_pericentres(
        &mut self,
        before: &[f64],
        after: &[f64],
        taken: f64,
        by: &mut dyn Perturbation,
    ) -> Result<(), Error> {
        let count = self.leapfrog.count;
        for k in 0..self.leapfrog.closest.len() {
            let sample = self.leapfrog.closest[k];
            let along = |y: &[f64]| dot(&links(y).0[k], &links(y).1[k]) * taken;
            let is_inside = sample.number > 0 && sample.number + 1 < count;
            let turns = along(before) < 0.0 && along(after) > 0.0;
            if !is_inside && !turns {
                continue;
            }
            let mass = self.leapfrog.mass_of_link(k);
            let estimate = Orbit::of(&sample.x, &sample.v, mass).pericentre();
            if self.closest.is_none_or(|c| estimate < CLOSER * c.distance) {
                let part = (sample.number as f64 + 0.5) / count as f64;
                let distance = self.pericentre(before, k, part * taken, by)?;
                self.note(distance, self.leapfrog.ends_of_link(k));
            }
        }
        Ok(())
    }

    /// The pericentre of link `k`, about `guess` in s after the state `before`.
    fn pericentre(
        &self,
        before: &[f64],
        k: usize,
        guess: f64,
        by: &mut dyn Perturbation,
    ) -> Result<f64, Error> {
        let mut copy = self.clone();
        let mass = self.leapfrog.mass_of_link(k);
        let mut y = before.to_vec();
        copy.step(&mut y, guess, by)?;
        for _ in 0..2 {
            // Newton's method for x.v = 0.
            let (x, v) = (links(&y).0[k], links(&y).1[k]);
            let slope = dot(&v, &v) - mass / norm(&x);
            let h = -dot(&x, &v) / slope * self.leapfrog.potential(links(&y).0);
            if slope > 0.0 && h.abs() < 0.5 * guess.abs() {
                copy.step(&mut y, h, by)?;
            }
        }
        Ok(Orbit::of(&links(&y).0[k], &links(&y).1[k], mass).pericentre())
    }

    /// Takes `n` basic steps over a length of `h`, without extrapolation.
    #[cfg(test)]
    pub(super) fn run_basic_steps(&mut self, h: f64, n: usize) {
        let mut y = self.state();
        self.leapfrog.run(&mut y, h, n, &mut super::Alone);
        self.take(&mut y);
    }

    fn note(&mut self, distance: f64, pair: [usize; 2]) {
        if self.closest.is_none_or(|c| distance < c.distance) {
            self.closest = Some(Closest { distance, pair });
        }
    }
}

/// A perturbation as a binary feels it whose own motion is slowed down.
struct Slowed<'a> {
    by: &'a mut dyn Perturbation,
    factor: f64,
}

impl Perturbation for Slowed<'_> {
    fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
        self.by.accelerations(t * self.factor, x, acc);
        for acc in acc {
            *acc = acc.map(|c| c * self.factor);
        }
    }
}

/// Whether a step from `before` to `after` went so far beyond the time `dt` that it is better cut.
fn is_beyond(before: &[f64], after: &[f64], dt: f64) -> bool {
    let whole = after[0] - before[0];
    (after[0] - dt) / whole > 0.05
}
