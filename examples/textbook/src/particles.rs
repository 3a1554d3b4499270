//! The particles: arrays, initial conditions, input and output.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use crate::physics::{G, Scheme, Vect};

/// Masses of the generated star and of a planet in kg: about those of the Sun and the Earth.
const STAR: f64 = 2.0e30;
const PLANET: f64 = 6.0e24;
/// Distance of the innermost planet in m. Each has the same area for itself.
const GAP: f64 = 1.5e10;

/// Mass, position and velocity of every particle, in SI units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Masses.
    pub masses: Vec<f64>,
    /// Positions.
    pub pos: Vec<Vect>,
    /// Velocities.
    pub vel: Vec<Vect>,
}

/// What a solver is to do with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assignment {
    /// Number of time steps.
    pub steps: usize,
    /// How particles move.
    pub scheme: Scheme,
    /// Output before every so many steps, if at all. The output after the last step is not the solver's.
    pub every: Option<usize>,
}

impl Assignment {
    /// Whether there is output before this step.
    pub fn outputs(&self, step: usize) -> bool {
        self.every.is_some_and(|every| step.is_multiple_of(every))
    }
}

/// What takes the output before a step. A solver ends when it breaks, unless other processes wait for the solver's.
pub type Output<'a> = dyn FnMut(usize, &Particles) -> ControlFlow<()> + Send + 'a;

impl Particles {
    /// A star and `n - 1` planets on a sunflower's spiral around it, each on a circular orbit.
    pub fn disc(n: usize) -> Self {
        let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        let mut made = Self::default();
        for q in 0..n {
            let r = GAP * (q as f64).sqrt();
            let (mass, speed) = match q {
                0 => (STAR, 0.0),
                _ => (PLANET, (G * STAR / r).sqrt()),
            };
            let (sin, cos) = (q as f64 * golden).sin_cos();
            made.masses.push(mass);
            made.pos.push([r * cos, r * sin]);
            made.vel.push([-speed * sin, speed * cos]);
        }
        made
    }

    /// The particles in a text with a line for each: mass, position, velocity.
    ///
    /// # Errors
    ///
    /// Something else is in the text, or the force between two particles would be infinite; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut made = Self::default();
        for (number, line) in (1..)
            .zip(text.lines())
            .filter(|(_, l)| !l.trim().is_empty())
        {
            let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
            let numbers = numbers.map_err(|e| format!("line {number}: {e}"))?;
            let &[m, x, y, vx, vy] = &numbers[..] else {
                return Err(format!("line {number}: not five numbers (mass x y vx vy)"));
            };
            if !(m > 0.0 && numbers.iter().all(|a| a.is_finite())) {
                return Err(format!(
                    "line {number}: a mass that is not positive, or a number that is not finite"
                ));
            }
            made.masses.push(m);
            made.pos.push([x, y]);
            made.vel.push([vx, vy]);
        }
        match at_one_place(&made.pos) {
            Some((q, k)) => Err(format!("particles {q} and {k} are at one place")),
            None => Ok(made),
        }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.masses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.masses.is_empty()
    }

    /// Prepares all of them for their first step.
    pub fn begin(&mut self, scheme: Scheme) {
        self.pos
            .iter_mut()
            .zip(&self.vel)
            .for_each(|(s, v)| scheme.begin(s, v));
    }

    /// Brings positions and velocities to one time.
    pub fn show(&mut self, scheme: Scheme) {
        self.pos
            .iter_mut()
            .zip(&self.vel)
            .for_each(|(s, v)| scheme.show(s, v));
    }

    /// A block of output: the time, then a line for each particle with its number, position and velocity. Numbers
    /// have all their digits.
    pub fn table(&self, time: f64) -> String {
        let mut text = format!("{time:e}\n");
        for (q, (s, v)) in self.pos.iter().zip(&self.vel).enumerate() {
            writeln!(
                text,
                "{q:4} {:23e} {:23e} {:23e} {:23e}",
                s[0], s[1], v[0], v[1]
            )
            .expect("a string takes everything");
        }
        text
    }

    /// Kinetic and potential energy together, in J.
    pub fn energy(&self) -> f64 {
        let mut energy = 0.0;
        for (q, (s, v)) in self.pos.iter().zip(&self.vel).enumerate() {
            energy += 0.5 * self.masses[q] * (v[0] * v[0] + v[1] * v[1]);
            for k in q + 1..self.len() {
                let distance = (s[0] - self.pos[k][0]).hypot(s[1] - self.pos[k][1]);
                energy -= G * self.masses[q] * self.masses[k] / distance;
            }
        }
        energy
    }
}

/// The numbers of two particles that are at one place, if there are such. No position is NaN.
pub fn at_one_place<T: Copy + PartialOrd>(pos: &[[T; 2]]) -> Option<(usize, usize)> {
    let mut places: Vec<([T; 2], usize)> = pos.iter().copied().zip(0..).collect();
    // Equal positions in the order of their numbers.
    places.sort_unstable_by(|a, b| a.partial_cmp(b).expect("no position is NaN"));
    let pair = places.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    Some((pair[0].1, pair[1].1))
}
