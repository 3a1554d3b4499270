//! The formulas of the literature in plain double-precision loops. All other backends are tested against them.
//!
//! ```text
//! a   =  sum m r / (r^2 + eps^2)^(3/2)
//! j   =  sum m [ v / (r^2 + eps^2)^(3/2) - 3 (r.v) r / (r^2 + eps^2)^(5/2) ]
//! phi = -sum m / (r^2 + eps^2)^(1/2)
//! ```
//!
//! with r = x_j - x_i and v = v_j - v_i (equations 3.3 to 3.5 of the kirin thesis).

use super::{Backend, ForceRequest, Results};
use crate::error::Result;
use crate::process::settings::Precision;
use crate::sources::jmemory::{JMemory, PAGE};
use crate::sources::neighbours;
use crate::sources::particle::{Force, IParticle};

/// The reference backend.
pub struct Reference;

impl Backend for Reference {
    fn name(&self) -> String {
        "reference".to_owned()
    }

    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn finish(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        // There need not be memory for both.
        *results = Results::default();
        *results = self::results(memory, block, nearest)?;
        Ok(())
    }
}

/// The results for a block; also used where a backend's own arithmetic does not suffice.
///
/// # Errors
///
/// There is no memory for them.
pub fn results(memory: &JMemory, block: &ForceRequest, nearest: bool) -> Result<Results> {
    let ForceRequest { nj, ti, particles } = block;
    let mut results = Results::default();
    results.restart(particles.len(), nearest)?;
    forces_on(memory, *nj, *ti, particles, &mut results.forces);
    if nearest {
        neighbours::nearest(memory, *nj, *ti, particles, &mut results.nearest);
    }
    Ok(results)
}

/// Adds the forces on all `particles` to `forces`, in address order.
fn forces_on(memory: &JMemory, nj: usize, ti: f64, particles: &[IParticle], forces: &mut [Force]) {
    let mut x = [[0.0; PAGE]; 3];
    let mut v = [[0.0; PAGE]; 3];
    for page in memory.pages(nj) {
        page.predict_positions(ti, &mut x);
        page.predict_velocities(ti, &mut v);
        for (i, force) in particles.iter().zip(&mut *forces) {
            for slot in page.slots(nj) {
                if page.index()[slot] != i.index {
                    let at = |c: &[[f64; PAGE]; 3]| [c[0][slot], c[1][slot], c[2][slot]];
                    let i = page.softened(slot, i);
                    add_pair(force, &i, page.mass()[slot], at(&x), at(&v));
                }
            }
        }
    }
}

/// Adds the force of a mass `m` at `xj`, moving with `vj`, on the i-particle.
pub fn add_pair(force: &mut Force, i: &IParticle, m: f64, xj: [f64; 3], vj: [f64; 3]) {
    let r = [0, 1, 2].map(|k| xj[k] - i.x[k]);
    let v = [0, 1, 2].map(|k| vj[k] - i.v[k]);
    let r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + i.eps2;
    if r2 == 0.0 {
        return; // coincident particles without softening exert no force
    }
    let r_inverse = 1.0 / r2.sqrt();
    let m_r = m * r_inverse;
    // Of length 1 at most. m / r^3 overflows where softening is tiny, and zero times that would be NaN.
    let q = r.map(|r| r * r_inverse);
    let qv = 3.0 * (q[0] * v[0] + q[1] * v[1] + q[2] * v[2]);
    for k in 0..3 {
        force.acc[k] += q[k] * r_inverse * m_r;
        force.jerk[k] += (v[k] - qv * q[k]) * r_inverse * m_r * r_inverse;
    }
    force.pot -= m_r;
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn two_bodies_by_hand() {
        let i = IParticle {
            eps2: 9.0,
            ..Default::default()
        };
        let mut f = Force::default();
        add_pair(&mut f, &i, 2.0, [4.0, 0.0, 0.0], [1.0, 1.0, 0.0]);
        // r^2 + eps^2 = 25
        assert_relative_eq!(f.pot, -2.0 / 5.0);
        assert_relative_eq!(f.acc[0], 2.0 * 4.0 / 125.0);
        assert_relative_eq!(
            f.jerk[0],
            2.0 * (1.0 / 125.0 - 3.0 * 4.0 * 4.0 / 3125.0),
            max_relative = 1e-14
        );
        assert_relative_eq!(f.jerk[1], 2.0 / 125.0);
        assert_eq!((f.acc[1], f.acc[2], f.jerk[2]), (0.0, 0.0, 0.0));
    }

    #[test]
    fn coincidence_without_softening_adds_nothing() {
        let mut f = Force::default();
        add_pair(&mut f, &IParticle::default(), 1.0, [0.0; 3], [1.0; 3]);
        assert_eq!(f, Force::default());
        let soft = IParticle {
            eps2: 4.0,
            ..Default::default()
        };
        add_pair(&mut f, &soft, 1.0, [0.0; 3], [1.0; 3]);
        assert_eq!(f.pot, -0.5);
        assert_eq!(f.jerk, [0.125; 3]);
    }
}
