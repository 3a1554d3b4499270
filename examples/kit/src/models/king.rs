//! King's models (1966, AJ 71, 64): isothermal spheres with a tidal edge. They are the usual models of globular
//! clusters.

use super::random::Random;
use super::sphere_of_stars;
use crate::body::Body;
use crate::number::number;

/// Central potential where no option says otherwise.
pub const DEFAULT_W0: f64 = 6.0;

/// Least and greatest central potential: almost a polytrope, almost an isothermal sphere.
pub const W0_RANGE: (f64, f64) = (0.1, 16.0);

/// A central potential on the command line.
///
/// # Errors
///
/// The text is none; in words.
pub fn central_potential(text: &str) -> Result<f64, String> {
    let (least, most) = W0_RANGE;
    match number(text)? {
        w0 if (least..=most).contains(&w0) => Ok(w0),
        _ => Err(format!("not from {least} to {most}")),
    }
}

/// Step of the integration in units of 1 + r. Its error is of fourth order, below the second-order error of
/// interpolating in the table.
const STEP: f64 = 0.002;

/// A King model in standard units, as a table over the radius.
#[derive(Clone, Debug)]
pub struct King {
    /// Radius, mass within, and potential W in units of the velocity parameter squared; from inside.
    table: Vec<[f64; 3]>,
    /// Velocity parameter sigma in standard units.
    velocity: f64,
}

impl King {
    /// The model with the central potential `w0`: Poisson's equation, from the centre to where W is 0.
    ///
    /// # Panics
    ///
    /// `w0` is outside of [`W0_RANGE`].
    pub fn new(w0: f64) -> Self {
        assert!((W0_RANGE.0..=W0_RANGE.1).contains(&w0), "W0 = {w0}");
        let central = density(w0);
        // In core radii and with 4 pi G rho_0 r_c^2 = 9 sigma^2: (W, dM/dr) with M = -r^2 dW/dr.
        let slopes = |r: f64, w: f64, m: f64| -> (f64, f64) {
            let dw = if r > 0.0 { -m / (r * r) } else { 0.0 };
            (dw, 9.0 * density(w) / central * r * r)
        };
        let (mut r, mut w, mut m) = (0.0, w0, 0.0);
        let mut table = vec![[0.0, 0.0, w0]];
        let mut binding = 0.0;
        while w > 0.0 {
            let h = STEP * (1.0 + r);
            let (w1, m1) = slopes(r, w, m);
            let (w2, m2) = slopes(r + 0.5 * h, w + 0.5 * h * w1, m + 0.5 * h * m1);
            let (w3, m3) = slopes(r + 0.5 * h, w + 0.5 * h * w2, m + 0.5 * h * m2);
            let (w4, m4) = slopes(r + h, w + h * w3, m + h * m3);
            let new_w = w + h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4);
            let new_m = m + h / 6.0 * (m1 + 2.0 * m2 + 2.0 * m3 + m4);
            // The last step ends at the edge.
            let part = if new_w < 0.0 { w / (w - new_w) } else { 1.0 };
            let last = [r + part * h, m + part * (new_m - m), new_w.max(0.0)];
            binding += 0.5 * (m + last[1]) * (last[1] - m) / (r + 0.5 * part * h);
            [r, m, w] = last;
            table.push(last);
        }
        // To a mass of 1 and the potential energy -1/2.
        let length = 2.0 * binding / (m * m);
        let mass = m;
        for [r, inside, _] in &mut table {
            *r *= length;
            *inside /= mass;
        }
        Self {
            table,
            velocity: 1.0 / (mass * length).sqrt(),
        }
    }

    /// Radius of the edge.
    pub fn tidal_radius(&self) -> f64 {
        self.table.last().map_or(0.0, |last| last[0])
    }

    /// Radius and speed of one of the model's stars.
    pub fn star(&self, random: &mut Random) -> (f64, f64) {
        let wanted = random.uniform();
        let above = self.table.partition_point(|row| row[1] <= wanted);
        let outer = self.table[above.min(self.table.len() - 1)];
        let inner = self.table[above.clamp(1, self.table.len() - 1) - 1];
        let part = (wanted - inner[1]) / (outer[1] - inner[1]);
        // The mass between two lines grows like the volume.
        let [a, b] = [inner[0], outer[0]].map(|r| r * r * r);
        let r = (a + part * (b - a)).cbrt();
        let depth = inner[2] + (r - inner[0]) / (outer[0] - inner[0]) * (outer[2] - inner[2]);
        (r, self.velocity * speed(depth, random))
    }
}

/// A deviate with the density v^2 (exp(W - v^2/2) - 1) up to the escape speed, by rejection.
fn speed(depth: f64, random: &mut Random) -> f64 {
    let escape = (2.0 * depth).sqrt();
    // v^2 exp(W - v^2/2) is greatest at v^2 = 2; for shallow W the exponential is at most
    // 1 + (W - v^2/2) exp W, and the product greatest at v^2 = W.
    let bound = (2.0 * (depth - 1.0).exp()).min(0.5 * depth * depth * depth.exp());
    loop {
        let v = escape * random.uniform();
        let height = bound * random.uniform();
        if height <= v * v * (depth - 0.5 * v * v).exp_m1() {
            return v;
        }
    }
}

/// Density as a function of W, but for a factor: exp(W) erf(sqrt W) - sqrt(4 W / pi) (1 + 2 W / 3). The
/// difference is summed as one power series, whose terms are all positive, so that no digits cancel.
fn density(w: f64) -> f64 {
    if w <= 0.0 {
        return 0.0;
    }
    // W^(n + 1/2) / Gamma(n + 3/2) from n = 2 on; Gamma(7/2) = 15 sqrt(pi) / 8.
    let mut term = w * w * w.sqrt() * 8.0 / (15.0 * std::f64::consts::PI.sqrt());
    let (mut sum, mut n) = (0.0, 2.5);
    while term > 1e-17 * sum {
        sum += term;
        n += 1.0;
        term *= w / n;
    }
    sum
}

/// A King model of `n` bodies of mass 1/n; scaled like [`plummer`](super::plummer). Labels count from 0.
///
/// # Panics
///
/// `w0` is outside of [`W0_RANGE`].
pub fn king(n: usize, w0: f64, seed: u64) -> Vec<Body> {
    let model = King::new(w0);
    sphere_of_stars(n, seed, |random| model.star(random))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Energy, lagrangian_radii};
    use crate::vector::norm;

    /// The concentration log10(r_t / r_c) of King's table, for W0 = 3, 6, 9 and 12.
    #[test]
    fn concentrations_are_kings() {
        for (w0, published) in [(3.0, 0.672), (6.0, 1.255), (9.0, 2.119), (12.0, 2.739)] {
            let model = King::new(w0);
            // In core radii 4 pi G rho_0 = 9 sigma^2.
            let [r, mass, _] = model.table[1];
            let rho = mass / (4.0 / 3.0 * std::f64::consts::PI * r * r * r);
            let core = (9.0 * model.velocity.powi(2) / (4.0 * std::f64::consts::PI * rho)).sqrt();
            let c = (model.tidal_radius() / core).log10();
            assert!((c - published).abs() < 0.005, "W0 = {w0}: {c}");
        }
    }

    #[test]
    fn the_sample_is_in_equilibrium_before_it_is_scaled() {
        for w0 in [1.0, 6.0, 12.0] {
            let model = King::new(w0);
            let mut random = Random::new(1);
            let stars: Vec<_> = (0..100_000).map(|_| model.star(&mut random)).collect();
            let kinetic = stars.iter().map(|(_, v)| 0.5 * v * v).sum::<f64>() / 1e5;
            assert!((kinetic / 0.25 - 1.0).abs() < 0.02, "W0 = {w0}: {kinetic}");
            let half = 0.5;
            let inside = model.table.partition_point(|row| row[1] < half);
            let r = model.table[inside][0];
            let part = stars.iter().filter(|star| star.0 < r).count() as f64 / 1e5;
            assert!((part - half).abs() < 0.006, "W0 = {w0}: {part}");
        }
    }

    #[test]
    fn bodies_are_in_standard_units_and_within_the_edge() {
        let bodies = king(2000, 5.0, 3);
        let energy = Energy::of(&bodies, 0.0);
        assert!((energy.total() + 0.25).abs() < 1e-12, "{energy:?}");
        let farthest = lagrangian_radii(&bodies, &[1.0])[0];
        assert!(farthest < 1.1 * King::new(5.0).tidal_radius());
        assert!(bodies.iter().all(|b| norm(&b.v) < 4.0));
    }
}
