//! The basic step: the leapfrog of the logarithmic Hamiltonian in chain coordinates (Mikkola and Tanikawa 1999).
//!
//! Its independent variable is s. In the drift dt = ds / (T + B), in the kick dt = ds / U. T is the kinetic energy, U
//! the absolute value of the potential, and B the binding energy, which only perturbations change. For two bodies
//! alone the step is exact for any ds except for the time along the orbit, whose error is of second order. Collisions
//! are regular.

use super::Perturbation;
use super::chain::about_centre;
use crate::vector::{Vec3, add_scaled, dot};

/// The numbers of a state: t, B, the links' positions and their velocities.
pub const HEAD: usize = 2;

/// Positions and velocities of the links in a state.
#[inline(always)]
pub fn links(y: &[f64]) -> (&[Vec3], &[Vec3]) {
    let all = y[HEAD..].as_chunks::<3>().0;
    all.split_at(all.len() / 2)
}

/// Adds `d` to `sum`, and the digits that this loses to `lost`.
#[inline(always)]
fn add(sum: &mut f64, lost: &mut f64, d: f64) {
    let d = d + *lost;
    let new = *sum + d;
    *lost = d - (new - *sum);
    *sum = new;
}

/// The closest sample of a link within a run of steps.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Squared distance.
    pub r2: f64,
    /// Number of the step in the run.
    pub number: usize,
    /// Relative position and velocity.
    pub x: Vec3,
    /// See `x`.
    pub v: Vec3,
}

/// The bodies along a chain, and room for their motion.
#[derive(Clone, Debug, Default)]
pub struct Leapfrog {
    masses: Vec<f64>,
    order: Vec<usize>,
    total: f64,
    acc: Vec<Vec3>,
    place: Vec<Vec3>,
    by_label: Vec<Vec3>,
    external: Vec<Vec3>,
    before: Vec<Vec3>,
    /// What the numbers of the state lost when they were added to.
    lost: Vec<f64>,
    /// For each link the closest it came in the last [`run`](Self::run); empty without [`is_sampled`](Self::is_sampled).
    pub closest: Vec<Sample>,
    /// Whether the closest samples are noted.
    pub is_sampled: bool,
    /// Steps of the last run.
    pub count: usize,
    /// What is added to the time of a state: perturbations depend on the sum.
    pub origin: f64,
}

impl Leapfrog {
    /// Takes over the `masses` of the bodies, in the `order` of a chain.
    pub fn set(&mut self, masses: &[f64], order: &[usize]) {
        let n = masses.len();
        self.masses.clear();
        self.masses.extend(order.iter().map(|&i| masses[i]));
        self.order.clear();
        self.order.extend(order);
        self.total = masses.iter().sum();
        self.acc.resize(n, [0.0; 3]);
    }

    /// Kinetic energy about the centre of mass: the sum over the pairs of m_i m_j v_ij^2 / 2M.
    #[inline(always)]
    pub fn kinetic(&self, v: &[Vec3]) -> f64 {
        let masses = &self.masses[..v.len() + 1];
        let mut sum = 0.0;
        for i in 0..v.len() {
            let mut d = [0.0; 3];
            let mut row = 0.0;
            for (link, mass) in v[i..].iter().zip(&masses[i + 1..]) {
                add_scaled(&mut d, 1.0, link);
                row += mass * dot(&d, &d);
            }
            sum += masses[i] * row;
        }
        0.5 * sum / self.total
    }

    /// Absolute value U of the potential energy.
    pub fn potential(&self, x: &[Vec3]) -> f64 {
        let mut sum = 0.0;
        for i in 0..x.len() {
            let mut d = [0.0; 3];
            for (link, mass) in x[i..].iter().zip(&self.masses[i + 1..]) {
                add_scaled(&mut d, 1.0, link);
                sum += self.masses[i] * mass / dot(&d, &d).sqrt();
            }
        }
        sum
    }

    /// U, and the accelerations along the chain.
    #[inline(always)]
    fn forces(&mut self, x: &[Vec3]) -> f64 {
        let (masses, acc) = (&self.masses[..x.len() + 1], &mut self.acc[..x.len() + 1]);
        acc.fill([0.0; 3]);
        let mut potential = 0.0;
        for i in 0..x.len() {
            let mut d = [0.0; 3];
            for (j, link) in (i + 1..).zip(&x[i..]) {
                add_scaled(&mut d, 1.0, link);
                let r2 = dot(&d, &d);
                let inverse = 1.0 / r2.sqrt();
                let cube = inverse / r2;
                potential += masses[i] * masses[j] * inverse;
                add_scaled(&mut acc[i], masses[j] * cube, &d);
                add_scaled(&mut acc[j], -masses[i] * cube, &d);
            }
        }
        potential
    }

    /// Moves the state `y` by `h` in s with `n` steps.
    pub fn run(&mut self, y: &mut [f64], h: f64, n: usize, by: &mut dyn Perturbation) {
        // Loops over a known number of links are unrolled.
        match links(y).0.len() {
            1 => self.run_links(1, y, h, n, by),
            2 => self.run_links(2, y, h, n, by),
            3 => self.run_links(3, y, h, n, by),
            count => self.run_links(count, y, h, n, by),
        }
    }

    #[inline(always)]
    fn run_links(
        &mut self,
        links: usize,
        y: &mut [f64],
        h: f64,
        n: usize,
        by: &mut dyn Perturbation,
    ) {
        let y = &mut y[..HEAD + 6 * links];
        let step = h / n as f64;
        self.closest.clear();
        self.count = n;
        self.lost.clear();
        self.lost.resize(y.len(), 0.0);
        self.drift(y, 0.5 * step);
        for k in 0..n {
            if self.is_sampled {
                self.sample(y, k);
            }
            self.kick(y, step, by);
            self.drift(y, if k + 1 < n { step } else { 0.5 * step });
        }
    }

    #[inline(always)]
    fn drift(&mut self, y: &mut [f64], ds: f64) {
        let dt = ds / (self.kinetic(links(y).1) + y[1]);
        add(&mut y[0], &mut self.lost[0], dt);
        let half = (y.len() - HEAD) / 2;
        let (x, v) = y[HEAD..].split_at_mut(half);
        for ((x, v), lost) in x.iter_mut().zip(v).zip(&mut self.lost[HEAD..]) {
            add(x, lost, dt * *v);
        }
    }

    #[inline(always)]
    fn kick(&mut self, y: &mut [f64], ds: f64, by: &mut dyn Perturbation) {
        let potential = self.forces(links(y).0);
        let dt = ds / potential;
        let is_perturbed = !by.is_none();
        if is_perturbed {
            for vectors in [
                &mut self.place,
                &mut self.by_label,
                &mut self.external,
                &mut self.before,
            ] {
                vectors.resize(self.masses.len(), [0.0; 3]);
            }
            self.perturb(y, by);
            about_centre(&self.masses, links(y).1, &mut self.before);
        }
        let first = HEAD + (y.len() - HEAD) / 2;
        let acc = &self.acc[..(y.len() - HEAD) / 6 + 1];
        let (v, lost) = (&mut y[first..], &mut self.lost[first..]);
        for (place, (v, lost)) in v.iter_mut().zip(lost).enumerate() {
            let (k, c) = (place / 3, place % 3);
            add(v, lost, dt * (acc[k + 1][c] - acc[k][c]));
        }
        if is_perturbed {
            // The work on the mean of the velocities before and after. A common acceleration does no work about the centre of
            // mass, but its terms cancel to rounding only, and that is more than the energy of very light bodies. So the
            // acceleration of the heaviest body is subtracted first.
            about_centre(&self.masses, links(y).1, &mut self.place);
            let heaviest = (0..self.masses.len())
                .max_by(|&i, &j| self.masses[i].total_cmp(&self.masses[j]))
                .unwrap_or(0);
            let mut work = 0.0;
            for (i, mass) in self.masses.iter().enumerate() {
                for c in 0..3 {
                    let mean = 0.5 * (self.before[i][c] + self.place[i][c]);
                    work += mass * mean * (self.external[i][c] - self.external[heaviest][c]);
                }
            }
            add(&mut y[1], &mut self.lost[1], -dt * work);
        }
    }

    /// Adds the external accelerations to those along the chain.
    fn perturb(&mut self, y: &[f64], by: &mut dyn Perturbation) {
        about_centre(&self.masses, links(y).0, &mut self.place);
        for (place, &i) in self.order.iter().enumerate() {
            self.by_label[i] = self.place[place];
        }
        // Room that is free in this moment.
        self.before.fill([0.0; 3]);
        by.accelerations(self.origin + y[0], &self.by_label, &mut self.before);
        for (place, &i) in self.order.iter().enumerate() {
            self.external[place] = self.before[i];
            add_scaled(&mut self.acc[place], 1.0, &self.before[i]);
        }
    }

    fn sample(&mut self, y: &[f64], number: usize) {
        let (x, v) = links(y);
        for (k, (x, v)) in x.iter().zip(v).enumerate() {
            let (x, v, r2) = (*x, *v, dot(x, x));
            let sample = Sample { r2, number, x, v };
            if number == 0 {
                self.closest.push(sample);
            } else if r2 < self.closest[k].r2 {
                self.closest[k] = sample;
            }
        }
    }

    /// Mass of the two bodies of link `k`.
    pub fn mass_of_link(&self, k: usize) -> f64 {
        self.masses[k] + self.masses[k + 1]
    }

    /// The bodies at the ends of link `k`.
    pub fn ends_of_link(&self, k: usize) -> [usize; 2] {
        [self.order[k], self.order[k + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few_body::Alone;
    use crate::few_body::kepler::Orbit;
    use crate::vector::norm;

    fn ellipse(e: f64) -> (Leapfrog, Vec<f64>) {
        let mut leapfrog = Leapfrog::default();
        leapfrog.set(&[0.7, 0.3], &[0, 1]);
        // At the apocentre of a = 1.
        let speed = ((1.0 - e) / (1.0 + e)).sqrt();
        let mut y = vec![0.0, 0.0, 1.0 + e, 0.0, 0.0, 0.0, speed, 0.0];
        let (x, v) = links(&y);
        y[1] = leapfrog.potential(x) - leapfrog.kinetic(v);
        (leapfrog, y)
    }

    /// The orbit of two bodies is exact at any step, through pericentres of 1e-8, and the time is of second order.
    #[test]
    fn two_bodies_stay_on_their_orbit() {
        for e in [0.3, 0.9, 1.0 - 1e-8] {
            let mut errors = Vec::new();
            for n in [20, 40] {
                let (mut leapfrog, mut y) = ellipse(e);
                // U is m1 m2 in the mean over the eccentric anomaly, whose rate is 1: half a turn is h = pi m1 m2.
                leapfrog.run(&mut y, 0.21 * std::f64::consts::PI, n, &mut Alone);
                let orbit = Orbit::of(&links(&y).0[0], &links(&y).1[0], 1.0);
                assert!((orbit.axis - 1.0).abs() < 1e-7, "{orbit:?}");
                assert!((orbit.eccentricity - e).abs() < 1e-7, "{orbit:?}");
                errors.push((y[0] - std::f64::consts::PI).abs());
            }
            let order = (errors[0] / errors[1]).log2();
            assert!((order - 2.0).abs() < 0.1, "e = {e}: {errors:?}");
        }
    }

    /// A constant force on one body does work on the system: B has it.
    #[test]
    fn the_binding_energy_has_the_work_of_a_perturbation() {
        struct Constant;
        impl Perturbation for Constant {
            fn accelerations(&mut self, _: f64, _: &[Vec3], acc: &mut [Vec3]) {
                acc[1] = [0.0, 0.02, 0.01];
            }
        }
        let (mut leapfrog, mut y) = ellipse(0.5);
        let before = y[1];
        leapfrog.run(&mut y, 0.3, 4000, &mut Constant);
        let (x, v) = links(&y);
        let after = leapfrog.potential(x) - leapfrog.kinetic(v);
        assert!((after - before).abs() > 1e-4);
        assert!((after - y[1]).abs() < 1e-7, "{} {}", after, y[1]);
        assert!(norm(&x[0]) < 1.6);
    }
}
