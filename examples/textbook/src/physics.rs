//! The force of a pair (Eq. 7.1), and how a particle moves under a force.

/// The gravitational constant in m^3 / (kg s^2), as the chapter has it.
pub const G: f64 = 6.673e-11;

/// A vector in the plane.
pub type Vect = [f64; 2];

/// A law of force: what particle `k` does to particle `q`, as a vector of `D` components. [`Gravity`] has two
/// components. The chapter's tables are made with a law that only returns the name of the pair
/// ([`tables`](crate::tables)).
pub trait Law<const D: usize>: Sync {
    /// The force on particle `q` at `s_q` by particle `k` at `s_k`.
    fn force(&self, q: usize, k: usize, s_q: &Vect, s_k: &Vect) -> [f64; D];
}

/// Newton's law between particles of these masses.
pub struct Gravity<'a> {
    /// Mass of each particle, in kg.
    pub masses: &'a [f64],
}

impl Law<2> for Gravity<'_> {
    // Every solver adds what this returns: hence equal bits wherever the order is the same.
    #[inline(always)]
    fn force(&self, q: usize, k: usize, s_q: &Vect, s_k: &Vect) -> Vect {
        let diff = [s_q[0] - s_k[0], s_q[1] - s_k[1]];
        let dist = (diff[0] * diff[0] + diff[1] * diff[1]).sqrt();
        let dist_cubed = dist * dist * dist;
        let factor = -G * self.masses[q] * self.masses[k] / dist_cubed;
        [factor * diff[0], factor * diff[1]]
    }
}

/// `sum += force`
#[inline(always)]
pub fn add<const D: usize>(sum: &mut [f64; D], force: &[f64; D]) {
    for (s, f) in sum.iter_mut().zip(force) {
        *s += f;
    }
}

/// `sum -= force`
#[inline(always)]
pub fn subtract<const D: usize>(sum: &mut [f64; D], force: &[f64; D]) {
    for (s, f) in sum.iter_mut().zip(force) {
        *s -= f;
    }
}

/// How particles move from one time step to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// Euler's method, as in the chapter: first order.
    Euler {
        /// Time step in s.
        dt: f64,
    },
    /// Leapfrog: second order, and the energy does not drift. `begin` moves the positions half a step ahead of the
    /// velocities, and `show` moves them back. So a step in between is one call of `advance`, as in Euler's method.
    Leapfrog {
        /// Time step in s.
        dt: f64,
    },
}

impl Scheme {
    /// Prepares a particle for its first step.
    pub fn begin(self, pos: &mut Vect, vel: &Vect) {
        if let Self::Leapfrog { dt } = self {
            drift(pos, vel, 0.5 * dt);
        }
    }

    /// One step of a particle of mass `m` under `force`.
    #[inline(always)]
    pub fn advance(self, pos: &mut Vect, vel: &mut Vect, m: f64, force: &Vect) {
        match self {
            Self::Euler { dt } => {
                drift(pos, vel, dt);
                kick(vel, force, dt / m);
            }
            Self::Leapfrog { dt } => {
                kick(vel, force, dt / m);
                drift(pos, vel, dt);
            }
        }
    }

    /// Brings position and velocity of a particle to one time, for output.
    pub fn show(self, pos: &mut Vect, vel: &Vect) {
        if let Self::Leapfrog { dt } = self {
            drift(pos, vel, -0.5 * dt);
        }
    }

    /// The time step.
    pub fn dt(self) -> f64 {
        match self {
            Self::Euler { dt } | Self::Leapfrog { dt } => dt,
        }
    }
}

#[inline(always)]
fn drift(pos: &mut Vect, vel: &Vect, dt: f64) {
    pos[0] += dt * vel[0];
    pos[1] += dt * vel[1];
}

#[inline(always)]
fn kick(vel: &mut Vect, force: &Vect, dt_by_m: f64) {
    vel[0] += dt_by_m * force[0];
    vel[1] += dt_by_m * force[1];
}
